/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The options of documents (flam-export-options.h) as arguments, and those of
 * pictures that exist only on the command line. */

#include "flam-cli.h"
#include "flam-core-picture.h"
#include "flam-export-options.h"

G_BEGIN_DECLS

typedef struct
{
  FlamExportOptions as;
  char *typed[FLAM_N_EXPORT_OPTIONS];
  gboolean given[FLAM_N_EXPORT_OPTIONS]; /* switches */
  char **rules;                          /* REGEX=COLOR */
  char *rules_file;                      /* the same, a line each */
  gboolean negate;
  FlamColorMap *map;
  FlamColorRules *color_rules;
} FlamCliLook;

void flam_cli_look_clear (FlamCliLook *look);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamCliLook, flam_cli_look_clear)

/* A verb's own entries followed by those of the parts; g_free. */
GOptionEntry *
flam_cli_look_entries (FlamCliLook *look, guint parts, const GOptionEntry *own);

/* The options for a picture of a kind that has `parts`; FLAM_EXIT_USAGE or
 * FLAM_EXIT_REFUSED after printing what is wrong. */
FlamExit flam_cli_look_parse (FlamCliLook *look,
                              const char *verb,
                              const char *kind,
                              guint parts);

/* After drawing: says which rules took too long, and writes the palette file,
 * if there is one; FALSE after printing the error. */
gboolean flam_cli_look_finish (const FlamCliLook *look);

G_END_DECLS
