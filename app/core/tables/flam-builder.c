/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Names, code and people: everything that is interned. The rows that are not
 * (samples, allocations, counters, facts) are in flam-builder-rows.c, finish()
 * in flam-builder-finish.c, the way back from a profile in
 * flam-builder-edit.c. */

#include "flam-builder-private.h"

#include <string.h>

static const guint column_sizes[] = {
  [COLUMN_MODULE_NAME] = 4,         [COLUMN_MODULE_PATH] = 4,
  [COLUMN_MODULE_BUILD_ID] = 4,     [COLUMN_MODULE_WHY] = 4,
  [COLUMN_MODULE_SYMBOLS] = 1,      [COLUMN_MODULE_ADDRESSING] = 1,
  [COLUMN_FUNCTION_NAME] = 4,       [COLUMN_FUNCTION_SYSTEM_NAME] = 4,
  [COLUMN_FUNCTION_FILE] = 4,       [COLUMN_FUNCTION_MODULE] = 4,
  [COLUMN_FUNCTION_LINE] = 4,       [COLUMN_FUNCTION_KIND] = 1,
  [COLUMN_FUNCTION_FLAGS] = 1,      [COLUMN_FRAME_FUNCTION] = 4,
  [COLUMN_FRAME_ADDRESS] = 8,       [COLUMN_FRAME_FILE] = 4,
  [COLUMN_FRAME_LINE] = 4,          [COLUMN_FRAME_DEPTH] = 2,
  [COLUMN_STACK_PREFIX] = 4,        [COLUMN_STACK_FRAME] = 4,
  [COLUMN_PROCESS_PID] = 4,         [COLUMN_PROCESS_NAME] = 4,
  [COLUMN_PROCESS_PARENT] = 4,      [COLUMN_PROCESS_GENERATION] = 4,
  [COLUMN_THREAD_PROCESS] = 4,      [COLUMN_THREAD_TID] = 4,
  [COLUMN_THREAD_NAME] = 4,         [COLUMN_THREAD_GENERATION] = 4,
  [COLUMN_SAMPLE_THREAD] = 4,       [COLUMN_SAMPLE_STACK] = 4,
  [COLUMN_SAMPLE_TIME] = 8,         [COLUMN_SAMPLE_EVENT] = 2,
  [COLUMN_SAMPLE_STATE] = 1,        [COLUMN_ALLOCATION_TIME] = 8,
  [COLUMN_ALLOCATION_FREED_AT] = 8, [COLUMN_ALLOCATION_SIZE] = 8,
  [COLUMN_ALLOCATION_COUNT] = 8,    [COLUMN_ALLOCATION_AT_PEAK] = 8,
  [COLUMN_ALLOCATION_THREAD] = 4,   [COLUMN_ALLOCATION_STACK] = 4,
  [COLUMN_ALLOCATION_DISTANCE] = 2, [COLUMN_ALLOCATION_ALLOCATOR] = 1,
  [COLUMN_MARK_TIME] = 8,           [COLUMN_MARK_DURATION] = 8,
  [COLUMN_MARK_THREAD] = 4,         [COLUMN_MARK_NAME] = 4,
  [COLUMN_FORMER_PROCESS] = 4,      [COLUMN_FORMER_THREAD] = 4,
  [COLUMN_FORMER_NAME] = 4,         [COLUMN_FORMER_UNTIL] = 8,
};
G_STATIC_ASSERT (G_N_ELEMENTS (column_sizes) == N_COLUMNS);

#define at(builder, type, which, row)                                          \
  flam_column_at (&(builder)->columns[which], type, row)
#define push(builder, type, which, value)                                      \
  flam_column_append (&(builder)->columns[which], type, value)

