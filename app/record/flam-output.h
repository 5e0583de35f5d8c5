/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where a recording goes. Nothing is written over that was there before:
 *
 *   OUT is new        made, exclusively; when the recorder is killed, what it
 *                     had written is there
 *   OUT exists        refused, or with --force: a file beside it, STEM-XXXXXX,
 *                     takes its place when it is whole
 *   no OUT was given  PROGRAM.flambeau, PROGRAM-2.flambeau ...
 *
 * Its owner alone may read it: a recording says what a program did. */

#include <sys/stat.h>

#include "flam-record-options.h"

typedef struct
{
  int fd;       /* -1: none */
  char *path;   /* what it is called in the end */
  char *beside; /* what it is called until then, or NULL */
  struct stat made;
} FlamOutput;

gboolean flam_output_open (FlamOutput *output,
                           const FlamRecordOptions *options,
                           GError **error);
/* It is whole. */
gboolean flam_output_finish (FlamOutput *output, GError **error);
/* Nothing was recorded: removed, if it is still what was made. */
void flam_output_abandon (FlamOutput *output);
void flam_output_clear (FlamOutput *output);
