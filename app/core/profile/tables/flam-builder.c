/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Names, code, processes and threads: everything that is interned.
 *
 *   flam-builder-rows.c      samples, allocations, counters, marks
 *   flam-builder-facts.c     facts about the whole capture
 *   flam-builder-recorded.c  the recorder's rows, and their conversion;
 *   -stacks.c, -memory.c     of stacks with their symbols, of blocks
 *   flam-builder-finish.c    checks, order, the frozen profile
 *   flam-builder-edit.c      from a profile back to a builder
 *   flam-builder-merge.c     several builders into one */

#include "flam-builder-private.h"

#include <string.h>

FlamBuilder *
flam_builder_new (void)
{
  FlamBuilder *builder = g_new0 (FlamBuilder, 1);

  flam_tables_init (&builder->tables);
  builder->facts = flam_facts_unknown;
  builder->others = g_ptr_array_new ();
  builder->warnings = g_ptr_array_new ();
  builder->texts = g_string_chunk_new (256);
  builder->peak_time = G_MININT64;
  return builder;
}

void
flam_builder_free (FlamBuilder *builder)
{
  flam_tables_clear (&builder->tables);
  g_ptr_array_unref (builder->others);
  g_ptr_array_unref (builder->warnings);
  g_clear_pointer (&builder->texts, g_string_chunk_free);
  flam_column_clear (&builder->chain_first);
  flam_column_clear (&builder->chain_length);
  flam_column_clear (&builder->chains);
  g_clear_pointer (&builder->base, flam_profile_unref);
  g_free (builder);
}

FlamTables *
flam_builder_tables (FlamBuilder *builder)
{
  return &builder->tables;
}

FlamId
flam_builder_string (FlamBuilder *builder, const char *text, gssize length)
{
  return flam_strings_intern (&builder->tables.strings, text, length);
}

const char *
flam_builder_get_string (FlamBuilder *builder, FlamId string)
{
  g_assert (string < builder->tables.strings.offsets.n);
  return flam_strings_get (&builder->tables.strings, string);
}

/* --- modules ------------------------------------------------------------- */

/* A build id becomes part of URLs and of paths in caches, and is compared with
 * those in ELF files, in lower case. One that is not hexadecimal is dropped. */
static FlamId
build_id_string (FlamBuilder *builder, const char *text)
{
  gsize n = text != NULL ? strlen (text) : 0;
  g_autofree char *lower = NULL;

  if (n == 0 || n > FLAM_BUILD_ID_MAX)
    return 0;
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isxdigit (text[i]))
      return 0;
  lower = g_ascii_strdown (text, (gssize)n);
  return flam_builder_string (builder, lower, -1);
}

static void
name_module (FlamBuilder *builder, FlamId module)
{
  const char *path = flam_builder_get_string (
      builder, cells (builder, FlamId, profile.modules.path)[module]);
  const char *slash = strrchr (path, '/');
  g_autofree char *name = g_strdup (slash && slash[1] ? slash + 1 : path);

  cells (builder, FlamId, profile.modules.name)[module] =
      flam_builder_string (builder, name, -1);
}

FlamId
flam_builder_module (FlamBuilder *builder,
                     const char *path,
                     const char *build_id,
                     FlamAddressing addressing)
{
  gint64 keys[] = { flam_builder_string (builder, path, -1),
                    build_id_string (builder, build_id),
                    addressing };
  guint32 n = builder->tables.profile.modules.n;
  FlamId id = flam_tables_intern (&builder->tables, FLAM_TABLE_MODULES, keys);

  if (id == n)
    name_module (builder, id);
  return id;
}

void
flam_builder_set_module_symbols (FlamBuilder *builder,
                                 FlamId module,
                                 FlamSymbolState state,
                                 const char *why)
{
  g_assert (module < builder->tables.profile.modules.n);
  cells (builder, guint8, profile.modules.symbols)[module] = state;
  cells (builder, FlamId, profile.modules.why)[module] =
      flam_builder_string (builder, why, -1);
}

void
flam_builder_intern_modules (FlamBuilder *builder, guint32 from, FlamId *map)
{
  const FlamModules *modules = &builder->tables.profile.modules;

  for (guint32 i = from; i < modules->n; i++)
    {
      g_autofree char *text =
          g_strdup (flam_builder_get_string (builder, modules->build_id[i]));

      cells (builder, FlamId, profile.modules.build_id)[i] =
          build_id_string (builder, text);
    }
  flam_tables_intern_rows (&builder->tables, FLAM_TABLE_MODULES, from, map);
  for (guint32 i = from; i < modules->n; i++)
    name_module (builder, i);
}

