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
 * The total of a snapshot is its heap, what the allocator adds, and the stacks;
 * the peak is the snapshot that massif marks, or else the one with the greatest
 * total, as ms_print has it. It is the only measure: the file does not contain
 * allocations between snapshots.
 *
 *    snapshot   0     1     2     3     4      each lasts to the next one
 *    heap       9    14     6    11    12
 *    tree       9     -     -    11     -
 *    rows       9     9     -    11    11      of the tree, while they fit
 *               -     5     6     -     1      of no tree
 *
 * Source of facts: valgrind's manual and ms_print, 3.19. */

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
  gint64 time;
  gint64 heap, extra, stacks; /* bytes */
  guint first, end;           /* rows of its tree */
  gboolean has_tree, is_peak;
} Snapshot;

typedef struct
{
  FlamBuilder *builder;
  FlamText text;
  GArray *path;      /* Node: from the tree's root to the current one */
  GArray *places;    /* scratch: FlamValgrindLocation */
  GArray *rows;      /* FlamAllocation: of all trees */
  GArray *snapshots; /* Snapshot */
  Snapshot none;     /* of lines before the first one */
  gint64 time_scale; /* ns a unit */
  guint heap, extra, stacks;
  FlamId below;
} Reader;

/* --- trees --------------------------------------------------------------- */

static Snapshot *
current (Reader *reader)
{
  return reader->snapshots->len > 0
             ? &g_array_index (
                   reader->snapshots, Snapshot, reader->snapshots->len - 1)
             : &reader->none;
}

/* The weight of the innermost node of the path beyond its children's. The
 * tree's root is not a frame. */
