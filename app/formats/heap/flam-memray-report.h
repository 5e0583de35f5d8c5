/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MEMRAY_REPORT_H
#define FLAM_MEMRAY_REPORT_H

/* Memray's reports, which contain their data: flame graphs
 *
 *    const packed_data = {"strings":[…],
 *      "nodes":{"name":[…],"function":[…],"filename":[…],"lineno":[…],
 *               "children":[[1,2],…],"value":[…],"n_allocations":[…],
 *               "thread_id":[…],"interesting":[…],"import_system":[…]},
 *      "unique_threads":[…],
 *      "intervals":[[from,to|null,node,blocks,bytes],…],   temporal ones
 *      "high_water_mark_by_snapshot":[…]|null};
 *    const merge_threads = true;
 *    const memory_records = [[ms,rss,heap],…];
 *    const inverted = false;
 *
 * and tables, whose rows are read as nodes below the root:
 *
 *    const packed_data = [{"allocator":"malloc","n_allocations":1,
 *      "size":560,"stack_trace":"work at app.py:18","tid":"0x1"},…];
 *
 * Before 1.7 (February 2023) it is `const data = `, and a flame graph's nodes
 * are nested:
 *
 *    {"children":[{"children":[],"interesting":true,
 *        "location":["work","app.py","18"],"n_allocations":1,"name":"x = 1",
 *        "thread_id":"0x1","value":560}], …,"unique_threads":["0x1"],
 *     "value":560}
 *
 * A node is a row of the columns; texts are indices into "strings", and escaped
 * for HTML. Node 0 is the root. A node's value includes its children's. In a
 * temporal report the nodes have no values; an interval is allocated before the
 * snapshot `from` was taken and released before `to`. An inverted report has
 * the allocating function next to the root. Source of facts: Memray 1.3 and
 * 1.20, reporters/flamegraph.py and its templates. */

#include "flam-load.h"

enum
{
  FLAM_MEMRAY_FUNCTION,
  FLAM_MEMRAY_FILE_NAME,
  FLAM_MEMRAY_LINE,
  FLAM_MEMRAY_VALUE,
  FLAM_MEMRAY_BLOCKS,
  FLAM_MEMRAY_THREAD,
  FLAM_MEMRAY_INTERESTING,
  FLAM_MEMRAY_N_COLUMNS
};

typedef struct
{
  gint64 from, to; /* snapshots; -1 never */
  gint64 node, blocks, bytes;
} FlamMemrayInterval;

typedef struct
{
  GArray *columns[FLAM_MEMRAY_N_COLUMNS]; /* gint64 */
  GArray *parents;                        /* guint32; before their children */
  GArray *strings;                        /* FlamId */
  GArray *intervals;                      /* FlamMemrayInterval */
  GArray *marks;   /* gint64: bytes at the peak by snapshot */
  GArray *records; /* gint64 ms, rss, heap */
  gboolean temporal, inverted, leaks, table;
  gboolean merged; /* whether the threads are merged */
} FlamMemrayReport;

gboolean flam_memray_report_read (FlamMemrayReport *report,
                                  FlamLoad *load,
                                  GError **error);

#endif
