/* SPDX-License-Identifier: GPL-3.0-or-later */

/* `drawn few|many|mixed`: five functions allocate 40, 25, 20, 10 and 5 % of the
 * blocks, and a third of the blocks is freed again, so that the peak is in the
 * middle. The same blocks in every run, whichever of them a recorder samples.
 *
 *    few     300 blocks of 256 KiB to 2 MiB
 *    many    400,000 blocks of 100 to 200 bytes
 *    mixed   blocks of 16 bytes to 256 KiB, of each power of two the same
 * number
 */

#include <stdlib.h>
#include <string.h>

#define MOST 400000

static void *kept[MOST];
static unsigned long long state = 88172645463325252ull;

static unsigned
draw (unsigned below)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)((state >> 11) % below);
}

#define SITE(name)                                                             \
  __attribute__ ((noinline)) void *name (size_t size)                          \
  {                                                                            \
    void *block = malloc (size);                                               \
                                                                               \
    __asm__ volatile("# " #name : "+r"(block)); /* not the same code */        \
    return block;                                                              \
  }

void *most (size_t size);
void *quarter (size_t size);
void *fifth (size_t size);
void *tenth (size_t size);
void *least (size_t size);

SITE (most)
SITE (quarter)
SITE (fifth)
SITE (tenth)
SITE (least)

static void *
make (size_t size)
{
  unsigned part = draw (100);

  return part < 40   ? most (size)
         : part < 65 ? quarter (size)
         : part < 85 ? fifth (size)
         : part < 95 ? tenth (size)
                     : least (size);
}

static size_t
size_of (const char *kind)
{
  if (strcmp (kind, "few") == 0)
    return (256 + draw (1792)) * 1024;
  if (strcmp (kind, "many") == 0)
    return 100 + draw (100);
  return (size_t)16 << draw (15);
}

int
main (int argc, char **argv)
{
  const char *kind = argc > 1 ? argv[1] : "many";
  unsigned n = strcmp (kind, "few") == 0    ? 300
               : strcmp (kind, "many") == 0 ? MOST
                                            : 20000;

  for (unsigned i = 0; i < n; i++)
    {
      unsigned old = draw (i + 1);

      kept[i] = make (size_of (kind));
      /* More of the later ones. */
      if (draw (3) == 0 && i > n / 2)
        {
          free (kept[old]);
          kept[old] = NULL;
        }
    }
  for (unsigned i = 0; i < n / 4; i++)
    {
      unsigned old = draw (n);

      free (kept[old]);
      kept[old] = NULL;
    }
  return 0;
}
