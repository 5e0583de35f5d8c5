/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Stacks that programs in Go, Python and PHP print of themselves, leaf first.
 *
 *    goroutine 18 [chan receive, 2 minutes]:    Go's panic or debug=2
 *    main.(*T).work(0xc000, 0x1)
 *            /src/main.go:12 +0x1d
 *    created by main.main in goroutine 1
 *            /src/main.go:30 +0x2c
 *
 *    goroutine profile: total 3                 debug=1
 *    2 @ 0x43a5c5 0x40625c
 *    #       0x43a5c4        runtime.gopark+0xc4     /go/proc.go:381
 *
 *    Thread 0x00007f3d (most recent call first):  Python's faulthandler
 *      File "/app/x.py", line 12 in work
 *
 *    Thread 4711 (active): "MainThread"         py-spy dump
 *        work (x.py:12)
 *
 *    0 usleep <internal>:-1                     phpspy
 *    1 <main> /app/x.php:5
 *
 * The creator of a goroutine did not call it, and is not a frame. */

#include "flam-stack-text.h"

static void
end_block (FlamStackText *text)
{
  flam_stack_text_end (text, text->count);
}

/* --- Go ------------------------------------------------------------------ */

static FlamState
goroutine_state (FlamSlice line)
{
  static const struct
  {
    const char *text;
    FlamState state;
  } all[] = {
    { "[running", FLAM_STATE_RUNNING }, { "[runnable", FLAM_STATE_RUNNABLE },
    { "[syscall", FLAM_STATE_RUNNING }, { "[IO wait", FLAM_STATE_IO },
    { "[sleep", FLAM_STATE_SLEEP },     { "[semacquire", FLAM_STATE_LOCK },
    { "[sync.", FLAM_STATE_LOCK }
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (flam_slice_find (line, all[i].text) < line.length)
      return all[i].state;
  return FLAM_STATE_BLOCKED;
}

/* "main.work(0x1)" above its place, or "0x43a5c4\tmain.work+0xc4\tfile:12". */
static void
parse_go (FlamSlice text, FlamTextFrame *frame)
{
  gsize tab = flam_slice_find (text, "\t");

  frame->name = text;
  if (tab == text.length)
    {
      if (flam_slice_ends (text, ")"))
        frame->name.length = flam_slice_find_last (text, "(");
      return;
    }
  frame->name = flam_slice_from (text, tab + 1);
  tab = flam_slice_find (frame->name, "\t");
  if (tab < frame->name.length)
    flam_slice_location (flam_slice_strip (flam_slice_from (frame->name, tab)),
                         &frame->file,
                         &frame->line);
  frame->name = flam_slice_strip ((FlamSlice){ frame->name.text, tab });
  frame->name.length = flam_slice_find_last (frame->name, "+0x");
}

static void
begin_goroutine (FlamStackText *text, FlamSlice line)
{
  FlamSlice name = { line.text, flam_slice_find (line, " [") };

  if (flam_slice_find (name, " gp=") < name.length)
    name.length = flam_slice_find (name, " gp=");
  flam_stack_text_end (text, text->count);
  flam_stack_text_thread (text, name, -1, -1);
  text->state = goroutine_state (line);
  text->count = 1;
  text->open = TRUE;
}

/* "2 @ 0x43a5c5 0x40625c" */
static gboolean
begin_group (FlamStackText *text, FlamSlice line)
{
  const char *p = line.text;
  const char *end = p + line.length;
  gint64 count;

  if (!flam_text_number (&p, end, &count) || end - p < 2 ||
      memcmp (p, " @", 2) != 0)
    return FALSE;
  flam_stack_text_end (text, text->count);
  text->count = count;
  text->open = TRUE;
  return TRUE;
}

static gboolean
read_goroutine (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);

  if (flam_slice_begins (line, "goroutine ") &&
      flam_slice_find (line, " [") < line.length)
    begin_goroutine (text, line);
  else if (part.length == 0)
    {
      flam_stack_text_end (text, text->count);
      text->open = FALSE;
    }
  else if (begin_group (text, line) || !text->open)
    return TRUE;
  else if (flam_slice_begins (line, "#\t0x"))
    flam_stack_text_frame (text, flam_slice_from (line, 2));
  else if (flam_slice_begins (line, "#") || flam_slice_begins (line, "..."))
    return TRUE;
  else if (flam_slice_begins (line, "created by "))
    text->last.length = 0;
  else if (*line.text != '\t')
    {
      text->last = line;
      flam_stack_text_frame (text, line);
    }
  else if (text->last.length > 0)
    {
      part.length = MIN (flam_slice_find (part, " +0x"), part.length);
      flam_stack_text_source (text, text->last, part);
    }
  return TRUE;
}

