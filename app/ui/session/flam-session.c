/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-session-private.h"

#include "flam-settings.h"

#include <glib/gi18n.h>

enum
{
  SIGNAL_BEGUN,
  SIGNAL_OPENED,
  SIGNAL_FAILED,
  SIGNAL_SYMBOLIZED,
  SIGNAL_DOWNLOADED,
  SIGNAL_OPEN_IN_EDITOR,
  SIGNAL_SHOW_CALLERS,
  SIGNAL_SHOW_CHANGES,
  N_SIGNALS
};

static GParamSpec *properties[FLAM_SESSION_N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamSession, flam_session, G_TYPE_OBJECT)

void
flam_session_changed (FlamSession *self, guint property)
{
  self->telling++;
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
  self->telling--;
  if (property == FLAM_SESSION_PROP_SELECTION ||
      property == FLAM_SESSION_PROP_ZOOM ||
      property == FLAM_SESSION_PROP_CURRENT ||
      property == FLAM_SESSION_PROP_PAGE)
    flam_session_state_queue (self);
}

void
flam_session_repeat (FlamSession *self)
{
  static const FlamSessionProperty repeated[] = {
    FLAM_SESSION_PROP_PROFILE, FLAM_SESSION_PROP_SELECTION,
    FLAM_SESSION_PROP_PAGE,    FLAM_SESSION_PROP_VIEW_DATA,
    FLAM_SESSION_PROP_ZOOM,    FLAM_SESSION_PROP_CURRENT,
  };

  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->profile == NULL)
    return;
  self->telling++;
  for (guint i = 0; i < G_N_ELEMENTS (repeated); i++)
    g_object_notify_by_pspec (G_OBJECT (self), properties[repeated[i]]);
  self->telling--;
  flam_baseline_repeat (self->baseline);
  if (self->opened && self->stage == STAGE_DONE && !self->live &&
      !flam_job_is_busy (self->symbolize))
    g_signal_emit (self, signals[SIGNAL_SYMBOLIZED], 0);
}

void
flam_session_fail (FlamSession *self, const GError *error)
{
  g_signal_emit (self, signals[SIGNAL_FAILED], 0, error);
}

/* --- drawing -------------------------------------------------------------- */

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamTreeOrder order;
  FlamViewData *before; /* or NULL */
} DrawInput;

static void
draw_input_free (gpointer data)
{
  DrawInput *input = data;

  flam_profile_unref (input->profile);
  flam_selection_free (input->selection);
  g_clear_pointer (&input->before, flam_view_data_unref);
  g_free (input);
}

static gpointer
draw_work (gpointer data, const FlamProgress *progress, GError **error)
{
  DrawInput *input = data;

  if (!flam_selection_check (input->selection, input->profile, error))
    return NULL;
  return flam_view_data_new (input->profile,
                             input->selection,
                             input->order,
                             input->before,
                             progress,
                             error);
}

static FlamId
find_again (FlamViewData *before, FlamNodeId node, FlamViewData *after)
{
  if (before == NULL || node == 0)
    return 0;
  return flam_tree_find_again (before->tree, node, after->tree);
}

static gboolean
is_whole (const FlamTree *tree, FlamNodeId node, char *const *names)
{
  return tree->depth[node] == g_strv_length ((char **)names);
}

/* The zoom is kept if its path exists. If a transform has moved it elsewhere,
 * the whole graph is shown. */
