/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Julia's .jlprof, for FlameGraphs.jl and ProfileView.jl: the data and the
 * meaning of its numbers, as flam-import-jlprof.c draws them. Each sample is a
 * separate stack there, so that only counts of samples can be written; a
 * location is an address with all frames inlined there. If there is more than
 * one thread, or a wait, each stack contains its thread and whether it
 * slept.
 *
 * If frames have a status that their names do not show, it becomes a graph,
 * since data cannot hold a status. */

#include "flam-formats.h"

#include "flam-bytes.h"
#include "flam-core-profile.h"
#include "flam-export-common.h"
#include "flam-julia.h"
#include "flam-part.h"

#include <string.h>

#define HEAD "JLPROF\1\0\4\3\2\1" /* then the kind */
#define DATA 1
#define GRAPH 2
#define OPEN 0xff
#define CLOSE 0
/* 128 MiB: Julia's own buffer has 10 million words by default, and documents
 * that are made in memory stay there. */
#define MAX_WORDS ((guint64)1 << 24)
/* For locations without a recorded address. */
#define FIRST_NUMBER ((guint64)1 << 56)
#define NO_STACK (FIRST_NUMBER - 1)
#define META 5 /* words after a stack, including one of the two zeros */

typedef struct
{
  const FlamPart *part;
  FlamSink *out;
  guint64 *ip;       /* one per stack: its location's */
  GArray *locations; /* FlamId: one stack for each location, which ends there */
  gboolean meta;
  guint64 *thread;    /* one per lane: thread number in Julia */
  guint64 *task;      /* one per set of labels; 0: no task */
  gboolean any_empty; /* a sample without a stack exists */
} Writer;

static void
put_number (FlamSink *out, guint64 value, guint size)
{
  guint8 bytes[8];

  for (guint i = 0; i < size; i++)
    bytes[i] = (guint8)(value >> (8 * i));
  flam_sink_put_len (out, bytes, size);
}

static void
put_text (FlamSink *out, const char *text)
{
  gsize length = MIN (strlen (text), (gsize)G_MAXINT32);

  put_number (out, length, 4);
  flam_sink_put_len (out, text, length);
}

/* --- locations --------------------------------------------------------------
 */

/* An address that no other location has. */
static guint64
take_ip (GHashTable *taken, guint64 address)
{
  guint64 ip = address;

  if (ip == 0 || ip >= NO_STACK || g_hash_table_contains (taken, &ip))
    ip = FIRST_NUMBER + g_hash_table_size (taken);
  g_hash_table_add (taken, g_memdup2 (&ip, sizeof ip));
  return ip;
}

/* Marks the stacks of samples, and their callers except those that a callee is
 * inlined into. */
static void
find_used (Writer *writer, guint8 *used)
{
  const FlamPart *part = writer->part;
  const FlamProfile *profile = part->profile;

  for (guint32 lane = 0; lane < part->n_lanes; lane++)
    {
      g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
      FlamPartRow row;

      while (flam_part_rows_next (&rows, &row))
        {
          writer->any_empty |= row.stack == FLAM_NONE;
          for (FlamId s = row.stack; s != FLAM_NONE && !used[s];
               s = profile->stacks.prefix[s])
            {
              used[s] = TRUE;
              while (flam_export_is_inlined (profile, s))
                s = profile->stacks.prefix[s];
            }
        }
    }
}

/* Two stacks have the same location if their leaves are the same and so are the
 * locations that these are inlined into: a number, from 1. */
static guint32
find_location (GHashTable *locations, FlamFrameId frame, guint32 around)
{
  guint64 key = (guint64)frame << 32 | around;
  guint32 location = GPOINTER_TO_UINT (g_hash_table_lookup (locations, &key));

  if (location == 0)
    {
      location = g_hash_table_size (locations) + 1;
      g_hash_table_insert (
          locations, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (location));
    }
  return location;
}

