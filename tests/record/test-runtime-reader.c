/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The tracer's reading of managed frames: runtimes made by hand, in the memory
 * of this process. */

#include "flam-runtime-reader.h"

#include <string.h>
#include <unistd.h>

typedef struct
{
  guint64 identity;
  char name[24];
  char other[8];
} Function;

typedef struct
{
  guint n;
  FlamRuntimeEntry entries[8];
  guint n_walks;
  guint n_names;
  guint64 own; /* the row's own word, as it was at the walk */
} World;

static World worlds[2];
static Function functions[3];

static World *
world_of (const FlamRuntimeProcess *process)
{
  return &worlds[process->base];
}

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  World *world = world_of (process);
  Function copy;

  g_assert_cmpuint (limit, >=, world->n);
  g_assert_cmpuint (thread->id, ==, getpid ());
  g_assert_true (flam_runtime_knows (regs, FLAM_RUNTIME_RSP));
  g_assert_true (flam_runtime_read (
      memory, GPOINTER_TO_SIZE (&functions[0]), &copy, sizeof copy));
  g_assert_cmpmem (&copy, sizeof copy, &functions[0], sizeof copy);
  g_assert_false (flam_runtime_read (memory, 8, &copy, sizeof copy));
  memcpy (entries, world->entries, world->n * sizeof *entries);
  world->n_walks++;
  world->own = thread->own[3]++;
  return world->n;
}

static guint
pieces (const FlamRuntimeProcess *process,
        guint64 function,
        const guint8 *first,
        FlamRuntimePiece *pieces)
{
  pieces[0] = (FlamRuntimePiece){ function, 8 };
  if (first == NULL)
    return 1;
  pieces[1] = (FlamRuntimePiece){ function + 8, 24 };
  return 2;
}

static gboolean
name_of (const FlamRuntimeProcess *process,
         const FlamRuntimeEntry *entry,
         const guint8 *first,
         const FlamRuntimeMemory *memory,
         FlamRuntimeName *name)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);

  world_of (process)->n_names++;
  if (process->runtime->by_position)
    {
      named->function = "inlined";
      named->line = (guint32)entry->at;
      named = flam_runtime_name_add (name);
    }
  named->function =
      flam_runtime_name_read_string (name, memory, entry->function + 8);
  return named->function != NULL;
}

/* As Python's: functions are compared by their content. */
static const FlamRuntime compared = { .id = "compared",
                                      .walk = walk,
                                      .pieces = pieces,
                                      .name = name_of,
                                      .joint = "." };
/* As V8's: named in the stop, by position. */
static const FlamRuntime stopped = { .id = "stopped",
                                     .walk = walk,
                                     .naming = FLAM_RUNTIME_NAME_STOPPED,
                                     .by_position = TRUE,
                                     .name = name_of,
                                     .joint = "." };
/* By cookie. */
static const FlamRuntime marked = {
  .id = "marked", .walk = walk, .name = name_of, .joint = "."
};
static const FlamRuntime picky = {
  .id = "picky", .walk = walk, .needs_regs = TRUE, .name = name_of, .joint = "."
};

/* As Lua's: functions have the names that their callers give them. */
static gboolean
name_by_caller (const FlamRuntimeProcess *process,
                const FlamRuntimeEntry *entry,
                const guint8 *first,
                const FlamRuntimeMemory *memory,
                FlamRuntimeName *name)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);

  (void)process;
  (void)first;
  named->function = "nobody's";
  if (entry[1].function != 0)
    named->function = flam_runtime_name_printf (
        name,
        "%s's",
        flam_runtime_name_read_string (name, memory, entry[1].function + 8));
  return TRUE;
}

static const FlamRuntime called = {
  .id = "called", .walk = walk, .name = name_by_caller, .joint = "."
};

typedef struct
{
  FlamRuntimeReader *reader;
  FlamTarget target;
  FlamTask task;
  FlamRuntimeRegs regs;
  FlamRuntimeProcess processes[2];
  FlamRuntimeSet set;
  FlamRuntimeItem items[20];
} Fixture;

static guint64
key (guint i)
{
  return GPOINTER_TO_SIZE (&functions[i]);
}