static void
find_current (FlamSession *self, FlamViewData *before)
{
  const FlamTree *tree = self->view_data->tree;
  FlamStep *step = self->restore;

  self->merged = 0;
  g_clear_pointer (&self->of, flam_view_data_unref);
  if (step != NULL)
    {
      self->line = 0;
      self->whole = FALSE;
      self->zoom = flam_tree_find_names (tree, (const char *const *)step->zoom);
      self->current =
          flam_tree_find_names (tree, (const char *const *)step->current);
      if (!step->waits || (is_whole (tree, self->zoom, step->zoom) &&
                           is_whole (tree, self->current, step->current)))
        g_clear_pointer (&self->restore, flam_step_free);
      else if (self->stage == STAGE_DONE)
        {
          self->zoom = self->current = 0;
          g_clear_pointer (&self->restore, flam_step_free);
        }
      return;
    }
  self->zoom = before != NULL && self->zoom != 0
                   ? flam_tree_find_path (before->tree, self->zoom, tree)
                   : 0;
  if (self->current == 0)
    self->whole &= tree->self[0] != 0;
  else
    {
      self->current = find_again (before, self->current, self->view_data);
      if (self->current == 0)
        {
          self->line = 0;
          self->whole = FALSE;
        }
    }
}

static void
draw_done (gpointer result, const GError *error, gpointer data)
{
  FlamSession *self = data;
  g_autoptr (FlamViewData) before = NULL;

  if (error != NULL)
    {
      flam_session_fail (self, error);
      return;
    }
  before = g_steal_pointer (&self->view_data);
  self->view_data = result;
  find_current (self, before);
  flam_session_changed (self, FLAM_SESSION_PROP_VIEW_DATA);
  flam_session_changed (self, FLAM_SESSION_PROP_ZOOM);
  flam_session_changed (self, FLAM_SESSION_PROP_CURRENT);
  if (self->growing)
    g_signal_emit (self, signals[SIGNAL_BEGUN], 0);
  else if (!self->opened)
    {
      self->opened = TRUE;
      g_signal_emit (self, signals[SIGNAL_OPENED], 0);
    }
  flam_session_symbolize_more (self);
}

void
flam_session_draw (FlamSession *self)
{
  DrawInput *input = g_new0 (DrawInput, 1);

  input->profile = flam_profile_ref (self->profile);
  input->selection = flam_selection_copy (self->selection);
  input->order = self->by_name && self->order == FLAM_ORDER_TOTAL
                     ? FLAM_ORDER_NAME
                     : self->order;
  if (self->view_data != NULL)
    input->before = flam_view_data_ref (self->view_data);
  flam_job_start (self->draw,
                  draw_work,
                  input,
                  draw_input_free,
                  (GDestroyNotify)flam_view_data_unref,
                  draw_done,
                  self);
}

/* --- properties ------------------------------------------------------------
 */

FlamJob *
flam_session_get_download (FlamSession *self)
{
  return self->download;
}

const char *
flam_session_get_path (FlamSession *self)
{
  return self->path;
}

FlamSourceNames *
flam_session_get_source_names (FlamSession *self)
{
  g_return_val_if_fail (FLAM_IS_SESSION (self), NULL);
  return self->source_names;
}

const char *
flam_session_get_title (FlamSession *self)
{
  return self->title;
}

gboolean
flam_session_is_live (FlamSession *self)
{
  return self->live;
}

gboolean
flam_session_is_growing (FlamSession *self)
{
  return self->growing;
}

/* --- progress ------------------------------------------------------------- */

FlamActivity
flam_session_get_activity (FlamSession *self)
{
  return self->activity;
}

double
flam_session_get_fraction (FlamSession *self)
{
  switch (self->activity)
    {
    case FLAM_ACTIVITY_LOADING:
      return flam_job_get_fraction (self->load);
    case FLAM_ACTIVITY_SYMBOLIZING:
      return flam_job_get_fraction (self->symbolize);
    case FLAM_ACTIVITY_DRAWING:
      return flam_job_get_fraction (self->draw);
    case FLAM_ACTIVITY_NONE:
    default:
      return 0;
    }
}

