/* SPDX-License-Identifier: GPL-3.0-or-later */

/* OpenTelemetry's profiles (OTLP) in the layout of version 1.10; flam-otlp.h
 * describes the messages. A process is a resource, a measure a profile; a
 * sample has the times and values of all rows of one thread, stack and set of
 * labels. Times are of 1970, so they need the capture's start.
 *
 * The samples come first, and number the stacks that they use; the dictionary
 * follows. It is one message, whose length precedes it: its table of stacks,
 * which is long if they are deep, is measured and then written, the others are
 * made in memory. */

#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-locations.h"
#include "flam-part.h"
#include "flam-proto-write.h"

#include <string.h>

/* The dictionary's tables, by their field numbers. */
typedef enum
{
  MAPPINGS = 1,
  LOCATIONS,
  FUNCTIONS,
  LINKS,
  STRINGS,
  ATTRIBUTES,
  STACKS,
} Field;

/* Rows that are equal are one. The first is empty, and means "none". */
typedef struct
{
  GHashTable *rows; /* GBytes -> number */
  GString *message; /* as in the dictionary */
} Table;

typedef struct
{
  const FlamPart *part;
  const FlamExportOptions *options;
  FlamSink *out;
  gint64 start;   /* ns since 1970; 0: unknown */
  gboolean times; /* of the current measure */
  FlamLocations locations;
  Table tables[STACKS];
  guint32 *stack_rows;   /* one per stack: its row; 0: not used */
  GArray *stacks;        /* FlamStackId: in order of their rows, from 1 */
  guint32 *label_starts; /* one per set of labels: its first row */
  FlamStringId *folders; /* one per process: where it worked last */
  GString *message, *inner, *value;
} Writer;

/* --- tables --------------------------------------------------------------- */

static guint64
put_row (Writer *writer, Field field, const void *bytes, gsize length)
{
  Table *table = &writer->tables[field];
  g_autoptr (GBytes) key = g_bytes_new (bytes, length);
  guint row = GPOINTER_TO_UINT (g_hash_table_lookup (table->rows, key));

  if (row != 0 || length == 0)
    return row;
  row = g_hash_table_size (table->rows) + 1;
  g_hash_table_insert (
      table->rows, g_steal_pointer (&key), GUINT_TO_POINTER (row));
  flam_proto_put_bytes (table->message, field, bytes, length);
  return row;
}

static guint64
put_text (Writer *writer, const char *text)
{
  return put_row (writer, STRINGS, text, strlen (text));
}

static guint64
put_string (Writer *writer, FlamStringId string)
{
  return put_text (writer, flam_profile_string (writer->part->profile, string));
}

/* AnyValue: a text, or a number if that is NULL. It is one of several: zero is
 * written, too. */
static void
put_value (GString *out, guint field, const char *text, gint64 number)
{
  g_autoptr (GString) value = g_string_new (NULL);

  if (text != NULL)
    flam_proto_put_bytes (value, 1, text, strlen (text));
  else
    {
      flam_proto_put_varint (value, 3 << 3);
      flam_proto_put_varint (value, (guint64)number);
    }
  flam_proto_put_bytes (out, field, value->str, value->len);
}

/* A row of the table; `unit` NULL: of a text. */
static guint64
put_attribute (Writer *writer,
               const char *key,
               const char *text,
               gint64 number,
               const char *unit)
{
  g_string_truncate (writer->value, 0);
  flam_proto_put_number (writer->value, 1, put_text (writer, key));
  put_value (writer->value, 2, text, number);
  if (unit != NULL)
    flam_proto_put_number (writer->value, 3, put_text (writer, unit));
  return put_row (writer, ATTRIBUTES, writer->value->str, writer->value->len);
}

static void
add_attribute (Writer *writer, GString *rows, const char *key, const char *text)
{
  flam_proto_put_varint (rows, put_attribute (writer, key, text, 0, NULL));
}

/* --- samples -------------------------------------------------------------- */

static guint32
stack_row (Writer *writer, FlamStackId stack)
{
  if (stack == FLAM_NONE)
    return 0;
  if (writer->stack_rows[stack] == 0)
    {
      g_array_append_val (writer->stacks, stack);
      writer->stack_rows[stack] = writer->stacks->len;
    }
  return writer->stack_rows[stack];
}

