/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CONTROL_H
#define FLAM_CONTROL_H

/* The line protocol between the recorder and the program that started it (the
 * window or the command line), over one bidirectional descriptor (a socket
 * pair).
 *
 *   to the recorder                 from the recorder
 *   stop         end the recording  waiting NAME        no process of it yet
 *                                   target PID          it runs
 *   pause        take no samples    status MS SAMPLES THREADS LOST
 *   resume                          paused | resumed
 *   mark TEXT    put a mark         error TEXT          for users, one line
 *   terminate    SIGTERM to the     exited STATUS       the target; 128 + N by
 *                target                                 signal N
 *   interrupt    SIGINT as from
 *                the terminal
 *                                   left PID NAME       a process that outlived
 *                                                       the program: a line
 *                                                       for each
 *                                   finishing           no more samples;
 *                                                       symbols are resolved
 *                                   stops NS            how long threads were
 *                                                       stopped, the median
 *                                   done FILE           the capture is whole
 *                                   broken | joined     the line to another
 *                                                       machine
 *
 * When the other side closes its end, the recording ends as with `stop`. */

#include <glib.h>

typedef enum
{
  FLAM_COMMAND_NONE,
  FLAM_COMMAND_STOP,
  FLAM_COMMAND_PAUSE,
  FLAM_COMMAND_RESUME,
  FLAM_COMMAND_MARK,
  FLAM_COMMAND_TERMINATE,
  FLAM_COMMAND_INTERRUPT,
} FlamCommand;

typedef struct
{
  int fd; /* -1: no peer */
  GString *input;
  gboolean closed;
} FlamControl;

void flam_control_init (FlamControl *control, int fd);
void flam_control_clear (FlamControl *control);
/* Reads the available input without waiting. */
void flam_control_read (FlamControl *control);
/* The next command of the input; `text` (g_free) is the rest of its line. */
FlamCommand flam_control_next (FlamControl *control, char **text);
/* Sends one line; line breaks in it become spaces. The peer may be closed. */
void flam_control_say (FlamControl *control, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

#endif
