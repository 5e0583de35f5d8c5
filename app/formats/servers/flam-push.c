/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-push.h"

#include "flam-clickhouse.h"
#include "flam-export-common.h"
#include "flam-proto.h"

#include <string.h>

#define BOUNDARY "flambeau-8f3c1d5e7a9b2046"
#define NS_PER_SECOND G_GINT64_CONSTANT (1000000000)

/* --- where to ------------------------------------------------------------- */

/* The kind of server: of plain addresses, by their ends. */
static gboolean
find_kind (const FlamLocation *location,
           FlamLocationKind *kind,
           const char **path)
{
  *kind = location->kind;
  *path = "";
  if (location->kind == FLAM_LOCATION_PYROSCOPE)
    *path = "/ingest";
  else if (location->kind == FLAM_LOCATION_OTLP)
    *path = "/v1development/profiles";
  else if (location->kind == FLAM_LOCATION_CLICKHOUSE)
    return TRUE;
  else if (g_str_has_suffix (location->base, "/ingest"))
    *kind = FLAM_LOCATION_PYROSCOPE;
  else if (g_str_has_suffix (location->base, "/v1development/profiles"))
    *kind = FLAM_LOCATION_OTLP;
  else
    return FALSE;
  return TRUE;
}

gboolean
flam_push_check (const FlamLocation *location, GError **error)
{
  FlamLocationKind kind;
  const char *path;

  return find_kind (location, &kind, &path) ||
         flam_location_error (
             location,
             error,
             N_ ("the kind of server is not clear from this address; expected "
                 "pyroscope+http://…, otlp+http://…, clickhouse://…, or an "
                 "address that ends with /ingest or /v1development/profiles"));
}

/* --- the document --------------------------------------------------------- */

/* A capture without a start ends now. */
static gint64
find_start (const FlamProfile *profile)
{
  return profile->facts.start_unix_ns > 0
             ? profile->facts.start_unix_ns
             : g_get_real_time () * 1000 - profile->facts.duration_ns;
}

/* In memory, packed: servers unpack gzip. */
static GBytes *
make_document (const char *format,
               const FlamProfile *profile,
               const FlamSelection *selection,
               const char *const *labels,
               GError **error)
{
  const FlamExportOptions options = {
    .look.title = "",
    .common_names = TRUE,
    .labels = labels,
    .start_unix_ns = find_start (profile),
  };
  g_autoptr (GZlibCompressor) packer =
      g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1);
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) packed =
      g_converter_output_stream_new (memory, G_CONVERTER (packer));
  g_autoptr (FlamSink) sink = flam_sink_new (packed);

  if (!flam_exporter_save (flam_exporter_find (format),
                           profile,
                           selection,
                           &options,
                           sink,
                           error) ||
      !flam_sink_finish (sink, error) ||
      !g_output_stream_close (packed, NULL, error))
    return NULL;
  return g_memory_output_stream_steal_as_bytes (
      G_MEMORY_OUTPUT_STREAM (memory));
}

/* The location's, or the recorded program, or the first part of the capture's
 * name; g_free. */
static char *
find_service (const FlamLocation *location,
              const FlamProfile *profile,
              const char *path)
{
  const char *service = flam_location_word (location, "service");
  const char *command = profile->facts.command;
  g_autofree char *program = g_strndup (command, strcspn (command, " "));
  char *name;

  if (service != NULL)
    return g_strdup (service);
  name = g_path_get_basename (*program != '\0' ? program : path);
  if (*program == '\0' && *name != '.')
    name[strcspn (name, ".")] = '\0';
  return name;
}

/* --- Pyroscope ------------------------------------------------------------ */

/* It leaves out the sample types that are not described. */
static void
put_types (FlamSink *form, const FlamProfile *profile)
{
  for (guint i = 0; i < profile->n_measures; i++)
    {
      const FlamMeasure *measure = &profile->measures[i];
      const char *unit = measure->unit == FLAM_UNIT_BYTES      ? "bytes"
                         : measure->unit == FLAM_UNIT_NS       ? "nanoseconds"
                         : measure->kind == FLAM_MEASURE_ALLOC ? "objects"
                                                               : "samples";

      flam_sink_put (form, i > 0 ? "," : "{");
      flam_export_json_string (
          form, flam_export_measure_name (profile, measure, TRUE));
      flam_sink_printf (
          form,
          ":{\"units\":\"%s\",\"aggregation\":\"sum\",\"sampled\":false}",
          unit);
    }
  flam_sink_put (form, "}");
}

static void
begin_part (FlamSink *form, const char *name, const char *file)
{
  flam_sink_printf (form,
                    "--" BOUNDARY "\r\nContent-Disposition: form-data; "
                    "name=\"%s\"; filename=\"%s\"\r\n"
                    "Content-Type: application/octet-stream\r\n\r\n",
                    name,
                    file);
}

static GBytes *
make_form (const FlamProfile *profile, GBytes *document)
{
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) form = flam_sink_new (memory);
  gsize length;
  const char *bytes = g_bytes_get_data (document, &length);

  begin_part (form, "profile", "profile.pprof");
  flam_sink_put_len (form, bytes, length);
  flam_sink_put (form, "\r\n");
  begin_part (form, "sample_type_config", "sample_type_config.json");
  put_types (form, profile);
  flam_sink_put (form, "\r\n--" BOUNDARY "--\r\n");
  flam_sink_finish (form, NULL);
  g_output_stream_close (memory, NULL, NULL);
  return g_memory_output_stream_steal_as_bytes (
      G_MEMORY_OUTPUT_STREAM (memory));
}