/* --- functions ----------------------------------------------------------- */

FlamId
flam_builder_function (FlamBuilder *builder, const FlamFunction *f)
{
  FlamId system_name = f->system_name != 0 ? f->system_name : f->name;
  gint64 keys[] = { f->name, system_name, f->file, f->module,
                    f->line, f->kind,     f->flags };
  guint32 n_strings = builder->tables.strings.offsets.n;

  g_assert (f->name < n_strings);
  g_assert (f->file < n_strings);
  g_assert (system_name < n_strings);
  g_assert (f->module == FLAM_NONE ||
            f->module < builder->tables.profile.modules.n);
  return flam_tables_intern (&builder->tables, FLAM_TABLE_FUNCTIONS, keys);
}

void
flam_builder_intern_functions (FlamBuilder *builder, guint32 from, FlamId *map)
{
  const FlamFunctions *functions = &builder->tables.profile.functions;

  for (guint32 i = from; i < functions->n; i++)
    if (functions->system_name[i] == 0)
      cells (builder, FlamId, profile.functions.system_name)[i] =
          functions->name[i];
  flam_tables_intern_rows (&builder->tables, FLAM_TABLE_FUNCTIONS, from, map);
}

FlamId
flam_builder_function_named (FlamBuilder *builder,
                             FlamId name,
                             FlamFunctionKind kind)
{
  FlamFunction function = { .name = name, .module = FLAM_NONE, .kind = kind };

  return flam_builder_function (builder, &function);
}

FlamId
flam_builder_function_unresolved (FlamBuilder *builder, FlamId module)
{
  FlamFunction function = { .module = module, .kind = FLAM_KIND_UNRESOLVED };
  g_autofree char *name = NULL;
  const char *of = "unknown";

  if (module != FLAM_NONE)
    of = flam_builder_get_string (
        builder, cells (builder, FlamId, profile.modules.name)[module]);
  name = of[0] == '[' ? g_strdup (of) : g_strdup_printf ("[%s]", of);
  function.name = flam_builder_string (builder, name, -1);
  return flam_builder_function (builder, &function);
}

/* --- frames and stacks --------------------------------------------------- */

FlamId
flam_builder_frame_of (FlamBuilder *builder,
                       const FlamFunction *function,
                       guint64 address,
                       guint32 line,
                       guint inline_depth)
{
  return flam_builder_frame_of_status (
      builder, function, address, line, inline_depth, 0);
}

FlamId
flam_builder_frame_of_status (FlamBuilder *builder,
                              const FlamFunction *function,
                              guint64 address,
                              guint32 line,
                              guint inline_depth,
                              guint status)
{
  FlamRecordedFrame frame = { FLAM_NONE,
                              address,
                              function->name != 0
                                  ? flam_builder_function (builder, function)
                                  : flam_builder_function_unresolved (
                                        builder, function->module),
                              .line = line,
                              .inline_depth = inline_depth,
                              .status = status };

  frame.file = function->name != 0
                   ? builder->tables.profile.functions.file[frame.function]
                   : function->file;
  return flam_builder_recorded_frame (builder, &frame);
}

FlamId
flam_builder_frame (FlamBuilder *builder,
                    FlamId function,
                    guint64 address,
                    guint32 line,
                    guint inline_depth)
{
  g_assert (function < builder->tables.profile.functions.n);
  return flam_builder_frame_in (
      builder,
      function,
      address,
      builder->tables.profile.functions.file[function],
      line,
      inline_depth);
}

FlamId
flam_builder_frame_in (FlamBuilder *builder,
                       FlamId function,
                       guint64 address,
                       FlamId file,
                       guint32 line,
                       guint inline_depth)
{
  FlamRecordedFrame frame = { FLAM_NONE, address,      function, file,
                              line,      inline_depth, 0 };

  g_assert (function < builder->tables.profile.functions.n);
  return flam_builder_recorded_frame (builder, &frame);
}

FlamId
flam_builder_recorded_frame (FlamBuilder *builder,
                             const FlamRecordedFrame *frame)
{
  gint64 keys[] = { frame->module,
                    (gint64)frame->address,
                    frame->function,
                    frame->line,
                    MIN (frame->inline_depth, G_MAXUINT16),
                    frame->file,
                    frame->status };

  return flam_tables_intern (&builder->tables, FLAM_TABLE_FRAMES, keys);
}

