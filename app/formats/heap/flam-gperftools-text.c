/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gperftools.h"

#include <math.h>

/* heap and growth, text: blocks and bytes alive, and [allocated in all]
 *
 *    heap profile:   1044:   189120 [921662: 136069270] @ heapprofile
 *        40:   163840 [    40:   163840] @ 0x55e24f1f0335 0x55e24f1f0955 …
 *
 * After "@ heap_v2/524288" values are samples, taken every so many bytes on
 * average, and are scaled up to estimates; "heap/1048576" has twice that
 * number.
 *
 * jemalloc's have each stack before its values, in all and of each thread; the
 * values before the first stack are sums:
 *
 *    heap_v2/524288                         the average of bytes a sample
 *      t*: 28106: 56637512 [0: 0]
 *      t3: 352: 16777344 [0: 0]
 *    @ 0x5f48f5 0x5f5c01 …
 *      t*: 13: 6688 [0: 0]
 *      t3: 13: 6688 [0: 0]
 *
 * contention: cycles waited and times
 *
 *    --- contentionz 1 ---
 *    cycles/second = 3201000000
 *    sampling period = 100
 *      19490304       27 @ 0xbccc97 0xc61202 …
 *
 * counts of anything: "threadcreate profile: total 7", then "1 @ 0x44cb3 …".
 *
 * threads, and the stack of each of them; the first address is not a call:
 *
 *    --- threadz 1 ---
 *
 *    --- Thread 7f794ab90940 (name: main/14748) stack: ---
 *      PC: 0x00bc8f1c: helper(arg1, arg2)        the rest is not needed
 *        0x0040be31: main
 *      creator: 0x00a45b96 0x00a460b4              its creator, below all that
 *    --- Thread 7f794ab8f940 (name: worker/14749) stack: ---
 *        [same as previous thread]
 *
 * Addresses are return addresses: one less is the call.
 *
 * Go's are followed by the frames of the stack (flam-gperftools-go.c).
 *
 * Java's have no heading of columns, and numbers of names in place of
 * addresses:
 *
 *    --- heapz 1 ---                        or contentionz
 *    format = java
 *    resolution = bytes                     or microseconds
 *          4752     9 @ 0x0000002b 0x0000002c …     bytes, blocks
 *
 * Blocks are sampled, one every 512 KiB. */

#define JAVA_HEAP_PERIOD 524288

/* A number, with spaces before and `after` after it. */
static gboolean
next_number (const char **p, const char *end, char after, gint64 *value)
{
  *p = flam_gperftools_skip (*p, end);
  if (!flam_text_number (p, end, value))
    return FALSE;
  *p = flam_gperftools_skip (*p, end);
  if (after == '\0')
    return TRUE;
  if (*p == end || **p != after)
    return FALSE;
  ++*p;
  return TRUE;
}

/* "@ 0x1 0x2 …" or only the addresses, up to the end of the line. */
static gboolean
read_addresses (FlamGperftools *reader,
                const char *p,
                const char *end,
                FlamGperftoolsSample *sample)
{
  sample->first = reader->addresses->len;
  for (;;)
    {
      guint64 address;

      p = flam_gperftools_skip (p, end);
      if (p == end)
        break;
      if (end - p < 3 || p[0] != '0' || p[1] != 'x')
        return FALSE;
      p += 2;
      if (!flam_text_hex (&p, end, &address))
        return FALSE;
      address -= !reader->java;
      g_array_append_val (reader->addresses, address);
    }
  sample->n = reader->addresses->len - sample->first;
  return TRUE;
}

static gint64
clamp_value (double value)
{
  return value >= 9e18 ? G_MAXINT64 / 2 : value <= 0 ? 0 : (gint64)value;
}

/* Blocks are sampled by their bytes: large ones nearly always, small ones
 * rarely. It is a Poisson process: a block of size s is sampled with
 * probability 1 - exp (-s / period). */
static void
unsample (const FlamGperftools *reader,
          gint64 *count,
          gint64 *bytes,
          gint64 period)
{
  /* pprof truncates the estimate of each stack, jeprof adds up fractions. */
  double rounding = reader->jemalloc ? 0.5 : 0;
  double scale;

  if (*count <= 0 || *bytes <= 0)
    {
      *count = *bytes = 0;
      return;
    }
  if (period <= 1)
    return;
  scale = 1 / (1 - exp (-((double)*bytes / *count) / period));
  *count = clamp_value (*count * scale + rounding);
  *bytes = clamp_value (*bytes * scale + rounding);
}

