/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FOLDED_H
#define FLAM_FOLDED_H

/* A line of folded stacks, and the meaning of its texts. See
 * flam-import-folded.c.
 *
 * Suffixes of frames give their kind: _[k] kernel, _[j] compiled at run time,
 * _[i] inlined, _[w] the waker's stack, and async-profiler's _[0] interpreted
 * and _[1] compiled lightly.
 *
 * py-spy's frames contain their place, those of native code their library:
 *
 *    process 12:"python app.py";thread (0x7F12): MainThread;
 *    main (app.py:30);work (lib/work.py:7);poll (libc.so.6) 12
 *
 * Its first texts, and async-profiler's "[main tid=12]", are not frames: they
 * identify the thread. */

#include "flam-core-profile.h"
#include "flam-text.h"

/* The number of decimal places that are kept of a weight. */
#define FLAM_FOLDED_MAX_PLACES 6

extern const gint64 flam_folded_powers[FLAM_FOLDED_MAX_PLACES + 1];

typedef struct
{
  const char *stack; /* the text before the weights */
  gsize length;
  gint64 weight[2]; /* [0] the weight (now), [1] before; times 10^places,
                       never below zero */
  guint places;
} FlamFoldedLine;

/* Parses a line with this many weights at its end. FALSE: it does not have
 * them. */
gboolean flam_folded_parse_line (const char *text,
                                 gsize length,
                                 guint n_columns,
                                 FlamFoldedLine *line);
/* Empty, or a comment. */
gboolean flam_folded_is_skipped (const char *text, gsize length);
guint flam_folded_probe (const FlamSource *source);

typedef struct
{
  FlamBuilder *builder;
  gboolean places;       /* frames contain their place, as py-spy's */
  FlamProcessId process; /* of the current stack; FLAM_NONE: none given */
  FlamId lone;           /* of stacks without any; FLAM_NONE: not made yet */
} FlamFoldedNames;

void flam_folded_names_init (FlamFoldedNames *names,
                             FlamBuilder *builder,
                             const FlamSource *source);
FlamFrameId
flam_folded_frame (FlamFoldedNames *names, const char *name, gsize length);
/* FALSE: the text before the first frame is a frame. Otherwise it changed
 * `thread`, initially FLAM_NONE, or the process. */
gboolean flam_folded_thread (FlamFoldedNames *names,
                             const char *text,
                             gsize length,
                             FlamThreadId *thread);
/* For stacks whose texts give no thread. */
FlamThreadId flam_folded_main_thread (FlamFoldedNames *names);

/* --- a part of a text ----------------------------------------------------- */

/* The sum of the lines with the same text. */
typedef struct
{
  FlamFingerprint print;
  const char *stack; /* in the first of them */
  gsize length;
  gint64 weight[2];
} FlamFoldedRow;

/* Lines in a row with the same text. */
typedef struct
{
  FlamId row; /* FlamFoldedRow */
  gint64 weight[2];
} FlamFoldedRun;

typedef struct
{
  const FlamSource *source;
  FlamText text;
  guint n_columns;
  guint places; /* of all weights in it */
  const FlamFingerprintKey *key;
  FlamColumn rows; /* FlamFoldedRow: in the order of their first lines */
  gboolean in_order;
  FlamColumn runs; /* FlamFoldedRun, if in_order */
  FlamInterner interner;
  guint64 good;
} FlamFoldedPart;

/* The key is the same for all parts, and outlives them. */
void flam_folded_part_init (FlamFoldedPart *part,
                            const FlamSource *source,
                            const FlamText *text,
                            const FlamFingerprintKey *key,
                            guint n_columns,
                            gboolean in_order);
void flam_folded_part_clear (FlamFoldedPart *part);
gboolean flam_folded_part_read (FlamFoldedPart *part,
                                const FlamProgress *progress,
                                GError **error);
/* Gives weights this many decimal places, more than they have. FALSE: one
 * overflows. */
gboolean flam_folded_part_raise_places (FlamFoldedPart *part, guint places);
/* The weights of a row (FlamFoldedRow) with the same text. FALSE: the sum
 * overflows. */
gboolean flam_folded_row_add (gpointer first, gconstpointer row);
/* FALSE, with an error: the sum of the weights overflows. */
gboolean flam_folded_overflow (const FlamSource *source, GError **error);

/* --- texts of stacks -> stacks ------------------------------------------- */

typedef struct
{
  FlamStackId stack;
  FlamThreadId thread;
  gint64 weight[2];
} FlamFoldedSample;

typedef struct
{
  FlamBuilder *builder;
  FlamFoldedNames names;
  const FlamFingerprintKey *key;
  FlamColumn known; /* names of frames, in order */
  FlamInterner interner;
  FlamColumn path;         /* FlamId: frames of the current stack */
  FlamColumn last_ends;    /* guint32: offset after each frame of `last` */
  FlamColumn last_stacks;  /* FlamId */
  FlamColumn last_threads; /* FlamId */
  const char *last;
  gsize last_length;
} FlamFoldedStacks;

/* The builder and the key are the caller's. */
void flam_folded_stacks_init (FlamFoldedStacks *stacks,
                              FlamBuilder *builder,
                              const FlamSource *source,
                              const FlamFingerprintKey *key);
void flam_folded_stacks_clear (FlamFoldedStacks *stacks);
/* Sets the sample's stack and thread. The text must outlive the stacks. */
void flam_folded_stacks_add (FlamFoldedStacks *stacks,
                             const char *text,
                             gsize length,
                             FlamFoldedSample *sample);

#endif
