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
 * Process, thread (before it the interpreter, in versions that have it), frames
 * from the root: file, function, line; last the µs, or the bytes of memory, or
 * the µs, 1 for an idle thread, and the bytes: "1000,0,-4096". Older versions
 * do not record their mode, and write threads in hex:
 *
 *    3.0     P12;T34;app.py:work;L18 1000                  (--alt-format)
 *    2       P12;T7f00aa;work (app.py);L18 1000 4096 0
 *            P12;T7f00aa;work (app.py:18) 1000 0 -4096     (--alt-format)
 *    0.2, 1  Process 12;Thread 7f00aa;work (app.py);L18 1000 4 0
 *
 * The three numbers are µs, more memory, less memory, which version 1 writes
 * in KiB; it names the process with --children alone. Source of facts: Austin
 * 1.0.1, 2.1.1, 3.0.0, 3.7, events.h, mojo.h; austin-python. */

#define N_METRICS 3
#define MAX_MEMORY (G_MAXINT64 / 1024)
/* Lines that are all whole pages are not times by chance. */
#define PAGE 4096
#define MIN_LINES 12

static gboolean
is_mojo (const FlamSource *source)
{
  return source->size > 4 && memcmp (source->data, "MOJ", 3) == 0 &&
         source->data[3] < 32;
}

static gboolean
take (const char **p, const char *end, const char *word)
{
  gsize length = strlen (word);

  if ((gsize)(end - *p) < length || memcmp (*p, word, length) != 0)
    return FALSE;
  *p += length;
  return TRUE;
}

/* "Process 12;Thread 7f00aa" or "Thread 7f00aa", to the number. */
static gboolean
read_old_head (const char **p, const char *end, gint64 *pid)
{
  const char *at = *p;
  const char *number;
  guint64 tid;

  *pid = -1;
  if (take (&at, end, "Process ") &&
      (!flam_text_number (&at, end, pid) || !take (&at, end, ";")))
    return FALSE;
  if (!take (&at, end, "Thread "))
    return FALSE;
  number = at;
  if (!flam_text_hex (&at, end, &tid) || at == end ||
      (*at != ';' && *at != ' '))
    return FALSE;
  *p = number;
  return TRUE;
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

/* "18" */
static gboolean
is_number (const char *text, const char *end)
{
  gint64 value;

  return text < end && *text != '-' && flam_text_number (&text, end, &value) &&
         text == end;
}

/* "L18" */
static gboolean
is_line (const char *text, const char *end)
{
  return end - text > 1 && *text == 'L' && is_number (text + 1, end);
}

/* "work (app.py)", or with its line "work (app.py:18)": `*file` is in the
 * parentheses, and `*line` after the colon or NULL. */
static gboolean
split_parentheses (const char *text,
                   const char *end,
                   const char **file,
                   const char **line)
{
  const char *open = memmem (text, end - text, " (", 2);
  const char *colon;

  if (open == NULL || open == text || end[-1] != ')')
    return FALSE;
  *file = open + 2;
  colon = memrchr (*file, ':', end - *file);
  *line = colon != NULL && is_number (colon + 1, end - 1) ? colon + 1 : NULL;
  return TRUE;
}

/* These contain a frame in the form of versions before 3: "…;work (app.py);L18
 * 1000" or "…;work (app.py:18) 1000". */
static gboolean
has_old_frame (const char *at, const char *end)
{
  const char *file, *line;

  while (at < end)
    {
      const char *next, *stop = memchr (at, ';', end - at);

      if (stop == NULL)
        stop = memrchr (at, ')', end - at);
      stop = stop != NULL && stop > at && *stop == ')' ? stop + 1 : stop;
      if (stop == NULL || stop == at)
        stop = end;
      if (split_parentheses (at, stop, &file, &line))
        {
          next = stop + 1;
          if (line != NULL ||
              (end - next > 1 && *next == 'L' && g_ascii_isdigit (next[1])))
            return TRUE;
        }
      at = stop + 1;
    }
  return FALSE;
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
        const char *end = line + length;
        gint64 pid;

        if (read_head (&line, end, &pid))
          return 80;
        if (!read_old_head (&line, end, &pid))
          return 0;
        if (has_old_frame (line, end))
          return 80;
      }
  return 0;
}

/* --- samples ------------------------------------------------------------- */

/* The number before `*end`, and the rest before it. */
static gboolean
take_last (const char *start, const char **end, gint64 *value)
{
  const char *space = memrchr (start, ' ', *end - start);
  const char *p = space != NULL ? space + 1 : *end;
  gboolean negative;

  if (p == *end)
    return FALSE;
  negative = *p == '-';
  p += negative;
  if (!flam_text_number (&p, *end, value) || p != *end)
    return FALSE;
  if (negative)
    *value = -*value;
  *end = space;
  return TRUE;
}

/* "1000 4096 -8192" */
static gboolean
take_old_metrics (const char *start,
                  const char **end,
                  gint64 metrics[N_METRICS])
{
  const char *at = *end;

  for (guint i = N_METRICS; i > 0; i--)
    if (!take_last (start, &at, &metrics[i - 1]))
      return FALSE;
  metrics[2] += metrics[1];
  metrics[1] = 0;
  *end = at;
  return TRUE;
}

/* The number, or the three, at the end of the line; returns how many, 0 for
 * anything else. */