/* " 0x0000002b name (File.java:12)" */
static gboolean
is_java_name (const char *line, gsize length)
{
  const char *end = line + length;

  line = flam_gperftools_skip (line, end);
  return end - line > 2 && memcmp (line, "0x", 2) == 0;
}

static gboolean
is_map_heading (const char *line, gsize length)
{
  return (length >= 17 && memcmp (line, "MAPPED_LIBRARIES:", 17) == 0) ||
         memmem (line, length, "--- Memory map: ---", 19) != NULL;
}

typedef struct
{
  enum
  {
    HEAP,
    JEMALLOC,
    JAVA_HEAP,
    CONTENTION,
    COUNTS,
    THREADS,
  } kind;
  gint64 period;
  gint64 hz;
  gint64 ns; /* a unit of time, if there are no cycles */
} Text;

/* "13: 6688 [20: 9000]", and what follows. */
static gboolean
read_heap_values (const FlamGperftools *reader,
                  const Text *text,
                  const char **p,
                  const char *end,
                  FlamGperftoolsSample *sample)
{
  gint64 *v = sample->values;

  if (!next_number (p, end, ':', &v[1]) || !next_number (p, end, '[', &v[0]) ||
      !next_number (p, end, ':', &v[3]) || !next_number (p, end, ']', &v[2]))
    return FALSE;
  *p = flam_gperftools_skip (*p, end);
  unsample (reader, &v[1], &v[0], text->period);
  unsample (reader, &v[3], &v[2], text->period);
  return TRUE;
}

static gboolean
read_heap_line (FlamGperftools *reader,
                const Text *text,
                const char *p,
                const char *end,
                FlamGperftoolsSample *sample)
{
  return read_heap_values (reader, text, &p, end, sample) && p < end &&
         *p == '@' && read_addresses (reader, p + 1, end, sample);
}

/* The values of one thread are part of the sum over all threads, which is
 * scaled up by stack. By default, jeprof shows that sum. */
static gboolean
read_jemalloc_line (FlamGperftools *reader,
                    const Text *text,
                    const char *p,
                    const char *end)
{
  FlamGperftoolsSample sample = { 0 };
  GArray *samples = reader->samples;

  if (*p == '@')
    {
      if (!read_addresses (reader, p + 1, end, &sample))
        return FALSE;
      g_array_append_val (samples, sample);
      return TRUE;
    }
  if (*p++ != 't')
    return FALSE;
  if (p < end && g_ascii_isdigit (*p))
    return TRUE;
  if (end - p < 2 || memcmp (p, "*:", 2) != 0)
    return FALSE;
  p += 2;
  if (!read_heap_values (reader, text, &p, end, &sample))
    return FALSE;
  if (samples->len > 0)
    memcpy (
        g_array_index (samples, FlamGperftoolsSample, samples->len - 1).values,
        sample.values,
        sizeof sample.values);
  return TRUE;
}

static gboolean
read_contention_line (FlamGperftools *reader,
                      const Text *text,
                      const char *p,
                      const char *end,
                      FlamGperftoolsSample *sample)
{
  gint64 cycles, times;

  if (!next_number (&p, end, '\0', &cycles) ||
      !next_number (&p, end, '@', &times))
    return FALSE;
  sample->values[0] = clamp_value (
      text->hz > 0
          ? cycles * (double)text->period / (text->hz / 1e9)
          : (double)cycles * (text->ns > 0 ? text->ns * text->period : 1));
  sample->values[1] = clamp_value ((double)times * text->period);
  return read_addresses (reader, p, end, sample);
}

static gboolean
read_java_heap_line (FlamGperftools *reader,
                     const char *p,
                     const char *end,
                     FlamGperftoolsSample *sample)
{
  gint64 *v = sample->values;

  if (!next_number (&p, end, '\0', &v[0]) || !next_number (&p, end, '@', &v[1]))
    return FALSE;
  unsample (reader, &v[1], &v[0], JAVA_HEAP_PERIOD);
  return read_addresses (reader, p, end, sample);
}

/* The thread of the following lines. Threads without a frame were not
 * requested. */
