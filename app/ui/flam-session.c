/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-session.h"

#include "flam-loader.h"

#include <glib/gi18n.h>

#define UNDO_MAX 100

/* What is still to be done once the picture is there: the names of functions
 * come fast, inlined functions and lines take longer. */
typedef enum
{
  STAGE_DONE,
  STAGE_FULL,
  STAGE_SYMTAB,
} SymbolStage;

struct _FlamSession
{
  GObject parent_instance;

  char *path;
  char *title;
  FlamProfile *profile;
  FlamSelection *selection;
  GPtrArray *undo; /* FlamSelection, the latest last */
  FlamTreeOrder order;
  FlamExcerpt *excerpt;
  FlamId zoom;
  FlamId current;
  char *search;
  GRegex *search_regex;

  FlamJob *load;
  FlamJob *symbolize;
  FlamJob *draw;
  FlamActivity activity;
  guint opened : 1; /* the first picture of this path was shown */
  guint live : 1;
  SymbolStage stage;
};

enum
{
  PROP_0,
  PROP_PROFILE,
  PROP_SELECTION,
  PROP_EXCERPT,
  PROP_ZOOM,
  PROP_CURRENT,
  PROP_SEARCH,
  PROP_ACTIVITY,
  PROP_FRACTION,
  N_PROPS
};

enum
{
  SIGNAL_OPENED,
  SIGNAL_FAILED,
  SIGNAL_OPEN_IN_EDITOR,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamSession, flam_session, G_TYPE_OBJECT)

static void
changed (FlamSession *self, guint property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

static void
fail (FlamSession *self, const GError *error)
{
  g_signal_emit (self, signals[SIGNAL_FAILED], 0, error);
}

/* --- drawing -------------------------------------------------------------- */

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamTreeOrder order;
} DrawInput;

static void
draw_input_free (gpointer data)
{
  DrawInput *input = data;

  flam_profile_unref (input->profile);
  flam_selection_free (input->selection);
  g_free (input);
}

static gpointer
draw_work (gpointer data, const FlamProgress *progress, GError **error)
{
  DrawInput *input = data;

  return flam_excerpt_new (
      input->profile, input->selection, input->order, progress, error);
}

static FlamId
find_again (FlamExcerpt *before, FlamId node, FlamExcerpt *after)
{
  if (before == NULL || node == 0)
    return 0;
  return flam_tree_find_path (before->tree, node, after->tree);
}

static void start_symbolizing (FlamSession *self);

static void
draw_done (gpointer result, const GError *error, gpointer data)
{
  FlamSession *self = data;
  g_autoptr (FlamExcerpt) before = NULL;

  if (error != NULL)
    {
      fail (self, error);
      return;
    }
  before = g_steal_pointer (&self->excerpt);
  self->excerpt = result;
  self->zoom = find_again (before, self->zoom, self->excerpt);
  self->current = find_again (before, self->current, self->excerpt);
  changed (self, PROP_EXCERPT);
  changed (self, PROP_ZOOM);
  changed (self, PROP_CURRENT);
  if (!self->opened)
    {
      self->opened = TRUE;
      g_signal_emit (self, signals[SIGNAL_OPENED], 0);
    }
  if (self->stage != STAGE_DONE)
    start_symbolizing (self);
}

static void
draw (FlamSession *self)
{
  DrawInput *input = g_new0 (DrawInput, 1);

  input->profile = flam_profile_ref (self->profile);
  input->selection = flam_selection_copy (self->selection);
  input->order = self->order;
  flam_job_start (self->draw,
                  draw_work,
                  input,
                  draw_input_free,
                  (GDestroyNotify)flam_excerpt_unref,
                  draw_done,
                  self);
}

/* --- profiles ------------------------------------------------------------- */

