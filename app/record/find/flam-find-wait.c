/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-find.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "flam-commands.h"
#include "flam-core-picture.h"
#include "flam-proc.h"

#define STEP_MS 20
/* A process begins with its parent's name, and may become another program
 * later. In steps. */
#define YOUNG 10
#define ALL_EVERY 25

static gboolean
peer_ends_it (FlamControl *control)
{
  FlamCommand command;
  char *text;
  gboolean ends = FALSE;

  flam_control_read (control);
  while ((command = flam_control_next (control, &text)) != FLAM_COMMAND_NONE)
    {
      ends |= command == FLAM_COMMAND_STOP ||
              command == FLAM_COMMAND_TERMINATE ||
              command == FLAM_COMMAND_INTERRUPT;
      g_free (text);
    }
  return ends || control->closed;
}

/* TRUE: the wait is to end. */
static gboolean
sleep_a_step (FlamControl *control)
{
  struct pollfd poll_fd = { control->fd, POLLIN, 0 };
  struct timespec step = { 0, STEP_MS * 1000000l };
  sigset_t mask;
  int by;

  flam_commands_get_open_mask (&mask);
  return (ppoll (&poll_fd, control->fd >= 0 ? 1 : 0, &step, &mask) > 0 &&
          peer_ends_it (control)) ||
         flam_commands_are_stopping (&by);
}

/* The processes of the name among those that are young, or among all. `known`:
 * pid -> the step at which it was first seen. */
static GArray *
find_among (const char *name, GHashTable *known, guint step, gboolean all)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, NULL);
  GArray *found = g_array_new (FALSE, FALSE, sizeof (pid_t));
  const char *entry;

  while (dir != NULL && (entry = g_dir_read_name (dir)) != NULL)
    {
      pid_t pid = (pid_t)g_ascii_strtoll (entry, NULL, 10);
      gpointer key = GINT_TO_POINTER (pid), first;

      if (pid <= 0)
        continue;
      if (!g_hash_table_lookup_extended (known, key, NULL, &first))
        g_hash_table_insert (known, key, first = GUINT_TO_POINTER (step));
      if ((all || step - GPOINTER_TO_UINT (first) < YOUNG) &&
          flam_find_is_named (pid, name))
        g_array_append_val (found, pid);
    }
  return found;
}

GArray *
flam_find_wait (const FlamRecordOptions *options,
                FlamControl *control,
                GError **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  const char *name = options->wait_for;
  gint64 seen = -1;
  guint young_until = 0;

  flam_control_say (control, "waiting %s", name);
  if (control->fd < 0 && isatty (STDERR_FILENO))
    g_printerr (
        N_ ("%s: waiting for a process named %s\n"), g_get_prgname (), name);
  for (guint step = 0;; step++)
    {
      gint64 last = flam_proc_last ();

      if (last != seen)
        young_until = step + YOUNG;
      seen = last;
      if (step < young_until || step % ALL_EVERY == 0)
        {
          g_autoptr (GArray) found =
              find_among (name, known, step, step % ALL_EVERY == 0);

          if (found->len > 0)
            return flam_find_sort (found, options->follow);
        }
      if (sleep_a_step (control))
        return flam_error_null (
            error,
            FLAM_ERROR_SYSTEM,
            N_ ("no process named %s appeared, and nothing was recorded"),
            name);
    }
}
