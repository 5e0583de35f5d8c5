/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-parts.h"

#include <string.h>

/* Below this size a thread and its tables cost more than they save. */
#define LEAST_PART (4 << 20)
/* The interval of progress reports after the caller's own part. */
#define TOLD_EVERY (20 * G_TIME_SPAN_MILLISECOND)

/* --- cutting ---------------------------------------------------------------
 */

const char *
flam_parts_line_start (const char *at, const char *end)
{
  const char *newline = memchr (at - 1, '\n', end - at + 1);

  return newline != NULL ? newline + 1 : end;
}

guint
flam_parts_of (gsize size, const FlamLoadOptions *options)
{
  guint jobs = options->jobs > 0 ? options->jobs : g_get_num_processors ();
  gsize least = options->least_part > 0 ? options->least_part : LEAST_PART;

  return (guint)CLAMP (size / least, 1, MIN (jobs, FLAM_PARTS_MAX));
}

guint
flam_parts_count (const FlamSource *source,
                  gsize size,
                  const FlamLoadOptions *options)
{
  return source->unpack != NULL ? 1 : flam_parts_of (size, options);
}

void
flam_parts_cut (FlamParts *parts,
                const FlamSource *source,
                const FlamLoadOptions *options,
                FlamPartStart start)
{
  guint wanted = flam_parts_count (source, source->size, options);
  const char *text = (const char *)source->data;
  const char *end = text + source->size;
  const char *at = text;

  flam_text_init (&parts->text[0], source);
  parts->n = 1;
  for (guint i = 1; i < wanted; i++)
    {
      const char *next = text + source->size / wanted * i;
      FlamText *before = &parts->text[parts->n - 1];

      if (next <= at || (next = start (next, end)) >= end)
        continue;
      parts->text[parts->n] = *before;
      parts->text[parts->n].start = parts->text[parts->n].at = at = next;
      parts->text[parts->n].before = 0;
      parts->n++;
      /* Only the last part may end with an incomplete line. */
      before->end = next;
      before->source = NULL;
    }
}

/* --- reading ---------------------------------------------------------------
 */

typedef struct
{
  FlamPartRead read;
  gpointer data;
  guint n;
  const FlamProgress *progress; /* the caller's */
  int stop;
  GAsyncQueue *done;
} Reading;

typedef struct
{
  Reading *reading;
  guint i;
  GThread *thread;
  GError *error;
  gboolean good;
} Part;

static gboolean
go_on (gpointer data, double fraction)
{
  Reading *reading = data;

  return !g_atomic_int_get (&reading->stop);
}

/* On the caller's thread. */
static gboolean
tell (gpointer data, double fraction)
{
  Reading *reading = data;

  if (!flam_progress_step (reading->progress, fraction, NULL))
    g_atomic_int_set (&reading->stop, TRUE);
  return go_on (data, fraction);
}

static gpointer
read_part (gpointer data)
{
  Part *part = data;
  Reading *reading = part->reading;
  FlamProgress progress = { go_on, reading };

  part->good = reading->read (reading->data, part->i, &progress, &part->error);
  if (!part->good)
    g_atomic_int_set (&reading->stop, TRUE);
  g_async_queue_push (reading->done, part);
  return NULL;
}

/* If the system cannot create a thread, this one does the work. */
static void
start_part (Part *part)
{
  part->thread = g_thread_try_new ("part", read_part, part, NULL);
  if (part->thread == NULL)
    read_part (part);
}

static void
wait_for_others (Reading *reading)
{
  for (guint left = reading->n - 1; left > 0;)
    if (g_async_queue_timeout_pop (reading->done, TOLD_EVERY) != NULL)
      left--;
    else
      tell (reading, 1);
}

/* A part that was stopped because of another one is not the cause. */
static gboolean
first_error (Part *parts, guint n, GError **error)
{
  GError *why = NULL;

  for (guint i = 0; i < n; i++)
    {
      gboolean cancelled =
          g_error_matches (parts[i].error, FLAM_ERROR, FLAM_ERROR_CANCELLED);

      if (parts[i].error == NULL)
        continue;
      if (why == NULL ||
          (!cancelled &&
           g_error_matches (why, FLAM_ERROR, FLAM_ERROR_CANCELLED)))
        {
          g_clear_error (&why);
          why = g_steal_pointer (&parts[i].error);
        }
      g_clear_error (&parts[i].error);
    }
  if (why == NULL)
    return TRUE;
  g_propagate_error (error, why);
  return FALSE;
}

gboolean
flam_parts_read (guint n,
                 FlamPartRead read,
                 gpointer data,
                 const FlamProgress *progress,
                 GError **error)
{
  g_autoptr (GAsyncQueue) done = g_async_queue_new ();
  Reading reading = { read, data, n, progress, FALSE, done };
  FlamProgress told = { tell, &reading };
  Part parts[FLAM_PARTS_MAX] = { 0 };

  for (guint i = 0; i < n; i++)
    parts[i] = (Part){ &reading, i };
  for (guint i = 1; i < n; i++)
    start_part (&parts[i]);
  parts[0].good = read (data, 0, &told, &parts[0].error);
  if (!parts[0].good)
    g_atomic_int_set (&reading.stop, TRUE);
  wait_for_others (&reading);
  for (guint i = 1; i < n; i++)
    if (parts[i].thread != NULL)
      g_thread_join (parts[i].thread);
  return first_error (parts, n, error);
}

/* --- leaving ---------------------------------------------------------------
 */

typedef struct
{
  const FlamParts *parts;
  const FlamSource *source;
} Leaving;

static gboolean
leave_part (gpointer data,
            guint i,
            const FlamProgress *progress,
            GError **error)
{
  const Leaving *leaving = data;
  const FlamText *text = &leaving->parts->text[i];

  flam_source_leave_part (
      leaving->source, (const guint8 *)text->start, (const guint8 *)text->end);
  return TRUE;
}

gboolean
flam_parts_leave (const FlamParts *parts,
                  const FlamSource *source,
                  const FlamProgress *progress,
                  GError **error)
{
  Leaving leaving = { parts, source };

  return flam_parts_read (parts->n, leave_part, &leaving, progress, error);
}
