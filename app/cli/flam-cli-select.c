/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-blocks.h"

#include <string.h>

/* What was typed, against a profile: names become rows of its tables. */

/* --- selecting ----------------------------------------------------------- */

static gboolean
select_measure (const FlamCliOptions *options,
                const FlamProfile *profile,
                const char *path,
                FlamSelection *selection)
{
  const char *id = options->event ? options->event : options->measure;
  int index = 0;

  if (profile->n_measures == 0)
    {
      flam_cli_error ("%s: the capture holds no measure", path);
      return FALSE;
    }
  if (id == NULL && options->growth)
    id = "leaked";
  if (id != NULL)
    index = flam_profile_find_measure (profile, id);
  if (index < 0 && strcmp (id, "samples") == 0)
    {
      index = 0;
      selection->count = TRUE;
    }
  if (index < 0)
    {
      g_autoptr (GString) ids = g_string_new (NULL);

      for (guint i = 0; i < profile->n_measures; i++)
        g_string_append_printf (
            ids, " %s", flam_profile_string (profile, profile->measures[i].id));
      flam_cli_error ("%s: no measure “%s”; there are:%s", path, id, ids->str);
      return FALSE;
    }
  selection->measure = index;
  return TRUE;
}

static gboolean
contains (const GArray *numbers, gint64 number)
{
  for (guint i = 0; i < numbers->len; i++)
    if (g_array_index (numbers, gint64, i) == number)
      return TRUE;
  return FALSE;
}

static gboolean
select_threads (const FlamCliOptions *options,
                const FlamProfile *profile,
                const char *path,
                FlamSelection *selection)
{
  if (options->tids->len == 0 && options->pids->len == 0)
    return TRUE;
  for (FlamId t = 0; t < profile->threads.n; t++)
    if (contains (options->tids, profile->threads.tid[t]) ||
        contains (options->pids,
                  profile->processes.pid[profile->threads.process[t]]))
      flam_selection_add_thread (selection, t);
  if (selection->threads != NULL)
    return TRUE;
  flam_cli_error ("%s: no such thread or process; see info", path);
  return FALSE;
}

static gboolean
parse_seconds (const char *text, gint64 *ns)
{
  char *end;
  double seconds = g_ascii_strtod (text, &end);

  if (*end != 0 || !(seconds >= -9e9 && seconds <= 9e9))
    return FALSE;
  *ns = (gint64)(seconds * 1e9);
  return TRUE;
}

/* A side of a range: nothing, seconds, a mark's name, or "peak", which is in
 * the range that it ends. */
static gboolean
select_moment (const FlamProfile *profile,
               const char *path,
               const char *text,
               FlamSelection *selection,
               gint64 *ns)
{
  FlamId mark;

  if (text == NULL || *text == 0 || parse_seconds (text, ns))
    return TRUE;
  mark = flam_profile_find_mark (profile, text);
  if (mark != FLAM_NONE)
    *ns = profile->marks.time[mark];
  else if (strcmp (text, "peak") == 0 && profile->allocations.n > 0)
    *ns = flam_blocks_peak_time (profile, selection) + (ns == &selection->to);
  else
    {
      flam_cli_error (
          "%s: no mark “%s”, and it is no number of seconds", path, text);
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
      flam_cli_error ("%s", error->message);
      return FALSE;
    }
  selection->suppressions = flam_suppressions_new ();
  if (flam_suppressions_parse (selection->suppressions, text, length, &error))
    return TRUE;
  flam_cli_error ("%s: %s", options->suppressions, error->message);
  return FALSE;
}

FlamSelection *
flam_cli_select (const FlamCliOptions *options,
                 const FlamProfile *profile,
                 const char *path)
{
  g_autoptr (FlamSelection) selection =
      flam_selection_copy (options->selection);

  if (!select_measure (options, profile, path, selection) ||
      !select_threads (options, profile, path, selection) ||
      !select_moment (
          profile, path, options->from, selection, &selection->from) ||
      !select_moment (profile, path, options->to, selection, &selection->to) ||
      !select_suppressions (options, selection))
    return NULL;
  return g_steal_pointer (&selection);
}

FlamTree *
flam_cli_tree (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}
