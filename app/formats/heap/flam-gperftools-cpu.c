/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gperftools.h"

/* CPU, binary, words of 4 or 8 bytes of either order:
 *
 *    0  0      12  period (µs)      then records: count, n, n addresses (leaf
 *    1  3      16  0                first), the last of them 0, 1, 0
 *    2  0; 1: of Java, whose addresses are names' numbers
 *
 * Addresses except the leaf's are return addresses: one less is the call. A
 * second frame that is the same in nearly all samples is the signal handler's,
 * and is removed. */

typedef struct
{
  const guint8 *at, *end;
  guint size;
  gboolean big;
} Words;

static gboolean
next_word (Words *words, guint64 *value)
{
  if ((gsize)(words->end - words->at) < words->size)
    return FALSE;
  *value = 0;
  for (guint i = 0; i < words->size; i++)
    *value |= (guint64)words->at[i]
              << 8 * (words->big ? words->size - 1 - i : i);
  words->at += words->size;
  return TRUE;
}

/* The words' size and order, and the period; FALSE: not such a file. */
static gboolean
find_words (const FlamSource *source,
            Words *words,
            guint64 *period,
            gboolean *java)
{
  for (guint i = 0; i < 4; i++)
    {
      guint64 header[5];
      guint n = 0;

      *words = (Words){ .at = source->data,
                        .end = source->data + source->size,
                        .size = i < 2 ? 8 : 4,
                        .big = i % 2 };
      while (n < 5 && next_word (words, &header[n]))
        n++;
      *period = n == 5 ? header[3] : 0;
      *java = n == 5 && header[2] == 1;
      if (n == 5 && header[0] == 0 && header[1] == 3 && header[2] <= 1 &&
          header[3] > 0 && header[3] < 1000000000 && header[4] == 0)
        return TRUE;
    }
  return FALSE;
}

/* The second address of (nearly) all samples, twice over. */
static void
drop_signal_frames (FlamGperftools *reader)
{
  guint n = reader->samples->len;

  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (GHashTable) counts =
          g_hash_table_new (flam_hash_int64, g_int64_equal);
      guint64 common = 0;

      for (guint i = 0; i < n; i++)
        {
          const FlamGperftoolsSample *sample =
              &g_array_index (reader->samples, FlamGperftoolsSample, i);
          guint64 *address;
          guint count;

          if (sample->n < 2)
            continue;
          address =
              &g_array_index (reader->addresses, guint64, sample->first + 1);
          count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, address)) + 1;
          g_hash_table_insert (counts, address, GUINT_TO_POINTER (count));
          if (count >= n - n / 32)
            common = *address;
        }
      for (guint i = 0; common != 0 && i < n; i++)
        {
          FlamGperftoolsSample *sample =
              &g_array_index (reader->samples, FlamGperftoolsSample, i);
          guint64 *addresses =
              &g_array_index (reader->addresses, guint64, sample->first);

          if (sample->n < 2 || addresses[1] != common)
            continue;
          addresses[1] = addresses[0];
          sample->first++;
          sample->n--;
        }
    }
}

/* The leaf may occur twice: from the signal, and from the stack, one less. */
static void
drop_double_leaves (FlamGperftools *reader)
{
  for (guint i = 0; i < reader->samples->len; i++)
    {
      FlamGperftoolsSample *sample =
          &g_array_index (reader->samples, FlamGperftoolsSample, i);
      guint64 *addresses =
          &g_array_index (reader->addresses, guint64, sample->first);

      if (sample->n < 2 || addresses[0] != addresses[1] + 1)
        continue;
      addresses[1] = addresses[0];
      sample->first++;
      sample->n--;
    }
}

/* FALSE: the file ends before its last record. */
static gboolean
read_records (FlamGperftools *reader, Words *words, guint64 period)
{
  guint64 count, n, address;

  while (next_word (words, &count) && next_word (words, &n))
    {
      FlamGperftoolsSample sample = { .first = reader->addresses->len };

      if (n > (gsize)(words->end - words->at) / words->size)
        return FALSE;
      for (guint64 i = 0; i < n; i++)
        {
          next_word (words, &address);
          if (i > 0 && !reader->java)
            address--;
          g_array_append_val (reader->addresses, address);
        }
      if (count == 0 && n == 1 && address == 0)
        return TRUE;
      sample.n = n;
      if (count > G_MAXINT64 / 1000 / period ||
          sample.first + n > G_MAXUINT32 / 2)
        return FALSE;
      sample.values[0] = count * period * 1000;
      sample.values[1] = count;
      g_array_append_val (reader->samples, sample);
    }
  return FALSE;
}

gboolean
flam_gperftools_is_cpu (const FlamSource *source)
{
  Words words;
  guint64 period;
  gboolean java;

  return find_words (source, &words, &period, &java);
}

void
flam_gperftools_read_cpu (FlamGperftools *reader, FlamText *text)
{
  static const FlamMeasureRow rows[] = {
    { "cpu", N_ ("CPU time"), FLAM_OF_TIME },
    { "samples", N_ ("Samples"), FLAM_OF_COUNT },
  };
  Words words;
  guint64 period;

  find_words (reader->source, &words, &period, &reader->java);
  flam_gperftools_add_measures (reader, rows, G_N_ELEMENTS (rows));
  if (!read_records (reader, &words, period))
    flam_load_partial (
        reader->load,
        words.at,
        N_ ("the samples were cut off or damaged after byte %zu"),
        (gsize)(words.at - reader->load->source->data));
  if (!reader->java)
    {
      drop_signal_frames (reader);
      drop_double_leaves (reader);
    }
  flam_text_init (text, reader->source);
  text->at = (const char *)words.at;
}
