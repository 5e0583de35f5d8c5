/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JSON_RUN_H
#define FLAM_JSON_RUN_H

/* Skips the plain bytes of a JSON string: up to the first one that is a quote,
 * a backslash, a control character or not ASCII.
 *
 *    a p p : : r u n " , " t s " : 1      16 bytes
 *    . . . . . . . . # . # . . # . .      a quote, a backslash, or below ' '
 *    0 0 0 0 0 0 0 0 1 0 1 0 0 1 0 0      a bit each; the lowest is the end
 *
 * As a signed number a byte that is not ASCII is below ' ', too, so that three
 * comparisons of 16 bytes find all of these. They use SSE2, which every x86-64
 * has, or NEON, which every AArch64 has: nothing is chosen at run time. (AVX2
 * would not be faster: most names are shorter than 16 bytes.) The last 15 bytes
 * of a document, and other processors, use the portable loops: eight bytes as
 * one word, then single bytes. */

#include <glib.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#elif defined __AARCH64EL__
#include <arm_neon.h>
#endif

G_BEGIN_DECLS

/* A separate function: inlined, it would take many registers from the functions
 * that read tokens. */
static G_NO_INLINE G_GNUC_UNUSED const guint8 *
flam_json_run_plain (const guint8 *p, const guint8 *end)
{
  const guint64 ones = ~(guint64)0 / 255;

  while (end - p >= 8)
    {
      guint64 word, quote, slash;

      memcpy (&word, p, 8);
      quote = word ^ (ones * '"');
      slash = word ^ (ones * '\\');
      if (((word | (word - ones * 0x20) | (quote - ones) | (slash - ones)) &
           (ones * 0x80)) != 0)
        break;
      p += 8;
    }
  while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
    p++;
  return p;
}

static inline const guint8 *
flam_json_run (const guint8 *p, const guint8 *end)
{
#if defined __SSE2__
  for (; end - p >= 16; p += 16)
    {
      __m128i bytes = _mm_loadu_si128 ((const __m128i *)p);
      __m128i ends =
          _mm_or_si128 (_mm_cmpeq_epi8 (bytes, _mm_set1_epi8 ('"')),
                        _mm_cmpeq_epi8 (bytes, _mm_set1_epi8 ('\\')));
      guint mask = (guint)_mm_movemask_epi8 (
          _mm_or_si128 (ends, _mm_cmplt_epi8 (bytes, _mm_set1_epi8 (' '))));

      if (mask != 0)
        return p + __builtin_ctz (mask);
    }
#elif defined __AARCH64EL__
  for (; end - p >= 16; p += 16)
    {
      uint8x16_t bytes = vld1q_u8 (p);
      uint8x16_t ends = vorrq_u8 (vceqq_u8 (bytes, vdupq_n_u8 ('"')),
                                  vceqq_u8 (bytes, vdupq_n_u8 ('\\')));
      uint8x16_t low = vcltq_s8 (vreinterpretq_s8_u8 (bytes), vdupq_n_s8 (' '));
      /* Four bits per byte: NEON's equivalent of a mask. */
      uint8x8_t narrow =
          vshrn_n_u16 (vreinterpretq_u16_u8 (vorrq_u8 (ends, low)), 4);
      guint64 mask = vget_lane_u64 (vreinterpret_u64_u8 (narrow), 0);

      if (mask != 0)
        return p + __builtin_ctzll (mask) / 4;
    }
#endif
  return flam_json_run_plain (p, end);
}

/* The length of the well-formed UTF-8 sequence at `p`, whose first byte is 0x80
 * or above; 0 if it is invalid (Unicode 15, table 3-7). */
static inline guint
flam_json_utf8 (const guint8 *p, const guint8 *end)
{
  guint n = p[0] < 0xc2   ? 0
            : p[0] < 0xe0 ? 2
            : p[0] < 0xf0 ? 3
            : p[0] < 0xf5 ? 4
                          : 0;
  guint8 low = 0x80, high = 0xbf;

  if (n == 0 || (gsize)(end - p) < n)
    return 0;
  if (p[0] == 0xe0)
    low = 0xa0;
  else if (p[0] == 0xed)
    high = 0x9f;
  else if (p[0] == 0xf0)
    low = 0x90;
  else if (p[0] == 0xf4)
    high = 0x8f;
  if (p[1] < low || p[1] > high)
    return 0;
  for (guint i = 2; i < n; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  return n;
}

G_END_DECLS

#endif
