/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The options of pictures, a row of one table each: what it is called, what it
 * takes, and which kinds of picture it applies to. */

#include "flam-cli.h"
#include "flam-named-color.h"

G_BEGIN_DECLS

#define FLAM_CLI_N_LOOKS 14

typedef struct
{
  FlamLook look;
  char *typed[FLAM_CLI_N_LOOKS];
  char **rules; /* REGEX=COLOR */
  gboolean chart, hash, negate;
  FlamColorMap *map;
  FlamColorRules *color_rules;
} FlamCliLook;

void flam_cli_look_clear (FlamCliLook *look);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamCliLook, flam_cli_look_clear)

/* A verb's own entries and, behind them, those of the parts; g_free. */
GOptionEntry *
flam_cli_look_entries (FlamCliLook *look, guint parts, const GOptionEntry *own);

/* What was typed, for a picture of a kind that has `heeds`; FLAM_EXIT_USAGE
 * or FLAM_EXIT_REFUSED after printing what is wrong. */
FlamExit flam_cli_look_parse (FlamCliLook *look,
                              const char *verb,
                              const char *kind,
                              guint heeds);

/* Writes the palette file, if there is one; FALSE after saying why not. */
gboolean flam_cli_look_finish (const FlamCliLook *look);

G_END_DECLS
