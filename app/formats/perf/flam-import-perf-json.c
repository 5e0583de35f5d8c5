/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-json.h"

#include <string.h>

/* The output of `perf data convert --to-json`:
 *
 *    {"linux-perf-json-version":1,
 *     "headers":{"cmdline":["perf","record",…],…},
 *     "samples":[{"timestamp":ns,"pid":1,"tid":2,"comm":"cat","cpu":0,
 *        "callchain":[{"ip":"0x7f…","symbol":"read","dso":"libc.so.6"},…]},…]}
 *
 * with the leaf first. Events have no names there, and samples no period.
 * Source of facts: Linux, tools/perf/util/data-convert-json.c. */

typedef struct
{
  FlamBuilder *builder;
  FlamJson *json;
  GArray *frames; /* FlamId: of one sample, leaf first */
  guint64 samples;
  gboolean found;
} Reader;

/* --- frames -------------------------------------------------------------- */

static FlamFrameId
make_frame (Reader *reader, guint64 ip, FlamId symbol, const char *dso)
{
  FlamFunction function = { .name = symbol,
                            .module = FLAM_NONE,
                            .kind = g_str_has_prefix (dso, "[kernel") ||
                                            g_str_has_prefix (dso, "[guest")
                                        ? FLAM_KIND_KERNEL
                                        : FLAM_KIND_NATIVE };

  if (*dso != '\0')
    {
      function.module =
          flam_builder_module (reader->builder, dso, "", FLAM_ADDRESS_ABSOLUTE);
      flam_builder_set_module_symbols (
          reader->builder, function.module, FLAM_SYMBOLS_CAPTURE, NULL);
    }
  return flam_builder_frame_of (reader->builder, &function, ip, 0, 0);
}

static FlamFrameId
read_frame (Reader *reader)
{
  FlamJson *json = reader->json;
  g_autofree char *dso = NULL;
  FlamId symbol = 0;
  guint64 ip = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "ip"))
      ip = g_ascii_strtoull (flam_json_get_string (json, NULL), NULL, 16);
    else if (flam_json_key_is (json, "symbol"))
      symbol = flam_json_intern (json, reader->builder);
    else if (flam_json_key_is (json, "dso"))
      {
        g_free (dso);
        dso = g_strdup (flam_json_get_string (json, NULL));
      }
  return make_frame (reader, ip, symbol, dso != NULL ? dso : "");
}

static void
read_chain (Reader *reader)
{
  FlamJson *json = reader->json;

  g_array_set_size (reader->frames, 0);
  flam_json_each (json)
    {
      FlamFrameId frame = read_frame (reader);
      g_array_append_val (reader->frames, frame);
    }
}

/* --- samples ------------------------------------------------------------- */

static void
add_sample (
    Reader *reader, gint64 pid, gint64 tid, gint64 time, const char *comm)
{
  FlamProcessId process =
      flam_builder_process (reader->builder, CLAMP (pid, -1, G_MAXINT32), 0);
  FlamSample sample = {
    .thread = flam_builder_thread (
        reader->builder, process, CLAMP (tid, -1, G_MAXINT32), 0),
    .stack = flam_load_stack (reader->builder, reader->frames),
    .time = flam_builder_limit (reader->builder, time, 0, G_MAXINT64 / 4, NULL),
  };
  gint64 one = 1;

  if (comm != NULL)
    flam_builder_rename_thread (
        reader->builder, sample.thread, sample.time, comm);
  if (comm != NULL && pid == tid)
    flam_builder_rename_process (reader->builder, process, sample.time, comm);
  flam_builder_add_sample (reader->builder, &sample, &one);
  reader->samples++;
}

static void
read_sample (Reader *reader)
{
  FlamJson *json = reader->json;
  g_autofree char *comm = NULL;
  gint64 pid = -1, tid = -1, time = 0;

  g_array_set_size (reader->frames, 0);
  flam_json_each (json)
    if (flam_json_key_is (json, "timestamp"))
      time = flam_json_get_int (json);
    else if (flam_json_key_is (json, "pid"))
      pid = flam_json_get_int (json);
    else if (flam_json_key_is (json, "tid"))
      tid = flam_json_get_int (json);
    else if (flam_json_key_is (json, "comm"))
      {
        g_free (comm);
        comm = g_strdup (flam_json_get_string (json, NULL));
      }
    else if (flam_json_key_is (json, "callchain"))
      read_chain (reader);
  add_sample (reader, pid, tid, time, comm);
}

static void
read_samples (Reader *reader)
{
  reader->found = TRUE;
  flam_json_each (reader->json)
    if (reader->json->token == FLAM_JSON_OBJECT)
      read_sample (reader);
}

static void
read_headers (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    if (flam_json_key_is (json, "cmdline"))
      {
        g_autoptr (GString) command = g_string_new (NULL);
        flam_json_each (json)
          g_string_append_printf (command,
                                  "%s%s",
                                  command->len > 0 ? " " : "",
                                  flam_json_get_string (json, NULL));
        flam_builder_set_command (reader->builder, command->str);
      }
}

/* --- the importer -------------------------------------------------------- */

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamJson *json = flam_json_load (load, NULL);
  Reader reader = { .builder = load->builder,
                    .json = json,
                    .frames = flam_arena_array (load, FlamId) };

  flam_load_measures (load->builder, FLAM_STANDARD_SAMPLES);
  flam_builder_set_has_times (load->builder);
  flam_json_each (json)
    if (flam_json_key_is (json, "headers"))
      read_headers (&reader);
    else if (flam_json_key_is (json, "samples"))
      read_samples (&reader);
  if (!flam_json_end (json, load, reader.samples > 0, error))
    return FALSE;
  return reader.found ||
         flam_source_invalid (
             load->source,
             error,
             N_ ("this output of perf data convert has no list of samples"));
}

const FlamImporter flam_import_perf_json = {
  .id = "perf-json",
  .label = "perf data convert",
  .written_by = "perf data convert --to-json",
  .suffixes = FLAM_LIST (".perf.json", ".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (100, "linux-perf-json-version")),
  .load = load,
};
