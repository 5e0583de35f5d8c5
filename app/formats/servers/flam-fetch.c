/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-fetch.h"

#include "flam-clickhouse.h"
#include "flam-history-store.h"
#include "flam-json.h"
#include "flam-kept-files.h"
#include "flam-proto-write.h"
#include "flam-proto.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_FILES 32
/* Bytes of a name before its time. */
#define LONGEST_LABELS 120

/* Profile types by one word, which stands for Pyroscope's and Parca's names of
 * the types of Go's and the eBPF profilers. */
static const struct
{
  const char *word, *pyroscope, *parca;
} types[] = {
  { "cpu",
    "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
    "parca_agent:samples:count:cpu:nanoseconds:delta" },
  { "memory",
    "memory:inuse_space:bytes:space:bytes",
    "memory:inuse_space:bytes:space:bytes" },
  { "alloc",
    "memory:alloc_space:bytes:space:bytes",
    "memory:alloc_space:bytes:space:bytes" },
  { "goroutine",
    "goroutines:goroutine:count:goroutine:count",
    "goroutine:goroutine:count:goroutine:count" },
  { "mutex",
    "mutex:delay:nanoseconds:contentions:count",
    "mutex:delay:nanoseconds:contentions:count" },
  { "block",
    "block:delay:nanoseconds:contentions:count",
    "block:delay:nanoseconds:contentions:count" },
  { "wall",
    "wall:wall:nanoseconds:wall:nanoseconds",
    "parca_agent:wallclock:nanoseconds:samples:count:delta" },
};

/* NULL with an error: unknown. */
static const char *
find_type (const FlamLocation *location, GError **error)
{
  const char *word = flam_location_word (location, "type");
  gboolean parca = location->kind == FLAM_LOCATION_PARCA;

  if (word == NULL)
    word = "cpu";
  if (strchr (word, ':') != NULL)
    return word;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (types[i].word, word) == 0)
      return parca ? types[i].parca : types[i].pyroscope;
  flam_location_error (
      location,
      error,
      N_ ("type=%s is unknown; expected cpu, memory, alloc, goroutine, mutex, "
          "block, wall, or a full name with colons"),
      word);
  return NULL;
}

/* TYPE{LABELS}, as both write a query; NULL with an error. `*type` has its part
 * before the brace. */
static char *
find_query (const FlamLocation *location, char **type, GError **error)
{
  const char *query = flam_location_word (location, "query");
  g_autoptr (GString) selector = NULL;
  const char *known;

  if (query != NULL)
    {
      *type = g_strndup (query, strcspn (query, "{"));
      return g_strdup (query[strlen (*type)] != '\0' ? query + strlen (*type)
                                                     : "{}");
    }
  known = find_type (location, error);
  if (known == NULL)
    return NULL;
  *type = g_strdup (known);
  selector = flam_location_selector (location);
  return g_string_free (g_steal_pointer (&selector), FALSE);
}

/* --- requests ------------------------------------------------------------- */

static gboolean
get_document (const FlamLocation *location,
              const FlamServerOptions *options,
              FlamSpool *into,
              GError **error)
{
  g_autofree char *query = location->query != NULL
                               ? g_strconcat ("?", location->query, NULL)
                               : g_strdup ("");
  const FlamServerRequest request = { .path = query };

  return flam_server_send (location, &request, options, into, error);
}

/* SelectMergeProfileRequest: 1 type, 2 labels, 3 start, 4 end (ms). The answer
 * is a pprof profile with everything that is stored. Source of facts:
 * Pyroscope, api/querier/v1/querier.proto. */
