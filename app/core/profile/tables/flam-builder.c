/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a profile as importers add them: names, code, processes, threads,
 * facts, samples, allocations, counters, marks.
 *
 *   flam-builder-recorded.c  what a recorder notes, and its folding into these
 *   flam-builder-finish.c    checks, order, the frozen profile
 *   flam-builder-edit.c      from a profile back to a builder
 *   flam-builder-merge.c     several builders into one */
#include "flam-builder-private.h"

#include <stdarg.h>
#include <string.h>

/* --- strings ------------------------------------------------------------- */

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
  g_clear_pointer (&builder->label_sets, g_hash_table_unref);
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

FlamStringId
flam_builder_string (FlamBuilder *builder, const char *text, gssize length)
{
  return flam_strings_intern (&builder->tables.strings, text, length);
}

const char *
flam_builder_get_string (FlamBuilder *builder, FlamStringId string)
{
  g_assert (string < builder->tables.strings.offsets.n);
  return flam_strings_get (&builder->tables.strings, string);
}

/* --- modules ------------------------------------------------------------- */

/* A build id becomes part of URLs and of paths in caches, and is compared with
 * those in ELF files, in lower case. One that is not hexadecimal is dropped. */
static FlamStringId
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
name_module (FlamBuilder *builder, FlamModuleId module)
{
  const char *path = flam_builder_get_string (
      builder, cells (builder, FlamId, profile.modules.path)[module]);
  const char *slash = strrchr (path, '/');
  g_autofree char *name = g_strdup (slash && slash[1] ? slash + 1 : path);

  cells (builder, FlamId, profile.modules.name)[module] =
      flam_builder_string (builder, name, -1);
}

FlamModuleId
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
                                 FlamModuleId module,
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

FlamFunctionId
flam_builder_function (FlamBuilder *builder, const FlamFunction *f)
{
  FlamStringId system_name = f->system_name != 0 ? f->system_name : f->name;
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
                             FlamStringId name,
                             FlamFunctionKind kind)
{
  FlamFunction function = { .name = name, .module = FLAM_NONE, .kind = kind };

  return flam_builder_function (builder, &function);
}

FlamId
flam_builder_function_unresolved (FlamBuilder *builder, FlamModuleId module)
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

FlamFrameId
flam_builder_frame (FlamBuilder *builder,
                    FlamFunctionId function,
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
                       FlamFunctionId function,
                       guint64 address,
                       FlamStringId file,
                       guint32 line,
                       guint inline_depth)
{
  FlamRecordedFrame frame = { FLAM_NONE, address,      function, file,
                              line,      inline_depth, 0 };

  g_assert (function < builder->tables.profile.functions.n);
  return flam_builder_recorded_frame (builder, &frame);
}

FlamFrameId
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
  FlamStackId prefix;
  FlamFrameId frame;
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
  FlamStackId prefix = tables->profile.stacks.prefix[i];
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

static inline FlamStackId
append_indexed_stack (FlamBuilder *builder,
                      FlamStackId prefix,
                      FlamFrameId frame)
{
  flam_column_append (&builder->tables.first_children, FlamId, FLAM_NONE);
  return flam_builder_append_stack (builder, prefix, frame);
}

FlamStackId
flam_builder_stack (FlamBuilder *builder, FlamStackId prefix, FlamFrameId frame)
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

FlamStackId
flam_builder_append_stack (FlamBuilder *builder,
                           FlamStackId prefix,
                           FlamFrameId frame)
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
                         FlamStackId prefix,
                         const FlamFrameId *frames,
                         gsize n,
                         FlamStackId *stacks)
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

FlamProcessId
flam_builder_process (FlamBuilder *builder, gint32 pid, guint generation)
{
  gint64 keys[] = { pid, generation };
  guint32 n = builder->tables.profile.processes.n;
  FlamId id = flam_tables_intern (&builder->tables, FLAM_TABLE_PROCESSES, keys);

  if (id == n)
    cells (builder, FlamId, profile.processes.parent)[id] = FLAM_NONE;
  return id;
}

FlamProcessId
flam_builder_append_process (FlamBuilder *builder, gint32 pid, FlamId parent)
{
  return flam_tables_add (
      &builder->tables, FLAM_TABLE_PROCESSES, (gint64[]){ pid, parent });
}

void
flam_builder_set_process_name (FlamBuilder *builder,
                               FlamProcessId process,
                               const char *name)
{
  g_assert (process < builder->tables.profile.processes.n);
  cells (builder, FlamId, profile.processes.name)[process] =
      flam_builder_string (builder, name, -1);
}

