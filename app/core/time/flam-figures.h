/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a history keeps of one capture once the capture itself is gone: a few
 * tens of kilobytes, whatever its size was.
 *
 *   profile + selection  ─▶  measures ─┬─ total
 *                                      └─ functions, by name: self, total
 *                            date, duration, peak memory, command, host, build
 *
 * Of the functions those are kept that are among the largest of this capture,
 * by total or by self. Of the others it is known how much they are at most
 * (`least_self`, `least_total`), so that what was left out is never taken for
 * nothing. Immutable, reference counted, any thread may read it. */

#include "flam-tree.h"

G_BEGIN_DECLS

/* Of a capture, beside FlamFacts: the name of the computer. */
#define FLAM_FACT_HOST "host"

typedef struct
{
  char *name; /* a GRefString: captures of one program share their names */
  gint64 self;
  gint64 total;
} FlamFiguresFunction;

typedef struct
{
  char *id;            /* "cpu-time" */
  char *name;          /* for people */
  FlamMeasure measure; /* unit, kind, denominator; no ids and no weights */
  gint64 total;        /* of the selection without its transforms */
  gint64 left;         /* what the transforms leave; the total, if `functions`
                          is NULL */
  guint n_functions;
  FlamFiguresFunction *functions; /* by name, each once; NULL: not kept */
  gint64 least_self; /* what is not listed has at most so much; 0: all are */
  gint64 least_total;
} FlamFiguresMeasure;

typedef struct
{
  char *path;       /* to open it by */
  char *name;       /* the path as it is shown, and as a key's regex sees it */
  gint64 date;      /* ns since 1970 */
  gboolean of_file; /* the capture has no date: it is its file's */
  gint64 start_unix_ns; /* the capture's own, 0 unknown */
  gint64 duration_ns;   /* 0 unknown */
  gint64 peak_bytes;    /* of memory: of its allocations, or of a counter of
                           resident or heap memory; -1 unknown */
  gint64 modified; /* the file's time, ns, and size: what was read from it */
  gint64 size;     /* holds as long as these are the same */
  char *format;
  char *command; /* "" unknown, as the next ones */
  char *host;
  char *build;   /* build id of the program that the command names */
  guint measure; /* the selected one's index */
  guint n_measures;
  FlamFiguresMeasure *measures;
} FlamFigures;

typedef struct
{
  guint functions;       /* the largest by total and the largest by self, so
                            many of each; 0: all */
  gboolean all_measures; /* have functions; else the selected one alone */
} FlamFiguresKeep;

/* How many measures have functions at most. */
#define FLAM_FIGURES_MEASURES 16

/* NULL only when cancelled. Its file's time and size are the caller's to say
 * (flam_figures_set_file), before others see it. The selection must not be
 * inverted. */
FlamFigures *flam_figures_new (const char *path,
                               const FlamProfile *profile,
                               const FlamSelection *selection,
                               const FlamFiguresKeep *keep,
                               const FlamProgress *progress,
                               GError **error);
void flam_figures_set_file (FlamFigures *figures,
                            const char *name,
                            gint64 modified,
                            gint64 size);
FlamFigures *flam_figures_ref (const FlamFigures *figures);
void flam_figures_unref (FlamFigures *figures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFigures, flam_figures_unref)

/* The selected one; NULL: the capture has no measure. */
const FlamFiguresMeasure *flam_figures_selected (const FlamFigures *figures);
/* NULL: it has none of this id. */
const FlamFiguresMeasure *flam_figures_find (const FlamFigures *figures,
                                             const char *id);
/* NULL: it is not listed. */
const FlamFiguresFunction *
flam_figures_find_function (const FlamFiguresMeasure *measure,
                            const char *name);

typedef struct
{
  const char *name; /* valid as long as the figures */
  gint64 delta;     /* of self, in the later one's denominator */
} FlamFiguresMove;

/* The functions whose self moved between two captures, the largest change
 * first, ties by name, `most` at most; g_free. Both have the measure selected;
 * where they cannot be told apart there are none. */
FlamFiguresMove *flam_figures_moves (const FlamFigures *before,
                                     const FlamFigures *after,
                                     guint most,
                                     guint *n);
/* A weight of one denominator in another. */
gint64 flam_figures_rescale (gint64 weight, gint64 from, gint64 to);
/* The same kind and unit: with rescale() the one can be set against the
 * other. */
gboolean flam_figures_are_like (const FlamMeasure *a, const FlamMeasure *b);

G_END_DECLS
