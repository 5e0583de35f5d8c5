/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-folded.h"
#include "flam-python-code.h"

#include <string.h>

#define HEAD (64 << 10)

static gsize
take_annotation (const char *name, gsize length, FlamFunction *function)
{
  if (length < 4 || name[length - 4] != '_' || name[length - 3] != '[' ||
      name[length - 1] != ']')
    return length;
  switch (name[length - 2])
    {
    case 'k':
      function->kind = FLAM_KIND_KERNEL;
      break;
    case 'j':
    case '1':
      function->kind = FLAM_KIND_JIT;
      break;
    case '0':
      function->kind = FLAM_KIND_INTERPRETED;
      break;
    case 'w':
      function->kind = FLAM_KIND_WAKER;
      break;
    case 'i':
      function->flags = FLAM_FUNCTION_INLINED;
      break;
    default:
      return length;
    }
  return length - 4;
}

/* --- py-spy -------------------------------------------------------------- */

/* The start of "(file.py:12)" at the end of "work (file.py:12)", or NULL. */
static const char *
find_location (const char *name, gsize length)
{
  guint depth = 0;

  if (length < 4 || name[length - 1] != ')')
    return NULL;
  for (const char *p = name + length - 1; p > name + 1; p--)
    {
      depth += *p == ')';
      depth -= *p == '(';
      if (depth == 0)
        return p[-1] == ' ' ? p : NULL;
    }
  return NULL;
}

/* Takes ":12" off the end. */
static guint32
take_line (const char *text, gsize *length)
{
  gsize digits = *length;
  const char *p;
  gint64 line;

  while (digits > 0 && flam_text_is_digit (text[digits - 1]))
    digits--;
  p = text + digits;
  if (digits < 2 || text[digits - 1] != ':' ||
      !flam_text_number (&p, text + *length, &line) || line > G_MAXINT32)
    return 0;
  *length = digits - 1;
  return line;
}

/* Whether the head has frames in the form of py-spy's, with lines. */
static gboolean
has_places (const FlamSource *source)
{
  const char *at = (const char *)source->data;
  const char *end = at + MIN (source->size, HEAD);

  while ((at = memmem (at, end - at, ".py:", 4)) != NULL)
    {
      const char *p = at + 4;

      while (p < end && flam_text_is_digit (*p))
        p++;
      if (p > at + 4 && end - p > 1 && *p == ')' &&
          (p[1] == ';' || p[1] == ' '))
        return TRUE;
      at = p;
    }
  return FALSE;
}

static guint32
split_place (FlamFoldedNames *names,
             const char *place,
             gsize length,
             FlamFunction *function)
{
  guint32 line = take_line (place, &length);

  flam_python_set_location (names->builder, function, place, length, line > 0);
  return line;
}

/* --- frames -------------------------------------------------------------- */

FlamFrameId
flam_folded_frame (FlamFoldedNames *names, const char *name, gsize length)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  const char *place;
  guint32 line = 0;

  length = take_annotation (name, length, &function);
  place = names->places ? find_location (name, length) : NULL;
  if (place != NULL)
    {
      line =
          split_place (names, place + 1, name + length - place - 2, &function);
      length = place - 1 - name;
    }
  if (length == 0) /* "main;;read": there was a frame */
    {
      name = "[unknown]";
      length = strlen (name);
    }
  if (length == strlen ("[unknown]") && memcmp (name, "[unknown]", length) == 0)
    function.kind = FLAM_KIND_UNRESOLVED;
  function.name = flam_builder_string (names->builder, name, length);
  return flam_builder_frame_of (names->builder, &function, 0, line, 0);
}

/* --- threads ------------------------------------------------------------- */

static gboolean
starts (const char **p, const char *end, const char *with)
{
  gsize n = strlen (with);

  if ((gsize)(end - *p) < n || memcmp (*p, with, n) != 0)
    return FALSE;
  *p += n;
  return TRUE;
}