FlamBuilder *
flam_builder_new (void)
{
  FlamBuilder *builder = g_new0 (FlamBuilder, 1);

  flam_strings_init (&builder->strings);
  for (guint i = 0; i < N_COLUMNS; i++)
    flam_column_init (&builder->columns[i], column_sizes[i]);
  for (guint i = 0; i < N_INTERNERS; i++)
    flam_interner_init (&builder->interners[i]);
  builder->weights = g_array_new (FALSE, FALSE, sizeof (FlamColumn));
  builder->measures = g_array_new (FALSE, FALSE, sizeof (PendingMeasure));
  builder->counters = g_array_new (FALSE, FALSE, sizeof (PendingCounter));
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
  flam_strings_clear (&builder->strings);
  for (guint i = 0; i < N_COLUMNS; i++)
    flam_column_clear (&builder->columns[i]);
  for (guint i = 0; i < N_INTERNERS; i++)
    flam_interner_clear (&builder->interners[i]);
  for (guint i = 0; i < builder->weights->len; i++)
    flam_column_clear (&g_array_index (builder->weights, FlamColumn, i));
  for (guint i = 0; i < builder->counters->len; i++)
    {
      flam_column_clear (
          &g_array_index (builder->counters, PendingCounter, i).time);
      flam_column_clear (
          &g_array_index (builder->counters, PendingCounter, i).value);
    }
  g_array_unref (builder->weights);
  g_array_unref (builder->measures);
  g_array_unref (builder->counters);
  g_ptr_array_unref (builder->others);
  g_ptr_array_unref (builder->warnings);
  g_clear_pointer (&builder->texts, g_string_chunk_free);
  flam_column_clear (&builder->chain_first);
  flam_column_clear (&builder->chain_length);
  flam_column_clear (&builder->chains);
  g_clear_pointer (&builder->base, flam_profile_unref);
  g_free (builder);
}

FlamId
flam_builder_string (FlamBuilder *builder, const char *text, gssize length)
{
  return flam_strings_intern (&builder->strings, text, length);
}

const char *
flam_builder_get_string (FlamBuilder *builder, FlamId string)
{
  g_assert (string < builder->strings.offsets.n);
  return flam_strings_get (&builder->strings, string);
}

/* --- modules ------------------------------------------------------------- */

typedef struct
{
  FlamId path;
  FlamId build_id;
  guint8 addressing;
} ModuleKey;

static gboolean
module_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamBuilder *builder = table;
  const ModuleKey *wanted = key;

  return at (builder, FlamId, COLUMN_MODULE_PATH, row) == wanted->path &&
         at (builder, FlamId, COLUMN_MODULE_BUILD_ID, row) ==
             wanted->build_id &&
         at (builder, guint8, COLUMN_MODULE_ADDRESSING, row) ==
             wanted->addressing;
}

static FlamSlot *
module_slot (FlamBuilder *builder, const ModuleKey *key, guint32 *hash)
{
  *hash =
      flam_hash_pair (key->path, (guint64)key->build_id << 8 | key->addressing);
  return flam_interner_find (
      &builder->interners[INTERNER_MODULE], *hash, module_equal, builder, key);
}

/* It becomes a part of URLs and of paths below caches, and is compared with
 * what ELF files say, in lower case: hex, or none. */
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

FlamId
flam_builder_module (FlamBuilder *builder,
                     const char *path,
                     const char *build_id,
                     FlamAddressing addressing)
{
  ModuleKey key = { flam_builder_string (builder, path, -1),
                    build_id_string (builder, build_id),
                    addressing };
  const char *slash;
  FlamSlot *slot;
  FlamId id;
  guint32 hash;
  g_autofree char *name = NULL;

  slot = module_slot (builder, &key, &hash);
  if (slot->id != FLAM_NONE)
    return slot->id;
  id = builder->columns[COLUMN_MODULE_PATH].n;
  *slot = (FlamSlot){ hash, id };
  builder->interners[INTERNER_MODULE].used++;

  slash = strrchr (path ? path : "", '/');
  name = g_strdup (slash && slash[1] ? slash + 1 : path);
  push (builder,
        FlamId,
        COLUMN_MODULE_NAME,
        flam_builder_string (builder, name, -1));
  push (builder, FlamId, COLUMN_MODULE_PATH, key.path);
  push (builder, FlamId, COLUMN_MODULE_BUILD_ID, key.build_id);
  push (builder, FlamId, COLUMN_MODULE_WHY, 0);
  push (builder, guint8, COLUMN_MODULE_SYMBOLS, FLAM_SYMBOLS_UNTRIED);
  push (builder, guint8, COLUMN_MODULE_ADDRESSING, addressing);
  return id;
}

