/* SPDX-License-Identifier: GPL-3.0-or-later */

/* pprof's profile.proto; the fields are drawn in flam-import-pprof.c. Every
 * measure is a sample type. A location is an address with all frames inlined
 * there, a sample the sum of one thread, stack and labels: pprof has no order
 * in time. Uncompressed, which every pprof reads. */

#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-locations.h"
#include "flam-part.h"
#include "flam-proto-write.h"

#include <string.h>

typedef struct
{
  const FlamPart *part;
  const FlamExportOptions *options;
  FlamSink *out;
  GHashTable *strings; /* text -> index */
  GPtrArray *texts;
  FlamLocations locations;
  GString *message, *inner;
} Writer;

static guint64
intern (Writer *writer, const char *text)
{
  gpointer index;

  if (!g_hash_table_lookup_extended (writer->strings, text, NULL, &index))
    {
      index = GUINT_TO_POINTER (writer->texts->len);
      g_ptr_array_add (writer->texts, (gpointer)text);
      g_hash_table_insert (writer->strings, (gpointer)text, index);
    }
  return GPOINTER_TO_UINT (index);
}

static guint64
intern_id (Writer *writer, FlamStringId string)
{
  return intern (writer, flam_profile_string (writer->part->profile, string));
}

static void
put_field (FlamSink *out, guint number, const void *bytes, gsize length)
{
  guint8 head[2 * FLAM_VARINT_MAX];
  gsize used = flam_varint_put (head, number << 3 | 2);

  used += flam_varint_put (head + used, length);
  flam_sink_put_len (out, head, used);
  flam_sink_put_len (out, bytes, length);
}

static void
put_number (FlamSink *out, guint number, guint64 value)
{
  guint8 bytes[2 * FLAM_VARINT_MAX];
  gsize used = flam_varint_put (bytes, number << 3);

  used += flam_varint_put (bytes + used, value);
  if (value != 0)
    flam_sink_put_len (out, bytes, used);
}

/* Writes the content of `message`, and empties it. */
static void
put_message (Writer *writer, guint number)
{
  put_field (writer->out, number, writer->message->str, writer->message->len);
  g_string_truncate (writer->message, 0);
}

static const char *
name_of (const Writer *writer, const FlamMeasure *measure)
{
  return flam_export_measure_name (
      writer->part->profile, measure, writer->options->common_names);
}

static void
put_type (Writer *writer, guint number, const FlamMeasure *measure)
{
  flam_proto_put_number (
      writer->message, 1, intern (writer, name_of (writer, measure)));
  flam_proto_put_number (
      writer->message, 2, intern (writer, flam_export_unit (measure)));
  put_message (writer, number);
}

/* --- code ---------------------------------------------------------------- */

/* pprof assumes that the addresses of an empty mapping are the file's own. */
static void
put_module (Writer *writer, FlamId i)
{
  const FlamModules *modules = &writer->part->profile->modules;
  const char *path =
      flam_profile_string (writer->part->profile, modules->path[i]);
  FlamStringId name = *path != '\0' ? modules->path[i] : modules->name[i];

  flam_proto_put_number (writer->message, 1, i + 1);
  flam_proto_put_number (writer->message, 5, intern_id (writer, name));
  flam_proto_put_number (
      writer->message, 6, intern_id (writer, modules->build_id[i]));
  for (guint field = 7; field <= 10; field++) /* has_… */
    flam_proto_put_number (writer->message, field, 1);
  put_message (writer, 3);
}

/* Whether `module` is the first file of the command line. */
static gboolean
is_command (const FlamProfile *profile, FlamModuleId module)
{
  const char *command = profile->facts.command;
  const char *name =
      flam_profile_string (profile, profile->modules.name[module]);
  gsize length = strcspn (command, " ");
  const char *base = g_strrstr_len (command, (gssize)length, "/");

  base = base != NULL ? base + 1 : command;
  length -= (gsize)(base - command);
  return length > 0 && strlen (name) == length &&
         strncmp (name, base, length) == 0;
}

/* Neither a library nor the kernel. */
static gboolean
is_executable (const FlamProfile *profile, FlamModuleId module)
{
  const char *name =
      flam_profile_string (profile, profile->modules.name[module]);

  return *name != '[' && strstr (name, ".so") == NULL;
}

/* The program's module: that of the command line, or the one with main(), or
 * the first that may be one; FLAM_NONE: none is. */
static FlamId
find_program (const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;

  for (FlamId i = 0; i < profile->modules.n; i++)
    if (is_command (profile, i))
      return i;
  for (FlamId i = 0; i < functions->n; i++)
    {
      const char *name = flam_profile_function_name (profile, i);

      if (functions->module[i] != FLAM_NONE &&
          (strcmp (name, "main") == 0 || strcmp (name, "main.main") == 0))
        return functions->module[i];
    }
  for (FlamId i = 0; i < profile->modules.n; i++)
    if (is_executable (profile, i))
      return i;
  return FLAM_NONE;
}