static gboolean
get_from_pyroscope (const FlamLocation *location,
                    const FlamServerOptions *options,
                    FlamSpool *into,
                    GError **error)
{
  g_autofree char *type = NULL;
  g_autofree char *labels = find_query (location, &type, error);
  const char *tenant = flam_location_word (location, "tenant");
  const char *const headers[] = { tenant != NULL ? "X-Scope-OrgID" : NULL,
                                  tenant,
                                  NULL };
  g_autoptr (GString) message = NULL;
  g_autoptr (GBytes) body = NULL;
  FlamServerRequest request = {
    .path = "/querier.v1.QuerierService/SelectMergeProfile",
    .headers = headers,
    .body_type = "application/proto",
  };

  if (labels == NULL)
    return FALSE;
  message = g_string_new (NULL);
  flam_proto_put_bytes (message, 1, type, strlen (type));
  flam_proto_put_bytes (message, 2, labels, strlen (labels));
  flam_proto_put_number (message, 3, (guint64)location->from);
  flam_proto_put_number (message, 4, (guint64)location->to);
  request.body = body = g_bytes_new (message->str, message->len);
  return flam_server_send (location, &request, options, into, error);
}

/* "2026-11-27T10:30:00.000Z"; g_free. */
static char *
format_time (gint64 ms)
{
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_utc (ms / 1000);
  g_autofree char *text = date != NULL
                              ? g_date_time_format (date, "%Y-%m-%dT%H:%M:%S")
                              : g_strdup ("");

  return g_strdup_printf ("%s.%03dZ", text, (int)(ms % 1000));
}

static void
add_parameter (GString *path, const char *key, const char *value)
{
  g_autofree char *encoded = g_uri_escape_string (value, NULL, FALSE);

  g_string_append_printf (
      path, "%c%s=%s", strchr (path->str, '?') ? '&' : '?', key, encoded);
}

/* Parca's answer is JSON with a pprof profile in Base64 in it. */
static gboolean
take_pprof (const FlamLocation *location,
            const FlamSpool *answer,
            FlamSpool *into,
            GError **error)
{
  g_auto (FlamJson) json = { 0 };
  g_autofree guchar *bytes = NULL;
  gsize length = 0;

  flam_json_open (&json, answer->base, answer->size);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "pprof") && bytes == NULL)
      bytes = g_base64_decode (flam_json_get_string (&json, NULL), &length);
  if (bytes == NULL || json.token == FLAM_JSON_ERROR)
    return flam_location_error (
        location, error, N_ ("the answer is not in Parca's format"));
  return flam_spool_append (into, bytes, length, error) &&
         flam_spool_seal (into, error);
}

/* Source of facts: Parca, proto/parca/query/v1alpha1/query.proto, and its HTTP
 * gateway. */
static gboolean
get_from_parca (const FlamLocation *location,
                const FlamServerOptions *options,
                FlamSpool *into,
                GError **error)
{
  g_autofree char *type = NULL;
  g_autofree char *labels = find_query (location, &type, error);
  g_autofree char *query = NULL;
  g_autofree char *from = format_time (location->from);
  g_autofree char *to = format_time (location->to);
  g_autoptr (GString) path = g_string_new ("/api/profiles/query");
  FlamServerRequest request = { NULL };
  FlamSpool answer;
  gboolean done;

  if (labels == NULL)
    return FALSE;
  query = g_strconcat (type, labels, NULL);
  add_parameter (path, "mode", "MODE_MERGE");
  add_parameter (path, "merge.query", query);
  add_parameter (path, "merge.start", from);
  add_parameter (path, "merge.end", to);
  add_parameter (path, "report_type", "REPORT_TYPE_PPROF");
  request.path = path->str;
  if (!flam_spool_init (&answer, error))
    return FALSE;
  done = flam_server_send (location, &request, options, &answer, error) &&
         take_pprof (location, &answer, into, error);
  flam_spool_clear (&answer);
  return done;
}

static gboolean
get (const FlamLocation *location,
     const FlamServerOptions *options,
     FlamSpool *into,
     GError **error)
{
  switch (location->kind)
    {
    case FLAM_LOCATION_FILE:
      return get_document (location, options, into, error);
    case FLAM_LOCATION_PYROSCOPE:
      return get_from_pyroscope (location, options, into, error);
    case FLAM_LOCATION_PARCA:
      return get_from_parca (location, options, into, error);
    case FLAM_LOCATION_OTLP:
    case FLAM_LOCATION_CLICKHOUSE: /* has rows, not a document */
      break;
    }
  return flam_location_error (location,
                              error,
                              N_ ("OTLP servers only receive profiles; none "
                                  "can be read back from them"));
}

