/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-query.h"
#include "flam-formats.h"
#include "flam-members.h"
#include "flam-pprof.h"

#include <string.h>

/* pprof's profile.proto:
 *
 *    Profile    1 sample types, 2 samples, 3 mappings, 4 locations,
 *               5 functions, 6 strings (the first is ""), 7 drop and 8 keep
 *               frames (regexes), 9 time and 10 duration (ns), 11 period type,
 *               12 period, 13 comments, 14 default sample type
 *    ValueType  1 type, 2 unit                                  (strings)
 *    Sample     1 locations, leaf first, 2 values, 3 labels
 *    Label      1 key, 2 text, 3 number, 4 unit
 *    Mapping    1 id, 2 start, 3 limit, 4 file offset, 5 path, 6 build id
 *    FlamPprofLocation   1 id, 2 mapping, 3 address, 4 lines, innermost first
 *    Line       1 function, 2 line
 *    Function   1 id, 2 name, 3 system name, 4 file, 5 first line
 *
 * Tables may have any order, so the file is read twice: first all but the
 * samples, then those. Each sample type is a measure. Labels with the id or the
 * name of a process or a thread give the thread; the others (Go's pprof.Do, the
 * sizes of its heap profiles) are those of the sample. Frames that match "drop"
 * and their callees are cut off, as in pprof. `pprof -base` and -diff_base
 * subtract values: negative ones are the values before, a separate measure
 * beside the type's, so that nothing is lost and the difference of the two is
 * the file's. Source of facts: google/pprof, proto/profile.proto and
 * profile/prune.go. */

#define MAX_THREADS 4096

/* A list of locations that was converted. */
typedef struct
{
  FlamFingerprint print; /* of its bytes */
  FlamStackId stack;
} Known;

typedef struct
{
  FlamPprof file;
  GArray *ids; /* scratch: guint64 */
  FlamFingerprintKey key;
  FlamColumn known;         /* Known */
  FlamInterner known_index; /* of the distinct ones, by their fingerprints */
  GHashTable *threads;      /* as in labels -> thread + 1 */
  FlamProcessId process;
  FlamThreadId thread; /* for samples without one in their labels; FLAM_NONE:
                    none is */
  guint64 left;        /* frames that its stacks may still have */
  guint64 beyond;      /* values that overflow */
  guint64 unknown;
} Reader;

/* --- samples ------------------------------------------------------------- */

/* The sample's value number `i`; NULL: the file does not have it. */
static inline const FlamPprofLocation *
find_location (const Reader *reader, guint i)
{
  guint64 id = g_array_index (reader->ids, guint64, i);
  guint row = flam_pprof_row (
      reader->file.location_ids, reader->file.locations, FlamPprofLocation, id);

  return row != FLAM_NONE
             ? &g_array_index (reader->file.locations, FlamPprofLocation, row)
             : NULL;
}

/* The locations [0, result) of the sample are cut off: see prune.go. */
static guint
pruned (const Reader *reader)
{
  gboolean found_user = FALSE;

  for (guint i = reader->ids->len; i-- > 0;)
    {
      const FlamPprofLocation *location = find_location (reader, i);

      if (location == NULL)
        continue;
      if (!location->prune && !location->prune_beneath)
        found_user = TRUE;
      else if (found_user)
        return location->prune ? i + 1 : i;
    }
  return 0;
}

static FlamStackId
sample_stack (Reader *reader)
{
  FlamStackId stack = FLAM_NONE;
  guint last = reader->file.drop != 0 ? pruned (reader) : 0;

  for (guint i = reader->ids->len; i-- > last;)
    {
      const FlamPprofLocation *location = find_location (reader, i);

      reader->unknown += location == NULL;
      if (location != NULL && !flam_pprof_take_frames (reader->file.load,
                                                       &reader->left,
                                                       location->n))
        break;
      for (guint k = 0; location != NULL && k < location->n; k++)
        stack = flam_builder_stack (
            reader->file.builder,
            stack,
            g_array_index (reader->file.frames, FlamId, location->first + k));
    }
  return stack;
}