static void
find_places (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamStacks *stacks = &profile->stacks;
  g_autoptr (GHashTable) locations =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);
  g_autoptr (GHashTable) taken =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);
  g_autofree guint32 *location = g_new (guint32, stacks->n + 1);
  g_autofree guint64 *ips = g_new0 (guint64, stacks->n + 1); /* by location */
  g_autofree guint8 *used = g_new0 (guint8, stacks->n + 1);

  find_used (writer, used);
  for (FlamId s = 0; s < stacks->n; s++)
    {
      gboolean inlined = flam_export_is_inlined (profile, s);

      location[s] = find_location (locations,
                                   stacks->frame[s],
                                   inlined ? location[stacks->prefix[s]] : 0);
      if (!used[s])
        continue;
      if (ips[location[s]] == 0)
        {
          ips[location[s]] =
              take_ip (taken, profile->frames.address[stacks->frame[s]]);
          g_array_append_val (writer->locations, s);
        }
      writer->ip[s] = ips[location[s]];
    }
}

static gboolean
is_from_c (const FlamProfile *profile, FlamFrameId frame)
{
  guint kind = profile->functions.kind[profile->frames.function[frame]];

  return kind == FLAM_KIND_NATIVE || kind == FLAM_KIND_KERNEL;
}

/* An address without any name. */
static gboolean
is_unknown (const FlamProfile *profile, FlamFrameId frame)
{
  FlamFunctionId function = profile->frames.function[frame];

  return profile->functions.kind[function] == FLAM_KIND_UNRESOLVED &&
         profile->functions.module[function] == FLAM_NONE;
}

/* Like Julia, write an unknown function as a C function without a name and with
 * line -1. */
static void
put_frame (FlamSink *out, const FlamProfile *profile, FlamFrameId frame)
{
  const FlamFrames *frames = &profile->frames;
  gboolean unknown = is_unknown (profile, frame);
  gint64 line = frames->line[frame];

  put_text (
      out,
      unknown ? ""
              : flam_profile_function_name (profile, frames->function[frame]));
  put_text (out, flam_profile_string (profile, frames->file[frame]));
  put_number (out, (guint64)(unknown && line == 0 ? -1 : line), 8);
  put_number (out, unknown || is_from_c (profile, frame), 1);
  put_number (out, frames->inline_depth[frame] > 0, 1);
}

/* One that is not a function. */
static void
put_word (FlamSink *out, const char *word)
{
  put_text (out, word);
  put_text (out, "");
  put_number (out, 0, 8);
  put_number (out, 0, 2);
}

static void
put_place (Writer *writer, FlamStackId stack)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamStacks *stacks = &profile->stacks;
  guint n = 1;

  for (FlamId s = stack; flam_export_is_inlined (profile, s);
       s = stacks->prefix[s])
    n++;
  put_number (writer->out, writer->ip[stack], 8);
  put_number (writer->out, n, 4);
  for (; n > 0; n--, stack = stacks->prefix[stack])
    put_frame (writer->out, profile, stacks->frame[stack]);
}

/* After the last: the location of samples without a stack. */
static void
put_places (Writer *writer)
{
  put_number (writer->out, writer->locations->len + writer->any_empty, 8);
  for (guint i = 0; i < writer->locations->len; i++)
    put_place (writer, g_array_index (writer->locations, FlamId, i));
  if (!writer->any_empty)
    return;
  put_number (writer->out, NO_STACK, 8);
  put_number (writer->out, 1, 4);
  put_word (writer->out, "[no stack]");
}

/* --- data ---------------------------------------------------------------- */

/* Leaf first; inlined frames are in their location. Returns the number of
 * locations. */
