/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PART_H
#define FLAM_PART_H

/* Profile + selection -> the selected part, and its rows as exporters of
 * profiles write them: thread by thread, in order of time, each with its weight
 * by a measure. Samples and blocks of memory have the same form here.
 *
 *    lane   0        1              n: memory of no known thread
 *    rows   ▪▪▪▪▪    ▪▪▪▪▪▪▪▪▪      ▪▪▪
 *
 * Only the part itself is copied, and only if it is not the whole. */

#include "flam-core-query.h"

typedef struct
{
  FlamProfile *profile; /* of the part alone */
  guint measure;        /* the selected one */
  guint32 n_lanes;
  FlamSelection *all;
  gint64 *tids;      /* one per lane: flam_part_tid() */
  FlamId unnumbered; /* the first process without a number, or FLAM_NONE */
  guint32 n_label_sets;
  guint32 *order;  /* blocks, by lane; NULL: there are none */
  guint32 *starts; /* n_lanes + 1, in `order` */
} FlamPart;

typedef struct
{
  gint64 time; /* ns; the row's number if the capture has no times */
  FlamStackId stack;
  gint64 weight; /* never 0 */
  guint8 state;
  guint32 labels; /* a set of marks, or 0 */
} FlamPartRow;

typedef struct
{
  const FlamPart *part;
  const FlamMeasure *measure;
  FlamAllocationFilter filter;
  guint32 at, end;
  guint32 first;
} FlamPartRows;

/* FALSE if the selection is not one of a profile: it has a direction, or
 * rows. */
gboolean flam_part_init (FlamPart *part,
                         const FlamProfile *profile,
                         const FlamSelection *selection,
                         GError **error);
void flam_part_clear (FlamPart *part);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamPart, flam_part_clear)

const FlamMeasure *flam_part_measure (const FlamPart *part);
/* FLAM_NONE: the thread is unknown. */
FlamThreadId flam_part_thread (const FlamPart *part, guint32 lane);
/* "main", or a substitute for a thread without a name. */
char *flam_part_lane_name (const FlamPart *part, guint32 lane);
/* Numbers for formats that require them: distinct for distinct lanes. */
gint64 flam_part_pid (const FlamPart *part, guint32 lane);
gint64 flam_part_tid (const FlamPart *part, guint32 lane);

FlamPartRows flam_part_rows (const FlamPart *part, guint measure, guint32 lane);
void flam_part_rows_clear (FlamPartRows *rows);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamPartRows, flam_part_rows_clear)
gboolean flam_part_rows_next (FlamPartRows *rows, FlamPartRow *row);

/* Of one lane. */
gboolean flam_part_is_empty (const FlamPart *part, guint32 lane);
gint64 flam_part_total (const FlamPart *part, guint32 lane);

/* Frames from the root to the leaf, as FlamId in `path`. */
void flam_part_path (const FlamPart *part, FlamStackId stack, GArray *path);

#endif
