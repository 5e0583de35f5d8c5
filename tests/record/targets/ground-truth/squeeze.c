/* SPDX-License-Identifier: GPL-3.0-or-later */

/* squeeze SECONDS: generates a text, compresses it in about 0.3 ms, and writes
 * it to a file that is synchronized each time. */

#include <string.h>

#include "truth.h"

#define SIZE 32768

enum
{
  MAKE_TEXT,
  COMPRESS,
  STORE,
  N_PARTS
};
static TruthPart parts[N_PARTS] = { { "make_text", 0 },
                                    { "compress", 0 },
                                    { "store", 0 } };
static unsigned char text[SIZE], packed[2 * SIZE];

NOINLINE static void
make_text (uint64_t seed)
{
  static const char words[] =
      "flame frame stack trace sleep clock cycle burst ";

  for (int i = 0; i + 6 <= SIZE; i += 6)
    {
      seed = seed * 6364136223846793005ull + 1442695040888963407ull;
      memcpy (text + i, words + 6 * (seed >> 61), 6);
    }
}

/* Copies of four bytes or more, by where their hash was last seen. */
NOINLINE static int
compress (void)
{
  static int last[4096];
  int out = 0;

  memset (last, 0, sizeof last);
  for (int i = 0; i + 4 <= SIZE;)
    {
      uint32_t four;
      int from, n = 0;

      memcpy (&four, text + i, 4);
      four = four * 2654435761u >> 20;
      from = last[four];
      last[four] = i;
      if (from < i)
        while (n < 255 && i + n < SIZE && text[from + n] == text[i + n])
          n++;
      if (n >= 4)
        {
          packed[out++] = 0;
          packed[out++] = (unsigned char)n;
          memcpy (packed + out, &from, 2);
          out += 2;
          i += n;
        }
      else
        packed[out++] = text[i++];
    }
  truth_sink++;
  return out;
}

NOINLINE static void
store (int fd, int n)
{
  if (pwrite (fd, packed, (size_t)n, 0) != n || fsync (fd) != 0)
    _exit (1);
  truth_sink++;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("squeeze");
  char path[] = "squeeze-XXXXXX";
  int fd = mkstemp (path);

  if (fd < 0)
    return 1;
  unlink (path);
  truth_begin (argc, argv);
  for (uint64_t i = 0; truth_goes_on (); i++)
    {
      int n;

      TIMED (parts[MAKE_TEXT], make_text (i));
      TIMED (parts[COMPRESS], n = compress ());
      TIMED (parts[STORE], store (fd, n));
    }
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
