/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What happened in a Perfetto trace: packets are handed on by their kinds,
 * slices are read here. */

#include "flam-perfetto-threads.h"

void flam_perfetto_init (FlamPerfetto *trace, FlamLoad *load);
/* A packet's facts are known: finds its sequence, reads what the others of its
 * fields refer to, and its time. */
void flam_perfetto_begin (FlamPerfetto *trace,
                          FlamPerfettoPacket *packet,
                          gboolean cleared,
                          FlamProto fields);
/* One of its fields, a message. */
void flam_perfetto_read (FlamPerfetto *trace,
                         const FlamPerfettoPacket *packet,
                         guint64 number,
                         FlamProto message);
/* After the last: into the builder. FALSE: there is nothing to show. */
gboolean flam_perfetto_finish (FlamPerfetto *trace);