static guint
put_stack (Writer *writer, FlamSink *out, FlamStackId stack)
{
  const FlamProfile *profile = writer->part->profile;
  guint n = 0;

  while (stack != FLAM_NONE)
    {
      if (out != NULL)
        put_number (out, writer->ip[stack], 8);
      n++;
      while (flam_export_is_inlined (profile, stack))
        stack = profile->stacks.prefix[stack];
      stack = profile->stacks.prefix[stack];
    }
  if (n == 0 && out != NULL)
    put_number (out, NO_STACK, 8);
  return MAX (n, 1);
}

static void
put_meta (Writer *writer, guint32 lane, const FlamPartRow *row)
{
  gboolean asleep = row->state != FLAM_STATE_RUNNING;

  guint64 task = writer->task[row->labels];

  put_number (writer->out, writer->thread[lane], 8);
  put_number (writer->out, task != 0 ? task : (guint64)lane + 1, 8);
  put_number (writer->out, (guint64)row->time + 1, 8); /* never 0, too */
  put_number (writer->out, asleep ? 2 : 1, 8);
  put_number (writer->out, 0, 8);
}

/* The importer names threads "thread 2"; other threads get the next free
 * number. */
static guint64
number_of_thread (const FlamPart *part, guint32 lane)
{
  FlamThreadId thread = flam_part_thread (part, lane);
  const char *name = "";
  guint64 number = 0;

  if (thread != FLAM_NONE)
    name = flam_profile_string (part->profile,
                                part->profile->threads.name[thread]);
  if (g_str_has_prefix (name, FLAM_JULIA_THREAD))
    g_ascii_string_to_unsigned (
        name + strlen (FLAM_JULIA_THREAD), 10, 1, G_MAXUINT32, &number, NULL);
  return number;
}

static void
number_threads (Writer *writer)
{
  g_autoptr (GHashTable) taken =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);
  guint64 next = 1;

  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    {
      guint64 number = number_of_thread (writer->part, lane);

      if (number != 0 &&
          g_hash_table_add (taken, g_memdup2 (&number, sizeof number)))
        writer->thread[lane] = number;
    }
  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    {
      while (writer->thread[lane] == 0 &&
             !g_hash_table_add (taken, g_memdup2 (&next, sizeof next)))
        next++;
      if (writer->thread[lane] == 0)
        writer->thread[lane] = next;
    }
}

static void
number_tasks (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamSampleLabels *labels = &profile->labels;

  for (guint32 i = 0; i < labels->n; i++)
    if (strcmp (flam_profile_string (profile, labels->key[i]),
                FLAM_JULIA_TASK) == 0)
      writer->task[labels->set[i]] = g_ascii_strtoull (
          flam_profile_string (profile, labels->value[i]), NULL, 0);
}

/* Writes all rows, or, with `put` FALSE, counts their words. */
static guint64
walk (Writer *writer, gboolean put)
{
  guint64 words = 0;

  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    {
      g_auto (FlamPartRows) rows =
          flam_part_rows (writer->part, writer->part->measure, lane);
      FlamPartRow row;

      while (flam_part_rows_next (&rows, &row) && words <= MAX_WORDS)
        {
          guint64 n = put_stack (writer, NULL, row.stack) + 1;

          n += writer->meta ? META : 0;
          words += (guint64)MIN (row.weight, (gint64)MAX_WORDS + 1) * n;
          for (gint64 i = 0; put && i < row.weight; i++)
            {
              put_stack (writer, writer->out, row.stack);
              if (writer->meta)
                put_meta (writer, lane, &row);
              put_number (writer->out, 0, 8);
            }
        }
    }
  return words;
}

/* --- graph ---------------------------------------------------------------- */

static gboolean
has_told_status (const FlamProfile *profile, FlamFrameId frame)
{
  guint named = flam_julia_status (
      flam_profile_function_name (profile, profile->frames.function[frame]),
      flam_profile_string (profile, profile->frames.file[frame]),
      is_from_c (profile, frame));

  return (profile->frames.status[frame] & ~named) != 0;
}

