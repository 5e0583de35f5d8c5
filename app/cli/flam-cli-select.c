/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-core-picture.h"

#include <string.h>

#define LISTED_MAX 20

/* Resolves the options against a profile: names become rows of its tables. */

static int
find_measure (const FlamProfile *profile, const char *path, const char *id)
{
  int index = flam_profile_find_measure (profile, id);
  g_autoptr (GString) ids = g_string_new (NULL);

  if (index >= 0)
    return index;
  for (guint i = 0; i < profile->n_measures; i++)
    g_string_append_printf (
        ids, " %s", flam_profile_string (profile, profile->measures[i].id));
  flam_cli_error (_ ("%s: no measure “%s”; there are:%s"), path, id, ids->str);
  return -1;
}

/* Samples can be counted and have periods; blocks of memory cannot. */
static gboolean
check_weighing (const FlamCliOptions *options,
                const FlamProfile *profile,
                const char *path,
                const FlamSelection *selection)
{
  const FlamMeasure *measure = &profile->measures[selection->measure];
  const char *id = flam_profile_string (profile, measure->id);

  if (selection->count && measure->source != FLAM_FROM_SAMPLES)
    flam_cli_error (
        _ ("%s: --count applies to samples, and “%s” has none"), path, id);
  else if (options->period && (selection->count || measure->weight == NULL))
    flam_cli_error (_ ("%s: the samples of “%s” have no period"), path, id);
  else
    return TRUE;
  return FALSE;
}

/* The first measure of which the threads spent any in these states: the events
 * that perf counts have no waiting, its off-CPU time has nothing else. */
static guint
default_measure (const FlamProfile *profile, guint states)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  guint first = flam_weights_default_measure (profile);

  selection->states = states;
  for (guint i = first; i < profile->n_measures; i++)
    {
      selection->measure = i;
      if (flam_weights_total (profile, selection) != 0)
        return i;
    }
  return first;
}

/* --event and --measure name the same thing, except for a measure "samples" in
 * files without one: that selects the weight of an event. */
static FlamExit
select_measure (const FlamCliOptions *options,
                const FlamProfile *profile,
                const char *path,
                FlamSelection *selection)
{
  const char *id = options->measure;
  int index;

  if (profile->n_measures == 0)
    {
      flam_cli_error (_ ("%s: the capture has no measures"), path);
      return FLAM_EXIT_REFUSED;
    }
  if (id == NULL && options->growth && options->event == NULL)
    id = "leaked";
  if (g_strcmp0 (id, "samples") == 0 &&
      (options->event != NULL || flam_profile_find_measure (profile, id) < 0))
    {
      selection->count = TRUE;
      id = NULL;
    }
  if (options->event != NULL)
    {
      if (id != NULL && strcmp (id, options->event) != 0)
        return flam_cli_usage (
            _ ("--event %s and --measure %s contradict each other"),
            options->event,
            id);
      id = options->event;
    }
  index = id != NULL ? find_measure (profile, path, id)
                     : (int)default_measure (profile, selection->states);
  if (index < 0)
    return FLAM_EXIT_REFUSED;
  selection->measure = index;
  return check_weighing (options, profile, path, selection) ? FLAM_EXIT_DONE
                                                            : FLAM_EXIT_REFUSED;
}

/* Memray's names have two parts, "0x7f00 (worker-2)"; each of them is
 * accepted. */
static gboolean
is_name (const char *name, const char *word)
{
  const char *inner = strstr (name, " (");
  gsize length = strlen (word);

  if (strcmp (name, word) == 0)
    return TRUE;
  if (!g_str_has_prefix (name, "0x") || inner == NULL)
    return FALSE;
  if ((gsize)(inner - name) == length && strncmp (name, word, length) == 0)
    return TRUE;
  inner += 2;
  return strncmp (inner, word, length) == 0 &&
         strcmp (inner + length, ")") == 0;
}

