/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MARKUP_H
#define FLAM_MARKUP_H

/* The tags of SVG, XML and HTML, one after another: no tree is built, and the
 * markup need not be well formed. Comments, CDATA and scripts are skipped.
 * Nothing is copied. */

#include "flam-text.h"

typedef struct
{
  const char *start;
  const char *at; /* after the last returned tag */
  const char *end;
} FlamMarkup;

typedef struct
{
  FlamSlice name; /* "rect"; "/rect" closes */
  FlamSlice attributes;
  gboolean empty; /* <rect … /> */
} FlamTag;

void flam_markup_init (FlamMarkup *markup, const FlamSource *source);
/* FALSE at the end. */
gboolean flam_markup_next (FlamMarkup *markup, FlamTag *tag);
/* The text between the tag and the next one. */
FlamSlice flam_markup_text (const FlamMarkup *markup);
double flam_markup_fraction (const FlamMarkup *markup);

gboolean flam_tag_is (const FlamTag *tag, const char *name);
gboolean
flam_tag_attribute (const FlamTag *tag, const char *name, FlamSlice *value);

/* With its entities (&lt;) decoded. */
void flam_markup_unescape (GString *out, FlamSlice text);

#endif
