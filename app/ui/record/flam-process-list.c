/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-process-list.h"

#include "flam-core-picture.h"
#include "flam-process-line.h"

#include <unistd.h>

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

FlamProcess *
flam_process_parse (const char *text)
{
  FlamProcessLine line;
  FlamProcess *self;

  if (!flam_process_line_parse (text, &line))
    return NULL;
  self = g_object_new (FLAM_TYPE_PROCESS, NULL);
  self->pid = line.pid;
  self->parent = line.parent;
  self->session = line.session;
  self->began = line.began;
  self->cpu = line.cpu;
  self->name = g_strdup (line.name);
  self->command = g_strdup (line.command);
  if (*line.obstacle != '\0')
    self->reason = flam_message_shown (line.obstacle);
  flam_process_line_clear (&line);
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

GPtrArray *
flam_process_list_sort (GPtrArray *list)
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