static FlamProcessId
find_process (FlamFoldedNames *names)
{
  return names->process != FLAM_NONE
             ? names->process
             : flam_builder_process (names->builder, -1, 0);
}

FlamThreadId
flam_folded_main_thread (FlamFoldedNames *names)
{
  FlamProcessId process = names->process;

  if (process == FLAM_NONE && names->lone != FLAM_NONE)
    return names->lone;
  if (process == FLAM_NONE)
    return names->lone = flam_builder_lone_thread (names->builder);
  return flam_builder_thread (names->builder, process, -1, 0);
}

/* Threads without a number of the system are distinguished by their text. */
static FlamThreadId
make_thread (FlamFoldedNames *names,
             gint64 tid,
             const char *key,
             gsize key_length,
             const char *name,
             gsize length)
{
  FlamProcessId process = find_process (names);
  FlamThreadId thread =
      tid >= 0 && tid <= G_MAXINT32
          ? flam_builder_thread (names->builder, process, (gint32)tid, 0)
          : flam_builder_thread_keyed (
                names->builder,
                process,
                flam_builder_string (names->builder, key, key_length));
  g_autofree char *text = g_strndup (name, length);

  if (length > 0 && !flam_builder_has_thread_name (names->builder, thread))
    flam_builder_set_thread_name (names->builder, thread, text);
  return thread;
}

/* async-profiler's "[main tid=12]". */
static gboolean
read_bracket (FlamFoldedNames *names,
              const char *text,
              gsize length,
              FlamThreadId *thread)
{
  const char *end = text + length - 1;
  const char *at = memmem (text, length, "tid=", 4);
  const char *p = at != NULL ? at + 4 : NULL;
  gint64 tid;

  if (text[0] != '[' || *end != ']' || p == NULL ||
      (at[-1] != ' ' && at[-1] != '[') || !flam_text_number (&p, end, &tid) ||
      p != end)
    return FALSE;
  *thread = make_thread (
      names, tid, text, length, text + 1, at[-1] == ' ' ? at - text - 2 : 0);
  return TRUE;
}

/* py-spy's "process 12:"python app.py"". */
static gboolean
read_process (FlamFoldedNames *names, const char *p, const char *end)
{
  gint64 pid;

  if (!starts (&p, end, "process ") || !flam_text_number (&p, end, &pid) ||
      pid > G_MAXINT32 || !starts (&p, end, ":\"") || end[-1] != '"')
    return FALSE;
  names->process = flam_builder_process (names->builder, pid, 0);
  if (end - 1 > p)
    {
      g_autofree char *name = g_strndup (p, end - 1 - p);
      flam_builder_set_process_name (names->builder, names->process, name);
    }
  return TRUE;
}

/* py-spy's "thread (0x7F12): MainThread", "thread (12)". */
static gboolean
read_thread (FlamFoldedNames *names,
             const char *text,
             const char *end,
             FlamThreadId *thread)
{
  const char *p = text;
  const char *close;
  gint64 tid;

  if (!starts (&p, end, "thread (") ||
      (close = memchr (p, ')', end - p)) == NULL)
    return FALSE;
  if (!flam_text_number (&p, close, &tid) || p != close)
    tid = -1;
  p = close + 1;
  starts (&p, end, ": ");
  *thread = make_thread (names, tid, text, close - text, p, end - p);
  return TRUE;
}

gboolean
flam_folded_thread (FlamFoldedNames *names,
                    const char *text,
                    gsize length,
                    FlamThreadId *thread)
{
  if (length < 2)
    return FALSE;
  return read_bracket (names, text, length, thread) ||
         (names->places && (read_process (names, text, text + length) ||
                            read_thread (names, text, text + length, thread)));
}

void
flam_folded_names_init (FlamFoldedNames *names,
                        FlamBuilder *builder,
                        const FlamSource *source)
{
  names->builder = builder;
  names->places = has_places (source);
  names->process = FLAM_NONE;
  names->lone = FLAM_NONE;
}