/* --- the answer ----------------------------------------------------------- */

static gboolean
is_store (const FlamLocation *location)
{
  return location->kind != FLAM_LOCATION_FILE;
}

static gboolean
refuse_nothing (const FlamLocation *location, GError **error)
{
  return flam_location_error (
      location,
      error,
      is_store (location) ? N_ ("the server has no such profile in this range")
                          : N_ ("the answer is empty"));
}

/* Samples are field 2 of a pprof profile. If the bytes are not one, the
 * importer reports that. */
static gboolean
has_samples (const FlamSource *source)
{
  FlamProto message = flam_proto_init (source->data, source->size);

  while (flam_proto_next (&message))
    if (message.number == 2)
      return TRUE;
  return message.bad;
}

/* A store that has nothing answers with nothing or a profile without
 * samples. */
static FlamSource *
fetch (const FlamLocation *location,
       const FlamServerOptions *options,
       GError **error)
{
  g_autoptr (FlamSource) source = NULL;
  FlamSpool spool;

  if (!flam_spool_init (&spool, error))
    return NULL;
  if (get (location, options, &spool, error) &&
      (spool.size > 0 || refuse_nothing (location, error)))
    source = flam_source_new_from_spool (
        location->text, location->name, &spool, options->progress, error);
  flam_spool_clear (&spool);
  if (source != NULL && is_store (location) && !has_samples (source))
    {
      refuse_nothing (location, error);
      return NULL;
    }
  return g_steal_pointer (&source);
}

FlamProfile *
flam_fetch_profile (const FlamLocation *location,
                    const FlamServerOptions *server,
                    const FlamLoadOptions *load,
                    GError **error)
{
  g_autoptr (FlamSource) source = NULL;

  if (location->kind == FLAM_LOCATION_CLICKHOUSE)
    return flam_clickhouse_profile (location, server, load, error);
  source = fetch (location, server, error);
  return source != NULL ? flam_formats_load_source (source, load, error) : NULL;
}

/* --- files ---------------------------------------------------------------- */

static void
remove_oldest (const char *folder)
{
  g_autoptr (GArray) kept = flam_kept_files (folder, "");

  for (guint i = MOST_FILES; i < kept->len; i++)
    g_unlink (g_array_index (kept, FlamKeptFile, i).path);
}

static char *
time_text (gint64 ms, const char *format)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_local (ms / 1000);

  return time != NULL ? g_date_time_format (time, format) : g_strdup ("?");
}

/* " 2026-11-27 09.30.00 – 10.30.00" */
static void
add_range (GString *name, const FlamLocation *location)
{
  g_autofree char *day = time_text (location->from, "%Y-%m-%d");
  g_autofree char *last_day = time_text (location->to, "%Y-%m-%d");
  g_autofree char *from = time_text (location->from, "%H.%M.%S");
  g_autofree char *to = time_text (location->to, "%H.%M.%S");
  gboolean same = strcmp (day, last_day) == 0;

  g_string_append_printf (name,
                          " %s %s – %s%s%s",
                          day,
                          from,
                          same ? "" : last_day,
                          same ? "" : " ",
                          to);
}

/* What two queries of one service differ in: " commit=4a5b type=cpu" */
static void
add_labels (GString *name, const FlamLocation *location)
{
  for (guint i = 0; i + 1 < location->words->len && name->len < LONGEST_LABELS;
       i += 2)
    {
      const char *key = location->words->pdata[i];

      if (flam_location_is_label (key) || strcmp (key, "type") == 0)
        g_string_append_printf (
            name, " %s=%s", key, (const char *)location->words->pdata[i + 1]);
    }
}

/* "profile 127.0.0.1:6060 2026-11-27 10.30.05": the content, where it is from
 * and when; of a store, what was asked for, and the range, or when if that is
 * `all` times. It is also the title of the capture. */
