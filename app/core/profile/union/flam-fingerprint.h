/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FINGERPRINT_H
#define FLAM_FINGERPRINT_H

/* Hashes a text of any length to 128 bits, with a key that is secret and
 * random.
 *
 * These are two independent hashes of 64 bits. Two texts with the same pair of
 * hashes are considered equal: without the key a collision cannot be
 * constructed, and by chance it is too improbable to occur. So a repeated text
 * is recognized without comparing it with its first occurrence. In a large
 * file, that is not in the processor's cache, and loading it takes longer than
 * hashing the new text. */

#include "flam-columns.h"

typedef struct
{
  guint64 words[16];
} FlamFingerprintKey;

typedef struct
{
  guint64 a;
  guint64 b;
} FlamFingerprint;

static inline gboolean
flam_fingerprint_equal (const FlamFingerprint *a, const FlamFingerprint *b)
{
  return a->a == b->a && a->b == b->b;
}

/* A new, random key. */
void flam_fingerprint_key_init (FlamFingerprintKey *key);
FlamFingerprint flam_fingerprint (const FlamFingerprintKey *key,
                                  const char *text,
                                  gsize length);

/* The hash of a path: from the path without its last element (NULL: none), and
 * that element. */
static inline FlamFingerprint
flam_fingerprint_extend (const FlamFingerprintKey *key,
                         const FlamFingerprint *path,
                         guint64 element)
{
  guint64 a = path != NULL ? path->a : key->words[0];
  guint64 b = path != NULL ? path->b : key->words[1];

  return (FlamFingerprint){
    flam_hash_mix (a ^ key->words[2], element ^ key->words[3]),
    flam_hash_mix (b ^ key->words[4], element ^ key->words[5])
  };
}

#endif
