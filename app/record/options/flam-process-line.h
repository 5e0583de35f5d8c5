/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROCESS_LINE_H
#define FLAM_PROCESS_LINE_H

/* A process in the recorder's list of those of a machine (--list), which the
 * window reads:
 *
 *   PID  PARENT  SESSION  BEGAN  CPU  NAME  COMMAND  OBSTACLE
 *
 * separated by tabs, after a line with these titles. Lists that follow one
 * another end with an empty line each. */

#include <glib.h>

#define FLAM_PROCESS_TITLES                                                    \
  "PID\tPARENT\tSESSION\tBEGAN\tCPU%\tNAME\tCOMMAND\tOBSTACLE"
/* Of processes in a list: those that a window shows. */
#define FLAM_PROCESS_LINES_MAX 100000

typedef struct
{
  int pid, parent;
  int session;    /* of processes that were started together */
  gint64 began;   /* in clock ticks; with its number, it identifies a process */
  double cpu;     /* share of one processor, 0..n */
  char *name;     /* cut to 15 bytes by the kernel */
  char *command;  /* with arguments; "": none */
  char *obstacle; /* why attaching is not permitted, in English; "": it is */
} FlamProcessLine;

void flam_process_line_clear (FlamProcessLine *line);
/* Control characters become spaces, and the end of a long text is left out;
 * g_free. */
char *flam_process_line_to_text (const FlamProcessLine *line);
/* FALSE: not one, and `line` is empty. `text` is valid UTF-8. */
gboolean flam_process_line_parse (const char *text, FlamProcessLine *line);

#endif
