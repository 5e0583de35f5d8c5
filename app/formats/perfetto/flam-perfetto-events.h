/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERFETTO_EVENTS_H
#define FLAM_PERFETTO_EVENTS_H

/* The events of a Perfetto trace: packets are dispatched by kind, slices are
 * read here. */

#include "flam-perfetto-threads.h"

void flam_perfetto_init (FlamPerfetto *trace, FlamLoad *load);
/* Begins a packet whose own fields are read: finds its sequence, reads the
 * interned data and its time. */
void flam_perfetto_begin (FlamPerfetto *trace,
                          FlamPerfettoPacket *packet,
                          gboolean cleared,
                          FlamProto fields);
/* Reads one of its fields, a message. */
void flam_perfetto_read (FlamPerfetto *trace,
                         const FlamPerfettoPacket *packet,
                         guint64 number,
                         FlamProto message);
/* After the last event: adds all to the builder. FALSE: nothing to show. */
gboolean flam_perfetto_finish (FlamPerfetto *trace);

#endif