guint32
flam_builder_n_frames (const FlamBuilder *builder)
{
  return builder->tables.profile.frames.n;
}

void
flam_builder_get_recorded_frame (const FlamBuilder *builder,
                                 FlamId id,
                                 FlamRecordedFrame *frame)
{
  const FlamFrames *frames = &builder->tables.profile.frames;

  *frame = (FlamRecordedFrame){
    .module = builder->tables.frame_module[id],
    .address = frames->address[id],
    .function = frames->function[id],
    .file = frames->file[id],
    .line = frames->line[id],
    .inline_depth = frames->inline_depth[id],
    .status = frames->status[id],
  };
}

/* The same as flam_tables_intern(), and three times as fast: text formats call
 * it most often. Most stacks are the first callee of their prefix and are found
 * there; the others are in the hash, which is spread over the memory:
 *
 *    stack  prefix frame   first child        a       d
 *    0        -    a        1             0:  |   4:  |
 *    1        0    b        2                 b
 *    2        1    c        -                 |\
 *    3        1    e        -  in the hash    c e
 *    4        -    d        -  in the hash */
typedef struct
{
  FlamId prefix;
  FlamId frame;
} StackKey;

static gboolean
stack_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamStacks *stacks = table;
  const StackKey *s = key;

  return stacks->prefix[row] == s->prefix && stacks->frame[row] == s->frame;
}

/* Whether row `i` became the first child of its prefix. */
static inline gboolean
is_first_child (FlamTables *tables, guint32 i)
{
  FlamId prefix = tables->profile.stacks.prefix[i];
  FlamId *first = tables->first_children.data;

  if (prefix >= i || first[prefix] != FLAM_NONE)
    return FALSE;
  first[prefix] = i;
  return TRUE;
}

/* Rows that are not indexed yet were appended without being looked up, and are
 * all different. They are indexed at the first look-up, if there ever is one.
 * The slots are spread over the memory, so each is prefetched some time before
 * it is written. */
static void
index_stacks (FlamBuilder *builder)
{
  enum
  {
    AHEAD = 16
  };
  FlamTables *tables = &builder->tables;
  FlamInterner *interner = &tables->interners[FLAM_TABLE_STACKS];
  const FlamStacks *stacks = &tables->profile.stacks;
  guint32 from = (guint32)tables->first_children.n;
  guint32 hashes[AHEAD];
  gboolean hashed[AHEAD];

  flam_interner_reserve (interner, stacks->n - from);
  flam_column_reserve (&tables->first_children, stacks->n);
  tables->first_children.n = stacks->n;
  memset (&flam_column_at (&tables->first_children, FlamId, from),
          0xff,
          (stacks->n - from) * sizeof (FlamId));
  for (guint32 i = from; i < stacks->n + AHEAD; i++)
    {
      if (i >= from + AHEAD && hashed[i % AHEAD])
        flam_interner_insert (interner, hashes[i % AHEAD], i - AHEAD);
      if (i >= stacks->n)
        continue;
      hashed[i % AHEAD] = !is_first_child (tables, i);
      if (!hashed[i % AHEAD])
        continue;
      hashes[i % AHEAD] = flam_hash_pair (stacks->prefix[i], stacks->frame[i]);
      flam_interner_prefetch (interner, hashes[i % AHEAD]);
    }
}

static inline FlamId
append_indexed_stack (FlamBuilder *builder, FlamId prefix, FlamId frame)
{
  flam_column_append (&builder->tables.first_children, FlamId, FLAM_NONE);
  return flam_builder_append_stack (builder, prefix, frame);
}

FlamId
flam_builder_stack (FlamBuilder *builder, FlamId prefix, FlamId frame)
{
  FlamTables *tables = &builder->tables;
  FlamInterner *interner = &tables->interners[FLAM_TABLE_STACKS];
  const FlamStacks *stacks = &tables->profile.stacks;
  StackKey key = { prefix, frame };
  FlamSlot *slot;
  guint32 hash;

  if (G_UNLIKELY (tables->first_children.n < stacks->n))
    index_stacks (builder);
  if (prefix != FLAM_NONE)
    {
      FlamId *first = &flam_column_at (&tables->first_children, FlamId, prefix);

      g_assert (prefix < stacks->n);
      if (*first == FLAM_NONE)
        {
          *first = stacks->n;
          return append_indexed_stack (builder, prefix, frame);
        }
      if (stacks->frame[*first] == frame)
        return *first;
    }
  hash = flam_hash_pair (prefix, frame);
  slot = flam_interner_find (interner, hash, stack_equal, stacks, &key);
  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, stacks->n };
  interner->used++;
  return append_indexed_stack (builder, prefix, frame);
}

