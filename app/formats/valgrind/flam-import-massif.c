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
 * A snapshot is the state of the memory until the next one. Its heap is split
 * by the last tree up to then, as far as that goes:
 *
 *    heap      ▁▁▂▂▃▃▅▅▇▇█████▆▆      mem_heap_B of every snapshot
 *    split     ··aaabbbbbbccc···      a, b, c: the trees
 *    rest      xxx  xx xxxx  xxx      beyond the tree, or less than it: no
 * stack
 *
 * What the allocator takes for itself and the stacks of the threads have a row
 * each. So the sum at any moment is the total of ms_print, and the peak is the
 * first snapshot with the highest total; of equal ones, that which massif marks
 * as the peak, else one with a tree. The useful heap is a measure of its own.
 * Only the peak is measured: the file does not contain allocations between
 * snapshots. Source of facts: valgrind's manual and ms_print, 3.19. */

#define MAX_DEPTH 1000
#define DEPTH 30 /* massif's default of --depth */

typedef struct
{
  FlamValgrindLocation place;
  gint64 bytes;
  gint64 in_children;
  gboolean below; /* the line for callees below the threshold */
  gboolean is_main;
} Node;

/* Of a snapshot, in order of preference. */
typedef enum
{
  TREE_NONE,
  TREE_DETAILED,
  TREE_PEAK,
} Tree;

typedef struct
{
  gint64 time;
  gint64 heap, extra, stacks;
  Tree tree;
  guint first, end; /* of the tree: in Reader.leaves */
} Snapshot;

/* The weight of a node in excess of its children's. */
typedef struct
{
  FlamStackId stack;
  gint64 bytes;
  gboolean cut; /* its outermost callers are not in the file */
} Leaf;

typedef struct
{
  FlamBuilder *builder;
  FlamText text;
  GArray *path;      /* Node: from the tree's root to the current one */
  GArray *places;    /* scratch: FlamValgrindLocation */
  GArray *snapshots; /* Snapshot */
  GArray *leaves;    /* Leaf: of all trees */
  gint64 time_scale; /* ns per unit */
  guint heap, extra, stacks;
  gboolean of_pages; /* --pages-as-heap=yes */
  gint64 depth;      /* --depth: the most frames of a stack */
  FlamId below, unseen, overhead, on_stacks;
} Reader;

static Snapshot *
current (const Reader *reader)
{
  return &g_array_index (
      reader->snapshots, Snapshot, reader->snapshots->len - 1);
}

/* --- trees --------------------------------------------------------------- */

/* The weight of the innermost node of the path beyond its children's. The
 * tree's root is not a frame. */
static void
add_leaf (Reader *reader, gint64 bytes, gboolean below)
{
  guint n_frames = reader->path->len - 1;
  Leaf leaf = { .bytes = bytes };

  if (bytes <= 0)
    return;
  leaf.cut = n_frames >= reader->depth &&
             !g_array_index (reader->path, Node, n_frames).is_main;
  g_array_set_size (reader->places, 0);
  for (guint i = 1; i < reader->path->len; i++)
    g_array_append_val (reader->places,
                        g_array_index (reader->path, Node, i).place);
  if (below)
    {
      FlamValgrindLocation place = { .function = reader->below };
      g_array_append_val (reader->places, place);
    }
  leaf.stack =
      flam_valgrind_stack (reader->builder,
                           (const FlamValgrindLocation *)reader->places->data,
                           reader->places->len);
  g_array_append_val (reader->leaves, leaf);
  current (reader)->end = reader->leaves->len;
}

