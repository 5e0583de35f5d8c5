/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-baseline.h"

#include "flam-loader.h"

struct _FlamBaseline
{
  GObject parent_instance;

  FlamBaselineKind kind;
  FlamProfile *profile;
  char *title;
  FlamSelection *part; /* of the session's own capture */
  FlamScale scale;
  gboolean self;
  FlamJob *job;
  char *opening; /* the title of the capture that the job reads */
};

enum
{
  SIGNAL_STARTED,
  SIGNAL_CHANGED,
  SIGNAL_FAILED,
  SIGNAL_SCALED,
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
  flam_selection_free (self->part);
  self->part = flam_selection_new ();
  self->scale = FLAM_SCALE_NONE;
}

static void
take (FlamBaseline *self, const FlamProfile *profile, char *title)
{
  FlamProfile *kept = flam_profile_ref (profile);

  forget (self);
  self->kind = FLAM_BASELINE_CAPTURE;
  self->profile = kept;
  self->title = title;
  g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
}

static void
on_loaded (gpointer result, const GError *error, gpointer data)
{
  FlamBaseline *self = data;
  g_autoptr (FlamProfile) profile = result;

  if (error != NULL)
    {
      g_clear_pointer (&self->opening, g_free);
      g_signal_emit (self, signals[SIGNAL_FAILED], 0, error);
      return;
    }
  take (self, profile, g_steal_pointer (&self->opening));
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
flam_baseline_take (FlamBaseline *self,
                    const FlamProfile *profile,
                    const char *title)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  flam_baseline_cancel (self);
  take (self, profile, g_strdup (title));
  g_signal_emit (self, signals[SIGNAL_STARTED], 0);
}

/* --- part of the capture ---------------------------------------------------
 */

static void
begin_part (FlamBaseline *self, FlamBaselineKind kind)
{
  flam_baseline_cancel (self);
  forget (self);
  self->kind = kind;
}

static void
tell_part (FlamBaseline *self)
{
  g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
  g_signal_emit (self, signals[SIGNAL_STARTED], 0);
}

/* Ranges are scaled to the same length and other parts are not, until the user
 * chooses otherwise. */
void
flam_baseline_set_range (FlamBaseline *self, gint64 from, gint64 to)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  begin_part (self, FLAM_BASELINE_RANGE);
  self->part->from = from;
  self->part->to = to;
  self->scale = FLAM_SCALE_TIME;
  tell_part (self);
}

void
flam_baseline_set_threads (FlamBaseline *self,
                           const FlamThreadId *threads,
                           guint n)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  g_return_if_fail (n > 0);
  begin_part (self, FLAM_BASELINE_THREADS);
  for (guint i = 0; i < n; i++)
    flam_selection_add_thread (self->part, threads[i]);
  tell_part (self);
}

void
flam_baseline_set_measure (FlamBaseline *self, guint measure)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  begin_part (self, FLAM_BASELINE_MEASURE);
  self->part->measure = measure;
  tell_part (self);
}

void
flam_baseline_carry (FlamBaseline *self,
                     const FlamProfile *from,
                     const FlamProfile *to)
{
  FlamSelection *part;

  g_return_if_fail (FLAM_IS_BASELINE (self));
  if (self->kind != FLAM_BASELINE_THREADS &&
      self->kind != FLAM_BASELINE_MEASURE)
    return;
  part = flam_loader_carry_selection (from, self->part, to);
  flam_selection_free (self->part);
  self->part = part;
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

void
flam_baseline_repeat (FlamBaseline *self)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  if (self->kind != FLAM_BASELINE_NONE || self->opening != NULL)
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

const FlamSelection *
flam_baseline_get_part (FlamBaseline *self)
{
  return self->part;
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

/* --- modes -----------------------------------------------------------------
 */

void
flam_baseline_set_scale (FlamBaseline *self, FlamScale scale)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  if (self->scale == scale)
    return;
  self->scale = scale;
  g_signal_emit (self, signals[SIGNAL_SCALED], 0);
}

FlamScale
flam_baseline_get_scale (FlamBaseline *self)
{
  return self->scale;
}

void
flam_baseline_set_self (FlamBaseline *self, gboolean own)
{
  g_return_if_fail (FLAM_IS_BASELINE (self));
  if (self->self == own)
    return;
  self->self = own;
  g_signal_emit (self, signals[SIGNAL_SCALED], 0);
}

gboolean
flam_baseline_get_self (FlamBaseline *self)
{
  return self->self;
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

  g_clear_pointer (&self->profile, flam_profile_unref);
  g_free (self->title);
  flam_selection_free (self->part);
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
  signals[SIGNAL_SCALED] = add_signal ("scaled", 0, G_TYPE_NONE);
}

static void
flam_baseline_init (FlamBaseline *self)
{
  self->job = flam_job_new ();
  self->part = flam_selection_new ();
}

FlamBaseline *
flam_baseline_new (void)
{
  return g_object_new (FLAM_TYPE_BASELINE, NULL);
}
