/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ticks.h"

#include <math.h>

double
flam_ticks_step (double span, double width)
{
  double rough = span * 110 / MAX (width, 1);
  double power = pow (10, floor (log10 (MAX (rough, 1))));
  double lead = rough / power;

  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

typedef struct
{
  double unit;
  const char *name;
} TickUnit;

char *
flam_ticks_text (FlamClock clock, double time, double step)
{
  static const TickUnit times[] = {
    { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" }
  };
  static const TickUnit instructions[] = {
    { 1e12, "T" }, { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" }
  };
  static const TickUnit bytes[] = {
    { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "kB" }, { 1, "B" }
  };
  const TickUnit *unit = clock == FLAM_CLOCK_INSTRUCTIONS ? instructions
                         : clock == FLAM_CLOCK_BYTES      ? bytes
                                                          : times;
  int digits = 0;

  while (unit->unit > 1 && step < unit->unit * 0.0999)
    unit++;
  if (step < unit->unit * 0.999)
    digits = 1;
  return g_strdup_printf (*unit->name ? "%.*f %s" : "%.*f%s",
                          digits,
                          time / unit->unit,
                          unit->name);
}