/* pprof takes the first mapping for the program. */
static void
put_modules (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  FlamId program = find_program (profile);

  if (program != FLAM_NONE)
    put_module (writer, program);
  for (FlamId i = 0; i < profile->modules.n; i++)
    if (i != program)
      put_module (writer, i);
}

/* A line's file may be another than its function's, which pprof cannot express:
 * such a line becomes a separate function. */
static guint64
find_function (Writer *writer, GHashTable *functions, FlamFrameId frame)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamFunctions *table = &profile->functions;
  FlamId id = profile->frames.function[frame];
  FlamStringId file = profile->frames.file[frame];
  guint64 key = (guint64)id << 32 | (file != 0 ? file : table->file[id]);
  gpointer known = g_hash_table_lookup (functions, &key);
  guint64 number = g_hash_table_size (functions) + 1;
  FlamStringId system_name;

  if (known != NULL)
    return GPOINTER_TO_SIZE (known);
  g_hash_table_insert (functions,
                       g_memdup2 (&key, sizeof key),
                       GSIZE_TO_POINTER ((gsize)number));
  system_name =
      table->system_name[id] != 0 ? table->system_name[id] : table->name[id];
  g_string_truncate (writer->inner, 0);
  flam_proto_put_number (writer->inner, 1, number);
  flam_proto_put_number (writer->inner, 2, intern_id (writer, table->name[id]));
  flam_proto_put_number (writer->inner, 3, intern_id (writer, system_name));
  flam_proto_put_number (writer->inner, 4, intern_id (writer, (FlamId)key));
  flam_proto_put_number (writer->inner, 5, table->line[id]);
  put_field (writer->out, 5, writer->inner->str, writer->inner->len);
  return number;
}

static void
put_location (Writer *writer,
              GHashTable *functions,
              FlamStackId stack,
              guint32 number)
{
  const FlamProfile *profile = writer->part->profile;
  FlamId leaf = profile->stacks.frame[stack];
  FlamModuleId module =
      profile->functions.module[profile->frames.function[leaf]];
  g_autoptr (GString) line = g_string_new (NULL);
  gboolean more = TRUE;

  flam_proto_put_number (writer->message, 1, number);
  flam_proto_put_number (
      writer->message, 2, module != FLAM_NONE ? module + 1 : 0);
  flam_proto_put_number (writer->message, 3, profile->frames.address[leaf]);
  for (FlamId s = stack; more; s = profile->stacks.prefix[s])
    {
      FlamFrameId frame = profile->stacks.frame[s];

      g_string_truncate (line, 0);
      flam_proto_put_number (line, 1, find_function (writer, functions, frame));
      flam_proto_put_number (line, 2, profile->frames.line[frame]);
      flam_proto_put_bytes (writer->message, 4, line->str, line->len);
      more = flam_export_is_inlined (profile, s);
    }
  put_message (writer, 4);
}

static void
put_locations (Writer *writer)
{
  const GArray *first = writer->locations.first;
  g_autoptr (GHashTable) functions =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);

  for (guint i = 0; i < first->len; i++)
    put_location (
        writer, functions, g_array_index (first, FlamStackId, i), i + 1);
}

/* --- samples ------------------------------------------------------------- */

static void
put_stack (Writer *writer, FlamStackId stack)
{
  const FlamProfile *profile = writer->part->profile;

  g_string_truncate (writer->inner, 0);
  for (; stack != FLAM_NONE; stack = flam_locations_caller (profile, stack))
    flam_proto_put_varint (writer->inner, writer->locations.of[stack]);
  flam_proto_put_bytes (
      writer->message, 1, writer->inner->str, writer->inner->len);
}

/* `unit` NULL: a text. */
static void
put_label (Writer *writer,
           const char *key,
           const char *text,
           gint64 number,
           const char *unit)
{
  g_string_truncate (writer->inner, 0);
  flam_proto_put_number (writer->inner, 1, intern (writer, key));
  if (unit == NULL)
    flam_proto_put_number (writer->inner, 2, intern (writer, text));
  else
    {
      flam_proto_put_number (writer->inner, 3, (guint64)number);
      flam_proto_put_number (writer->inner, 4, intern (writer, unit));
    }
  flam_proto_put_bytes (
      writer->message, 3, writer->inner->str, writer->inner->len);
}

static void
put_thread (Writer *writer, guint32 lane)
{
  const FlamProfile *profile = writer->part->profile;
  FlamThreadId thread = flam_part_thread (writer->part, lane);
  const char *name;
  gint32 tid, pid;

  if (thread == FLAM_NONE)
    return;
  name = flam_profile_string (profile, profile->threads.name[thread]);
  tid = profile->threads.tid[thread];
  pid = profile->processes.pid[profile->threads.process[thread]];
  if (*name != '\0')
    put_label (writer, "thread_name", name, 0, NULL);
  if (tid >= 0)
    put_label (writer, "thread_id", NULL, tid, "");
  if (pid >= 0)
    put_label (writer, "process_id", NULL, pid, "");
}