/* The attributes of the samples of a thread. */
static void
put_thread (Writer *writer, guint32 lane, GString *rows)
{
  const FlamThreads *threads = &writer->part->profile->threads;
  FlamThreadId thread = flam_part_thread (writer->part, lane);
  const char *name;

  if (thread == FLAM_NONE)
    return;
  name = flam_profile_string (writer->part->profile, threads->name[thread]);
  if (*name != '\0')
    add_attribute (writer, rows, "thread.name", name);
  if (threads->tid[thread] > 0)
    flam_proto_put_varint (
        rows,
        put_attribute (writer, "thread.id", NULL, threads->tid[thread], NULL));
}

static void
put_set (Writer *writer, guint32 set, GString *rows)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamSampleLabels *labels = &profile->labels;

  for (guint32 i = writer->label_starts[set];
       set > 0 && i < labels->n && labels->set[i] == set;
       i++)
    {
      const char *key = flam_profile_string (profile, labels->key[i]);

      if (labels->unit[i] == FLAM_NONE)
        add_attribute (
            writer, rows, key, flam_profile_string (profile, labels->value[i]));
      else
        flam_proto_put_varint (
            rows,
            put_attribute (writer,
                           key,
                           NULL,
                           labels->number[i],
                           flam_profile_string (profile, labels->unit[i])));
    }
}

/* A sample, as OpenTelemetry identifies it. */
typedef struct
{
  FlamStackId stack;
  guint32 labels;
  guint32 n;  /* of its rows */
  gint64 sum; /* of their weights */
} Sample;

typedef struct
{
  guint32 sample;
  gint64 time, weight;
} Row;

static void
collect (Writer *writer, guint m, guint32 lane, GArray *samples, GArray *rows)
{
  g_autoptr (GHashTable) index =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);
  g_auto (FlamPartRows) all = flam_part_rows (writer->part, m, lane);
  FlamPartRow row;

  while (flam_part_rows_next (&all, &row))
    {
      guint64 key = (guint64)row.stack << 32 | row.labels;
      guint at = GPOINTER_TO_UINT (g_hash_table_lookup (index, &key));
      Sample *sample;

      if (at == 0)
        {
          Sample fresh = { row.stack, row.labels, 0, 0 };

          g_array_append_val (samples, fresh);
          at = samples->len;
          g_hash_table_insert (
              index, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (at));
        }
      sample = &g_array_index (samples, Sample, at - 1);
      sample->n++;
      sample->sum += row.weight;
      if (writer->times)
        {
          Row kept = { at - 1, row.time, row.weight };
          g_array_append_val (rows, kept);
        }
    }
}

/* In order of their samples, and in each in order of time; g_free. */
static Row *
sort_rows (const GArray *samples, const GArray *rows)
{
  g_autofree guint32 *next = g_new (guint32, samples->len + 1);
  Row *sorted = g_new (Row, rows->len + 1);
  guint32 at = 0;

  for (guint i = 0; i < samples->len; i++)
    {
      next[i] = at;
      at += g_array_index (samples, Sample, i).n;
    }
  for (guint i = 0; i < rows->len; i++)
    {
      const Row *row = &g_array_index (rows, Row, i);
      sorted[next[row->sample]++] = *row;
    }
  return sorted;
}

static void
put_times (Writer *writer, const Row *rows, guint32 n)
{
  g_string_truncate (writer->inner, 0);
  for (guint32 i = 0; i < n; i++)
    {
      guint64 time = GUINT64_TO_LE ((guint64)(writer->start + rows[i].time));
      g_string_append_len (writer->inner, (const char *)&time, sizeof time);
    }
  flam_proto_put_bytes (
      writer->message, 5, writer->inner->str, writer->inner->len);
}

/* `rows` NULL: without times, and the sum is its value. */
static void
put_sample (Writer *writer,
            const FlamMeasure *measure,
            const Sample *sample,
            const GString *thread,
            const Row *rows,
            GString *profile)
{
  g_string_truncate (writer->message, 0);
  flam_proto_put_number (writer->message, 1, stack_row (writer, sample->stack));
  g_string_truncate (writer->inner, 0);
  g_string_append_len (writer->inner, thread->str, (gssize)thread->len);
  put_set (writer, sample->labels, writer->inner);
  if (writer->inner->len > 0)
    flam_proto_put_bytes (
        writer->message, 2, writer->inner->str, writer->inner->len);
  g_string_truncate (writer->inner, 0);
  if (rows == NULL)
    flam_proto_put_varint (writer->inner,
                           (guint64)flam_export_whole (measure, sample->sum));
  for (guint32 i = 0; rows != NULL && i < sample->n; i++)
    flam_proto_put_varint (
        writer->inner, (guint64)flam_export_whole (measure, rows[i].weight));
  flam_proto_put_bytes (
      writer->message, 4, writer->inner->str, writer->inner->len);
  if (rows != NULL)
    put_times (writer, rows, sample->n);
  flam_proto_put_bytes (profile, 2, writer->message->str, writer->message->len);
}

