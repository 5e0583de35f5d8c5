/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cpu-labels.h"

#define MAX_CPUS 8192 /* as many as Linux has */

struct _FlamCpuLabels
{
  FlamBuilder *builder;
  guint32 label[MAX_CPUS]; /* 0: not used yet */
};

FlamCpuLabels *
flam_cpu_labels_new (FlamLoad *load)
{
  FlamCpuLabels *labels = flam_arena_new (load, FlamCpuLabels);

  labels->builder = load->builder;
  return labels;
}

guint32
flam_cpu_labels_get (FlamCpuLabels *labels, guint32 cpu)
{
  if (cpu >= MAX_CPUS)
    return 0;
  if (labels->label[cpu] == 0)
    {
      g_autofree char *text = g_strdup_printf ("%u", cpu);

      labels->label[cpu] = flam_builder_add_labels (
          labels->builder,
          &(FlamSampleLabel){ FLAM_LABEL_CPU, text, (gint64)cpu, "" },
          1);
    }
  return labels->label[cpu];
}
