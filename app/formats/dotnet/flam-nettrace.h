/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NETTRACE_H
#define FLAM_NETTRACE_H

/* The values and the heads of events in a .nettrace (flam-import-nettrace.c).
 */

#include <glib.h>

typedef struct
{
  guint32 metadata;
  guint64 thread;
  guint32 stack;
  guint64 time;
  guint32 size; /* of its payload */
  const guint8 *payload;
} FlamNettraceEvent;

/* Moves `at` past it. 0 if there are fewer bytes; `at` is then at the end. */
guint64 flam_nettrace_take (const guint8 **at, const guint8 *end, guint size);
/* UTF-16 up to a zero. */
char *flam_nettrace_text (const guint8 **at, const guint8 *end);

/* Reads a full head; FALSE: the block ends in it. */
gboolean flam_nettrace_read_head (const guint8 **at,
                                  const guint8 *end,
                                  FlamNettraceEvent *event);
/* Reads a short one: missing fields are as in the event before. */
gboolean flam_nettrace_read_short_head (const guint8 **at,
                                        const guint8 *end,
                                        FlamNettraceEvent *event);

#endif
