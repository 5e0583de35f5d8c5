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

char *
flam_ticks_text (double time, double step)
{
  static const struct
  {
    double unit;
    const char *name;
  } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 1, "ns" } };
  guint i = 0;
  int digits = 0;

  while (i + 1 < G_N_ELEMENTS (units) && step < units[i].unit * 0.0999)
    i++;
  if (step < units[i].unit * 0.999)
    digits = 1;
  return g_strdup_printf (
      "%.*f %s", digits, time / units[i].unit, units[i].name);
}