/* A value of --thread: a row of `info`, a number, or a name. */
static guint
select_thread (const FlamProfile *profile,
               const char *word,
               FlamSelection *selection)
{
  const FlamThreads *threads = &profile->threads;
  gint64 number = -1;
  guint found = 0;

  if (*word == '#' &&
      g_ascii_string_to_signed (word + 1, 10, 1, threads->n, &number, NULL))
    {
      flam_selection_add_thread (selection, (FlamId)number - 1);
      return 1;
    }
  if (g_ascii_string_to_signed (word, 10, 0, G_MAXINT32, &number, NULL))
    for (FlamId t = 0; t < threads->n; t++)
      if (threads->tid[t] == number)
        {
          flam_selection_add_thread (selection, t);
          found++;
        }
  for (FlamId t = 0; t < threads->n && number < 0; t++)
    if (is_name (flam_profile_string (profile, threads->name[t]), word))
      {
        flam_selection_add_thread (selection, t);
        found++;
      }
  return found;
}

static guint
select_process (const FlamProfile *profile,
                gint64 pid,
                FlamSelection *selection)
{
  guint found = 0;

  for (FlamId t = 0; t < profile->threads.n; t++)
    if (profile->processes.pid[profile->threads.process[t]] == pid)
      {
        flam_selection_add_thread (selection, t);
        found++;
      }
  return found;
}

static guint
select_rank (const FlamProfile *profile, gint64 rank, FlamSelection *selection)
{
  guint found = 0;

  for (FlamId t = 0; t < profile->threads.n; t++)
    if (profile->processes.rank[profile->threads.process[t]] == rank + 1)
      {
        flam_selection_add_thread (selection, t);
        found++;
      }
  return found;
}

#define NAMED_MAX 20

/* " #1 main (7), #2 worker (8)" */
static char *
list_threads (const FlamProfile *profile)
{
  GString *text = g_string_new (NULL);
  const FlamThreads *threads = &profile->threads;

  for (FlamId t = 0; t < MIN (threads->n, NAMED_MAX); t++)
    {
      g_string_append_printf (text,
                              "%s #%u %s",
                              t > 0 ? "," : "",
                              t + 1,
                              flam_profile_string (profile, threads->name[t]));
      if (threads->tid[t] >= 0)
        g_string_append_printf (text, " (%d)", threads->tid[t]);
    }
  if (threads->n > NAMED_MAX)
    g_string_append (text, ", …");
  return g_string_free (text, FALSE);
}

static char *
list_processes (const FlamProfile *profile)
{
  GString *text = g_string_new (NULL);
  const FlamProcesses *processes = &profile->processes;
  guint n = 0;

  for (FlamId i = 0; i < processes->n && n <= NAMED_MAX; i++)
    if (processes->pid[i] >= 0 && n++ < NAMED_MAX)
      g_string_append_printf (
          text,
          "%s %d %s",
          n > 1 ? "," : "",
          processes->pid[i],
          flam_profile_string (profile, processes->name[i]));
  g_string_append (text, n == 0 ? " none" : n > NAMED_MAX ? ", …" : "");
  return g_string_free (text, FALSE);
}

static gboolean
select_threads (const FlamCliOptions *options,
                const FlamProfile *profile,
                const char *path,
                FlamSelection *selection)
{
  for (guint i = 0; i < options->threads->len; i++)
    {
      const char *word = options->threads->pdata[i];
      g_autofree char *list = NULL;

      if (select_thread (profile, word, selection) > 0)
        continue;
      list = list_threads (profile);
      flam_cli_error (_ ("%s: no thread “%s”; there are:%s"), path, word, list);
      return FALSE;
    }
  for (guint i = 0; i < options->pids->len; i++)
    {
      gint64 pid = g_array_index (options->pids, gint64, i);
      g_autofree char *list = NULL;

      if (select_process (profile, pid, selection) > 0)
        continue;
      list = list_processes (profile);
      flam_cli_error (
          _ ("%s: no process %" PRId64 "; there are:%s"), path, pid, list);
      return FALSE;
    }
  for (guint i = 0; i < options->ranks->len; i++)
    {
      gint64 rank = g_array_index (options->ranks, gint64, i);

      if (select_rank (profile, rank, selection) > 0)
        continue;
      flam_cli_error (_ ("%s: no rank %" PRId64), path, rank);
      return FALSE;
    }
  return TRUE;
}

/* The existing labels, for the error message about an unknown one. */
static char *
list_labels (const FlamProfile *profile)
{
  GString *list = g_string_new (NULL);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (FlamId i = 0; i < profile->labels.n; i++)
    {
      char *text = g_strdup_printf (
          " %s=%s",
          flam_profile_string (profile, profile->labels.key[i]),
          flam_profile_string (profile, profile->labels.value[i]));

      if (g_hash_table_size (seen) == LISTED_MAX)
        {
          g_string_append (list, " …");
          g_free (text);
          break;
        }
      if (g_hash_table_add (seen, text))
        g_string_append (list, text);
    }
  return g_string_free (list, FALSE);
}