static void
take_profile (FlamSession *self, FlamProfile *profile)
{
  g_autoptr (FlamProfile) before = g_steal_pointer (&self->profile);
  g_autoptr (FlamSelection) selection = g_steal_pointer (&self->selection);

  self->profile = profile;
  if (before != NULL && selection != NULL)
    {
      self->selection =
          flam_loader_carry_selection (before, selection, profile);
      for (guint i = 0; i < self->undo->len; i++)
        {
          FlamSelection *old = self->undo->pdata[i];
          self->undo->pdata[i] =
              flam_loader_carry_selection (before, old, profile);
          flam_selection_free (old);
        }
    }
  else
    self->selection = flam_selection_new ();
  changed (self, PROP_PROFILE);
  changed (self, PROP_SELECTION);
  draw (self);
}

static void
symbolize_done (gpointer result, const GError *error, gpointer data)
{
  FlamSession *self = data;
  g_autoptr (FlamProfile) profile = result;

  if (error != NULL)
    return;
  if (profile != self->profile)
    take_profile (self, g_steal_pointer (&profile));
  else if (self->stage != STAGE_DONE)
    start_symbolizing (self);
}

static void
start_symbolizing (FlamSession *self)
{
  FlamSymbolDetail detail = self->stage == STAGE_SYMTAB
                                ? FLAM_SYMBOL_DETAIL_SYMTAB
                                : FLAM_SYMBOL_DETAIL_FULL;

  self->stage--;
  flam_job_start (self->symbolize,
                  flam_loader_symbolize_work,
                  flam_loader_input_new_symbols (self->profile, detail),
                  flam_loader_input_free,
                  (GDestroyNotify)flam_profile_unref,
                  symbolize_done,
                  self);
}

static void
load_done (gpointer result, const GError *error, gpointer data)
{
  FlamSession *self = data;

  if (error != NULL)
    {
      if (!self->live)
        fail (self, error);
      return;
    }
  self->stage = !self->live && flam_loader_needs_symbols (result) ? STAGE_SYMTAB
                                                                  : STAGE_DONE;
  take_profile (self, result);
}

static void
load (FlamSession *self)
{
  flam_job_cancel (self->symbolize);
  flam_job_start (self->load,
                  flam_loader_load_work,
                  flam_loader_input_new (self->path, self->live),
                  flam_loader_input_free,
                  (GDestroyNotify)flam_profile_unref,
                  load_done,
                  self);
}

static void
forget (FlamSession *self)
{
  flam_job_cancel (self->load);
  flam_job_cancel (self->symbolize);
  flam_job_cancel (self->draw);
  g_clear_pointer (&self->excerpt, flam_excerpt_unref);
  g_clear_pointer (&self->profile, flam_profile_unref);
  g_clear_pointer (&self->selection, flam_selection_free);
  g_ptr_array_set_size (self->undo, 0);
  self->zoom = 0;
  self->current = 0;
  self->opened = FALSE;
  self->stage = STAGE_DONE;
}

void
flam_session_open (FlamSession *self, const char *path)
{
  g_autofree char *copy = g_strdup (path);

  g_return_if_fail (FLAM_IS_SESSION (self));
  forget (self);
  g_free (self->path);
  g_free (self->title);
  self->path = g_steal_pointer (&copy);
  self->title = g_filename_display_basename (self->path);
  self->live = FALSE;
  changed (self, PROP_PROFILE);
  changed (self, PROP_EXCERPT);
  load (self);
}

void
flam_session_reload (FlamSession *self, gboolean live)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  g_return_if_fail (self->path != NULL);
  if (live && (flam_job_is_busy (self->load) || flam_job_is_busy (self->draw)))
    return;
  self->live = live;
  load (self);
}

void
flam_session_follow (FlamSession *self, const char *path, const char *title)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  forget (self);
  g_free (self->path);
  g_free (self->title);
  self->path = g_strdup (path);
  self->title = g_strdup (title);
  self->live = TRUE;
  changed (self, PROP_PROFILE);
  changed (self, PROP_EXCERPT);
}

void
flam_session_cancel (FlamSession *self)
{
  gboolean had_nothing = !self->opened;
  g_autoptr (GError) error = NULL;

  g_return_if_fail (FLAM_IS_SESSION (self));
  flam_job_cancel (self->load);
  flam_job_cancel (self->symbolize);
  flam_job_cancel (self->draw);
  if (!had_nothing || self->live)
    return;
  error = g_error_new (FLAM_ERROR, FLAM_ERROR_CANCELLED, _ ("Cancelled"));
  fail (self, error);
}

