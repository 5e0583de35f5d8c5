/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dump.h"

#include "flam-format.h"

#include <string.h>

#define text(profile, id) flam_profile_string (profile, id)

static void
add_id (GString *out, const char *label, FlamId id)
{
  if (id == FLAM_NONE)
    g_string_append_printf (out, " %s=-", label);
  else
    g_string_append_printf (out, " %s=%u", label, id);
}

static void
dump_facts (GString *out, const FlamFacts *facts)
{
  g_string_append_printf (out, "format %s\n", facts->format);
  if (facts->command[0])
    g_string_append_printf (out, "command %s\n", facts->command);
  if (facts->start_unix_ns)
    g_string_append_printf (
        out, "start %" G_GINT64_FORMAT "\n", facts->start_unix_ns);
  if (facts->duration_ns)
    g_string_append_printf (
        out, "duration %" G_GINT64_FORMAT "\n", facts->duration_ns);
  if (!facts->complete)
    g_string_append_printf (
        out, "partial %.0f %%\n", 100 * facts->read_fraction);
  if (facts->lost)
    g_string_append_printf (out, "lost %" G_GUINT64_FORMAT "\n", facts->lost);
  if (facts->truncated_stacks)
    g_string_append_printf (
        out, "truncated %" G_GUINT64_FORMAT "\n", facts->truncated_stacks);
  if (facts->late)
    g_string_append_printf (out, "late %" G_GUINT64_FORMAT "\n", facts->late);
  if (facts->charged_cpu_ns)
    g_string_append_printf (out,
                            "cpu %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                            "\n",
                            facts->recorded_cpu_ns,
                            facts->charged_cpu_ns);
  if (facts->stop_median_ns)
    g_string_append_printf (out,
                            "stops %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                            facts->stop_median_ns,
                            facts->stop_p99_ns);
  for (guint i = 0; facts->warnings[i]; i++)
    g_string_append_printf (out, "warning %s\n", facts->warnings[i]);
}

static void
dump_measures (GString *out, const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  for (guint i = 0; i < profile->n_measures; i++)
    {
      const FlamMeasure *measure = &profile->measures[i];
      g_autofree char *total = NULL;

      selection->measure = i;
      total =
          flam_format_plain (measure, flam_weights_total (profile, selection));
      g_string_append_printf (out,
                              "measure %s (%s) %s %s total=%s\n",
                              text (profile, measure->id),
                              text (profile, measure->name),
                              flam_measure_kind_to_string (measure->kind),
                              flam_unit_to_string (measure->unit),
                              total);
    }
}

static void
dump_code (GString *out, const FlamProfile *p)
{
  for (FlamId i = 0; i < p->modules.n; i++)
    g_string_append_printf (out,
                            "module %u %s build_id=%s symbols=%s why=%s\n",
                            i,
                            text (p, p->modules.path[i]),
                            text (p, p->modules.build_id[i]),
                            flam_symbol_state_to_string (p->modules.symbols[i]),
                            text (p, p->modules.why[i]));
  for (FlamId i = 0; i < p->functions.n; i++)
    {
      g_string_append_printf (
          out,
          "function %u %s %s",
          i,
          text (p, p->functions.name[i]),
          flam_function_kind_to_string (p->functions.kind[i]));
      if (p->functions.file[i])
        g_string_append_printf (out,
                                " at %s:%u",
                                text (p, p->functions.file[i]),
                                p->functions.line[i]);
      if (p->functions.flags[i])
        g_string_append_printf (out, " flags=%u", p->functions.flags[i]);
      add_id (out, "module", p->functions.module[i]);
      g_string_append_c (out, '\n');
    }
  for (FlamId i = 0; i < p->frames.n; i++)
    {
      g_string_append_printf (out,
                              "frame %u function=%u address=%" G_GINT64_MODIFIER
                              "x line=%u inline=%u",
                              i,
                              p->frames.function[i],
                              p->frames.address[i],
                              p->frames.line[i],
                              p->frames.inline_depth[i]);
      if (p->frames.file[i] != p->functions.file[p->frames.function[i]])
        g_string_append_printf (out, " file=%s", text (p, p->frames.file[i]));
      g_string_append_c (out, '\n');
    }
  for (FlamId i = 0; i < p->stacks.n; i++)
    {
      g_string_append_printf (out, "stack %u", i);
      add_id (out, "prefix", p->stacks.prefix[i]);
      add_id (out, "frame", p->stacks.frame[i]);
      g_string_append_c (out, '\n');
    }
}