static gboolean
has_key (const FlamProfile *profile, const char *key)
{
  for (FlamId i = 0; i < profile->labels.n; i++)
    if (strcmp (flam_profile_string (profile, profile->labels.key[i]), key) ==
        0)
      return TRUE;
  return FALSE;
}

static gboolean
check_labels (const FlamProfile *profile,
              const char *path,
              const FlamSelection *selection)
{
  guint n = selection->labels != NULL ? selection->labels->len : 0;
  const char *missing = NULL;
  g_autofree char *list = NULL;

  for (guint i = 0; i < n && missing == NULL; i++)
    if (!flam_sample_labels_any (profile, selection->labels->pdata[i]))
      missing = selection->labels->pdata[i];
  if (missing == NULL && selection->by == FLAM_BY_LABEL &&
      !has_key (profile, selection->by_label))
    missing = selection->by_label;
  if (missing == NULL)
    return TRUE;
  list = list_labels (profile);
  flam_cli_error (_ ("%s: no sample with the label “%s”; there are:%s"),
                  path,
                  missing,
                  *list != '\0' ? list : _ (" none"));
  return FALSE;
}

gboolean
flam_cli_parse_sort (const char *text, FlamSort *sort)
{
  *sort = g_strcmp0 (text, "total") == 0 ? FLAM_SORT_TOTAL : FLAM_SORT_SELF;
  return text == NULL || strcmp (text, "self") == 0 ||
         strcmp (text, "total") == 0;
}

gboolean
flam_cli_seconds (const char *text, gint64 *ns)
{
  char *end;
  double seconds = g_ascii_strtod (text, &end);

  if (end == text || *end != 0 || !(seconds >= -9e9 && seconds <= 9e9))
    return FALSE;
  *ns = (gint64)(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5));
  return TRUE;
}

/* A side of a range: empty, seconds (or what the capture counts instead), a
 * mark's name, or "peak", which is
 * included in the range that ends at it. */
static gboolean
select_moment (const FlamProfile *profile,
               const char *path,
               const char *text,
               FlamSelection *selection,
               gint64 *ns)
{
  FlamId mark;

  if (text == NULL || *text == 0)
    return TRUE;
  if (flam_facts_clock (&profile->facts) != FLAM_CLOCK_TIME &&
      g_ascii_string_to_signed (text, 10, 0, G_MAXINT64, ns, NULL))
    return TRUE;
  if (flam_cli_seconds (text, ns))
    return TRUE;
  mark = flam_profile_find_mark (profile, text);
  if (mark != FLAM_NONE)
    *ns = profile->marks.time[mark];
  else if (strcmp (text, "peak") == 0 && profile->allocations.n > 0)
    *ns = flam_allocation_filter_peak_time (profile, selection) +
          (ns == &selection->to);
  else
    {
      flam_cli_error (
          _ ("%s: “%s” is neither a mark nor a number of seconds"), path, text);
      return FALSE;
    }
  return TRUE;
}

static gboolean
select_suppressions (const FlamCliOptions *options, FlamSelection *selection)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gsize length;

  if (options->suppressions == NULL)
    return TRUE;
  if (!g_file_get_contents (options->suppressions, &text, &length, &error))
    {
      flam_cli_follow (error);
      flam_cli_error ("%s", error->message);
      return FALSE;
    }
  selection->suppressions = flam_suppressions_new ();
  if (flam_suppressions_parse (selection->suppressions, text, length, &error))
    return TRUE;
  flam_cli_error ("%s: %s", options->suppressions, error->message);
  return FALSE;
}