static gboolean
begin_thread (FlamGperftools *reader, const char *line, const char *end)
{
  FlamGperftoolsSample sample = { .first = reader->addresses->len };

  if (memmem (line, end - line, " stack: ---", 11) == NULL)
    return FALSE;
  sample.values[0] = 1;
  g_array_append_val (reader->samples, sample);
  return TRUE;
}

/* Reads the words that are addresses, in a line of any form; returns their
 * number. */
static guint
add_addresses (FlamGperftools *reader,
               FlamGperftoolsSample *sample,
               const char *p,
               const char *end)
{
  guint n = 0;

  for (; p < end; p++)
    {
      const char *stop = p + 2;
      guint64 address;

      if (end - p < 3 || p[0] != '0' || p[1] != 'x' ||
          !flam_text_hex (&stop, end, &address))
        {
          while (p < end && !flam_text_is_space (*p))
            p++;
          continue;
        }
      if (stop == end || flam_text_is_space (*stop) || *stop == ':')
        {
          address -= sample->n > 0;
          g_array_append_val (reader->addresses, address);
          sample->n++;
          n++;
        }
      p = stop - (stop == end);
    }
  return n;
}

static gboolean
read_thread_line (FlamGperftools *reader, const char *p, const char *end)
{
  FlamGperftoolsSample *sample;

  if (g_str_has_prefix (p, "---- no stack trace for"))
    return TRUE;
  if (end - p > 11 && memcmp (p, "--- Thread ", 11) == 0)
    return begin_thread (reader, p, end);
  if (reader->samples->len == 0)
    return FALSE;
  sample = &g_array_index (
      reader->samples, FlamGperftoolsSample, reader->samples->len - 1);
  if (memmem (p, end - p, "same as previous thread", 23) != NULL)
    {
      if (reader->samples->len > 1)
        {
          sample->first = sample[-1].first;
          sample->n = sample[-1].n;
        }
      return TRUE;
    }
  if (sample->first + sample->n != reader->addresses->len)
    return FALSE;
  return add_addresses (reader, sample, p, end) > 0 ||
         memmem (p, end - p, "creator:", 8) != NULL;
}

static gboolean
read_count_line (FlamGperftools *reader,
                 const char *p,
                 const char *end,
                 FlamGperftoolsSample *sample)
{
  return next_number (&p, end, '@', &sample->values[0]) &&
         read_addresses (reader, p, end, sample);
}

/* "sampling period = 100" and the like, before the samples. */
static gboolean
read_attribute (FlamGperftools *reader,
                Text *text,
                const char *line,
                const char *end)
{
  const char *equals = memchr (line, '=', end - line);
  const char *p = equals != NULL ? equals + 1 : line;
  gint64 value;

  if (equals == NULL)
    return FALSE;
  if (g_str_has_prefix (line, "format = java"))
    reader->java = TRUE;
  else if (g_str_has_prefix (line, "resolution = microseconds"))
    text->ns = 1000;
  if (!next_number (&p, end, '\0', &value))
    return TRUE;
  if (g_str_has_prefix (line, "cycles/second"))
    text->hz = value;
  else if (g_str_has_prefix (line, "ms since reset"))
    flam_builder_facts (reader->builder)->duration_ns =
        MIN (value, G_MAXINT64 / 1000000) * 1000000;
  else if (g_str_has_prefix (line, "sampling period"))
    text->period = MAX (value, 1);
  return TRUE;
}

static gboolean
read_text_line (FlamGperftools *reader,
                Text *text,
                const char *line,
                gsize length)
{
  const char *p = line, *end = line + length;
  FlamGperftoolsSample sample = { 0 };
  gboolean good;

  p = flam_gperftools_skip (p, end);
  if (p < end && *p == '#')
    flam_gperftools_read_comment (reader, p, end);
  if (p == end || *p == '#')
    return TRUE;
  flam_gperftools_take_comments (reader);
  if (text->kind == THREADS)
    return read_thread_line (reader, p, end);
  if (text->kind == JEMALLOC)
    return read_jemalloc_line (reader, text, p, end);
  if (text->kind != HEAP && text->kind != COUNTS && reader->samples->len == 0 &&
      read_attribute (reader, text, p, end))
    return TRUE;
  if (text->kind == HEAP)
    good = read_heap_line (reader, text, p, end, &sample);
  else if (text->kind == JAVA_HEAP)
    good = read_java_heap_line (reader, p, end, &sample);
  else if (text->kind == CONTENTION)
    good = read_contention_line (reader, text, p, end, &sample);
  else
    good = read_count_line (reader, p, end, &sample);
  if (good)
    g_array_append_val (reader->samples, sample);
  return good;
}

