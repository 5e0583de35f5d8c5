/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-json.h"

static const guint64 powers[] = {
  1ull,
  10ull,
  100ull,
  1000ull,
  10000ull,
  100000ull,
  1000000ull,
  10000000ull,
  100000000ull,
  1000000000ull,
  10000000000ull,
  100000000000ull,
  1000000000000ull,
  10000000000000ull,
  100000000000000ull,
  1000000000000000ull,
  10000000000000000ull,
  100000000000000000ull,
  1000000000000000000ull,
  10000000000000000000ull,
};

static gint64
with_sign (const FlamJson *json, __uint128_t value)
{
  gint64 saturated = value > G_MAXINT64 ? G_MAXINT64 : (gint64)value;

  return json->negative ? -saturated : saturated;
}

/* value * 10^exponent; saturated values stay saturated. */
static __uint128_t
shift_up (__uint128_t value, gint64 exponent)
{
  for (; exponent > 0 && value != 0 && value <= G_MAXINT64; exponent--)
    value *= 10;
  return value;
}

/* value / 10^places, truncated. A division of 128 bits costs ten of 64. */
static __uint128_t
shift_down (__uint128_t value, gint64 places)
{
  for (; places > 0 && value > G_MAXUINT64; places--)
    value /= 10;
  if (places >= (gint64)G_N_ELEMENTS (powers))
    return 0;
  return places > 0 ? (guint64)value / powers[places] : value;
}

/* mantissa * scale * 10^exponent, halves rounded away from zero. If the scale
 * covers all decimals, there is nothing to round. */
gint64
flam_json_get_scaled (FlamJson *json, guint32 scale)
{
  __uint128_t value;

  if (G_LIKELY (json->token == FLAM_JSON_NUMBER && json->exponent <= 0 &&
                json->exponent >= -9 && json->mantissa <= G_MAXUINT32))
    {
      guint32 power = (guint32)powers[-json->exponent], step = scale / power;
      gint64 whole = (gint64)json->mantissa * step;

      if (step * power == scale)
        return json->negative ? -whole : whole;
    }
  if (json->token != FLAM_JSON_NUMBER)
    return json->token == FLAM_JSON_TRUE ? scale : 0;
  value = (__uint128_t)json->mantissa * scale;
  if (json->exponent >= 0)
    return with_sign (json, shift_up (value, json->exponent));
  return with_sign (json, (shift_down (value, -json->exponent - 1) + 5) / 10);
}

gint64
flam_json_get_int (FlamJson *json)
{
  if (json->token != FLAM_JSON_NUMBER)
    return json->token == FLAM_JSON_TRUE;
  if (json->exponent >= 0)
    return with_sign (json, shift_up (json->mantissa, json->exponent));
  return with_sign (json, shift_down (json->mantissa, -json->exponent));
}