static gboolean
known_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return flam_fingerprint_equal (&((const Known *)table + row)->print, key);
}

/* Samples of the same stack have the same list of locations: it is converted
 * once, if it is in one piece and valid. */
static FlamStackId
known_stack (Reader *reader, FlamProto *list)
{
  FlamFingerprint print =
      flam_fingerprint (&reader->key, (const char *)list->bytes, list->length);
  FlamSlot *slot = flam_interner_find (&reader->known_index,
                                       (guint32)print.a,
                                       known_equal,
                                       reader->known.data,
                                       &print);
  guint64 unknown = reader->unknown;
  Known known = { .print = print };

  if (slot->id != FLAM_NONE)
    return flam_column_at (&reader->known, Known, slot->id).stack;
  flam_proto_numbers (list, reader->ids);
  known.stack = sample_stack (reader);
  if (reader->unknown == unknown)
    {
      *slot = (FlamSlot){ (guint32)print.a, reader->known.n };
      reader->known_index.used++;
      flam_column_append (&reader->known, Known, known);
    }
  return known.stack;
}

/* The content of the labels of a sample. */
typedef struct
{
  GArray *labels; /* FlamSampleLabel, whose texts are `texts` */
  GPtrArray *texts;
  char *thread; /* its name, or NULL */
  gint32 tid;   /* -1: not given */
  gint32 pid;
} Labels;