static void
dump_sample (GString *out, const FlamProfile *p, guint32 i)
{
  g_string_append (out, "  sample");
  if (p->samples.time)
    g_string_append_printf (out, " time=%" G_GINT64_FORMAT, p->samples.time[i]);
  add_id (out, "stack", p->samples.stack[i]);
  if (p->samples.event)
    g_string_append_printf (out, " event=%u", p->samples.event[i]);
  if (p->samples.state)
    g_string_append_printf (
        out, " state=%s", flam_state_to_string (p->samples.state[i]));
  for (guint m = 0; m < p->n_measures; m++)
    if (p->measures[m].weight)
      g_string_append_printf (out,
                              " %s=%" G_GINT64_FORMAT,
                              text (p, p->measures[m].id),
                              p->measures[m].weight[i]);
  g_string_append_c (out, '\n');
}

static void
dump_threads (GString *out, const FlamProfile *p)
{
  for (FlamId i = 0; i < p->processes.n; i++)
    {
      g_string_append_printf (out,
                              "process %u pid=%d name=%s",
                              i,
                              p->processes.pid[i],
                              text (p, p->processes.name[i]));
      add_id (out, "parent", p->processes.parent[i]);
      g_string_append_c (out, '\n');
    }
  for (FlamId i = 0; i < p->threads.n; i++)
    {
      guint32 first = p->threads.first_sample[i];

      g_string_append_printf (out,
                              "thread %u process=%u tid=%d name=%s\n",
                              i,
                              p->threads.process[i],
                              p->threads.tid[i],
                              text (p, p->threads.name[i]));
      for (guint32 s = first; s < first + p->threads.n_samples[i]; s++)
        dump_sample (out, p, s);
    }
}

static void
dump_former_names (GString *out, const FlamProfile *p)
{
  const FlamFormerNames *names = &p->former_names;

  for (guint32 i = 0; i < names->n; i++)
    {
      g_string_append (out, "former");
      if (names->thread[i] == FLAM_NONE)
        add_id (out, "process", names->process[i]);
      else
        add_id (out, "thread", names->thread[i]);
      g_string_append_printf (out,
                              " until=%" G_GINT64_FORMAT " %s\n",
                              names->until[i],
                              text (p, names->name[i]));
    }
}

static void
dump_allocations (GString *out, const FlamProfile *p)
{
  const FlamAllocations *a = &p->allocations;

  for (FlamId i = 0; i < a->n; i++)
    {
      g_string_append_printf (
          out, "allocation time=%" G_GINT64_FORMAT, a->time[i]);
      if (a->freed_at[i] != FLAM_NEVER)
        g_string_append_printf (
            out, " freed=%" G_GINT64_FORMAT, a->freed_at[i]);
      add_id (out, "thread", a->thread[i]);
      add_id (out, "stack", a->stack[i]);
      g_string_append_printf (out,
                              " size=%" G_GINT64_FORMAT
                              " count=%" G_GINT64_FORMAT,
                              a->size[i],
                              a->count[i]);
      if (a->at_peak)
        g_string_append_printf (
            out, " at_peak=%" G_GINT64_FORMAT, a->at_peak[i]);
      if (a->distance[i] != G_MAXUINT16)
        g_string_append_printf (out, " distance=%u", a->distance[i]);
      if (a->allocator[i])
        g_string_append_printf (out, " allocator=%u", a->allocator[i]);
      g_string_append_c (out, '\n');
    }
}

static void
dump_counters_and_marks (GString *out, const FlamProfile *p)
{
  for (guint c = 0; c < p->n_counters; c++)
    {
      const FlamCounter *counter = &p->counters[c];

      g_string_append_printf (out, "counter %s", text (p, counter->id));
      for (guint32 i = 0; i < counter->n; i++)
        g_string_append_printf (out,
                                " %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT,
                                counter->time[i],
                                counter->value[i]);
      g_string_append_c (out, '\n');
    }
  for (FlamId i = 0; i < p->marks.n; i++)
    {
      g_string_append_printf (out,
                              "mark time=%" G_GINT64_FORMAT
                              " duration=%" G_GINT64_FORMAT,
                              p->marks.time[i],
                              p->marks.duration[i]);
      add_id (out, "thread", p->marks.thread[i]);
      g_string_append_printf (out, " %s\n", text (p, p->marks.name[i]));
    }
}