const char *
flam_session_get_path (FlamSession *self)
{
  return self->path;
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

/* --- what is shown -------------------------------------------------------- */

const FlamProfile *
flam_session_get_profile (FlamSession *self)
{
  return self->profile;
}

const FlamSelection *
flam_session_get_selection (FlamSession *self)
{
  return self->selection;
}

FlamExcerpt *
flam_session_get_excerpt (FlamSession *self)
{
  return self->excerpt;
}

const FlamTree *
flam_session_get_tree (FlamSession *self)
{
  return self->excerpt != NULL ? self->excerpt->tree : NULL;
}

static void
replace_selection (FlamSession *self, FlamSelection *selection)
{
  flam_selection_free (self->selection);
  self->selection = selection;
  changed (self, PROP_SELECTION);
  draw (self);
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
  if (self->undo->len == UNDO_MAX)
    g_ptr_array_remove_index (self->undo, 0);
  g_ptr_array_add (self->undo, flam_selection_copy (self->selection));
  replace_selection (self, selection);
}

gboolean
flam_session_can_undo (FlamSession *self)
{
  return self->undo->len > 0;
}

void
flam_session_undo (FlamSession *self)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->undo->len > 0)
    replace_selection (
        self, g_ptr_array_steal_index (self->undo, self->undo->len - 1));
}

static char *
exact_pattern (const char *name)
{
  g_autofree char *escaped = g_regex_escape_string (name, -1);

  return g_strdup_printf ("^%s$", escaped);
}

void
flam_session_transform_node (FlamSession *self,
                             FlamTransformKind kind,
                             FlamId node)
{
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *pattern = NULL;
  const char *name;

  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->excerpt == NULL || node == 0 || node >= self->excerpt->tree->n)
    return;
  name = flam_tree_name (self->excerpt->tree, node);
  pattern =
      kind == FLAM_TRANSFORM_PRUNE ? g_strdup (name) : exact_pattern (name);
  selection = flam_selection_copy (self->selection);
  if (flam_selection_add_transform (selection, kind, pattern, &error))
    flam_session_select (self, g_steal_pointer (&selection));
  else
    fail (self, error);
}

void
flam_session_remove_transform (FlamSession *self, guint index)
{
  FlamSelection *selection;

  g_return_if_fail (FLAM_IS_SESSION (self));
  selection = flam_selection_copy (self->selection);
  if (selection->transforms != NULL && index < selection->transforms->len)
    g_ptr_array_remove_index (selection->transforms, index);
  flam_session_select (self, selection);
}

void
flam_session_reset_selection (FlamSession *self)
{
  FlamSelection *selection;

  g_return_if_fail (FLAM_IS_SESSION (self));
  selection = flam_selection_new ();
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
  selection = flam_selection_copy (self->selection);
  selection->measure = measure;
  flam_session_select (self, selection);
}

void
flam_session_set_order (FlamSession *self, FlamTreeOrder order)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->order == order)
    return;
  self->order = order;
  if (self->profile != NULL)
    draw (self);
}

/* --- where the person is -------------------------------------------------- */

FlamId
flam_session_get_zoom (FlamSession *self)
{
  return self->zoom;
}

static FlamId
clamp_node (FlamSession *self, FlamId node)
{
  return self->excerpt != NULL && node < self->excerpt->tree->n ? node : 0;
}

void
flam_session_set_zoom (FlamSession *self, FlamId node)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  node = clamp_node (self, node);
  if (self->zoom == node)
    return;
  self->zoom = node;
  changed (self, PROP_ZOOM);
}

FlamId
flam_session_get_current (FlamSession *self)
{
  return self->current;
}

void
flam_session_set_current (FlamSession *self, FlamId node)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  node = clamp_node (self, node);
  if (self->current == node)
    return;
  self->current = node;
  changed (self, PROP_CURRENT);
}