void
flam_builder_set_process_parent (FlamBuilder *builder,
                                 FlamProcessId process,
                                 FlamId parent)
{
  g_assert (process < builder->tables.profile.processes.n);
  g_assert (parent < builder->tables.profile.processes.n);
  cells (builder, FlamId, profile.processes.parent)[process] = parent;
}

void
flam_builder_set_process_rank (FlamBuilder *builder,
                               FlamProcessId process,
                               guint32 rank,
                               const char *host)
{
  g_assert (process < builder->tables.profile.processes.n);
  cells (builder, guint32, profile.processes.rank)[process] = rank;
  cells (builder, FlamId, profile.processes.host)[process] =
      flam_builder_string (builder, host, -1);
}

FlamThreadId
flam_builder_thread (FlamBuilder *builder,
                     FlamProcessId process,
                     gint32 tid,
                     guint generation)
{
  gint64 keys[] = { process, tid, generation, 0 };

  g_assert (process < builder->tables.profile.processes.n);
  return flam_tables_intern (&builder->tables, FLAM_TABLE_THREADS, keys);
}

FlamThreadId
flam_builder_lone_thread (FlamBuilder *builder)
{
  return flam_builder_thread (
      builder, flam_builder_process (builder, -1, 0), -1, 0);
}

FlamId
flam_builder_thread_keyed (FlamBuilder *builder,
                           FlamProcessId process,
                           FlamId key)
{
  gint64 keys[] = { process, -1, 0, key };

  g_assert (process < builder->tables.profile.processes.n);
  return flam_tables_intern (&builder->tables, FLAM_TABLE_THREADS, keys);
}

FlamThreadId
flam_builder_append_thread (FlamBuilder *builder,
                            FlamProcessId process,
                            gint32 tid)
{
  return flam_tables_add (
      &builder->tables, FLAM_TABLE_THREADS, (gint64[]){ process, tid });
}

gboolean
flam_builder_has_thread_name (const FlamBuilder *builder, FlamThreadId thread)
{
  g_assert (thread < builder->tables.profile.threads.n);
  return builder->tables.profile.threads.name[thread] != 0;
}

void
flam_builder_set_thread_name (FlamBuilder *builder,
                              FlamThreadId thread,
                              const char *name)
{
  g_assert (thread < builder->tables.profile.threads.n);
  cells (builder, FlamId, profile.threads.name)[thread] =
      flam_builder_string (builder, name, -1);
}

/* --- facts --------------------------------------------------------------- */

/* Data on the whole capture: facts and warnings. */

#define WARNINGS_MAX 100
/* The number of facts of newer versions that are kept, and the size of one. */
#define OTHERS_MAX 100
#define OTHER_MAX 4096
/* Rows of FACTS: a crafted file may contain a million keys. */
#define NOTED_MAX 1000

static const char *
keep_text (FlamBuilder *builder, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text ? text : "", -1);

  return g_string_chunk_insert_const (builder->texts, valid);
}

FlamFacts *
flam_builder_facts (FlamBuilder *builder)
{
  return &builder->facts;
}

void
flam_builder_set_format (FlamBuilder *builder, const char *importer_id)
{
  builder->facts.format = keep_text (builder, importer_id);
}

void
flam_builder_set_command (FlamBuilder *builder, const char *command)
{
  builder->facts.command = keep_text (builder, command);
}

void
flam_builder_set_partial (FlamBuilder *builder,
                          double read_fraction,
                          const char *why)
{
  const char *kept = keep_text (builder, why);

  builder->facts.complete = FALSE;
  builder->facts.read_fraction = CLAMP (read_fraction, 0, 1);
  g_ptr_array_remove (builder->warnings, (gpointer)kept);
  g_ptr_array_insert (builder->warnings, 0, (gpointer)kept);
  g_ptr_array_set_size (builder->warnings,
                        (int)MIN (builder->warnings->len, WARNINGS_MAX));
}

static void
keep_other (FlamBuilder *builder, const char *key, const char *value)
{
  if (builder->others->len >= 2 * OTHERS_MAX ||
      strnlen (value, OTHER_MAX) == OTHER_MAX)
    return;
  g_ptr_array_add (builder->others, (gpointer)keep_text (builder, key));
  g_ptr_array_add (builder->others, (gpointer)keep_text (builder, value));
}

void
flam_builder_set_fact (FlamBuilder *builder, const char *key, const char *value)
{
  const FlamFact *fact = flam_fact_of_key (key);
  gint64 number = MAX (g_ascii_strtoll (value, NULL, 10), 0);
  gpointer member;

  if (fact == NULL)
    {
      keep_other (builder, key, value);
      return;
    }
  member = G_STRUCT_MEMBER_P (&builder->facts, fact->offset);
  if (fact->type == FLAM_FACT_TEXT)
    *(const char **)member = keep_text (builder, value);
  else if (fact->type == FLAM_FACT_FLAG)
    *(gboolean *)member = number != 0;
  else
    *(gint64 *)member = number;
}