static void
labels_clear (Labels *labels)
{
  g_clear_pointer (&labels->labels, g_array_unref);
  g_clear_pointer (&labels->texts, g_ptr_array_unref);
  g_clear_pointer (&labels->thread, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Labels, labels_clear)

static FlamThreadId
unknown_thread (Reader *reader)
{
  if (reader->thread == FLAM_NONE)
    reader->thread =
        flam_builder_thread (reader->file.builder, reader->process, -1, 0);
  return reader->thread;
}

/* The thread that the labels identify. */
static FlamThreadId
label_thread (Reader *reader, Labels *labels)
{
  g_autofree char *key = NULL;
  FlamBuilder *builder = reader->file.builder;
  guint n = g_hash_table_size (reader->threads);
  FlamThreadId thread;

  if (labels->thread == NULL && labels->tid < 0 && labels->pid < 0)
    return unknown_thread (reader);
  key = g_strdup_printf ("%d %d %s",
                         labels->pid,
                         labels->tid,
                         labels->thread != NULL ? labels->thread : "");
  thread = GPOINTER_TO_UINT (g_hash_table_lookup (reader->threads, key)) - 1;
  if (thread != FLAM_NONE)
    return thread;
  if (n >= MAX_THREADS)
    {
      flam_builder_warn (
          builder,
          N_ ("there are more than %u threads; the rest are shown as one"),
          MAX_THREADS);
      return unknown_thread (reader);
    }
  thread = flam_builder_thread (
      builder,
      labels->pid < 0 ? reader->process
                      : flam_builder_process (builder, labels->pid, 0),
      labels->tid,
      n + 1);
  if (labels->thread != NULL)
    flam_builder_set_thread_name (builder, thread, labels->thread);
  g_hash_table_insert (
      reader->threads, g_steal_pointer (&key), GUINT_TO_POINTER (thread + 1));
  return thread;
}

/* The set of the other labels. */
static guint32
label_set (Reader *reader, Labels *labels)
{
  if (labels->labels == NULL)
    return 0;
  return flam_builder_add_labels (
      reader->file.builder,
      (FlamSampleLabel *)(void *)labels->labels->data,
      labels->labels->len);
}

static gint32
number_of (const char *text, gint64 number)
{
  gint64 id = text != NULL ? g_ascii_strtoll (text, NULL, 10) : number;

  return id > 0 && id <= G_MAXINT32 ? (gint32)id : -1;
}

static char *
keep (Labels *labels, char *text)
{
  g_ptr_array_add (labels->texts, text);
  return text;
}

/* The unit of a number without one is its key: so pprof's own readers treat
 * "bytes" in Go's heap profiles. */
static char *
unit_of (const FlamPprof *file, const char *key, guint64 unit)
{
  if (unit != 0)
    return flam_pprof_text (file, unit);
  return g_strdup (
      strcmp (key, "alignment") == 0 || strcmp (key, "request") == 0 ? "bytes"
                                                                     : key);
}

static gboolean
is_either (const char *text, const char *a, const char *b)
{
  return strcmp (text, a) == 0 || strcmp (text, b) == 0;
}

/* Label: 1 key, 2 text, 3 number, 4 unit. */
static void
read_label (Reader *reader, FlamProto message, Labels *labels)
{
  guint64 said[5] = { 0 };
  g_autofree char *name = NULL;
  g_autofree char *value = NULL;
  FlamSampleLabel label = { NULL };

  flam_proto_read (message, said, G_N_ELEMENTS (said));
  name = flam_pprof_text (&reader->file, said[1]);
  value = said[2] != 0 ? flam_pprof_text (&reader->file, said[2]) : NULL;
  if (is_either (name, "thread_id", "thread id"))
    labels->tid = number_of (value, (gint64)said[3]);
  else if (is_either (name, "process_id", "process id"))
    labels->pid = number_of (value, (gint64)said[3]);
  else if (value != NULL && is_either (name, "thread_name", "thread name"))
    {
      g_free (labels->thread);
      labels->thread = g_steal_pointer (&value);
    }
  else
    {
      if (labels->labels == NULL)
        {
          labels->labels = g_array_new (FALSE, FALSE, sizeof (FlamSampleLabel));
          labels->texts = g_ptr_array_new_with_free_func (g_free);
        }
      label.number = value != NULL ? 0 : (gint64)said[3];
      if (value == NULL)
        label.unit = keep (labels, unit_of (&reader->file, name, said[4]));
      label.value = keep (labels,
                          value != NULL ? g_steal_pointer (&value)
                                        : flam_sample_labels_number_text (
                                              label.number, label.unit));
      label.key = keep (labels, g_steal_pointer (&name));
      g_array_append_val (labels->labels, label);
    }
}

/* A negative value is one before. */
static void
add_value (Reader *reader, guint index, gint64 value, gint64 *weights)
{
  const FlamPprofType *type =
      &g_array_index (reader->file.types, FlamPprofType, index);
  gint64 weight;

  if (__builtin_mul_overflow (value, type->scale, &weight) ||
      weight == G_MININT64)
    reader->beyond++;
  else if (weight < 0)
    weights[type->base] = -weight;
  else
    weights[index] = weight;
}

static void
read_sample (Reader *reader, FlamProto message)
{
  gint64 weights[2 * FLAM_PPROF_MAX_TYPES] = { 0 };
  FlamSample sample = { 0 };
  g_auto (Labels) labels = { .tid = -1, .pid = -1 };
  GArray *values = reader->file.values;
  FlamProto list = { 0 }; /* of locations, if they are in one piece */

  g_array_set_size (reader->ids, 0);
  g_array_set_size (values, 0);
  while (flam_proto_next (&message))
    if (message.number == 1 && message.wire == 2 && list.bytes == NULL &&
        reader->ids->len == 0)
      list = message;
    else if (message.number == 1)
      {
        if (list.bytes != NULL)
          flam_proto_numbers (&list, reader->ids);
        list.bytes = NULL;
        flam_proto_numbers (&message, reader->ids);
      }
    else if (message.number == 2)
      flam_proto_numbers (&message, values);
    else if (message.number == 3)
      read_label (reader, flam_proto_inner (&message), &labels);
  for (guint i = 0; i < MIN (values->len, reader->file.types->len); i++)
    add_value (reader, i, g_array_index (values, guint64, i), weights);
  sample.stack =
      list.bytes != NULL ? known_stack (reader, &list) : sample_stack (reader);
  sample.thread = label_thread (reader, &labels);
  sample.labels = label_set (reader, &labels);
  flam_builder_add_sample (reader->file.builder, &sample, weights);
}

static gboolean
read_samples (Reader *reader, GError **error)
{
  const FlamSource *source = reader->file.load->source;
  FlamProto proto = flam_proto_init (source->data, source->size);
  const guint8 *left = source->data;
  guint n = 0;

  while (flam_proto_next (&proto))
    if (proto.number == 2)
      {
        read_sample (reader, flam_proto_inner (&proto));
        flam_source_leave_before (source, &left, proto.at);
        if (++n % 1024 == 0 &&
            !flam_load_step (reader->file.load, proto.at, error))
          return FALSE;
      }
  flam_builder_warn_count (reader->file.builder,
                           reader->beyond,
                           "%" PRIu64 " value is too large and was left out",
                           "%" PRIu64
                           " values are too large and were left out");
  flam_builder_warn_count (
      reader->file.builder,
      reader->unknown,
      "%" PRIu64
      " frame refers to a location that is not in the file and was left out",
      "%" PRIu64
      " frames refer to locations that are not in the file and were left out");
  return TRUE;
}

/* --- the importer -------------------------------------------------------- */

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamFacts *facts = flam_builder_facts (load->builder);
  Reader *reader = flam_arena_new (load, Reader);

  flam_pprof_init (&reader->file, load);
  reader->left = flam_pprof_most_frames (load->source->size);
  flam_fingerprint_key_init (&reader->key);
  flam_arena_column (load, &reader->known, Known);
  flam_arena_interner (load, &reader->known_index);
  reader->ids = flam_arena_array (load, guint64);
  reader->threads = flam_arena_table (load, FLAM_KEY_TEXT, NULL);
  reader->process = flam_builder_process (load->builder, -1, 0);
  reader->thread = FLAM_NONE;
  if (!flam_pprof_read_tables (&reader->file, error) ||
      !flam_pprof_add_measures (&reader->file, error))
    return FALSE;
  flam_pprof_make_frames (&reader->file);
  if (reader->file.time > 0)
    facts->start_unix_ns = reader->file.time;
  if (reader->file.duration > 0)
    facts->duration_ns = reader->file.duration;
  return read_samples (reader, error);
}

