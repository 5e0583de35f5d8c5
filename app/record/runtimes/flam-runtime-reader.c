/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "flam-runtime-pages.h"
#include "flam-stops.h"

#define FUNCTIONS_MAX (1u << 17) /* of a process; more is invalid data */
#define BATCH 64
#define ENTRIES_MAX (FLAM_FRAMES_MAX + FLAM_RUNTIME_SET_MAX)

typedef struct
{
  FlamRuntimeEntry
      key;        /* with the bytes that do not belong to the key set to 0 */
  guint64 cookie; /* as of the name */
  guint8 pieces[FLAM_RUNTIME_PIECES_SIZE];
  FlamRuntimeFunction *function; /* NULL: not read yet */
  guint seen;    /* `round` at whose stop the first piece was read */
  guint named;   /* the reader's `round` in which it got its names, */
  guint checked; /* and in which it was compared */
} Known;

typedef struct
{
  const FlamRuntime *runtime;
  GHashTable *functions; /* Known, by its key */
} Table;

struct _FlamRuntimeKnown
{
  GArray *tables; /* Table */
};

struct _FlamRuntimeTask
{
  const FlamRuntimeSet *set;
  guint64 id; /* the thread's number in the target's pid namespace */
  FlamRuntimeThread threads[FLAM_RUNTIME_SET_MAX]; /* as in the set */
  FlamRuntimeHints hints;
};

/* The chain of one runtime: a part of the reader's entries, which an entry
 * without a function follows. */
typedef struct
{
  const FlamRuntimeProcess *process;
  guint from;
  guint n;
} Chain;

/* Functions that are read in one call, each with up to two pieces. */
typedef struct
{
  const FlamRuntimeProcess *process;
  guint n;
  Known *known[BATCH];
  const FlamRuntimeEntry *entries[BATCH];
} Batch;

struct _FlamRuntimeReader
{
  FlamRuntimeFunctions *functions;
  FlamRuntimePages *pages;
  FlamRuntimeName *name;
  FlamRuntimeEntry *entries; /* ENTRIES_MAX */
  Known **known;             /* of each entry; NULL: it is not a function */
  Chain chains[FLAM_RUNTIME_SET_MAX];
  guint n_chains;
  guint round; /* the walks so far */
};

FlamRuntimeReader *
flam_runtime_reader_new (void)
{
  FlamRuntimeReader *reader = g_new0 (FlamRuntimeReader, 1);

  reader->functions = flam_runtime_functions_new ();
  reader->pages = flam_runtime_pages_new ();
  reader->name = flam_runtime_name_new ();
  reader->entries = g_new (FlamRuntimeEntry, ENTRIES_MAX);
  reader->known = g_new (Known *, ENTRIES_MAX);
  return reader;
}

void
flam_runtime_reader_free (FlamRuntimeReader *reader)
{
  flam_runtime_functions_free (reader->functions);
  flam_runtime_pages_free (reader->pages);
  g_free (reader->name);
  g_free (reader->entries);
  g_free (reader->known);
  g_free (reader);
}

/* --- known functions ----------------------------------------------------- */

static guint
key_hash (gconstpointer data)
{
  const FlamRuntimeEntry *key = data;
  guint64 hash = (key->function ^ key->at * 0x9e3779b97f4a7c15ull ^
                  key->cookie * 0xc2b2ae3d27d4eb4full) *
                 0x9e3779b97f4a7c15ull;

  return (guint)(hash >> 32);
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  const FlamRuntimeEntry *x = a;
  const FlamRuntimeEntry *y = b;

  return x->function == y->function && x->at == y->at && x->cookie == y->cookie;
}

static GHashTable *
add_table (struct _FlamRuntimeKnown *known, const FlamRuntime *runtime)
{
  Table table = { runtime,
                  g_hash_table_new_full (key_hash, key_equal, g_free, NULL) };

  g_array_append_val (known->tables, table);
  return table.functions;
}