void
flam_builder_copy_told_facts (FlamBuilder *builder, const FlamFacts *facts)
{
  builder->facts = *facts;
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->type == FLAM_FACT_TEXT)
      G_STRUCT_MEMBER (const char *, &builder->facts, fact->offset) =
          keep_text (builder,
                     G_STRUCT_MEMBER (const char *, facts, fact->offset));
}

void
flam_builder_copy_facts (FlamBuilder *builder, const FlamFacts *facts)
{
  flam_builder_copy_told_facts (builder, facts);
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    keep_other (builder, facts->others[i], facts->others[i + 1]);
  for (guint i = 0; facts->warnings[i] != NULL; i++)
    flam_builder_warn (builder, "%s", facts->warnings[i]);
}

void
flam_builder_set_peak_time (FlamBuilder *builder, gint64 time)
{
  builder->peak_time = time;
}

void
flam_builder_warn (FlamBuilder *builder, const char *format, ...)
{
  g_autofree char *text = NULL;
  const char *kept;
  va_list args;

  if (builder->warnings->len >= WARNINGS_MAX)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  kept = keep_text (builder, text);
  if (!g_ptr_array_find (builder->warnings, kept, NULL))
    g_ptr_array_add (builder->warnings, (gpointer)kept);
}

void
flam_builder_warn_count (FlamBuilder *builder,
                         guint64 n,
                         const char *one,
                         const char *many)
{
  if (n > 0)
    flam_builder_warn (builder, n == 1 ? one : many, n);
}

/* --- numbers out of range ------------------------------------------------- */

FlamLimited *
flam_builder_limited (FlamBuilder *builder)
{
  return &builder->limited;
}

gint64
flam_builder_limit (FlamBuilder *builder,
                    __int128 value,
                    gint64 least,
                    gint64 most,
                    gconstpointer at)
{
  if (G_LIKELY (value >= least && value <= most))
    return (gint64)value;
  if (builder->limited.n++ == 0)
    builder->limited.first = at;
  return value < least ? least : most;
}

/* --- as they were noted --------------------------------------------------- */

void
flam_builder_note_fact (FlamBuilder *builder,
                        const char *key,
                        const char *value)
{
  gint64 values[] = { flam_builder_string (builder, key, -1),
                      flam_builder_string (builder, value, -1) };

  flam_tables_add (&builder->tables, FLAM_TABLE_FACTS, values);
}

void
flam_builder_note_number (FlamBuilder *builder, const char *key, gint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  flam_builder_note_fact (builder, key, text);
}

void
flam_builder_note_facts (FlamBuilder *builder, const FlamFacts *facts)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->key != NULL && flam_fact_is_known (fact, facts))
      {
        g_autofree char *value = flam_fact_to_text (fact, facts);

        flam_builder_note_fact (builder, fact->key, value);
      }
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    flam_builder_note_fact (builder, facts->others[i], facts->others[i + 1]);
}

void
flam_builder_note_warning (FlamBuilder *builder, const char *format, ...)
{
  g_autofree char *text = NULL;
  gint64 value;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  value = flam_builder_string (builder, text, -1);
  flam_tables_add (&builder->tables, FLAM_TABLE_WARNINGS, &value);
  flam_builder_warn (builder, "%s", text);
}

const char *
flam_builder_warning (const FlamBuilder *builder, guint i)
{
  return i < builder->warnings->len ? builder->warnings->pdata[i] : NULL;
}

const char *
flam_builder_noted (const FlamBuilder *builder, const char *key)
{
  const FlamStrings *strings = &builder->tables.strings;
  const FlamFactRows *facts = &builder->tables.facts;

  for (guint32 i = facts->n; i-- > 0;)
    if (strcmp (flam_strings_get (strings, facts->key[i]), key) == 0)
      return flam_strings_get (strings, facts->value[i]);
  return NULL;
}

gint64
flam_builder_noted_number (const FlamBuilder *builder, const char *key)
{
  const char *value = flam_builder_noted (builder, key);

  return value != NULL ? MAX (g_ascii_strtoll (value, NULL, 10), 0) : -1;
}

/* Whether a fact follows from the tables, and is written with them. */
static gboolean
is_of_tables (const char *key)
{
  static const char *const keys[] = {
    FLAM_FACT_PEAK_TIME, FLAM_FACT_HAS_TIMES,     FLAM_FACT_MEASURES_LISTED,
    FLAM_FACT_SPANS,     FLAM_FACT_SAMPLED_SPANS, NULL
  };

  return g_strv_contains (keys, key);
}

