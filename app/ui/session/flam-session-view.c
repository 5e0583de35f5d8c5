/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-session-private.h"

#include "flam-settings.h"
#include "flam-suppression-settings.h"

/* --- shown data ----------------------------------------------------------- */

const FlamProfile *
flam_session_get_profile (FlamSession *self)
{
  return self->profile;
}

FlamBaseline *
flam_session_get_baseline (FlamSession *self)
{
  return self->baseline;
}

const FlamSelection *
flam_session_get_selection (FlamSession *self)
{
  return self->selection;
}

FlamViewData *
flam_session_get_view_data (FlamSession *self)
{
  return self->view_data;
}

const FlamTree *
flam_session_get_tree (FlamSession *self)
{
  return self->view_data != NULL ? self->view_data->tree : NULL;
}

static void
replace_selection (FlamSession *self, FlamSelection *selection)
{
  flam_selection_free (self->selection);
  self->selection = selection;
  flam_session_changed (self, FLAM_SESSION_PROP_SELECTION);
  flam_session_draw (self);
}

void
flam_step_free (gpointer data)
{
  FlamStep *step = data;

  g_clear_pointer (&step->selection, flam_selection_free);
  g_strfreev (step->zoom);
  g_strfreev (step->current);
  g_free (step);
}

static FlamStep *
step_of_now (FlamSession *self)
{
  const FlamTree *tree = flam_session_get_tree (self);
  FlamStep *step = g_new0 (FlamStep, 1);

  step->selection = flam_selection_copy (self->selection);
  step->zoom =
      tree != NULL ? flam_tree_get_path (tree, self->zoom) : g_new0 (char *, 1);
  step->current = tree != NULL ? flam_tree_get_path (tree, self->current)
                               : g_new0 (char *, 1);
  return step;
}

void
flam_session_select (FlamSession *self, FlamSelection *selection)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  g_return_if_fail (self->selection != NULL);
  if (flam_selection_equal (self->selection, selection))
    {
      flam_selection_free (selection);
      return;
    }
  if (self->undo->len == FLAM_SESSION_UNDO_MAX)
    g_ptr_array_remove_index (self->undo, 0);
  g_ptr_array_add (self->undo, step_of_now (self));
  g_clear_pointer (&self->restore, flam_step_free);
  replace_selection (self, selection);
}

const FlamSelection *
flam_session_get_undo (FlamSession *self)
{
  FlamStep *step;

  if (self->undo->len == 0)
    return NULL;
  step = self->undo->pdata[self->undo->len - 1];
  return step->selection;
}

void
flam_session_undo (FlamSession *self)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->undo->len == 0)
    return;
  g_clear_pointer (&self->restore, flam_step_free);
  self->restore = g_ptr_array_steal_index (self->undo, self->undo->len - 1);
  replace_selection (self, g_steal_pointer (&self->restore->selection));
}

static char *
exact_pattern (const char *name)
{
  g_autofree char *escaped = g_regex_escape_string (name, -1);

  return g_strdup_printf ("^%s$", escaped);
}

/* Top frames are not code: they are selected, not matched in stacks. FALSE: no
 * other transform can be applied to them. */
static gboolean
choose_top (FlamSelection *selection,
            FlamTransformKind kind,
            const FlamTree *tree,
            FlamNodeId node)
{
  FlamThreadId thread = flam_tree_thread (tree, node);
  g_autofree char *condition = NULL;

  if ((kind != FLAM_TRANSFORM_FOCUS && kind != FLAM_TRANSFORM_FILTER) ||
      tree->key[node].row == FLAM_NONE)
    return FALSE;
  if (tree->by == FLAM_BY_THREAD)
    {
      flam_selection_no_threads (selection);
      flam_selection_add_thread (selection, thread);
      return TRUE;
    }
  if (tree->by == FLAM_BY_PROCESS)
    {
      flam_selection_no_threads (selection);
      for (FlamId t = 0; t < tree->profile->threads.n; t++)
        if (tree->profile->threads.process[t] == flam_tree_process (tree, node))
          flam_selection_add_thread (selection, t);
      return TRUE;
    }
  condition = g_strdup_printf (
      "%s=%s", selection->by_label, flam_tree_name (tree, node));
  flam_selection_add_label (selection, condition);
  return TRUE;
}