static char *
name_file (const FlamLocation *location, const char *folder, gboolean all)
{
  g_autofree char *now =
      time_text (g_get_real_time () / 1000, "%Y-%m-%d %H.%M.%S");
  GString *name = g_string_new (location->name);
  g_autofree char *path = NULL;

  if (is_store (location))
    {
      add_labels (name, location);
      if (name->len > LONGEST_LABELS)
        g_string_truncate (
            name,
            (gsize)(g_utf8_find_prev_char (name->str,
                                           name->str + LONGEST_LABELS + 1) -
                    name->str));
      if (all)
        g_string_append_printf (name, " %s", now);
      else
        add_range (name, location);
    }
  else
    g_string_append_printf (name, " %.60s %s", location->server, now);
  g_strdelimit (name->str, "/\n", '_');
  path = g_build_filename (folder, name->str, NULL);
  g_string_free (name, TRUE);
  return g_steal_pointer (&path);
}

/* The sums of ClickHouse, as a capture of Flambeau. */
static gboolean
save_profile (const FlamLocation *location,
              const FlamServerOptions *options,
              const char *path,
              GError **error)
{
  static const FlamExportOptions as = { .root = FLAM_ROOT_NONE };
  g_autoptr (FlamProfile) profile =
      flam_clickhouse_profile (location, options, NULL, error);
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamSink) sink = NULL;

  if (profile == NULL)
    return FALSE;
  sink = flam_sink_new_for_file (path, TRUE, error);
  return sink != NULL &&
         flam_exporter_save (
             flam_exporter_find ("flambeau"), profile, all, &as, sink, error) &&
         flam_sink_finish (sink, error);
}

/* The document of the server, unpacked. */
static gboolean
save_document (const FlamLocation *location,
               const FlamServerOptions *options,
               const char *path,
               GError **error)
{
  g_autoptr (FlamSource) source = fetch (location, options, error);

  return source != NULL &&
         g_file_set_contents_full (path,
                                   (const char *)source->data,
                                   (gssize)source->size,
                                   G_FILE_SET_CONTENTS_CONSISTENT,
                                   0600,
                                   error);
}

/* The figures of its runs, as `flambeau-cli history --store` writes them. */
static gboolean
save_history (const FlamLocation *location,
              const FlamServerOptions *options,
              const char *path,
              GError **error)
{
  g_autoptr (GPtrArray) runs =
      flam_clickhouse_runs (location, NULL, NULL, options, error);
  g_autoptr (FlamHistoryStore) store = NULL;

  if (runs == NULL)
    return FALSE;
  g_unlink (path);
  store = flam_history_store_open (path, TRUE, error);
  return store != NULL && flam_history_store_append_all (store, runs, error);
}

static char *
save (const FlamLocation *location,
      const FlamServerOptions *options,
      gboolean (*save_as) (const FlamLocation *location,
                           const FlamServerOptions *options,
                           const char *path,
                           GError **error),
      gboolean runs,
      GError **error)
{
  g_autofree char *folder =
      g_build_filename (g_get_user_cache_dir (), "flambeau", "locations", NULL);
  g_autofree char *name =
      name_file (location, folder, runs && !location->has_range);
  g_autofree char *path = g_strconcat (name, runs ? ".sqlite" : "", NULL);

  g_mkdir_with_parents (folder, 0700);
  if (!save_as (location, options, path, error))
    return NULL;
  remove_oldest (folder);
  return g_steal_pointer (&path);
}

char *
flam_fetch_file (const FlamLocation *location,
                 const FlamServerOptions *options,
                 GError **error)
{
  return save (location,
               options,
               location->kind == FLAM_LOCATION_CLICKHOUSE ? save_profile
                                                          : save_document,
               FALSE,
               error);
}

char *
flam_fetch_history (const FlamLocation *location,
                    const FlamServerOptions *options,
                    GError **error)
{
  if (location->kind == FLAM_LOCATION_CLICKHOUSE)
    return save (location, options, save_history, TRUE, error);
  flam_location_error (
      location, error, N_ ("only a ClickHouse has a history of runs"));
  return NULL;
}