FlamId
flam_builder_append_stack (FlamBuilder *builder, FlamId prefix, FlamId frame)
{
  FlamId id = flam_tables_push (&builder->tables, FLAM_TABLE_STACKS);

  g_assert (frame < builder->tables.profile.frames.n);
  g_assert (prefix == FLAM_NONE || prefix < id);
  cells (builder, FlamId, profile.stacks.prefix)[id] = prefix;
  cells (builder, FlamId, profile.stacks.frame)[id] = frame;
  return id;
}

void
flam_builder_stack_path (FlamBuilder *builder,
                         FlamId prefix,
                         const FlamId *frames,
                         gsize n,
                         FlamId *stacks)
{
  guint32 had = builder->tables.profile.stacks.n;
  gsize i;

  for (i = 0; i < n && builder->tables.profile.stacks.n == had; i++)
    prefix = stacks[i] = flam_builder_stack (builder, prefix, frames[i]);
  for (; i < n; i++)
    prefix = stacks[i] = flam_builder_append_stack (builder, prefix, frames[i]);
  index_stacks (builder);
}

void
flam_builder_reserve_stacks (FlamBuilder *builder, gsize n)
{
  flam_tables_reserve (
      &builder->tables,
      FLAM_TABLE_STACKS,
      (guint32)MIN (builder->tables.profile.stacks.n + n, FLAM_NONE - 1));
}

/* --- processes and threads ----------------------------------------------- */

FlamId
flam_builder_process (FlamBuilder *builder, gint32 pid, guint generation)
{
  gint64 keys[] = { pid, generation };
  guint32 n = builder->tables.profile.processes.n;
  FlamId id = flam_tables_intern (&builder->tables, FLAM_TABLE_PROCESSES, keys);

  if (id == n)
    cells (builder, FlamId, profile.processes.parent)[id] = FLAM_NONE;
  return id;
}

FlamId
flam_builder_append_process (FlamBuilder *builder, gint32 pid, FlamId parent)
{
  return flam_tables_add (
      &builder->tables, FLAM_TABLE_PROCESSES, (gint64[]){ pid, parent });
}

void
flam_builder_set_process_name (FlamBuilder *builder,
                               FlamId process,
                               const char *name)
{
  g_assert (process < builder->tables.profile.processes.n);
  cells (builder, FlamId, profile.processes.name)[process] =
      flam_builder_string (builder, name, -1);
}

void
flam_builder_set_process_parent (FlamBuilder *builder,
                                 FlamId process,
                                 FlamId parent)
{
  g_assert (process < builder->tables.profile.processes.n);
  g_assert (parent < builder->tables.profile.processes.n);
  cells (builder, FlamId, profile.processes.parent)[process] = parent;
}

FlamId
flam_builder_thread (FlamBuilder *builder,
                     FlamId process,
                     gint32 tid,
                     guint generation)
{
  gint64 keys[] = { process, tid, generation, 0 };

  g_assert (process < builder->tables.profile.processes.n);
  return flam_tables_intern (&builder->tables, FLAM_TABLE_THREADS, keys);
}

FlamId
flam_builder_lone_thread (FlamBuilder *builder)
{
  return flam_builder_thread (
      builder, flam_builder_process (builder, -1, 0), -1, 0);
}

FlamId
flam_builder_thread_keyed (FlamBuilder *builder, FlamId process, FlamId key)
{
  gint64 keys[] = { process, -1, 0, key };

  g_assert (process < builder->tables.profile.processes.n);
  return flam_tables_intern (&builder->tables, FLAM_TABLE_THREADS, keys);
}

FlamId
flam_builder_append_thread (FlamBuilder *builder, FlamId process, gint32 tid)
{
  return flam_tables_add (
      &builder->tables, FLAM_TABLE_THREADS, (gint64[]){ process, tid });
}

gboolean
flam_builder_has_thread_name (const FlamBuilder *builder, FlamId thread)
{
  g_assert (thread < builder->tables.profile.threads.n);
  return builder->tables.profile.threads.name[thread] != 0;
}

void
flam_builder_set_thread_name (FlamBuilder *builder,
                              FlamId thread,
                              const char *name)
{
  g_assert (thread < builder->tables.profile.threads.n);
  cells (builder, FlamId, profile.threads.name)[thread] =
      flam_builder_string (builder, name, -1);
}