/* The last value of each key, in order; for a file with thousands of keys,
 * which Flambeau does not write, the last ones. */
static void
fold_rows (FlamBuilder *builder)
{
  const FlamFactRows *facts = &builder->tables.facts;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint32 rows[NOTED_MAX];
  guint n = 0;

  for (guint32 i = facts->n; i-- > 0 && n < NOTED_MAX;)
    if (g_hash_table_add (seen, GUINT_TO_POINTER (facts->key[i])))
      rows[n++] = i;
  while (n-- > 0)
    {
      const char *key = flam_builder_get_string (builder, facts->key[rows[n]]);

      if (!is_of_tables (key))
        flam_builder_set_fact (
            builder,
            key,
            flam_builder_get_string (builder, facts->value[rows[n]]));
    }
}

static gint64
last_sample (const FlamSamples *samples)
{
  gint64 last = 0;

  for (guint32 i = 0; samples->time != NULL && i < samples->n; i++)
    last = MAX (last, samples->time[i]);
  return last;
}

void
flam_builder_fold_facts (FlamBuilder *builder)
{
  const FlamTables *tables = &builder->tables;
  FlamFacts *facts = &builder->facts;
  const char *times = flam_builder_noted (builder, FLAM_FACT_HAS_TIMES);

  fold_rows (builder);
  if (facts->duration_ns == 0 && tables->end.n > 0)
    facts->duration_ns = MAX (tables->end.duration[tables->end.n - 1], 0);
  if (times == NULL || strcmp (times, "0") != 0)
    {
      flam_builder_set_has_times (builder);
      flam_builder_set_origin (builder, 0);
      if (facts->duration_ns == 0)
        facts->duration_ns = builder->laid != NULL
                                 ? MAX (builder->laid->last, 0)
                                 : last_sample (&tables->profile.samples);
    }
  else
    g_clear_pointer ((gpointer *)&tables->profile.samples.time, g_free);
  for (guint32 i = 0; i < tables->warnings.n; i++)
    flam_builder_warn (
        builder,
        "%s",
        flam_builder_get_string (builder, tables->warnings.text[i]));
}

/* --- samples ------------------------------------------------------------- */

guint
flam_builder_add_column (FlamBuilder *builder)
{
  g_assert (builder->tables.profile.samples.n == 0);
  flam_tables_add_weights (&builder->tables);
  return builder->tables.weights->len - 1;
}

static guint
add_measure (FlamBuilder *builder,
             const char *id,
             const char *name,
             FlamUnit unit,
             FlamMeasureKind kind,
             FlamMeasureSource source,
             int column,
             FlamId event)
{
  gint64 values[] = { flam_builder_string (builder, id, -1),
                      flam_builder_string (builder, name, -1),
                      unit,
                      kind,
                      source,
                      column,
                      event == FLAM_NONE ? -1 : (gint64)event,
                      1 };

  g_assert (builder->base == NULL);
  g_assert (column < (int)builder->tables.weights->len);
  return flam_tables_add (&builder->tables, FLAM_TABLE_MEASURES, values);
}

guint
flam_builder_add_measure (FlamBuilder *builder,
                          const char *id,
                          const char *name,
                          FlamUnit unit,
                          FlamMeasureKind kind,
                          int column,
                          FlamId event)
{
  return add_measure (
      builder, id, name, unit, kind, FLAM_FROM_SAMPLES, column, event);
}

/* Times and counts are measures of running code, bytes and blocks of the
   heap. */
