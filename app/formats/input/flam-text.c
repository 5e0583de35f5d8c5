/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-text.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The size of the head for probes, which is larger only if the first line
 * is. */
#define HEAD (16 << 10)
#define LONGEST_FIRST_LINE (4 << 20)
#define PROGRESS_BYTES (1 << 20)

/* The first newline that neither another one nor a comment follows; `end` if
 * there is none. */
static const char *
find_last_newline (const char *p, const char *end)
{
#ifdef __SSE2__
  const __m128i newline = _mm_set1_epi8 ('\n'), hash = _mm_set1_epi8 ('#');

  for (; end - p > 16; p += 16)
    {
      __m128i here = _mm_loadu_si128 ((const __m128i *)p);
      __m128i next = _mm_loadu_si128 ((const __m128i *)(p + 1));
      __m128i goes_on = _mm_or_si128 (_mm_cmpeq_epi8 (next, newline),
                                      _mm_cmpeq_epi8 (next, hash));
      int mask = _mm_movemask_epi8 (
          _mm_andnot_si128 (goes_on, _mm_cmpeq_epi8 (here, newline)));

      if (mask != 0)
        return p + __builtin_ctz (mask);
    }
#endif
  for (; end - p > 1; p++)
    if (p[0] == '\n' && p[1] != '\n' && p[1] != '#')
      return p;
  return end;
}

gsize
flam_text_skip_comments (const char *text, gsize size)
{
  const char *end = text + MIN (size, FLAM_TEXT_MOST_COMMENTS);
  const char *last;

  if (size == 0 || (*text != '#' && *text != '\n'))
    return 0;
  last = find_last_newline (text, end);
  return last < end ? (gsize)(last + 1 - text) : (gsize)(end - text);
}

FlamText
flam_text_head (const FlamSource *source)
{
  FlamText head;
  gsize size = source->size, wanted;

  flam_text_init (&head, source);
  wanted = HEAD + flam_text_skip_comments (head.start, size);
  if (size > wanted)
    {
      const char *last = memrchr (head.start, '\n', wanted);
      if (last == NULL)
        last = memchr (head.start + wanted,
                       '\n',
                       MIN (size - wanted, (gsize)LONGEST_FIRST_LINE));
      size = last != NULL ? (gsize)(last + 1 - head.start) : wanted;
    }
  head.end = head.start + size;
  head.source = NULL;
  return head;
}

gboolean
flam_text_more (FlamText *text)
{
  const char *first;
  gsize have, there;

  if (text->source == NULL)
    return FALSE;
  first = (const char *)text->source->data;
  have = text->end - first;
  there = flam_source_more (text->source, have);
  text->end = first + MAX (there, have);
  return there > have;
}

void
flam_text_open (FlamText *text,
                const FlamSource *source,
                const FlamProgress *progress)
{
  flam_text_init (text, source);
  flam_text_reopen (text, progress);
}

void
flam_text_reopen (FlamText *text, const FlamProgress *progress)
{
  text->progress = progress;
  text->tell_at = text->start;
  text->left = (const guint8 *)text->start;
}

gboolean
flam_text_close (FlamText *text, GError **error)
{
  if (text->cancelled == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&text->cancelled));
  return FALSE;
}

void
flam_text_tell (FlamText *text)
{
  text->tell_at = text->at + PROGRESS_BYTES;
  if (text->source != NULL && flam_source_is_unpacked (text->source))
    flam_source_leave_before (
        text->source, &text->left, (const guint8 *)text->at);
  if (flam_progress_step (
          text->progress, flam_text_fraction (text), &text->cancelled))
    return;
  text->source = NULL;
  text->end = text->at;
  text->tell_at = (const char *)G_MAXSIZE;
}

gboolean
flam_text_is_half (const FlamText *text)
{
  return text->source != NULL && flam_source_is_truncated (text->source);
}

void
flam_text_warn_bad (const FlamText *text,
                    FlamBuilder *builder,
                    const char *what)
{
  if (text->bad > 0)
    flam_builder_warn (
        builder,
        FLAM_PLURAL (text->bad,
                     "%" PRIu64
                     " line is not valid as %s and was left out: line %" PRIu64,
                     "%" PRIu64 " lines are not valid as %s and were left out; "
                     "the first is line %" PRIu64),
        text->bad,
        what,
        text->first_bad);
}

gboolean
flam_text_warn_half (const FlamText *text, const FlamLoad *load)
{
  if (text->end == text->start || text->end[-1] == '\n' ||
      flam_source_is_truncated (load->source))
    return FALSE;
  flam_load_partial (load, NULL, N_ ("the file ends in the middle of a line"));
  return TRUE;
}

gboolean
flam_text_is_text (const FlamText *head)
{
  const guint8 *end = (const guint8 *)head->end;

  for (const guint8 *p = (const guint8 *)head->start; p < end; p++)
    if ((*p < 0x20 && *p != '\n' && *p != '\t' && *p != '\r' && *p != '\f') ||
        *p == 0x7f)
      return FALSE;
  return TRUE;
}

FlamText
flam_text_plain_head (const FlamSource *source)
{
  FlamText head = flam_text_head (source);

  if (!flam_text_is_text (&head))
    head.end = head.start;
  return head;
}

gboolean
flam_text_number (const char **p, const char *end, gint64 *value)
{
  const char *start = *p;
  gint64 n = 0;

  for (; *p < end && flam_text_is_digit (**p); ++*p)
    if (__builtin_mul_overflow (n, 10, &n) ||
        __builtin_add_overflow (n, **p - '0', &n))
      return FALSE;
  *value = n;
  return *p > start;
}

gboolean
flam_text_hex (const char **p, const char *end, guint64 *value)
{
  const char *start = *p;
  guint64 n = 0;

  for (; *p < end; ++*p)
    {
      int digit = g_ascii_xdigit_value (**p);
      if (digit < 0)
        break;
      if (n >> 60 != 0)
        return FALSE;
      n = n << 4 | digit;
    }
  *value = n;
  return *p > start;
}

void
flam_pieces_init (FlamPieces *pieces)
{
  flam_column_init (&pieces->pieces, sizeof (FlamPiece));
  flam_interner_init (&pieces->interner);
}

void
flam_pieces_clear (FlamPieces *pieces)
{
  flam_column_clear (&pieces->pieces);
  flam_interner_clear (&pieces->interner);
}

gboolean
flam_text_read (FlamText *text,
                const FlamLoad *load,
                gboolean (*read) (gpointer reader, FlamSlice line),
                gpointer reader,
                const char *what,
                GError **error)
{
  FlamSlice line;

  flam_text_open (text, load->source, load->options->progress);
  while (flam_text_next (text, &line.text, &line.length))
    if (!read (reader, line))
      flam_text_bad (text);
  if (what != NULL)
    flam_text_warn_bad (text, load->builder, what);
  return flam_text_close (text, error);
}

void
flam_arena_pieces (FlamLoad *load, FlamPieces *pieces)
{
  flam_pieces_init (pieces);
  flam_arena_keep (load, pieces, flam_pieces_clear);
}
