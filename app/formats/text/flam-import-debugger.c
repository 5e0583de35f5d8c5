/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of debuggers about a stopped process: a stack per thread, leaf
 * first. Many such texts, one after the other, are a sampling profile.
 *
 *    gdb       Thread 2 (Thread 0x7f0c (LWP 4712) "worker"):
 *              #0  0x00007f3d in poll () from /lib/libc.so.6
 *              #1  main (argc=1, argv=0x7ffe) at nest.c:12
 *    lldb      * thread #1, name = 'nest', stop reason = signal SIGSTOP
 *                * frame #0: 0x00007f3d libc.so.6`poll + 13
 *                  frame #1: 0x000055eb nest`main(argc=1) at nest.c:12:3
 *    eu-stack  TID 4712:
 *              #0  0x00007f3d poll - /lib/libc.so.6
 *                  ../sysdeps/poll.c:29:10
 *    AIX       4711: /usr/bin/nest
 *              ---------- tid# 4712 ----------
 *              0x0fc0d1b4  poll(??) + 0x1c
 *
 * A thread without its own line begins at frame 0. */

#include "flam-stack-text.h"

/* --- names --------------------------------------------------------------- */

/* "<" and ">" of these are not brackets. */
static gsize
operator_length (FlamSlice text)
{
  static const char *const all[] = { "operator<<", "operator>>", "operator<=",
                                     "operator>=", "operator->", "operator<",
                                     "operator>",  "operator()" };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (flam_slice_begins (text, all[i]))
      return strlen (all[i]);
  return 0;
}

/* The start of the arguments: the first "(" outside of brackets, with a space
 * before it unless `tight`. */
static gsize
find_arguments (FlamSlice text, gboolean tight)
{
  guint depth = 0;

  for (gsize i = 0; i < text.length; i++)
    {
      char c = text.text[i];
      gsize skip = c == 'o' ? operator_length (flam_slice_from (text, i)) : 0;

      if (skip > 0)
        {
          i += skip - 1;
          continue;
        }
      if (c == '(' && depth == 0 && i > 0 &&
          (tight ? text.text[i - 1] != ':' : text.text[i - 1] == ' '))
        return tight ? i : i - 1;
      if (c == '(' || c == '<')
        depth++;
      else if ((c == ')' || c == '>') && depth > 0)
        depth--;
    }
  return text.length;
}

/* After "#12 " and, if there is one, "0x00007f3d in ". */
static FlamSlice
skip_number (FlamSlice text)
{
  const char *p = text.text + 1;
  const char *end = text.text + text.length;
  guint64 value;

  while (p < end && flam_text_is_digit (*p))
    p++;
  text = flam_slice_trim (p, end);
  if (flam_slice_begins (text, "0x"))
    {
      p = text.text + 2;
      flam_text_hex (&p, end, &value);
      text = flam_slice_trim (p, end);
      if (flam_slice_begins (text, "in "))
        text = flam_slice_from (text, 3);
    }
  return text;
}

/* --- gdb ----------------------------------------------------------------- */

static void
parse_gdb (FlamSlice text, FlamTextFrame *frame)
{
  FlamSlice rest = skip_number (text);
  gsize arguments = find_arguments (rest, FALSE);
  gsize at;

  frame->name = (FlamSlice){ rest.text, arguments };
  rest = flam_slice_from (rest, arguments);
  at = flam_slice_find_last (rest, ") from ");
  if (at < rest.length)
    frame->module = flam_slice_from (rest, at + strlen (") from "));
  at = flam_slice_find_last (rest, ") at ");
  if (at < rest.length)
    flam_slice_location (flam_slice_from (rest, at + strlen (") at ")),
                         &frame->file,
                         &frame->line);
  if (flam_slice_is (frame->name, "??"))
    frame->name.length = 0;
}

/* "Thread 2 (Thread 0x7f0c (LWP 4712) "worker"):" */
static void
read_gdb_thread (FlamStackText *text, FlamSlice line)
{
  gsize quote = flam_slice_find (line, "\"");
  FlamSlice name = { "", 0 };

  flam_stack_text_end (text, 1);
  if (quote < line.length)
    {
      name = flam_slice_from (line, quote + 1);
      name.length = flam_slice_find (name, "\"");
    }
  flam_stack_text_thread (
      text, name, -1, flam_slice_number_after (line, "LWP "));
}