static gboolean
needs_graph (const FlamProfile *profile)
{
  for (FlamId i = 0; i < profile->frames.n; i++)
    if (has_told_status (profile, i))
      return TRUE;
  return FALSE;
}

typedef struct
{
  gint64 *total; /* one per stack: the weight at and below it; then of none */
  gint64 *first; /* its first column, from 1 */
  FlamNodeId *child, *next;
  FlamId roots;
  gint64 all;
} Graph;

static void
graph_clear (Graph *graph)
{
  g_free (graph->total);
  g_free (graph->first);
  g_free (graph->child);
  g_free (graph->next);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Graph, graph_clear)

static void
sum_rows (const FlamPart *part, gint64 *total)
{
  for (guint32 lane = 0; lane < part->n_lanes; lane++)
    {
      g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
      FlamPartRow row;

      while (flam_part_rows_next (&rows, &row))
        total[MIN (row.stack, part->profile->stacks.n)] += MAX (row.weight, 0);
    }
}

/* Siblings in the order of their numbers, as they were read. */
static void
graph_init (Graph *graph, const FlamPart *part)
{
  const FlamStacks *stacks = &part->profile->stacks;

  *graph = (Graph){ .total = g_new0 (gint64, stacks->n + 1),
                    .first = g_new0 (gint64, stacks->n + 1),
                    .child = g_new (FlamId, stacks->n + 1),
                    .next = g_new (FlamId, stacks->n + 1),
                    .roots = FLAM_NONE };
  memset (graph->child, 0xff, stacks->n * sizeof *graph->child);
  sum_rows (part, graph->total);
  graph->all = graph->total[stacks->n];
  for (FlamId s = stacks->n; s-- > 0;)
    {
      FlamStackId prefix = stacks->prefix[s];
      FlamId *list =
          prefix != FLAM_NONE ? &graph->child[prefix] : &graph->roots;

      if (graph->total[s] == 0)
        continue;
      *(prefix != FLAM_NONE ? &graph->total[prefix] : &graph->all) +=
          graph->total[s];
      graph->next[s] = *list;
      *list = s;
    }
}

static void
put_columns (FlamSink *out, guint status, gint64 first, gint64 n)
{
  put_number (out, status, 1);
  put_number (out, (guint64)first, 8);
  put_number (out, (guint64)(first + n - 1), 8);
}

/* Returns the next stack to be opened, after the end of those that end here. */
static FlamId
put_ends (FlamSink *out, const Graph *graph, const FlamStacks *stacks, FlamId s)
{
  if (graph->child[s] != FLAM_NONE)
    return graph->child[s];
  for (; s != FLAM_NONE; s = stacks->prefix[s])
    {
      put_number (out, CLOSE, 1);
      if (graph->next[s] != FLAM_NONE)
        return graph->next[s];
    }
  return FLAM_NONE;
}

static void
put_graph (FlamSink *out, const FlamPart *part)
{
  const FlamProfile *profile = part->profile;
  const FlamStacks *stacks = &profile->stacks;
  g_auto (Graph) graph = { NULL };
  gint64 none;

  graph_init (&graph, part);
  none = graph.total[stacks->n];
  put_number (out, OPEN, 1);
  put_word (out, "ROOT");
  put_columns (out, 0, 1, graph.all);
  if (graph.roots != FLAM_NONE)
    graph.first[graph.roots] = 1;
  for (FlamId s = graph.roots; s != FLAM_NONE;
       s = put_ends (out, &graph, stacks, s))
    {
      put_number (out, OPEN, 1);
      put_frame (out, profile, stacks->frame[s]);
      put_columns (out,
                   profile->frames.status[stacks->frame[s]],
                   graph.first[s],
                   graph.total[s]);
      if (graph.next[s] != FLAM_NONE)
        graph.first[graph.next[s]] = graph.first[s] + graph.total[s];
      if (graph.child[s] != FLAM_NONE)
        graph.first[graph.child[s]] = graph.first[s];
    }
  if (none > 0)
    {
      put_number (out, OPEN, 1);
      put_word (out, "[no stack]");
      put_columns (out, 0, graph.all - none + 1, none);
      put_number (out, CLOSE, 1);
    }
  put_number (out, CLOSE, 1);
}