static void
put_lane (Writer *writer, guint m, guint32 lane, GString *profile)
{
  const FlamMeasure *measure = &writer->part->profile->measures[m];
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_autoptr (GString) thread = g_string_new (NULL);
  g_autofree Row *sorted = NULL;
  guint32 at = 0;

  collect (writer, m, lane, samples, rows);
  if (samples->len == 0)
    return;
  put_thread (writer, lane, thread);
  if (writer->times)
    sorted = sort_rows (samples, rows);
  for (guint i = 0; i < samples->len; i++)
    {
      const Sample *sample = &g_array_index (samples, Sample, i);

      put_sample (writer,
                  measure,
                  sample,
                  thread,
                  sorted != NULL ? sorted + at : NULL,
                  profile);
      at += sample->n;
    }
}

/* --- profiles and resources ----------------------------------------------- */

static FlamProcessId
process_of (const Writer *writer, guint32 lane)
{
  FlamThreadId thread = flam_part_thread (writer->part, lane);

  return thread != FLAM_NONE ? writer->part->profile->threads.process[thread]
                             : 0;
}

static void
put_type (Writer *writer, const FlamMeasure *measure, GString *profile)
{
  const char *name = flam_export_measure_name (
      writer->part->profile, measure, writer->options->common_names);

  g_string_truncate (writer->inner, 0);
  flam_proto_put_number (writer->inner, 1, put_text (writer, name));
  flam_proto_put_number (
      writer->inner, 2, put_text (writer, flam_export_unit (measure)));
  flam_proto_put_bytes (profile, 1, writer->inner->str, writer->inner->len);
}

static gboolean
has_times (const Writer *writer, guint m)
{
  const FlamProfile *profile = writer->part->profile;

  return writer->start > 0 &&
         (profile->measures[m].source != FLAM_FROM_SAMPLES ||
          profile->samples.time != NULL);
}

/* Later processes have only the measures that they have weights of. */
static void
put_profile (Writer *writer, guint m, FlamProcessId process, GString *scope)
{
  const FlamFacts *facts = &writer->part->profile->facts;
  g_autoptr (GString) profile = g_string_new (NULL);
  gsize head;

  writer->times = has_times (writer, m);
  put_type (writer, &writer->part->profile->measures[m], profile);
  head = profile->len;
  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    if (process_of (writer, lane) == process)
      put_lane (writer, m, lane, profile);
  if (profile->len == head && process != 0)
    return;
  if (writer->start > 0)
    {
      guint64 start = GUINT64_TO_LE ((guint64)writer->start);

      flam_proto_put_varint (profile, 3 << 3 | 1);
      g_string_append_len (profile, (const char *)&start, sizeof start);
    }
  flam_proto_put_number (profile, 4, (guint64)facts->duration_ns);
  flam_proto_put_bytes (scope, 2, profile->str, profile->len);
}

static void
put_resource_attribute (GString *resource,
                        const char *key,
                        const char *text,
                        gint64 number)
{
  g_autoptr (GString) attribute = g_string_new (NULL);

  flam_proto_put_bytes (attribute, 1, key, strlen (key));
  put_value (attribute, 2, text, number);
  flam_proto_put_bytes (resource, 1, attribute->str, attribute->len);
}

static void
put_process (Writer *writer, FlamProcessId process, GString *out)
{
  const FlamProfile *profile = writer->part->profile;
  const char *const *labels = writer->options->labels;
  g_autoptr (GString) resource = g_string_new (NULL);
  const char *name = "", *folder = "";

  if (process < profile->processes.n)
    {
      folder = flam_profile_string (profile, writer->folders[process]);
      name = flam_profile_string (profile, profile->processes.name[process]);
      if (profile->processes.pid[process] > 0)
        put_resource_attribute (
            resource, "process.pid", NULL, profile->processes.pid[process]);
    }
  if (*name != '\0')
    put_resource_attribute (resource, "process.executable.name", name, 0);
  if (*folder != '\0')
    put_resource_attribute (resource, "process.working_directory", folder, 0);
  for (guint i = 0; labels != NULL && labels[i] != NULL; i += 2)
    put_resource_attribute (resource, labels[i], labels[i + 1], 0);
  flam_proto_put_bytes (out, 1, resource->str, resource->len);
}