static void
update_activity (FlamSession *self)
{
  FlamActivity activity = FLAM_ACTIVITY_NONE;

  if (flam_job_is_slow (self->load) && !self->live)
    activity = FLAM_ACTIVITY_LOADING;
  else if (flam_job_is_slow (self->draw))
    activity = FLAM_ACTIVITY_DRAWING;
  else if (flam_job_is_slow (self->symbolize))
    activity = FLAM_ACTIVITY_SYMBOLIZING;
  if (activity == self->activity)
    return;
  self->activity = activity;
  flam_session_changed (self, FLAM_SESSION_PROP_ACTIVITY);
}

static void
update_fraction (FlamSession *self)
{
  if (self->activity != FLAM_ACTIVITY_NONE)
    flam_session_changed (self, FLAM_SESSION_PROP_FRACTION);
}

static FlamJob *
session_job (FlamSession *self)
{
  FlamJob *job = flam_job_new ();

  g_signal_connect_object (job,
                           "notify::slow",
                           G_CALLBACK (update_activity),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (job,
                           "notify::fraction",
                           G_CALLBACK (update_fraction),
                           self,
                           G_CONNECT_SWAPPED);
  return job;
}

/* --- object --------------------------------------------------------------- */

static void
flam_session_dispose (GObject *object)
{
  FlamSession *self = FLAM_SESSION (object);

  flam_session_forget (self);
  G_OBJECT_CLASS (flam_session_parent_class)->dispose (object);
}

static void
flam_session_finalize (GObject *object)
{
  FlamSession *self = FLAM_SESSION (object);

  g_free (self->path);
  flam_source_names_unref (self->source_names);
  g_free (self->title);
  g_free (self->file);
  g_free (self->page);
  g_free (self->kept_page);
  g_free (self->search);
  g_clear_pointer (&self->search_regex, flam_regex_unref);
  g_ptr_array_unref (self->undo);
  g_object_unref (self->load);
  g_object_unref (self->keep);
  g_free (self->cache_file);
  g_object_unref (self->symbolize);
  g_object_unref (self->draw);
  g_object_unref (self->download);
  g_object_unref (self->baseline);
  g_object_unref (self->notes);
  G_OBJECT_CLASS (flam_session_parent_class)->finalize (object);
}

static void
flam_session_get_property (GObject *object,
                           guint prop_id,
                           GValue *value,
                           GParamSpec *pspec)
{
  FlamSession *self = FLAM_SESSION (object);

  switch (prop_id)
    {
    case FLAM_SESSION_PROP_PROFILE:
      g_value_set_pointer (value, self->profile);
      break;
    case FLAM_SESSION_PROP_SELECTION:
      g_value_set_pointer (value, self->selection);
      break;
    case FLAM_SESSION_PROP_VIEW_DATA:
      g_value_set_pointer (value, self->view_data);
      break;
    case FLAM_SESSION_PROP_ZOOM:
      g_value_set_uint (value, self->zoom);
      break;
    case FLAM_SESSION_PROP_CURRENT:
      g_value_set_uint (value, self->current);
      break;
    case FLAM_SESSION_PROP_MOVING:
      g_value_set_boolean (value, self->moving);
      break;
    case FLAM_SESSION_PROP_PAGE:
      g_value_set_string (value, self->page);
      break;
    case FLAM_SESSION_PROP_SEARCH:
      g_value_set_string (value, self->search);
      break;
    case FLAM_SESSION_PROP_ACTIVITY:
      g_value_set_uint (value, self->activity);
      break;
    case FLAM_SESSION_PROP_FRACTION:
      g_value_set_double (value, flam_session_get_fraction (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static guint
plain_signal_of (const char *name, GSignalFlags flags)
{
  return g_signal_new (
      name, FLAM_TYPE_SESSION, flags, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static guint
plain_signal (const char *name)
{
  return plain_signal_of (name, G_SIGNAL_RUN_LAST);
}

static guint
action_signal (const char *name)
{
  return plain_signal_of (name, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION);
}

static void
flam_session_class_init (FlamSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->dispose = flam_session_dispose;
  object_class->finalize = flam_session_finalize;
  object_class->get_property = flam_session_get_property;

  properties[FLAM_SESSION_PROP_PROFILE] =
      g_param_spec_pointer ("profile", NULL, NULL, flags);
  properties[FLAM_SESSION_PROP_SELECTION] =
      g_param_spec_pointer ("selection", NULL, NULL, flags);
  properties[FLAM_SESSION_PROP_VIEW_DATA] =
      g_param_spec_pointer ("view-data", NULL, NULL, flags);
  properties[FLAM_SESSION_PROP_ZOOM] =
      g_param_spec_uint ("zoom", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[FLAM_SESSION_PROP_CURRENT] =
      g_param_spec_uint ("current", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[FLAM_SESSION_PROP_MOVING] =
      g_param_spec_boolean ("moving", NULL, NULL, FALSE, flags);
  properties[FLAM_SESSION_PROP_PAGE] =
      g_param_spec_string ("page", NULL, NULL, "", flags);
  properties[FLAM_SESSION_PROP_SEARCH] =
      g_param_spec_string ("search", NULL, NULL, "", flags);
  properties[FLAM_SESSION_PROP_ACTIVITY] =
      g_param_spec_uint ("activity", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[FLAM_SESSION_PROP_FRACTION] =
      g_param_spec_double ("fraction", NULL, NULL, 0, 1, 0, flags);
  g_object_class_install_properties (
      object_class, FLAM_SESSION_N_PROPS, properties);

  signals[SIGNAL_BEGUN] = plain_signal ("begun");
  signals[SIGNAL_OPENED] = plain_signal ("opened");
  signals[SIGNAL_SYMBOLIZED] = plain_signal ("symbolized");
  signals[SIGNAL_DOWNLOADED] = plain_signal ("downloaded");
  signals[SIGNAL_FAILED] = g_signal_new ("failed",
                                         FLAM_TYPE_SESSION,
                                         G_SIGNAL_RUN_LAST,
                                         0,
                                         NULL,
                                         NULL,
                                         NULL,
                                         G_TYPE_NONE,
                                         1,
                                         G_TYPE_ERROR);
  signals[SIGNAL_OPEN_IN_EDITOR] = action_signal ("open-in-editor");
  signals[SIGNAL_SHOW_CALLERS] = action_signal ("show-callers");
  signals[SIGNAL_SHOW_CHANGES] = action_signal ("show-changes");
}

/* A comparison is shown where the rows that changed most are. */
static void
show_difference (FlamSession *self)
{
  flam_session_set_page (self, "difference");
}

static void
flam_session_init (FlamSession *self)
{
  self->undo = g_ptr_array_new_with_free_func (flam_step_free);
  self->page = g_strdup ("");
  self->source_names = flam_source_names_new ();
  self->notes = g_list_store_new (FLAM_TYPE_NOTE);
  g_signal_connect_object (self->notes,
                           "items-changed",
                           G_CALLBACK (flam_session_state_queue),
                           self,
                           G_CONNECT_SWAPPED);
  self->search = g_strdup ("");
  g_signal_connect_object (flam_settings_get (),
                           "changed::" FLAM_KEY_BINARIES,
                           G_CALLBACK (flam_session_symbolize_again),
                           self,
                           G_CONNECT_SWAPPED);
  self->search_flags = FLAM_SEARCH_REGEX;
  self->load = session_job (self);
  self->keep = flam_job_new ();
  self->symbolize = session_job (self);
  self->draw = session_job (self);
  self->download = flam_job_new ();
  self->baseline = flam_baseline_new ();
  g_signal_connect_object (self->baseline,
                           "started",
                           G_CALLBACK (show_difference),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->baseline,
                           "changed",
                           G_CALLBACK (flam_session_state_queue),
                           self,
                           G_CONNECT_SWAPPED);
}

FlamSession *
flam_session_new (void)
{
  return g_object_new (FLAM_TYPE_SESSION, NULL);
}