static void
set_name (guint i, guint64 identity, const char *name)
{
  functions[i].identity = identity;
  g_strlcpy (functions[i].name, name, sizeof functions[i].name);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const FlamRuntime *const *rows = data;

  memset (worlds, 0, sizeof worlds);
  set_name (0, 10, "alpha");
  set_name (1, 11, "beta");
  set_name (2, 12, "gamma");
  fixture->reader = flam_runtime_reader_new ();
  fixture->target.pid = fixture->task.tid = getpid ();
  fixture->task.target = &fixture->target;
  fixture->regs = (FlamRuntimeRegs){ .known = 1u << FLAM_RUNTIME_RSP };
  for (guint i = 0; rows[i] != NULL; i++)
    {
      fixture->processes[i] =
          (FlamRuntimeProcess){ .runtime = rows[i], .base = i };
      fixture->set.items[fixture->set.n++] = &fixture->processes[i];
    }
  fixture->target.hint_runtimes = &fixture->set;
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_clear_pointer (&fixture->task.runtimes, flam_runtime_task_free);
  g_clear_pointer (&fixture->target.runtimes, flam_runtime_known_free);
  flam_runtime_reader_free (fixture->reader);
}

static void
set_chain (World *world, guint n, const FlamRuntimeEntry *entries)
{
  world->n = n;
  memcpy (world->entries, entries, n * sizeof *entries);
}

/* Walks, lets `disturb` change memory as if the thread had run on, and
 * resolves: "head(n): name@at ..." of each chain. */
