/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-process-list.h"

#include <glib/gi18n.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_US (300 * 1000)
#define STEP_US (20 * 1000)

G_DEFINE_FINAL_TYPE (FlamProcess, flam_process, G_TYPE_OBJECT)

static void
flam_process_finalize (GObject *object)
{
  FlamProcess *self = FLAM_PROCESS (object);

  g_free (self->name);
  g_free (self->command);
  g_free (self->reason);
  G_OBJECT_CLASS (flam_process_parent_class)->finalize (object);
}

static guint changed_signal;

static void
flam_process_class_init (FlamProcessClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_process_finalize;
  changed_signal = g_signal_new ("changed",
                                 FLAM_TYPE_PROCESS,
                                 G_SIGNAL_RUN_LAST,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 G_TYPE_NONE,
                                 0);
}

static void
take_text (char **text, const char *now)
{
  if (g_strcmp0 (*text, now) == 0)
    return;
  g_free (*text);
  *text = g_strdup (now);
}

void
flam_process_update (FlamProcess *process, const FlamProcess *now)
{
  take_text (&process->name, now->name);
  take_text (&process->command, now->command);
  take_text (&process->reason, now->reason);
  process->parent = now->parent;
  process->session = now->session;
  process->n_below = now->n_below;
  process->cpu = now->cpu;
  g_signal_emit (process, changed_signal, 0);
}

static void
flam_process_init (FlamProcess *self)
{
}

static char *
read_proc (int pid, const char *file, gsize *length)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", pid, file);
  char *text = NULL;

  return g_file_get_contents (path, &text, length, NULL) ? text : NULL;
}

/* Numbers of fields of stat, proc(5), counted after the name, which may contain
 * spaces and parentheses. */
enum
{
  STAT_PARENT = 1,
  STAT_SESSION = 3,
  STAT_USER_TIME = 11,
  STAT_SYSTEM_TIME = 12,
  STAT_BEGAN = 19,
  N_STAT,
};

/* All 0 if the process has ended. */
static void
read_stat (int pid, gint64 values[N_STAT])
{
  g_autofree char *text = read_proc (pid, "stat", NULL);
  const char *rest = text != NULL ? strrchr (text, ')') : NULL;
  g_auto (GStrv) fields = NULL;

  memset (values, 0, N_STAT * sizeof *values);
  if (rest == NULL)
    return;
  fields = g_strsplit (g_strchug ((char *)rest + 1), " ", N_STAT + 1);
  for (guint i = 0; i < N_STAT && fields[i] != NULL; i++)
    values[i] = g_ascii_strtoll (fields[i], NULL, 10);
}

/* In clock ticks. */
static gint64
cpu_ticks (int pid)
{
  gint64 values[N_STAT];

  read_stat (pid, values);
  return values[STAT_USER_TIME] + values[STAT_SYSTEM_TIME];
}

static char *
command_of (int pid)
{
  gsize length = 0;
  char *text = read_proc (pid, "cmdline", &length);
  char *valid;

  if (text == NULL)
    return g_strdup ("");
  for (gsize i = 0; i + 1 < length; i++)
    if ((guchar)text[i] < ' ')
      text[i] = ' ';
  valid = g_utf8_make_valid (text, -1);
  g_free (text);
  return valid;
}

static gint64
status_field (const char *status, const char *field)
{
  const char *at = status != NULL ? strstr (status, field) : NULL;

  return at != NULL ? g_ascii_strtoll (at + strlen (field), NULL, 10) : 0;
}

static int
ptrace_scope (void)
{
  g_autofree char *text = NULL;

  if (!g_file_get_contents (
          "/proc/sys/kernel/yama/ptrace_scope", &text, NULL, NULL))
    return 0;
  return atoi (text);
}

static char *
why_not (int pid, int scope)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d", pid);
  g_autofree char *status = read_proc (pid, "status", NULL);
  gint64 tracer = status_field (status, "\nTracerPid:");
  struct stat info;

  if (tracer != 0)
    return g_strdup_printf (_ ("Already traced by process %d"), (int)tracer);
  if (geteuid () == 0 && scope < 3)
    return NULL;
  if (stat (path, &info) == 0 && info.st_uid != geteuid ())
    {
      struct passwd *owner = getpwuid (info.st_uid);
      return g_strdup_printf (_ ("Belongs to %s"),
                              owner != NULL ? owner->pw_name
                                            : _ ("somebody else"));
    }
  if (scope == 1)
    return g_strdup (
        _ ("The system lets only a parent process attach. To allow it, run: "
           "sudo sysctl kernel.yama.ptrace_scope=0"));
  if (scope >= 2)
    return g_strdup_printf (_ ("The system does not allow attaching "
                               "(kernel.yama.ptrace_scope is %d)"),
                            scope);
  return NULL;
}

static FlamProcess *
process_new (int pid, int scope)
{
  g_autofree char *status = read_proc (pid, "status", NULL);
  g_autofree char *comm = read_proc (pid, "comm", NULL);
  gint64 values[N_STAT];
  FlamProcess *self;

  if (comm == NULL || status_field (status, "\nPPid:") == 2 || pid == 2)
    return NULL;
  self = g_object_new (FLAM_TYPE_PROCESS, NULL);
  self->pid = pid;
  self->name = g_utf8_make_valid (g_strchomp (comm), -1);
  self->command = command_of (pid);
  self->reason = why_not (pid, scope);
  read_stat (pid, values);
  self->parent = (int)values[STAT_PARENT];
  self->session = (int)values[STAT_SESSION];
  self->began = values[STAT_BEGAN];
  self->cpu = -(double)(values[STAT_USER_TIME] + values[STAT_SYSTEM_TIME]);
  return self;
}

