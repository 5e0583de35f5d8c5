/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_LINE_H
#define FLAM_CALL_LINE_H

/* A line of strace or ltrace:
 *
 *    [pid 4711] 1764198000.123456 read(3, "a", 10) = 1 <0.000012>
 *    4711<sh> 12:00:01.123456 <... read resumed>"a", 10) = 1 <0.000012>
 *    ╰─ head ───────────────╯ ╰─ call ────────────────────────────────╯
 *
 * Every part of the head is optional. */

#include "flam-stack-text.h"

typedef struct
{
  gint64 id;         /* of the thread; -1: not printed */
  FlamSlice comm;    /* its name; empty: not printed */
  gint64 time;       /* ns; -1: not printed */
  gboolean date;     /* the time is since 1970 */
  gboolean relative; /* it is since the line before (-r) */
  FlamSlice rest;
} FlamCallHead;

void flam_call_head_parse (FlamSlice line, FlamCallHead *head);

typedef enum
{
  FLAM_CALL_WHOLE,
  FLAM_CALL_BEGUN,    /* "read(3, <unfinished ...>": returns later, if at all */
  FLAM_CALL_RESUMED,  /* "<... read resumed>…" */
  FLAM_CALL_DEPARTED, /* "exit_group(0) = ?": it never returns */
} FlamCallPart;

typedef struct
{
  FlamCallPart part;
  FlamSlice name;
  FlamSlice arguments; /* those in this line, without the parentheses */
  FlamSlice result;    /* after the "=" */
  gint64 duration;     /* ns; -1: not printed */
} FlamCallLine;

/* FALSE: it is not a call. */
gboolean flam_call_line_parse (FlamSlice text, FlamCallLine *call);
/* The same for a line that another message cut off in the arguments, and for
 * the line that continues it. */
gboolean flam_call_line_begun (FlamSlice text, FlamCallLine *call);
gboolean
flam_call_line_ended (FlamSlice text, FlamSlice name, FlamCallLine *call);

/* The probe for output of ltrace or of strace, which look alike except in a few
 * details. */
guint flam_call_lines_score (const FlamSource *source, gboolean ltrace);

#endif
