/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The frames that Go writes below each sample of a text (debug=1), except
 * functions of the runtime at the leaf and goexit at the root. Their addresses
 * are those of calls:
 *
 *    1: 64 [1: 64] @ 0x4b3c3e 0x4b3d37 0x4b3d37 0x461121
 *    #   0x4b3c3d   main.bake+0x5d   /home/me/main.go:12
 *    #   0x4b3d36   main.deep+0x36   /home/me/main.go:27
 *    #   0x4b3d36   main.deep+0x36   /home/me/main.go:27
 *
 * A recursive call is listed as often as it is on the stack; otherwise, several
 * lines with the same address are functions inlined into each other.
 *
 * Source of facts: Go's runtime/pprof/pprof.go, printStackRecord. */

#include "flam-gperftools.h"

#define LONGEST_NAME G_MAXUINT16
#define MOST_INLINED 64

void
flam_gperftools_read_comment (FlamGperftools *reader,
                              const char *p,
                              const char *end)
{
  FlamGperftoolsComment comment = { 0 };
  const char *tab, *plus;

  p++;
  p = flam_gperftools_skip (p, end);
  if (end - p < 3 || memcmp (p, "0x", 2) != 0)
    return;
  p += 2;
  if (!flam_text_hex (&p, end, &comment.address))
    return;
  p = flam_gperftools_skip (p, end);
  tab = memchr (p, '\t', end - p);
  plus = tab != NULL ? memrchr (p, '+', tab - p) : NULL;
  if (plus == NULL || plus == p)
    return;
  comment.name = p;
  comment.name_length = (guint16)MIN (plus - p, LONGEST_NAME);
  tab = flam_gperftools_skip (tab, end);
  comment.place = tab;
  comment.place_length = (guint16)MIN (end - tab, LONGEST_NAME);
  g_array_append_val (reader->comments, comment);
}

static FlamFrameId
comment_frame (FlamGperftools *reader,
               const FlamGperftoolsComment *comment,
               guint depth)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  const char *colon = memrchr (comment->place, ':', comment->place_length);
  gint64 line = 0;

  function.name = flam_builder_string (
      reader->builder, comment->name, comment->name_length);
  if (colon != NULL)
    {
      const char *p = colon + 1, *end = comment->place + comment->place_length;

      function.file = flam_builder_string (
          reader->builder, comment->place, colon - comment->place);
      if (!flam_text_number (&p, end, &line))
        line = 0;
    }
  return flam_builder_frame_of (reader->builder,
                                &function,
                                0,
                                (guint32)CLAMP (line, 0, G_MAXINT32),
                                depth);
}

static void
remember_frames (FlamGperftools *reader,
                 const FlamGperftoolsComment *comment,
                 guint n)
{
  FlamGperftoolsFrames *frames;

  if (g_hash_table_contains (reader->frames, &comment->address))
    return;
  frames = g_malloc (sizeof *frames + n * sizeof frames->frame[0]);
  frames->n = n;
  for (guint i = 0; i < n; i++)
    frames->frame[i] = comment_frame (reader, &comment[i], n - 1 - i);
  g_hash_table_insert (reader->frames,
                       g_memdup2 (&comment->address, sizeof comment->address),
                       frames);
}

/* The number of lines with that address from `at` on. */
static guint
count_comments (const FlamGperftools *reader, guint at, guint64 address)
{
  guint n = 0;

  while (
      at + n < reader->comments->len &&
      g_array_index (reader->comments, FlamGperftoolsComment, at + n).address ==
          address)
    n++;
  return n;
}

void
flam_gperftools_take_comments (FlamGperftools *reader)
{
  FlamGperftoolsSample *sample;
  guint from = G_MAXUINT, to = 0, at = 0, times;

  if (reader->comments->len == 0 || reader->samples->len == 0)
    return;
  sample = &g_array_index (
      reader->samples, FlamGperftoolsSample, reader->samples->len - 1);
  for (guint i = 0; i < sample->n; i += times)
    {
      const guint64 *addresses =
          &g_array_index (reader->addresses, guint64, sample->first + i);
      guint n = count_comments (reader, at, addresses[0]);

      for (times = 1; i + times < sample->n && addresses[times] == addresses[0];
           times++)
        ;
      if (n == 0)
        continue;
      if (n % times == 0 && n / times <= MOST_INLINED)
        remember_frames (
            reader,
            &g_array_index (reader->comments, FlamGperftoolsComment, at),
            n / times);
      from = MIN (from, i);
      to = i + times;
      at += n;
    }
  if (from < to)
    {
      sample->first += from;
      sample->n = to - from;
    }
  g_array_set_size (reader->comments, 0);
}
