/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gaps.h"
#include "flam-runtime-functions.h"
#include "flam-sampler.h"

/* The rows that are made from samples. */

static void
write_sample (FlamSampler *sampler,
              const FlamSample *sample,
              gint64 cpu,
              gint64 wall)
{
  gint64 weights[] = { cpu, wall, 0 };

  flam_builder_add_sample (sampler->builder, sample, weights);
  sampler->stats.samples++;
}

/* Half of the CPU time between two samples is attributed to each. If all of it
 * were attributed to the later one, a sample would weigh more the later in a
 * burst of work it came, and the end of the burst would seem to take longer
 * than its beginning. */
static void
put_running (FlamSampler *sampler,
             FlamTask *task,
             const FlamSample *sample,
             gint64 cpu,
             gint64 wall)
{
  gint64 cpu_before = task->holds ? cpu / 2 : 0;
  gint64 wall_before = task->holds ? wall / 2 : 0;

  if (!task->holds && task->gaps != NULL)
    {
      FlamGapPiece head = { sample->thread, sample->time, cpu, wall };

      flam_gaps_begin (task->gaps, &head, sample->stack);
      cpu = head.cpu;
      wall = head.ran;
    }
  if (task->holds)
    write_sample (sampler,
                  &task->held,
                  task->held_cpu + cpu_before,
                  task->held_wall + wall_before);
  task->held = *sample;
  task->held_cpu = cpu - cpu_before;
  task->held_wall = wall - wall_before;
  task->holds = TRUE;
}

/* A row that is not a sample, with the kernel's counts. */
static void
put_counted (FlamSampler *sampler,
             FlamSample sample,
             FlamState state,
             gint64 cpu,
             gint64 wall)
{
  gint64 weights[] = { cpu, wall, 0 };

  sample.event = FLAM_EVENT_COUNTED;
  sample.state = (guint8)state;
  if (cpu > 0 || (wall > 0 && (sampler->options->what & FLAM_RECORD_WALL)))
    flam_builder_add_sample (sampler->builder, &sample, weights);
}

static guint32
label_of_waker (FlamSampler *sampler, const FlamMessage *message)
{
  char name[17] = "";
  g_autofree char *text = NULL;
  FlamSampleLabel label = { .key = "woken by" };

  if (message->at == 0)
    return 0;
  g_strlcpy (name, message->comm, sizeof message->comm);
  text = message->at == FLAM_WAKER_OUTSIDE
             ? g_strdup ("outside of the program")
             : g_strdup_printf ("%s (%d)", name, (int)message->at);
  label.value = text;
  return flam_builder_add_labels (sampler->builder, &label, 1);
}

/* The labels of the runtimes that have some; the first set counts. */
static guint32
labels_of (FlamSampler *sampler, const FlamMessage *message)
{
  const FlamRuntimeItem *items = flam_message_items ((FlamMessage *)message);
  guint32 labels = 0;

  if (message->kind == FLAM_MESSAGE_SAME)
    return label_of_waker (sampler, message);
  for (guint i = 0; i < message->n_items && labels == 0; i += 1 + items[i].at)
    {
      const FlamRuntimeProcess *process = items[i].of;

      if (process->runtime->labels && items[i].at > 0)
        labels =
            flam_runtime_function_labels (items[i + 1].of, sampler->builder);
    }
  return labels;
}

void
flam_sampler_put_sample (FlamSampler *sampler,
                         const FlamMessage *message,
                         FlamStackId stack)
{
  FlamSample sample = { .thread = message->task->id,
                        .stack = stack,
                        .time = message->time,
                        .state = message->state,
                        .labels = labels_of (sampler, message) };

  message->task->last_state = message->state;
  if (message->state == FLAM_STATE_RUNNABLE)
    {
      write_sample (sampler, &sample, 0, message->queued);
      return;
    }
  if (message->state == FLAM_STATE_RUNNING)
    put_running (sampler, message->task, &sample, message->cpu, message->ran);
  else
    write_sample (sampler, &sample, 0, message->slept);
  if (message->kind == FLAM_MESSAGE_SAME)
    sample.labels = 0;
  put_counted (sampler, sample, FLAM_STATE_RUNNABLE, 0, message->queued);
}

