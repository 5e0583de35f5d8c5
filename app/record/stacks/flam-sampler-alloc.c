/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Connects allocation events to the rest of a recording: the same processes,
 * threads and modules. */

#include "flam-sampler.h"

static FlamId
thread_of (gpointer data, pid_t pid, pid_t tid, const char *name)
{
  FlamSampler *sampler = data;
  gboolean known =
      g_hash_table_contains (sampler->threads, GINT_TO_POINTER (tid));
  FlamProcessId process = flam_sampler_process (sampler, pid, FLAM_NONE);
  FlamThreadId thread = flam_sampler_thread (sampler, process, tid);

  if (!known)
    flam_builder_note_thread_name (
        sampler->builder, thread, sampler->now, name);
  return thread;
}

static FlamId
frame_of (gpointer data,
          pid_t pid,
          const char *path,
          guint64 start,
          guint64 end,
          guint64 bias,
          guint64 inode,
          guint64 offset)
{
  FlamSampler *sampler = data;
  FlamMapping mapping = { .start = start,
                          .end = end,
                          .offset = start - bias,
                          .inode = inode,
                          .path = path };
  FlamRecordedFrame frame = { .file = FLAM_NONE,
                              .module = FLAM_NONE,
                              .address = offset,
                              .function = FLAM_NONE };
  const FlamBinary *binary;

  if (start != 0)
    {
      binary = flam_binary_table_get (sampler->binaries, pid, pid, &mapping);
      frame.module = binary->id;
      if (binary->kind == FLAM_BINARY_ANONYMOUS)
        frame.address = bias + offset;
    }
  return flam_builder_recorded_frame (sampler->builder, &frame);
}

gboolean
flam_sampler_record_allocations (FlamSampler *sampler,
                                 gint64 origin,
                                 int spill,
                                 char ***environment,
                                 GError **error)
{
  FlamAllocOwner owner = { thread_of, frame_of, sampler };

  sampler->alloc = flam_alloc_session_new (
      sampler->builder,
      &owner,
      sampler->options->sample_bytes,
      sampler->options->follow,
      sampler->options->runtimes && sampler->options->python,
      flam_record_options_attaches (sampler->options),
      origin,
      spill,
      error);
  if (sampler->alloc == NULL)
    return FALSE;
  /* One measure stands for all of them, even for a program without any
   * block. */
  flam_builder_add_allocation_measure (sampler->builder, FLAM_FROM_PEAK);
  /* Otherwise Python keeps small blocks in pools of its own. */
  if (sampler->options->python_malloc)
    *environment =
        g_environ_setenv (*environment, "PYTHONMALLOC", "malloc", TRUE);
  return TRUE;
}
