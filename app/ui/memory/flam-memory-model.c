/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-memory-model.h"

struct _FlamMemoryModel
{
  GObject parent_instance;

  FlamSession *session; /* owns this object */
  FlamJob *job;
  FlamMemorySummary *memory;
  guint watchers;
  gboolean stale;
};

enum
{
  PROP_0,
  PROP_MEMORY,
};

static GParamSpec *memory_property;

G_DEFINE_FINAL_TYPE (FlamMemoryModel, flam_memory_model, G_TYPE_OBJECT)

/* --- on a worker ---------------------------------------------------------- */

typedef struct
{
  FlamViewData *view_data;
  FlamRegex *search;
  FlamNodeId zoom;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_view_data_unref (input->view_data);
  g_clear_pointer (&input->search, flam_regex_unref);
  g_free (input);
}

static gpointer
work (gpointer data, const FlamProgress *progress, GError **error)
{
  Input *input = data;

  return flam_memory_summary_new (input->view_data->profile,
                                  input->view_data->selection,
                                  input->search,
                                  input->view_data->tree,
                                  input->zoom,
                                  progress,
                                  error);
}

static void
take (FlamMemoryModel *self, FlamMemorySummary *memory)
{
  g_clear_pointer (&self->memory, flam_memory_summary_unref);
  self->memory = memory;
  g_object_notify_by_pspec (G_OBJECT (self), memory_property);
}

static void
done (gpointer result, const GError *error, gpointer data)
{
  if (result != NULL)
    take (data, result);
}

static void
refresh (FlamMemoryModel *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  FlamRegex *search = flam_session_get_search_regex (self->session);
  Input *input;

  self->stale = FALSE;
  if (view_data == NULL || !flam_memory_model_is_wanted (self->session))
    {
      flam_job_cancel (self->job);
      take (self, NULL);
      return;
    }
  input = g_new0 (Input, 1);
  input->view_data = flam_view_data_ref (view_data);
  input->search = search != NULL ? flam_regex_ref (search) : NULL;
  input->zoom = flam_session_get_zoom (self->session);
  flam_job_start (self->job,
                  work,
                  input,
                  input_free,
                  (GDestroyNotify)flam_memory_summary_unref,
                  done,
                  self);
}

static void
changed (FlamMemoryModel *self)
{
  self->stale = TRUE;
  if (self->watchers > 0)
    refresh (self);
}

/* --- the object ----------------------------------------------------------- */

gboolean
flam_memory_model_is_wanted (FlamSession *session)
{
  const FlamProfile *profile = flam_session_get_profile (session);
  const FlamSelection *selection = flam_session_get_selection (session);

  return profile != NULL && selection != NULL && profile->allocations.n > 0 &&
         selection->measure < profile->n_measures &&
         profile->measures[selection->measure].source != FLAM_FROM_SAMPLES;
}

FlamMemorySummary *
flam_memory_model_get (FlamMemoryModel *self)
{
  g_return_val_if_fail (FLAM_IS_MEMORY_MODEL (self), NULL);
  return self->memory;
}

static void
watch (FlamMemoryModel *self)
{
  self->watchers++;
  if (self->stale)
    refresh (self);
}

static void
unwatch (FlamMemoryModel *self)
{
  g_return_if_fail (self->watchers > 0);
  self->watchers--;
}

void
flam_memory_model_watch (FlamMemoryModel *self, GtkWidget *view)
{
  g_return_if_fail (FLAM_IS_MEMORY_MODEL (self));
  g_signal_connect_object (
      view, "map", G_CALLBACK (watch), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (
      view, "unmap", G_CALLBACK (unwatch), self, G_CONNECT_SWAPPED);
}

static void
flam_memory_model_get_property (GObject *object,
                                guint prop_id,
                                GValue *value,
                                GParamSpec *pspec)
{
  if (prop_id == PROP_MEMORY)
    g_value_set_pointer (value, FLAM_MEMORY_MODEL (object)->memory);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
flam_memory_model_finalize (GObject *object)
{
  FlamMemoryModel *self = FLAM_MEMORY_MODEL (object);

  flam_job_cancel (self->job);
  g_object_unref (self->job);
  g_clear_pointer (&self->memory, flam_memory_summary_unref);
  G_OBJECT_CLASS (flam_memory_model_parent_class)->finalize (object);
}

static void
flam_memory_model_class_init (FlamMemoryModelClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = flam_memory_model_get_property;
  object_class->finalize = flam_memory_model_finalize;
  memory_property = g_param_spec_pointer (
      "memory",
      NULL,
      NULL,
      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
  g_object_class_install_property (object_class, PROP_MEMORY, memory_property);
}

static void
flam_memory_model_init (FlamMemoryModel *self)
{
  self->job = flam_job_new ();
  self->stale = TRUE;
}

FlamMemoryModel *
flam_memory_model_of (FlamSession *session)
{
  static const char *const notifies[] = { "notify::view-data",
                                          "notify::zoom",
                                          "notify::search" };
  FlamMemoryModel *self = g_object_get_data (G_OBJECT (session), "flam-memory");

  if (self != NULL)
    return self;
  self = g_object_new (FLAM_TYPE_MEMORY_MODEL, NULL);
  self->session = session;
  for (guint i = 0; i < G_N_ELEMENTS (notifies); i++)
    g_signal_connect_object (
        session, notifies[i], G_CALLBACK (changed), self, G_CONNECT_SWAPPED);
  g_object_set_data_full (
      G_OBJECT (session), "flam-memory", self, g_object_unref);
  return self;
}
