/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-text.h"
#include "flam-valgrind.h"

/* massif's snapshots:
 *
 *    desc: --stacks=no                     options
 *    cmd: ./program 1
 *    time_unit: i                          i, ms or B
 *    #-----------
 *    snapshot=2
 *    #-----------
 *    time=2360782
 *    mem_heap_B=96704
 *    mem_heap_extra_B=16008                the allocator's own
 *    mem_stacks_B=0
 *    heap_tree=detailed                    empty, detailed or peak
 *    n3: 96704 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 *     n1: 72704 0x48FD7B9: ??? (in /usr/lib/libstdc++.so.6)
 *      n0: 72704 0x4004A1D: call_init (dl-init.c:74)
 *     n1: 24000 0x1092CE: leak_small(int) (alloc.cpp:15)
 *      n0: 24000 0x109993: main (alloc.cpp:25)
 *     n0: 0 in 2 places, all below massif's threshold (1.00%)
 *
 * A tree is inverted: below the place that allocates are its callers. Each line
 * has the number of its children, which follow it, one column further in. The
 * weight of a node beyond its children's, and that below the threshold, has
 * callers that are not in the file.
 *
 * A tree is taken as the live memory from its snapshot to the next one with a
 * tree. So only the peak is a measure: the file does not contain allocations
 * between snapshots. massif marks a peak when memory is released again; a
 * program that ends at its peak has no marked one, and the last tree may be
 * older: later memory is a separate row. Source of facts: valgrind's manual and
 * ms_print, 3.19. */

#define MAX_DEPTH 1000

typedef struct
{
  FlamValgrindLocation place;
  gint64 bytes;
  gint64 in_children;
  gboolean below; /* the line for those below the threshold */
} Node;

typedef struct
{
  FlamBuilder *builder;
  FlamText text;
  GArray *path;      /* Node: from the tree's root to the current one */
  GArray *places;    /* scratch: FlamValgrindLocation */
  GArray *rows;      /* FlamAllocation: of all trees */
  guint tree;        /* the first one of the last tree */
  gboolean has_peak; /* a tree was marked as the peak */
  gint64 highest, highest_at; /* of the snapshots' heaps */
  gint64 time_scale;          /* ns a unit */
  gint64 time;
  guint heap, extra, stacks;
  FlamId below, unseen;
  gboolean is_peak;
} Reader;

/* --- trees --------------------------------------------------------------- */

/* The weight of the innermost node of the path beyond its children's. The
 * tree's root is not a frame. */
static void
add_row (Reader *reader, gint64 bytes, gboolean below)
{
  FlamAllocation row = {
    .time = reader->time,
    .freed_at = FLAM_NEVER,
    .thread = FLAM_NONE,
    .size = bytes,
    .count = 1,
    .at_peak = reader->is_peak,
    .distance = G_MAXUINT16,
  };

  if (bytes <= 0)
    return;
  g_array_set_size (reader->places, 0);
  for (guint i = 1; i < reader->path->len; i++)
    g_array_append_val (reader->places,
                        g_array_index (reader->path, Node, i).place);
  if (below)
    {
      FlamValgrindLocation place = { .function = reader->below };
      g_array_append_val (reader->places, place);
    }
  row.stack =
      flam_valgrind_stack (reader->builder,
                           (const FlamValgrindLocation *)reader->places->data,
                           reader->places->len);
  g_array_append_val (reader->rows, row);
}

/* Leaves nodes until `depth` are open; the rest of each is a row. */
static void
close_nodes (Reader *reader, guint depth)
{
  while (reader->path->len > depth)
    {
      const Node *node =
          &g_array_index (reader->path, Node, reader->path->len - 1);

      add_row (reader, node->bytes - node->in_children, FALSE);
      g_array_set_size (reader->path, reader->path->len - 1);
    }
}

/* The rows of the previous tree end at the start of this one. */
static void
end_tree (Reader *reader)
{
  for (guint i = reader->tree; i < reader->rows->len; i++)
    {
      FlamAllocation *row = &g_array_index (reader->rows, FlamAllocation, i);
      row->freed_at = MAX (reader->time, row->time);
    }
  reader->tree = reader->rows->len;
}

