/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The runtimes that the sampler finds in a process's mappings: when they are
 * opened, and which of them the tracer gets. */

#include "flam-runtime-processes.h"
#include "flam-runtime-table.h"

#include <unistd.h>

#define MS 1000000ll

static guint n_opens, n_closes, n_refused;
static FlamRuntimeOpened next = FLAM_RUNTIME_OPENED;
static gboolean without_names;

static FlamRuntimeOpened
open_made (FlamRuntimeProcess *process,
           const FlamRuntimeMemory *memory,
           const char **why,
           const char **help)
{
  guint64 value = 0;

  n_opens++;
  g_assert_cmpint (process->pid, ==, getpid ());
  g_assert_true (
      flam_runtime_read_u64 (memory, GPOINTER_TO_SIZE (&value), &value));
  if (next == FLAM_RUNTIME_UNREADABLE || without_names)
    {
      *why = "it is too new";
      *help = "start it with --map";
    }
  if (next == FLAM_RUNTIME_OPENED)
    process->layout = g_strdup ("layout");
  return next;
}

static void
close_made (FlamRuntimeProcess *process)
{
  n_closes++;
  g_clear_pointer (&process->layout, g_free);
}

static const FlamRuntime opened = {
  .id = "opened", .label = "Opened", .open = open_made, .close = close_made
};
static const FlamRuntime ready = { .id = "ready", .label = "Ready" };
static const FlamRuntimeBinary binary = { .runtime = &opened, .path = "/a" };
static const FlamRuntimeBinary other = { .runtime = &ready, .path = "/b" };
static const FlamRuntimeBinary unreadable = { .runtime = &ready,
                                              .file = { .why = "no" },
                                              .path = "/c" };

static void
refuse (gpointer data,
        const FlamRuntime *runtime,
        const char *path,
        const FlamRuntimeFile *file,
        const char *why,
        const char *help)
{
  n_refused++;
  g_assert_cmpstr (path, ==, "/a");
  g_assert_cmpstr (why, ==, "it is too new");
  g_assert_cmpstr (help, ==, "start it with --map");
}

/* Returns whether the set has changed. */
static gboolean
open_at (FlamRuntimeProcesses *processes, gint64 now)
{
  return flam_runtime_processes_open (processes, getpid (), now, refuse, NULL);
}

static void
assert_set (const FlamRuntimeProcesses *processes, const char *expected)
{
  const FlamRuntimeSet *set = flam_runtime_processes_get (processes);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; set != NULL && i < set->n; i++)
    g_string_append_printf (
        text, "%s@%u ", set->items[i]->runtime->id, (guint)set->items[i]->base);
  g_assert_cmpstr (text->str, ==, expected);
}

static void
start (FlamRuntimeOpened what)
{
  n_opens = n_closes = n_refused = 0;
  next = what;
  without_names = FALSE;
}

static void
test_found (void)
{
  FlamRuntimeProcesses *processes = flam_runtime_processes_new (getpid ());
  const FlamRuntimeSet *set;

  start (FLAM_RUNTIME_OPENED);
  assert_set (processes, "");
  g_assert_false (open_at (processes, 0));
  flam_runtime_processes_begin (processes);
  flam_runtime_processes_note (processes, &binary, 1);
  flam_runtime_processes_note (processes, &unreadable, 2);
  flam_runtime_processes_note (processes, &other, 3);
  flam_runtime_processes_note (processes, &binary, 1);
  g_assert_true (open_at (processes, 0));
  assert_set (processes, "opened@1 ready@3 ");
  set = flam_runtime_processes_get (processes);
  /* The same mappings: the same set. */
  flam_runtime_processes_begin (processes);
  flam_runtime_processes_note (processes, &other, 3);
  flam_runtime_processes_note (processes, &binary, 1);
  g_assert_false (open_at (processes, 0));
  g_assert_true (flam_runtime_processes_get (processes) == set);
  /* One is unmapped, another is mapped elsewhere; the open ones stay valid. */
  flam_runtime_processes_begin (processes);
  flam_runtime_processes_note (processes, &binary, 9);
  g_assert_true (open_at (processes, 0));
  assert_set (processes, "opened@9 ");
  g_assert_cmpstr (set->items[0]->layout, ==, "layout");
  g_assert_cmpuint (n_opens, ==, 2);
  /* After an exec, the same place is another program's. */
  flam_runtime_processes_forget (processes);
  g_assert_true (open_at (processes, 0));
  assert_set (processes, "");
  flam_runtime_processes_begin (processes);
  flam_runtime_processes_note (processes, &binary, 9);
  g_assert_true (open_at (processes, 0));
  assert_set (processes, "opened@9 ");
  g_assert_cmpuint (n_opens, ==, 3);
  g_assert_cmpuint (n_closes, ==, 0);
  flam_runtime_processes_free (processes);
  g_assert_cmpuint (n_closes, ==, 3);
  g_assert_cmpuint (n_refused, ==, 0);
}

