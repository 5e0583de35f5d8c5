/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of R's profiler, Rprof():
 *
 *    memory profiling: line profiling: sample.interval=20000         µs
 *    #File 1: model.R
 *    :14032:8211:1200:3:"c" 1#7 "grow" 1#13 "work"   a sample, leaf first
 *
 * The place "file#line" before a function is the line in it that was running.
 * The numbers are what R's heaps hold (vectors in 8 bytes, small and large
 * ones, then bytes of nodes) and duplications: what they have grown by since
 * the sample before is charged to the sample, as summaryRprof() does. Source:
 * R's manual of Rprof(), and what summaryRprof() in its package utils prints.
 */

#include "flam-formats.h"
#include "flam-stack-text.h"

#include <string.h>

#define INTERVAL "sample.interval="
#define FILE_LINE "#File "
#define HEAPS 3
#define US 1000
/* Heaps of more are not R's. */
#define MOST_BYTES (G_MAXINT64 >> 8)

typedef struct
{
  FlamBuilder *builder;
  FlamText lines;
  FlamPieces frames; /* "1#7 \"grow\"" */
  GHashTable *files; /* number -> string + 1 */
  GArray *stack;     /* FlamId */
  gint64 interval;   /* ns; 0: the head is missing */
  gboolean memory;
  gint64 heaps[HEAPS]; /* of the previous sample; -1: none */
  guint64 samples;
} Profile;

static void
read_head (Profile *profile, FlamSlice line)
{
  static const FlamMeasureRow growth = { "memory-growth",
                                         N_ ("Memory growth"),
                                         FLAM_OF_BYTES };
  gint64 interval = flam_slice_number_after (line, INTERVAL);

  if (profile->interval > 0 || interval <= 0 || interval > G_MAXINT32)
    return;
  profile->interval = interval * US;
  profile->memory = flam_slice_find (line, "memory profiling") < line.length;
  flam_load_measures (profile->builder, FLAM_STANDARD_TIME);
  if (profile->memory)
    flam_load_measure (profile->builder,
                       &growth,
                       (int)flam_builder_add_column (profile->builder),
                       FLAM_NONE);
}

static void
read_file (Profile *profile, FlamSlice line)
{
  gint64 number = flam_slice_number_after (line, FILE_LINE);
  gsize colon = flam_slice_find (line, ": ");
  FlamSlice path = flam_slice_from (line, MIN (colon + 2, line.length));

  if (number >= 0 && number <= G_MAXINT32 && path.length > 0)
    g_hash_table_insert (
        profile->files,
        GINT_TO_POINTER ((gint32)number),
        GUINT_TO_POINTER (
            flam_builder_string (profile->builder, path.text, path.length) +
            1));
}

/* `place`: "1#7", or empty. */
static FlamFrameId
make_frame (Profile *profile, FlamSlice place, FlamSlice name)
{
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = flam_slice_is (name, "<GC>")
                                        ? FLAM_KIND_ROOT
                                        : FLAM_KIND_INTERPRETED };
  gsize hash = flam_slice_find (place, "#");
  gint64 file, line = 0;
  gpointer path;

  function.name =
      flam_builder_string (profile->builder, name.text, name.length);
  if (hash < place.length &&
      flam_slice_number ((FlamSlice){ place.text, hash }, &file) &&
      flam_slice_number (flam_slice_from (place, hash + 1), &line) &&
      file <= G_MAXINT32)
    {
      path =
          g_hash_table_lookup (profile->files, GINT_TO_POINTER ((gint32)file));
      if (path != NULL)
        function.file = GPOINTER_TO_UINT (path) - 1;
    }
  return flam_builder_frame_of (profile->builder,
                                &function,
                                0,
                                function.file != 0 ? MIN (line, G_MAXINT32) : 0,
                                0);
}

