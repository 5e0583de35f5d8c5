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

#include "flam-core-picture.h"
#include "flam-export-common.h"

#include <string.h>

#define CHUNK (64 << 10)

/* A line, or the lines of the callees of nodes. */
typedef struct
{
  const char *name;
  char separator;  /* after the name: ' ' in a line, ';' before callees */
  gint64 self;     /* of a line */
  FlamId caller;   /* of callees */
  GArray *callers; /* FlamId; NULL: just the one */
  gsize length;    /* of the path above it */
} Step;

typedef struct
{
  const FlamTree *tree;
  const FlamExportOptions *options;
  FlamSink *out;
  GString *path;
  GArray *steps;       /* Step: the next one is the last */
  GArray *children;    /* Child: of the step that is being taken */
  GStringChunk *names; /* each once: nodes of one name have one pointer */
  const char **known;  /* NULL, or of the functions that were met */
  GString *name;
} Writer;

typedef struct
{
  const char *name;
  FlamNodeId node;
} Child;

/* "name", "name-12", "name-12/13"; "?" for an unknown number. */
static void
append_thread (GString *name, const Writer *writer, FlamThreadId thread)
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

static const char *
make_name (Writer *writer, FlamNodeId node)
{
  const FlamTree *tree = writer->tree;
  g_autofree char *detail = flam_tree_detail (tree, node);
  g_autofree char *annotated =
      writer->options->annotate ? flam_tree_annotated_name (tree, node) : NULL;
  GString *name = writer->name;

  g_string_assign (name,
                   annotated != NULL ? annotated : flam_tree_name (tree, node));
  for (char *p = name->str; *p != '\0'; p++)
    *p = *p == ';' ? ':' : *p == '\n' ? ' ' : *p;
  g_string_append (name, detail);
  if (tree->by == FLAM_BY_THREAD && flam_tree_is_top (tree, node))
    append_thread (name, writer, flam_tree_thread (tree, node));
  return g_string_chunk_insert_const (writer->names, name->str);
}

/* A function has many nodes. */
static const char *
folded_name (Writer *writer, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (writer->tree, node);

  if (writer->known == NULL || function >= writer->tree->profile->functions.n)
    return make_name (writer, node);
  if (writer->known[function] == NULL)
    writer->known[function] = make_name (writer, node);
  return writer->known[function];
}

static int
compare_children (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Child *)a)->name, ((const Child *)b)->name);
}

/* In the order of the names with their separators. The array is a stack: the
 * steps are added in reverse order. */
static int
compare_steps (gconstpointer a, gconstpointer b)
{
  const Step *x = b;
  const Step *y = a;
  const guint8 *p = (const guint8 *)x->name;
  const guint8 *q = (const guint8 *)y->name;

  if (x->name == y->name)
    return (guint8)x->separator - (guint8)y->separator;
  while (*p == *q)
    {
      p++;
      q++;
    }
  return (*p != '\0' ? *p : (guint8)x->separator) -
         (*q != '\0' ? *q : (guint8)y->separator);
}

static void
find_children (Writer *writer, const FlamId *callers, guint n)
{
  const FlamTree *tree = writer->tree;
  GArray *children = writer->children;

  g_array_set_size (children, 0);
  for (guint i = 0; i < n; i++)
    for (FlamNodeId node = flam_tree_first_child (tree, callers[i]);
         node != FLAM_NONE;
         node = flam_tree_next_sibling (tree, node))
      {
        Child child = { folded_name (writer, node), node };

        g_array_append_val (children, child);
      }
  if (children->len > 1)
    g_array_sort (children, compare_children);
}

static void
add_caller (Step *below, FlamNodeId node)
{
  if (below->caller == FLAM_NONE)
    below->caller = node;
  else if (below->callers == NULL)
    {
      below->callers = g_array_new (FALSE, FALSE, sizeof (FlamId));
      g_array_append_val (below->callers, below->caller);
    }
  if (below->callers != NULL)
    g_array_append_val (below->callers, node);
}

