/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-find.h"

#include <string.h>
#include <unistd.h>

#include "flam-core-picture.h"
#include "flam-proc.h"

#define LISTED_MAX 20
#define COMMAND_MAX 100 /* bytes of a listed command line */

/* --- relations ----------------------------------------------------------- */

static gboolean
contains (const GArray *pids, pid_t pid)
{
  for (guint i = 0; i < pids->len; i++)
    if (g_array_index (pids, pid_t, i) == pid)
      return TRUE;
  return FALSE;
}

static void
add (GArray *pids, const GArray *more)
{
  for (guint i = 0; i < more->len; i++)
    {
      pid_t pid = g_array_index (more, pid_t, i);

      if (!contains (pids, pid))
        g_array_append_val (pids, pid);
    }
}

/* pid -> its parent */
static GHashTable *
read_parents (void)
{
  g_autoptr (GArray) all = flam_proc_all ();
  GHashTable *parents = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < all->len; i++)
    {
      const FlamKin *kin = &g_array_index (all, FlamKin, i);

      g_hash_table_insert (
          parents, GINT_TO_POINTER (kin->pid), GINT_TO_POINTER (kin->parent));
    }
  return parents;
}

/* The processes were read one after another, so that they may seem to be their
 * own ancestors. */
static guint
count_ancestors (GHashTable *parents, const GArray *pids, pid_t pid)
{
  guint n = 0;

  for (guint depth = g_hash_table_size (parents); pid > 0 && depth > 0; depth--)
    {
      pid = GPOINTER_TO_INT (
          g_hash_table_lookup (parents, GINT_TO_POINTER (pid)));
      n += contains (pids, pid);
    }
  return n;
}

typedef struct
{
  pid_t pid;
  guint n_ancestors;
} Ranked;

static int
compare_ranked (gconstpointer a, gconstpointer b)
{
  const Ranked *x = a;
  const Ranked *y = b;

  if (x->n_ancestors != y->n_ancestors)
    return x->n_ancestors < y->n_ancestors ? -1 : 1;
  return x->pid < y->pid ? -1 : x->pid > y->pid;
}

GArray *
flam_find_sort (const GArray *pids, gboolean roots)
{
  g_autoptr (GHashTable) parents = read_parents ();
  g_autoptr (GArray) ranked = g_array_new (FALSE, FALSE, sizeof (Ranked));
  GArray *sorted = g_array_new (FALSE, FALSE, sizeof (pid_t));

  for (guint i = 0; i < pids->len; i++)
    {
      pid_t pid = g_array_index (pids, pid_t, i);
      Ranked one = { pid, count_ancestors (parents, pids, pid) };

      g_array_append_val (ranked, one);
    }
  g_array_sort (ranked, compare_ranked);
  for (guint i = 0; i < ranked->len; i++)
    {
      const Ranked *one = &g_array_index (ranked, Ranked, i);

      if (!roots || one->n_ancestors == 0)
        g_array_append_val (sorted, one->pid);
    }
  return sorted;
}

/* --- names --------------------------------------------------------------- */

static gboolean
is_file_name (const char *path, const char *name)
{
  const char *slash = path != NULL ? strrchr (path, '/') : NULL;

  return path != NULL && strcmp (slash != NULL ? slash + 1 : path, name) == 0;
}

/* The kernel cuts names of processes to 15 bytes. */
gboolean
flam_find_is_named (pid_t pid, const char *name)
{
  char comm[16] = "";
  g_autofree char *link = NULL;
  g_autofree char *program = NULL;
  g_autofree char *command = NULL;

  if (pid == getpid () || !flam_proc_comm (pid, pid, comm))
    return FALSE;
  if (strcmp (comm, name) == 0)
    return flam_proc_lives (pid);
  link = g_strdup_printf ("/proc/%d/exe", (int)pid);
  program = g_file_read_link (link, NULL);
  if (is_file_name (program, name))
    return flam_proc_lives (pid);
  command = flam_proc_text (pid, pid, "cmdline");
  return is_file_name (command, name) && flam_proc_lives (pid);
}

static GArray *
find_named (const char *name)
{
  g_autoptr (GArray) all = flam_proc_all ();
  GArray *found = g_array_new (FALSE, FALSE, sizeof (pid_t));

  for (guint i = 0; i < all->len; i++)
    {
      pid_t pid = g_array_index (all, FlamKin, i).pid;

      if (flam_find_is_named (pid, name))
        g_array_append_val (found, pid);
    }
  return found;
}

static char *
list_processes (const GArray *pids)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < pids->len && i < LISTED_MAX; i++)
    {
      pid_t pid = g_array_index (pids, pid_t, i);
      g_autofree char *command = flam_proc_command (pid);

      if (strlen (command) > COMMAND_MAX)
        strcpy (g_utf8_find_prev_char (command, command + COMMAND_MAX), "…");
      g_string_append_printf (text, "\n  %7d  %s", (int)pid, command);
    }
  if (pids->len > LISTED_MAX)
    g_string_append (text, "\n        …");
  return g_string_free (text, FALSE);
}

/* A server and its workers of the same name are one tree. */
static gboolean
add_named (GArray *pids, const char *name, GError **error)
{
  g_autoptr (GArray) found = find_named (name);
  g_autoptr (GArray) roots = flam_find_sort (found, TRUE);
  g_autofree char *list = NULL;

  if (roots->len == 0)
    return flam_error_set (
        error, FLAM_ERROR_SYSTEM, N_ ("no process named “%s”"), name);
  if (roots->len > 1)
    {
      list = list_processes (roots);
      return flam_error_set (
          error,
          FLAM_ERROR_INVALID,
          N_ ("%u processes are named %s; choose some of them with --pid:%s"),
          roots->len,
          name,
          list);
    }
  add (pids, roots);
  return TRUE;
}

/* --- all ----------------------------------------------------------------- */

static gboolean
add_groups (GArray *pids,
            char **names,
            GArray *(*find) (const char *name),
            const char *none,
            GError **error)
{
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      g_autoptr (GArray) found = find (names[i]);

      if (found->len == 0)
        return flam_error_set (error, FLAM_ERROR_SYSTEM, none, names[i]);
      add (pids, found);
    }
  return TRUE;
}

GArray *
flam_find_targets (const FlamRecordOptions *options,
                   FlamTracerKin *kin,
                   GError **error)
{
  g_autoptr (GArray) pids = flam_record_options_get_pids (options, error);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (pid_t));

  if (pids == NULL)
    return NULL;
  for (guint i = 0; options->processes && options->processes[i]; i++)
    if (!add_named (pids, options->processes[i], error))
      return NULL;
  if (!add_groups (
          pids,
          options->containers,
          flam_find_in_container,
          N_ ("container %s: neither podman, docker, machinectl nor the "
              "control groups list a running container of this name"),
          error) ||
      !add_groups (members,
                   options->units,
                   flam_find_in_unit,
                   N_ ("unit %s: it has no running process"),
                   error) ||
      !add_groups (
          members,
          options->cgroups,
          flam_find_in_cgroup,
          N_ ("control group %s: it does not exist or has no processes"),
          error))
    return NULL;
  flam_tracer_kin_set (kin, pids, members);
  add (pids, members);
  return flam_find_sort (pids, options->follow);
}