FlamStackId
flam_sampler_not_sampled (FlamSampler *sampler)
{
  FlamFunction function = {
    .name = flam_builder_string (sampler->builder, "[not sampled]", -1),
    .system_name = flam_builder_string (sampler->builder, "", -1),
    .file = flam_builder_string (sampler->builder, "", -1),
    .module = FLAM_NONE,
    .kind = FLAM_KIND_ROOT,
  };
  FlamRecordedFrame frame = { .module = FLAM_NONE };

  if (sampler->not_sampled != FLAM_NONE)
    return sampler->not_sampled;
  frame.function = flam_builder_function (sampler->builder, &function);
  sampler->not_sampled = flam_builder_stack (
      sampler->builder,
      FLAM_NONE,
      flam_builder_recorded_frame (sampler->builder, &frame));
  return sampler->not_sampled;
}

/* The reason for the last wait is known if that wait was sampled. */
static FlamState
last_wait (const FlamTask *task)
{
  return task->last_state == FLAM_STATE_RUNNING ||
                 task->last_state == FLAM_STATE_RUNNABLE
             ? FLAM_STATE_BLOCKED
             : task->last_state;
}

static void
put_gap (gpointer data, const FlamGapPiece *piece, FlamStackId stack)
{
  FlamSampler *sampler = data;
  FlamSample sample = { .thread = piece->thread,
                        .stack = stack,
                        .time = piece->time };

  if (stack == FLAM_NONE)
    {
      sample.stack = flam_sampler_not_sampled (sampler);
      sampler->stats.not_sampled += piece->cpu;
    }
  put_counted (sampler, sample, FLAM_STATE_RUNNING, piece->cpu, piece->ran);
}

void
flam_sampler_find_siblings (FlamSampler *sampler,
                            FlamTask *task,
                            const char *program)
{
  GHashTable *siblings = task->target->map->siblings;

  if (siblings == NULL || task->tid != task->target->pid)
    return;
  task->gaps = g_hash_table_lookup (siblings, program);
  if (task->gaps != NULL)
    return;
  task->gaps =
      flam_gaps_new ((gint64)(1e9 / sampler->options->rate), put_gap, sampler);
  g_hash_table_insert (siblings, g_strdup (program), task->gaps);
}

/* The end of a program that has siblings. */
static void
put_end_in_gap (FlamSampler *sampler, const FlamMessage *message)
{
  FlamTask *task = message->task;
  FlamGapPiece rest = { task->id, sampler->now, message->cpu, message->ran };

  if (task->holds)
    write_sample (sampler, &task->held, task->held_cpu, task->held_wall);
  flam_gaps_end (task->gaps, &rest, task->holds ? task->held.stack : FLAM_NONE);
}

/* The time that a thread used after its last sample is attributed to that
 * sample if it is no more than a sample's usual share: the thread ended near
 * it. */
static void
put_end (FlamSampler *sampler, const FlamMessage *message)
{
  FlamTask *task = message->task;
  FlamGapPiece rest = { task->id, sampler->now, message->cpu, message->ran };
  gboolean near =
      task->holds && message->cpu <= (gint64)(1e9 / sampler->options->rate);

  if (task->holds)
    write_sample (sampler,
                  &task->held,
                  task->held_cpu + (near ? message->cpu : 0),
                  task->held_wall + (near ? message->ran : 0));
  if (!near && message->cpu > 0)
    put_gap (sampler, &rest, FLAM_NONE);
}

void
flam_sampler_put_rest (FlamSampler *sampler, const FlamMessage *message)
{
  FlamTask *task = message->task;
  FlamSample sample = { .thread = task->id,
                        .stack = task->last_stack,
                        .time = sampler->now };

  if (!(sampler->options->what & FLAM_RECORD_CPU))
    return;
  if (sample.stack == FLAM_NONE)
    sample.stack = flam_sampler_not_sampled (sampler);
  put_counted (sampler, sample, FLAM_STATE_RUNNABLE, 0, message->queued);
  put_counted (sampler, sample, last_wait (task), 0, message->slept);
  if (task->gaps != NULL)
    put_end_in_gap (sampler, message);
  else
    put_end (sampler, message);
  task->holds = FALSE;
}