/* The children [first, end) have one name. */
static void
push_path (Writer *writer, guint first, guint end)
{
  const FlamTree *tree = writer->tree;
  Step line = { .name = g_array_index (writer->children, Child, first).name,
                .separator = ' ',
                .caller = FLAM_NONE,
                .length = writer->path->len };
  Step below = line;

  below.separator = ';';
  for (guint i = first; i < end; i++)
    {
      FlamNodeId node = g_array_index (writer->children, Child, i).node;

      line.self += tree->self[node];
      if (flam_tree_first_child (tree, node) != FLAM_NONE)
        add_caller (&below, node);
    }
  if (line.self != 0)
    g_array_append_val (writer->steps, line);
  if (below.caller != FLAM_NONE)
    g_array_append_val (writer->steps, below);
}

static void
push_children (Writer *writer, const FlamId *callers, guint n)
{
  GArray *children = writer->children;
  guint before = writer->steps->len;

  find_children (writer, callers, n);
  for (guint i = 0, end; i < children->len; i = end)
    {
      const char *name = g_array_index (children, Child, i).name;

      for (end = i + 1; end < children->len &&
                        name == g_array_index (children, Child, end).name;
           end++)
        ;
      push_path (writer, i, end);
    }
  if (writer->steps->len > before + 1)
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

/* Most nodes are an only child that has no line of its own: their names are
 * appended at once. Returns the last of them, or `caller`. */
static FlamNodeId
append_only_children (Writer *writer, FlamId caller)
{
  const FlamTree *tree = writer->tree;

  for (FlamNodeId node = flam_tree_first_child (tree, caller);
       node != FLAM_NONE && tree->self[node] == 0 &&
       flam_tree_next_sibling (tree, node) == FLAM_NONE;
       node = flam_tree_first_child (tree, caller))
    {
      g_string_append (writer->path, folded_name (writer, node));
      g_string_append_c (writer->path, ';');
      caller = node;
    }
  return caller;
}

static void
take_step (Writer *writer)
{
  Step step = g_array_index (writer->steps, Step, writer->steps->len - 1);

  g_array_set_size (writer->steps, writer->steps->len - 1);
  g_string_truncate (writer->path, step.length);
  g_string_append (writer->path, step.name);
  g_string_append_c (writer->path, step.separator);
  if (step.callers != NULL)
    {
      push_children (writer,
                     (const FlamId *)(gpointer)step.callers->data,
                     step.callers->len);
      g_array_unref (step.callers);
    }
  else if (step.caller != FLAM_NONE)
    {
      step.caller = append_only_children (writer, step.caller);
      push_children (writer, &step.caller, 1);
    }
  else
    put_line (writer, step.self);
}

static gboolean
save (FlamExport *export, GError **error)
{
  g_autoptr (FlamSelection) rooted = flam_selection_copy (export->selection);
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (GString) path = g_string_new (" ");
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (Step));
  g_autoptr (GArray) children = g_array_new (FALSE, FALSE, sizeof (Child));
  g_autoptr (GString) name = g_string_new (NULL);
  g_autofree const char **known = NULL;
  Writer writer = { NULL,  export->options, export->out, path,
                    steps, children,        NULL,        NULL,
                    name };
  FlamNodeId node = 0;

  if (export->options->root != FLAM_ROOT_NONE)
    {
      if (export->selection->by != FLAM_BY_FUNCTION &&
          export->selection->by != FLAM_BY_THREAD)
        return flam_error_set (error,
                               FLAM_ERROR_UNSUPPORTED,
                               N_ ("stacks that begin with threads cannot be "
                                   "grouped by anything but functions"));
      rooted->by = FLAM_BY_THREAD;
    }
  writer.tree = tree = flam_export_tree (export->profile, rooted);
  if (tree->self[0] != 0)
    put_line (&writer, tree->self[0]);
  g_string_truncate (path, 0);
  writer.names = g_string_chunk_new (CHUNK);
  /* Nothing but the function decides the name. */
  if (tree->by == FLAM_BY_FUNCTION && !export->options->annotate)
    writer.known = known =
        g_new0 (const char *, export->profile->functions.n + 1);
  push_children (&writer, &node, 1);
  while (steps->len > 0)
    take_step (&writer);
  g_string_chunk_free (writer.names);
  return TRUE;
}

const FlamExporter flam_export_folded = {
  .id = "folded",
  .label = N_ ("Folded stacks"),
  .suffix = "folded",
  .mime_type = "text/plain",
  .text = TRUE,
  .folds = TRUE,
  .holds = FLAM_HOLDS_FRACTIONS,
  .save = save,
};