/* It is tried again each ms, later after an eighth of the time so far. */
static void
test_not_yet (void)
{
  FlamRuntimeProcesses *processes = flam_runtime_processes_new (getpid ());

  start (FLAM_RUNTIME_NOT_YET);
  flam_runtime_processes_begin (processes);
  flam_runtime_processes_note (processes, &binary, 1);
  for (gint64 now = 0; now < 32 * MS; now += MS / 2)
    g_assert_false (open_at (processes, now) &&
                    flam_runtime_processes_get (processes)->n > 0);
  /* At 0, 1, 2 ... 9, 10.5, 12, 13.5, 15.5, 17.5, 20, 22.5, 25.5 and 29 ms. */
  g_assert_cmpuint (n_opens, ==, 19);
  next = FLAM_RUNTIME_OPENED;
  g_assert_false (open_at (processes, 32 * MS));
  g_assert_true (open_at (processes, 33 * MS));
  assert_set (processes, "opened@1 ");
  flam_runtime_processes_free (processes);
}

static void
test_refused (void)
{
  FlamRuntimeProcesses *processes = flam_runtime_processes_new (getpid ());

  start (FLAM_RUNTIME_UNREADABLE);
  for (guint i = 0; i < 3; i++)
    {
      flam_runtime_processes_begin (processes);
      flam_runtime_processes_note (processes, &binary, 1);
      open_at (processes, i * 1000 * MS);
    }
  assert_set (processes, "");
  g_assert_cmpuint (n_opens, ==, 1);
  g_assert_cmpuint (n_refused, ==, 1);
  flam_runtime_processes_free (processes);
}

/* Its stacks are followed; its functions have no names. */
static void
test_nameless (void)
{
  FlamRuntimeProcesses *processes = flam_runtime_processes_new (getpid ());

  start (FLAM_RUNTIME_OPENED);
  without_names = TRUE;
  flam_runtime_processes_begin (processes);
  flam_runtime_processes_note (processes, &binary, 1);
  g_assert_true (open_at (processes, 0));
  g_assert_false (open_at (processes, 1000 * MS));
  assert_set (processes, "opened@1 ");
  g_assert_cmpuint (n_refused, ==, 1);
  flam_runtime_processes_free (processes);
}

/* The child of a fork has its parent's runtimes, opened again. */
static void
test_fork (void)
{
  FlamRuntimeProcesses *parent = flam_runtime_processes_new (getpid ());
  FlamRuntimeProcesses *child = flam_runtime_processes_new (getpid ());

  start (FLAM_RUNTIME_OPENED);
  flam_runtime_processes_begin (parent);
  flam_runtime_processes_note (parent, &binary, 1);
  flam_runtime_processes_note (parent, &other, 2);
  open_at (parent, 0);
  flam_runtime_processes_begin (parent);
  flam_runtime_processes_note (parent, &binary, 1);
  open_at (parent, 0);
  flam_runtime_processes_inherit (child, parent);
  flam_runtime_processes_free (parent);
  g_assert_true (open_at (child, 0));
  assert_set (child, "opened@1 ");
  g_assert_cmpuint (n_opens, ==, 2);
  flam_runtime_processes_free (child);
}

/* Of a Guile in which the function that runs its code was not found, stacks are
 * followed without names: with a reason. */
static void
test_no_evaluator (void)
{
  for (guint n = 0; n < 2; n++)
    {
      const FlamRuntimeFile file = { .n_evaluators = n };
      FlamRuntimeProcess process = { .file = &file };
      const char *why = NULL, *help = NULL;

      g_assert_cmpint (flam_runtime_guile.open (&process, NULL, &why, &help),
                       ==,
                       FLAM_RUNTIME_OPENED);
      g_assert_true ((why != NULL) == (n == 0));
      g_free (process.layout);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runtime-processes/found", test_found);
  g_test_add_func ("/runtime-processes/not-yet", test_not_yet);
  g_test_add_func ("/runtime-processes/refused", test_refused);
  g_test_add_func ("/runtime-processes/nameless", test_nameless);
  g_test_add_func ("/runtime-processes/fork", test_fork);
  g_test_add_func ("/runtime-processes/no-evaluator", test_no_evaluator);
  return g_test_run ();
}
