/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-color.h"

#include <math.h>

static guint
from_linear (double v)
{
  v = v <= 0.0031308 ? v * 12.92 : 1.055 * pow (v, 1 / 2.4) - 0.055;
  return (guint)lround (CLAMP (v, 0, 1) * 255);
}

/* Björn Ottosson's OKLab (2020), its inverse matrices. */
static void
oklch_to_linear (double l, double chroma, double hue, double rgb[3])
{
  double a = chroma * cos (hue * G_PI / 180);
  double b = chroma * sin (hue * G_PI / 180);
  double x = l + 0.3963377774 * a + 0.2158037573 * b;
  double y = l - 0.1055613458 * a - 0.0638541728 * b;
  double z = l - 0.0894841775 * a - 1.2914855480 * b;

  x = x * x * x;
  y = y * y * y;
  z = z * z * z;
  rgb[0] = 4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z;
  rgb[1] = -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z;
  rgb[2] = -0.0041960863 * x - 0.7034186147 * y + 1.7076147010 * z;
}

static gboolean
in_gamut (const double rgb[3])
{
  for (guint i = 0; i < 3; i++)
    if (rgb[i] < -0.0001 || rgb[i] > 1.0001)
      return FALSE;
  return TRUE;
}

/* Colors that the screen cannot show lose chroma, not lightness. */
FlamColor
flam_color_from_oklch (double l, double chroma, double hue)
{
  double rgb[3];

  oklch_to_linear (l, chroma, hue, rgb);
  for (; !in_gamut (rgb) && chroma > 0; chroma -= 0.004)
    oklch_to_linear (l, chroma, hue, rgb);
  return from_linear (rgb[0]) << 16 | from_linear (rgb[1]) << 8 |
         from_linear (rgb[2]);
}

FlamColor
flam_color_mix (FlamColor a, FlamColor b, double share)
{
  FlamColor result = 0;

  for (guint shift = 0; shift <= 16; shift += 8)
    {
      double from = a >> shift & 255, to = b >> shift & 255;

      result |= (FlamColor)lround (from + (to - from) * share) << shift;
    }
  return result;
}

static double
to_linear (guint channel)
{
  double v = channel / 255.0;

  return v <= 0.04045 ? v / 12.92 : pow ((v + 0.055) / 1.055, 2.4);
}

static double
luminance (FlamColor color)
{
  return 0.2126 * to_linear (color >> 16 & 255) +
         0.7152 * to_linear (color >> 8 & 255) +
         0.0722 * to_linear (color & 255);
}

double
flam_color_contrast (FlamColor a, FlamColor b)
{
  double la = luminance (a), lb = luminance (b);

  return (MAX (la, lb) + 0.05) / (MIN (la, lb) + 0.05);
}
