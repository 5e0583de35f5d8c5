/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A small program to look at in a profiler: it paints a torch at night.
 *
 *   main ---- paint ------ two threads side by side, each about a second
 *     |         |- painter   paint_sky > paint_row > escape_time (inlined)
 *     |         '- sparks    step_sparks > move_spark (inlined)
 *     |                      sort_sparks > sort_sparks > ... (recursive)
 *     |- soften  ----------- blur_rows, blur_columns > blend (inlined)
 *     '- encode  ----------- encode_row, many small blocks, most freed at once
 *
 * On the memory side: the picture is held from beginning to end, blur_columns
 * holds a second one for a moment (the peak), encode_row's blocks are
 * temporary, and remember_row leaks one small block per row, on purpose. */

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  WIDTH = 1200,
  HEIGHT = 900,
  ITERATIONS = 400,
  SPARKS = 20000,
  STEPS = 1300,
  BLURS = 50,
};

typedef struct
{
  float x, y, dx, dy, heat;
} Spark;

typedef struct
{
  float *pixels; /* WIDTH * HEIGHT, 0 black to 1 white */
} Picture;

/* The night sky: how long a point takes to run away from the set. */
static inline int
escape_time (double cx, double cy)
{
  double x = 0, y = 0;
  int i = 0;

  while (i < ITERATIONS && x * x + y * y < 4.0)
    {
      double next = x * x - y * y + cx;

      y = 2 * x * y + cy;
      x = next;
      i++;
    }
  return i;
}

static __attribute__ ((noinline)) void
paint_row (Picture *picture, int row)
{
  double cy = 2.4 * row / (double)HEIGHT - 1.2;

  for (int column = 0; column < WIDTH; column++)
    {
      double cx = 3.2 * column / (double)WIDTH - 2.2;

      picture->pixels[row * WIDTH + column] =
          (float)escape_time (cx, cy) / (float)ITERATIONS;
    }
}

static void *
painter (void *data)
{
  for (int pass = 0; pass < 4; pass++)
    for (int row = 0; row < HEIGHT; row++)
      paint_row (data, row);
  return NULL;
}

/* The flame: sparks that rise, cool down, and are lit again at the torch. */
static inline void
move_spark (Spark *spark, unsigned *seed)
{
  spark->dx += 0.01f * sinf (spark->y * 9 + spark->heat);
  spark->dy -= 0.002f * spark->heat;
  spark->x += spark->dx;
  spark->y += spark->dy;
  spark->heat *= 0.985f;
  if (spark->heat < 0.05f)
    {
      spark->x = 0.5f + (float)rand_r (seed) / (float)RAND_MAX * 0.1f;
      spark->y = 0.9f;
      spark->dx = 0;
      spark->dy = -0.01f;
      spark->heat = 0.5f + (float)rand_r (seed) / (float)RAND_MAX * 0.5f;
    }
}

static __attribute__ ((noinline)) void
step_sparks (Spark *sparks, unsigned *seed)
{
  for (int i = 0; i < SPARKS; i++)
    move_spark (&sparks[i], seed);
}

/* Quicksort by heat, the coldest first: the hot ones are drawn on top. */
static __attribute__ ((noinline)) void
sort_sparks (Spark *sparks, int first, int last)
{
  int low = first, high = last;
  float pivot;

  if (first >= last)
    return;
  pivot = sparks[first + (last - first) / 2].heat;
  while (low <= high)
    {
      while (sparks[low].heat < pivot)
        low++;
      while (sparks[high].heat > pivot)
        high--;
      if (low <= high)
        {
          Spark spark = sparks[low];

          sparks[low++] = sparks[high];
          sparks[high--] = spark;
        }
    }
  sort_sparks (sparks, first, high);
  sort_sparks (sparks, low, last);
}

