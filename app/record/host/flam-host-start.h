/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HOST_START_H
#define FLAM_HOST_START_H

/* Starting something on another machine. What it prints on standard output
 * begins after the words of the scripts here. */

#include "flam-connection.h"

/* A script's beginning: its folder, $c. Only Android has no home that can be
 * written to. */
#define FLAM_HOST_CACHE                                                        \
  "h=$HOME; test -w \"$h\" || h=/data/local/tmp; "                             \
  "c=\"${XDG_CACHE_HOME:-$h/.cache}/flambeau\"; "

/* Starts the recorder there with these arguments, words without special
 * characters; copies it there first, unless it has been before. */
gboolean flam_host_start (FlamConnection *connection,
                          const char *host,
                          const char *arguments,
                          GError **error);
/* The same for a script of flam_transport_command(), which prints a word after
 * FLAM_RELAY_WORD; NULL: it did not. g_free. */
char *flam_host_run (FlamConnection *connection,
                     const char *host,
                     const char *script,
                     GError **error);
/* The next such word. Login shells may print before it. */
char *flam_host_read_word (FlamConnection *connection, GError **error);

#endif
