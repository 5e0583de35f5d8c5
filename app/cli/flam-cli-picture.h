/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_PICTURE_H
#define FLAM_CLI_PICTURE_H

/* The options of documents (flam-export-options.h) as arguments, and the
 * options of pictures that only the command line has. */

#include "flam-cli.h"
#include "flam-core-picture.h"
#include "flam-export-options.h"
#include "flam-name-attributes.h"

G_BEGIN_DECLS

typedef struct
{
  FlamExportOptions as;
  char *typed[FLAM_N_EXPORT_OPTIONS];
  gboolean given[FLAM_N_EXPORT_OPTIONS]; /* switches */
  char **rules;                          /* REGEX=COLOR */
  char *rules_file;                      /* a file of rules, one per line */
  gboolean negate;
  FlamColorMap *map;
  FlamNameAttributes *attributes;
  FlamColorRules *color_rules;
} FlamCliPicture;

void flam_cli_picture_clear (FlamCliPicture *look);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamCliPicture, flam_cli_picture_clear)

/* A verb's own entries followed by those of the parts; g_free. */
GOptionEntry *flam_cli_picture_entries (FlamCliPicture *look,
                                        guint parts,
                                        const GOptionEntry *own);

/* The options of a picture that supports `parts`; FLAM_EXIT_USAGE or
 * FLAM_EXIT_REFUSED after printing the error. */
FlamExit flam_cli_picture_parse (FlamCliPicture *look,
                                 const char *verb,
                                 const char *kind,
                                 guint parts);

/* Call after drawing: reports rules that took too long, and writes the palette
 * file, if there is one. FALSE after printing the error. */
gboolean flam_cli_picture_finish (const FlamCliPicture *look);

G_END_DECLS

#endif
