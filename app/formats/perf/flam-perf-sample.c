/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The body of a SAMPLE record, each part present if set in sample_type:
 *
 *   SIZE  WHAT                          SIZE  WHAT
 *      8  identifier                       8  period
 *      8  ip                               .  read: values of counters
 *      8  pid, tid                     8 + 8n  callchain: n, addresses
 *      8  time                           4 + n  raw: n, bytes
 *      8  addr                         8 + 24n  branch stack
 *      8  id                               .  user registers: abi, values
 *      8  stream id                   16 + n  user stack: n, bytes, how many
 *      8  cpu                                 of them were filled
 *
 * Counters of branches follow all of them. The rest is not read. Source:
 * include/uapi/linux/perf_event.h. */

#include "flam-perf-records.h"
#include "flam-unwind-rows.h"

enum
{
  READ_TIMES = 3,
  READ_ID = 1 << 2,
  READ_GROUP = 1 << 3,
  READ_LOST = 1 << 4,
};

/* nr and times, then nr times value, id, lost; without a group one value
 * before the times. */
static void
parse_read (FlamPerfBytes *in, guint64 format, FlamPerfSample *sample)
{
  guint64 n = 1;
  guint each = 8 + 8 * flam_perf_count_bits (format & (READ_ID | READ_LOST));

  if (format & READ_GROUP)
    n = flam_perf_read_u64 (in);
  flam_perf_read_bytes (in, 8 * flam_perf_count_bits (format & READ_TIMES));
  if (n > flam_perf_left (in) / each)
    {
      in->bad = TRUE;
      return;
    }
  if ((format & READ_GROUP) && (format & READ_ID))
    {
      sample->n_group = n;
      sample->group = in->p;
      sample->group_size = each;
    }
  flam_perf_read_bytes (in, n * each);
}

static void
parse_chain (FlamPerfBytes *in, FlamPerfSample *sample)
{
  sample->n_chain = flam_perf_read_u64 (in);
  if (sample->n_chain > flam_perf_left (in) / 8)
    {
      sample->n_chain = 0;
      in->bad = TRUE;
      return;
    }
  sample->chain = flam_perf_read_bytes (in, sample->n_chain * 8);
}

static void
parse_branches (FlamPerfBytes *in, guint64 type, FlamPerfSample *sample)
{
  guint64 n = flam_perf_read_u64 (in), each = FLAM_PERF_BRANCH_SIZE;

  if (type & FLAM_PERF_BRANCH_INDEX)
    flam_perf_read_u64 (in);
  if (type & FLAM_PERF_BRANCH_COUNTERS)
    each += 8;
  if (n > flam_perf_left (in) / each)
    {
      in->bad = TRUE;
      return;
    }
  sample->n_branches = n;
  sample->branches = flam_perf_read_bytes (in, n * each);
}

static void
parse_regs (FlamPerfBytes *in, guint64 mask, FlamPerfSample *sample)
{
  guint64 abi = flam_perf_read_u64 (in);

  if (abi == 0)
    return;
  for (guint i = 0; i < 64; i++)
    {
      guint64 value;
      if (!(mask & (1ull << i)))
        continue;
      value = flam_perf_read_u64 (in);
      if (i < FLAM_UNWIND_PERF_N && flam_unwind_perf_registers[i] >= 0)
        sample->regs[flam_unwind_perf_registers[i]] = value;
    }
  sample->has_regs = abi == 2 && !in->bad;
}

static void
parse_stack (FlamPerfBytes *in, FlamPerfSample *sample)
{
  guint64 size = flam_perf_read_u64 (in), filled;

  if (size == 0)
    return;
  sample->stack = flam_perf_read_bytes (in, size);
  filled = flam_perf_read_u64 (in);
  sample->stack_size = MIN (size, filled);
}

gboolean
flam_perf_sample_parse (const FlamPerfEvent *event,
                        const FlamPerfRecord *record,
                        FlamPerfSample *sample)
{
  FlamPerfBytes in = record->body;
  guint64 type = event->sample_type;

  *sample =
      (FlamPerfSample){ .swap = in.swap, .pid = -1, .tid = -1, .period = 1 };
  if (!(event->flags & FLAM_PERF_FLAG_FREQ) && event->period > 0)
    sample->period = event->period;
  if (type & FLAM_PERF_IDENTIFIER)
    flam_perf_read_u64 (&in);
  if (type & FLAM_PERF_IP)
    sample->ip = flam_perf_read_u64 (&in);
  if (type & FLAM_PERF_TID)
    {
      sample->pid = (gint32)flam_perf_read_u32 (&in);
      sample->tid = (gint32)flam_perf_read_u32 (&in);
    }
  if (type & FLAM_PERF_TIME)
    sample->time = flam_perf_read_u64 (&in);
  flam_perf_read_bytes (
      &in,
      8 * flam_perf_count_bits (
              type & (FLAM_PERF_ADDR | FLAM_PERF_ID | FLAM_PERF_STREAM_ID)));
  if (type & FLAM_PERF_CPU)
    {
      sample->cpu = flam_perf_read_u32 (&in);
      flam_perf_read_u32 (&in);
    }
  if (type & FLAM_PERF_PERIOD)
    sample->period = flam_perf_read_u64 (&in);
  if (type & FLAM_PERF_READ)
    parse_read (&in, event->read_format, sample);
  if (type & FLAM_PERF_CALLCHAIN)
    parse_chain (&in, sample);
  if (type & FLAM_PERF_RAW)
    {
      sample->raw_size = flam_perf_read_u32 (&in);
      sample->raw = flam_perf_read_bytes (&in, sample->raw_size);
    }
  if (type & FLAM_PERF_BRANCH_STACK)
    parse_branches (&in, event->branch_type, sample);
  if (type & FLAM_PERF_REGS_USER)
    parse_regs (&in, event->regs_user, sample);
  if (type & FLAM_PERF_STACK_USER)
    parse_stack (&in, sample);
  return !in.bad;
}