/* Leaves nodes until `depth` are open; the rest of each is a row. */
static void
close_nodes (Reader *reader, guint depth)
{
  while (reader->path->len > depth)
    {
      const Node *node =
          &g_array_index (reader->path, Node, reader->path->len - 1);

      add_leaf (reader, node->bytes - node->in_children, FALSE);
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
  if (depth > reader->path->len || depth > MAX_DEPTH ||
      current (reader)->tree == TREE_NONE)
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
          add_leaf (reader, bytes, TRUE);
          return TRUE;
        }
      node.place = flam_valgrind_location (reader->builder, p, end - p);
      node.is_main = memmem (p, end - p, ": main (", 8) != NULL;
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

static Tree
tree_named (const char *name, gsize length)
{
  if (length == 5 && memcmp (name, "empty", 5) == 0)
    return TREE_NONE;
  return length == 4 && memcmp (name, "peak", 4) == 0 ? TREE_PEAK
                                                      : TREE_DETAILED;
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
    flam_builder_facts (reader->builder)->clock =
        length == 1 && *text == 'B' ? "bytes" : "instructions";
}

/* "--depth=30 --stacks=yes" */
static void
read_options (Reader *reader, const char *text, const char *end)
{
  static const char pages[] = "--pages-as-heap=yes", depth[] = "--depth=";
  const char *at = memmem (text, end - text, depth, strlen (depth));

  reader->of_pages = memmem (text, end - text, pages, strlen (pages)) != NULL;
  if (at != NULL)
    {
      at += strlen (depth);
      flam_text_number (&at, end, &reader->depth);
    }
}

static gboolean
read_bytes (gint64 *bytes, const char *text, const char *end)
{
  return flam_text_number (&text, end, bytes);
}

static void
begin_snapshot (Reader *reader)
{
  Snapshot snapshot = { .first = reader->leaves->len,
                        .end = reader->leaves->len };

  if (reader->snapshots->len > 0)
    snapshot.time = current (reader)->time;
  g_array_append_val (reader->snapshots, snapshot);
}

static gboolean
read_line (gpointer data, FlamSlice slice)
{
  Reader *reader = data;
  const char *line = slice.text, *rest;
  gsize length = slice.length;
  const char *end = line + length;

  if (starts (line, length, "snapshot=", &rest) || length == 0 || *line == '#')
    {
      close_nodes (reader, 0);
      if (starts (line, length, "snapshot=", &rest))
        begin_snapshot (reader);
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
    {
      read_options (reader, rest, end);
      return TRUE;
    }
  if (reader->snapshots->len == 0)
    return FALSE;
  if (starts (line, length, "time=", &rest))
    return read_time (reader, rest, end);
  if (starts (line, length, "mem_heap_B=", &rest))
    return read_bytes (&current (reader)->heap, rest, end);
  if (starts (line, length, "mem_heap_extra_B=", &rest))
    return read_bytes (&current (reader)->extra, rest, end);
  if (starts (line, length, "mem_stacks_B=", &rest))
    return read_bytes (&current (reader)->stacks, rest, end);
  if (starts (line, length, "heap_tree=", &rest))
    {
      close_nodes (reader, 0);
      current (reader)->tree = tree_named (rest, (gsize)(end - rest));
      return TRUE;
    }
  return read_node (reader, line, length);
}

/* --- the state between snapshots ------------------------------------------ */

/* A part of the memory that is unchanged since `first`, an index in `rows`. */
typedef struct
{
  gint64 amount; /* of the part; -1: to be written again */
  guint first, end;
} Part;

enum
{
  PART_TREE,
  PART_REST,
  PART_EXTRA,
  PART_STACKS,
  N_PARTS
};

typedef struct
{
  Reader *reader;
  GArray *rows; /* FlamAllocation */
  Part parts[N_PARTS];
  guint tree; /* the snapshot of the tree that is shown */
} State;

static gint64
total_of (const Snapshot *snapshot)
{
  gint64 total;

  if (__builtin_add_overflow (snapshot->heap, snapshot->extra, &total) ||
      __builtin_add_overflow (total, snapshot->stacks, &total))
    return G_MAXINT64;
  return total;
}

/* FLAM_NONE without snapshots. */
static guint
find_peak (const Reader *reader)
{
  const Snapshot *snapshots = (const Snapshot *)reader->snapshots->data;
  guint best = FLAM_NONE;

  for (guint i = 0; i < reader->snapshots->len; i++)
    {
      gint64 total = total_of (&snapshots[i]);
      gint64 most = best == FLAM_NONE ? -1 : total_of (&snapshots[best]);

      if (total > most ||
          (total == most && snapshots[i].tree > snapshots[best].tree))
        best = i;
    }
  return best;
}

static FlamId
stack_of (Reader *reader, FlamFunctionId function)
{
  return flam_builder_stack (
      reader->builder,
      FLAM_NONE,
      flam_builder_frame (reader->builder, function, 0, 0, 0));
}

static void
add_row (
    State *state, gint64 time, FlamStackId stack, gint64 bytes, guint allocator)
{
  FlamAllocation row = {
    .time = time,
    .freed_at = FLAM_NEVER,
    .thread = FLAM_NONE,
    .stack = stack,
    .size = bytes,
    .count = 1,
    .distance = G_MAXUINT16,
    .allocator = (guint8)allocator,
  };

  g_array_append_val (state->rows, row);
}

/* Ends the rows of a changing part; TRUE: new ones are needed. */
static gboolean
change (State *state, guint number, gint64 amount, gint64 time)
{
  Part *part = &state->parts[number];

  if (part->amount == amount)
    return FALSE;
  for (guint i = part->first; i < part->end; i++)
    {
      FlamAllocation *row = &g_array_index (state->rows, FlamAllocation, i);

      row->freed_at = MAX (time, row->time);
    }
  *part = (Part){ amount, state->rows->len, state->rows->len };
  return amount > 0;
}

static void
put (State *state,
     guint number,
     gint64 bytes,
     gint64 time,
     FlamFunctionId function,
     guint allocator)
{
  if (!change (state, number, bytes, time))
    return;
  add_row (state, time, stack_of (state->reader, function), bytes, allocator);
  state->parts[number].end = state->rows->len;
}

/* The bytes of the last tree, or 0 if the heap is smaller at this moment. */
static gint64
put_tree (State *state, const Snapshot *snapshot, guint allocator)
{
  Reader *reader = state->reader;
  const Leaf *leaves = (const Leaf *)reader->leaves->data;
  const Snapshot *tree =
      &g_array_index (reader->snapshots, Snapshot, state->tree);
  gint64 bytes = 0;

  for (guint i = tree->first; i < tree->end; i++)
    if (__builtin_add_overflow (bytes, leaves[i].bytes, &bytes))
      bytes = G_MAXINT64;
  if (bytes > snapshot->heap)
    bytes = 0;
  if (snapshot->tree != TREE_NONE)
    state->parts[PART_TREE].amount = -1;
  if (change (state, PART_TREE, bytes, snapshot->time))
    {
      for (guint i = tree->first; i < tree->end; i++)
        add_row (
            state, snapshot->time, leaves[i].stack, leaves[i].bytes, allocator);
      state->parts[PART_TREE].end = state->rows->len;
    }
  return bytes;
}

static void
put_snapshot (State *state, guint i)
{
  Reader *reader = state->reader;
  const Snapshot *snapshot = &g_array_index (reader->snapshots, Snapshot, i);
  guint allocator =
      reader->of_pages ? FLAM_ALLOCATOR_MMAP : FLAM_ALLOCATOR_MALLOC;
  gint64 split;

  flam_builder_add_counter_value (
      reader->builder, reader->heap, snapshot->time, snapshot->heap);
  flam_builder_add_counter_value (
      reader->builder, reader->extra, snapshot->time, snapshot->extra);
  flam_builder_add_counter_value (
      reader->builder, reader->stacks, snapshot->time, snapshot->stacks);
  if (snapshot->tree != TREE_NONE)
    state->tree = i;
  split = put_tree (state, snapshot, allocator);
  put (state,
       PART_REST,
       snapshot->heap - split,
       snapshot->time,
       reader->unseen,
       allocator);
  put (state,
       PART_EXTRA,
       snapshot->extra,
       snapshot->time,
       reader->overhead,
       FLAM_ALLOCATOR_OTHER);
  put (state,
       PART_STACKS,
       snapshot->stacks,
       snapshot->time,
       reader->on_stacks,
       FLAM_ALLOCATOR_OTHER);
}

/* The parts that are shown now. */
static void
mark_peak (const State *state)
{
  for (guint number = 0; number < N_PARTS; number++)
    for (guint i = state->parts[number].first; i < state->parts[number].end;
         i++)
      g_array_index (state->rows, FlamAllocation, i).at_peak = 1;
}

/* Of the tree that splits the peak. */
static void
count_cut (const State *state)
{
  const Reader *reader = state->reader;
  const Snapshot *tree =
      &g_array_index (reader->snapshots, Snapshot, state->tree);
  gint64 bytes = 0;
  guint n = 0;

  if (state->parts[PART_TREE].amount <= 0)
    return;
  for (guint i = tree->first; i < tree->end; i++)
    {
      const Leaf *leaf = &g_array_index (reader->leaves, Leaf, i);

      n += leaf->cut;
      bytes += leaf->cut ? leaf->bytes : 0;
    }
  if (n == 0)
    return;
  flam_builder_facts (reader->builder)->truncated_stacks = n;
  flam_builder_warn (reader->builder,
                     N_ ("%" PRId64 " bytes at the peak are in stacks that "
                         "massif cut off after %" PRId64 " frames: record "
                         "with a greater --depth"),
                     bytes,
                     reader->depth);
}

static void
put_snapshots (Reader *reader, GArray *rows)
{
  State state = { .reader = reader, .rows = rows };
  guint peak = find_peak (reader);

  for (guint i = 0; i < reader->snapshots->len; i++)
    {
      put_snapshot (&state, i);
      if (i == peak)
        {
          const Part *rest = &state.parts[PART_REST];

          mark_peak (&state);
          count_cut (&state);
          flam_builder_set_peak_time (
              reader->builder,
              g_array_index (reader->snapshots, Snapshot, i).time);
          if (rest->amount > 0)
            flam_builder_warn (reader->builder,
                               N_ ("massif has no tree of the peak: the last "
                                   "tree before it lacks %" PRId64 " bytes"),
                               rest->amount);
        }
    }
  for (guint i = 0; i < rows->len; i++)
    flam_builder_add_allocation (reader->builder,
                                 &g_array_index (rows, FlamAllocation, i));
}

static FlamId
named (FlamBuilder *builder, const char *name)
{
  return flam_builder_function_named (
      builder, flam_builder_string (builder, name, -1), FLAM_KIND_ROOT);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Reader reader = { .builder = builder,
                    .time_scale = 1,
                    .depth = DEPTH,
                    .path = flam_arena_array (load, Node),
                    .places = flam_arena_array (load, FlamValgrindLocation),
                    .snapshots = flam_arena_array (load, Snapshot),
                    .leaves = flam_arena_array (load, Leaf) };

  flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
  flam_builder_facts (builder)->pages_count = TRUE;
  flam_builder_add_allocation_measure (builder, FLAM_FROM_PEAK);
  flam_builder_add_allocation_measure (builder, FLAM_FROM_PEAK_USEFUL);
  reader.heap = flam_builder_add_counter (builder, "heap", FLAM_UNIT_BYTES);
  reader.extra =
      flam_builder_add_counter (builder, "heap-extra", FLAM_UNIT_BYTES);
  reader.stacks = flam_builder_add_counter (builder, "stacks", FLAM_UNIT_BYTES);
  reader.below = named (builder, "(below massif's threshold)");
  reader.unseen = named (builder, "(not in massif's last tree)");
  reader.overhead = named (builder, "(the allocator's own)");
  reader.on_stacks = named (builder, "(stacks)");
  if (!flam_text_read (
          &reader.text, load, read_line, &reader, "massif's", error))
    return FALSE;
  flam_text_warn_half (&reader.text, load);
  close_nodes (&reader, 0);
  put_snapshots (&reader, flam_arena_array (load, FlamAllocation));
  return TRUE;
}

const FlamImporter flam_import_massif = {
  .id = "massif",
  .label = "massif",
  .written_by = "valgrind --tool=massif",
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