static void
assert_read (Fixture *fixture, void (*disturb) (void), const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = flam_runtime_reader_walk (
      fixture->reader, &fixture->task, &fixture->regs, 0, 0, NULL);
  guint at = 0;

  g_assert_cmpuint (n, <=, G_N_ELEMENTS (fixture->items));
  if (disturb != NULL)
    disturb ();
  flam_runtime_reader_resolve (fixture->reader, &fixture->task, fixture->items);
  while (at < n)
    {
      const FlamRuntimeProcess *process = fixture->items[at].of;
      guint64 n_items = fixture->items[at++].at;

      g_string_append_printf (text, "%s: ", process->runtime->id);
      for (guint i = 0; i < n_items; i++, at++)
        {
          for (const FlamRuntimeFunction *function = fixture->items[at].of;
               function != NULL;
               function = function->caller)
            g_string_append_printf (text,
                                    "%s%s",
                                    function->name,
                                    function->caller != NULL ? "<" : "");
          g_string_append_printf (
              text, "@%" G_GUINT64_FORMAT " ", fixture->items[at].at);
        }
    }
  g_assert_cmpuint (at, ==, n);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
change_beta (void)
{
  set_name (1, 99, "delta");
}

static void
rename_beta (void)
{
  set_name (1, 11, "epsilon");
}

static void
test_pieces (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = {
    { key (0), 5, 0 }, { key (0), 6, 0 }, { 0, 77, 0 }, { key (1), 7, 0 }
  };

  set_chain (&worlds[0], 4, entries);
  /* One that is replaced before its name was read has no name. */
  assert_read (
      fixture, change_beta, "compared: alpha@5 alpha@6 @77 (unreadable)@7 ");
  assert_read (fixture, NULL, "compared: alpha@5 alpha@6 @77 delta@7 ");
  g_assert_cmpuint (worlds[0].n_names, ==, 2);
  assert_read (fixture, NULL, "compared: alpha@5 alpha@6 @77 delta@7 ");
  g_assert_cmpuint (worlds[0].n_names, ==, 2);
  g_assert_cmpuint (worlds[0].own, ==, 2);
  /* The replacement of a known one is detected, by the second piece too. */
  set_name (1, 11, "beta");
  assert_read (fixture, NULL, "compared: alpha@5 alpha@6 @77 beta@7 ");
  set_name (1, 11, "zeta");
  assert_read (fixture, NULL, "compared: alpha@5 alpha@6 @77 zeta@7 ");
  assert_read (
      fixture, rename_beta, "compared: alpha@5 alpha@6 @77 epsilon@7 ");
}

static void
test_unmapped (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = { { key (0), 5, 0 },
                                       { 16, 6, 0 },
                                       { key (1), 7, 0 } };

  set_chain (&worlds[0], 3, entries);
  for (guint i = 0; i < 2; i++)
    {
      guint n = flam_runtime_reader_walk (
          fixture->reader, &fixture->task, &fixture->regs, 0, 0, NULL);

      g_assert_cmpuint (n, ==, 4);
    }
  /* The one after it is only seen in a later call, but not lost. */
  assert_read (
      fixture, NULL, "compared: alpha@5 (unreadable)@6 (unreadable)@7 ");
}

static void
change_all (void)
{
  memset (functions, 0, sizeof functions);
}

static void
test_stopped (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = { { key (0), 5, 1 },
                                       { key (0), 6, 1 },
                                       { 0, 77, 0 } };
  const FlamRuntimeEntry others[] = { { key (0), 5, 2 } };

  set_chain (&worlds[0], 3, entries);
  assert_read (
      fixture, change_all, "stopped: inlined<alpha@5 inlined<alpha@6 @77 ");
  assert_read (fixture, NULL, "stopped: inlined<alpha@5 inlined<alpha@6 @77 ");
  g_assert_cmpuint (worlds[0].n_names, ==, 2);
  set_name (0, 10, "omega");
  set_chain (&worlds[0], 1, others);
  assert_read (fixture, NULL, "stopped: inlined<omega@5 ");
}

/* The thread has run during the walk: its names may be those of other
 * functions. */
static void
test_forgotten (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = { { key (0), 5, 1 }, { key (1), 6, 1 } };

  (void)data;
  set_chain (&worlds[0], 1, entries);
  assert_read (fixture, NULL, "stopped: inlined<alpha@5 ");
  set_chain (&worlds[0], 2, entries);
  flam_runtime_reader_walk (
      fixture->reader, &fixture->task, &fixture->regs, 0, 0, NULL);
  flam_runtime_reader_forget (fixture->reader);
  set_name (0, 10, "omega");
  set_name (1, 11, "psi");
  assert_read (fixture, NULL, "stopped: inlined<alpha@5 inlined<psi@6 ");
}

/* The caller of the last function is not that of another chain. */
static void
test_callers (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = {
    { key (0), 1, 1 }, { key (1), 2, 1 }, { 0, 77, 0 }, { key (2), 3, 1 }
  };

  (void)data;
  set_chain (&worlds[0], 4, entries);
  set_chain (&worlds[1], 1, entries);
  assert_read (fixture,
               NULL,
               "called: beta's@1 nobody's@2 @77 nobody's@3 marked: alpha@1 ");
}

static void
test_cookie (Fixture *fixture, gconstpointer data)
{
  FlamRuntimeEntry entries[] = { { key (0), 5, 1 }, { key (2), 6, 1 } };

  set_chain (&worlds[0], 1, entries);
  set_chain (&worlds[1], 2, entries);
  assert_read (fixture, NULL, "marked: alpha@5 compared: alpha@5 gamma@6 ");
  set_name (0, 10, "omega");
  assert_read (fixture, NULL, "marked: alpha@5 compared: omega@5 gamma@6 ");
  entries[0].cookie = 2;
  set_chain (&worlds[0], 1, entries);
  assert_read (fixture, NULL, "marked: omega@5 compared: omega@5 gamma@6 ");
  /* A chain without frames is not in the message. */
  worlds[0].n = 0;
  assert_read (fixture, NULL, "compared: omega@5 gamma@6 ");
}

/* Another set: the data of the runtimes that stay is kept. */
static void
test_set (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = { { key (0), 5, 1 } };
  FlamRuntimeSet smaller = { .n = 1, .items = { fixture->set.items[1] } };

  set_chain (&worlds[0], 1, entries);
  set_chain (&worlds[1], 1, entries);
  assert_read (fixture, NULL, "marked: alpha@5 compared: alpha@5 ");
  assert_read (fixture, NULL, "marked: alpha@5 compared: alpha@5 ");
  g_assert_cmpuint (worlds[1].own, ==, 1);
  g_assert_false (flam_runtime_reader_has_news (&fixture->task));
  fixture->target.hint_runtimes = &smaller;
  g_assert_true (flam_runtime_reader_has_news (&fixture->task));
  assert_read (fixture, NULL, "compared: alpha@5 ");
  g_assert_cmpuint (worlds[1].own, ==, 2);
  fixture->target.hint_runtimes = NULL;
  assert_read (fixture, NULL, "");
}

/* A sleeping thread whose registers are needed is to be stopped. */
static void
test_registers (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = { { key (0), 5, 1 } };

  set_chain (&worlds[0], 1, entries);
  assert_read (fixture, NULL, "");
  g_assert_true (fixture->task.hint_needs_bp);
  g_assert_cmpuint (worlds[0].n_walks, ==, 0);
  fixture->regs.fs_base = 0x1000;
  assert_read (fixture, NULL, "picky: alpha@5 ");
}

static bool
read_nothing (gpointer data, uint64_t address, gpointer to, gsize size)
{
  (void)data;
  (void)address;
  (void)to;
  (void)size;
  return false;
}

/* Memory that was only copied in part: a walk that needs more than the stack is
 * left out, and the other reads the copy. */
static void
test_copied (Fixture *fixture, gconstpointer data)
{
  const FlamRuntimeEntry entries[] = { { key (0), 5, 1 } };
  FlamRuntimeCopied copied = { .memory = { read_nothing, NULL } };

  (void)data;
  set_chain (&worlds[0], 1, entries);
  set_chain (&worlds[1], 1, entries);
  copied.stack_only = TRUE;
  g_assert_cmpuint (
      flam_runtime_reader_walk (
          fixture->reader, &fixture->task, &fixture->regs, 0, 0, &copied),
      ==,
      2);
  g_assert_cmpuint (worlds[0].n_walks, ==, 0);
  g_assert_cmpuint (worlds[1].n_walks, ==, 1);
  g_assert_cmpuint (worlds[1].n_names, ==, 1);
}

static gsize
walk_copy (const FlamRuntimeProcess *process,
           FlamRuntimeThread *thread,
           const FlamRuntimeRegs *regs,
           const FlamRuntimeMemory *memory,
           FlamRuntimeEntry *entries,
           gsize limit)
{
  World *world = world_of (process);
  guint8 byte;

  (void)thread;
  (void)regs;
  g_assert_cmpuint (limit, >=, world->n);
  g_assert_false (
      flam_runtime_read_u8 (memory, GPOINTER_TO_SIZE (&functions[0]), &byte));
  memcpy (entries, world->entries, world->n * sizeof *entries);
  world->n_walks++;
  return world->n;
}

static gboolean
name_copy (const FlamRuntimeProcess *process,
           const FlamRuntimeEntry *entry,
           const guint8 *first,
           const FlamRuntimeMemory *memory,
           FlamRuntimeName *name)
{
  (void)entry;
  (void)first;
  (void)memory;
  flam_runtime_name_add (name)->function = "copied";
  world_of (process)->n_names++;
  return TRUE;
}

static const FlamRuntime on_stack = { .id = "on-stack",
                                      .walk = walk_copy,
                                      .on_stack = TRUE,
                                      .naming = FLAM_RUNTIME_NAME_STOPPED,
                                      .name = name_copy,
                                      .joint = "." };

int
main (int argc, char **argv)
{
  static const FlamRuntime *const mixed[] = { &marked, &on_stack, NULL };
  static const FlamRuntime *const by_pieces[] = { &compared, NULL };
  static const FlamRuntime *const by_stop[] = { &stopped, NULL };
  static const FlamRuntime *const two[] = { &marked, &compared, NULL };
  static const FlamRuntime *const by_caller[] = { &called, &marked, NULL };
  static const FlamRuntime *const by_regs[] = { &picky, NULL };
  static const struct
  {
    const char *path;
    const FlamRuntime *const *rows;
    void (*run) (Fixture *fixture, gconstpointer data);
  } tests[] = {
    { "/runtime-reader/pieces", by_pieces, test_pieces },
    { "/runtime-reader/unmapped", by_pieces, test_unmapped },
    { "/runtime-reader/stopped", by_stop, test_stopped },
    { "/runtime-reader/forgotten", by_stop, test_forgotten },
    { "/runtime-reader/callers", by_caller, test_callers },
    { "/runtime-reader/cookie", two, test_cookie },
    { "/runtime-reader/set", two, test_set },
    { "/runtime-reader/registers", by_regs, test_registers },
    { "/runtime-reader/copied", mixed, test_copied },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (
        tests[i].path, Fixture, tests[i].rows, set_up, tests[i].run, tear_down);
  return g_test_run ();
}
