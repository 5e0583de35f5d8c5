/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-bytes.h"
#include "flam-core-profile.h"
#include "flam-formats.h"
#include "flam-julia.h"

#include <string.h>

/* Julia's .jlprof (FlameGraphs.jl), in the order of bytes of the machine that
 * wrote it:
 *
 *    "JLPROF" 1 0    u32 0x01020304    u8 kind
 *    1 data   i64 n, n times u64; i64 m, m times: u64 ip, i32 k, k frames, the
 *             innermost inlined one first
 *    2 graph  a node: 0xff, frame, u8 status, i64 first, i64 last column; the
 *             nodes below it; 0
 *    frame    i32 n, n bytes of function; i32 n, n bytes of file; i64 line;
 *             u8 it is C; u8 it is inlined
 *
 * The data are the result of Profile.fetch(): ips of a stack, leaf first, then
 * either 0, or the thread, the task, a clock, 1 for awake or 2 for asleep, or 3
 * for a task of the wall-time profiler's (since 1.12), 0, 0. All stacks of a
 * file have the same of the two forms. Source of facts: FlameGraphs.jl 1.2,
 * src/io.jl; Julia's stdlib/Profile. */

#define HEADER 13
#define STEPS_PER_BYTE 16
#define META 4 /* before the two zeros */
/* thread, task, clock, asleep */
#define META_THREAD 0
#define META_TASK 1
#define META_ASLEEP 3

typedef struct
{
  guint64 ip;
  guint first, n; /* of `frames` */
} Location;

typedef struct
{
  FlamStackId stack;
  gint64 left; /* columns beyond its children's */
} Node;

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  const guint8 *at, *end;
  FlamColumn locations; /* Location */
  FlamInterner by_ip;   /* rows of `locations` */
  GArray *frames;       /* FlamId: innermost first */
  GArray *nodes;        /* Node: open ones */
  GHashTable *tasks;    /* task -> set of labels */
  FlamProcessId process;
  guint64 samples;
  guint64 steps; /* remaining; a file that needs more is hostile */
  gboolean cut;
} Reader;

/* --- values -------------------------------------------------------------- */

static gboolean
has (Reader *reader, guint64 size)
{
  if ((guint64)(reader->end - reader->at) >= size)
    return TRUE;
  reader->cut = TRUE;
  return FALSE;
}

static gboolean
take (Reader *reader, guint size, guint64 *value)
{
  if (!has (reader, size))
    return FALSE;
  *value = flam_bytes_get (reader->at, size);
  reader->at += size;
  return TRUE;
}

static gboolean
take_text (Reader *reader, FlamStringId *text)
{
  guint64 length;

  if (!take (reader, 4, &length) || !has (reader, length))
    return FALSE;
  *text =
      flam_builder_string (reader->builder, (const char *)reader->at, length);
  reader->at += length;
  return TRUE;
}

static guint
status_by_name (Reader *reader, const FlamFunction *function, gboolean from_c)
{
  return flam_julia_status (
      flam_builder_get_string (reader->builder, function->name),
      flam_builder_get_string (reader->builder, function->file),
      from_c);
}

/* `ip` 0: unknown. Frames of a graph have a status; for frames of raw data, it
 * is derived from their names. */
static gboolean
take_frame (Reader *reader, guint64 ip, gboolean in_graph, FlamFrameId *frame)
{
  FlamFunction function = { .module = FLAM_NONE };
  guint64 line, from_c, inlined, status;

  if (!take_text (reader, &function.name) ||
      !take_text (reader, &function.file) || !take (reader, 8, &line) ||
      !take (reader, 1, &from_c) || !take (reader, 1, &inlined) ||
      (in_graph && !take (reader, 1, &status)))
    return FALSE;
  if (!in_graph)
    status = status_by_name (reader, &function, from_c != 0);
  function.kind = from_c != 0 ? FLAM_KIND_NATIVE : FLAM_KIND_JIT;
  *frame = flam_builder_frame_of_status (
      reader->builder,
      &function,
      ip,
      (gint64)line > 0 ? MIN (line, G_MAXINT32) : 0,
      inlined != 0,
      (guint)status & FLAM_STATUS_ALL);
  return TRUE;
}

/* --- data ---------------------------------------------------------------- */

static FlamThreadId
only_thread (Reader *reader)
{
  return flam_builder_thread (reader->builder, reader->process, -1, 0);
}

static gboolean
ip_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return ((const Location *)table)[row].ip == *(const guint64 *)key;
}

static FlamSlot *
find_slot (Reader *reader, guint64 ip, guint32 *hash)
{
  *hash = flam_hash_pair (ip, 0);
  return flam_interner_find (
      &reader->by_ip, *hash, ip_equal, reader->locations.data, &ip);
}