const char *
flam_session_get_search (FlamSession *self)
{
  return self->search;
}

GRegex *
flam_session_get_search_regex (FlamSession *self)
{
  return self->search_regex;
}

/* What a person types is a regular expression when it is a good one, and else
 * the letters themselves: "operator[" must find operator[]. */
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
  g_clear_pointer (&self->search_regex, g_regex_unref);
  if (*text != '\0')
    self->search_regex =
        g_regex_new (text, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL);
  if (*text != '\0' && self->search_regex == NULL)
    {
      g_autofree char *letters = g_regex_escape_string (text, -1);
      self->search_regex =
          g_regex_new (letters, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL);
    }
  changed (self, PROP_SEARCH);
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
  changed (self, PROP_ACTIVITY);
}

static void
update_fraction (FlamSession *self)
{
  if (self->activity != FLAM_ACTIVITY_NONE)
    changed (self, PROP_FRACTION);
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

  forget (self);
  G_OBJECT_CLASS (flam_session_parent_class)->dispose (object);
}

static void
flam_session_finalize (GObject *object)
{
  FlamSession *self = FLAM_SESSION (object);

  g_free (self->path);
  g_free (self->title);
  g_free (self->search);
  g_clear_pointer (&self->search_regex, g_regex_unref);
  g_ptr_array_unref (self->undo);
  g_object_unref (self->load);
  g_object_unref (self->symbolize);
  g_object_unref (self->draw);
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
    case PROP_PROFILE:
      g_value_set_pointer (value, self->profile);
      break;
    case PROP_SELECTION:
      g_value_set_pointer (value, self->selection);
      break;
    case PROP_EXCERPT:
      g_value_set_pointer (value, self->excerpt);
      break;
    case PROP_ZOOM:
      g_value_set_uint (value, self->zoom);
      break;
    case PROP_CURRENT:
      g_value_set_uint (value, self->current);
      break;
    case PROP_SEARCH:
      g_value_set_string (value, self->search);
      break;
    case PROP_ACTIVITY:
      g_value_set_uint (value, self->activity);
      break;
    case PROP_FRACTION:
      g_value_set_double (value, flam_session_get_fraction (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
flam_session_class_init (FlamSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->dispose = flam_session_dispose;
  object_class->finalize = flam_session_finalize;
  object_class->get_property = flam_session_get_property;

  properties[PROP_PROFILE] =
      g_param_spec_pointer ("profile", NULL, NULL, flags);
  properties[PROP_SELECTION] =
      g_param_spec_pointer ("selection", NULL, NULL, flags);
  properties[PROP_EXCERPT] =
      g_param_spec_pointer ("excerpt", NULL, NULL, flags);
  properties[PROP_ZOOM] =
      g_param_spec_uint ("zoom", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_CURRENT] =
      g_param_spec_uint ("current", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_SEARCH] =
      g_param_spec_string ("search", NULL, NULL, "", flags);
  properties[PROP_ACTIVITY] =
      g_param_spec_uint ("activity", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_FRACTION] =
      g_param_spec_double ("fraction", NULL, NULL, 0, 1, 0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  signals[SIGNAL_OPENED] = g_signal_new ("opened",
                                         FLAM_TYPE_SESSION,
                                         G_SIGNAL_RUN_LAST,
                                         0,
                                         NULL,
                                         NULL,
                                         NULL,
                                         G_TYPE_NONE,
                                         0);
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
  signals[SIGNAL_OPEN_IN_EDITOR] =
      g_signal_new ("open-in-editor",
                    FLAM_TYPE_SESSION,
                    G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
                    0,
                    NULL,
                    NULL,
                    NULL,
                    G_TYPE_NONE,
                    0);
}

static void
flam_session_init (FlamSession *self)
{
  self->undo =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_selection_free);
  self->search = g_strdup ("");
  self->load = session_job (self);
  self->symbolize = session_job (self);
  self->draw = session_job (self);
}

FlamSession *
flam_session_new (void)
{
  return g_object_new (FLAM_TYPE_SESSION, NULL);
}
