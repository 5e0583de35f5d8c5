/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-fingerprint.h"

#define BLOCK 64

void
flam_fingerprint_key_init (FlamFingerprintKey *key)
{
  for (guint i = 0; i < G_N_ELEMENTS (key->words); i++)
    key->words[i] = (guint64)g_random_int () << 32 | g_random_int ();
}

/* Each hash has four independent lanes: the latency of a product is four times
 * its throughput. */
typedef struct
{
  guint64 a[4];
  guint64 b[4];
} Lanes;

static inline void
add_words (
    Lanes *lanes, const FlamFingerprintKey *key, guint i, guint64 x, guint64 y)
{
  lanes->a[i] =
      flam_hash_mix (lanes->a[i] ^ x ^ key->words[i], y ^ key->words[4 + i]);
  lanes->b[i] = flam_hash_mix (lanes->b[i] ^ y ^ key->words[8 + i],
                               x ^ key->words[12 + i]);
}

static inline void
add_pair (Lanes *lanes, const FlamFingerprintKey *key, guint i, const guint8 *p)
{
  add_words (lanes, key, i, flam_hash_word (p), flam_hash_word (p + 8));
}

static inline void
add_block (Lanes *lanes, const FlamFingerprintKey *key, const guint8 *p)
{
  for (guint i = 0; i < 4; i++)
    add_pair (lanes, key, i, p + 16 * i);
}

static inline guint64
fold (const guint64 *lanes, guint64 key)
{
  return flam_hash_mix (flam_hash_mix (lanes[0] ^ key, lanes[1]),
                        flam_hash_mix (lanes[2], lanes[3] ^ key));
}

/* Up to 16 bytes. As below, words overlap if there are fewer bytes: this
 * cannot make two texts the same, since their length counts: at the end, where
 * it cannot make up for a difference of the texts. */
static FlamFingerprint
of_few (const FlamFingerprintKey *key, const guint8 *p, gsize length)
{
  Lanes lanes = { { 0 }, { 0 } };

  if (length >= 8)
    add_words (
        &lanes, key, 0, flam_hash_word (p), flam_hash_word (p + length - 8));
  else
    add_words (&lanes, key, 0, flam_hash_tail (p, length), 0);
  return (FlamFingerprint){
    flam_hash_mix (lanes.a[0] ^ key->words[5], length ^ key->words[6]),
    flam_hash_mix (lanes.b[0] ^ key->words[10], length ^ key->words[11])
  };
}

FlamFingerprint
flam_fingerprint (const FlamFingerprintKey *key, const char *text, gsize length)
{
  const guint8 *p = (const guint8 *)text, *end = p + length;
  Lanes lanes = { { 0 }, { 0 } };

  if (length <= 16)
    return of_few (key, p, length);
  if (length <= 32)
    {
      add_pair (&lanes, key, 0, p);
      add_pair (&lanes, key, 1, end - 16);
      return (FlamFingerprint){
        flam_hash_mix (lanes.a[0] ^ key->words[5], length ^ lanes.a[1]),
        flam_hash_mix (lanes.b[0] ^ key->words[10], length ^ lanes.b[1])
      };
    }
  for (; end - p > BLOCK; p += BLOCK)
    add_block (&lanes, key, p);
  if (length >= BLOCK)
    add_block (&lanes, key, end - BLOCK);
  else
    {
      add_pair (&lanes, key, 0, p);
      add_pair (&lanes, key, 1, p + 16);
      add_pair (&lanes, key, 2, end - 32);
      add_pair (&lanes, key, 3, end - 16);
    }
  return (FlamFingerprint){ fold (lanes.a, length ^ key->words[5]),
                            fold (lanes.b, length ^ key->words[10]) };
}
