/* SPDX-License-Identifier: GPL-3.0-or-later */

/* `drawn KIND`: five functions allocate 40, 25, 20, 10 and 5 % of the blocks,
 * and a third of the blocks is freed again, so that the peak is in the middle.
 * The same blocks in every run, whichever of them a recorder samples.
 *
 *    few     300 blocks of 256 KiB to 2 MiB
 *    many    400,000 blocks of 100 to 200 bytes
 *    same    20,000 blocks of 4,000 bytes
 *    mixed   20,000 blocks of 16 bytes to 256 KiB, of each power of two the
 *            same number
 *    apart   200,000 blocks of 64 bytes and 50 of 1 MiB
 *    short   500,000 blocks of 16 bytes to 2 KiB; all but one in 50 are freed
 *            before the next is allocated
 */

#include <stdlib.h>
#include <string.h>

#define MOST 500000

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
draw_few (void)
{
  return (256 + draw (1792)) * 1024;
}

static size_t
draw_many (void)
{
  return 100 + draw (100);
}

static size_t
draw_same (void)
{
  return 4000;
}

static size_t
draw_mixed (void)
{
  return (size_t)16 << draw (15);
}

static size_t
draw_apart (void)
{
  return draw (4000) == 0 ? 1 << 20 : 64;
}

static size_t
draw_short (void)
{
  return 16 + draw (2032);
}

static const struct
{
  const char *name;
  unsigned n;
  size_t (*size) (void);
} kinds[] = {
  { "few", 300, draw_few },        { "many", 400000, draw_many },
  { "same", 20000, draw_same },    { "mixed", 20000, draw_mixed },
  { "apart", 200000, draw_apart }, { "short", 500000, draw_short },
};

static void
release (unsigned i)
{
  free (kept[i]);
  kept[i] = NULL;
}

int
main (int argc, char **argv)
{
  unsigned kind = 0;
  unsigned n;
  int lives_shortly;

  while (argc < 2 || strcmp (argv[1], kinds[kind].name) != 0)
    if (argc < 2 || ++kind == sizeof kinds / sizeof *kinds)
      return 2;
  n = kinds[kind].n;
  lives_shortly = strcmp (kinds[kind].name, "short") == 0;
  for (unsigned i = 0; i < n; i++)
    {
      unsigned old = draw (i + 1);

      kept[i] = make (kinds[kind].size ());
      if (lives_shortly && draw (50) != 0)
        release (i);
      /* More of the later ones. */
      if (draw (3) == 0 && i > n / 2)
        release (old);
    }
  for (unsigned i = 0; i < n / 4; i++)
    release (draw (n));
  return 0;
}