static gboolean
read_location (Reader *reader)
{
  Location location = { .first = reader->frames->len };
  guint64 n;
  guint32 hash;
  FlamSlot *slot;

  if (!take (reader, 8, &location.ip) || !take (reader, 4, &n))
    return FALSE;
  for (; n > 0; n--)
    {
      FlamFrameId frame;
      if (!take_frame (reader, location.ip, FALSE, &frame))
        return FALSE;
      g_array_append_val (reader->frames, frame);
      location.n++;
    }
  slot = find_slot (reader, location.ip, &hash);
  if (slot->id != FLAM_NONE)
    return TRUE;
  *slot = (FlamSlot){ hash, reader->locations.n };
  reader->by_ip.used++;
  flam_column_append (&reader->locations, Location, location);
  return TRUE;
}

static FlamId
push_ip (Reader *reader, FlamStackId stack, guint64 ip)
{
  guint32 hash;
  FlamSlot *slot = find_slot (reader, ip, &hash);
  const Location *location =
      slot->id != FLAM_NONE
          ? &flam_column_at (&reader->locations, Location, slot->id)
          : NULL;

  if (reader->steps < 1 + (location != NULL ? location->n : 0))
    {
      reader->cut = TRUE;
      return stack;
    }
  reader->steps -= 1 + (location != NULL ? location->n : 0);
  if (location == NULL || location->n == 0)
    return flam_builder_stack (
        reader->builder,
        stack,
        flam_builder_frame_of (
            reader->builder, &(FlamFunction){ .module = FLAM_NONE }, ip, 0, 0));
  for (guint i = location->n; i > 0; i--)
    stack = flam_builder_stack (
        reader->builder,
        stack,
        g_array_index (reader->frames, FlamId, location->first + i - 1));
  return stack;
}

static guint64
word (const guint8 *data, guint64 index)
{
  return flam_bytes_get (data + 8 * index, 8);
}

/* The first block decides. */
static gboolean
has_meta (const guint8 *data, guint64 n)
{
  guint64 i = 0;

  while (i < n && word (data, i) != 0)
    i++;
  return i >= META && i + 1 < n && word (data, i + 1) == 0 &&
         word (data, i - 1) >= 1 && word (data, i - 1) <= 3;
}

/* The labels of a sample's task. A task is an address; a value in the first
 * page of memory is only a substitute for one, as in our own files, and gets no
 * label. */
static guint32
labels_of_task (Reader *reader, guint64 task)
{
  g_autofree char *value = g_strdup_printf ("0x%" G_GINT64_MODIFIER "x", task);
  FlamSampleLabel label = { .key = FLAM_JULIA_TASK, .value = value };
  gpointer set;

  if (task < 4096)
    return 0;
  if (!g_hash_table_lookup_extended (reader->tasks, &task, NULL, &set))
    {
      set = GUINT_TO_POINTER (
          flam_builder_add_labels (reader->builder, &label, 1));
      g_hash_table_insert (reader->tasks, g_memdup2 (&task, sizeof task), set);
    }
  return GPOINTER_TO_UINT (set);
}

/* Words from `first` to `end`: a stack, and META more of them. */
static void
add_block (Reader *reader,
           const guint8 *data,
           guint64 first,
           guint64 end,
           gboolean meta)
{
  FlamSample sample = { .stack = FLAM_NONE };
  gint64 one = 1;

  if (meta && end - first >= META)
    {
      guint64 thread = word (data, end - META + META_THREAD);
      g_autofree char *name =
          g_strdup_printf (FLAM_JULIA_THREAD "%" G_GUINT64_FORMAT, thread);

      end -= META;
      sample.thread = flam_builder_thread (
          reader->builder, reader->process, -1, (guint)thread);
      flam_builder_set_thread_name (reader->builder, sample.thread, name);
      sample.labels = labels_of_task (reader, word (data, end + META_TASK));
      if (word (data, end + META_ASLEEP) == 2)
        sample.state = FLAM_STATE_SLEEP;
    }
  else
    sample.thread = only_thread (reader);
  for (guint64 i = end; i > first; i--)
    sample.stack = push_ip (reader, sample.stack, word (data, i - 1));
  if (end == first)
    return;
  flam_builder_add_sample (reader->builder, &sample, &one);
  reader->samples++;
}

static gboolean
add_blocks (Reader *reader, const guint8 *data, guint64 n, GError **error)
{
  gboolean meta = has_meta (data, n);
  guint64 first = 0;

  for (guint64 i = 0; i < n; i++)
    {
      if (i % 65536 == 0 &&
          !flam_progress_step (
              reader->load->options->progress, (double)i / n, error))
        return FALSE;
      if (word (data, i) != 0 ||
          (meta && (i + 1 == n || word (data, i + 1) != 0)))
        continue; /* a thread, task or clock may be 0 */
      add_block (reader, data, first, i, meta);
      i += meta;
      first = i + 1;
    }
  if (first < n)
    add_block (reader, data, first, n, FALSE);
  return TRUE;
}