void
flam_builder_set_module_symbols (FlamBuilder *builder,
                                 FlamId module,
                                 FlamSymbolState state,
                                 const char *why)
{
  g_assert (module < builder->columns[COLUMN_MODULE_PATH].n);
  at (builder, guint8, COLUMN_MODULE_SYMBOLS, module) = state;
  at (builder, FlamId, COLUMN_MODULE_WHY, module) =
      flam_builder_string (builder, why, -1);
}

/* --- functions ----------------------------------------------------------- */

static gboolean
function_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamBuilder *builder = table;
  const FlamFunction *f = key;

  return at (builder, FlamId, COLUMN_FUNCTION_NAME, row) == f->name &&
         at (builder, FlamId, COLUMN_FUNCTION_SYSTEM_NAME, row) ==
             f->system_name &&
         at (builder, FlamId, COLUMN_FUNCTION_FILE, row) == f->file &&
         at (builder, FlamId, COLUMN_FUNCTION_MODULE, row) == f->module &&
         at (builder, guint32, COLUMN_FUNCTION_LINE, row) == f->line &&
         at (builder, guint8, COLUMN_FUNCTION_KIND, row) == f->kind &&
         at (builder, guint8, COLUMN_FUNCTION_FLAGS, row) == f->flags;
}

static FlamSlot *
function_slot (FlamBuilder *builder, const FlamFunction *f, guint32 *hash)
{
  guint64 h = flam_hash_mix ((guint64)f->name << 32 | f->system_name,
                             (guint64)f->file << 32 | f->module);

  *hash = flam_hash_pair (
      h, (guint64)f->line << 16 | f->flags << 8 | (guint)f->kind);
  return flam_interner_find (&builder->interners[INTERNER_FUNCTION],
                             *hash,
                             function_equal,
                             builder,
                             f);
}

FlamId
flam_builder_function (FlamBuilder *builder, const FlamFunction *function)
{
  FlamFunction f = *function;
  FlamSlot *slot;
  FlamId id = builder->columns[COLUMN_FUNCTION_NAME].n;
  guint32 hash;

  g_assert (f.name < builder->strings.offsets.n);
  g_assert (f.file < builder->strings.offsets.n);
  g_assert (f.module == FLAM_NONE ||
            f.module < builder->columns[COLUMN_MODULE_PATH].n);
  if (f.system_name == 0)
    f.system_name = f.name;
  g_assert (f.system_name < builder->strings.offsets.n);

  slot = function_slot (builder, &f, &hash);
  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, id };
  builder->interners[INTERNER_FUNCTION].used++;
  push (builder, FlamId, COLUMN_FUNCTION_NAME, f.name);
  push (builder, FlamId, COLUMN_FUNCTION_SYSTEM_NAME, f.system_name);
  push (builder, FlamId, COLUMN_FUNCTION_FILE, f.file);
  push (builder, FlamId, COLUMN_FUNCTION_MODULE, f.module);
  push (builder, guint32, COLUMN_FUNCTION_LINE, f.line);
  push (builder, guint8, COLUMN_FUNCTION_KIND, f.kind);
  push (builder, guint8, COLUMN_FUNCTION_FLAGS, f.flags);
  return id;
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
        builder, at (builder, FlamId, COLUMN_MODULE_NAME, module));
  name = of[0] == '[' ? g_strdup (of) : g_strdup_printf ("[%s]", of);
  function.name = flam_builder_string (builder, name, -1);
  return flam_builder_function (builder, &function);
}

/* --- frames and stacks --------------------------------------------------- */

typedef struct
{
  FlamId function;
  FlamId file;
  guint32 line;
  guint64 address;
  guint16 depth;
} FrameKey;