static const struct
{
  const char *id, *name;
  FlamUnit unit;
} standard_measures[] = {
  [FLAM_STANDARD_SAMPLES] = { "samples", N_ ("Samples"), FLAM_UNIT_COUNT },
  [FLAM_STANDARD_TIME] = { "time", N_ ("Time"), FLAM_UNIT_NS },
  [FLAM_STANDARD_CPU_TIME] = { "cpu-time", N_ ("CPU time"), FLAM_UNIT_NS },
  [FLAM_STANDARD_WALL_TIME] = { "wall-time", N_ ("Wall time"), FLAM_UNIT_NS },
  [FLAM_STANDARD_CALLS] = { "calls", N_ ("Calls"), FLAM_UNIT_COUNT },
  [FLAM_STANDARD_PEAK] = { "peak", N_ ("Peak memory"), FLAM_UNIT_BYTES },
  [FLAM_STANDARD_PEAK_BLOCKS] = { "peak-blocks",
                                  N_ ("Blocks at the peak"),
                                  FLAM_UNIT_COUNT },
  [FLAM_STANDARD_LEAKED] = { "leaked", N_ ("Leaked memory"), FLAM_UNIT_BYTES },
  [FLAM_STANDARD_LEAKED_BLOCKS] = { "leaked-blocks",
                                    N_ ("Leaked blocks"),
                                    FLAM_UNIT_COUNT },
  [FLAM_STANDARD_ALLOCATED] = { "allocated",
                                N_ ("Allocated memory"),
                                FLAM_UNIT_BYTES },
  [FLAM_STANDARD_ALLOCATIONS] = { "allocations",
                                  N_ ("Allocations"),
                                  FLAM_UNIT_COUNT },
  [FLAM_STANDARD_TEMPORARY] = { "temporary",
                                N_ ("Temporary allocations"),
                                FLAM_UNIT_COUNT },
  [FLAM_STANDARD_TEMPORARY_BYTES] = { "temporary-bytes",
                                      N_ ("Temporary memory"),
                                      FLAM_UNIT_BYTES },
  [FLAM_STANDARD_PEAK_USEFUL] = { "peak-useful",
                                  N_ ("Useful heap at the peak"),
                                  FLAM_UNIT_BYTES },
};

/* `name` NULL: the usual one. */
static guint
add_standard_measure (FlamBuilder *builder,
                      FlamStandardMeasure measure,
                      const char *name,
                      FlamMeasureSource source,
                      int column,
                      FlamId event)
{
  return add_measure (builder,
                      standard_measures[measure].id,
                      name != NULL ? name : standard_measures[measure].name,
                      standard_measures[measure].unit,
                      measure >= FLAM_STANDARD_PEAK ? FLAM_MEASURE_ALLOC
                                                    : FLAM_MEASURE_CPU,
                      source,
                      column,
                      event);
}

guint
flam_builder_add_standard_measure (FlamBuilder *builder,
                                   FlamStandardMeasure measure,
                                   int column,
                                   FlamId event)
{
  return add_standard_measure (
      builder, measure, NULL, FLAM_FROM_SAMPLES, column, event);
}

guint
flam_builder_add_event_measure (FlamBuilder *builder,
                                const char *name,
                                FlamUnit unit,
                                int column,
                                FlamId event)
{
  return flam_builder_add_measure (
      builder, name, name, unit, FLAM_MEASURE_CPU, column, event);
}

void
flam_builder_set_denominator (FlamBuilder *builder,
                              guint measure,
                              gint64 denominator)
{
  g_assert (measure < builder->tables.measures.n && denominator > 0);
  cells (builder, gint64, measures.denominator)[measure] = denominator;
}

void
flam_builder_reduce (FlamBuilder *builder, guint measure)
{
  FlamTables *tables = &builder->tables;
  gint64 *denominator = &cells (builder, gint64, measures.denominator)[measure];
  gint64 event = tables->measures.event[measure];
  const guint16 *events = tables->profile.samples.event;
  gint64 *weights;

  g_assert (tables->measures.column[measure] >= 0);
  weights =
      flam_tables_weights (tables, (guint)tables->measures.column[measure]);
  for (guint turn = 0; turn < 2 && *denominator > 1; turn++)
    for (FlamId i = 0; i < tables->profile.samples.n; i++)
      if (event >= 0 && event != (events != NULL ? events[i] : 0))
        continue;
      else if (turn == 1)
        weights[i] /= *denominator;
      else if (weights[i] % *denominator != 0)
        return;
  *denominator = 1;
}

void
flam_builder_set_spans (FlamBuilder *builder, guint measure, FlamSpans spans)
{
  g_assert (measure < builder->tables.measures.n);
  cells (builder, guint8, measures.spans)[measure] = spans;
}

static gboolean
has_given (const FlamSample *sample)
{
  return sample->event != 0 || sample->state != 0 || sample->labels != 0;
}

/* Begins the optional columns of which the sample has a value. */
static void
begin_given (FlamBuilder *builder, const FlamSample *sample)
{
  const FlamTableInfo *infos = &flam_table_infos[FLAM_TABLE_SAMPLES];

  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      if (info->given != 0 &&
          flam_cell_get ((const char *)sample + info->given, info, 0) != 0)
        flam_tables_begin (&builder->tables, FLAM_TABLE_SAMPLES, info);
    }
}

/* The optional cells of a sample; they are 0 until they are set. */
static void
set_given (FlamBuilder *builder, const FlamSample *sample, FlamId row)
{
  const FlamTableInfo *infos = &flam_table_infos[FLAM_TABLE_SAMPLES];

  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gint64 value;

      if (info->given == 0)
        continue;
      value = flam_cell_get ((const char *)sample + info->given, info, 0);
      if (value != 0)
        flam_cell_set (
            *flam_tables_array (&builder->tables, info), info, row, value);
    }
}