/* "shop{region=eu}": its own notation, without quotes. */
static char *
name_series (const FlamLocation *location, const char *service)
{
  GString *series = g_string_new (service);
  char separator = '{';

  for (guint i = 0; i + 1 < location->words->len; i += 2)
    if (flam_location_is_label (location->words->pdata[i]))
      {
        g_string_append_printf (series,
                                "%c%s=%s",
                                separator,
                                (char *)location->words->pdata[i],
                                (char *)location->words->pdata[i + 1]);
        separator = ',';
      }
  g_string_append (series, separator == '{' ? "{}" : "}");
  return g_string_free (series, FALSE);
}

/* It answers with nothing; a proxy that asks for a password answers with a
 * page. */
static gboolean
check_pyroscope (const FlamLocation *location,
                 const char *answer,
                 GError **error)
{
  return answer[strspn (answer, " \t\r\n\357\273\277")] != '<' ||
         flam_location_error (location,
                              error,
                              N_ ("the answer is a web page, not Pyroscope's; "
                                  "the capture was not accepted"));
}

static gboolean
push_to_pyroscope (const FlamLocation *location,
                   const char *path,
                   const FlamProfile *profile,
                   const FlamSelection *selection,
                   const char *service,
                   const FlamServerOptions *options,
                   GError **error)
{
  g_autoptr (GBytes) document =
      make_document ("pprof", profile, selection, NULL, error);
  g_autofree char *series = name_series (location, service);
  g_autofree char *encoded = g_uri_escape_string (series, NULL, FALSE);
  gint64 start = find_start (profile);
  const char *tenant = flam_location_word (location, "tenant");
  const char *const headers[] = { tenant != NULL ? "X-Scope-OrgID" : NULL,
                                  tenant,
                                  NULL };
  g_autofree char *whole = g_strdup_printf (
      "%s?name=%s&from=%" G_GINT64_FORMAT "&until=%" G_GINT64_FORMAT
      "&spyName=flambeau",
      path,
      encoded,
      start / NS_PER_SECOND,
      (start + profile->facts.duration_ns + NS_PER_SECOND - 1) / NS_PER_SECOND);
  FlamServerRequest request = {
    .path = whole,
    .headers = headers,
    .body_type = "multipart/form-data; boundary=" BOUNDARY,
  };
  g_autoptr (GBytes) form = NULL;
  g_autofree char *answer = NULL;

  if (document == NULL)
    return FALSE;
  request.body = form = make_form (profile, document);
  answer = flam_server_send_short (location, &request, options, error);
  return answer != NULL && check_pyroscope (location, answer, error);
}

/* --- OTLP ----------------------------------------------------------------- */

/* ExportProfilesServiceResponse: 1 partial success (1 rejected profiles,
 * 2 message). */
static gboolean
read_response (const FlamLocation *location,
               const FlamSpool *answer,
               char **note,
               GError **error)
{
  FlamProto whole = flam_proto_init (answer->base, answer->size);
  FlamProto partial = flam_proto_message_in (whole, 1);
  guint64 rejected = flam_proto_number_in (partial, 1);
  g_autofree char *text = flam_proto_text_in (partial, 2);
  g_autofree char *valid = text != NULL ? g_utf8_make_valid (text, -1) : NULL;

  while (flam_proto_next (&whole))
    ;
  if (whole.bad)
    return flam_location_error (location,
                                error,
                                N_ ("the answer is not an OTLP server's; the "
                                    "capture was not accepted"));
  if (rejected > 0)
    return flam_location_error (
        location,
        error,
        N_ ("the server rejected %" PRIu64 " profiles: %s"),
        rejected,
        valid != NULL ? valid : "?");
  *note = g_steal_pointer (&valid);
  return TRUE;
}

static gboolean
push_to_otlp (const FlamLocation *location,
              const char *path,
              const FlamProfile *profile,
              const FlamSelection *selection,
              const char *service,
              const FlamServerOptions *options,
              char **note,
              GError **error)
{
  static const char *const headers[] = { "Content-Encoding", "gzip", NULL };
  g_autoptr (GPtrArray) labels = g_ptr_array_new ();
  g_autoptr (GBytes) document = NULL;
  FlamServerRequest request = { .path = path,
                                .headers = headers,
                                .body_type = "application/x-protobuf" };
  FlamSpool answer;
  gboolean done;

  g_ptr_array_add (labels, (gpointer) "service.name");
  g_ptr_array_add (labels, (gpointer)service);
  for (guint i = 0; i + 1 < location->words->len; i += 2)
    if (flam_location_is_label (location->words->pdata[i]))
      {
        g_ptr_array_add (labels, location->words->pdata[i]);
        g_ptr_array_add (labels, location->words->pdata[i + 1]);
      }
  g_ptr_array_add (labels, NULL);
  document = make_document (
      "otlp", profile, selection, (const char *const *)labels->pdata, error);
  if (document == NULL || !flam_spool_init (&answer, error))
    return FALSE;
  request.body = document;
  done = flam_server_send (location, &request, options, &answer, error) &&
         read_response (location, &answer, note, error);
  flam_spool_clear (&answer);
  return done;
}

gboolean
flam_push (const FlamLocation *location,
           const FlamProfile *profile,
           const FlamSelection *selection,
           const char *path,
           const FlamServerOptions *options,
           char **note,
           GError **error)
{
  g_autofree char *service = find_service (location, profile, path);
  FlamLocationKind kind;
  const char *place;

  *note = NULL;
  if (!flam_push_check (location, error))
    return FALSE;
  find_kind (location, &kind, &place);
  if (kind == FLAM_LOCATION_PYROSCOPE)
    return push_to_pyroscope (
        location, place, profile, selection, service, options, error);
  if (kind == FLAM_LOCATION_CLICKHOUSE)
    return flam_clickhouse_push (
        location, profile, selection, service, path, options, error);
  return push_to_otlp (
      location, place, profile, selection, service, options, note, error);
}