struct _FlamRuntimeKnown *
flam_runtime_known_copy (const struct _FlamRuntimeKnown *known)
{
  struct _FlamRuntimeKnown *copy = g_new0 (struct _FlamRuntimeKnown, 1);

  copy->tables = g_array_new (FALSE, FALSE, sizeof (Table));
  for (guint i = 0; known != NULL && i < known->tables->len; i++)
    {
      const Table *table = &g_array_index (known->tables, Table, i);
      GHashTable *functions = add_table (copy, table->runtime);
      GHashTableIter iter;
      gpointer key;

      g_hash_table_iter_init (&iter, table->functions);
      while (g_hash_table_iter_next (&iter, &key, NULL))
        g_hash_table_add (functions, g_memdup2 (key, sizeof (Known)));
    }
  return copy;
}

void
flam_runtime_known_free (struct _FlamRuntimeKnown *known)
{
  for (guint i = 0; i < known->tables->len; i++)
    g_hash_table_unref (g_array_index (known->tables, Table, i).functions);
  g_array_unref (known->tables);
  g_free (known);
}

void
flam_runtime_task_free (struct _FlamRuntimeTask *state)
{
  g_free (state);
}

static GHashTable *
table_of (FlamTarget *target, const FlamRuntime *runtime)
{
  if (target->runtimes == NULL)
    target->runtimes = flam_runtime_known_copy (NULL);
  for (guint i = 0; i < target->runtimes->tables->len; i++)
    {
      const Table *table = &g_array_index (target->runtimes->tables, Table, i);
      if (table->runtime == runtime)
        return table->functions;
    }
  return add_table (target->runtimes, runtime);
}

static FlamRuntimeEntry
key_of (const FlamRuntime *runtime, const FlamRuntimeEntry *entry)
{
  return runtime->by_position ? *entry
                              : (FlamRuntimeEntry){ entry->function, 0, 0 };
}

static Known *
add_known (GHashTable *table,
           const FlamRuntime *runtime,
           const FlamRuntimeEntry *entry)
{
  Known *known = g_new0 (Known, 1);

  known->key = key_of (runtime, entry);
  g_hash_table_add (table, known);
  return known;
}

/* Whether the entry is not of the same function as the one before it in its
 * chain: for deep recursion, only the first one is looked up. */
static gboolean
is_other (const FlamRuntime *runtime,
          const FlamRuntimeEntry *entry,
          const FlamRuntimeEntry *last)
{
  return last == NULL || entry->function != last->function ||
         entry->cookie != last->cookie ||
         (runtime->by_position && entry->at != last->at);
}

/* The functions of a chain; a new one has no name yet. */
static void
look_up (FlamRuntimeReader *reader, FlamTask *task, const Chain *chain)
{
  const FlamRuntime *runtime = chain->process->runtime;
  GHashTable *table = table_of (task->target, runtime);
  const FlamRuntimeEntry *last = NULL;
  Known *known = NULL;

  for (guint i = chain->from; i < chain->from + chain->n; i++)
    {
      const FlamRuntimeEntry *entry = &reader->entries[i];

      reader->known[i] = NULL;
      if (entry->function == 0)
        continue;
      if (is_other (runtime, entry, last))
        {
          FlamRuntimeEntry key = key_of (runtime, entry);

          known = g_hash_table_lookup (table, &key);
          if (known == NULL)
            known = add_known (table, runtime, entry);
        }
      last = entry;
      reader->known[i] = known;
    }
}

/* --- pieces -------------------------------------------------------------- */

static guint
pieces_of (const FlamRuntimeProcess *process,
           guint64 function,
           const guint8 *first,
           FlamRuntimePiece pieces[FLAM_RUNTIME_PIECES_MAX])
{
  return process->runtime->pieces (process, function, first, pieces);
}

static gsize
first_size (const FlamRuntimeProcess *process, guint64 function)
{
  FlamRuntimePiece pieces[FLAM_RUNTIME_PIECES_MAX];

  pieces_of (process, function, NULL, pieces);
  return pieces[0].size;
}

static struct iovec
vector_of (FlamRuntimePiece piece)
{
  return (struct iovec){ GSIZE_TO_POINTER (piece.address), piece.size };
}