FlamId
flam_builder_push_samples (FlamBuilder *builder,
                           guint32 n,
                           const FlamSample *like)
{
  guint32 *rows = flam_tables_n (&builder->tables, FLAM_TABLE_SAMPLES);
  FlamId first = *rows;

  g_assert (builder->base == NULL);
  g_assert (n < FLAM_NONE - first);
  flam_tables_reserve_samples (&builder->tables, first + n);
  if (has_given (like))
    begin_given (builder, like);
  *rows += n;
  return first;
}

void
flam_builder_set_sample (FlamBuilder *builder,
                         FlamId row,
                         const FlamSample *sample,
                         const gint64 *weights)
{
  const FlamProfile *profile = &builder->tables.profile;

  g_assert (row < profile->samples.n);
  g_assert (sample->thread < profile->threads.n);
  g_assert (sample->stack == FLAM_NONE || sample->stack < profile->stacks.n);
  g_assert (sample->state < FLAM_N_STATES);

  cells (builder, FlamId, sample_thread)[row] = sample->thread;
  cells (builder, FlamId, profile.samples.stack)[row] = sample->stack;
  if (builder->has_times)
    cells (builder, gint64, profile.samples.time)[row] = sample->time;
  if (has_given (sample))
    set_given (builder, sample, row);
  for (guint i = 0; i < builder->tables.weights->len; i++)
    flam_tables_weights (&builder->tables, i)[row] = weights[i];
}

void
flam_builder_add_sample (FlamBuilder *builder,
                         const FlamSample *sample,
                         const gint64 *weights)
{
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_SAMPLES);

  g_assert (builder->base == NULL);
  if (has_given (sample))
    begin_given (builder, sample);
  flam_builder_set_sample (builder, row, sample, weights);
}

void
flam_builder_reserve_samples (FlamBuilder *builder, gsize n)
{
  flam_tables_reserve_samples (
      &builder->tables,
      (guint32)MIN (builder->tables.profile.samples.n + n, FLAM_NONE - 1));
}

void
flam_builder_set_has_times (FlamBuilder *builder)
{
  builder->has_times = TRUE;
  flam_tables_begin (&builder->tables,
                     FLAM_TABLE_SAMPLES,
                     &flam_table_infos[FLAM_TABLE_SAMPLES].columns[0]);
}

void
flam_builder_set_origin (FlamBuilder *builder, gint64 time)
{
  builder->has_origin = TRUE;
  builder->origin = time;
}

/* --- memory, counters, marks --------------------------------------------- */

void
flam_builder_add_allocation (FlamBuilder *builder,
                             const FlamAllocation *allocation)
{
  const FlamProfile *profile = &builder->tables.profile;
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_ALLOCATIONS);

  g_assert (builder->base == NULL);
  g_assert (allocation->thread == FLAM_NONE ||
            allocation->thread < profile->threads.n);
  g_assert (allocation->stack == FLAM_NONE ||
            allocation->stack < profile->stacks.n);
  g_assert (allocation->allocator < FLAM_N_ALLOCATORS);
#define set(type, member)                                                      \
  cells (builder, type, profile.allocations.member)[row] = allocation->member
  set (gint64, time);
  set (gint64, freed_at);
  set (gint64, size);
  set (gint64, count);
  set (gint64, at_peak);
  set (gint64, born_more);
  set (gint64, died_more);
  set (FlamId, thread);
  set (FlamId, stack);
  set (guint16, distance);
  set (guint8, allocator);
#undef set
}

void
flam_builder_reserve_allocations (FlamBuilder *builder, gsize n)
{
  flam_tables_reserve (
      &builder->tables,
      FLAM_TABLE_ALLOCATIONS,
      (guint32)MIN (builder->tables.profile.allocations.n + n, FLAM_NONE - 1));
}

/* Facts that every recording has come first. */
#define N_RECORDED 8

static const struct
{
  FlamMeasureSource source;
  FlamStandardMeasure measure;
} allocation_measures[] = {
  { FLAM_FROM_PEAK, FLAM_STANDARD_PEAK },
  { FLAM_FROM_LEAKED, FLAM_STANDARD_LEAKED },
  { FLAM_FROM_ALLOCATED, FLAM_STANDARD_ALLOCATED },
  { FLAM_FROM_ALLOCATIONS, FLAM_STANDARD_ALLOCATIONS },
  { FLAM_FROM_TEMPORARY, FLAM_STANDARD_TEMPORARY },
  { FLAM_FROM_PEAK_BLOCKS, FLAM_STANDARD_PEAK_BLOCKS },
  { FLAM_FROM_LEAKED_BLOCKS, FLAM_STANDARD_LEAKED_BLOCKS },
  { FLAM_FROM_TEMPORARY_BYTES, FLAM_STANDARD_TEMPORARY_BYTES },
  { FLAM_FROM_PEAK_USEFUL, FLAM_STANDARD_PEAK_USEFUL },
};