static gboolean
read_data (Reader *reader, GError **error)
{
  const guint8 *data;
  guint64 n = 0, m = 0;

  if (!take (reader, 8, &n))
    return TRUE;
  data = reader->at;
  if (n > (guint64)(reader->end - data) / 8)
    {
      n = (reader->end - data) / 8;
      reader->cut = TRUE;
    }
  reader->at += 8 * n;
  if (!reader->cut && take (reader, 8, &m))
    for (; m > 0 && read_location (reader); m--)
      ;
  return add_blocks (reader, data, n, error);
}

/* --- graph --------------------------------------------------------------- */

static void
close_node (Reader *reader)
{
  const Node *node =
      &g_array_index (reader->nodes, Node, reader->nodes->len - 1);
  FlamSample sample = { .stack = node->stack };
  gint64 left = node->left;

  if (left > 0)
    {
      sample.thread = only_thread (reader);
      flam_builder_add_sample (reader->builder, &sample, &left);
      reader->samples++;
    }
  g_array_set_size (reader->nodes, reader->nodes->len - 1);
}

/* The root, "ROOT", is not a function. Its own columns are samples without a
 * stack: they have only functions of C, which a graph does not contain. */
static gboolean
open_node (Reader *reader)
{
  Node node = { .stack = FLAM_NONE };
  guint64 first, last;
  gint64 width;
  FlamFrameId frame;

  if (!take_frame (reader, 0, TRUE, &frame) || !take (reader, 8, &first) ||
      !take (reader, 8, &last))
    return FALSE;
  if (__builtin_sub_overflow ((gint64)last, (gint64)first, &width) ||
      width < 0 || width > G_MAXINT64 / 4)
    width = -1;
  node.left = width + 1;
  if (reader->nodes->len > 0)
    {
      Node *above =
          &g_array_index (reader->nodes, Node, reader->nodes->len - 1);
      node.left = MIN (node.left, MAX (above->left, 0));
      above->left -= node.left;
      node.stack = flam_builder_stack (reader->builder, above->stack, frame);
    }
  g_array_append_val (reader->nodes, node);
  return TRUE;
}

/* Without recursion. */
static void
read_graph (Reader *reader)
{
  guint64 tag;

  do
    {
      if (!take (reader, 1, &tag))
        break;
      if (tag == 0xff && !open_node (reader))
        break;
      if (tag == 0 && reader->nodes->len > 0)
        close_node (reader);
      else if (tag != 0xff)
        {
          reader->at--;
          reader->cut = TRUE;
          break;
        }
    }
  while (reader->nodes->len > 0);
  while (reader->nodes->len > 0)
    close_node (reader);
}

/* --- the importer -------------------------------------------------------- */

static gboolean
read_all (Reader *reader, GError **error)
{
  const guint8 *data = reader->load->source->data;
  guint8 kind;

  if (reader->load->source->size < HEADER ||
      flam_bytes_get (data + 8, 4) != 0x01020304 || data[12] < 1 ||
      data[12] > 2)
    return flam_source_error (
        reader->load->source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        8,
        N_ ("this .jlprof has another byte order or an unknown version"));
  kind = data[12];
  reader->steps = reader->load->source->size * STEPS_PER_BYTE;
  reader->at = data + HEADER;
  reader->end = data + reader->load->source->size;
  if (kind == 2)
    read_graph (reader);
  else if (!read_data (reader, error))
    return FALSE;
  if (reader->cut && reader->samples == 0)
    return flam_source_error (reader->load->source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              reader->at - data,
                              N_ ("it was cut off or damaged"));
  if (reader->cut)
    flam_load_partial (reader->load,
                       reader->at,
                       N_ ("it was cut off or damaged from byte %zu on: the "
                           "part before it is shown"),
                       (gsize)(reader->at - data));
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader *reader = flam_arena_new (load, Reader);

  *reader = (Reader){ .load = load,
                      .builder = load->builder,
                      .process = flam_builder_process (load->builder, -1, 0),
                      .frames = flam_arena_array (load, FlamId),
                      .nodes = flam_arena_array (load, Node),
                      .tasks = flam_arena_table (load, FLAM_KEY_NUMBER, NULL) };
  flam_load_measures (load->builder, FLAM_STANDARD_SAMPLES);
  flam_arena_column (load, &reader->locations, Location);
  flam_arena_interner (load, &reader->by_ip);
  return read_all (reader, error);
}

const FlamImporter flam_import_jlprof = {
  .id = "jlprof",
  .label = N_ ("Julia profile"),
  .written_by = "FlameGraphs.jl",
  .suffixes = FLAM_LIST (".jlprof"),
  .mime = { .type = "application/x-jlprof",
            .name = "Julia profile",
            .globs = FLAM_LIST ("*.jlprof") },
  .signs =
      FLAM_SIGNS ({ FLAM_MAGIC ("JLPROF\1\0"), .least = HEADER, .score = 100 }),
  .load = load,
};
