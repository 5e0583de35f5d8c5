/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A text of any length as 128 bits, under a key that is secret and random.
 *
 * Two hashes of 64 bits that have nothing in common. Two texts that agree in
 * both are taken for one: without the key nobody can make a pair, and by
 * chance there is one in no file. So a text that was seen before is known
 * without looking at where it was: in a large file that is far away, and the
 * memory takes longer to bring it than the processor to read the new one. */

#include "flam-types.h"

typedef struct
{
  guint64 words[16];
} FlamFingerprintKey;

typedef struct
{
  guint64 a;
  guint64 b;
} FlamFingerprint;

/* A new one. */
void flam_fingerprint_key_init (FlamFingerprintKey *key);
FlamFingerprint flam_fingerprint (const FlamFingerprintKey *key,
                                  const char *text,
                                  gsize length);
