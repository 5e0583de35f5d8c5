/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Selects the blocks to sample, and recognizes the frees of sampled blocks. */

#include "flam-preload.h"

#include <string.h>

/* --- chance -------------------------------------------------------------- */

static uint64_t
next_random (void)
{
  uint64_t x = preload_thread.random;

  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return preload_thread.random = x;
}

/* log(x) of a positive x, to seven digits: libm must not be called here. With x
 * = 2^e * m and s = (m - 1) / (m + 1): log m = 2 * (s + s^3/3 + s^5/5 ...) */
static double
logarithm (double x)
{
  uint64_t bits;
  double m, s, square;
  int exponent;

  memcpy (&bits, &x, 8);
  exponent = (int)(bits >> 52 & 2047) - 1023;
  bits = (bits & ~(2047ull << 52)) | 1023ull << 52;
  memcpy (&m, &bits, 8);
  s = (m - 1) / (m + 1);
  square = s * s;
  return exponent * 0.6931471805599453 +
         2 * s *
             (1 +
              square * (1. / 3 +
                        square * (1. / 5 +
                                  square * (1. / 7 +
                                            square * (1. / 9 + square / 11)))));
}

/* Bytes to the next sample: exponential with mean `every`. */
static int64_t
next_interval (uint64_t every)
{
  double uniform = ((double)(next_random () >> 11) + 1) * 0x1p-53;
  double interval = -logarithm (uniform) * (double)every;

  return interval < 1 ? 1 : interval > 1e15 ? (int64_t)1e15 : (int64_t)interval;
}

void
preload_begin_countdown (void)
{
  preload_thread.until_sample = next_interval (preload_sample_bytes ());
}

/* --- the sampled blocks that are live ------------------------------------ */

/* Buckets of eight addresses, one cache line. If the bucket is full, the block
 * is not sampled. */
#define BUCKETS (1u << 14)

_Atomic uint8_t preload_filter[FLAM_PRELOAD_FILTER];
static _Atomic uint64_t *_Atomic sampled; /* [BUCKETS][8] */

static inline uint32_t
bucket_of (uint64_t address)
{
  return (address * 0x9e3779b97f4a7c15ull) >> 50;
}

void
preload_filter_frees (bool filters)
{
  _Atomic uint64_t *table = atomic_load (&sampled);

  for (uint32_t i = 0; i < FLAM_PRELOAD_FILTER; i++)
    atomic_store_explicit (&preload_filter[i], filters, memory_order_relaxed);
  for (uint32_t i = 0; table != NULL && i < BUCKETS * 8; i++)
    atomic_store_explicit (&table[i], 0, memory_order_relaxed);
}

void
preload_never_filter (uint64_t start, uint64_t end)
{
  for (uint64_t at = start & ~1023ull; at < end; at += 1024)
    atomic_store (&preload_filter[preload_filter_index (at)], 0);
}

/* A count that has overflowed is never changed again: it only means
 * "perhaps". */
static void
count_in_filter (uint64_t address, int change)
{
  _Atomic uint8_t *count = &preload_filter[preload_filter_index (address)];
  uint8_t was = atomic_load (count);

  while (was != 0 &&
         !atomic_compare_exchange_weak (count, &was, (uint8_t)(was + change)))
    continue;
}

static _Atomic uint64_t *
get_buckets (void)
{
  _Atomic uint64_t *table = atomic_load (&sampled);
  _Atomic uint64_t *fresh;

  if (table != NULL)
    return table;
  fresh = preload_pages (BUCKETS * 8ul * sizeof *fresh);
  if (fresh != NULL &&
      !atomic_compare_exchange_strong (&sampled, &table, fresh))
    preload_release_pages ((void *)fresh, BUCKETS * 8ul * sizeof *fresh);
  return atomic_load (&sampled);
}

/* TRUE if an entry of the address's bucket held `from`, and now holds `to`. */
static bool
replace_in_bucket (_Atomic uint64_t *table,
                   uint64_t address,
                   uint64_t from,
                   uint64_t to)
{
  _Atomic uint64_t *bucket = table + 8ul * bucket_of (address);

  for (unsigned i = 0; i < 8; i++)
    {
      uint64_t found = from;

      if (atomic_load_explicit (&bucket[i], memory_order_relaxed) == from &&
          atomic_compare_exchange_strong (&bucket[i], &found, to))
        return true;
    }
  return false;
}

bool
preload_remember_sampled (uint64_t address)
{
  _Atomic uint64_t *table = get_buckets ();

  if (table == NULL || !replace_in_bucket (table, address, 0, address))
    return false;
  count_in_filter (address, 1);
  return true;
}

bool
preload_forget_sampled (uint64_t address)
{
  _Atomic uint64_t *table = atomic_load (&sampled);

  if (table == NULL || !replace_in_bucket (table, address, address, 0))
    return false;
  count_in_filter (address, -1);
  return true;
}
