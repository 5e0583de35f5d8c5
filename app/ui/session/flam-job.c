/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-job.h"

#include <gio/gio.h>

#define POLL_MS 100
#define SLOW_POLLS 3

typedef struct
{
  FlamJob *job; /* referenced by the task, as long as the work runs */
  FlamJobWork work;
  gpointer input;
  GDestroyNotify input_free;
  GDestroyNotify result_free;
  int cancelled; /* atomic */
  int permille;  /* atomic */
} Run;

struct _FlamJob
{
  GObject parent_instance;
  Run *run; /* NULL: idle */
  FlamJobDone done;
  gpointer data;
  guint poll_id;
  guint polls;
  double fraction;
};

enum
{
  PROP_0,
  PROP_BUSY,
  PROP_SLOW,
  PROP_FRACTION,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (FlamJob, flam_job, G_TYPE_OBJECT)

static void
run_clear (gpointer data)
{
  Run *run = data;

  if (run->input_free != NULL && run->input != NULL)
    run->input_free (run->input);
}

static void
run_unref (gpointer run)
{
  g_atomic_rc_box_release_full (run, run_clear);
}

static gboolean
run_report (gpointer data, double fraction)
{
  Run *run = data;

  g_atomic_int_set (&run->permille, (int)(CLAMP (fraction, 0, 1) * 1000));
  return !g_atomic_int_get (&run->cancelled);
}

/* --- parts ---------------------------------------------------------------- */

typedef struct
{
  FlamJob *job;
  Run *run;
  gpointer part;
} Part;

static void
part_free (gpointer data)
{
  Part *part = data;

  if (part->part != NULL && part->run->result_free != NULL)
    part->run->result_free (part->part);
  run_unref (part->run);
  g_object_unref (part->job);
  g_free (part);
}

static gboolean
take_part (gpointer data)
{
  Part *part = data;
  FlamJob *self = part->job;

  if (part->run == self->run)
    self->done (g_steal_pointer (&part->part), NULL, self->data);
  return G_SOURCE_REMOVE;
}

/* Arrives before the result, which the task returns at the same priority. */
void
flam_job_hand_over (const FlamProgress *progress, gpointer data)
{
  Run *run = progress->data;
  Part *part = g_new0 (Part, 1);

  part->job = g_object_ref (run->job);
  part->run = g_atomic_rc_box_acquire (run);
  part->part = data;
  g_idle_add_full (G_PRIORITY_DEFAULT, take_part, part, part_free);
}

/* --- runs ----------------------------------------------------------------- */

static void
run_thread (GTask *task,
            gpointer source,
            gpointer task_data,
            GCancellable *cancellable)
{
  Run *run = task_data;
  FlamProgress progress = { run_report, run };
  g_autoptr (GError) error = NULL;
  gpointer result = NULL;

  if (!g_atomic_int_get (&run->cancelled))
    result = run->work (run->input, &progress, &error);
  if (result != NULL)
    g_task_return_pointer (task, result, run->result_free);
  else if (error != NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_new_error (
        task, FLAM_ERROR, FLAM_ERROR_CANCELLED, "cancelled");
}

static void
leave (FlamJob *self)
{
  gboolean was_slow = flam_job_is_slow (self);

  g_clear_handle_id (&self->poll_id, g_source_remove);
  g_clear_pointer (&self->run, run_unref);
  self->polls = 0;
  if (was_slow)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SLOW]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

static void
finished (GObject *source, GAsyncResult *result, gpointer user_data)
{
  FlamJob *self = FLAM_JOB (source);
  g_autoptr (GError) error = NULL;
  gpointer value;

  if (g_task_get_task_data (G_TASK (result)) != self->run)
    return;
  value = g_task_propagate_pointer (G_TASK (result), &error);
  leave (self);
  self->done (value, error, self->data);
}

static gboolean
poll_progress (gpointer data)
{
  FlamJob *self = data;

  self->fraction = g_atomic_int_get (&self->run->permille) / 1000.0;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FRACTION]);
  if (++self->polls == SLOW_POLLS)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SLOW]);
  return G_SOURCE_CONTINUE;
}

void
flam_job_start (FlamJob *self,
                FlamJobWork work,
                gpointer input,
                GDestroyNotify input_free,
                GDestroyNotify result_free,
                FlamJobDone done,
                gpointer data)
{
  g_autoptr (GTask) task = NULL;
  Run *run;

  g_return_if_fail (FLAM_IS_JOB (self));
  flam_job_cancel (self);

  run = g_atomic_rc_box_new0 (Run);
  run->job = self;
  run->work = work;
  run->input = input;
  run->input_free = input_free;
  run->result_free = result_free;
  self->run = run;
  self->done = done;
  self->data = data;
  self->fraction = 0;
  self->poll_id = g_timeout_add (POLL_MS, poll_progress, self);

  task = g_task_new (self, NULL, finished, NULL);
  g_task_set_source_tag (task, flam_job_start);
  g_task_set_task_data (task, g_atomic_rc_box_acquire (run), run_unref);
  g_task_run_in_thread (task, run_thread);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FRACTION]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

void
flam_job_cancel (FlamJob *self)
{
  g_return_if_fail (FLAM_IS_JOB (self));
  if (self->run == NULL)
    return;
  g_atomic_int_set (&self->run->cancelled, 1);
  leave (self);
}

gboolean
flam_job_is_busy (FlamJob *self)
{
  g_return_val_if_fail (FLAM_IS_JOB (self), FALSE);
  return self->run != NULL;
}

gboolean
flam_job_is_slow (FlamJob *self)
{
  g_return_val_if_fail (FLAM_IS_JOB (self), FALSE);
  return self->run != NULL && self->polls >= SLOW_POLLS;
}

double
flam_job_get_fraction (FlamJob *self)
{
  g_return_val_if_fail (FLAM_IS_JOB (self), 0);
  return self->fraction;
}

static void
flam_job_dispose (GObject *object)
{
  flam_job_cancel (FLAM_JOB (object));
  G_OBJECT_CLASS (flam_job_parent_class)->dispose (object);
}

static void
flam_job_get_property (GObject *object,
                       guint prop_id,
                       GValue *value,
                       GParamSpec *pspec)
{
  FlamJob *self = FLAM_JOB (object);

  switch (prop_id)
    {
    case PROP_BUSY:
      g_value_set_boolean (value, flam_job_is_busy (self));
      break;
    case PROP_SLOW:
      g_value_set_boolean (value, flam_job_is_slow (self));
      break;
    case PROP_FRACTION:
      g_value_set_double (value, self->fraction);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
flam_job_class_init (FlamJobClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->dispose = flam_job_dispose;
  object_class->get_property = flam_job_get_property;
  properties[PROP_BUSY] =
      g_param_spec_boolean ("busy", NULL, NULL, FALSE, flags);
  properties[PROP_SLOW] =
      g_param_spec_boolean ("slow", NULL, NULL, FALSE, flags);
  properties[PROP_FRACTION] =
      g_param_spec_double ("fraction", NULL, NULL, 0, 1, 0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
flam_job_init (FlamJob *self)
{
}

FlamJob *
flam_job_new (void)
{
  return g_object_new (FLAM_TYPE_JOB, NULL);
}