static gboolean
frame_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamBuilder *builder = table;
  const FrameKey *f = key;

  return at (builder, FlamId, COLUMN_FRAME_FUNCTION, row) == f->function &&
         at (builder, guint64, COLUMN_FRAME_ADDRESS, row) == f->address &&
         at (builder, FlamId, COLUMN_FRAME_FILE, row) == f->file &&
         at (builder, guint32, COLUMN_FRAME_LINE, row) == f->line &&
         at (builder, guint16, COLUMN_FRAME_DEPTH, row) == f->depth;
}

static FlamSlot *
frame_slot (FlamBuilder *builder, const FrameKey *f, guint32 *hash)
{
  *hash = flam_hash_pair ((guint64)f->function << 32 | f->line,
                          f->address ^ (guint64)f->depth << 48 ^
                              (guint64)f->file << 20);
  return flam_interner_find (
      &builder->interners[INTERNER_FRAME], *hash, frame_equal, builder, f);
}

FlamId
flam_builder_frame (FlamBuilder *builder,
                    FlamId function,
                    guint64 address,
                    guint32 line,
                    guint inline_depth)
{
  g_assert (function < builder->columns[COLUMN_FUNCTION_NAME].n);
  return flam_builder_frame_in (
      builder,
      function,
      address,
      at (builder, FlamId, COLUMN_FUNCTION_FILE, function),
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
  FrameKey key = {
    function, file, line, address, MIN (inline_depth, G_MAXUINT16)
  };
  FlamId id = builder->columns[COLUMN_FRAME_FUNCTION].n;
  FlamSlot *slot;
  guint32 hash;

  g_assert (function < builder->columns[COLUMN_FUNCTION_NAME].n);
  slot = frame_slot (builder, &key, &hash);
  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, id };
  builder->interners[INTERNER_FRAME].used++;
  push (builder, FlamId, COLUMN_FRAME_FUNCTION, function);
  push (builder, guint64, COLUMN_FRAME_ADDRESS, address);
  push (builder, FlamId, COLUMN_FRAME_FILE, file);
  push (builder, guint32, COLUMN_FRAME_LINE, line);
  push (builder, guint16, COLUMN_FRAME_DEPTH, key.depth);
  return id;
}

typedef struct
{
  FlamId prefix;
  FlamId frame;
} StackKey;

static gboolean
stack_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamBuilder *builder = table;
  const StackKey *s = key;

  return at (builder, FlamId, COLUMN_STACK_PREFIX, row) == s->prefix &&
         at (builder, FlamId, COLUMN_STACK_FRAME, row) == s->frame;
}

FlamId
flam_builder_stack (FlamBuilder *builder, FlamId prefix, FlamId frame)
{
  StackKey key = { prefix, frame };
  FlamId id = builder->columns[COLUMN_STACK_PREFIX].n;
  guint32 hash = flam_hash_pair (prefix, frame);
  FlamSlot *slot;

  g_assert (frame < builder->columns[COLUMN_FRAME_FUNCTION].n);
  g_assert (prefix == FLAM_NONE || prefix < id);
  slot = flam_interner_find (
      &builder->interners[INTERNER_STACK], hash, stack_equal, builder, &key);
  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, id };
  builder->interners[INTERNER_STACK].used++;
  push (builder, FlamId, COLUMN_STACK_PREFIX, prefix);
  push (builder, FlamId, COLUMN_STACK_FRAME, frame);
  return id;
}

FlamId
flam_builder_append_stack (FlamBuilder *builder, FlamId prefix, FlamId frame)
{
  FlamId id = builder->columns[COLUMN_STACK_PREFIX].n;

  g_assert (frame < builder->columns[COLUMN_FRAME_FUNCTION].n);
  g_assert (prefix == FLAM_NONE || prefix < id);
  push (builder, FlamId, COLUMN_STACK_PREFIX, prefix);
  push (builder, FlamId, COLUMN_STACK_FRAME, frame);
  return id;
}