void
flam_session_transform_node (FlamSession *self,
                             FlamTransformKind kind,
                             FlamNodeId node)
{
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *pattern = NULL;
  const FlamTree *tree;
  const char *name;
  gboolean added;

  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->view_data == NULL || node == 0 || node >= self->view_data->tree->n)
    return;
  tree = self->view_data->tree;
  name = flam_tree_name (tree, node);
  pattern = kind == FLAM_TRANSFORM_STOP_AT || kind == FLAM_TRANSFORM_PRUNE
                ? g_strdup (name)
                : exact_pattern (name);
  selection = flam_selection_copy (self->selection);
  if (flam_tree_is_top (tree, node))
    {
      if (choose_top (selection, kind, tree, node))
        flam_session_select (self, g_steal_pointer (&selection));
      return;
    }
  added = tree->by == FLAM_BY_MODULE || tree->by == FLAM_BY_FILE
              ? flam_selection_add_place_transform (
                    selection, kind, tree->by, name, &error)
              : flam_selection_add_transform (selection, kind, pattern, &error);
  if (added)
    flam_session_select (self, g_steal_pointer (&selection));
  else
    flam_session_fail (self, error);
}

/* A capture of many programs: of the whole system, or of several traces. */
#define MANY_PROGRAMS 4
/* Of the processes that init (1) and the kernel (2) start, each one is a
 * program. */
#define LAST_ROOT 2

/* The ancestor that was started first. */
static FlamProcessId
program_of (const FlamProcesses *processes, FlamProcessId process)
{
  /* Parents of a damaged capture may go round in circles. */
  for (guint32 i = 0; i < processes->n; i++)
    {
      FlamId parent = processes->parent[process];

      if (parent == FLAM_NONE ||
          (processes->pid[parent] > 0 && processes->pid[parent] <= LAST_ROOT))
        break;
      process = parent;
    }
  return process;
}

static gboolean
is_of_many_programs (const FlamProfile *profile)
{
  g_autofree gboolean *seen = g_new0 (gboolean, profile->processes.n + 1);
  guint n = 0;

  for (FlamId t = 0; t < profile->threads.n && n < MANY_PROGRAMS; t++)
    {
      FlamProcessId program =
          program_of (&profile->processes, profile->threads.process[t]);

      n += profile->threads.n_samples[t] > 0 && !seen[program];
      seen[program] |= profile->threads.n_samples[t] > 0;
    }
  return n >= MANY_PROGRAMS;
}

FlamSelection *
flam_session_first_selection (FlamSession *self)
{
  FlamSelection *selection = flam_selection_new ();

  if (self->profile != NULL && is_of_many_programs (self->profile))
    selection->by = FLAM_BY_PROCESS;
  selection->no_native = self->interpreted;
  flam_settings_apply_frames (selection);
  flam_suppression_settings_apply (selection, NULL);
  return selection;
}

void
flam_session_reset_selection (FlamSession *self)
{
  FlamSelection *selection;

  g_return_if_fail (FLAM_IS_SESSION (self));
  selection = flam_session_first_selection (self);
  selection->measure = self->selection->measure;
  flam_session_select (self, selection);
}

void
flam_session_set_measure (FlamSession *self, guint measure)
{
  FlamSelection *selection;

  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->profile == NULL || measure >= self->profile->n_measures)
    return;
  if (measure == self->selection->measure)
    return;
  /* Another measure is another view of the same data: changing it is not
   * undone, neither by itself nor together with earlier choices. */
  for (guint i = 0; i < self->undo->len; i++)
    {
      FlamStep *step = self->undo->pdata[i];

      step->selection->measure = measure;
    }
  selection = flam_selection_copy (self->selection);
  selection->measure = measure;
  replace_selection (self, selection);
}

void
flam_session_set_order (FlamSession *self, FlamTreeOrder order)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->order == order)
    return;
  self->order = order;
  self->by_name &= self->live;
  if (self->profile != NULL)
    flam_session_draw (self);
}

/* --- position ------------------------------------------------------------- */

FlamNodeId
flam_session_get_zoom (FlamSession *self)
{
  return self->zoom;
}

static FlamNodeId
clamp_node (FlamSession *self, FlamNodeId node)
{
  return self->view_data != NULL && node < self->view_data->tree->n ? node : 0;
}

/* Keeps the places that the user visits while names are still missing. */
static void
stop_waiting (FlamSession *self)
{
  if (self->restore != NULL && self->restore->waits)
    g_clear_pointer (&self->restore, flam_step_free);
}

void
flam_session_set_zoom (FlamSession *self, FlamNodeId node)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  node = clamp_node (self, node);
  if (self->zoom == node)
    return;
  stop_waiting (self);
  self->zoom = node;
  flam_session_changed (self, FLAM_SESSION_PROP_ZOOM);
}

FlamId
flam_session_get_current (FlamSession *self)
{
  return self->current;
}