/* --- stopped: the chains ------------------------------------------------- */

/* "NSpid:\t100\t7": its number in each pid namespace, the innermost last. */
static guint64
inner_id (const FlamTask *task)
{
  char path[64], line[256];
  guint64 id = (guint64)task->tid;
  FILE *file;

  g_snprintf (path,
              sizeof path,
              "/proc/%d/task/%d/status",
              (int)task->target->pid,
              (int)task->tid);
  file = fopen (path, "re");
  while (file != NULL && fgets (line, sizeof line, file) != NULL)
    if (strncmp (line, "NSpid:", 6) == 0)
      for (char *at = line + 6, *end;; at = end)
        {
          guint64 value = g_ascii_strtoull (at, &end, 10);
          if (end == at)
            break;
          id = value;
        }
  if (file != NULL)
    fclose (file);
  return id;
}

/* A new set: the state for the runtimes that were in the old one is kept. */
static void
take_set (FlamTask *task, const FlamRuntimeSet *set)
{
  struct _FlamRuntimeTask *state = task->runtimes;
  struct _FlamRuntimeTask *old =
      state != NULL ? g_memdup2 (state, sizeof *state) : NULL;

  if (state == NULL)
    {
      state = task->runtimes = g_new0 (struct _FlamRuntimeTask, 1);
      state->id = inner_id (task);
    }
  state->set = set;
  state->hints.n = 0;
  for (guint i = 0; set != NULL && i < set->n; i++)
    {
      state->threads[i] =
          (FlamRuntimeThread){ .tid = task->tid, .id = state->id };
      for (guint j = 0; old != NULL && old->set != NULL && j < old->set->n; j++)
        if (old->set->items[j] == set->items[i])
          state->threads[i] = old->threads[j];
    }
  g_free (old);
}

static void
see_batch (FlamRuntimeReader *reader, FlamTask *task, Batch *batch)
{
  guint8 bytes[BATCH][FLAM_RUNTIME_PIECES_SIZE];
  struct iovec local[BATCH], remote[BATCH];
  gsize left;
  ssize_t n;

  for (guint i = 0; i < batch->n; i++)
    {
      FlamRuntimePiece pieces[FLAM_RUNTIME_PIECES_MAX];

      pieces_of (batch->process, batch->entries[i]->function, NULL, pieces);
      remote[i] = vector_of (pieces[0]);
      local[i] = (struct iovec){ bytes[i], pieces[0].size };
    }
  n = process_vm_readv (task->tid, local, batch->n, remote, batch->n, 0);
  left = n > 0 ? (gsize)n : 0;
  for (guint i = 0; i < batch->n && left >= local[i].iov_len; i++)
    {
      memcpy (batch->known[i]->pieces, bytes[i], local[i].iov_len);
      batch->known[i]->seen = reader->round;
      left -= local[i].iov_len;
    }
  batch->n = 0;
}

/* New functions: the pieces that identify them are read while they cannot be
 * freed. Once the thread runs on, another one may take a function's place
 * before the names are read, which may be delayed for long on a busy
 * machine. */
static void
see_new (FlamRuntimeReader *reader, FlamTask *task, const Chain *chain)
{
  Batch batch = { .process = chain->process };

  for (guint i = chain->from; i < chain->from + chain->n; i++)
    {
      Known *known = reader->known[i];

      if (known == NULL || known->function != NULL ||
          known->seen == reader->round ||
          (i > chain->from && known == reader->known[i - 1]))
        continue;
      batch.entries[batch.n] = &reader->entries[i];
      batch.known[batch.n++] = known;
      if (batch.n == BATCH)
        see_batch (reader, task, &batch);
    }
  if (batch.n > 0)
    see_batch (reader, task, &batch);
}

