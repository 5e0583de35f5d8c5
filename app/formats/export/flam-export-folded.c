/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One line per distinct stack, sorted bytewise, without a list of all lines:
 * the lines with a common path are adjacent, so the tree is traversed in their
 * order.
 *
 *    a 3          what ends in `a` sorts as "a ",
 *    a!x 1        what continues there as "a;":
 *    a;b 4        other names may be in between
 *
 * Nodes with the same written name are one path, and are traversed together. */

#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-format.h"

#include <string.h>

/* A line, or the lines of the callees of nodes. */
typedef struct
{
  char *key;       /* the name, and its separator in the lines */
  gint64 self;     /* of a line */
  GArray *callers; /* FlamId; NULL: a line */
  gsize length;    /* of the path above it */
} Step;

typedef struct
{
  const FlamTree *tree;
  const FlamExportOptions *options;
  FlamSink *out;
  GString *path;
  GArray *steps; /* Step: the next one is the last */
} Writer;

typedef struct
{
  char *name;
  FlamId node;
} Child;

/* "name", "name-12", "name-12/13"; "?" for an unknown number. */
static void
append_thread (GString *name, const Writer *writer, FlamId thread)
{
  const FlamProfile *profile = writer->tree->profile;
  FlamFoldedRoot root = writer->options->root;
  gint32 pid = -1, tid = -1;

  if (thread != FLAM_NONE)
    {
      pid = profile->processes.pid[profile->threads.process[thread]];
      tid = profile->threads.tid[thread];
    }
  if (root >= FLAM_ROOT_PID && pid >= 0)
    g_string_append_printf (name, "-%d", pid);
  else if (root >= FLAM_ROOT_PID)
    g_string_append (name, "-?");
  if (root == FLAM_ROOT_TID && tid >= 0)
    g_string_append_printf (name, "/%d", tid);
  else if (root == FLAM_ROOT_TID)
    g_string_append (name, "/?");
}

static char *
folded_name (const Writer *writer, FlamId node)
{
  const FlamTree *tree = writer->tree;
  g_autofree char *detail = flam_tree_detail (tree, node);
  g_autofree char *text = writer->options->annotate
                              ? flam_tree_annotated_name (tree, node)
                              : g_strdup (flam_tree_name (tree, node));
  GString *name = g_string_new (text);

  for (char *p = name->str; *p != '\0'; p++)
    *p = *p == ';' ? ':' : *p == '\n' ? ' ' : *p;
  g_string_append (name, detail);
  if (flam_tree_is_top (tree, node))
    append_thread (name, writer, tree->function[node]);
  return g_string_free (name, FALSE);
}

static int
compare_children (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Child *)a)->name, ((const Child *)b)->name);
}

/* The array is a stack: the children are added in reverse order. */
static int
compare_steps (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Step *)b)->key, ((const Step *)a)->key);
}

static GArray *
children_of (const Writer *writer, const GArray *callers)
{
  const FlamTree *tree = writer->tree;
  GArray *children = g_array_new (FALSE, FALSE, sizeof (Child));

  for (guint i = 0; i < callers->len; i++)
    {
      FlamId caller = g_array_index (callers, FlamId, i);

      for (FlamId node = flam_tree_first_child (tree, caller);
           node != FLAM_NONE;
           node = flam_tree_next_sibling (tree, node))
        {
          Child child = { folded_name (writer, node), node };

          g_array_append_val (children, child);
        }
    }
  g_array_sort (children, compare_children);
  return children;
}

/* The children [first, end) have one name. */
static void
push_path (Writer *writer, const GArray *children, guint first, guint end)
{
  const FlamTree *tree = writer->tree;
  const char *name = g_array_index (children, Child, first).name;
  Step line = { .length = writer->path->len };
  Step below = line;

  below.callers = g_array_new (FALSE, FALSE, sizeof (FlamId));
  for (guint i = first; i < end; i++)
    {
      FlamId node = g_array_index (children, Child, i).node;

      line.self += tree->self[node];
      if (flam_tree_first_child (tree, node) != FLAM_NONE)
        g_array_append_val (below.callers, node);
    }
  if (line.self != 0)
    {
      line.key = g_strconcat (name, " ", NULL);
      g_array_append_val (writer->steps, line);
    }
  if (below.callers->len > 0)
    {
      below.key = g_strconcat (name, ";", NULL);
      g_array_append_val (writer->steps, below);
    }
  else
    g_array_unref (below.callers);
}

static void
push_children (Writer *writer, const GArray *callers)
{
  g_autoptr (GArray) children = children_of (writer, callers);
  guint before = writer->steps->len;

  for (guint i = 0, end; i < children->len; i = end)
    {
      const char *name = g_array_index (children, Child, i).name;

      for (end = i + 1;
           end < children->len &&
           strcmp (name, g_array_index (children, Child, end).name) == 0;
           end++)
        ;
      push_path (writer, children, i, end);
    }
  for (guint i = 0; i < children->len; i++)
    g_free (g_array_index (children, Child, i).name);
  if (writer->steps->len > before)
    qsort (&g_array_index (writer->steps, Step, before),
           writer->steps->len - before,
           sizeof (Step),
           compare_steps);
}

static void
put_line (Writer *writer, gint64 self)
{
  const FlamMeasure measure = flam_tree_measure (writer->tree);

  flam_sink_put_len (writer->out, writer->path->str, writer->path->len);
  flam_export_json_weight (writer->out, &measure, self);
  flam_sink_put_c (writer->out, '\n');
}

static void
take_step (Writer *writer)
{
  Step step = g_array_index (writer->steps, Step, writer->steps->len - 1);

  g_array_set_size (writer->steps, writer->steps->len - 1);
  g_string_truncate (writer->path, step.length);
  g_string_append (writer->path, step.key);
  if (step.callers == NULL)
    put_line (writer, step.self);
  else
    {
      push_children (writer, step.callers);
      g_array_unref (step.callers);
    }
  g_free (step.key);
}

static gboolean
save (FlamExport *export, GError **error)
{
  g_autoptr (FlamSelection) rooted = flam_selection_copy (export->selection);
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (GString) path = g_string_new (" ");
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (Step));
  g_autoptr (GArray) root = g_array_new (FALSE, FALSE, sizeof (FlamId));
  Writer writer = { NULL, export->options, export->out, path, steps };
  FlamId node = 0;

  if (export->options->root != FLAM_ROOT_NONE)
    {
      if (export->selection->by != FLAM_BY_FUNCTION &&
          export->selection->by != FLAM_BY_THREAD)
        return flam_error_set (
            error,
            FLAM_ERROR_UNSUPPORTED,
            N_ ("stacks that begin with their threads are of functions"));
      rooted->by = FLAM_BY_THREAD;
    }
  writer.tree = tree = flam_export_tree (export->profile, rooted);
  if (tree->self[0] != 0)
    put_line (&writer, tree->self[0]);
  g_string_truncate (path, 0);
  g_array_append_val (root, node);
  push_children (&writer, root);
  while (steps->len > 0)
    take_step (&writer);
  return TRUE;
}

const FlamExporter flam_export_folded = {
  .id = "folded",
  .label = N_ ("Folded stacks"),
  .suffix = "folded",
  .mime_type = "text/plain",
  .text = TRUE,
  .folds = TRUE,
  .save = save,
};