static void *
sparks (void *data)
{
  Spark *all = calloc (SPARKS, sizeof *all);
  double *sum = data;
  unsigned seed = 1;

  if (!all)
    abort ();
  for (int step = 0; step < STEPS; step++)
    {
      step_sparks (all, &seed);
      sort_sparks (all, 0, SPARKS - 1);
    }
  for (int i = 0; i < SPARKS; i++)
    *sum += all[i].heat;
  free (all);
  return NULL;
}

static __attribute__ ((noinline)) double
paint (Picture *picture)
{
  pthread_t threads[2];
  double heat = 0;

  if (pthread_create (&threads[0], NULL, painter, picture) ||
      pthread_create (&threads[1], NULL, sparks, &heat))
    abort ();
  pthread_setname_np (threads[0], "painter");
  pthread_setname_np (threads[1], "sparks");
  pthread_join (threads[0], NULL);
  pthread_join (threads[1], NULL);
  return heat;
}

static inline float
blend (float before, float here, float after)
{
  return (before + 2 * here + after) / 4;
}

static __attribute__ ((noinline)) void
blur_rows (Picture *picture)
{
  for (int row = 0; row < HEIGHT; row++)
    {
      float *p = picture->pixels + row * WIDTH;

      for (int column = 1; column < WIDTH - 1; column++)
        p[column] = blend (p[column - 1], p[column], p[column + 1]);
    }
}

static __attribute__ ((noinline)) void
blur_columns (Picture *picture)
{
  size_t size = sizeof (float) * WIDTH * HEIGHT;
  float *p = picture->pixels;
  float *copy = malloc (size);

  if (!copy)
    abort ();
  memcpy (copy, p, size);
  for (int column = 0; column < WIDTH; column++)
    for (int row = 1; row < HEIGHT - 1; row++)
      p[row * WIDTH + column] = blend (copy[(row - 1) * WIDTH + column],
                                       copy[row * WIDTH + column],
                                       copy[(row + 1) * WIDTH + column]);
  free (copy);
}

static __attribute__ ((noinline)) void
soften (Picture *picture)
{
  for (int i = 0; i < BLURS; i++)
    {
      blur_rows (picture);
      blur_columns (picture);
    }
}

typedef struct Remembered Remembered;
struct Remembered
{
  Remembered *next;
  size_t length;
};

/* Never freed: an example of a leak. */
static __attribute__ ((noinline)) Remembered *
remember_row (Remembered *list, size_t length)
{
  Remembered *entry = malloc (sizeof *entry);

  if (!entry)
    abort ();
  entry->next = list;
  entry->length = length;
  return entry;
}

/* Runs of equal brightness, each in a block of its own for a moment. */
static __attribute__ ((noinline)) size_t
encode_row (const float *row)
{
  size_t length = 0;

  for (int start = 0; start < WIDTH;)
    {
      int end = start + 1;
      char *run;

      while (end < WIDTH && (int)(row[end] * 1024) == (int)(row[start] * 1024))
        end++;
      run = malloc (32);
      if (!run)
        abort ();
      length += snprintf (run, 32, "%d*%.2f ", end - start, row[start]);
      free (run);
      start = end;
    }
  return length;
}

static __attribute__ ((noinline)) size_t
encode (const Picture *picture)
{
  Remembered *list = NULL;
  size_t length = 0;

  for (int row = 0; row < HEIGHT; row++)
    list = remember_row (list, encode_row (picture->pixels + row * WIDTH));
  for (const Remembered *entry = list; entry; entry = entry->next)
    length += entry->length;
  return length;
}

int
main (void)
{
  Picture picture = { calloc (WIDTH * HEIGHT, sizeof (float)) };
  double heat;

  if (!picture.pixels)
    return 1;
  heat = paint (&picture);
  soften (&picture);
  printf ("A torch of heat %.1f at night, %d x %d, %zu bytes encoded.\n",
          heat,
          WIDTH,
          HEIGHT,
          encode (&picture));
  free (picture.pixels);
  return 0;
}