/* Reads the names of a function. FALSE: they cannot be read. */
static gboolean
read_name (FlamRuntimeReader *reader,
           const FlamRuntimeProcess *process,
           const FlamRuntimeEntry *entry,
           const guint8 *first,
           const FlamRuntimeMemory *memory,
           Known *known)
{
  flam_runtime_name_clear (reader->name);
  known->function = NULL;
  known->cookie = entry->cookie;
  if (!process->runtime->name (process, entry, first, memory, reader->name))
    return FALSE;
  known->function = flam_runtime_functions_get (
      reader->functions, process->runtime, reader->name);
  known->named = reader->round;
  return TRUE;
}

/* Functions that may move as soon as the thread runs on: all that are new get
 * their names now. */
static void
name_new (FlamRuntimeReader *reader,
          const Chain *chain,
          const FlamRuntimeMemory *memory)
{
  const FlamRuntimeEntry *last = NULL;

  for (guint i = chain->from; i < chain->from + chain->n; i++)
    {
      const FlamRuntimeEntry *entry = &reader->entries[i];
      Known *known = reader->known[i];

      if (known == NULL || !is_other (chain->process->runtime, entry, last))
        continue;
      last = entry;
      if (known->function == NULL || known->cookie != entry->cookie)
        read_name (reader, chain->process, entry, NULL, memory, known);
    }
}

/* Before the chains, which refer to the tables' content. */
static void
limit_tables (FlamTarget *target, const FlamRuntime *runtime)
{
  GHashTable *table = table_of (target, runtime);

  if (g_hash_table_size (table) > FUNCTIONS_MAX)
    g_hash_table_remove_all (table);
}

/* Called once the thread runs on: its functions are not read in the stop. */
static gboolean
is_looked_up_later (const FlamRuntime *runtime)
{
  return runtime->naming == FLAM_RUNTIME_NAME_RESUMED &&
         runtime->pieces == NULL;
}

static void
walk_chain (FlamRuntimeReader *reader,
            FlamTask *task,
            guint i,
            const FlamRuntimeRegs *regs,
            gint64 now,
            const FlamRuntimeCopied *copied)
{
  FlamRuntimeMemory memory = { flam_runtime_pages_read, reader->pages };
  struct _FlamRuntimeTask *state = task->runtimes;
  const FlamRuntimeProcess *process = state->set->items[i];
  Chain *chain = &reader->chains[reader->n_chains];
  const Chain *before = reader->n_chains > 0 ? chain - 1 : NULL;
  guint from = before != NULL ? before->from + before->n + 1 : 0;
  guint limit = FLAM_FRAMES_MAX + reader->n_chains - from;

  if (process->runtime->walk == NULL ||
      (copied != NULL && copied->stack_only && !process->runtime->on_stack))
    return;
  if (copied != NULL)
    memory = copied->memory;
  if (process->runtime->needs_regs && regs->fs_base == 0)
    {
      g_atomic_int_set (&task->hint_needs_bp, TRUE);
      return;
    }
  state->threads[i].now = now;
  *chain = (Chain){ process,
                    from,
                    (guint)process->runtime->walk (process,
                                                   &state->threads[i],
                                                   regs,
                                                   &memory,
                                                   reader->entries + from,
                                                   limit) };
  if (chain->n == 0)
    return;
  reader->entries[from + chain->n] = (FlamRuntimeEntry){ 0 };
  reader->n_chains++;
  if (is_looked_up_later (process->runtime))
    return;
  look_up (reader, task, chain);
  if (process->runtime->naming == FLAM_RUNTIME_NAME_STOPPED)
    name_new (reader, chain, &memory);
  else
    see_new (reader, task, chain);
}

