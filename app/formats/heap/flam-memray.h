/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MEMRAY_H
#define FLAM_MEMRAY_H

/* Shared by the two halves of the importer of Memray's captures: the records
 * (flam-memray-records.c), and the rest (flam-import-memray.c), which shows the
 * format. */

#include "flam-core-query.h"
#include "flam-load.h"
#include "flam-ranges.h"

#define FLAM_MEMRAY_CACHE 15

typedef struct _FlamMemrayNative FlamMemrayNative;

typedef struct
{
  guint64 tid;
  FlamThreadId thread;
  GArray *stacks; /* FlamId, outermost call first */
} FlamMemrayThread;

typedef struct
{
  guint64 code;
  gint64 instruction;
  FlamFrameId frame;
} FlamMemrayLocation;

typedef struct
{
  guint64 frame;
  guint64 parent;
} FlamMemrayTrace;

typedef struct
{
  guint64 thread, trace;
  gint64 weights[4];
} FlamMemrayAggregate;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  FlamLedger *ledger;
  const guint8 *at, *end;
  gboolean short_read;

  guint version, python;
  gboolean native, aggregated;
  gint64 start_ms;
  guint64 main_thread, skipped;

  guint64 addresses[FLAM_MEMRAY_CACHE];
  guint64 last_address, last_native, last_ip;
  gint64 last_line;

  GHashTable *codes;   /* guint64 -> Code */
  GHashTable *threads; /* guint64 -> Thread */
  FlamMemrayThread *thread;
  FlamProcessId process;
  FlamColumn locations; /* Location */
  FlamInterner location_index;
  FlamMemrayNative *calls; /* native frames; NULL: the capture has none */
  FlamRanges *mapped;      /* value: site */
  GArray *traces;          /* Trace */
  GArray *frames;          /* Place: of aggregated files */
  GArray *aggregates;      /* Aggregate */
  guint heap, rss;
  gint64 now;
  gboolean ended;
} FlamMemray;

/* Initializes the tables; the caller sets the fields above them. */
void flam_memray_init (FlamMemray *reader);

/* --- bytes (flam-memray-bytes.c) ------------------------------------------ */

/* Little-endian; past the end: 0, "", and sets short_read. */
guint64 flam_memray_fixed (FlamMemray *reader, guint size);
guint64 flam_memray_varint (FlamMemray *reader);
gint64 flam_memray_signed (FlamMemray *reader);
/* Reads a signed difference to the last value of its kind. */
guint64 flam_memray_delta (FlamMemray *reader, guint64 *last);
const char *flam_memray_text (FlamMemray *reader);
void flam_memray_skip (FlamMemray *reader, guint64 n);

/* --- records (flam-memray-records.c) -------------------------------------- */

/* Reads from the header's end to that of the capture, or of its valid part;
 * FALSE only when cancelled. */
gboolean flam_memray_read_records (FlamMemray *reader, GError **error);

FlamFrameId
flam_memray_frame (FlamMemray *reader, guint64 code, gint64 instruction);
FlamMemrayThread *flam_memray_thread (FlamMemray *reader, guint64 tid);
/* The current stack of Python's frames. */
static inline FlamStackId
flam_memray_stack (const FlamMemrayThread *thread)
{
  return thread->stacks->len > 0
             ? g_array_index (thread->stacks, FlamId, thread->stacks->len - 1)
             : FLAM_NONE;
}

/* --- blocks (flam-memray-blocks.c) --------------------------------------- */

/* One of the last addresses, or a new one. */
guint64 flam_memray_address (FlamMemray *reader, guint cached);
/* A block is allocated or released; FALSE: the record is invalid. */
gboolean flam_memray_block (FlamMemray *reader, guint flags);

/* --- native frames (flam-memray-native.c) -------------------------------- */

FlamMemrayNative *flam_memray_native_new (FlamLoad *load);
/* Adds the next node: a call at `ip` by another node, 0 for none. */
void
flam_memray_native_call (FlamMemrayNative *native, guint64 ip, guint64 caller);
void flam_memray_native_begin_maps (FlamMemrayNative *native);
void flam_memray_native_map (FlamMemrayNative *native,
                             const char *file,
                             guint64 address);
/* A segment of the last mapped file; `address` is the file's own. */
void flam_memray_native_segment (FlamMemrayNative *native,
                                 guint64 address,
                                 guint64 size);
/* Python's `stack` and its native callees, down to the node. */
FlamStackId flam_memray_native_stack (FlamMemrayNative *native,
                                      FlamStackId stack,
                                      guint64 node);

#endif
