/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_REFERENCE_H
#define FLAM_CLI_REFERENCE_H

/* The capture that another one is compared with, found in a folder:
 *
 *    ci/main/41.flambeau   Monday      of another series, or
 *    ci/fix/7.flambeau     Tuesday
 *    ci/main/42.flambeau   Wednesday   ◀── the last one before it
 *    ci/main/43.flambeau   Friday      the given one
 *
 * The series is what `group` matches in the path, as for history. */

#include "flam-cli.h"

G_BEGIN_DECLS

typedef struct
{
  const char *folder;
  const char *group; /* or NULL */
  const char *path;  /* the given capture, and itself */
  const FlamProfile *profile;
} FlamCliReference;

/* The path, g_free; NULL after printing the error. */
char *flam_cli_reference_find (const FlamCliReference *asked,
                               FlamCliOptions *options);

G_END_DECLS

#endif
