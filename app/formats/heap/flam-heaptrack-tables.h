/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HEAPTRACK_TABLES_H
#define FLAM_HEAPTRACK_TABLES_H

/* The tables of code in a heaptrack file: strings, instruction pointers,
 * traces, modules. They are read in the file's order, and made into frames and
 * stacks at the end, but only those that an allocation uses.
 *
 *    s 4 main                     strings, numbered from 1; 0 is none
 *    i 55efe9abc993 1 14 15 19    instruction pointers, numbered from 1:
 *      address module [function file line]…   innermost first, all inlined
 *                                              but the last
 *    t 8 7                        traces, numbered from 1: an instruction
 *                                 pointer and the trace of its caller
 *
 * The raw stream has addresses in place of instruction pointers, and the
 * modules that are mapped:
 *
 *    m 1f /lib/libc.so.6 7fc43dc1e000 0 25388 26000 1550fc …
 *      path, load bias, then pairs of address (before the bias) and size
 *    m 1 -                        all modules are to be forgotten
 *
 * Source of facts: heaptrack 1.0 to 1.5, its reader and its interpreter. */

#include "flam-core-query.h"
#include "flam-load.h"
#include "flam-ranges.h"

typedef struct
{
  guint32 ip;
  guint32 parent;
} FlamTrace;

typedef struct
{
  FlamBuilder *builder;
  gboolean raw;
  FlamColumn strings;    /* Text */
  FlamColumn ips;        /* Ip */
  FlamColumn traces;     /* FlamTrace */
  FlamColumn frames;     /* FlamId: chains, caller first */
  FlamRanges *mapped;    /* value: module; offset: before the bias */
  FlamInterner ip_index; /* raw: by address */
  guint32 op_new[4];     /* strings that are names of operator new */
  guint n_op_new;
} FlamHeaptrackTables;

void flam_heaptrack_tables_init (FlamHeaptrackTables *tables, FlamLoad *load);

void flam_heaptrack_tables_string (FlamHeaptrackTables *tables,
                                   const char *text,
                                   gsize length);
/* `rest`: the start of the line's frames; it ends with a newline, and must live
 * until the end. */
void flam_heaptrack_tables_ip (FlamHeaptrackTables *tables,
                               guint64 address,
                               guint32 module,
                               const guint8 *rest);
/* FALSE: it refers to something that does not exist. */
gboolean flam_heaptrack_tables_trace (FlamHeaptrackTables *tables,
                                      guint64 ip,
                                      guint64 parent);
void flam_heaptrack_tables_map (FlamHeaptrackTables *tables,
                                const char *path,
                                gsize length,
                                guint64 bias,
                                guint64 address,
                                guint64 size);
void flam_heaptrack_tables_unmap_all (FlamHeaptrackTables *tables);

/* traces -> stacks: one more than there are traces; those with used[trace] and
 * their callers; g_free. Sets used[] for the callers. */
FlamStackId *flam_heaptrack_tables_stacks (FlamHeaptrackTables *tables,
                                           guint8 *used);
/* Frees the tables that were read, once there are stacks. */
void flam_heaptrack_tables_drop (FlamHeaptrackTables *tables);
/* traces -> TRUE if a rule matches the trace or one of its callers; of used
 * ones; g_free. */
guint8 *flam_heaptrack_tables_suppressed (FlamHeaptrackTables *tables,
                                          const guint8 *used,
                                          const FlamSuppressions *rules);

/* '0' to '9' and 'a' to 'f': their values plus one; else 0. */
extern const guint8 flam_heaptrack_digits[256];

/* Parses the hex number at `p`, and skips the space or carriage return after
 * it; NULL if there is none or it has more than 64 bits. It uses a table: a
 * branch on digits or letters would be unpredictable. */
static inline const guint8 *
flam_heaptrack_hex (const guint8 *p, guint64 *value)
{
  const guint8 *begin = p;
  guint64 v = 0;
  guint digit;

  for (; (digit = flam_heaptrack_digits[*p]) != 0; p++)
    v = v << 4 | (digit - 1);
  *value = v;
  if (p == begin || p - begin > 16)
    return NULL;
  return p + (*p == ' ' || *p == '\r');
}

/* heaptrack's own list of leaks by design. */
FlamSuppressions *flam_heaptrack_suppressions_new (void);

#endif
