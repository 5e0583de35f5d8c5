/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-austin.h"
#include "flam-formats.h"
#include "flam-text.h"

#include <string.h>

/* Austin, a sampler of Python's stacks, writes text or, in newer versions,
 * MOJO (flam-mojo.c):
 *
 *    # mode: full                   or wall, cpu, memory
 *    P12;T0:34;app.py:main:3;app.py:work:18 1000
 *
 * Process, thread (before it the interpreter, in versions that have it),
 * frames from the root: file, function, line; last the µs, or the bytes of
 * memory, or the µs, 1 for an idle thread, and the bytes: "1000,0,-4096". Older
 * versions have the three as "1000 4096 -4096": µs, more bytes, fewer bytes; or
 * frames like "work (app.py:18)" and "work (app.py);L18". Source of facts:
 * Austin 3.7, events.h, mojo.h; austin-python. */

#define N_METRICS 3

static gboolean
is_mojo (const FlamSource *source)
{
  return source->size > 4 && memcmp (source->data, "MOJ", 3) == 0 &&
         source->data[3] < 32;
}

/* "P12;T…" */
static gboolean
read_head (const char **p, const char *end, gint64 *pid)
{
  const char *at = *p;

  if (end - at < 5 || *at++ != 'P' || !flam_text_number (&at, end, pid) ||
      end - at < 2 || at[0] != ';' || at[1] != 'T')
    return FALSE;
  *p = at + 2;
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  FlamText head = flam_text_head (source);
  const char *line;
  gsize length;

  if (is_mojo (source))
    return 95;
  if (flam_source_head_has (source, 10, "# austin: "))
    return 95;
  while (flam_text_next (&head, &line, &length))
    if (length > 0 && *line != '#')
      {
        gint64 pid;
        return read_head (&line, line + length, &pid) ? 80 : 0;
      }
  return 0;
}

/* --- samples ------------------------------------------------------------- */

/* The number, or the three with commas between them, at the end of the line;
 * returns how many, 0 for anything else. */
static guint
take_metrics (const char *start, const char **end, gint64 metrics[N_METRICS])
{
  const char *space = memrchr (start, ' ', *end - start);
  const char *p;
  guint n = 0;

  if (space == NULL)
    return 0;
  p = space;
  do
    {
      gboolean negative = *++p == '-';

      p += negative;
      if (n == N_METRICS || !flam_text_number (&p, *end, &metrics[n]))
        return 0;
      if (negative)
        metrics[n] = -metrics[n];
      n++;
    }
  while (p < *end && *p == ',');
  if (p != *end || n == 2)
    return 0;
  *end = space;
  return n;
}

/* "app.py:work:18": split at the last two colons, since files may have more. */
static gboolean
split_colons (const char *text,
              const char *end,
              const char **name,
              const char **line)
{
  const char *colon = memrchr (text, ':', end - text);

  if (colon == NULL)
    return FALSE;
  *line = colon + 1;
  colon = memrchr (text, ':', colon - text);
  if (colon == NULL)
    return FALSE;
  *name = colon + 1;
  return TRUE;
}

/* A text without that form is a name. */
static FlamId
read_frame (FlamAustin *austin, const char *text, const char *end)
{
  const char *name, *digits;
  const char *p;
  gint64 line = 0;
  gboolean python;

  if (!split_colons (text, end, &name, &digits))
    return flam_austin_frame (austin, "", 0, text, end - text, 0, &python);
  p = digits;
  flam_text_number (&p, end, &line);
  return flam_austin_frame (
      austin, text, name - 1 - text, name, digits - 1 - name, line, &python);
}

static FlamId
read_thread (FlamAustin *austin, gint64 pid, const char *text, const char *end)
{
  const char *colon = memchr (text, ':', end - text);
  const char *p = text;
  gint64 interpreter = 0;

  if (colon != NULL && flam_text_number (&p, colon, &interpreter) && p == colon)
    text = colon + 1;
  return flam_austin_thread (austin, pid, interpreter, text, end - text, 10);
}

static FlamId
read_stack (FlamAustin *austin, const char *at, const char *end)
{
  FlamId stack = FLAM_NONE;

  while (at < end)
    {
      const char *stop = memchr (at, ';', end - at);

      if (stop == NULL)
        stop = end;
      if (stop > at)
        stack = flam_builder_stack (
            austin->builder, stack, read_frame (austin, at, stop));
      at = stop + 1;
    }
  return stack;
}

/* The mode is given in the file's first lines, or determined from the first
 * sample. */
static gboolean
read_sample (FlamAustin *austin, const char *at, const char *end)
{
  FlamAustinSample sample = { 0 };
  gint64 metrics[N_METRICS] = { 0 };
  gint64 pid;
  const char *stop;
  guint n;

  if (!read_head (&at, end, &pid))
    return FALSE;
  n = take_metrics (at, &end, metrics);
  if (n == 0)
    return FALSE;
  if (!austin->begun && n == N_METRICS)
    austin->mode = FLAM_AUSTIN_FULL;
  stop = memchr (at, ';', end - at);
  if (stop == NULL)
    stop = end;
  sample.thread = read_thread (austin, pid, at, stop);
  sample.stack = read_stack (austin, stop, end);
  if (austin->mode == FLAM_AUSTIN_MEMORY && n == 1)
    sample.memory = metrics[0];
  else
    sample.time = metrics[0];
  if (n == N_METRICS)
    {
      sample.idle = metrics[1] == 1;
      sample.memory = metrics[2];
    }
  flam_austin_add (austin, &sample);
  return TRUE;
}

/* "# key: value" */
static void
read_comment (FlamAustin *austin, const char *line, const char *end)
{
  const char *key = line + 1;
  const char *colon = memchr (line, ':', end - line);
  const char *value;

  if (colon == NULL)
    return;
  while (key < colon && *key == ' ')
    key++;
  for (value = colon + 1; value < end && *value == ' ';)
    value++;
  flam_austin_tell (austin, key, colon - key, value, end - value);
}

/* --- the importer -------------------------------------------------------- */

static gboolean
read_line (gpointer austin, FlamSlice line)
{
  if (line.length > 0 && *line.text != '#')
    return read_sample (austin, line.text, line.text + line.length);
  if (line.length > 0)
    read_comment (austin, line.text, line.text + line.length);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamAustin austin;
  FlamText text;

  flam_austin_init (&austin, load);
  if (is_mojo (load->source))
    {
      if (!flam_mojo_read (&austin, load, error))
        return FALSE;
    }
  else if (!flam_text_read (&text,
                            load,
                            read_line,
                            &austin,
                            N_ ("samples of Austin"),
                            error))
    return FALSE;
  else if (austin.samples == 0 && text.bad > 0)
    return flam_source_invalid (
        load->source, error, N_ ("no line is a sample of Austin's"));
  flam_austin_begin (&austin);
  return TRUE;
}

const FlamImporter flam_import_austin = {
  .id = "austin",
  .label = "Austin",
  .suffixes = FLAM_LIST (".austin", ".mojo"),
  .mime_types = FLAM_LIST ("application/x-austin"),
  .probe = probe,
  .load = load,
};