static guint
probe_goroutine (const FlamSource *source)
{
  flam_text_each_of_head (source, line)
    if (flam_slice_begins (line, "goroutine profile: total ") ||
        (flam_slice_begins (line, "goroutine ") &&
         flam_slice_ends (line, "]:") &&
         flam_slice_find (line, " [") < line.length))
      return 90;
  return 0;
}

/* --- Python -------------------------------------------------------------- */

/* "File \"/app/x.py\", line 12 in work" */
static void
parse_faulthandler (FlamSlice text, FlamTextFrame *frame)
{
  FlamSlice rest =
      flam_slice_from (text, MIN (strlen ("File \""), text.length));
  gsize at = flam_slice_find_last (rest, "\", line ");

  frame->file = (FlamSlice){ rest.text, at };
  frame->line =
      MAX (flam_slice_number_after (flam_slice_from (rest, at), "line "), 0);
  rest = flam_slice_from (rest, at);
  at = flam_slice_find (rest, " in ");
  if (at < rest.length)
    frame->name = flam_slice_from (rest, at + 4);
}

static gboolean
is_fault_thread (FlamSlice line)
{
  return flam_slice_find (line, "hread 0x") <= strlen ("Current t") &&
         flam_slice_ends (line, "(most recent call first):");
}

static gboolean
read_faulthandler (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);

  text->count = 1;
  if (is_fault_thread (line) || flam_slice_begins (line, "Stack (most recent"))
    {
      gsize at = flam_slice_find (line, "0x");
      FlamSlice name = flam_slice_from (line, at);

      flam_stack_text_end (text, 1);
      name.length = flam_slice_find (name, " (most");
      flam_stack_text_thread (text, name, -1, -1);
    }
  else if (flam_slice_begins (line, "  File \""))
    flam_stack_text_frame (text, part);
  else
    flam_stack_text_end (text, 1);
  return TRUE;
}

static guint
probe_faulthandler (const FlamSource *source)
{
  FlamText head = flam_text_plain_head (source);
  FlamSlice line;

  while (flam_text_next (&head, &line.text, &line.length))
    if (is_fault_thread (line))
      return 90;
  return flam_source_head_has (
             source, 4096, "Stack (most recent call first):\n  File \"")
             ? 80
             : 0;
}

/* "work (x.py:12)" */
static void
parse_py_spy (FlamSlice text, FlamTextFrame *frame)
{
  gsize open = flam_slice_find_last (text, " (");

  frame->name = (FlamSlice){ text.text, open };
  if (open + 3 <= text.length && flam_slice_ends (text, ")"))
    flam_slice_location (
        (FlamSlice){ text.text + open + 2, text.length - open - 3 },
        &frame->file,
        &frame->line);
}

/* "Thread 4711 (idle): \"MainThread\"", also "Thread 4711 (active+gil)" */
static gboolean
is_py_spy_thread (FlamSlice line)
{
  const char *p = line.text + strlen ("Thread ");
  gint64 id;

  return flam_slice_begins (line, "Thread ") &&
         flam_text_number (&p, line.text + line.length, &id) &&
         (flam_slice_find (line, " (idle") < line.length ||
          flam_slice_find (line, " (active") < line.length);
}

static gboolean
read_py_spy (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);

  text->count = 1;
  if (flam_slice_begins (line, "Process "))
    text->pid = flam_slice_number_after (line, "Process ");
  else if (is_py_spy_thread (line))
    {
      gsize quote = flam_slice_find (line, "\"");
      FlamSlice name = flam_slice_from (line, MIN (quote + 1, line.length));

      flam_stack_text_end (text, 1);
      name.length = flam_slice_find (name, "\"");
      flam_stack_text_thread (
          text, name, text->pid, flam_slice_number_after (line, "Thread "));
      text->state = flam_slice_find (line, " (idle") < line.length
                        ? FLAM_STATE_BLOCKED
                        : FLAM_STATE_RUNNING;
    }
  else if (flam_slice_begins (line, "    ") && flam_slice_ends (part, ")"))
    flam_stack_text_frame (text, part);
  return TRUE;
}