char *
flam_dump_profile (const FlamProfile *profile)
{
  GString *out = g_string_new (NULL);

  dump_facts (out, &profile->facts);
  dump_measures (out, profile);
  dump_code (out, profile);
  dump_threads (out, profile);
  dump_former_names (out, profile);
  dump_allocations (out, profile);
  dump_counters_and_marks (out, profile);
  return g_string_free (out, FALSE);
}

/* --- folded -------------------------------------------------------------- */

static const char *
annotation (const FlamTree *tree, FlamId node)
{
  FlamId function = flam_tree_function (tree, node);

  if (function == FLAM_NONE)
    return "";
  switch (tree->profile->functions.kind[function])
    {
    case FLAM_KIND_KERNEL:
      return "_[k]";
    case FLAM_KIND_JIT:
      return "_[j]";
    case FLAM_KIND_WAKER:
      return "_[w]";
    default:
      return tree->profile->functions.flags[function] & FLAM_FUNCTION_INLINED
                 ? "_[i]"
                 : "";
    }
}

static void
add_folded_name (GString *path,
                 const FlamTree *tree,
                 FlamId node,
                 gboolean annotate)
{
  if (tree->depth[node] > 1)
    g_string_append_c (path, ';');
  for (const char *p = flam_tree_name (tree, node); *p; p++)
    g_string_append_c (path, *p == ';' ? ':' : *p == '\n' ? ' ' : *p);
  if (tree->by == FLAM_BY_LINE && tree->line[node] != 0)
    g_string_append_printf (path, ":%u", tree->line[node]);
  if (annotate)
    g_string_append (path, annotation (tree, node));
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

guint64
flam_dump_paths_size (const FlamTree *tree, guint width)
{
  /* Of the path of the last node at each depth. */
  g_autofree guint64 *lengths = g_new0 (guint64, tree->max_depth + 1);
  guint64 size = 0;

  for (FlamId i = 1; i < tree->n; i++)
    {
      guint32 depth = tree->depth[i];
      guint64 own = width != 0 ? width : strlen (flam_tree_name (tree, i)) + 1;

      lengths[depth] = lengths[depth - 1] + own;
      if (tree->self[i] != 0)
        size += lengths[depth];
    }
  return size;
}

char *
flam_dump_folded (const FlamTree *tree, gboolean annotate)
{
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) path = g_string_new (NULL);
  /* Length of the path of the last node at each depth. */
  g_autofree gsize *lengths = g_new0 (gsize, tree->max_depth + 1);
  GString *out = g_string_new (NULL);

  for (FlamId i = 0; i < tree->n; i++)
    {
      g_autofree char *weight = NULL;

      if (i > 0)
        {
          g_string_truncate (path, lengths[tree->depth[i] - 1]);
          add_folded_name (path, tree, i, annotate);
        }
      lengths[tree->depth[i]] = path->len;
      if (tree->self[i] == 0)
        continue;
      weight = flam_format_plain (measure, tree->self[i]);
      g_ptr_array_add (lines, g_strconcat (path->str, " ", weight, NULL));
    }
  g_ptr_array_sort (lines, compare_lines);
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (out, "%s\n", (char *)lines->pdata[i]);
  return g_string_free (out, FALSE);
}

char *
flam_dump_tree (const FlamTree *tree, guint depth, double min_share)
{
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];
  GString *out = g_string_new (NULL);

  for (FlamId i = 0; i < tree->n;)
    {
      g_autofree char *self = flam_format_plain (measure, tree->self[i]);
      g_autofree char *total = flam_format_plain (measure, tree->total[i]);

      if (tree->depth[i] > depth || tree->total[i] < min_share * tree->total[0])
        {
          i = tree->subtree_end[i];
          continue;
        }
      g_string_append_printf (out,
                              "%*s%s",
                              (int)MIN (2 * tree->depth[i], 10000),
                              "",
                              flam_tree_name (tree, i));
      if (tree->line[i])
        g_string_append_printf (out, ":%u", tree->line[i]);
      g_string_append_printf (out, " self=%s total=%s\n", self, total);
      i++;
    }
  return g_string_free (out, FALSE);
}