/* Without a magic number: the first fields must be valid fields of a
 * profile. */
/* Fields may have any order, so those before the first sample are read. */
static guint
probe (const FlamSource *source)
{
  FlamProto proto =
      flam_proto_init (source->data, MIN (source->size, FLAM_MEMBERS_MOST));
  guint fields = 0, samples = 0;

  while ((fields < 8 || samples == 0) && flam_proto_next (&proto))
    {
      gboolean number =
          proto.number >= 7 && proto.number != 11 && proto.number != 13;
      if (proto.number < 1 || proto.number > 15 ||
          (!number && proto.wire != 2 && proto.number != 13))
        return 0;
      if (proto.number == 1)
        {
          FlamProto inner = flam_proto_inner (&proto);
          while (flam_proto_next (&inner))
            if (inner.wire != 0 || inner.number > 2)
              return 0;
          if (inner.bad)
            return 0;
        }
      samples += proto.number == 1 || proto.number == 2;
      fields++;
    }
  if (fields >= 2 && samples > 0)
    return 70;
  /* All fields so far may be of one, and samples may follow. */
  return fields >= 2 && source->size > FLAM_MEMBERS_FIRST ? 1 : 0;
}

const FlamImporter flam_import_pprof = {
  .id = "pprof",
  .label = "pprof",
  .written_by = "Go's runtime/pprof, many profilers",
  .suffixes = FLAM_LIST (".pb", ".pprof", ".prof"),
  .mime = { .type = "application/x-pprof",
            .name = "pprof profile",
            .globs = FLAM_LIST ("*.pprof", "*.pb.gz") },
  .probe = probe,
  .load = load,
};