guint
flam_runtime_reader_walk (FlamRuntimeReader *reader,
                          FlamTask *task,
                          const FlamRuntimeRegs *regs,
                          gsize n_stack,
                          gint64 now,
                          const FlamRuntimeCopied *copied)
{
  static const FlamRuntimeHints none = { 0 };
  const FlamRuntimeSet *set =
      g_atomic_pointer_get (&task->target->hint_runtimes);
  guint n = 0;

  flam_runtime_pages_begin (reader->pages, task->tid, &none, 0, 0);
  reader->n_chains = 0;
  reader->round++;
  if (task->runtimes == NULL ? set != NULL : task->runtimes->set != set)
    take_set (task, set);
  if (set == NULL || set->n == 0)
    return 0;
  flam_runtime_pages_begin (reader->pages,
                            task->tid,
                            &task->runtimes->hints,
                            regs->general[FLAM_RUNTIME_RSP],
                            n_stack);
  for (guint i = 0; i < set->n; i++)
    limit_tables (task->target, set->items[i]->runtime);
  for (guint i = 0; i < set->n; i++)
    walk_chain (reader, task, i, regs, now, copied);
  flam_runtime_pages_end (reader->pages, &task->runtimes->hints);
  for (guint i = 0; i < reader->n_chains; i++)
    n += 1 + reader->chains[i].n;
  return n;
}

void
flam_runtime_reader_forget (FlamRuntimeReader *reader)
{
  for (guint i = 0; i < reader->n_chains; i++)
    {
      const Chain *chain = &reader->chains[i];

      if (chain->process->runtime->naming != FLAM_RUNTIME_NAME_STOPPED)
        continue;
      for (guint j = chain->from; j < chain->from + chain->n; j++)
        if (reader->known[j] != NULL &&
            reader->known[j]->named == reader->round)
          reader->known[j]->function = NULL;
    }
}

gconstpointer
flam_runtime_reader_stack (const FlamRuntimeReader *reader, gsize *size)
{
  return flam_runtime_pages_stack (reader->pages, size);
}

gboolean
flam_runtime_reader_has_news (const FlamTask *task)
{
  const FlamRuntimeSet *set =
      g_atomic_pointer_get (&task->target->hint_runtimes);

  return task->runtimes == NULL ? set != NULL : task->runtimes->set != set;
}

/* --- resumed: the functions ---------------------------------------------- */

static bool
read_memory (gpointer data, guint64 address, gpointer to, gsize size)
{
  return flam_read_memory (GPOINTER_TO_INT (data), address, to, size) == size;
}

/* `bytes` are the current pieces; the second one is only valid if the first has
 * not changed. A function that differs from the one at the stop, or changes
 * while its names are read, gets no name. */
static void
check_function (FlamRuntimeReader *reader,
                FlamTask *task,
                const FlamRuntimeProcess *process,
                const FlamRuntimeEntry *entry,
                Known *known,
                const guint8 *bytes,
                gsize n_bytes)
{
  FlamRuntimeMemory memory = { read_memory, GINT_TO_POINTER (task->tid) };
  gsize n_first = first_size (process, entry->function);
  guint8 first[FLAM_RUNTIME_PIECES_SIZE];
  FlamRuntimePiece pieces[FLAM_RUNTIME_PIECES_MAX];

  if (known->function != NULL && known->cookie == entry->cookie &&
      memcmp (known->pieces, bytes, n_bytes) == 0)
    return;
  if (known->function == NULL && !(known->seen == reader->round &&
                                   memcmp (known->pieces, bytes, n_first) == 0))
    return;
  memcpy (first, bytes, n_first);
  memcpy (known->pieces, first, n_first);
  if (pieces_of (process, entry->function, first, pieces) > 1)
    read_memory (memory.data,
                 pieces[1].address,
                 known->pieces + n_first,
                 pieces[1].size);
  if (read_name (reader, process, entry, first, &memory, known) &&
      (!read_memory (memory.data, pieces[0].address, first, n_first) ||
       memcmp (known->pieces, first, n_first) != 0))
    known->function = NULL;
}

/* One call for all functions. An unreadable one ends the copy: it loses its
 * name, and the rest is read again. For a process that has ended the table
 * stays unchanged. A new function's second piece is not known yet. */