static void
put_set (Writer *writer, guint32 set)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamSampleLabels *labels = &profile->labels;

  for (guint32 i = 0; set > 0 && i < labels->n; i++)
    if (labels->set[i] == set)
      put_label (writer,
                 flam_profile_string (profile, labels->key[i]),
                 flam_profile_string (profile, labels->value[i]),
                 labels->number[i],
                 labels->unit[i] != FLAM_NONE
                     ? flam_profile_string (profile, labels->unit[i])
                     : NULL);
}

/* The key of a sample in pprof. */
typedef struct
{
  FlamStackId stack;
  guint32 labels;
} Key;

static void
put_sample (Writer *writer, guint32 lane, Key key, const gint64 *values)
{
  const FlamProfile *profile = writer->part->profile;

  put_stack (writer, key.stack);
  g_string_truncate (writer->inner, 0);
  for (guint m = 0; m < profile->n_measures; m++)
    flam_proto_put_varint (
        writer->inner,
        (guint64)flam_export_whole (&profile->measures[m], values[m]));
  flam_proto_put_bytes (
      writer->message, 2, writer->inner->str, writer->inner->len);
  put_thread (writer, lane);
  put_set (writer, key.labels);
  put_message (writer, 2);
}

static void
put_lane (Writer *writer, guint32 lane)
{
  const FlamProfile *profile = writer->part->profile;
  guint n = profile->n_measures;
  g_autoptr (GHashTable) index =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);
  g_autoptr (GArray) sums = g_array_new (FALSE, TRUE, sizeof (gint64));
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (Key));

  for (guint m = 0; m < n; m++)
    {
      g_auto (FlamPartRows) rows = flam_part_rows (writer->part, m, lane);
      FlamPartRow row;

      while (flam_part_rows_next (&rows, &row))
        {
          Key key = { row.stack, row.labels };
          guint64 both = (guint64)row.stack << 32 | row.labels;
          guint at = GPOINTER_TO_UINT (g_hash_table_lookup (index, &both));

          if (at == 0)
            {
              g_array_append_val (keys, key);
              at = keys->len;
              g_array_set_size (sums, at * n);
              g_hash_table_insert (
                  index, g_memdup2 (&both, sizeof both), GUINT_TO_POINTER (at));
            }
          g_array_index (sums, gint64, (at - 1) * n + m) += row.weight;
        }
    }
  for (guint i = 0; i < keys->len && !flam_sink_is_broken (writer->out); i++)
    put_sample (writer,
                lane,
                g_array_index (keys, Key, i),
                &g_array_index (sums, gint64, i * n));
}

static void
put_profile (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamMeasure *selected = flam_part_measure (writer->part);

  for (guint m = 0; m < profile->n_measures; m++)
    put_type (writer, 1, &profile->measures[m]);
  put_modules (writer);
  put_locations (writer);
  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    put_lane (writer, lane);
  put_number (writer->out,
              9,
              (guint64)(profile->facts.start_unix_ns > 0
                            ? profile->facts.start_unix_ns
                            : writer->options->start_unix_ns));
  put_number (writer->out, 10, (guint64)profile->facts.duration_ns);
  put_type (writer, 11, selected);
  put_number (writer->out, 12, 1);
  put_number (writer->out, 14, intern (writer, name_of (writer, selected)));
  for (guint i = 0; i < writer->texts->len; i++)
    put_field (writer->out,
               6,
               writer->texts->pdata[i],
               strlen (writer->texts->pdata[i]));
}

static gboolean
save (FlamExport *export, GError **error)
{
  Writer writer = { .part = export->part,
                    .options = export->options,
                    .out = export->out };

  writer.strings = flam_arena_table (export, FLAM_KEY_LENT, NULL);
  writer.texts = flam_arena_pointers (export, NULL);
  writer.message = flam_arena_string (export);
  writer.inner = flam_arena_string (export);
  flam_locations_init (&writer.locations, export->part->profile);
  intern (&writer, "");
  put_profile (&writer);
  flam_locations_clear (&writer.locations);
  return TRUE;
}

/* Only its number distinguishes a process from others. */
static guint
lacks (const FlamProfile *profile)
{
  guint n = 0;

  for (FlamId i = 0; i < profile->processes.n; i++)
    n += profile->processes.pid[i] < 0;
  return n > 1 ? FLAM_HOLDS_PROCESSES : 0;
}

const FlamExporter flam_export_pprof = {
  .id = "pprof",
  .label = "pprof",
  .suffix = "pb",
  .mime_type = "application/vnd.google.protobuf",
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES | FLAM_HOLDS_MEASURES |
           FLAM_HOLDS_FILES | FLAM_HOLDS_LINES | FLAM_HOLDS_INLINES |
           FLAM_HOLDS_MODULES | FLAM_HOLDS_LABELS,
  .lacks = lacks,
  .puts = FLAM_PUTS_PART,
  .save = save,
};
