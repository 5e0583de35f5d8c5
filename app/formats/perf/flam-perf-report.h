/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A report of perf as it was read (flam-import-perf-report.c shows one): rows,
 * and the branches of the trees below them, nodes in preorder whose frames are
 * one list too. */

#include "flam-stack-text.h"

/* Hundredths of a percent, which is all that is printed of it. */
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
  gint64 total; /* -1: not said */
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
  gboolean all; /* it is the row's only one and has no value */
  gboolean percent;
  guint32 frame, n_frames;
  gint64 in_branches; /* values */
  gint64 handed;      /* values, of those that have got their weights */
  gint64 weight[2];   /* period, samples */
  gint64 given[2];    /* of that, to branches */
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
  FlamPieces names; /* of functions; value: the one row that has it */
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
/* FALSE: it makes no sense. */
gboolean flam_report_read_line (FlamReport *report, FlamSlice line);

/* --- flam-perf-report-shares.c ------------------------------------------- */

/* Once all is read: which way its trees are; all values are shares of the
 * whole, or counts. */
void flam_report_settle (FlamReport *report);
/* A row's weights go to its nodes: what each has itself is its weight less
 * what was given. What no node gets is left in `weights`. */
void flam_report_share_out (FlamReport *report,
                            const FlamReportEntry *entry,
                            gint64 *weights);
/* The name is the row's function. */
gboolean flam_report_is_of (const FlamReportEntry *entry, FlamSlice name);
gboolean flam_report_is_address (FlamSlice name);
gboolean flam_report_same_name (FlamSlice a, FlamSlice b);
/* `value` parts of `whole` of a weight, which is never more. */
gint64 flam_report_part (gint64 weight, gint64 value, gint64 whole);
/* What does not fit is the largest there is. */
void flam_report_add (gint64 *sum, gint64 value);
