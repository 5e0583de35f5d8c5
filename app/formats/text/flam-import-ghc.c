/* SPDX-License-Identifier: GPL-3.0-or-later */

/* GHC's profiles of cost centres, a tree with the self cost of each.
 *
 *    .prof    total time  = 0.12 secs (120 ticks @ 1000 us, 1 processor)
 *             total alloc = 123,456 bytes
 *             COST CENTRE  MODULE  SRC      no. entries %time %alloc %time
 * %alloc MAIN         MAIN    <built…> 118       0   0.0   0.1  100.0 100.0
 *              work        Main    M.hs:3…  120       1  40.0  60.0   …
 *             with -P two columns more: ticks and bytes
 *
 *    -pj      {"tick_interval":1000, "cost_centres":[{"id":1,"label":"MAIN",
 *             "module":"MAIN","src_loc":"…"}],
 *             "profile":{"id":1,"ticks":0,"alloc":80,"children":[…]}}
 *
 * Without -P shares are a tenth of a percent of the totals. Source: GHC's user
 * guide, "Profiling". */

#include "flam-formats.h"

#include "flam-amount.h"
#include "flam-json.h"
#include "flam-outline.h"
#include "flam-stack-text.h"

#include <string.h>

#define MOST_WEIGHT (G_MAXINT64 / 4) /* ns, bytes */

enum
{
  TIME,
  BYTES,
  N_MEASURES
};

typedef struct
{
  FlamBuilder *builder;
  FlamOutline outlines[N_MEASURES]; /* the same rows */
  FlamThreadId thread;
  gint64 tick; /* ns */
  gint64 ticks, bytes;
  gboolean tree, exact; /* the table that is being read */
  guint64 bad;
} Profile;

static FlamFrameId
make_frame (Profile *profile, FlamSlice name, FlamSlice module, FlamSlice place)
{
  FlamFunction function = { .kind = FLAM_KIND_NATIVE, .module = FLAM_NONE };
  g_autofree char *text = g_strdup_printf ("%.*s.%.*s",
                                           (int)MIN (module.length, 4096u),
                                           module.text,
                                           (int)MIN (name.length, 4096u),
                                           name.text);
  gsize colon = flam_slice_find (place, ":");
  gint64 line = 0;

  if (colon < place.length && !flam_slice_begins (place, "<"))
    {
      FlamSlice rest = flam_slice_from (place, colon + 1);
      const char *p;
      if (flam_slice_begins (rest, "("))
        rest = flam_slice_from (rest, 1);
      p = rest.text;
      flam_text_number (&p, rest.text + rest.length, &line);
      function.file = flam_builder_string (profile->builder, place.text, colon);
    }
  function.name = flam_builder_string (profile->builder, text, -1);
  function.line = CLAMP (line, 0, G_MAXINT32);
  return flam_builder_frame_of (profile->builder, &function, 0, 0, 0);
}

static gint64
times (Profile *profile, gint64 a, gint64 b)
{
  return flam_builder_limit (
      profile->builder, (__int128)a * b, 0, MOST_WEIGHT, NULL);
}

/* --- text ---------------------------------------------------------------- */

/* FALSE: it has no number. */
static gboolean
read_total (Profile *profile, FlamSlice line)
{
  gsize at = flam_slice_find (line, "=");
  FlamSlice rest =
      flam_slice_strip (flam_slice_from (line, MIN (at + 1, line.length)));
  const char *p = rest.text;
  const char *end = p + rest.length;

  if (flam_slice_begins (line, "total alloc"))
    return flam_amount_number (&p, end, 1, &profile->bytes);
  at = flam_slice_find (rest, "(");
  p = rest.text + MIN (at + 1, rest.length);
  if (!flam_amount_number (&p, end, 1, &profile->ticks))
    return FALSE;
  at = flam_slice_find (rest, "@ ");
  p = rest.text + MIN (at + 2, rest.length);
  if (!flam_amount_number (&p, end, 1, &profile->tick))
    return FALSE;
  profile->tick = times (profile, profile->tick, 1000);
  return TRUE;
}

/* The last word of the line, which is cut off. */
static FlamSlice
take_last (FlamSlice *line)
{
  gsize n;

  *line = flam_slice_strip (*line);
  for (n = line->length; n > 0 && !flam_text_is_space (line->text[n - 1]);)
    n--;
  {
    FlamSlice word = flam_slice_from (*line, n);
    line->length = n;
    return word;
  }
}

static FlamSlice
take_first (FlamSlice *line)
{
  gsize n = 0;
  FlamSlice word;

  *line = flam_slice_strip (*line);
  while (n < line->length && !flam_text_is_space (line->text[n]))
    n++;
  word = (FlamSlice){ line->text, n };
  *line = flam_slice_from (*line, n);
  return word;
}