static guint
take_metrics (const char *start, const char **end, gint64 metrics[N_METRICS])
{
  const char *space = memrchr (start, ' ', *end - start);
  const char *p;
  guint n = 0;

  if (space == NULL)
    return 0;
  if (take_old_metrics (start, end, metrics))
    return N_METRICS;
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

/* `digits` is the line that follows, or NULL. A text without one of the forms
 * is a name. */
static FlamFrameId
read_frame (FlamAustin *austin,
            const char *text,
            const char *end,
            const char *digits,
            const char *digits_end)
{
  FlamSlice name = { text, end - text };
  FlamSlice file = { "", 0 };
  const char *at, *number;
  gint64 line = 0;
  gboolean python;

  if (split_parentheses (text, end, &at, &number))
    {
      const char *stop = end;

      if (digits == NULL && number != NULL)
        {
          digits = stop = number;
          digits_end = end - 1;
        }
      name.length = at - 2 - text;
      file = (FlamSlice){ at, stop - 1 - at };
    }
  else if (digits != NULL && (at = memrchr (text, ':', end - text)) != NULL)
    {
      name = (FlamSlice){ at + 1, end - at - 1 };
      file = (FlamSlice){ text, at - text };
    }
  else if (digits == NULL && split_colons (text, end, &at, &number))
    {
      name = (FlamSlice){ at, number - 1 - at };
      file = (FlamSlice){ text, at - 1 - text };
      digits = number;
      digits_end = end;
    }
  if (digits != NULL)
    flam_text_number (&digits, digits_end, &line);
  return flam_austin_frame (
      austin, file.text, file.length, name.text, name.length, line, &python);
}

static FlamThreadId
read_thread (FlamAustin *austin, gint64 pid, const char *text, const char *end)
{
  const char *colon = memchr (text, ':', end - text);
  const char *p = text;
  gint64 interpreter = 0;

  if (colon != NULL && flam_text_number (&p, colon, &interpreter) && p == colon)
    text = colon + 1;
  return flam_austin_thread (
      austin, pid, interpreter, text, end - text, austin->old ? 16 : 10);
}

static FlamStackId
read_stack (FlamAustin *austin, const char *at, const char *end)
{
  FlamStackId stack = FLAM_NONE;

  while (at < end)
    {
      const char *stop = memchr (at, ';', end - at);
      const char *start = at;
      const char *line, *line_end;

      if (stop == NULL)
        stop = end;
      at = stop + 1;
      line = at;
      line_end = at < end ? memchr (at, ';', end - at) : NULL;
      if (line_end == NULL)
        line_end = end;
      if (line < end && is_line (line, line_end))
        at = line_end + 1;
      else
        line = NULL;
      if (stop > start)
        stack = flam_builder_stack (
            austin->builder,
            stack,
            read_frame (
                austin, start, stop, line != NULL ? line + 1 : NULL, line_end));
    }
  return stack;
}

static gint64
in_bytes (const FlamAustin *austin, gint64 memory)
{
  return flam_builder_limit (
             austin->builder, memory, -MAX_MEMORY, MAX_MEMORY, NULL) *
         (austin->kib ? 1024 : 1);
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

  if (!read_head (&at, end, &pid) && !read_old_head (&at, end, &pid))
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
    sample.memory = in_bytes (austin, metrics[0]);
  else
    sample.time = metrics[0];
  if (n == N_METRICS)
    {
      sample.idle = metrics[1] == 1;
      sample.memory = in_bytes (austin, metrics[2]);
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

/* Versions before 3 do not record their mode. Memory grows by pages, so no line
 * has a number that is not a multiple of a page. */
static void
look_at_version (FlamAustin *austin, const FlamSource *source)
{
  FlamText head = flam_text_head (source);
  const char *line;
  gsize length;
  gint64 pid, metrics[N_METRICS];
  guint lines = 0;
  gboolean pages = TRUE;

  while (flam_text_next (&head, &line, &length))
    {
      const char *end = line + length;
      gboolean oldest = length > 0 && read_old_head (&line, end, &pid);

      austin->old |= oldest || (length > 0 && has_old_frame (line, end));
      austin->kib |= oldest;
      if (length == 0 || *line == '#' ||
          take_metrics (line, &end, metrics) != 1)
        continue;
      lines++;
      pages &= metrics[0] > 0 &&
               metrics[0] % (austin->kib ? PAGE / 1024 : PAGE) == 0;
    }
  if (!austin->old || !pages || lines < MIN_LINES)
    return;
  austin->mode = FLAM_AUSTIN_MEMORY;
  flam_builder_warn (austin->builder,
                     N_ ("the file does not state its unit; all numbers are "
                         "whole memory pages, so they are taken as memory"));
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
  else
    {
      look_at_version (&austin, load->source);
      if (!flam_text_read (
              &text, load, read_line, &austin, N_ ("samples of Austin"), error))
        return FALSE;
      if (austin.samples == 0 && text.bad > 0)
        return flam_source_invalid (
            load->source, error, N_ ("no line is an Austin sample"));
    }
  flam_austin_begin (&austin);
  return TRUE;
}

const FlamImporter flam_import_austin = {
  .id = "austin",
  .label = "Austin",
  .written_by = "austin",
  .suffixes = FLAM_LIST (".austin", ".mojo"),
  .mime = { .type = "application/x-austin",
            .name = "Austin capture",
            .globs = FLAM_LIST ("*.austin", "*.mojo"),
            .magics = FLAM_MAGICS (FLAM_BYTES (0, "MOJ\1"),
                                   FLAM_BYTES (0, "MOJ\2"),
                                   FLAM_BYTES (0, "MOJ\3"),
                                   FLAM_BYTES (0, "MOJ\4"),
                                   FLAM_BYTES (0, "# austin: ")) },
  .probe = probe,
  .load = load,
};
