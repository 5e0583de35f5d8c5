/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_AMOUNT_H
#define FLAM_AMOUNT_H

/* Parses amounts as tools print them, "1,234 samples", "711.4 ms", "1.5 GB",
 * into whole numbers of ns, bytes or things. */

#include "flam-core-profile.h"

typedef struct
{
  gint64 value;
  FlamUnit unit;
  gboolean has_unit; /* it had a unit of time or memory */
} FlamPrintedAmount;

/* Parses a decimal number at *p times `scale`, rounded; *p moves past it.
 * Commas and narrow spaces between digits are skipped. FALSE: no number, or it
 * does not fit. */
gboolean
flam_amount_number (const char **p, const char *end, gint64 scale, gint64 *n);
/* Parses a number and its unit, which may be missing or another word: then it
 * is a count, and *p stays before the word. */
gboolean
flam_amount_parse (const char **p, const char *end, FlamPrintedAmount *amount);

#endif