void
flam_builder_reserve_stacks (FlamBuilder *builder, gsize n)
{
  for (guint i = COLUMN_STACK_PREFIX; i <= COLUMN_STACK_FRAME; i++)
    flam_column_reserve (&builder->columns[i], builder->columns[i].n + n);
}

/* --- processes and threads ----------------------------------------------- */

typedef struct
{
  guint32 owner; /* a thread's process; 0 for processes */
  gint32 number; /* pid or tid */
  guint32 generation;
} WhoKey;

static gboolean
process_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamBuilder *builder = table;
  const WhoKey *k = key;

  return at (builder, gint32, COLUMN_PROCESS_PID, row) == k->number &&
         at (builder, guint32, COLUMN_PROCESS_GENERATION, row) == k->generation;
}

static gboolean
thread_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamBuilder *builder = table;
  const WhoKey *k = key;

  return at (builder, FlamId, COLUMN_THREAD_PROCESS, row) == k->owner &&
         at (builder, gint32, COLUMN_THREAD_TID, row) == k->number &&
         at (builder, guint32, COLUMN_THREAD_GENERATION, row) == k->generation;
}

FlamId
flam_builder_process (FlamBuilder *builder, gint32 pid, guint generation)
{
  WhoKey key = { 0, pid, generation };
  FlamId id = builder->columns[COLUMN_PROCESS_PID].n;
  guint32 hash = flam_hash_pair ((guint32)pid, generation);
  FlamSlot *slot = flam_interner_find (&builder->interners[INTERNER_PROCESS],
                                       hash,
                                       process_equal,
                                       builder,
                                       &key);

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, id };
  builder->interners[INTERNER_PROCESS].used++;
  push (builder, gint32, COLUMN_PROCESS_PID, pid);
  push (builder, FlamId, COLUMN_PROCESS_NAME, 0);
  push (builder, FlamId, COLUMN_PROCESS_PARENT, FLAM_NONE);
  push (builder, guint32, COLUMN_PROCESS_GENERATION, generation);
  return id;
}

void
flam_builder_set_process_name (FlamBuilder *builder,
                               FlamId process,
                               const char *name)
{
  g_assert (process < builder->columns[COLUMN_PROCESS_PID].n);
  at (builder, FlamId, COLUMN_PROCESS_NAME, process) =
      flam_builder_string (builder, name, -1);
}

void
flam_builder_set_process_parent (FlamBuilder *builder,
                                 FlamId process,
                                 FlamId parent)
{
  g_assert (process < builder->columns[COLUMN_PROCESS_PID].n);
  g_assert (parent < builder->columns[COLUMN_PROCESS_PID].n);
  at (builder, FlamId, COLUMN_PROCESS_PARENT, process) = parent;
}

FlamId
flam_builder_thread (FlamBuilder *builder,
                     FlamId process,
                     gint32 tid,
                     guint generation)
{
  WhoKey key = { process, tid, generation };
  FlamId id = builder->columns[COLUMN_THREAD_TID].n;
  guint32 hash =
      flam_hash_pair ((guint64)process << 32 | (guint32)tid, generation);
  FlamSlot *slot;

  g_assert (process < builder->columns[COLUMN_PROCESS_PID].n);
  slot = flam_interner_find (
      &builder->interners[INTERNER_THREAD], hash, thread_equal, builder, &key);
  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, id };
  builder->interners[INTERNER_THREAD].used++;
  push (builder, FlamId, COLUMN_THREAD_PROCESS, process);
  push (builder, gint32, COLUMN_THREAD_TID, tid);
  push (builder, FlamId, COLUMN_THREAD_NAME, 0);
  push (builder, guint32, COLUMN_THREAD_GENERATION, generation);
  return id;
}

void
flam_builder_set_thread_name (FlamBuilder *builder,
                              FlamId thread,
                              const char *name)
{
  g_assert (thread < builder->columns[COLUMN_THREAD_TID].n);
  at (builder, FlamId, COLUMN_THREAD_NAME, thread) =
      flam_builder_string (builder, name, -1);
}
