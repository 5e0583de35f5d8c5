/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of R's profiler, Rprof():
 *
 *    line profiling: sample.interval=20000           µs
 *    #File 1: model.R
 *    "leaf" 1#4 "mid" 1#9                            a sample, leaf first
 *    :14032:8211:1200:3:"leaf" "mid"                 with memory.profiling
 *
 * Places, "file#line", are of the calls and are left out here, as memory is:
 * amounts in use, and not those of a sample. Source: R's manual of Rprof(), and
 * summaryRprof() in its package utils. */

#include "flam-stack-text.h"

#define INTERVAL "sample.interval="

static gboolean
read_rprof (FlamStackText *text, FlamSlice line)
{
  const char *p = line.text, *end = line.text + line.length;
  gint64 interval = flam_slice_number_after (line, INTERVAL);

  if (interval > 0)
    {
      flam_stack_text_are_times (text);
      text->count = interval;
      return TRUE;
    }
  if (line.length == 0 || *p == '#')
    return TRUE;
  if (text->count == 0)
    return FALSE;
  while ((p = memchr (p, '"', end - p)) != NULL)
    {
      const char *close = memchr (p + 1, '"', end - p - 1);

      if (close == NULL)
        {
          flam_stack_text_drop (text);
          return FALSE;
        }
      flam_stack_text_frame (text, (FlamSlice){ p + 1, close - p - 1 });
      p = close + 1;
    }
  flam_stack_text_end (text, text->count);
  return TRUE;
}

static void
parse_rprof (FlamSlice text, FlamTextFrame *frame)
{
  frame->name = text;
  if (flam_slice_is (text, "<GC>"))
    frame->kind = FLAM_KIND_ROOT;
}

static guint
probe_rprof (const FlamSource *source)
{
  FlamText head = flam_text_plain_head (source);
  FlamSlice line;

  return flam_text_next (&head, &line.text, &line.length) &&
                 flam_slice_number_after (line, INTERVAL) > 0
             ? 90
             : 0;
}

static const FlamDialect dialect_rprof = {
  N_ ("output of Rprof"), read_rprof, parse_rprof, .kind = FLAM_KIND_INTERPRETED
};

FLAM_STACK_TEXT_IMPORTER (
    rprof, "rprof", "R Rprof", "R's Rprof()", ".Rprof", ".out")
