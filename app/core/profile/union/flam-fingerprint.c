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
add_block (Lanes *lanes, const FlamFingerprintKey *key, const guint8 *p)
{
  for (guint i = 0; i < 4; i++)
    {
      guint64 x = flam_hash_word (p + 16 * i);
      guint64 y = flam_hash_word (p + 16 * i + 8);

      lanes->a[i] = flam_hash_mix (lanes->a[i] ^ x ^ key->words[i],
                                   y ^ key->words[4 + i]);
      lanes->b[i] = flam_hash_mix (lanes->b[i] ^ y ^ key->words[8 + i],
                                   x ^ key->words[12 + i]);
    }
}

static guint64
fold (const guint64 *lanes, guint64 key)
{
  return flam_hash_mix (flam_hash_mix (lanes[0] ^ key, lanes[1]),
                        flam_hash_mix (lanes[2], lanes[3] ^ key));
}

FlamFingerprint
flam_fingerprint (const FlamFingerprintKey *key, const char *text, gsize length)
{
  const guint8 *p = (const guint8 *)text;
  Lanes lanes = { { length }, { length } };
  guint8 rest[BLOCK] = { 0 };

  for (; length >= BLOCK; p += BLOCK, length -= BLOCK)
    add_block (&lanes, key, p);
  if (length > 0)
    {
      memcpy (rest, p, length);
      add_block (&lanes, key, rest);
    }
  return (FlamFingerprint){ fold (lanes.a, key->words[5]),
                            fold (lanes.b, key->words[10]) };
}
