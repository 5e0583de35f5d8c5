/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-tell.h"

void
flam_call_tell (FlamTracer *tracer, FlamTask *task, FlamCallEvent event)
{
  FlamMessage *message;

  if (tracer->paused && event.op == FLAM_CALL_BREAK)
    event.size = 1;
  else if (tracer->paused && flam_call_gets (&event, 1))
    return;
  message = flam_pipe_reserve (tracer->pipe, FLAM_MESSAGE_CALL, 0, 0, FALSE);
  message->target = task->target;
  message->task = task;
  message->time = flam_tracer_now (tracer);
  message->event = (guint32)event.op;
  message->at = event.at;
  message->count = (gint64)event.size;
  flam_pipe_commit (tracer->pipe, 0);
  tracer->stats.samples++;
}