static gboolean
is_number_line (FlamSlice line)
{
  return line.length > 2 && *line.text == '#' &&
         flam_text_is_digit (line.text[1]);
}

static gboolean
read_gdb (FlamStackText *text, FlamSlice line)
{
  if (flam_slice_begins (line, "Thread "))
    read_gdb_thread (text, line);
  else if (is_number_line (line))
    {
      if (flam_slice_begins (line, "#0 "))
        flam_stack_text_end (text, 1);
      flam_stack_text_frame (text, line);
    }
  return TRUE;
}

static void
end_block (FlamStackText *text)
{
  flam_stack_text_end (text, 1);
}

static guint
probe_gdb (const FlamSource *source)
{
  gboolean thread = FALSE, frame = FALSE;

  flam_text_each_of_head (source, line)
    {
      thread |= flam_slice_begins (line, "Thread ") &&
                (flam_slice_find (line, "LWP ") < line.length ||
                 flam_slice_find (line, "(Thread 0x") < line.length);
      frame |= flam_slice_begins (line, "#0  ") &&
               (flam_slice_find (line, " in ") < line.length ||
                flam_slice_find (line, " (") < line.length);
    }
  return frame ? (thread ? 85 : 60) : 0;
}

/* --- lldb ---------------------------------------------------------------- */

/* The offset after "* " and "frame #0: "; its own length: not found. */
static gsize
lldb_frame (FlamSlice part)
{
  gsize skip = flam_slice_begins (part, "* ") ? 2 : 0;
  FlamSlice rest = flam_slice_strip (flam_slice_from (part, skip));
  gsize colon = flam_slice_find (rest, ": ");

  if (!flam_slice_begins (rest, "frame #") || colon == rest.length)
    return part.length;
  return rest.text - part.text + colon + 2;
}

static void
parse_lldb (FlamSlice text, FlamTextFrame *frame)
{
  FlamSlice rest = flam_slice_from (text, lldb_frame (text));
  gsize at;

  if (flam_slice_begins (rest, "0x"))
    rest = flam_slice_from (rest,
                            MIN (flam_slice_find (rest, " ") + 1, rest.length));
  at = flam_slice_find_last (rest, " at ");
  if (at < rest.length)
    {
      flam_slice_location (
          flam_slice_from (rest, at + 4), &frame->file, &frame->line);
      rest.length = at;
    }
  at = flam_slice_find (rest, "`");
  if (at < rest.length)
    {
      frame->module = (FlamSlice){ rest.text, at };
      rest = flam_slice_from (rest, at + 1);
    }
  rest.length = flam_slice_find_last (rest, " + ");
  rest.length = find_arguments (rest, TRUE);
  if (!flam_slice_begins (rest, "___lldb_unnamed_symbol"))
    frame->name = rest;
}

static gboolean
read_lldb (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);

  if (lldb_frame (part) < part.length)
    flam_stack_text_frame (text, part);
  else if (flam_slice_find (part, "thread #") <= 2)
    {
      gsize quote = flam_slice_find (part, "name = '");
      FlamSlice name = { "", 0 };
      flam_stack_text_end (text, 1);
      if (quote < part.length)
        {
          name = flam_slice_from (part, quote + strlen ("name = '"));
          name.length = flam_slice_find (name, "'");
        }
      flam_stack_text_thread (
          text, name, -1, flam_slice_number_after (part, "thread #"));
    }
  return TRUE;
}

static guint
probe_lldb (const FlamSource *source)
{
  flam_text_each_of_head (source, line)
    if (lldb_frame (flam_slice_strip (line)) < flam_slice_strip (line).length &&
        flam_slice_find (line, "`") < line.length)
      return 85;
  return 0;
}

/* --- eu-stack ------------------------------------------------------------ */