/* A range must not be empty, and requires a capture with times. */
static gboolean
check_range (const FlamProfile *profile,
             const char *path,
             const FlamSelection *selection)
{
  const FlamMeasure *measure = &profile->measures[selection->measure];
  gint64 end = profile->facts.duration_ns;

  if (selection->from == G_MININT64 && selection->to == G_MAXINT64)
    return TRUE;
  if (measure->source == FLAM_FROM_SAMPLES && profile->samples.time == NULL)
    flam_cli_error (_ ("%s: the samples of this capture have no times"), path);
  else if (selection->from >= selection->to)
    flam_cli_error (_ ("%s: the time range ends before it begins"), path);
  else if (selection->to <= 0 || (selection->from > end && end > 0))
    flam_cli_error (_ ("%s: the time range is empty: the capture lasts %.9g s"),
                    path,
                    (double)end / 1e9);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_transforms (const FlamProfile *profile,
                  const char *path,
                  const FlamSelection *selection)
{
  g_autoptr (GError) error = NULL;

  if (!flam_selection_check (selection, profile, &error))
    flam_cli_error ("%s: %s", path, error->message);
  return error == NULL;
}

/* Memray's own reports hide what it calls uninteresting. */
static gboolean
hides_irrelevant (const FlamCliOptions *options, const FlamProfile *profile)
{
  return options->report && !options->show_irrelevant &&
         g_str_has_prefix (profile->facts.format, "memray");
}

gboolean
flam_cli_selects (const FlamCliOptions *options)
{
  const FlamSelection *selection = options->selection;

  return options->threads->len + options->pids->len + options->ranks->len > 0 ||
         options->from != NULL || options->to != NULL ||
         selection->transforms->len > 0 || selection->states != FLAM_STATES_ALL;
}

FlamSelection *
flam_cli_select (const FlamCliOptions *options,
                 const FlamProfile *profile,
                 const char *path,
                 FlamExit *status)
{
  g_autoptr (FlamSelection) selection =
      flam_selection_copy (options->selection);

  selection->hide_irrelevant |= hides_irrelevant (options, profile);
  *status = select_measure (options, profile, path, selection);
  if (*status != FLAM_EXIT_DONE)
    return NULL;
  *status = FLAM_EXIT_REFUSED;
  if (!select_threads (options, profile, path, selection) ||
      !check_labels (profile, path, selection) ||
      !select_moment (
          profile, path, options->from, selection, &selection->from) ||
      !select_moment (profile, path, options->to, selection, &selection->to) ||
      !check_range (profile, path, selection) ||
      !check_transforms (profile, path, selection) ||
      !select_suppressions (options, selection))
    return NULL;
  *status = FLAM_EXIT_DONE;
  return g_steal_pointer (&selection);
}

void
flam_cli_not_comparable (const char *base_path,
                         const FlamMeasure *base,
                         const char *base_id,
                         const char *path,
                         const FlamMeasure *measure,
                         const char *id)
{
  flam_cli_error (base->unit != measure->unit
                      ? _ ("%s: “%s” and %s's “%s” have different units; "
                           "choose others with --measure")
                      : _ ("%s: “%s” and %s's “%s” are of different kinds; "
                           "choose others with --measure"),
                  path,
                  id,
                  base_path,
                  base_id);
}

gboolean
flam_cli_comparable (const char *base_path,
                     const FlamTree *base,
                     const char *path,
                     const FlamTree *tree)
{
  FlamMeasure a = flam_tree_measure (base);
  FlamMeasure b = flam_tree_measure (tree);

  if (flam_diff_is_possible (base, tree))
    return TRUE;
  flam_cli_not_comparable (base_path,
                           &a,
                           flam_profile_string (base->profile, a.id),
                           path,
                           &b,
                           flam_profile_string (tree->profile, b.id));
  return FALSE;
}

FlamTree *
flam_cli_tree (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

/* NULL: it has no namesake. */
static const char *
whole_name (FlamCliOptions *options, const FlamTree *tree, FlamNodeId node)
{
  if (!flam_by_is_code (tree->by))
    return NULL;
  if (options->named != tree->profile)
    {
      g_clear_pointer (&options->namesakes, flam_namesakes_unref);
      options->namesakes = flam_namesakes_new (tree->profile);
      options->named = tree->profile;
    }
  return flam_namesakes_get (options->namesakes,
                             flam_tree_function (tree, node));
}

gboolean
flam_cli_is_named (FlamCliOptions *options,
                   const FlamTree *tree,
                   FlamNodeId node,
                   const char *text)
{
  return strcmp (flam_tree_name (tree, node), text) == 0 ||
         g_strcmp0 (whole_name (options, tree, node), text) == 0;
}

char *
flam_cli_name (FlamCliOptions *options, const FlamTree *tree, FlamNodeId node)
{
  const char *name = whole_name (options, tree, node);

  if (name == NULL)
    name = flam_tree_name (tree, node);
  return options->full_names ? g_strdup (name) : flam_format_folded_name (name);
}
