/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERFETTO_SAMPLES_H
#define FLAM_PERFETTO_SAMPLES_H

/* The samples with stacks in a Perfetto trace: of processors, and of heaps. */

#include "flam-perfetto-threads.h"

/* (pid, stack) -> its sums. */
GHashTable *flam_perfetto_heap_new (void);

void flam_perfetto_read_perf_sample (FlamPerfetto *trace,
                                     const FlamPerfettoPacket *packet,
                                     FlamProto sample);
void flam_perfetto_read_stream (FlamPerfetto *trace,
                                const FlamPerfettoPacket *packet,
                                FlamProto stream);
void flam_perfetto_read_heap (FlamPerfetto *trace,
                              const FlamPerfettoPacket *packet,
                              FlamProto profile);

void flam_perfetto_add_cpu (FlamPerfetto *trace);
void flam_perfetto_add_heap (FlamPerfetto *trace);

#endif
