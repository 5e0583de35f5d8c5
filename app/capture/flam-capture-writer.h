/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Writes a .flambeau file (format: flam-capture.h). Rows collect in memory
 * until flam_capture_writer_flush(), which appends whole blocks, those of the
 * tables that others refer to first: the file is good after every block. Call
 * it by time, so that a crash costs no more than what is pending.
 *
 * Strings, modules, functions, frames and stacks are interned; processes and
 * threads are not: one row each, and a pid that is used again gets a new row.
 * A writer is used by one thread at a time. */

#include "flam-builder.h"
#include "flam-capture.h"

G_BEGIN_DECLS

typedef struct _FlamCaptureWriter FlamCaptureWriter;

/* Writes to `fd`, which stays the caller's and must be empty; -1: to memory.
 * `n_weights` columns of weights, at most FLAM_CAPTURE_MAX_WEIGHTS. */
FlamCaptureWriter *flam_capture_writer_new (int fd, guint n_weights);
void flam_capture_writer_free (FlamCaptureWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCaptureWriter, flam_capture_writer_free)

/* NULL is "". */
FlamId flam_capture_writer_string (FlamCaptureWriter *writer, const char *text);
FlamId flam_capture_writer_module (FlamCaptureWriter *writer,
                                   const char *path,
                                   const char *build_id,
                                   FlamAddressing addressing);
/* All ids are the writer's. */
FlamId flam_capture_writer_function (FlamCaptureWriter *writer,
                                     const FlamFunction *function);

typedef struct
{
  FlamId module;   /* or FLAM_NONE */
  guint64 address; /* as module's addressing says */
  FlamId function; /* FLAM_NONE: an address to be named later */
  FlamId file;     /* string, that the line is in; FLAM_NONE: the function's */
  guint32 line;
  guint32 inline_depth;
} FlamCaptureFrame;

FlamId flam_capture_writer_frame (FlamCaptureWriter *writer,
                                  const FlamCaptureFrame *frame);
FlamId flam_capture_writer_stack (FlamCaptureWriter *writer,
                                  FlamId prefix,
                                  FlamId frame);
guint32 flam_capture_writer_n_frames (FlamCaptureWriter *writer);
void flam_capture_writer_get_frame (FlamCaptureWriter *writer,
                                    FlamId frame,
                                    FlamCaptureFrame *value);

FlamId flam_capture_writer_process (FlamCaptureWriter *writer,
                                    gint32 pid,
                                    FlamId parent);
FlamId flam_capture_writer_thread (FlamCaptureWriter *writer,
                                   FlamId process,
                                   gint32 tid);
void flam_capture_writer_name (FlamCaptureWriter *writer,
                               FlamCaptureNamed what,
                               FlamId row,
                               gint64 time,
                               const char *name);

/* `column` and `event` -1: none, as in flam_builder_add_measure(). */
void flam_capture_writer_measure (FlamCaptureWriter *writer,
                                  const char *id,
                                  const char *name,
                                  FlamUnit unit,
                                  FlamMeasureKind kind,
                                  FlamMeasureSource source,
                                  gint column,
                                  gint event,
                                  gint64 denominator);
void flam_capture_writer_sample (FlamCaptureWriter *writer,
                                 const FlamSample *sample,
                                 const gint64 *weights);
void flam_capture_writer_allocation (FlamCaptureWriter *writer,
                                     const FlamAllocation *allocation);

/* Blocks made at about the same time; rows count from 0. */
typedef struct
{
  gint64 time;
  FlamId thread;
  FlamId stack;
  gint64 size;
  gint64 count;
  FlamAllocator allocator;
} FlamCaptureBlocks;

void flam_capture_writer_blocks (FlamCaptureWriter *writer,
                                 const FlamCaptureBlocks *blocks);
void flam_capture_writer_release (FlamCaptureWriter *writer,
                                  gint64 time,
                                  guint32 row,
                                  gint64 count,
                                  guint16 distance);
void flam_capture_writer_at_peak (FlamCaptureWriter *writer,
                                  FlamId thread,
                                  FlamId stack,
                                  gint64 size,
                                  FlamAllocator allocator,
                                  gint64 count);
FlamId flam_capture_writer_counter (FlamCaptureWriter *writer,
                                    const char *id,
                                    FlamUnit unit);
void flam_capture_writer_counter_value (FlamCaptureWriter *writer,
                                        FlamId counter,
                                        gint64 time,
                                        gint64 value);
void flam_capture_writer_mark (FlamCaptureWriter *writer,
                               gint64 time,
                               gint64 duration,
                               FlamId thread,
                               const char *name);
/* Those that are known; what was written before stays but for them. */
void flam_capture_writer_facts (FlamCaptureWriter *writer,
                                const FlamFacts *facts);
/* One that FlamFacts has not. */
void flam_capture_writer_fact (FlamCaptureWriter *writer,
                               const char *key,
                               const char *value);
void flam_capture_writer_fact_number (FlamCaptureWriter *writer,
                                      const char *key,
                                      gint64 value);
void flam_capture_writer_warning (FlamCaptureWriter *writer, const char *text);

/* Frame by frame: the chain of one frame is said in one go, caller first. */
/* `file` as in FlamCaptureFrame. */
void flam_capture_writer_symbol (FlamCaptureWriter *writer,
                                 FlamId frame,
                                 FlamId function,
                                 FlamId file,
                                 guint32 line);
/* Generated code: from `time` on `frame`'s address was this function. */
void flam_capture_writer_rename (FlamCaptureWriter *writer,
                                 FlamId frame,
                                 gint64 time,
                                 FlamId function,
                                 guint32 line);
void flam_capture_writer_module_symbols (FlamCaptureWriter *writer,
                                         FlamId module,
                                         FlamSymbolState state,
                                         const char *why);

/* Roughly the bytes that wait for a flush. */
gsize flam_capture_writer_pending (const FlamCaptureWriter *writer);
/* After an error (disk full) the file ends with the last whole block, and
 * every later call fails in the same way. */
gboolean flam_capture_writer_flush (FlamCaptureWriter *writer, GError **error);
/* Flushes and writes the end block. */
gboolean flam_capture_writer_end (FlamCaptureWriter *writer,
                                  gint64 duration,
                                  GError **error);
/* What a writer to memory wrote; valid until it is freed. */
const guint8 *flam_capture_writer_data (const FlamCaptureWriter *writer,
                                        gsize *size);

G_END_DECLS