void
flam_builder_add_allocation_measure_named (FlamBuilder *builder,
                                           FlamMeasureSource source,
                                           const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (allocation_measures); i++)
    if (allocation_measures[i].source == source)
      add_standard_measure (
          builder, allocation_measures[i].measure, name, source, -1, FLAM_NONE);
}

void
flam_builder_add_allocation_measure (FlamBuilder *builder,
                                     FlamMeasureSource source)
{
  flam_builder_add_allocation_measure_named (builder, source, NULL);
}

void
flam_builder_add_allocation_measures (FlamBuilder *builder)
{
  for (guint i = 0; i < N_RECORDED; i++)
    flam_builder_add_allocation_measure (builder,
                                         allocation_measures[i].source);
}

guint
flam_builder_add_counter (FlamBuilder *builder, const char *id, FlamUnit unit)
{
  gint64 values[] = { flam_builder_string (builder, id, -1), unit };

  return flam_tables_add (&builder->tables, FLAM_TABLE_COUNTERS, values);
}

void
flam_builder_add_counter_value (FlamBuilder *builder,
                                guint counter,
                                gint64 time,
                                gint64 value)
{
  g_assert (counter < builder->tables.counters.n);
  flam_tables_add (&builder->tables,
                   FLAM_TABLE_COUNTER_VALUES,
                   (gint64[]){ counter, time, value });
}

void
flam_builder_add_mark (FlamBuilder *builder,
                       gint64 time,
                       gint64 duration,
                       FlamThreadId thread,
                       const char *name)
{
  gint64 values[] = {
    time, MAX (duration, 0), thread, flam_builder_string (builder, name, -1)
  };

  g_assert (thread == FLAM_NONE || thread < builder->tables.profile.threads.n);
  flam_tables_add (&builder->tables, FLAM_TABLE_MARKS, values);
}

/* A row of LABELS, without its set. */
typedef struct
{
  FlamId key, value, unit, padding;
  gint64 number;
} LabelCells;

static int
compare_labels (gconstpointer a, gconstpointer b)
{
  const FlamSampleLabel *x = a, *y = b;
  int order = strcmp (x->key, y->key);

  return order != 0 ? order : strcmp (x->value, y->value);
}

static void
append_label_set (FlamBuilder *builder,
                  guint32 set,
                  const LabelCells *labels,
                  guint n)
{
  for (guint i = 0; i < n; i++)
    {
      FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_LABELS);

      cells (builder, guint32, profile.labels.set)[row] = set;
      cells (builder, FlamId, profile.labels.key)[row] = labels[i].key;
      cells (builder, FlamId, profile.labels.value)[row] = labels[i].value;
      cells (builder, gint64, profile.labels.number)[row] = labels[i].number;
      cells (builder, FlamId, profile.labels.unit)[row] = labels[i].unit;
    }
}