/* --- both kinds ------------------------------------------------------------
 */

/* Whether samples need the fields after a stack: thread, task or state. */
static gboolean
has_meta (const Writer *writer)
{
  const FlamPart *part = writer->part;
  guint n = 0;

  for (guint32 lane = 0; lane < part->n_lanes; lane++)
    if (!flam_part_is_empty (part, lane))
      n += number_of_thread (part, lane) != 0 ? 2 : 1;
  for (guint32 set = 0; set <= part->n_label_sets; set++)
    n += writer->task[set] != 0 ? 2 : 0;
  return n > 1 || part->profile->samples.state != NULL;
}

static gboolean
check (const FlamPart *part, GError **error)
{
  const FlamMeasure *measure = flam_part_measure (part);

  if (measure->unit == FLAM_UNIT_COUNT && measure->denominator == 1 &&
      measure->source == FLAM_FROM_SAMPLES)
    return TRUE;
  return flam_error_set (error,
                         FLAM_ERROR_UNSUPPORTED,
                         N_ ("this format counts samples, which “%s” does not; "
                             "choose another measure"),
                         flam_profile_string (part->profile, measure->id));
}

static gboolean
save_part (Writer *writer, GError **error)
{
  guint64 words;

  find_places (writer);
  words = walk (writer, FALSE);
  if (words > MAX_WORDS)
    return flam_error_set (error,
                           FLAM_ERROR_UNSUPPORTED,
                           N_ ("this format repeats the stack of each sample: "
                               "it would exceed 128 MiB"));
  put_number (writer->out, DATA, 1);
  put_number (writer->out, words, 8);
  walk (writer, TRUE);
  put_places (writer);
  return TRUE;
}

static gboolean
save (FlamExport *export, GError **error)
{
  Writer writer = { .part = export->part, .out = export->out };

  if (!check (export->part, error))
    return FALSE;
  writer.thread = flam_arena_vector (export, guint64, export->part->n_lanes);
  writer.task =
      flam_arena_vector (export, guint64, export->part->n_label_sets + 1);
  number_threads (&writer);
  number_tasks (&writer);
  writer.meta = has_meta (&writer);
  writer.ip =
      flam_arena_vector (export, guint64, export->part->profile->stacks.n + 1);
  writer.locations = flam_arena_array (export, FlamId);
  flam_sink_put_len (writer.out, HEAD, sizeof HEAD - 1);
  if (!needs_graph (export->part->profile))
    return save_part (&writer, error);
  put_number (writer.out, GRAPH, 1);
  put_graph (writer.out, export->part);
  return TRUE;
}

static guint
lacks (const FlamProfile *profile)
{
  guint lost = 0;

  for (guint32 i = 0; i < profile->labels.n; i++)
    if (strcmp (flam_profile_string (profile, profile->labels.key[i]),
                FLAM_JULIA_TASK) != 0)
      lost |= FLAM_HOLDS_LABELS;
  if (needs_graph (profile))
    lost |= FLAM_HOLDS_THREADS | FLAM_HOLDS_ORDER | FLAM_HOLDS_LABELS;
  return lost;
}

const FlamExporter flam_export_jlprof = {
  .id = "jlprof",
  .label = N_ ("Julia profile"),
  .suffix = "jlprof",
  .mime_type = "application/x-jlprof",
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_ORDER | FLAM_HOLDS_FILES |
           FLAM_HOLDS_LINES | FLAM_HOLDS_INLINES | FLAM_HOLDS_LABELS |
           FLAM_HOLDS_STATUS,
  .lacks = lacks,
  .puts = FLAM_PUTS_PART,
  .save = save,
};