static void
put_scope_name (GString *scope)
{
  static const char name[] = "\x0a\x08"
                             "flambeau";

  flam_proto_put_bytes (scope, 1, name, sizeof name - 1);
}

static void
put_head (FlamSink *out, guint field, gsize length)
{
  guint8 head[2 * FLAM_VARINT_MAX];
  gsize used = flam_varint_put (head, field << 3 | 2);

  used += flam_varint_put (head + used, length);
  flam_sink_put_len (out, head, used);
}

static void
put_resource (Writer *writer, FlamProcessId process)
{
  const FlamPart *part = writer->part;
  g_autoptr (GString) resource = g_string_new (NULL);
  g_autoptr (GString) scope = g_string_new (NULL);
  gsize empty;

  put_scope_name (scope);
  empty = scope->len;
  put_profile (writer, part->measure, process, scope);
  for (guint m = 0; m < part->profile->n_measures; m++)
    if (m != part->measure)
      put_profile (writer, m, process, scope);
  if (scope->len == empty)
    return;
  put_process (writer, process, resource);
  flam_proto_put_varint (resource, 2 << 3 | 2);
  flam_proto_put_varint (resource, scope->len);
  put_head (writer->out, 1, resource->len + scope->len);
  flam_sink_put_len (writer->out, resource->str, resource->len);
  flam_sink_put_len (writer->out, scope->str, scope->len);
}

/* --- code ----------------------------------------------------------------- */

static guint64
put_mapping (Writer *writer, FlamModuleId module)
{
  const FlamModules *modules = &writer->part->profile->modules;
  const char *path, *build_id;
  g_autoptr (GString) mapping = NULL;
  g_autoptr (GString) rows = NULL;

  if (module == FLAM_NONE)
    return 0;
  path = flam_profile_string (writer->part->profile, modules->path[module]);
  build_id =
      flam_profile_string (writer->part->profile, modules->build_id[module]);
  mapping = g_string_new (NULL);
  rows = g_string_new (NULL);
  flam_proto_put_number (mapping,
                         4,
                         *path != '\0'
                             ? put_text (writer, path)
                             : put_string (writer, modules->name[module]));
  if (*build_id != '\0')
    {
      add_attribute (writer, rows, "process.executable.build_id.gnu", build_id);
      flam_proto_put_bytes (mapping, 5, rows->str, rows->len);
    }
  return put_row (writer, MAPPINGS, mapping->str, mapping->len);
}

/* A line's file may be another than its function's: then it is that of another
 * function of the same name. */
static guint64
put_function (Writer *writer, FlamFrameId frame)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamFunctions *functions = &profile->functions;
  FlamId id = profile->frames.function[frame];
  FlamStringId file = profile->frames.file[frame];

  g_string_truncate (writer->value, 0);
  flam_proto_put_number (
      writer->value, 1, put_string (writer, functions->name[id]));
  flam_proto_put_number (
      writer->value, 2, put_string (writer, functions->system_name[id]));
  flam_proto_put_number (
      writer->value,
      3,
      put_string (writer, file != 0 ? file : functions->file[id]));
  flam_proto_put_number (writer->value, 4, functions->line[id]);
  return put_row (writer, FUNCTIONS, writer->value->str, writer->value->len);
}