guint32
flam_builder_add_labels (FlamBuilder *builder,
                         const FlamSampleLabel *labels,
                         guint n)
{
  const FlamSampleLabels *rows = &builder->tables.profile.labels;
  g_autofree FlamSampleLabel *sorted = g_memdup2 (labels, n * sizeof *sorted);
  g_autofree LabelCells *set_cells = g_new0 (LabelCells, n + 1);
  g_autoptr (GBytes) key = NULL;
  guint32 set;

  if (n == 0)
    return 0;
  qsort (sorted, n, sizeof *sorted, compare_labels);
  for (guint i = 0; i < n; i++)
    set_cells[i] = (LabelCells){
      .key = flam_builder_string (builder, sorted[i].key, -1),
      .value = flam_builder_string (builder, sorted[i].value, -1),
      .unit = sorted[i].unit != NULL
                  ? flam_builder_string (builder, sorted[i].unit, -1)
                  : FLAM_NONE,
      .number = sorted[i].number,
    };
  key = g_bytes_new (set_cells, n * sizeof *set_cells);
  if (builder->label_sets == NULL)
    builder->label_sets = g_hash_table_new_full (
        g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  set = GPOINTER_TO_UINT (g_hash_table_lookup (builder->label_sets, key));
  if (set != 0)
    return set;
  if (g_hash_table_size (builder->label_sets) >= FLAM_LABEL_SETS_MAX)
    {
      flam_builder_warn (builder,
                         N_ ("there are more than %u sets of labels; the rest "
                             "are shown as one"),
                         FLAM_LABEL_SETS_MAX);
      return 0;
    }
  /* A recorder drops the rows that are in the file. */
  set = MAX (rows->n > 0 ? rows->set[rows->n - 1] : 0,
             g_hash_table_size (builder->label_sets)) +
        1;
  append_label_set (builder, set, set_cells, n);
  g_hash_table_insert (
      builder->label_sets, g_steal_pointer (&key), GUINT_TO_POINTER (set));
  return set;
}

void
flam_builder_add_note (FlamBuilder *builder,
                       const char *text,
                       const char *function,
                       gint64 from,
                       gint64 to,
                       gint64 written)
{
  FlamId what = flam_builder_string (builder, text, -1);
  FlamId of = function != NULL ? flam_builder_string (builder, function, -1)
                               : FLAM_NONE;
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_NOTES);

  cells (builder, FlamId, profile.notes.text)[row] = what;
  cells (builder, FlamId, profile.notes.function)[row] = of;
  cells (builder, gint64, profile.notes.from)[row] = from;
  cells (builder, gint64, profile.notes.to)[row] = to;
  cells (builder, gint64, profile.notes.written)[row] = written;
}

void
flam_builder_drop_notes (FlamBuilder *builder)
{
  FlamTables *tables = &builder->tables;

  flam_tables_drop (tables, FLAM_TABLE_NOTES, tables->profile.notes.n);
}

void
flam_builder_add_source (FlamBuilder *builder,
                         const char *path,
                         const char *text,
                         gssize length)
{
  FlamStringId name = flam_builder_string (builder, path, -1);
  FlamId what = flam_builder_string (builder, text, length);
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_SOURCES);

  cells (builder, FlamId, profile.sources.path)[row] = name;
  cells (builder, FlamId, profile.sources.text)[row] = what;
}

void
flam_builder_add_jump (FlamBuilder *builder,
                       FlamFrameId from,
                       FlamFrameId to,
                       gint64 taken,
                       gint64 reached)
{
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_JUMPS);

  g_assert (from < builder->tables.profile.frames.n &&
            to < builder->tables.profile.frames.n);
  cells (builder, FlamId, profile.jumps.from)[row] = from;
  cells (builder, FlamId, profile.jumps.to)[row] = to;
  cells (builder, gint64, profile.jumps.taken)[row] = taken;
  cells (builder, gint64, profile.jumps.reached)[row] = reached;
}

void
flam_builder_add_working_folder (FlamBuilder *builder,
                                 FlamProcessId process,
                                 const char *path)
{
  FlamStringId string = flam_builder_string (builder, path, -1);
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_WORKING_FOLDERS);

  g_assert (process < builder->tables.profile.processes.n);
  cells (builder, FlamId, profile.working_folders.process)[row] = process;
  cells (builder, FlamId, profile.working_folders.path)[row] = string;
}

/* --- names that change --------------------------------------------------- */

static void
keep_name (FlamBuilder *builder,
           FlamProcessId process,
           FlamThreadId thread,
           FlamId before,
           gint64 time,
           const char *name)
{
  const char *old = flam_builder_get_string (builder, before);
  FlamId row;

  if (*old == '\0' || strcmp (old, name) == 0)
    return;
  row = flam_tables_push (&builder->tables, FLAM_TABLE_FORMER_NAMES);
  cells (builder, FlamId, profile.former_names.process)[row] = process;
  cells (builder, FlamId, profile.former_names.thread)[row] = thread;
  cells (builder, FlamId, profile.former_names.name)[row] = before;
  cells (builder, gint64, profile.former_names.until)[row] = time;
}

void
flam_builder_rename_process (FlamBuilder *builder,
                             FlamProcessId process,
                             gint64 time,
                             const char *name)
{
  g_assert (process < builder->tables.profile.processes.n);
  keep_name (builder,
             process,
             FLAM_NONE,
             builder->tables.profile.processes.name[process],
             time,
             name);
  flam_builder_set_process_name (builder, process, name);
}

void
flam_builder_rename_thread (FlamBuilder *builder,
                            FlamThreadId thread,
                            gint64 time,
                            const char *name)
{
  g_assert (thread < builder->tables.profile.threads.n);
  keep_name (builder,
             FLAM_NONE,
             thread,
             builder->tables.profile.threads.name[thread],
             time,
             name);
  flam_builder_set_thread_name (builder, thread, name);
}
