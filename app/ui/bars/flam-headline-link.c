/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-headline-link.h"

#include <stdlib.h>

static char *
show_link (const FlamHeadlinePart *part,
           guint sentence,
           guint index,
           gpointer data)
{
  /* A part of a word would be isolated from its place otherwise, if it is
   * written in the other direction. */
  return g_markup_printf_escaped (
      "<a href=\"%u.%u\">\u2068%s\u2069</a>", sentence, index, part->text);
}

char *
flam_headline_link_markup (const FlamHeadline *headline)
{
  return flam_headline_show (headline, show_link, NULL);
}

const FlamHeadlinePart *
flam_headline_link_find (const FlamHeadline *headline, const char *uri)
{
  char *end;
  gulong sentence = strtoul (uri, &end, 10);
  gulong index = *end == '.' ? strtoul (end + 1, NULL, 10) : 0;

  return &headline->sentence[sentence].part[index];
}