static void
add_row (Reader *reader, gint64 bytes, gboolean below)
{
  FlamAllocation row = {
    .thread = FLAM_NONE,
    .size = bytes,
    .count = 1,
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
  current (reader)->time = (gint64)value;
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
read_counter (Reader *reader,
              guint counter,
              gint64 *value,
              const char *text,
              const char *end)
{
  if (!flam_text_number (&text, end, value) || *value > G_MAXINT64 / 8)
    {
      *value = 0;
      return FALSE;
    }
  flam_builder_add_counter_value (
      reader->builder, counter, current (reader)->time, *value);
  return TRUE;
}

static void
end_snapshot (Reader *reader)
{
  close_nodes (reader, 0);
  current (reader)->end = reader->rows->len;
}

static void
begin_snapshot (Reader *reader)
{
  Snapshot snapshot = { .first = reader->rows->len };

  end_snapshot (reader);
  snapshot.time = current (reader)->time;
  snapshot.first = reader->rows->len;
  g_array_append_val (reader->snapshots, snapshot);
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
    return read_counter (
        reader, reader->heap, &current (reader)->heap, rest, end);
  if (starts (line, length, "mem_heap_extra_B=", &rest))
    return read_counter (
        reader, reader->extra, &current (reader)->extra, rest, end);
  if (starts (line, length, "mem_stacks_B=", &rest))
    return read_counter (
        reader, reader->stacks, &current (reader)->stacks, rest, end);
  if (starts (line, length, "heap_tree=", &rest))
    {
      Snapshot *snapshot = current (reader);

      close_nodes (reader, 0);
      if (end - rest == 5 && memcmp (rest, "empty", 5) == 0)
        return TRUE;
      snapshot->has_tree = TRUE;
      snapshot->is_peak = end - rest == 4 && memcmp (rest, "peak", 4) == 0;
      return TRUE;
    }
  if (starts (line, length, "snapshot=", &rest))
    {
      begin_snapshot (reader);
      return TRUE;
    }
  if (length == 0 || *line == '#')
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

/* --- snapshots -> memory ---------------------------------------------------
 */

/* What is in memory between two snapshots. */
typedef struct
{
  Reader *reader;
  FlamId thread;
  FlamId no_tree, own, stack; /* stacks */
  gint64 time, until;
  gboolean at_peak;
} Stretch;

static FlamId
stack_named (FlamBuilder *builder, const char *name)
{
  return flam_builder_stack (
      builder, FLAM_NONE, flam_load_frame (builder, name, -1, FLAM_KIND_ROOT));
}

static void
put (const Stretch *stretch, FlamId stack, gint64 bytes)
{
  FlamAllocation row = {
    .time = stretch->time,
    .freed_at = stretch->until,
    .thread = FLAM_NONE,
    .stack = stack,
    .size = bytes,
    .count = 1,
    .at_peak = stretch->at_peak,
    .distance = G_MAXUINT16,
  };

  if (bytes > 0)
    flam_builder_add_allocation (stretch->reader->builder, &row);
}

/* Its part of the measure of what the program itself asked for. */
static void
put_useful (const Stretch *stretch, FlamId stack, gint64 bytes)
{
  FlamSample sample = { .thread = stretch->thread,
                        .stack = stack,
                        .time = stretch->time };

  if (stretch->at_peak && bytes > 0)
    flam_builder_add_sample (stretch->reader->builder, &sample, &bytes);
}

static guint
find_peak (const GArray *snapshots)
{
  guint best = 0;
  gint64 highest = -1;

  for (guint i = 0; i < snapshots->len; i++)
    {
      const Snapshot *snapshot = &g_array_index (snapshots, Snapshot, i);
      gint64 total = snapshot->heap + snapshot->extra + snapshot->stacks;

      if (snapshot->is_peak)
        return i;
      if (total > highest)
        best = i;
      highest = MAX (total, highest);
    }
  return best;
}

static gint64
size_of_tree (const Reader *reader, const Snapshot *snapshot)
{
  gint64 size = 0;

  for (guint i = snapshot->first; i < snapshot->end; i++)
    if (__builtin_add_overflow (
            size, g_array_index (reader->rows, FlamAllocation, i).size, &size))
      return G_MAXINT64;
  return size;
}

/* The first snapshot after `at` that has a tree of its own, or less memory than
 * this one's tree. */
static guint
tree_end (const GArray *snapshots, guint at, gint64 size)
{
  while (++at < snapshots->len)
    {
      const Snapshot *later = &g_array_index (snapshots, Snapshot, at);

      if (later->has_tree || later->heap < size)
        break;
    }
  return at;
}

static gint64
time_of (const GArray *snapshots, guint at)
{
  return at < snapshots->len ? g_array_index (snapshots, Snapshot, at).time
                             : FLAM_NEVER;
}

static void
put_tree (Stretch *stretch, guint at, guint end, guint peak)
{
  const Reader *reader = stretch->reader;
  const Snapshot *snapshot = &g_array_index (reader->snapshots, Snapshot, at);

  stretch->until = MAX (time_of (reader->snapshots, end), snapshot->time);
  stretch->at_peak = peak >= at && peak < end;
  for (guint i = snapshot->first; i < snapshot->end; i++)
    {
      const FlamAllocation *row =
          &g_array_index (reader->rows, FlamAllocation, i);

      put (stretch, row->stack, row->size);
      put_useful (stretch, row->stack, row->size);
    }
}

static void
add_snapshots (Reader *reader)
{
  const GArray *snapshots = reader->snapshots;
  guint peak = find_peak (snapshots), end = 0;
  gint64 tree = 0;
  Stretch stretch = {
    .reader = reader,
    .thread = flam_builder_lone_thread (reader->builder),
    .no_tree = stack_named (reader->builder, "(of no tree of massif's)"),
    .own = stack_named (reader->builder, "(the allocator's own)"),
    .stack = stack_named (reader->builder, "(stacks)"),
  };

  for (guint i = 0; i < snapshots->len; i++)
    {
      const Snapshot *snapshot = &g_array_index (snapshots, Snapshot, i);
      gint64 rest;

      stretch.time = snapshot->time;
      if (snapshot->has_tree)
        {
          tree = size_of_tree (reader, snapshot);
          end = tree_end (snapshots, i, tree);
          put_tree (&stretch, i, end, peak);
        }
      rest = MAX (snapshot->heap - (i < end ? tree : 0), 0);
      stretch.until = MAX (time_of (snapshots, i + 1), snapshot->time);
      stretch.at_peak = i == peak;
      put (&stretch, stretch.no_tree, rest);
      put_useful (&stretch, stretch.no_tree, rest);
      put (&stretch, stretch.own, snapshot->extra);
      put (&stretch, stretch.stack, snapshot->stacks);
      if (i == peak && rest > 0)
        flam_builder_warn (reader->builder,
                           N_ ("massif has no tree of the peak: %" PRId64
                               " of its bytes are "
                               "of no known place"),
                           rest);
    }
}

static gboolean
load (FlamLoad *load, GError **error)
{
  static const FlamMeasureRow useful = { "useful",
                                         N_ ("Useful memory at the peak"),
                                         FLAM_OF_BYTES };
  FlamBuilder *builder = load->builder;
  Reader reader = { .builder = builder,
                    .time_scale = 1,
                    .path = flam_keep_array (load, Node),
                    .places = flam_keep_array (load, FlamValgrindLocation),
                    .rows = flam_keep_array (load, FlamAllocation),
                    .snapshots = flam_keep_array (load, Snapshot) };

  flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
  flam_builder_add_allocation_measure (builder, FLAM_FROM_PEAK);
  flam_load_measure (
      builder, &useful, (int)flam_builder_add_column (builder), FLAM_NONE);
  reader.heap = flam_builder_add_counter (builder, "heap", FLAM_UNIT_BYTES);
  reader.extra =
      flam_builder_add_counter (builder, "heap-extra", FLAM_UNIT_BYTES);
  reader.stacks = flam_builder_add_counter (builder, "stacks", FLAM_UNIT_BYTES);
  reader.below = flam_builder_function_named (
      builder,
      flam_builder_string (builder, "(below massif's threshold)", -1),
      FLAM_KIND_ROOT);
  if (!flam_text_read (
          &reader.text, load, read_line, &reader, "massif's", error))
    return FALSE;
  flam_text_warn_half (&reader.text, load);
  end_snapshot (&reader);
  add_snapshots (&reader);
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