/* The highest snapshot has no tree: that of the last one is the nearest. */
static void
add_unmarked_peak (Reader *reader)
{
  FlamAllocation rest = {
    .time = reader->highest_at,
    .freed_at = FLAM_NEVER,
    .thread = FLAM_NONE,
    .size = reader->highest,
    .count = 1,
    .at_peak = 1,
    .distance = G_MAXUINT16,
  };

  for (guint i = reader->tree; i < reader->rows->len; i++)
    {
      FlamAllocation *row = &g_array_index (reader->rows, FlamAllocation, i);
      row->at_peak = 1;
      rest.size -= MIN (row->size, rest.size);
    }
  if (rest.size == 0)
    return;
  rest.stack = flam_builder_stack (
      reader->builder,
      FLAM_NONE,
      flam_builder_frame (reader->builder, reader->unseen, 0, 0, 0));
  g_array_append_val (reader->rows, rest);
  flam_builder_warn (
      reader->builder,
      N_ ("the program ended at its peak, for which massif has no tree: "
          "%" PRId64 " bytes were allocated after the last one"),
      rest.size);
}

static void
add_rows (Reader *reader)
{
  if (!reader->has_peak)
    add_unmarked_peak (reader);
  for (guint i = 0; i < reader->rows->len; i++)
    flam_builder_add_allocation (
        reader->builder, &g_array_index (reader->rows, FlamAllocation, i));
}

/* "in 2 places, …": not a place itself. */
static gboolean
is_below (const char *text, const char *end)
{
  const char *p = text + 3;
  gint64 places;

  return end - text > 4 && memcmp (text, "in ", 3) == 0 &&
         flam_text_number (&p, end, &places) && end - p >= 6 &&
         memcmp (p, " place", 6) == 0;
}

/* FALSE: not a line of a tree. */
static gboolean
read_node (Reader *reader, const char *line, gsize length)
{
  const char *end = line + length, *p = line;
  gint64 children, bytes;
  Node node = { 0 };
  guint depth;

  while (p < end && *p == ' ')
    p++;
  depth = p - line;
  if (p == end || *p++ != 'n' || !flam_text_number (&p, end, &children) ||
      end - p < 3 || memcmp (p, ": ", 2) != 0)
    return FALSE;
  p += 2;
  if (!flam_text_number (&p, end, &bytes) || p == end || *p++ != ' ')
    return FALSE;
  if (depth > reader->path->len || depth > MAX_DEPTH)
    return FALSE;
  close_nodes (reader, depth);
  node.bytes = bytes;
  if (depth > 0)
    {
      Node *parent = &g_array_index (reader->path, Node, depth - 1);
      if (__builtin_add_overflow (
              parent->in_children, bytes, &parent->in_children))
        return FALSE;
      if (is_below (p, end))
        {
          add_row (reader, bytes, TRUE);
          return TRUE;
        }
      node.place = flam_valgrind_location (reader->builder, p, end - p);
    }
  g_array_append_val (reader->path, node);
  return TRUE;
}

/* --- the other lines ----------------------------------------------------- */

static gboolean
starts (const char *line, gsize length, const char *with, const char **rest)
{
  gsize n = strlen (with);

  if (length < n || memcmp (line, with, n) != 0)
    return FALSE;
  *rest = line + n;
  return TRUE;
}

static gboolean
read_time (Reader *reader, const char *text, const char *end)
{
  g_autofree char *copy = g_strndup (text, end - text);
  char *stop;
  double value = g_ascii_strtod (copy, &stop) * reader->time_scale;

  /* heaptrack_print writes massif files with fractions of seconds */
  if (stop == copy || !(value >= 0 && value < 9e18))
    return FALSE;
  reader->time = (gint64)value;
  return TRUE;
}

