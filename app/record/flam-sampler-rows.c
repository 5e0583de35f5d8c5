/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sampler.h"

/* The rows that samples become. */

static void
write_sample (FlamSampler *sampler,
              const FlamSample *sample,
              gint64 cpu,
              gint64 wall)
{
  gint64 weights[] = { cpu, wall };

  flam_capture_writer_sample (sampler->writer, sample, weights);
  sampler->stats.samples++;
}

/* The CPU time between two samples is half the one's, half the other's. Were it
 * all the later one's, that would weigh the more the later in a burst of work
 * it came, and what the burst ends with would seem to take longer than what it
 * begins with. */
static void
put_running (FlamSampler *sampler,
             FlamTask *task,
             const FlamSample *sample,
             gint64 cpu,
             gint64 wall)
{
  gint64 before = task->holds ? cpu / 2 : 0;

  if (task->holds)
    write_sample (
        sampler, &task->held, task->held_cpu + before, task->held_wall);
  task->held = *sample;
  task->held_cpu = cpu - before;
  task->held_wall = wall;
  task->holds = TRUE;
}

void
flam_sampler_put_sample (FlamSampler *sampler,
                         const FlamMessage *message,
                         FlamId stack)
{
  FlamSample sample = { .thread = message->task->id,
                        .stack = stack,
                        .time = message->time,
                        .state = message->state };

  if (message->state == FLAM_STATE_RUNNING)
    put_running (sampler, message->task, &sample, message->cpu, message->wall);
  else
    write_sample (sampler, &sample, 0, message->wall);
}

static FlamId
not_sampled_stack (FlamSampler *sampler)
{
  FlamFunction function = {
    .name = flam_capture_writer_string (sampler->writer, "[not sampled]"),
    .system_name = flam_capture_writer_string (sampler->writer, ""),
    .file = flam_capture_writer_string (sampler->writer, ""),
    .module = FLAM_NONE,
    .kind = FLAM_KIND_ROOT,
  };
  FlamCaptureFrame frame = { .module = FLAM_NONE };

  if (sampler->not_sampled != FLAM_NONE)
    return sampler->not_sampled;
  frame.function = flam_capture_writer_function (sampler->writer, &function);
  sampler->not_sampled = flam_capture_writer_stack (
      sampler->writer,
      FLAM_NONE,
      flam_capture_writer_frame (sampler->writer, &frame));
  return sampler->not_sampled;
}

static void
put_not_sampled (FlamSampler *sampler, const FlamTask *task, gint64 cpu)
{
  FlamSample sample = { .thread = task->id,
                        .stack = not_sampled_stack (sampler),
                        .time = sampler->now,
                        .event = FLAM_EVENT_NOT_SAMPLED,
                        .state = FLAM_STATE_RUNNING };
  gint64 weights[] = { cpu, 0 };

  sampler->stats.not_sampled += cpu;
  flam_capture_writer_sample (sampler->writer, &sample, weights);
}

/* What a thread used since its last sample is that one's, if it is no more than
 * a sample's usual share: it ended near it. */
void
flam_sampler_put_rest (FlamSampler *sampler, FlamTask *task, gint64 cpu)
{
  if (task->holds && cpu <= (gint64)(1e9 / sampler->options->rate))
    {
      task->held_cpu += cpu;
      cpu = 0;
    }
  if (task->holds)
    write_sample (sampler, &task->held, task->held_cpu, task->held_wall);
  task->holds = FALSE;
  if (cpu > 0 && (sampler->options->what & FLAM_RECORD_CPU))
    put_not_sampled (sampler, task, cpu);
}