/* The period after the '@' of the first line, or in all of jemalloc's: 1
 * without sampling. */
static gint64
heap_period (const char *line, const char *end)
{
  const char *at = *line == 'h' && end - line > 5 && line[4] == '_'
                       ? line
                       : memchr (line, '@', end - line);
  const char *slash = at != NULL ? memchr (at, '/', end - at) : NULL;
  gint64 period = 1;

  if (slash == NULL)
    return 1;
  slash++;
  if (!flam_text_number (&slash, end, &period))
    return 1;
  return memmem (at, end - at, "heap/", 5) != NULL ? period / 2 : period;
}

void
flam_gperftools_add_measures (FlamGperftools *reader,
                              const FlamMeasureRow *rows,
                              guint n)
{
  for (guint i = 0; i < n; i++)
    flam_builder_add_column (reader->builder);
  for (guint i = 0; i < n; i++)
    flam_load_measure (reader->builder, &rows[i], i, FLAM_NONE);
}

static void
begin_text (FlamGperftools *reader, Text *text, const char *line, gsize length)
{
  static const FlamMeasureRow of_heap[] = {
    { "inuse_space", N_ ("Memory in use"), FLAM_OF_BYTES },
    { "inuse_objects", N_ ("Blocks in use"), FLAM_OF_BLOCKS },
    { "alloc_space", N_ ("Allocated memory"), FLAM_OF_BYTES },
    { "alloc_objects", N_ ("Allocations"), FLAM_OF_BLOCKS },
  };
  static const FlamMeasureRow of_threads = { "thread",
                                             N_ ("Threads"),
                                             FLAM_OF_COUNT };
  static const FlamMeasureRow of_locks[] = {
    { "delay", N_ ("Delay"), FLAM_OF_TIME },
    { "contentions", N_ ("Contentions"), FLAM_OF_COUNT },
  };
  g_autofree char *word = g_strndup (line, strcspn (line, " "));
  const FlamMeasureRow of_word = { word, word, FLAM_OF_COUNT };

  *text = (Text){ .period = 1 };
  reader->jemalloc = g_str_has_prefix (line, "heap_v2/");
  if (reader->jemalloc || g_str_has_prefix (line, "heap profile:"))
    {
      text->kind = reader->jemalloc ? JEMALLOC : HEAP;
      text->period = heap_period (line, line + length);
      flam_gperftools_add_measures (reader, of_heap, 4);
      if (text->period > 1)
        flam_builder_facts (reader->builder)->sample_bytes = text->period;
    }
  else if (g_str_has_prefix (line, "--- heapz"))
    {
      text->kind = JAVA_HEAP;
      flam_gperftools_add_measures (reader, of_heap, 2);
      flam_builder_facts (reader->builder)->sample_bytes = JAVA_HEAP_PERIOD;
    }
  else if (g_str_has_prefix (line, "---"))
    {
      gboolean threads = g_str_has_prefix (line, "--- threadz");
      text->kind = threads ? THREADS : CONTENTION;
      flam_gperftools_add_measures (
          reader, threads ? &of_threads : of_locks, threads ? 1 : 2);
    }
  else
    {
      text->kind = COUNTS;
      flam_gperftools_add_measures (reader, &of_word, 1);
    }
}

gboolean
flam_gperftools_read_text (FlamGperftools *reader,
                           FlamText *lines,
                           GError **error)
{
  Text text;
  const char *line;
  gsize length;

  flam_text_open (lines, reader->source, reader->load->options->progress);
  if (!flam_text_next (lines, &line, &length))
    return flam_text_close (lines, error);
  begin_text (reader, &text, line, length);
  while (flam_text_next (lines, &line, &length))
    {
      if (is_map_heading (line, length))
        break;
      if (reader->java && is_java_name (line, length))
        {
          lines->at = line; /* the caller frees the names */
          break;
        }
      if (!read_text_line (reader, &text, line, length))
        flam_text_bad (lines);
    }
  flam_gperftools_take_comments (reader);
  flam_text_warn_bad (lines, reader->builder, "gperftools'");
  return flam_text_close (lines, error);
}