static void
check_batch (FlamRuntimeReader *reader, FlamTask *task, Batch *batch)
{
  guint8 bytes[BATCH][FLAM_RUNTIME_PIECES_SIZE];
  struct iovec local[BATCH], remote[BATCH * FLAM_RUNTIME_PIECES_MAX];
  guint first_of[BATCH + 1] = { 0 };
  guint done = 0;

  for (guint i = 0; i < batch->n; i++)
    {
      const Known *known = batch->known[i];
      FlamRuntimePiece pieces[FLAM_RUNTIME_PIECES_MAX];
      guint n = pieces_of (batch->process,
                           batch->entries[i]->function,
                           known->function != NULL ? known->pieces : NULL,
                           pieces);
      gsize size = 0;

      for (guint j = 0; j < n; j++)
        {
          remote[first_of[i] + j] = vector_of (pieces[j]);
          size += pieces[j].size;
        }
      first_of[i + 1] = first_of[i] + n;
      local[i] = (struct iovec){ bytes[i], size };
    }
  while (done < batch->n)
    {
      ssize_t n = process_vm_readv (task->tid,
                                    local + done,
                                    batch->n - done,
                                    remote + first_of[done],
                                    first_of[batch->n] - first_of[done],
                                    0);
      gsize left = n > 0 ? (gsize)n : 0;
      gboolean gone = n < 0 && errno == ESRCH;

      for (; done < batch->n && left >= local[done].iov_len; done++)
        {
          left -= local[done].iov_len;
          check_function (reader,
                          task,
                          batch->process,
                          batch->entries[done],
                          batch->known[done],
                          bytes[done],
                          local[done].iov_len);
        }
      if (gone)
        break;
      if (done < batch->n)
        batch->known[done++]->function = NULL;
    }
  batch->n = 0;
}

/* Without pieces, the reader compares the cookie with the content that it
 * finds. */
static void
check_chain (FlamRuntimeReader *reader, FlamTask *task, const Chain *chain)
{
  FlamRuntimeMemory memory = { read_memory, GINT_TO_POINTER (task->tid) };
  const FlamRuntime *runtime = chain->process->runtime;
  Batch batch = { .process = chain->process };

  for (guint i = chain->from; i < chain->from + chain->n; i++)
    {
      const FlamRuntimeEntry *entry = &reader->entries[i];
      Known *known = reader->known[i];

      if (known == NULL || known->checked == reader->round)
        continue;
      known->checked = reader->round;
      if (runtime->pieces == NULL)
        {
          if (known->function == NULL || known->cookie != entry->cookie)
            read_name (reader, chain->process, entry, NULL, &memory, known);
          continue;
        }
      batch.entries[batch.n] = entry;
      batch.known[batch.n++] = known;
      if (batch.n == BATCH)
        check_batch (reader, task, &batch);
    }
  if (batch.n > 0)
    check_batch (reader, task, &batch);
}

static void
write_chain (FlamRuntimeReader *reader,
             const Chain *chain,
             FlamRuntimeItem *items)
{
  const FlamRuntime *runtime = chain->process->runtime;

  *items++ = (FlamRuntimeItem){ (gpointer)chain->process, chain->n };
  for (guint i = 0; i < chain->n; i++)
    {
      const FlamRuntimeEntry *entry = &reader->entries[chain->from + i];
      const Known *known;

      items[i] = (FlamRuntimeItem){ NULL, entry->at };
      if (entry->function == 0)
        continue;
      known = runtime->name != NULL ? reader->known[chain->from + i] : NULL;
      if (runtime->name == NULL)
        items[i].at = entry->function;
      if (known != NULL && known->function != NULL &&
          known->cookie == entry->cookie)
        items[i].of = known->function;
      else
        items[i].of =
            flam_runtime_functions_unreadable (reader->functions, runtime);
    }
}

void
flam_runtime_reader_resolve (FlamRuntimeReader *reader,
                             FlamTask *task,
                             FlamRuntimeItem *items)
{
  for (guint i = 0; i < reader->n_chains; i++)
    {
      const Chain *chain = &reader->chains[i];

      const FlamRuntime *runtime = chain->process->runtime;

      if (runtime->name != NULL && is_looked_up_later (runtime))
        look_up (reader, task, chain);
      if (runtime->name != NULL && runtime->naming == FLAM_RUNTIME_NAME_RESUMED)
        check_chain (reader, task, chain);
      write_chain (reader, chain, items);
      items += 1 + chain->n;
    }
}
