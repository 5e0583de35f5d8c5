/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEXT_H
#define FLAM_TEXT_H

/* Shared by the importers of text: lines, numbers, and a table from pieces of
 * text to ids. Nothing is copied: pieces point into the source, which outlives
 * the load. */

#include "flam-core-profile.h"
#include "flam-load.h"

typedef struct
{
  const FlamSource *source; /* NULL: the end is fixed */
  const char *start;
  const char *at; /* the next line's first byte */
  const char *end;
  guint64 line;           /* number of the last returned line, from 1 */
  guint64 before;         /* lines of the file before the first */
  guint64 bad, first_bad; /* invalid lines, counted with flam_text_bad() */

  /* Only with flam_text_open(). */
  const FlamProgress *progress;
  const char *tell_at; /* no progress is reported before */
  const guint8 *left;  /* unpacked bytes before it were released */
  GError *cancelled;
} FlamText;

static inline void
flam_text_init (FlamText *text, const FlamSource *source)
{
  *text = (FlamText){ .source = source,
                      .start = (const char *)source->data,
                      .at = (const char *)source->data,
                      .before = source->lines_before,
                      .end = (const char *)source->data + source->size,
                      .tell_at = (const char *)G_MAXSIZE };
}

/* For a loop over all of the lines, which reports progress. When cancelled, the
 * loop ends early, and flam_text_close() is FALSE. */
void flam_text_open (FlamText *text,
                     const FlamSource *source,
                     const FlamProgress *progress);
/* The same for bytes in memory, a part of a text (flam-parts.h). */
void flam_text_reopen (FlamText *text, const FlamProgress *progress);
gboolean flam_text_close (FlamText *text, GError **error);
void flam_text_tell (FlamText *text);

/* Waits for more unpacked bytes; FALSE: there are no more. */
gboolean flam_text_more (FlamText *text);
/* The last line has no newline because the wrapper is truncated. */
gboolean flam_text_is_half (const FlamText *text);

/* The next line without its "\n" or "\r\n"; FALSE at the end. A truncated line
 * is left out. */
static inline gboolean
flam_text_next (FlamText *text, const char **line, gsize *length)
{
  const char *newline;

  if (G_UNLIKELY (text->at >= text->tell_at))
    flam_text_tell (text);
  newline = memchr (text->at, '\n', text->end - text->at);
  while (newline == NULL && flam_text_more (text))
    newline = memchr (text->at, '\n', text->end - text->at);
  if (text->at == text->end || (newline == NULL && flam_text_is_half (text)))
    return FALSE;
  if (newline == NULL)
    newline = text->end;
  *line = text->at;
  *length = newline - text->at;
  if (*length > 0 && newline[-1] == '\r')
    --*length;
  text->at = newline == text->end ? newline : newline + 1;
  text->line++;
  return TRUE;
}

/* Counts the last returned line as invalid. */
static inline void
flam_text_bad (FlamText *text)
{
  if (text->bad++ == 0)
    text->first_bad = text->before + text->line;
}

/* Adds a warning with their number: "N lines make no sense as `what`". */
void flam_text_warn_bad (const FlamText *text,
                         FlamBuilder *builder,
                         const char *what);

/* For texts whose last line has an end. Without one, the profile is marked as
 * partial; TRUE: it was. */
gboolean flam_text_warn_half (const FlamText *text, const FlamLoad *load);

/* The progress: in the file, or in the text whose end is known. */
static inline double
flam_text_fraction (const FlamText *text)
{
  return text->source != NULL
             ? flam_source_fraction (
                   text->source, text->at - (const char *)text->source->data)
             : (double)(text->at - text->start) /
                   MAX (text->end - text->start, 1);
}

/* The end of the comments and empty lines at the start of a text: they do not
 * identify it, and there may be any number of them. */
#define FLAM_TEXT_MOST_COMMENTS ((gsize)64 << 20)
gsize flam_text_skip_comments (const char *text, gsize size);
/* The head for probes: whole lines if there are any in it. */
FlamText flam_text_head (const FlamSource *source);
/* The same of text; empty for anything else. */
FlamText flam_text_plain_head (const FlamSource *source);
/* Text has no control characters except tabs, line ends and form feeds. */
gboolean flam_text_is_text (const FlamText *head);

