/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-uftrace-switches.h"

#include "flam-bytes.h"
#include "flam-perf-records.h"
#include "flam-uftrace-symbols.h"

#include <string.h>

#define HEADER 8
#define IDS 8      /* pid and tid, at the start of a record's body */
#define TRAILER 16 /* pid, tid and time, at its end */
#define MAX_CPUS 4096

typedef struct
{
  gint32 tid;
  guint32 number; /* order in the files */
  gint64 time;    /* ns */
  guint16 misc;
} Switch;

static int
compare_switches (gconstpointer a, gconstpointer b)
{
  const Switch *x = a;
  const Switch *y = b;

  if (x->tid != y->tid)
    return x->tid < y->tid ? -1 : 1;
  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static void
read_switch (FlamUftraceSwitches *switches, const guint8 *trailer, guint16 misc)
{
  guint64 time = flam_bytes_get (trailer + 8, 8);
  Switch row = { .tid = (gint32)flam_bytes_get (trailer + 4, 4),
                 .number = switches->rows->len,
                 .time = (gint64)MIN (time, G_MAXINT64 / 2),
                 .misc = misc };

  g_array_append_val (switches->rows, row);
}

static void
read_name (FlamUftraceSwitches *switches, const guint8 *body, gsize size)
{
  gint32 tid = (gint32)flam_bytes_get (body + 4, 4);
  const char *name = (const char *)body + IDS;

  g_hash_table_insert (
      switches->names, GINT_TO_POINTER (tid), g_strndup (name, size - IDS));
}

static void
read_file (FlamUftraceSwitches *switches, const FlamSource *source)
{
  gsize size;

  for (gsize at = 0; source->size - at >= HEADER; at += size)
    {
      const guint8 *record = source->data + at;
      guint32 type = (guint32)flam_bytes_get (record, 4);

      size = flam_bytes_get (record + 6, 2);
      if (size < HEADER || size > source->size - at)
        return;
      if (type == FLAM_PERF_SWITCH && size >= HEADER + TRAILER)
        read_switch (switches,
                     record + size - TRAILER,
                     (guint16)flam_bytes_get (record + 4, 2));
      else if (type == FLAM_PERF_COMM && size >= HEADER + IDS + TRAILER)
        read_name (switches, record + HEADER, size - HEADER - TRAILER);
    }
}

void
flam_uftrace_switches_read (FlamUftraceSwitches *switches, const char *folder)
{
  switches->rows = g_array_new (FALSE, FALSE, sizeof (Switch));
  switches->names =
      g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, g_free);
  for (guint cpu = 0; cpu < MAX_CPUS; cpu++)
    {
      g_autofree char *name = g_strdup_printf ("perf-cpu%u.dat", cpu);
      g_autoptr (FlamSource) source = flam_uftrace_open (folder, name);

      if (source == NULL)
        break;
      read_file (switches, source);
    }
  g_array_sort (switches->rows, compare_switches);
}

void
flam_uftrace_switches_clear (FlamUftraceSwitches *switches)
{
  g_clear_pointer (&switches->rows, g_array_unref);
  g_clear_pointer (&switches->names, g_hash_table_unref);
}

/* The first row of a thread. */
static guint
find_first (const FlamUftraceSwitches *switches, gint32 tid)
{
  guint low = 0, high = switches->rows->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (switches->rows, Switch, middle).tid < tid)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

void
flam_uftrace_switches_pause (const FlamUftraceSwitches *switches,
                             gint32 tid,
                             FlamTraceSpans *spans,
                             FlamThreadId thread)
{
  const Switch *left = NULL;

  for (guint i = find_first (switches, tid); i < switches->rows->len; i++)
    {
      const Switch *row = &g_array_index (switches->rows, Switch, i);

      if (row->tid != tid)
        break;
      if (left != NULL)
        flam_trace_spans_pause (spans,
                                thread,
                                left->misc & FLAM_PERF_MISC_PREEMPT
                                    ? FLAM_STATE_RUNNABLE
                                    : FLAM_STATE_BLOCKED,
                                left->time,
                                row->time);
      left = row->misc & FLAM_PERF_MISC_OUT ? row : NULL;
    }
  if (left != NULL)
    flam_trace_spans_pause (
        spans, thread, FLAM_STATE_BLOCKED, left->time, G_MAXINT64);
}

const char *
flam_uftrace_switches_name (const FlamUftraceSwitches *switches, gint32 tid)
{
  return g_hash_table_lookup (switches->names, GINT_TO_POINTER (tid));
}
