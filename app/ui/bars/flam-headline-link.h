/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HEADLINE_LINK_H
#define FLAM_HEADLINE_LINK_H

/* The parts of a headline as links of a label. */

#include "flam-core-picture.h"

G_BEGIN_DECLS

/* Pango markup, g_free. */
char *flam_headline_link_markup (const FlamHeadline *headline);
/* The part that a link of this markup stands for. */
const FlamHeadlinePart *flam_headline_link_find (const FlamHeadline *headline,
                                                 const char *uri);

G_END_DECLS

#endif