static inline gboolean
flam_text_is_space (char c)
{
  return c == ' ' || c == '\t';
}

static inline gboolean
flam_text_is_digit (char c)
{
  return (guint8)(c - '0') < 10;
}

/* Parses decimal digits at *p, which moves past them. FALSE if there are none,
 * or on overflow. */
gboolean flam_text_number (const char **p, const char *end, gint64 *value);
gboolean flam_text_hex (const char **p, const char *end, guint64 *value);

/* A part of the text, in place. */
typedef struct
{
  const char *text;
  gsize length;
} FlamSlice;

static inline gboolean
flam_slice_is (FlamSlice slice, const char *text)
{
  return slice.length == strlen (text) &&
         memcmp (slice.text, text, slice.length) == 0;
}

static inline gboolean
flam_slice_begins (FlamSlice slice, const char *text)
{
  gsize length = strlen (text);

  return slice.length >= length && memcmp (slice.text, text, length) == 0;
}

static inline gboolean
flam_slice_ends (FlamSlice slice, const char *text)
{
  gsize length = strlen (text);

  return slice.length >= length &&
         memcmp (slice.text + slice.length - length, text, length) == 0;
}

static inline FlamSlice
flam_slice_trim (const char *start, const char *end)
{
  while (start < end && flam_text_is_space (*start))
    start++;
  while (end > start && (flam_text_is_space (end[-1]) || end[-1] == '\r'))
    end--;
  return (FlamSlice){ start, end - start };
}

/* For probes, a loop over the lines of the head; it has none if the head is not
 * text. */
#define flam_text_each_of_head(source, line)                                   \
  for (FlamText head_ = flam_text_plain_head (source), *once_ = &head_;        \
       once_ != NULL;                                                          \
       once_ = NULL)                                                           \
    for (FlamSlice line; flam_text_next (&head_, &line.text, &line.length);)

/* Calls read() for each line of the capture; it returns FALSE for an invalid
 * line, and their number is a warning about `what` (NULL: none). FALSE:
 * cancelled. */
gboolean flam_text_read (FlamText *text,
                         const FlamLoad *load,
                         gboolean (*read) (gpointer reader, FlamSlice line),
                         gpointer reader,
                         const char *what,
                         GError **error);

/* --- pieces of text -> ids ----------------------------------------------- */

typedef struct
{
  const char *text;
  guint32 length;
  FlamId context; /* the same text has another meaning in another context */
  FlamId value;
} FlamPiece;

typedef struct
{
  FlamColumn pieces; /* FlamPiece */
  FlamInterner interner;
} FlamPieces;

void flam_pieces_init (FlamPieces *pieces);
void flam_pieces_clear (FlamPieces *pieces);
/* Freed with the load, and in memory that is. */
void flam_arena_pieces (FlamLoad *load, FlamPieces *pieces);

static inline gboolean
flam_piece_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamPiece *a = (const FlamPiece *)table + row;
  const FlamPiece *b = key;

  return a->length == b->length && a->context == b->context &&
         memcmp (a->text, b->text, b->length) == 0;
}

static inline guint32
flam_pieces_hash (const char *text, guint32 length, FlamId context)
{
  return flam_hash_bytes (text, length) + context * 0x9e3779b1u;
}

/* The piece's row in `pieces->pieces`; `*is_new`: this call added it, and its
 * value is FLAM_NONE. */
static inline FlamId
flam_pieces_find (FlamPieces *pieces,
                  const char *text,
                  guint32 length,
                  FlamId context,
                  gboolean *is_new)
{
  FlamPiece key = { text, length, context, FLAM_NONE };
  guint32 hash = flam_pieces_hash (text, length, context);
  FlamSlot *slot = flam_interner_find (
      &pieces->interner, hash, flam_piece_equal, pieces->pieces.data, &key);

  *is_new = slot->id == FLAM_NONE;
  if (*is_new)
    {
      slot->hash = hash;
      slot->id = pieces->pieces.n;
      pieces->interner.used++;
      flam_column_append (&pieces->pieces, FlamPiece, key);
    }
  return slot->id;
}

static inline FlamId *
flam_pieces_value (FlamPieces *pieces, FlamId row)
{
  return &flam_column_at (&pieces->pieces, FlamPiece, row).value;
}

#endif
