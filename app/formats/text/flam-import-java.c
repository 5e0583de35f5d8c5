/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Thread dumps of Java virtual machines, leaf first.
 *
 *    jstack     "main" #1 prio=5 tid=0x7f0c nid=0x1268 runnable [0x7f3d]
 *                  java.lang.Thread.State: RUNNABLE
 *                  at java.io.FileInputStream.read(java.base@17/FileInput…:231)
 *
 *    javacore   3XMTHREADINFO      "main" J9VMThread:0x8132B00, …, state:R, …
 *               3XMTHREADINFO1            (native thread ID:0x3158, …
 *               4XESTACKTRACE                at java/lang/Thread.run(Thread.j…
 *
 *    ljp            12    2  java.lang.Thread.sleep(Thread.java:-1)
 *                             Main.main(Main.java:7)
 *
 * A dump is a sample of each thread that has a stack; the thread's state is the
 * sample's. The list of deadlocks, which repeats the stacks, is not read.
 * Source: the JDK's and OpenJ9's manuals; lightweight-java-profiler's
 * display. */

#include "flam-stack-text.h"

/* Cuts the prefix "java.base@17.0.15/" off. */
static void
cut_module (FlamSlice *text, FlamSlice *module)
{
  gsize slash = flam_slice_find (*text, "/");

  if (slash == text->length || memchr (text->text, '@', slash) == NULL)
    return;
  *module = (FlamSlice){ text->text, slash };
  module->length = flam_slice_find (*module, "@");
  *text = flam_slice_from (*text, slash + 1);
}

/* "java.lang.Thread.sleep(java.base@17.0.15/Thread.java:12)"; in traces of
 * exceptions the module precedes the class. */
static void
parse_frame (FlamSlice text, FlamTextFrame *frame)
{
  gsize open = flam_slice_find (text, "(");
  FlamSlice place;

  frame->name = (FlamSlice){ text.text, open };
  cut_module (&frame->name, &frame->module);
  if (open == text.length)
    return;
  place = flam_slice_from (text, open + 1);
  cut_module (&place, &frame->module);
  place.length =
      MIN (flam_slice_find (place, ")"), flam_slice_find (place, "("));
  if (flam_slice_begins (place, "Native Method"))
    frame->kind = FLAM_KIND_NATIVE;
  else if (!flam_slice_begins (place, "Unknown Source") &&
           flam_slice_find (place, ".") < place.length)
    flam_slice_location (place, &frame->file, &frame->line);
}

/* A number as after nid=: hexadecimal with its 0x, or decimal. */
static gint64
id_after (FlamSlice line, const char *text)
{
  gsize at = flam_slice_find (line, text);
  FlamSlice rest;
  const char *p;
  guint64 value;

  if (at == line.length)
    return -1;
  rest = flam_slice_from (line, at + strlen (text));
  if (!flam_slice_begins (rest, "0x"))
    return flam_slice_number_after (line, text);
  p = rest.text + 2;
  return flam_text_hex (&p, rest.text + rest.length, &value) &&
                 value <= G_MAXINT32
             ? (gint64)value
             : -1;
}

/* Names may contain quotes. */
static FlamSlice
quoted (FlamSlice line)
{
  gsize open = flam_slice_find (line, "\"");
  FlamSlice name = flam_slice_from (line, MIN (open + 1, line.length));

  name.length = flam_slice_find (name, "prio=");
  name.length = flam_slice_find_last (name, "\"");
  return name;
}

/* --- jstack -------------------------------------------------------------- */

static FlamState
state_named (FlamSlice name)
{
  if (flam_slice_begins (name, "RUNNABLE"))
    return FLAM_STATE_RUNNING;
  if (flam_slice_begins (name, "BLOCKED"))
    return FLAM_STATE_LOCK;
  return FLAM_STATE_SLEEP;
}

static gboolean
is_jstack_thread (FlamSlice line)
{
  return flam_slice_begins (line, "\"") &&
         flam_slice_find (line, "prio=") < line.length &&
         flam_slice_find (line, "tid=") < line.length;
}

static gboolean
read_jstack (FlamStackText *text, FlamSlice line)
{
  static const char state[] = "java.lang.Thread.State: ";
  FlamSlice part = flam_slice_strip (line);
  gsize at = flam_slice_find (part, state);

  if (flam_slice_begins (line, "\"") || part.length == 0)
    {
      flam_stack_text_end (text, 1);
      text->open = is_jstack_thread (line);
      text->state = FLAM_STATE_RUNNING;
    }
  if (text->open && flam_slice_begins (line, "\""))
    text->last = line;
  else if (text->open && at < part.length)
    text->state = state_named (flam_slice_from (part, at + strlen (state)));
  else if (text->open && flam_slice_begins (part, "at "))
    {
      if (text->stack->len == 0) /* threads without a stack are not Java's */
        flam_stack_text_thread (
            text, quoted (text->last), -1, id_after (text->last, "nid="));
      flam_stack_text_frame (text, flam_slice_from (part, 3));
    }
  return TRUE;
}

static void
end_block (FlamStackText *text)
{
  flam_stack_text_end (text, 1);
}

static guint
probe_jstack (const FlamSource *source)
{
  gboolean thread = FALSE;

  flam_text_each_of_head (source, line)
    if (flam_slice_begins (line, "Full thread dump"))
      return 85;
    else if (is_jstack_thread (line))
      thread = TRUE;
    else if (thread &&
             flam_slice_find (line, "java.lang.Thread.State:") < line.length)
      return 80;
  return 0;
}

/* --- javacore ------------------------------------------------------------ */

static FlamState
javacore_state (FlamSlice line)
{
  gsize at = flam_slice_find (line, "state:");
  FlamSlice state = flam_slice_from (line, MIN (at + 6, line.length));

  if (flam_slice_begins (state, "R"))
    return FLAM_STATE_RUNNING;
  return flam_slice_begins (state, "B") ? FLAM_STATE_LOCK : FLAM_STATE_SLEEP;
}

static gboolean
read_javacore (FlamStackText *text, FlamSlice line)
{
  gsize at;

  if (flam_slice_begins (line, "3XMTHREADINFO "))
    {
      flam_stack_text_end (text, 1);
      text->last = quoted (line);
      text->state = javacore_state (line);
      flam_stack_text_thread (text, text->last, -1, -1);
    }
  else if (flam_slice_begins (line, "3XMTHREADINFO1 ") && text->stack->len == 0)
    flam_stack_text_thread (
        text, text->last, -1, id_after (line, "native thread ID:"));
  else if (flam_slice_begins (line, "4XESTACKTRACE "))
    {
      at = flam_slice_find (line, " at ");
      if (at == line.length)
        return FALSE;
      flam_stack_text_frame (text, flam_slice_from (line, at + 4));
    }
  return TRUE;
}

static guint
probe_javacore (const FlamSource *source)
{
  if (flam_source_head_has (source, 4096, "TITLE subcomponent dump routine"))
    return 90;
  return flam_source_head_has (source, 16 << 10, "\n3XMTHREADINFO ") ? 80 : 0;
}

/* --- lightweight-java-profiler ------------------------------------------- */

/* "   12    2  frame": the frame, and its count. */
static gboolean
take_ljp_count (FlamSlice part, gint64 *count, FlamSlice *frame)
{
  const char *p = part.text;
  const char *end = p + part.length;
  gint64 depth;

  if (!flam_text_number (&p, end, count) || p == end ||
      !flam_text_is_space (*p))
    return FALSE;
  while (p < end && flam_text_is_space (*p))
    p++;
  if (!flam_text_number (&p, end, &depth) || p == end ||
      !flam_text_is_space (*p))
    return FALSE;
  *frame = flam_slice_trim (p, end);
  return flam_slice_ends (*frame, ")");
}

static gboolean
read_ljp (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);
  FlamSlice frame;
  gint64 count;

  if (take_ljp_count (part, &count, &frame))
    {
      flam_stack_text_end (text, text->count);
      text->count = count;
      flam_stack_text_frame (text, frame);
    }
  else if (flam_slice_begins (part, "Total"))
    flam_stack_text_end (text, text->count);
  else if (text->stack->len > 0 && flam_slice_ends (part, ")"))
    flam_stack_text_frame (text, part);
  return TRUE;
}

static void
end_ljp (FlamStackText *text)
{
  flam_stack_text_end (text, text->count);
}

static guint
probe_ljp (const FlamSource *source)
{
  FlamSlice frame;
  gint64 count;

  flam_text_each_of_head (source, line)
    {
      FlamSlice part = flam_slice_strip (line);
      if (take_ljp_count (part, &count, &frame) &&
          flam_slice_find (frame, ".java:") < frame.length)
        return 75;
      if (part.length > 0 && !flam_slice_begins (part, "Total"))
        return 0;
    }
  return 0;
}

/* --- the table ----------------------------------------------------------- */

static const FlamDialect dialect_jstack = {
  N_ ("thread dump of Java"), read_jstack, parse_frame, end_block, FLAM_KIND_JIT
};
static const FlamDialect dialect_javacore = {
  "javacore", read_javacore, parse_frame, end_block, FLAM_KIND_JIT
};
static const FlamDialect dialect_ljp = {
  N_ ("output of lightweight-java-profiler"),
  read_ljp,
  parse_frame,
  end_ljp,
  FLAM_KIND_JIT
};

FLAM_STACK_TEXT_IMPORTER (jstack,
                          "jstack",
                          N_ ("jstack, Java thread dump"),
                          "jstack, jcmd PID Thread.print",
                          ".jstack",
                          ".tdump",
                          ".txt")
FLAM_STACK_TEXT_IMPORTER (javacore,
                          "javacore",
                          "IBM javacore",
                          "Eclipse OpenJ9, IBM's Java",
                          "javacore",
                          ".txt")
FLAM_STACK_TEXT_IMPORTER (ljp,
                          "ljp",
                          "lightweight-java-profiler",
                          "lightweight-java-profiler",
                          ".txt")
