/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EXPORT_OPTIONS_H
#define FLAM_EXPORT_OPTIONS_H

/* The options of documents, a row of one table each: the command line's options
 * and the window's dialog are made from these rows, and either gives a word for
 * each:
 *
 *   words ("icicle", "12%", ...) ─▶ take() ─▶ FlamExportOptions ─▶ save()
 */

#include "flam-formats.h"

G_BEGIN_DECLS

/* Parts in addition to FlamPictureStylePart. */
enum
{
  FLAM_PART_FOLDED = 1 << 20, /* of folded stacks */
  FLAM_PART_HASH = 1 << 21,   /* of colors, with the palettes that have it */
};

typedef enum
{
  FLAM_OPTION_SWITCH, /* its word is "" */
  FLAM_OPTION_TEXT,
  FLAM_OPTION_NUMBER,
  FLAM_OPTION_LEAST, /* pixels, or a percentage of the width */
  FLAM_OPTION_CHOICE,
  FLAM_OPTION_FILE, /* for the caller: take() only checks whether it applies */
} FlamOptionKind;

typedef struct
{
  const char *word;
  const char *label; /* NULL: the word */
  guint value;
} FlamOptionWord;

typedef struct
{
  const char *name;     /* "row-height" */
  const char *title;    /* "Row Height"; NULL: not in dialogs */
  const char *what;     /* one line of help */
  const char *argument; /* for the command line: "N"; NULL for switches */
  const char *expected; /* "1 to 200" */
  guint part;           /* FlamPictureStylePart or FLAM_PART_FOLDED */
  FlamOptionKind kind;
  gsize member;                /* of FlamExportOptions */
  double least, most, step;    /* for numbers */
  const FlamOptionWord *words; /* for a choice: up to one without a word */
  const char *unset;           /* for a choice: the default; NULL: words[0] */
} FlamExportOption;

#define FLAM_N_EXPORT_OPTIONS 27
extern const FlamExportOption flam_export_options[FLAM_N_EXPORT_OPTIONS];

/* The parts of FlamExportOptions that a format supports. */
guint flam_exporter_parts (const FlamExporter *exporter);
/* The subset of `parts` that has an effect with the options that are already
 * set: a treemap has no order. */
guint flam_export_options_parts (const FlamExportOptions *options, guint parts);

/* Sets the options that have a word: `words` is as long as the table, NULL for
 * options without one, and must outlive `options`. `kind` names the owner of
 * `parts` in errors. FALSE with FLAM_ERROR_INVALID. */
gboolean flam_export_options_take (FlamExportOptions *options,
                                   const char *const *words,
                                   guint parts,
                                   const char *kind,
                                   GError **error);

G_END_DECLS

#endif
