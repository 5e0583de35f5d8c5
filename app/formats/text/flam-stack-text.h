/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_STACK_TEXT_H
#define FLAM_STACK_TEXT_H

/* Texts with stacks as blocks of lines, as nearly every tracer and debugger
 * prints them:
 *
 *    Thread 2 (LWP 4711):        who
 *    #0  read () from libc.so    a frame, leaf first
 *    #1  main () at nest.c:12    a frame
 *                                the end; elsewhere a count: "    17"
 *
 * A dialect parses the lines: it reads them one by one, and reports frames,
 * threads and ends of blocks here. Dialects of call trees report rows. */

#include "flam-formats.h"

#include "flam-outline.h"
#include "flam-text.h"

typedef struct
{
  FlamSlice name;   /* empty: unknown */
  FlamSlice module; /* empty: none was printed */
  FlamSlice file;
  gint64 line;
  FlamFunctionKind kind;
  guint flags; /* FlamFunctionFlags */
} FlamTextFrame;

FlamFrameId flam_text_frame_make (FlamBuilder *builder,
                                  const FlamTextFrame *frame);

typedef struct _FlamStackText FlamStackText;

typedef struct
{
  const char *what; /* "output of bpftrace", for messages */
  /* FALSE: the line is invalid; it is counted. */
  gboolean (*read_line) (FlamStackText *text, FlamSlice line);
  /* Parses a frame's text, as given to flam_stack_text_frame(); once each. */
  void (*parse_frame) (FlamSlice text, FlamTextFrame *frame);
  /* At the end of the text; may be NULL. */
  void (*finish) (FlamStackText *text);
  FlamFunctionKind kind; /* of its code, without other information */
  gboolean own;          /* its rows have self weights, not totals */
} FlamDialect;

struct _FlamStackText
{
  const FlamDialect *dialect;
  FlamLoad *load;
  const FlamSource *source;
  FlamBuilder *builder;
  FlamWeightsAs weights_as; /* the unit of the counts, given or guessed */
  gboolean told;            /* given by the user */
  FlamPieces frames;
  FlamPieces threads;
  FlamPieces events; /* one per measure; value: its index */
  FlamSlice event;   /* of the samples to come; empty: they have no name */
  GArray *stack;     /* FlamId: the open block's frames, in the text's order */
  FlamThreadId thread;
  FlamState state;
  FlamOutline outline; /* rows, if the text is a tree */
  guint64 samples;
  FlamText lines;

  /* State for dialects. */
  gboolean open;  /* within a block */
  FlamSlice last; /* the line that the next one belongs to */
  gint64 pid;     /* of the threads to come; -1 */
  gint64 count;   /* of the block that is open */
  gpointer kept;  /* more state; its dialect frees it in finish() */
};

/* --- helpers for dialects ------------------------------------------------ */

/* Adds a frame to the open block; only `text` is known of it. */
void flam_stack_text_frame (FlamStackText *text, FlamSlice frame);
/* Sets the source line, on the next line, of the frame added last. */
void
flam_stack_text_source (FlamStackText *text, FlamSlice frame, FlamSlice place);
/* Ids of -1 are unknown. */
void flam_stack_text_thread (FlamStackText *text,
                             FlamSlice name,
                             gint64 pid,
                             gint64 tid);
/* Makes the open block, leaf first, a sample of that weight; nothing if it has
 * no frame. */
void flam_stack_text_end (FlamStackText *text, gint64 weight);
/* The same for dialects with columns and measures of their own. */
void
flam_stack_text_add (FlamStackText *text, guint16 event, const gint64 *weights);
void flam_stack_text_drop (FlamStackText *text);
/* A parse_frame() for the forms of kernel tracers: "main+0x6d [prog]",
 * "libc.so.1`open+0x7", "0xffff8103ce3b : do_sys_open+0x1/0x5a [kernel]". */
void flam_stack_text_parse_traced (FlamSlice text, FlamTextFrame *frame);
/* Adds a row of a tree, deeper than its caller's above it; `frame` may be
 * empty: a thread or a sum. Weights are in the measure's unit. */
void flam_stack_text_row (FlamStackText *text,
                          guint depth,
                          FlamSlice frame,
                          gint64 weight);
void flam_stack_text_add_row (FlamStackText *text,
                              guint depth,
                              FlamFrameId frame,
                              gint64 weight);
/* How many blocks of memory the row added last has; a second measure. */
void flam_stack_text_count (FlamStackText *text, gint64 count);
/* Its counts are µs, those of rows ns; call this before the first of them. */
void flam_stack_text_are_times (FlamStackText *text);
void flam_stack_text_are_bytes (FlamStackText *text);

/* --- importers ----------------------------------------------------------- */

/* Loads with the dialect that is the importer's form. */
gboolean flam_stack_text_load (FlamLoad *load, GError **error);

/* Defines flam_import_NAME with dialect_NAME and probe_NAME(). */
#define FLAM_STACK_TEXT_IMPORTER(name, id_, label_, written_by_, ...)          \
  static const char *const suffixes_##name[] = { __VA_ARGS__, NULL };          \
  const FlamImporter flam_import_##name = {                                    \
    .id = id_,                                                                 \
    .label = label_,                                                           \
    .written_by = written_by_,                                                 \
    .suffixes = suffixes_##name,                                               \
    .mime_types = flam_stack_text_mime_types,                                  \
    .probe = probe_##name,                                                     \
    .load = flam_stack_text_load,                                              \
    .form = &dialect_##name,                                                   \
    .streams = TRUE,                                                           \
  };

extern const char *const flam_stack_text_mime_types[];

/* --- pieces of lines ----------------------------------------------------- */

/* Without its first `n` bytes. */
static inline FlamSlice
flam_slice_from (FlamSlice slice, gsize n)
{
  return (FlamSlice){ slice.text + n, slice.length - n };
}

/* The offset of `text` in it; its length: not found. */
static inline gsize
flam_slice_find (FlamSlice slice, const char *text)
{
  const char *found = NULL;

  if (slice.text != NULL)
    found = memmem (slice.text, slice.length, text, strlen (text));

  return found != NULL ? (gsize)(found - slice.text) : slice.length;
}

static inline gsize
flam_slice_find_last (FlamSlice slice, const char *text)
{
  gsize length = strlen (text);

  for (gsize i = slice.length; i >= length && i > 0; i--)
    if (i - length < slice.length &&
        memcmp (slice.text + i - length, text, length) == 0)
      return i - length;
  return slice.length;
}

static inline FlamSlice
flam_slice_strip (FlamSlice slice)
{
  return flam_slice_trim (slice.text, slice.text + slice.length);
}

/* Takes the text up to the next tab, which is removed, too. */
static inline FlamSlice
flam_slice_take_cell (FlamSlice *rest)
{
  gsize tab = flam_slice_find (*rest, "\t");
  FlamSlice cell = { rest->text, tab };

  *rest = flam_slice_from (*rest, MIN (tab + 1, rest->length));
  return cell;
}

/* Whether it consists only of digits. */
gboolean flam_slice_number (FlamSlice slice, gint64 *value);
/* The digits after `text` in it; -1: none. */
gint64 flam_slice_number_after (FlamSlice slice, const char *text);
/* "nest.c:12", "nest.c:12:3": cuts the numbers off. */
void flam_slice_location (FlamSlice place, FlamSlice *file, gint64 *line);

#endif
