/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-baseline.h"

#include "flam-loader.h"

struct _FlamBaseline
{
  GObject parent_instance;

  FlamBaselineKind kind;
  FlamProfile *profile;
  char *title;
  gint64 from, to;
  FlamJob *job;
  char *opening; /* the title of what the job reads */
};

enum
{
  SIGNAL_STARTED,
  SIGNAL_CHANGED,
  SIGNAL_FAILED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamBaseline, flam_baseline, G_TYPE_OBJECT)

static void
forget (FlamBaseline *self)
{
  self->kind = FLAM_BASELINE_NONE;
  g_clear_pointer (&self->profile, flam_profile_unref);
  g_clear_pointer (&self->title, g_free);
}

static void
on_loaded (gpointer result, const GError *error, gpointer data)
{
  FlamBaseline *self = data;

  if (error != NULL)
    {
      g_clear_pointer (&self->opening, g_free);
      g_signal_emit (self, signals[SIGNAL_FAILED], 0, error);
      return;
    }
  forget (self);
  self->kind = FLAM_BASELINE_CAPTURE;
  self->profile = result;
  self->title = g_steal_pointer (&self->opening);
  g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
}

void
flam_baseline_open (FlamBaseline *self, const char *path)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  g_free (self->opening);
  self->opening = g_filename_display_basename (path);
  flam_job_start (self->job,
                  flam_loader_whole_work,
                  flam_loader_input_new (path, FLAM_WEIGHTS_GUESS),
                  flam_loader_input_free,
                  (GDestroyNotify)flam_profile_unref,
                  on_loaded,
                  self);
  g_signal_emit (self, signals[SIGNAL_STARTED], 0);
}

void
flam_baseline_set_range (FlamBaseline *self, gint64 from, gint64 to)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  flam_baseline_cancel (self);
  forget (self);
  self->kind = FLAM_BASELINE_RANGE;
  self->from = from;
  self->to = to;
  g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
  g_signal_emit (self, signals[SIGNAL_STARTED], 0);
}

void
flam_baseline_cancel (FlamBaseline *self)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  flam_job_cancel (self->job);
  g_clear_pointer (&self->opening, g_free);
}

void
flam_baseline_leave (FlamBaseline *self)
{
  gboolean was = self->kind != FLAM_BASELINE_NONE || self->opening != NULL;

  g_return_if_fail (FLAM_IS_BASELINE (self));
  flam_baseline_cancel (self);
  forget (self);
  if (was)
    g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
}

FlamBaselineKind
flam_baseline_get_kind (FlamBaseline *self)
{
  return self->kind;
}

const FlamProfile *
flam_baseline_get_profile (FlamBaseline *self)
{
  return self->profile;
}

void
flam_baseline_get_range (FlamBaseline *self, gint64 *from, gint64 *to)
{
  *from = self->from;
  *to = self->to;
}

const char *
flam_baseline_get_title (FlamBaseline *self)
{
  if (self->opening != NULL)
    return self->opening;
  return self->title != NULL ? self->title : "";
}

FlamJob *
flam_baseline_get_job (FlamBaseline *self)
{
  return self->job;
}

/* --- object --------------------------------------------------------------- */

static void
flam_baseline_dispose (GObject *object)
{
  FlamBaseline *self = FLAM_BASELINE (object);

  flam_baseline_cancel (self);
  G_OBJECT_CLASS (flam_baseline_parent_class)->dispose (object);
}

static void
flam_baseline_finalize (GObject *object)
{
  FlamBaseline *self = FLAM_BASELINE (object);

  forget (self);
  g_object_unref (self->job);
  G_OBJECT_CLASS (flam_baseline_parent_class)->finalize (object);
}

static guint
add_signal (const char *name, guint n_params, GType param)
{
  return g_signal_new (name,
                       FLAM_TYPE_BASELINE,
                       G_SIGNAL_RUN_LAST,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       G_TYPE_NONE,
                       n_params,
                       param);
}

static void
flam_baseline_class_init (FlamBaselineClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = flam_baseline_dispose;
  object_class->finalize = flam_baseline_finalize;
  signals[SIGNAL_STARTED] = add_signal ("started", 0, G_TYPE_NONE);
  signals[SIGNAL_CHANGED] = add_signal ("changed", 0, G_TYPE_NONE);
  signals[SIGNAL_FAILED] = add_signal ("failed", 1, G_TYPE_ERROR);
}

static void
flam_baseline_init (FlamBaseline *self)
{
  self->job = flam_job_new ();
}

FlamBaseline *
flam_baseline_new (void)
{
  return g_object_new (FLAM_TYPE_BASELINE, NULL);
}