/* In thousandths for shares. */
static gboolean
take_number (FlamSlice *line, gint64 scale, gint64 *value)
{
  FlamSlice word = take_last (line);
  const char *p = word.text;

  return word.length > 0 &&
         flam_amount_number (&p, word.text + word.length, scale, value) &&
         p == word.text + word.length;
}

static gint64
share (Profile *profile, gint64 total, gint64 thousandths)
{
  return flam_builder_limit (
      profile->builder,
      (__int128)((double)total * (double)thousandths / 1e5 + 0.5),
      0,
      MOST_WEIGHT,
      NULL);
}

static gboolean
read_row (Profile *profile, FlamSlice line)
{
  gint64 ticks = 0, bytes = 0, inherited, entries;
  gint64 shares[N_MEASURES] = { 0 };
  FlamSlice name, module;
  gsize depth = 0;

  while (depth < line.length && line.text[depth] == ' ')
    depth++;
  if (profile->exact &&
      (!take_number (&line, 1, &bytes) || !take_number (&line, 1, &ticks)))
    return FALSE;
  if (!take_number (&line, 1000, &inherited) ||
      !take_number (&line, 1000, &inherited) ||
      !take_number (&line, 1000, &shares[BYTES]) ||
      !take_number (&line, 1000, &shares[TIME]) ||
      !take_number (&line, 1, &entries) || !take_number (&line, 1, &entries))
    return FALSE;
  name = take_first (&line);
  module = take_first (&line);
  if (name.length == 0)
    return FALSE;
  if (!profile->exact)
    {
      ticks = share (profile, profile->ticks, shares[TIME]);
      bytes = share (profile, profile->bytes, shares[BYTES]);
    }
  {
    FlamFrameId frame =
        make_frame (profile, name, module, flam_slice_strip (line));
    flam_outline_add_at (&profile->outlines[TIME],
                         depth,
                         profile->thread,
                         frame,
                         times (profile, ticks, profile->tick));
    flam_outline_add_at (
        &profile->outlines[BYTES], depth, profile->thread, frame, bytes);
  }
  return TRUE;
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Profile *profile = data;
  FlamSlice part = flam_slice_strip (line);

  if (flam_slice_begins (part, "total "))
    return read_total (profile, part);
  else if (flam_slice_begins (line, "COST CENTRE"))
    { /* the second table is the tree */
      profile->tree = flam_slice_find (line, "entries") < line.length;
      profile->exact = flam_slice_ends (part, "bytes");
    }
  else if (profile->tree && part.length > 0)
    profile->bad += !read_row (profile, line);
  return TRUE;
}

/* --- JSON ---------------------------------------------------------------- */

static void
read_centres (Profile *profile, FlamJson *json, GHashTable *frames)
{
  flam_json_each (json)
    {
      g_autofree char *label = NULL;
      g_autofree char *module = NULL;
      g_autofree char *place = NULL;
      gint64 *id = g_new0 (gint64, 1);

      flam_json_each (json)
        if (flam_json_key_is (json, "id"))
          *id = flam_json_get_int (json);
        else if (flam_json_key_is (json, "label") && label == NULL)
          label = g_strdup (flam_json_get_string (json, NULL));
        else if (flam_json_key_is (json, "module") && module == NULL)
          module = g_strdup (flam_json_get_string (json, NULL));
        else if (flam_json_key_is (json, "src_loc") && place == NULL)
          place = g_strdup (flam_json_get_string (json, NULL));
      g_hash_table_insert (
          frames,
          id,
          GUINT_TO_POINTER (
              make_frame (
                  profile,
                  (FlamSlice){ label ? label : "", label ? strlen (label) : 0 },
                  (FlamSlice){ module ? module : "",
                               module ? strlen (module) : 0 },
                  (FlamSlice){ place ? place : "",
                               place ? strlen (place) : 0 }) +
              1));
    }
}

static void
open_row (Profile *profile, GArray *open)
{
  guint32 caller =
      open->len > 0 ? g_array_index (open, guint32, open->len - 1) : FLAM_NONE;
  guint32 row = 0;

  for (guint i = 0; i < N_MEASURES; i++)
    row = flam_outline_add (
        &profile->outlines[i], caller, profile->thread, FLAM_NONE, 0);
  g_array_append_val (open, row);
}

static void
set_weight (Profile *profile, guint which, guint32 row, gint64 weight)
{
  flam_outline_row (&profile->outlines[which], row)->weight =
      flam_builder_limit (profile->builder, weight, 0, MOST_WEIGHT, NULL);
}

/* Without recursion. A frame's number is kept in its place until the frame is
 * made. */