static const char *
language_of (const char *file)
{
  static const char *const languages[][2] = {
    { ".py", "cpython" }, { ".js", "v8js" },   { ".mjs", "v8js" },
    { ".ts", "v8js" },    { ".rb", "ruby" },   { ".php", "php" },
    { ".pl", "perl" },    { ".pm", "perl" },   { ".java", "jvm" },
    { ".kt", "jvm" },     { ".scala", "jvm" }, { ".cs", "dotnet" },
    { ".erl", "beam" },   { ".ex", "beam" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (languages); i++)
    if (g_str_has_suffix (file, languages[i][0]))
      return languages[i][1];
  return NULL;
}

/* The kind of code, by OpenTelemetry's names; NULL: it has none for it. */
static const char *
frame_type (const FlamProfile *profile, FlamFrameId frame)
{
  FlamFunctionId function = profile->frames.function[frame];

  switch ((FlamFunctionKind)profile->functions.kind[function])
    {
    case FLAM_KIND_KERNEL:
      return "kernel";
    case FLAM_KIND_NATIVE:
    case FLAM_KIND_UNRESOLVED:
      return profile->functions.module[function] != FLAM_NONE ? "native" : NULL;
    case FLAM_KIND_JIT:
    case FLAM_KIND_INTERPRETED:
      return language_of (
          flam_profile_string (profile, profile->functions.file[function]));
    default:
      return NULL;
    }
}

/* From the file's segments alone, a reader cannot tell which offset an address
 * stands for. */
static guint64
address_of (const FlamProfile *profile, FlamFrameId frame, FlamModuleId module)
{
  return module != FLAM_NONE &&
                 profile->modules.addressing[module] == FLAM_ADDRESS_VADDR
             ? 0
             : profile->frames.address[frame];
}

static guint64
put_location (Writer *writer, FlamStackId stack)
{
  const FlamProfile *profile = writer->part->profile;
  FlamFrameId leaf = profile->stacks.frame[stack];
  FlamModuleId module =
      profile->functions.module[profile->frames.function[leaf]];
  const char *type = frame_type (profile, leaf);
  gboolean more = TRUE;

  g_string_truncate (writer->message, 0);
  flam_proto_put_number (writer->message, 1, put_mapping (writer, module));
  flam_proto_put_number (
      writer->message, 2, address_of (profile, leaf, module));
  for (FlamId s = stack; more; s = profile->stacks.prefix[s])
    {
      FlamFrameId frame = profile->stacks.frame[s];

      g_string_truncate (writer->inner, 0);
      flam_proto_put_number (writer->inner, 1, put_function (writer, frame));
      flam_proto_put_number (writer->inner, 2, profile->frames.line[frame]);
      flam_proto_put_bytes (
          writer->message, 3, writer->inner->str, writer->inner->len);
      more = flam_export_is_inlined (profile, s);
    }
  if (type != NULL)
    {
      g_string_truncate (writer->inner, 0);
      add_attribute (writer, writer->inner, "profile.frame.type", type);
      flam_proto_put_bytes (
          writer->message, 4, writer->inner->str, writer->inner->len);
    }
  return put_row (
      writer, LOCATIONS, writer->message->str, writer->message->len);
}

/* --- the dictionary ------------------------------------------------------- */

static guint
varint_size (guint64 value)
{
  guint8 bytes[FLAM_VARINT_MAX];

  return (guint)flam_varint_put (bytes, value);
}

/* Adds the locations of the stacks that are used: `rows` has the row of each.
 * `sizes` has the bytes of each stack's list of rows; 0: it is not used. */
static void
put_locations (Writer *writer, guint32 *rows, guint32 *sizes)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamLocations *locations = &writer->locations;

  for (guint i = 0; i < writer->stacks->len; i++)
    for (FlamStackId s = g_array_index (writer->stacks, FlamStackId, i);
         s != FLAM_NONE && sizes[s] == 0;
         s = flam_locations_caller (profile, s))
      {
        guint32 location = locations->of[s] - 1;

        if (rows[location] == 0)
          rows[location] = (guint32)put_location (
              writer, g_array_index (locations->first, FlamStackId, location));
        sizes[s] = varint_size (rows[location]);
      }
  for (FlamId s = 0; s < profile->stacks.n; s++)
    if (sizes[s] != 0)
      {
        FlamStackId caller = flam_locations_caller (profile, s);
        sizes[s] += caller != FLAM_NONE ? sizes[caller] : 0;
      }
}

static gsize
field_size (guint field, gsize length)
{
  return varint_size (field << 3 | 2) + varint_size (length) + length;
}

static void
put_stack (Writer *writer, FlamStackId stack, const guint32 *rows, guint32 size)
{
  put_head (writer->out, STACKS, field_size (1, size));
  put_head (writer->out, 1, size);
  for (; stack != FLAM_NONE;
       stack = flam_locations_caller (writer->part->profile, stack))
    {
      guint8 bytes[FLAM_VARINT_MAX];
      guint32 row = rows[writer->locations.of[stack] - 1];

      flam_sink_put_len (writer->out, bytes, flam_varint_put (bytes, row));
    }
}

