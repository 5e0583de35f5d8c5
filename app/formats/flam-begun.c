/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-begun.h"

#include <string.h>

#define FIRST (4 << 20)
#define GROWTH 4
/* A longer beginning of the file takes too much of the time for the whole. */
#define MOST_SHARE (1.0 / 8)
#define MOST (256 << 20)
/* Where the end of a paragraph is searched for. */
#define TAIL (256 << 10)

/* Stacks of texts are paragraphs or lines: neither is cut in two. */
static gsize
end_of_text (const char *text, gsize size)
{
  gsize from = size > TAIL ? size - TAIL : 0;
  const char *newline = NULL;

  for (const char *p = text + size - 1; p > text + from; p--)
    if (*p == '\n')
      {
        if (p[-1] == '\n')
          return (gsize)(p + 1 - text);
        if (newline == NULL)
          newline = p;
      }
  return newline != NULL ? (gsize)(newline + 1 - text) : size;
}

static gboolean
wait_for (const FlamSource *source, gsize size)
{
  gsize have = 0, before;

  do
    {
      before = have;
      have = flam_source_more (source, before);
    }
  while (have < size && have > before);
  return have >= size;
}

FlamSource *
flam_begun_next (const FlamSource *whole, gboolean text, gsize *size)
{
  gsize end = *size = *size > 0 ? *size * GROWTH : FIRST;

  if (*size > MOST || !wait_for (whole, *size) ||
      flam_source_fraction (whole, *size) > MOST_SHARE)
    return NULL;
  if (text)
    end = end_of_text ((const char *)whole->data, *size);
  return flam_source_new_begun (whole, end);
}
