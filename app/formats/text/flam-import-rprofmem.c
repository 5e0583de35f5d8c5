/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The allocations that R's Rprofmem() writes: bytes, and the functions that
 * run, innermost first:
 *
 *    8048 :"c" "grow" "work"
 *    new page:"c" "grow" "work"      for small vectors; of unknown size
 *
 * Source: R's manual of Rprofmem(). */

#include "flam-formats.h"
#include "flam-stack-text.h"

#include <string.h>

#define NEW_PAGE "new page:"

typedef struct
{
  FlamBuilder *builder;
  FlamText lines;
  FlamPieces frames;
  GArray *stack; /* FlamId, innermost first */
  guint64 samples, pages;
} Profile;

/* "8048 :" before a quote or the end. */
static gboolean
take_bytes (FlamSlice *line, gint64 *bytes)
{
  const char *p = line->text, *end = line->text + line->length;

  if (!flam_text_number (&p, end, bytes) || end - p < 2 || p[0] != ' ' ||
      p[1] != ':' || (end - p > 2 && p[2] != '"'))
    return FALSE;
  *line = (FlamSlice){ p + 2, end - p - 2 };
  return TRUE;
}

static void
add_frame (Profile *profile, FlamSlice name)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&profile->frames,
                                 name.text,
                                 MIN (name.length, (gsize)G_MAXINT32),
                                 FLAM_NONE,
                                 &is_new);

  if (is_new)
    *flam_pieces_value (&profile->frames, row) =
        flam_load_frame (profile->builder,
                         name.text,
                         (gssize)name.length,
                         FLAM_KIND_INTERPRETED);
  g_array_append_val (profile->stack,
                      *flam_pieces_value (&profile->frames, row));
}

static gboolean
read_stack (Profile *profile, FlamSlice line)
{
  const char *p = line.text, *end = line.text + line.length;

  g_array_set_size (profile->stack, 0);
  while ((p = memchr (p, '"', end - p)) != NULL)
    {
      const char *close = memchr (p + 1, '"', end - p - 1);

      if (close == NULL)
        return FALSE;
      add_frame (profile, (FlamSlice){ p + 1, close - p - 1 });
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
  gint64 bytes;

  if (line.length == 0)
    return TRUE;
  if (flam_slice_begins (line, NEW_PAGE))
    {
      profile->pages++;
      return TRUE;
    }
  if (!take_bytes (&line, &bytes) || !read_stack (profile, line))
    return FALSE;
  sample.stack = flam_load_stack (profile->builder, profile->stack);
  flam_builder_add_sample (profile->builder, &sample, &bytes);
  profile->samples++;
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Profile *profile = flam_arena_new (load, Profile);

  profile->builder = load->builder;
  profile->stack = flam_arena_array (load, FlamId);
  flam_arena_pieces (load, &profile->frames);
  flam_load_measures (load->builder, FLAM_STANDARD_ALLOCATED);
  flam_builder_add_standard_measure (
      load->builder, FLAM_STANDARD_ALLOCATIONS, -1, FLAM_NONE);
  if (!flam_text_read (&profile->lines,
                       load,
                       read_line,
                       profile,
                       N_ ("output of Rprofmem"),
                       error))
    return FALSE;
  if (profile->samples == 0)
    return flam_source_invalid (load->source,
                                error,
                                N_ ("this %s has no stacks"),
                                N_ ("output of Rprofmem"));
  flam_builder_warn_count (
      load->builder,
      profile->pages,
      "%" PRIu64 " page for small vectors has no size and is left out",
      "%" PRIu64 " pages for small vectors have no sizes and are left out");
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  guint stacks = 0, others = 0;
  gint64 bytes;

  flam_text_each_of_head (source, line)
    {
      if (line.length == 0 || flam_slice_begins (line, NEW_PAGE "\""))
        continue;
      if (!take_bytes (&line, &bytes))
        others++;
      else
        stacks += line.length > 0;
    }
  return stacks > others ? 80 : 0;
}

const FlamImporter flam_import_rprofmem = {
  .id = "rprofmem",
  .label = "R Rprofmem",
  .written_by = "R's Rprofmem()",
  .suffixes = FLAM_LIST (".Rprofmem", ".out"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