/* `text` begins with the place, if there is one, and ends with the name. */
static void
add_frame (Profile *profile, FlamSlice text, FlamSlice name)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&profile->frames,
                                 text.text,
                                 MIN (text.length, (gsize)G_MAXINT32),
                                 FLAM_NONE,
                                 &is_new);
  FlamSlice place = { text.text, name.text - text.text };

  if (is_new)
    {
      place.length -= place.length > 0; /* the quote */
      *flam_pieces_value (&profile->frames, row) =
          make_frame (profile, flam_slice_strip (place), name);
    }
  g_array_append_val (profile->stack,
                      *flam_pieces_value (&profile->frames, row));
}

/* ":14032:8211:1200:3:"; returns the growth in bytes. */
static gboolean
take_heaps (Profile *profile, FlamSlice *line, gint64 *growth)
{
  const char *p = line->text, *end = line->text + line->length;

  *growth = 0;
  for (guint i = 0; i <= HEAPS; i++)
    {
      gint64 n, before;

      if (p == end || *p++ != ':' || !flam_text_number (&p, end, &n))
        return FALSE;
      if (i == HEAPS)
        break;
      n = MIN (n, MOST_BYTES / 8) * (i < 2 ? 8 : 1);
      before = profile->heaps[i];
      if (before >= 0)
        *growth += MAX (n - before, 0);
      profile->heaps[i] = n;
    }
  if (p == end || *p++ != ':')
    return FALSE;
  *line = (FlamSlice){ p, end - p };
  return TRUE;
}

static gboolean
read_stack (Profile *profile, FlamSlice line)
{
  const char *p = line.text, *end = line.text + line.length;

  g_array_set_size (profile->stack, 0);
  while (p < end)
    {
      const char *open = memchr (p, '"', end - p);
      const char *close =
          open != NULL ? memchr (open + 1, '"', end - open - 1) : NULL;

      if (open == NULL) /* a place at the top level */
        break;
      if (close == NULL)
        return FALSE;
      while (p < open && flam_text_is_space (*p))
        p++;
      /* Only the place right before the name is that of the function. */
      for (const char *q = p; q + 1 < open; q++)
        if (flam_text_is_space (*q) && !flam_text_is_space (q[1]))
          p = q + 1;
      add_frame (profile,
                 (FlamSlice){ p, close - p },
                 (FlamSlice){ open + 1, close - open - 1 });
      p = close + 1;
    }
  return TRUE;
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Profile *profile = data;
  FlamSample sample = {
    .thread = flam_builder_lone_thread (profile->builder),
  };
  gint64 weights[2] = { profile->interval, 0 };

  if (flam_slice_find (line, INTERVAL) < line.length)
    {
      read_head (profile, line);
      return TRUE;
    }
  if (flam_slice_begins (line, FILE_LINE))
    read_file (profile, line);
  if (line.length == 0 || *line.text == '#')
    return TRUE;
  if (profile->interval == 0 ||
      (profile->memory && !take_heaps (profile, &line, &weights[1])) ||
      !read_stack (profile, line))
    return FALSE;
  if (profile->stack->len == 0) /* R itself, at its prompt */
    return TRUE;
  sample.stack = flam_load_stack (profile->builder, profile->stack);
  flam_builder_add_sample (profile->builder, &sample, weights);
  profile->samples++;
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Profile *profile = flam_arena_new (load, Profile);

  profile->builder = load->builder;
  profile->files = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  profile->stack = flam_arena_array (load, FlamId);
  flam_arena_pieces (load, &profile->frames);
  for (guint i = 0; i < HEAPS; i++)
    profile->heaps[i] = -1;
  if (!flam_text_read (&profile->lines,
                       load,
                       read_line,
                       profile,
                       N_ ("output of Rprof"),
                       error))
    return FALSE;
  if (profile->samples == 0)
    return flam_source_invalid (load->source,
                                error,
                                N_ ("this %s has no stacks"),
                                N_ ("output of Rprof"));
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  FlamText head = flam_text_plain_head (source);
  FlamSlice line;

  return flam_text_next (&head, &line.text, &line.length) &&
                 flam_slice_number_after (line, INTERVAL) > 0
             ? 90
             : 0;
}

const FlamImporter flam_import_rprof = {
  .id = "rprof",
  .label = "R Rprof",
  .written_by = "R's Rprof()",
  .suffixes = FLAM_LIST (".Rprof", ".out"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
