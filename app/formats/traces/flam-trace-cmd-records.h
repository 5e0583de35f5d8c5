/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACE_CMD_RECORDS_H
#define FLAM_TRACE_CMD_RECORDS_H

/* The records of the kernel's ring buffers, of all CPUs in order of time:
 *
 *    CPU 0   page | page | page         page: u64 time, long size, records
 *    CPU 1   page | page                record: 5 bits its length or kind, 27
 *                                       bits time since the record before
 *
 * Source: the kernel's documentation of the ring buffer, header_page and
 * header_event. */

#include "flam-trace-cmd-file.h"

typedef struct _FlamTraceStream FlamTraceStream;

typedef struct
{
  guint stream; /* row of the CPU in the file's table */
  gint64 time;  /* ns */
  const FlamTraceFormat *format;
  gint32 pid;
  const guint8 *data;
  gsize size;
} FlamTraceRecord;

typedef struct
{
  const FlamTraceFile *file;
  FlamTraceStream *streams;
  guint *heap; /* rows of streams that have a record, the first one first */
  guint n;     /* of them */
  guint64 lost;
  guint64 damaged; /* pages and pieces */
} FlamTraceRecords;

/* Its memory is freed with the load. */
void flam_trace_records_init (FlamTraceRecords *records,
                              const FlamTraceFile *file);
/* The record that is next; FALSE: there are no more. */
gboolean flam_trace_records_get (const FlamTraceRecords *records,
                                 FlamTraceRecord *record);
/* Moves on, which may free the data of that record. */
void flam_trace_records_skip (FlamTraceRecords *records);

/* 0 where the record is too short. */
guint64 flam_trace_record_get (const FlamTraceRecords *records,
                               const FlamTraceRecord *record,
                               FlamTraceField field);

#endif
