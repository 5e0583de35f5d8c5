/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CPU_LABELS_H
#define FLAM_CPU_LABELS_H

/* The labels of samples with a known CPU. */

#include "flam-load.h"

typedef struct _FlamCpuLabels FlamCpuLabels;

/* Kept by the load. */
FlamCpuLabels *flam_cpu_labels_new (FlamLoad *load);
/* For FlamSample.labels; 0 if no machine has such a CPU. */
guint32 flam_cpu_labels_get (FlamCpuLabels *labels, guint32 cpu);

#endif