static void
read_tree (Profile *profile, FlamJson *json, GArray *ids)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint32));
  gint64 none = -1;

  open_row (profile, open);
  g_array_append_val (ids, none);
  while (open->len > 0)
    {
      FlamJsonToken token = flam_json_next (json);
      guint32 row = g_array_index (open, guint32, open->len - 1);

      if (token == FLAM_JSON_ERROR || token == FLAM_JSON_END)
        return;
      if (token == FLAM_JSON_OBJECT_END)
        g_array_set_size (open, open->len - 1);
      else if (token == FLAM_JSON_OBJECT && json->key.length == 0)
        {
          open_row (profile, open);
          g_array_append_val (ids, none);
        }
      else if (token == FLAM_JSON_ARRAY && flam_json_key_is (json, "children"))
        continue;
      else if (token != FLAM_JSON_ARRAY_END)
        {
          if (flam_json_key_is (json, "id"))
            g_array_index (ids, gint64, row) = flam_json_get_int (json);
          else if (flam_json_key_is (json, "ticks"))
            set_weight (profile, TIME, row, flam_json_get_int (json));
          else if (flam_json_key_is (json, "alloc"))
            set_weight (profile, BYTES, row, flam_json_get_int (json));
          flam_json_skip (json);
        }
    }
}

static gboolean
read_json (Profile *profile, FlamLoad *load, GError **error)
{
  GHashTable *frames = flam_arena_table (load, FLAM_KEY_NUMBER, NULL);
  GArray *ids = flam_arena_array (load, gint64);
  FlamJson *json = flam_json_load (load, NULL);

  flam_json_each (json)
    if (flam_json_key_is (json, "tick_interval"))
      profile->tick = times (
          profile,
          flam_json_get_limited (json, profile->builder, 1, 0, G_MAXINT32),
          1000);
    else if (flam_json_key_is (json, "cost_centres"))
      read_centres (profile, json, frames);
    else if (flam_json_key_is (json, "profile") &&
             json->token == FLAM_JSON_OBJECT && ids->len == 0)
      read_tree (profile, json, ids);
  for (guint32 i = 0; i < ids->len; i++)
    {
      FlamOutlineRow *time = flam_outline_row (&profile->outlines[TIME], i);
      FlamFrameId frame = GPOINTER_TO_UINT (g_hash_table_lookup (
                              frames, &g_array_index (ids, gint64, i))) -
                          1;

      time->weight = times (profile, time->weight, profile->tick);
      time->frame = frame;
      flam_outline_row (&profile->outlines[BYTES], i)->frame = frame;
      profile->bad += frame == FLAM_NONE;
    }
  return flam_json_end (json, load, ids->len > 0, error);
}

/* --- the importer -------------------------------------------------------- */

static void
finish (Profile *profile)
{
  FlamBuilder *builder = profile->builder;
  guint column = flam_builder_add_column (builder);

  flam_builder_add_standard_measure (builder, FLAM_STANDARD_TIME, column, TIME);
  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_ALLOCATED, column, BYTES);
  for (guint i = 0; i < N_MEASURES; i++)
    {
      profile->outlines[i].event = i;
      flam_outline_finish (&profile->outlines[i], builder);
    }
  flam_builder_warn_count (builder,
                           profile->bad,
                           "%" PRIu64 " invalid cost centre was left out",
                           "%" PRIu64 " invalid cost centres were left out");
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Profile *profile = flam_arena_new (load, Profile);
  gboolean json = flam_source_first_char (load->source) == '{';
  FlamText lines;

  *profile = (Profile){ .builder = load->builder, .tick = 1000000 };
  for (guint i = 0; i < N_MEASURES; i++)
    flam_arena_outline (load, &profile->outlines[i], TRUE);
  profile->thread = flam_builder_lone_thread (load->builder);
  if (json ? !read_json (profile, load, error)
           : !flam_text_read (&lines, load, read_line, profile, NULL, error))
    return FALSE;
  if (profile->outlines[TIME].rows->len == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this GHC profile has no cost centres"));
  finish (profile);
  if (!json)
    flam_text_warn_bad (&lines, load->builder, N_ ("a profile of GHC"));
  return TRUE;
}

const FlamImporter flam_import_ghc = {
  .id = "ghc",
  .label = N_ ("GHC cost centres"),
  .written_by = "Haskell programs with +RTS -p or -pj",
  .suffixes = FLAM_LIST (".prof", ".json"),
  .mime_types = FLAM_LIST ("text/plain", "application/json"),
  .signs = FLAM_SIGNS (
      FLAM_MEMBERS (90, "cost_centres", "tick_interval"),
      FLAM_HEAD (90, 0, 512, "Time and Allocation Profiling Report")),
  .load = load,
};
