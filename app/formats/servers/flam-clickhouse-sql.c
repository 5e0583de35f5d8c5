/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-clickhouse-sql.h"

#include <string.h>

#define BOUNDARY "flambeau-5d1f0c3b97a84e62"

void
flam_clickhouse_put_escaped (GString *out, const char *text, gssize length)
{
  const char *end = text + (length < 0 ? (gssize)strlen (text) : length);

  for (; text < end; text++)
    switch (*text)
      {
      case '\t':
        g_string_append (out, "\\t");
        break;
      case '\n':
        g_string_append (out, "\\n");
        break;
      case '\r':
        g_string_append (out, "\\r");
        break;
      case '\\':
      case '\'':
        g_string_append_c (out, '\\');
        G_GNUC_FALLTHROUGH;
      default:
        g_string_append_c (out, *text);
      }
}

void
flam_clickhouse_put_quoted (GString *out, const char *text)
{
  g_string_append_c (out, '\'');
  flam_clickhouse_put_escaped (out, text, -1);
  g_string_append_c (out, '\'');
}

/* "/?database=DATABASE&query=…": the path of the URL is the database's. */
static char *
path_for (const FlamLocation *location,
          const char *statement,
          const char *parameters)
{
  g_autofree char *query = g_uri_escape_string (statement, NULL, FALSE);
  g_autofree char *database =
      g_uri_escape_string (location->database, NULL, FALSE);

  return g_strdup_printf (
      "/?database=%s%s&query=%s", database, parameters, query);
}

char *
flam_clickhouse_run (const FlamLocation *location,
                     const char *statement,
                     const GString *rows,
                     const FlamServerOptions *options,
                     GError **error)
{
  g_autofree char *path = path_for (location, statement, "");
  g_autoptr (GBytes) body =
      g_bytes_new (rows != NULL ? rows->str : "", rows != NULL ? rows->len : 0);
  const FlamServerRequest request = { .path = path,
                                      .body_type = "text/tab-separated-values",
                                      .body = body };

  return flam_server_send_short (location, &request, options, error);
}

/* A form with a file for the table. */
static GBytes *
make_form (const GArray *stacks)
{
  GString *form = g_string_new (
      "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"asked\"; "
      "filename=\"asked.tsv\"\r\nContent-Type: application/octet-stream"
      "\r\n\r\n");

  for (guint i = 0; i < stacks->len; i++)
    g_string_append_printf (
        form, "%" G_GUINT64_FORMAT "\n", g_array_index (stacks, guint64, i));
  g_string_append (form, "\r\n--" BOUNDARY "--\r\n");
  return g_string_free_to_bytes (form);
}

gboolean
flam_clickhouse_ask (const FlamLocation *location,
                     const char *statement,
                     const GArray *stacks,
                     const FlamServerOptions *options,
                     FlamSpool *into,
                     GError **error)
{
  g_autofree char *path =
      path_for (location,
                statement,
                stacks != NULL ? "&asked_structure=stack%20UInt64" : "");
  g_autoptr (GBytes) form = stacks != NULL ? make_form (stacks) : NULL;
  const FlamServerRequest request = {
    .path = path,
    .body_type = "multipart/form-data; boundary=" BOUNDARY,
    .body = form,
  };

  return flam_server_send (location, &request, options, into, error);
}
