/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-batch.h"

#include <string.h>

static FlamBatch *
batch_new (gsize size)
{
  FlamBatch *batch = g_new0 (FlamBatch, 1);

  batch->size = size;
  batch->data = g_malloc (size);
  return batch;
}

static void
batch_free (gpointer data)
{
  FlamBatch *batch = data;

  g_free (batch->data);
  g_free (batch);
}

void
flam_pipe_init (FlamPipe *pipe)
{
  memset (pipe, 0, sizeof *pipe);
  pipe->full = g_async_queue_new_full (batch_free);
  pipe->empty = g_async_queue_new_full (batch_free);
}

void
flam_pipe_clear (FlamPipe *pipe)
{
  g_clear_pointer (&pipe->current, batch_free);
  g_clear_pointer (&pipe->full, g_async_queue_unref);
  g_clear_pointer (&pipe->empty, g_async_queue_unref);
}

static void
hand_over (FlamPipe *pipe)
{
  if (pipe->current != NULL)
    g_async_queue_push (pipe->full, g_steal_pointer (&pipe->current));
}

static gboolean
take_batch (FlamPipe *pipe, gsize size, gboolean may_fail)
{
  FlamBatch *batch = NULL;

  if (size <= FLAM_BATCH_SIZE)
    {
      batch = g_async_queue_try_pop (pipe->empty);
      if (batch == NULL && may_fail && pipe->n_batches >= FLAM_BATCH_MAX)
        return FALSE;
    }
  else if (may_fail &&
           (gsize)g_atomic_int_get (&pipe->large) + size > FLAM_BATCH_LARGE_MAX)
    return FALSE;
  if (batch == NULL)
    {
      batch = batch_new (MAX (size, FLAM_BATCH_SIZE));
      if (batch->size == FLAM_BATCH_SIZE)
        pipe->n_batches++;
      else
        g_atomic_int_add (&pipe->large, (gint)batch->size);
    }
  batch->used = 0;
  pipe->current = batch;
  pipe->began = 0;
  return TRUE;
}

static gsize
message_size (gsize n_data)
{
  return sizeof (FlamMessage) + ((n_data + 15) & ~(gsize)15);
}

FlamMessage *
flam_pipe_reserve (FlamPipe *pipe,
                   FlamMessageKind kind,
                   guint n_items,
                   gsize n_data,
                   gboolean may_fail)
{
  gsize size = message_size (n_items * sizeof (FlamRuntimeItem) + n_data);

  if (pipe->current != NULL && pipe->current->size - pipe->current->used < size)
    hand_over (pipe);
  if (pipe->current == NULL && !take_batch (pipe, size, may_fail))
    return NULL;
  pipe->open = (FlamMessage *)(pipe->current->data + pipe->current->used);
  memset (pipe->open, 0, sizeof *pipe->open);
  pipe->open->kind = kind;
  pipe->open->n_items = n_items;
  return pipe->open;
}

void
flam_pipe_commit (FlamPipe *pipe, gsize n_data)
{
  gsize all = pipe->open->n_items * sizeof (FlamRuntimeItem) + n_data;
  gsize size = message_size (all);

  pipe->open->size = (guint32)size;
  pipe->open->n_data = (guint32)all;
  if (pipe->current->used == 0)
    pipe->began = pipe->open->time;
  pipe->current->used += size;
  pipe->open = NULL;
}

void
flam_pipe_push (FlamPipe *pipe, gint64 now, gint64 age)
{
  if (pipe->current != NULL && pipe->current->used > 0 &&
      now - pipe->began >= age)
    hand_over (pipe);
}

void
flam_pipe_finish (FlamPipe *pipe)
{
  FlamBatch *last = batch_new (0);

  hand_over (pipe);
  last->last = TRUE;
  g_async_queue_push (pipe->full, last);
}

FlamBatch *
flam_pipe_pop (FlamPipe *pipe, guint64 timeout)
{
  return g_async_queue_timeout_pop (pipe->full, timeout);
}

void
flam_pipe_recycle (FlamPipe *pipe, FlamBatch *batch)
{
  if (batch->size == FLAM_BATCH_SIZE)
    g_async_queue_push_front (pipe->empty, batch);
  else
    {
      g_atomic_int_add (&pipe->large, -(gint)batch->size);
      batch_free (batch);
    }
}