/* --- trees ---------------------------------------------------------------- */

typedef struct
{
  GPtrArray *list;    /* FlamProcess */
  GHashTable *by_pid; /* pid -> index + 1 */
  double *busy;       /* CPU share of each with all its descendants */
} Trees;

/* The index of the parent in the same tree, or G_MAXUINT. */
static guint
parent_of (const Trees *trees, guint i)
{
  const FlamProcess *process = trees->list->pdata[i];
  guint at = GPOINTER_TO_UINT (
      g_hash_table_lookup (trees->by_pid, GINT_TO_POINTER (process->parent)));
  const FlamProcess *parent = at > 0 ? trees->list->pdata[at - 1] : NULL;

  return parent != NULL && parent->session == process->session &&
                 parent->began <= process->began && at - 1 != i
             ? at - 1
             : G_MAXUINT;
}

/* The list was not read in one instant: chains of parents may be circles. */
static void
add_to_ancestors (Trees *trees, guint i)
{
  FlamProcess *process = trees->list->pdata[i];
  guint at = i;

  trees->busy[i] += process->cpu;
  for (guint left = trees->list->len; left > 0; left--)
    {
      at = parent_of (trees, at);
      if (at == G_MAXUINT || at == i)
        return;
      process->depth++;
      ((FlamProcess *)trees->list->pdata[at])->n_below++;
      trees->busy[at] += process->cpu;
    }
}

static int
busiest_tree_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const Trees *trees = data;
  guint i = *(const guint *)a, j = *(const guint *)b;
  const FlamProcess *x = trees->list->pdata[i];
  const FlamProcess *y = trees->list->pdata[j];

  if ((x->reason == NULL) != (y->reason == NULL))
    return x->reason == NULL ? -1 : 1;
  if (trees->busy[i] != trees->busy[j])
    return trees->busy[i] < trees->busy[j] ? 1 : -1;
  return y->pid - x->pid;
}

/* Each after its parent; siblings remain in their order. */
static GPtrArray *
in_order_of_trees (const Trees *trees, const GArray *order)
{
  GPtrArray *sorted = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree gboolean *done = g_new0 (gboolean, trees->list->len);
  g_autofree guint *next = g_new (guint, trees->list->len);
  g_autofree guint *first = g_new (guint, trees->list->len);

  for (guint i = 0; i < trees->list->len; i++)
    first[i] = G_MAXUINT;
  for (guint k = order->len; k-- > 0;)
    {
      guint i = g_array_index (order, guint, k), parent = parent_of (trees, i);

      if (parent == G_MAXUINT)
        continue;
      next[i] = first[parent];
      first[parent] = i;
    }
  for (guint k = 0; k < order->len; k++)
    {
      guint root = g_array_index (order, guint, k);

      if (parent_of (trees, root) == G_MAXUINT)
        g_array_append_val (open, root);
      while (open->len > 0)
        {
          guint i = g_array_index (open, guint, open->len - 1), at = open->len;

          g_array_set_size (open, open->len - 1);
          if (done[i])
            continue;
          done[i] = TRUE;
          g_ptr_array_add (sorted, g_object_ref (trees->list->pdata[i]));
          for (guint child = first[i]; child != G_MAXUINT; child = next[child])
            g_array_insert_val (open, at - 1, child);
        }
    }
  return sorted;
}

static GPtrArray *
sort_trees (GPtrArray *list)
{
  g_autoptr (GHashTable) by_pid = g_hash_table_new (NULL, NULL);
  g_autofree double *busy = g_new0 (double, list->len);
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint));
  Trees trees = { list, by_pid, busy };

  for (guint i = 0; i < list->len; i++)
    {
      const FlamProcess *process = list->pdata[i];

      g_hash_table_insert (
          by_pid, GINT_TO_POINTER (process->pid), GUINT_TO_POINTER (i + 1));
      g_array_append_val (order, i);
    }
  for (guint i = 0; i < list->len; i++)
    add_to_ancestors (&trees, i);
  g_array_sort_with_data (order, busiest_tree_first, &trees);
  return in_order_of_trees (&trees, order);
}

gpointer
flam_process_list_work (gpointer unused,
                        const FlamProgress *progress,
                        GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GDir) dir = g_dir_open ("/proc", 0, error);
  double ticks = (double)sysconf (_SC_CLK_TCK) * WINDOW_US / 1e6;
  int scope = ptrace_scope ();
  const char *name;

  if (dir == NULL)
    return NULL;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      int pid = atoi (name);
      FlamProcess *process =
          pid > 0 && pid != getpid () ? process_new (pid, scope) : NULL;
      if (process != NULL)
        g_ptr_array_add (list, process);
    }
  for (int waited = 0; waited < WINDOW_US; waited += STEP_US)
    {
      if (!flam_progress_step (progress, (double)waited / WINDOW_US, error))
        return NULL;
      g_usleep (STEP_US);
    }
  for (guint i = 0; i < list->len; i++)
    {
      FlamProcess *process = list->pdata[i];
      process->cpu =
          MAX (0, ((double)cpu_ticks (process->pid) + process->cpu) / ticks);
    }
  return sort_trees (list);
}