static void
read_time_unit (Reader *reader, const char *text, const char *end)
{
  gsize length = end - text;

  reader->time_scale = 1;
  if (length == 2 && memcmp (text, "ms", 2) == 0)
    reader->time_scale = 1000000;
  else if (length == 1 && *text == 's')
    reader->time_scale = 1000000000;
  else
    flam_builder_warn (
        reader->builder,
        N_ ("massif counted %s instead of time: each is shown as 1 ns"),
        length == 1 && *text == 'B' ? N_ ("bytes allocated") : "instructions");
}

static gboolean
read_counter (Reader *reader, guint counter, const char *text, const char *end)
{
  gint64 value;

  if (!flam_text_number (&text, end, &value))
    return FALSE;
  flam_builder_add_counter_value (
      reader->builder, counter, reader->time, value);
  if (counter == reader->heap && value > reader->highest)
    {
      reader->highest = value;
      reader->highest_at = reader->time;
    }
  return TRUE;
}

static gboolean
read_line (gpointer data, FlamSlice slice)
{
  Reader *reader = data;
  const char *line = slice.text, *rest;
  gsize length = slice.length;
  const char *end = line + length;

  if (starts (line, length, "time=", &rest))
    return read_time (reader, rest, end);
  if (starts (line, length, "mem_heap_B=", &rest))
    return read_counter (reader, reader->heap, rest, end);
  if (starts (line, length, "mem_heap_extra_B=", &rest))
    return read_counter (reader, reader->extra, rest, end);
  if (starts (line, length, "mem_stacks_B=", &rest))
    return read_counter (reader, reader->stacks, rest, end);
  if (starts (line, length, "heap_tree=", &rest))
    {
      close_nodes (reader, 0);
      if (end - rest == 5 && memcmp (rest, "empty", 5) == 0)
        return TRUE;
      end_tree (reader);
      reader->is_peak = end - rest == 4 && memcmp (rest, "peak", 4) == 0;
      reader->has_peak |= reader->is_peak;
      return TRUE;
    }
  if (starts (line, length, "snapshot=", &rest) || length == 0 || *line == '#')
    {
      close_nodes (reader, 0);
      return TRUE;
    }
  if (starts (line, length, "cmd: ", &rest))
    {
      g_autofree char *command = g_strndup (rest, end - rest);
      flam_builder_set_command (reader->builder, command);
      return TRUE;
    }
  if (starts (line, length, "time_unit: ", &rest))
    {
      read_time_unit (reader, rest, end);
      return TRUE;
    }
  if (starts (line, length, "desc:", &rest))
    return TRUE;
  return read_node (reader, line, length);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Reader reader = { .builder = builder,
                    .time_scale = 1,
                    .path = flam_keep_array (load, Node),
                    .places = flam_keep_array (load, FlamValgrindLocation),
                    .rows = flam_keep_array (load, FlamAllocation) };

  flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
  flam_builder_add_allocation_measure (builder, FLAM_FROM_PEAK);
  reader.heap = flam_builder_add_counter (builder, "heap", FLAM_UNIT_BYTES);
  reader.extra =
      flam_builder_add_counter (builder, "heap-extra", FLAM_UNIT_BYTES);
  reader.stacks = flam_builder_add_counter (builder, "stacks", FLAM_UNIT_BYTES);
  reader.below = flam_builder_function_named (
      builder,
      flam_builder_string (builder, "(below massif's threshold)", -1),
      FLAM_KIND_ROOT);
  reader.unseen = flam_builder_function_named (
      builder,
      flam_builder_string (builder, "(after massif's last tree)", -1),
      FLAM_KIND_ROOT);
  if (!flam_text_read (
          &reader.text, load, read_line, &reader, "massif's", error))
    return FALSE;
  flam_text_warn_half (&reader.text, load);
  close_nodes (&reader, 0);
  add_rows (&reader);
  return TRUE;
}

const FlamImporter flam_import_massif = {
  .id = "massif",
  .label = "massif",
  .suffixes = FLAM_LIST (".massif", "massif.out"),
  .mime_types = FLAM_LIST ("text/plain"),
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("desc:"),
                         .least = 6,
                         .head = 16384,
                         .words = FLAM_LIST ("\ntime_unit:", "\nsnapshot="),
                         .score = 95 }),
  .load = load,
  .streams = TRUE,
};
