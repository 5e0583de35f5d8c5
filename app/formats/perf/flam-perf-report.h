/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_REPORT_H
#define FLAM_PERF_REPORT_H

/* A parsed report of perf (flam-import-perf-report.c shows one): rows, and the
 * branches of the trees below them: nodes in preorder, whose frames are one
 * list, too. */

#include "flam-stack-text.h"

/* Hundredths of a percent: the precision of the printed shares. */
#define FLAM_REPORT_WHOLE 10000
#define FLAM_REPORT_MAX_COLUMNS 32

typedef enum
{
  FLAM_REPORT_OTHER,
  FLAM_REPORT_OVERHEAD,
  FLAM_REPORT_CHILDREN,
  FLAM_REPORT_SELF,
  FLAM_REPORT_SAMPLES,
  FLAM_REPORT_PERIOD,
  FLAM_REPORT_COMMAND,
  FLAM_REPORT_PID,
  FLAM_REPORT_MODULE,
  FLAM_REPORT_SYMBOL,
  FLAM_REPORT_PLACE,
} FlamReportCell;

typedef struct
{
  gsize start, end; /* of the dots; the last one has no end */
  FlamReportCell cell;
} FlamReportColumn;

typedef struct
{
  FlamSlice event;
  gint64 total; /* -1: not given */
} FlamReportSection;

typedef struct
{
  guint section;
  FlamSlice command, module, symbol, place;
  FlamFunctionKind kind;
  gint64 own, all; /* hundredths of a percent */
  gint64 samples;  /* -1: not printed */
  gint64 period;   /* -1 */
  gint64 pid;      /* -1 */
  guint32 node, n_nodes;
} FlamReportEntry;

typedef struct
{
  guint32 parent; /* or FLAM_NONE */
  gsize column;
  gint64 value; /* times 100 */
  gboolean all; /* the only one of its row, without a value */
  gboolean percent;
  guint32 frame, n_frames;
  gint64 in_branches; /* values */
  gint64 handed;      /* values, of the branches with weights so far */
  gint64 weight[2];   /* period, samples */
  gint64 given[2];    /* the part of it given to branches */
} FlamReportNode;

typedef struct
{
  FlamReportColumn columns[FLAM_REPORT_MAX_COLUMNS];
  guint n_columns;
  FlamSlice head;   /* the line of names above the dots */
  GArray *sections; /* FlamReportSection */
  GArray *entries;  /* FlamReportEntry */
  GArray *nodes;    /* FlamReportNode */
  GArray *frames;   /* FlamSlice */
  GArray *open;     /* guint32: the row's last node and its parents */
  FlamPieces names; /* of functions; value: the only row with it */
  FlamPieces made;  /* frames by name */
  gboolean callers_first, children, counted;
  guint64 pushed;
} FlamReport;

#define flam_report_section(report, i)                                         \
  (&g_array_index ((report)->sections, FlamReportSection, i))
#define flam_report_entry(report, i)                                           \
  (&g_array_index ((report)->entries, FlamReportEntry, i))
#define flam_report_node(report, i)                                            \
  (&g_array_index ((report)->nodes, FlamReportNode, i))
#define flam_report_frame(report, i)                                           \
  (g_array_index ((report)->frames, FlamSlice, i))

FlamReport *flam_report_new (void);
void flam_report_free (FlamReport *report);
/* FALSE: the line is invalid. */
gboolean flam_report_read_line (FlamReport *report, FlamSlice line);

/* --- flam-perf-report-shares.c ------------------------------------------- */

/* After all lines: determines the direction of the trees; all values are shares
 * of the whole, or counts. */
void flam_report_settle (FlamReport *report);
/* Distributes a row's weights to its nodes: the self weight of each is its
 * weight less its branches'. The rest stays in `weights`. */
void flam_report_share_out (FlamReport *report,
                            const FlamReportEntry *entry,
                            gint64 *weights);
/* Whether the name is that of the row's function. */
gboolean flam_report_is_of (const FlamReportEntry *entry, FlamSlice name);
gboolean flam_report_is_address (FlamSlice name);
gboolean flam_report_same_name (FlamSlice a, FlamSlice b);
/* `value` parts of `whole` of a weight, at most all of it. */
gint64 flam_report_part (gint64 weight, gint64 value, gint64 whole);
/* Saturates on overflow. */
void flam_report_add (gint64 *sum, gint64 value);

#endif
