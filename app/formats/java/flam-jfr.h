/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JFR_H
#define FLAM_JFR_H

/* Recordings of Java's flight recorder (JFR), as the JDK and async-profiler
 * write them: one chunk after the other, each complete in itself.
 *
 *    0  "FLR\0"    4 u16 2, u16 minor    8 i64 size        16 i64 checkpoint
 *    24 i64 metadata    32 i64 start, ns since 1970    40 i64 duration, ns
 *    48 i64 start, ticks    56 i64 ticks a second    64 u32 flags: 1 varints
 *    68 events: varint size, varint type, …
 *
 * all of it big-endian; varints have the lowest bits first and nine bytes at
 * most. Two types of event describe the others:
 *
 *    0  metadata   classes, each a list of fields, which are numbers, texts,
 *                  objects of a class, or keys of constants of a class; or an
 *                  array of those
 *    1  checkpoint constants: a class, and keys with an object each
 *
 * A chunk's constants may follow the events that refer to them, so it is read
 * twice: first the places of its constants, then its events. A constant is
 * decoded when it is looked up.
 *
 * Fields are identified by name and have a role; the others are skipped. Source
 * of facts: OpenJDK's jdk.jfr (metadata.xml, jdk.jfr.internal.consumer),
 * async-profiler's JfrReader. */

#include "flam-jfr-chunk.h"
#include "flam-load.h"

/* Opens the chunk at `at`: its header, metadata and constants. FALSE: it is not
 * a chunk, or cannot be read at all; `problem` has the reason. Clear it in
 * either case. */
gboolean flam_jfr_chunk_init (FlamJfrChunk *chunk,
                              const FlamLoad *load,
                              const guint8 *at);
void flam_jfr_chunk_clear (FlamJfrChunk *chunk);

/* Reads the event at `*at`, at first flam_jfr_first_event(), which moves past
 * it. FALSE at the end. */
const guint8 *flam_jfr_first_event (const FlamJfrChunk *chunk);
gboolean flam_jfr_next_event (FlamJfrChunk *chunk,
                              const guint8 **at,
                              FlamJfrEvent *event);

/* NULL: no constant has that id. */
const FlamJfrClass *flam_jfr_class (const FlamJfrChunk *chunk, guint64 id);

/* Reads an object of the class at `*at`, which moves past it. */
gboolean flam_jfr_read_object (FlamJfrChunk *chunk,
                               const FlamJfrClass *class,
                               const guint8 **at,
                               const guint8 *end,
                               FlamJfrObject *object);
gboolean flam_jfr_read_constant (FlamJfrChunk *chunk,
                                 FlamJfrPoolKind pool,
                                 const FlamJfrConstant *constant,
                                 FlamJfrObject *object);

/* The frames at the offset in the field of a stack: returns their number, and
 * the class of each. */
guint32 flam_jfr_frames (FlamJfrChunk *chunk,
                         guint64 place,
                         const guint8 **at,
                         const FlamJfrClass **class);

/* Converts ticks to ns since 1970, or to a duration. */
gint64 flam_jfr_time (const FlamJfrChunk *chunk, guint64 ticks);
gint64 flam_jfr_span (const FlamJfrChunk *chunk, guint64 ticks);

#endif