static void
parse_elfutils (FlamSlice text, FlamTextFrame *frame)
{
  FlamSlice rest = skip_number (text);
  gsize at;

  if (flam_slice_begins (rest, "- 1 ")) /* the address is the return address */
    rest = flam_slice_from (rest, 4);
  at = flam_slice_begins (rest, "- ") ? 0 : flam_slice_find (rest, " - /");
  if (at < rest.length)
    frame->module =
        flam_slice_strip (flam_slice_from (rest, at == 0 ? 2 : at + 3));
  frame->name = (FlamSlice){ rest.text, at };
}

static gboolean
read_elfutils (FlamStackText *text, FlamSlice line)
{
  if (flam_slice_begins (line, "TID "))
    {
      flam_stack_text_end (text, 1);
      flam_stack_text_thread (text,
                              (FlamSlice){ "", 0 },
                              text->pid,
                              flam_slice_number_after (line, "TID "));
    }
  else if (flam_slice_begins (line, "PID "))
    {
      flam_stack_text_end (text, 1);
      text->pid = flam_slice_number_after (line, "PID ");
    }
  else if (is_number_line (line))
    {
      flam_stack_text_frame (text, line);
      text->last = line;
    }
  else if (flam_slice_begins (line, "    ") && text->last.length > 0)
    flam_stack_text_source (text, text->last, flam_slice_strip (line));
  return TRUE;
}

static guint
probe_eu_stack (const FlamSource *source)
{
  gboolean process = FALSE;

  flam_text_each_of_head (source, line)
    {
      process |= flam_slice_begins (line, "PID ");
      if (flam_slice_begins (line, "TID ") && flam_slice_ends (line, ":"))
        return process ? 85 : 60;
    }
  return 0;
}

/* --- AIX's procstack ----------------------------------------------------- */

static void
parse_aix (FlamSlice text, FlamTextFrame *frame)
{
  FlamSlice rest =
      flam_slice_strip (flam_slice_from (text, flam_slice_find (text, " ")));

  rest.length = find_arguments (rest, TRUE);
  if (!flam_slice_begins (rest, "["))
    frame->name = rest;
}

static gboolean
read_aix (FlamStackText *text, FlamSlice line)
{
  const char *p = line.text;
  gint64 pid;

  if (flam_slice_begins (line, "0x"))
    flam_stack_text_frame (text, line);
  else if (flam_slice_begins (line, "---------- tid#"))
    {
      flam_stack_text_end (text, 1);
      flam_stack_text_thread (text,
                              (FlamSlice){ "", 0 },
                              text->pid,
                              flam_slice_number_after (line, "tid# "));
    }
  else if (flam_text_number (&p, line.text + line.length, &pid) && *p == ':')
    {
      flam_stack_text_end (text, 1);
      text->pid = pid;
      flam_stack_text_thread (
          text, flam_slice_trim (p + 1, line.text + line.length), pid, -1);
    }
  return TRUE;
}

static guint
probe_procstack (const FlamSource *source)
{
  gboolean thread = FALSE;

  flam_text_each_of_head (source, line)
    if (flam_slice_begins (line, "---------- tid#"))
      thread = TRUE;
    else if (thread && flam_slice_begins (line, "0x"))
      return 85;
  return 0;
}

/* --- the table ----------------------------------------------------------- */

static const FlamDialect dialect_gdb = {
  N_ ("output of gdb"), read_gdb, parse_gdb, end_block
};
static const FlamDialect dialect_lldb = {
  N_ ("output of lldb"), read_lldb, parse_lldb, end_block
};
static const FlamDialect dialect_eu_stack = {
  N_ ("output of eu-stack"), read_elfutils, parse_elfutils, end_block
};
static const FlamDialect dialect_procstack = {
  N_ ("output of procstack"), read_aix, parse_aix, end_block
};

FLAM_STACK_TEXT_IMPORTER (gdb,
                          "gdb",
                          "gdb, pstack",
                          "gdb (thread apply all backtrace), pstack",
                          ".gdb",
                          ".pstack",
                          ".txt")
FLAM_STACK_TEXT_IMPORTER (
    lldb, "lldb", "lldb", "lldb (thread backtrace all)", ".txt")
FLAM_STACK_TEXT_IMPORTER (
    eu_stack, "eu-stack", "eu-stack", "eu-stack --pid PID", ".txt")
FLAM_STACK_TEXT_IMPORTER (
    procstack, "procstack", "AIX procstack", "procstack, on AIX", ".txt")