static void
put_dictionary (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  g_autofree guint32 *rows = g_new0 (guint32, writer->locations.first->len + 1);
  g_autofree guint32 *sizes = g_new0 (guint32, profile->stacks.n + 1);
  gsize length = field_size (STACKS, 0);

  put_locations (writer, rows, sizes);
  for (guint field = MAPPINGS; field < STACKS; field++)
    length += writer->tables[field].message->len;
  for (guint i = 0; i < writer->stacks->len; i++)
    {
      FlamStackId stack = g_array_index (writer->stacks, FlamStackId, i);
      length += field_size (STACKS, field_size (1, sizes[stack]));
    }
  put_head (writer->out, 2, length);
  for (guint field = MAPPINGS; field < STACKS; field++)
    flam_sink_put_len (writer->out,
                       writer->tables[field].message->str,
                       writer->tables[field].message->len);
  put_head (writer->out, STACKS, 0);
  for (guint i = 0;
       i < writer->stacks->len && !flam_sink_is_broken (writer->out);
       i++)
    {
      FlamStackId stack = g_array_index (writer->stacks, FlamStackId, i);
      put_stack (writer, stack, rows, sizes[stack]);
    }
}

/* --- the exporter --------------------------------------------------------- */

/* A link's first row has the lengths that readers expect. */
static void
add_table (FlamExport *export, Writer *writer, Field field)
{
  static const guint8 link[] = { 1 << 3 | 2, 16, 0, 0, 0,          0, 0,
                                 0,          0,  0, 0, 0,          0, 0,
                                 0,          0,  0, 0, 2 << 3 | 2, 8, 0,
                                 0,          0,  0, 0, 0,          0, 0 };
  Table *table = &writer->tables[field];

  table->rows = flam_arena_keep (
      export,
      g_hash_table_new_full (
          g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL),
      g_hash_table_unref);
  table->message = flam_arena_string (export);
  flam_proto_put_bytes (
      table->message, field, link, field == LINKS ? sizeof link : 0);
}

static void
find_label_sets (Writer *writer, FlamExport *export)
{
  const FlamSampleLabels *labels = &writer->part->profile->labels;

  writer->label_starts =
      flam_arena_vector (export, guint32, writer->part->n_label_sets + 2);
  for (guint32 i = labels->n; i-- > 0;)
    writer->label_starts[labels->set[i]] = i;
}

static gboolean
save (FlamExport *export, GError **error)
{
  const FlamProfile *profile = export->part->profile;
  Writer writer = { .part = export->part,
                    .options = export->options,
                    .out = export->out,
                    .start = profile->facts.start_unix_ns > 0
                                 ? profile->facts.start_unix_ns
                                 : export->options->start_unix_ns };

  for (guint field = MAPPINGS; field < STACKS; field++)
    add_table (export, &writer, field);
  writer.stacks = flam_arena_array (export, FlamStackId);
  writer.stack_rows =
      flam_arena_vector (export, guint32, profile->stacks.n + 1);
  writer.folders =
      flam_arena_keep (export, flam_profile_working_folders (profile), g_free);
  writer.message = flam_arena_string (export);
  writer.inner = flam_arena_string (export);
  writer.value = flam_arena_string (export);
  find_label_sets (&writer, export);
  flam_locations_init (&writer.locations, profile);
  for (FlamId i = 0; i < MAX (profile->processes.n, 1); i++)
    if (!flam_sink_is_broken (writer.out))
      put_resource (&writer, i);
  put_dictionary (&writer);
  flam_locations_clear (&writer.locations);
  return TRUE;
}

/* Without a start no process has times, and only its number distinguishes it
 * from others. */
static guint
lacks (const FlamProfile *profile)
{
  guint n = 0;

  for (FlamId i = 0; i < profile->processes.n; i++)
    n += profile->processes.pid[i] <= 0;
  return (n > 1 ? FLAM_HOLDS_PROCESSES : 0) |
         (profile->facts.start_unix_ns <= 0
              ? FLAM_HOLDS_ORDER | FLAM_HOLDS_TIMES
              : 0);
}

const FlamExporter flam_export_otlp = {
  .id = "otlp",
  .label = "OpenTelemetry",
  .suffix = "otlp",
  .mime_type = "application/x-otlp-profiles",
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES | FLAM_HOLDS_ORDER |
           FLAM_HOLDS_TIMES | FLAM_HOLDS_MEASURES | FLAM_HOLDS_FILES |
           FLAM_HOLDS_LINES | FLAM_HOLDS_INLINES | FLAM_HOLDS_MODULES |
           FLAM_HOLDS_LABELS,
  .lacks = lacks,
  .puts = FLAM_PUTS_PART,
  .save = save,
};
