/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_OUTPUT_H
#define FLAM_OUTPUT_H

/* The output of a recording. No existing file is overwritten by default:
 *
 *   OUT is new        created exclusively; if the recorder is killed, the part
 *                     written so far remains
 *   OUT exists        refused, or with --force: a file beside it, STEM-XXXXXX,
 *                     replaces it when it is complete
 *   no OUT was given  PROGRAM.flambeau, PROGRAM-2.flambeau ...
 *
 * Only the owner may read the file: a recording shows what a program did. */

#include <sys/stat.h>

#include "flam-record-options.h"

typedef struct
{
  int fd;           /* -1: none */
  char *path;       /* the final name */
  char *base_lines; /* the name until then, or NULL */
  struct stat made;
} FlamOutput;

gboolean flam_output_open (FlamOutput *output,
                           const FlamRecordOptions *options,
                           GError **error);
/* A new file without a name, in the same folder; -1: not possible. */
int flam_output_unnamed (const FlamOutput *output);
/* The file is complete. */
gboolean flam_output_finish (FlamOutput *output, GError **error);
/* Nothing was recorded: removes the file, if it is still the one that was
 * created. */
void flam_output_abandon (FlamOutput *output);
void flam_output_clear (FlamOutput *output);

#endif