static guint
probe_py_spy_dump (const FlamSource *source)
{
  gboolean thread = FALSE;

  flam_text_each_of_head (source, line)
    if (is_py_spy_thread (line))
      thread = TRUE;
    else if (thread && flam_slice_begins (line, "    ") &&
             flam_slice_ends (line, ")"))
      return 85;
  return 0;
}

/* --- PHP ----------------------------------------------------------------- */

/* "1 work /app/x.php:5" */
static void
parse_phpspy (FlamSlice text, FlamTextFrame *frame)
{
  FlamSlice rest =
      flam_slice_strip (flam_slice_from (text, flam_slice_find (text, " ")));
  gsize space = flam_slice_find (rest, " ");

  frame->name = (FlamSlice){ rest.text, space };
  if (space == rest.length)
    return;
  rest = flam_slice_from (rest, space + 1);
  if (flam_slice_begins (rest, "<internal>"))
    frame->kind = FLAM_KIND_NATIVE;
  else
    flam_slice_location (rest, &frame->file, &frame->line);
}

/* "0 usleep <internal>:-1": its number; -1: not a frame. */
static gint64
phpspy_frame (FlamSlice line)
{
  const char *p = line.text;
  const char *end = p + line.length;
  gsize colon = flam_slice_find_last (line, ":");
  gint64 number;

  return flam_text_number (&p, end, &number) && p < end && *p == ' ' &&
                 colon + 1 < line.length &&
                 (flam_text_is_digit (line.text[colon + 1]) ||
                  line.text[colon + 1] == '-')
             ? number
             : -1;
}

static gboolean
read_phpspy (FlamStackText *text, FlamSlice line)
{
  gint64 number = phpspy_frame (line);

  text->count = 1;
  if (number <= 0)
    flam_stack_text_end (text, 1);
  if (number >= 0)
    flam_stack_text_frame (text, line);
  else if (line.length > 0 && *line.text != '#')
    return FALSE;
  return TRUE;
}

static guint
probe_phpspy (const FlamSource *source)
{
  gint64 last = -1;
  guint good = 0;

  flam_text_each_of_head (source, line)
    {
      gint64 number;
      if (line.length == 0 || *line.text == '#')
        {
          last = -1;
          continue;
        }
      number = phpspy_frame (line);
      if (number != last + 1 && number != 0)
        return 0;
      last = number;
      good++;
    }
  return good > 1 ? 65 : 0;
}

/* --- the table ----------------------------------------------------------- */

static const FlamDialect dialect_goroutine = {
  N_ ("dump of goroutines"), read_goroutine, parse_go, end_block
};
static const FlamDialect dialect_faulthandler = { N_ ("output of faulthandler"),
                                                  read_faulthandler,
                                                  parse_faulthandler,
                                                  end_block,
                                                  FLAM_KIND_INTERPRETED };
static const FlamDialect dialect_py_spy_dump = { N_ ("output of py-spy dump"),
                                                 read_py_spy,
                                                 parse_py_spy,
                                                 end_block,
                                                 FLAM_KIND_INTERPRETED };
static const FlamDialect dialect_phpspy = { N_ ("output of phpspy"),
                                            read_phpspy,
                                            parse_phpspy,
                                            end_block,
                                            FLAM_KIND_INTERPRETED };

FLAM_STACK_TEXT_IMPORTER (goroutine,
                          "goroutine",
                          "Go goroutines",
                          "Go programs, on a panic or by debug/pprof",
                          ".txt")
FLAM_STACK_TEXT_IMPORTER (faulthandler,
                          "faulthandler",
                          "Python faulthandler",
                          "Python's module faulthandler",
                          ".txt")
FLAM_STACK_TEXT_IMPORTER (
    py_spy_dump, "py-spy-dump", "py-spy dump", "py-spy dump", ".txt")
FLAM_STACK_TEXT_IMPORTER (
    phpspy, "phpspy", "phpspy", "phpspy", ".phpspy", ".txt")
