/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HEADLINE_H
#define FLAM_HEADLINE_H

/* What stands out in a capture, in a sentence or two to start from:
 *
 *   checksum takes 83 % (mix.c:16)
 *   62 % of the time waits for a lock in queue_pop (queue.c:40)
 *   Peak 18.8 MB, 61 % of it in load (load.c:8). 0.8 MB never freed, in
 *   open_session (session.c:12)
 *   fft takes 55 % (fft.c:9). Rank 3 works 47 % more than the median of all
 *   ranks, most of it in fft (fft.c:9)
 *   No function stands out. The largest is recv with 7.3 % (recv.c:28). Of the
 *   programs, postgres takes the most: 72 %, in 6 processes
 *
 * Each figure is one that a table shows for the same selection: the self of a
 * function, or its total. The user's own code (flam-own-code.h) comes first:
 * each stack is charged to its innermost own frame (that of a block in Ruby or
 * a comprehension in Python to the function around it, if that is on the
 * stack), and another function is named only if no own one is charged with a
 * tenth of the total. The total stands for an own function if most of what it
 * is charged with lies in other code, or if the total is closer to that than
 * the self.
 *
 * Where waits are recorded, the longest state of own code comes first: most of
 * the time is that of a runtime's threads, which wait for something to do. If
 * own code has less than a hundredth, the sentence names the function with
 * which the threads begin that wait most. A futex is a lock, unless the
 * functions that call it are named after something else that threads wait for.
 *
 * Fewer than ten samples of a recorder's clock name nothing: "Too few samples
 * (3) to tell what takes the time".
 *
 * What the recorder's library does within the program is charged to nobody; if
 * it takes a tenth of the total, a sentence of its own gives its share.
 *
 * Of a job, one rank stands out if it works a tenth more than the median; the
 * function is that with most of the difference to the rank at the median.
 *
 * A sentence is a pattern in English and its parts, so that it is translated as
 * a whole and a part can be shown as a link. */

#include "flam-core-query.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_HEADLINE_FUNCTION, /* a function's name, or a figure of it */
  FLAM_HEADLINE_PLACE,    /* a line of it, or its module */
  FLAM_HEADLINE_MEASURE,  /* the total of a measure */
  FLAM_HEADLINE_PROGRAM,  /* all processes of a name, or a figure of them */
  FLAM_HEADLINE_MODULE,   /* a program's file or a library */
  FLAM_HEADLINE_RANK,     /* a process of a parallel job */
  FLAM_HEADLINE_BALANCE,  /* how far that rank is from the others */
  FLAM_HEADLINE_QUALITY,  /* how much data the capture lacks */
} FlamHeadlineKind;

typedef struct
{
  FlamHeadlineKind kind;
  char *text;      /* visible, short, not escaped for markup */
  guint measure;   /* the measure of the sentence's figures */
  FlamId function; /* or FLAM_NONE */
  FlamId file;     /* string; 0: unknown */
  guint32 line;    /* 0: unknown */
  guint32 what;    /* a program's name (string), a module, a rank's number */
} FlamHeadlinePart;

#define FLAM_HEADLINE_PARTS 4

typedef struct
{
  const char *pattern; /* English, with a directive for each part */
  guint n_parts;
  FlamHeadlinePart part[FLAM_HEADLINE_PARTS];
} FlamSentence;

#define FLAM_HEADLINE_SENTENCES 3

typedef struct
{
  guint n; /* 0: nothing is named */
  FlamSentence sentence[FLAM_HEADLINE_SENTENCES];
} FlamHeadline;

/* Of the selection's samples, or, for a measure of memory, of its peak and
 * leaks. NULL only when cancelled. */
FlamHeadline *flam_headline_new (const FlamProfile *profile,
                                 const FlamSelection *selection,
                                 const FlamProgress *progress,
                                 GError **error);
/* The function with the largest change of its self between two trees that are
 * not inverted. `of`, if not NULL, is set to the tree that the sentence's ids
 * belong to: the fresh one, or the base if the function is gone. */
FlamHeadline *flam_headline_new_difference (const FlamTree *base,
                                            const FlamTree *fresh,
                                            FlamDiffScale scale,
                                            const FlamTree **of);
void flam_headline_free (FlamHeadline *headline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamHeadline, flam_headline_free)

/* How a part is written, g_free: as it is, as a link. */
typedef char *(*FlamHeadlineShow) (const FlamHeadlinePart *part,
                                   guint sentence,
                                   guint index,
                                   gpointer data);
/* The sentences, translated, or in English for machines; "" for none; g_free.
 * The text between the parts has no characters that markup escapes. */
char *flam_headline_show (const FlamHeadline *headline,
                          FlamHeadlineShow show,
                          gpointer data);
char *flam_headline_to_text (const FlamHeadline *headline);
char *flam_headline_to_english (const FlamHeadline *headline);
/* Stable ids: "function", "place", "measure", "program", "module", "rank",
 * "balance", "quality". */
const char *flam_headline_kind_to_string (FlamHeadlineKind kind);

G_END_DECLS

#endif
