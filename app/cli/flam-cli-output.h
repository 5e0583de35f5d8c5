/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_OUTPUT_H
#define FLAM_CLI_OUTPUT_H

/* --output and --force of a verb that prints: all its output, lines or a
 * document, goes to a file, which appears as a whole or not at all.
 *
 *    begin()     printf, g_print ─▶ stdout ─┐
 *                document ──────────────────┴─▶ sink ─▶ file, or the real
 *    end()       the file gets its name                 standard output */

#include "flam-cli.h"

#include <stdio.h>

G_BEGIN_DECLS

typedef struct
{
  char *path; /* as typed; NULL or "-": standard output */
  gboolean force;
  FlamSink *sink; /* the sink for a document */
  FILE *real;     /* the original standard output, while it is redirected */
} FlamCliOutput;

/* FALSE after printing why the file cannot be written. */
gboolean flam_cli_output_begin (FlamCliOutput *output);
/* FALSE after printing that it could not be written. */
gboolean flam_cli_output_end (FlamCliOutput *output);
/* Without end(), no file is created. */
void flam_cli_output_clear (FlamCliOutput *output);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamCliOutput, flam_cli_output_clear)

#define FLAM_OUTPUT_ENTRIES(output)                                            \
  { "output",                                                                  \
    'o',                                                                       \
    0,                                                                         \
    G_OPTION_ARG_FILENAME,                                                     \
    &(output).path,                                                            \
    N_ ("Output file (default: text to standard output)"),                     \
    "OUT" },                                                                   \
  {                                                                            \
    "force", 'f', 0, G_OPTION_ARG_NONE, &(output).force,                       \
        N_ ("Replace OUT if it exists"), NULL                                  \
  }

G_END_DECLS

#endif