guint32
flam_session_get_current_line (FlamSession *self, const char **file)
{
  *file = self->line != 0 ? self->file : "";
  return self->line;
}

guint32
flam_session_get_source_line (FlamSession *self,
                              FlamNodeId node,
                              const char **file)
{
  const FlamTree *tree = flam_session_get_tree (self);
  guint32 line = 0;

  *file = "";
  if (node == self->current)
    line = flam_session_get_current_line (self, file);
  if (line == 0 && tree != NULL && node < tree->n)
    line = flam_tree_source_line (tree, node, file);
  return line;
}

void
flam_session_set_current (FlamSession *self, FlamNodeId node)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  /* The views set the frame again when it changes. */
  if (clamp_node (self, node) != self->current ||
      ((self->whole || self->of != NULL) && self->telling == 0))
    flam_session_set_current_at (self, node, "", 0, FALSE);
}

static void
set_current (FlamSession *self,
             FlamNodeId node,
             const char *file,
             guint32 line,
             gboolean whole,
             FlamViewData *of,
             FlamNodeId merged)
{
  FlamViewData *before = self->of;

  node = clamp_node (self, node);
  if (self->current == node && self->line == line && self->whole == whole &&
      before == of && self->merged == merged &&
      (line == 0 || strcmp (self->file, file) == 0))
    return;
  stop_waiting (self);
  self->current = node;
  self->whole = whole;
  self->of = of != NULL ? flam_view_data_ref (of) : NULL;
  self->merged = merged;
  g_clear_pointer (&before, flam_view_data_unref);
  self->line = line;
  g_free (self->file);
  self->file = line != 0 ? g_strdup (file) : NULL;
  flam_session_changed (self, FLAM_SESSION_PROP_CURRENT);
}

void
flam_session_set_current_at (FlamSession *self,
                             FlamNodeId node,
                             const char *file,
                             guint32 line,
                             gboolean whole)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  set_current (self, node, file, line, whole, NULL, 0);
}

void
flam_session_set_current_of (FlamSession *self,
                             FlamNodeId node,
                             FlamViewData *of,
                             FlamNodeId merged)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  set_current (self, node, "", 0, FALSE, of, merged);
}

FlamViewData *
flam_session_get_current_of (FlamSession *self, FlamNodeId *merged)
{
  *merged = self->merged;
  return self->of;
}

gboolean
flam_session_is_current_whole (FlamSession *self)
{
  return self->whole;
}

gboolean
flam_session_is_moving (FlamSession *self)
{
  return self->moving;
}

void
flam_session_set_moving (FlamSession *self, gboolean moving)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->moving == (moving != FALSE))
    return;
  self->moving = moving != FALSE;
  flam_session_changed (self, FLAM_SESSION_PROP_MOVING);
}

const char *
flam_session_get_page (FlamSession *self)
{
  return self->page;
}

void
flam_session_set_page (FlamSession *self, const char *id)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (g_strcmp0 (self->page, id) == 0)
    return;
  g_free (self->page);
  self->page = g_strdup (id != NULL ? id : "");
  flam_session_changed (self, FLAM_SESSION_PROP_PAGE);
}

const char *
flam_session_get_search (FlamSession *self)
{
  return self->search;
}

FlamRegex *
flam_session_get_search_regex (FlamSession *self)
{
  return self->search_regex;
}

/* The user's text is a regular expression if it is a valid one, otherwise a
 * literal text: "operator[" must find operator[]. */
static void
make_regex (FlamSession *self)
{
  GRegexCompileFlags flags = G_REGEX_OPTIMIZE;

  if (!(self->search_flags & FLAM_SEARCH_CASE))
    flags |= G_REGEX_CASELESS;
  g_clear_pointer (&self->search_regex, flam_regex_unref);
  if (*self->search != '\0' && self->search_flags & FLAM_SEARCH_REGEX)
    self->search_regex = flam_regex_new (self->search, flags, NULL);
  if (*self->search != '\0' && self->search_regex == NULL)
    {
      g_autofree char *letters = g_regex_escape_string (self->search, -1);
      self->search_regex = flam_regex_new (letters, flags, NULL);
    }
  flam_session_changed (self, FLAM_SESSION_PROP_SEARCH);
}

void
flam_session_set_search (FlamSession *self, const char *text)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (text == NULL)
    text = "";
  if (strcmp (self->search, text) == 0)
    return;
  g_free (self->search);
  self->search = g_strdup (text);
  make_regex (self);
}

void
flam_session_set_search_flags (FlamSession *self, FlamSearchFlags flags)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->search_flags == flags)
    return;
  self->search_flags = flags;
  make_regex (self);
}
