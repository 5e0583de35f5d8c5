/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BATCH_H
#define FLAM_BATCH_H

/* Messages on their way from the tracer to the sampler, in batches: the
 * tracer fills one without any lock and hands it over when it is full or old
 * enough, so that the sampler wakes a hundred times a second at most, and the
 * same few buffers stay in the cache.
 *
 *   batch   | message | its stack | message | its stack | ...
 */

#include "flam-task.h"

#define FLAM_BATCH_SIZE (256u << 10)
#define FLAM_BATCH_MAX 128
/* The limit of the bytes on their way in batches with one larger message. */
#define FLAM_BATCH_LARGE_MAX (64u << 20)

typedef struct
{
  gsize used;
  gsize size;
  guint8 *data;
  gboolean last; /* no batch follows this one */
} FlamBatch;

typedef struct
{
  GAsyncQueue *full;
  GAsyncQueue *empty;
  gint large;         /* bytes, atomic */
  guint n_batches;    /* tracer's */
  FlamBatch *current; /* tracer's */
  gint64 began;       /* when `current` got its first message */
  FlamMessage *open;
} FlamPipe;

void flam_pipe_init (FlamPipe *pipe);
void flam_pipe_clear (FlamPipe *pipe);

/* Tracer: returns room for a message with `n_items` items and up to `n_data`
 * bytes after it. All of it is zeroed but the items and the bytes. NULL if
 * the sampler is too far behind, which is only possible with `may_fail`. The
 * caller then fills it and calls flam_pipe_commit() with the bytes used, or
 * calls this again to drop it. */
FlamMessage *flam_pipe_reserve (FlamPipe *pipe,
                                FlamMessageKind kind,
                                guint n_items,
                                gsize n_data,
                                gboolean may_fail);
void flam_pipe_commit (FlamPipe *pipe, gsize n_data);
/* Hands over the current batch if it is older than `age` ns. */
void flam_pipe_push (FlamPipe *pipe, gint64 now, gint64 age);
/* Hands over the rest; no message follows. */
void flam_pipe_finish (FlamPipe *pipe);

/* Sampler: the next batch, or NULL after `timeout` µs. */
FlamBatch *flam_pipe_pop (FlamPipe *pipe, guint64 timeout);
void flam_pipe_recycle (FlamPipe *pipe, FlamBatch *batch);

static inline gpointer
flam_message_data (FlamMessage *message)
{
  return message + 1;
}

/* The managed frames of a sample. */
static inline FlamRuntimeItem *
flam_message_items (FlamMessage *message)
{
  return (FlamRuntimeItem *)(message + 1);
}

static inline gpointer
flam_message_stack (FlamMessage *message)
{
  return flam_message_items (message) + message->n_items;
}

static inline gsize
flam_message_stack_size (const FlamMessage *message)
{
  return message->n_data - message->n_items * sizeof (FlamRuntimeItem) -
         message->n_other - message->n_kernel;
}

/* The addresses of the kernel's part of the stack. */
static inline const guint64 *
flam_message_kernel (FlamMessage *message)
{
  return (const guint64 *)((const char *)flam_message_stack (message) +
                           flam_message_stack_size (message) +
                           message->n_other);
}

#endif
