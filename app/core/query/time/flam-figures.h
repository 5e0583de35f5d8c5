/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FIGURES_H
#define FLAM_FIGURES_H

/* The data that a history keeps of one capture after the capture is freed: a
 * few tens of kilobytes, whatever its size.
 *
 *   profile + selection  ─▶  measures ─┬─ total
 *                                      └─ functions, by name: self, total
 *                            date, duration, peak memory, command, host, build
 *
 * The functions that are among the largest of this capture, by total or by
 * self, are kept. For the others there is an upper bound (`least_self`,
 * `least_total`), so that a function that was left out is not mistaken for 0.
 * Immutable, reference counted, any thread may read it. */

#include "flam-tree.h"

G_BEGIN_DECLS

typedef struct
{
  char *name; /* a GRefString: captures of one program share their names */
  gint64 self;
  gint64 total;
  FlamEstimate self_estimate;
  FlamEstimate total_estimate;
} FlamFiguresFunction;

typedef struct
{
  char *id;            /* "cpu-time" */
  char *name;          /* for people */
  FlamMeasure measure; /* unit, kind, denominator; no ids and no weights */
  gint64 total;        /* of the selection without its transforms */
  gint64 left;         /* after the transforms; the same as the total if
                          `functions` is NULL */
  FlamEstimate total_estimate, left_estimate;
  guint n_functions;
  FlamFiguresFunction *functions; /* by name, each once; NULL: not kept */
  gint64 least_self; /* upper bounds of those not listed; 0: all are */
  gint64 least_total;
} FlamFiguresMeasure;

typedef struct
{
  char *path;       /* to open the capture */
  char *name;       /* the path as shown, and as passed to a key's regex */
  gint64 date;      /* ns since 1970 */
  gboolean of_file; /* the capture has no date: `date` is that of its file */
  gint64 start_unix_ns; /* the capture's own, 0 unknown */
  gint64 duration_ns;   /* 0 unknown */
  gint64 peak_bytes;    /* of memory: of its allocations, or of a counter of
                           resident or heap memory; -1 unknown */
  gint64 modified; /* the file's time, ns, and size: the data read from it */
  gint64 size;     /* is valid as long as these are the same */
  char *format;
  char *command; /* "" unknown, as for the next ones */
  char *host;
  char *job;     /* of a parallel job, or of the CI job that ran the program */
  char *commit;  /* of the sources, as given by the user; not in captures */
  char *build;   /* build id of the program that the command names */
  guint measure; /* index of the selected one */
  guint n_measures;
  FlamFiguresMeasure *measures;
} FlamFigures;

typedef struct
{
  guint functions; /* this many of the largest by total and by self; 0: all */
  gboolean all_measures; /* of all measures; otherwise of the selected one */
} FlamFiguresKeep;

/* The largest number of measures with functions. */
#define FLAM_FIGURES_MEASURES 16

/* NULL only when cancelled. The caller has to set the time and size of the file
 * (flam_figures_set_file) before others use the result. The selection must not
 * be inverted. */
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
/* Labels of a run; NULL: it keeps its own. */
void flam_figures_set_labels (FlamFigures *figures,
                              const char *job,
                              const char *commit);
FlamFigures *flam_figures_ref (const FlamFigures *figures);
void flam_figures_unref (FlamFigures *figures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFigures, flam_figures_unref)

/* The selected measure; NULL: the capture has none. */
const FlamFiguresMeasure *flam_figures_selected (const FlamFigures *figures);
/* NULL: it has no measure with this id. */
const FlamFiguresMeasure *flam_figures_find (const FlamFigures *figures,
                                             const char *id);
/* NULL: it is not listed. */
const FlamFiguresFunction *
flam_figures_find_function (const FlamFiguresMeasure *measure,
                            const char *name);

typedef struct
{
  const char *name; /* valid as long as the figures */
  gint64 delta;     /* of self; a weight of flam_rescale_measure() of the two */
  FlamEstimate estimate;
} FlamFiguresMove;

/* The functions whose self changed between two captures, the largest change
 * first, ties by name, at most `most`; g_free. Both have the measure selected;
 * none where the two cannot be compared. */
FlamFiguresMove *flam_figures_moves (const FlamFigures *before,
                                     const FlamFigures *after,
                                     guint most,
                                     guint *n);

G_END_DECLS

#endif
