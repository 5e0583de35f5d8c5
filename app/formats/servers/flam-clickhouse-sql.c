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

/* --- what is asked -------------------------------------------------------- */

static gboolean
has_range (const FlamLocation *location, gboolean all_times)
{
  return location->has_range || !all_times;
}

/* A host is a label of every run. */
static void
put_label (GString *sql, const char *key, const char *value)
{
  g_string_append (sql, " AND (values[indexOf(keys, ");
  flam_clickhouse_put_quoted (sql, key);
  g_string_append (sql, ")] = ");
  flam_clickhouse_put_quoted (sql, value);
  if (strcmp (key, "host") == 0 || strcmp (key, "job") == 0)
    {
      g_string_append_printf (
          sql, " OR (NOT has(keys, '%s') AND %s = ", key, key);
      flam_clickhouse_put_quoted (sql, value);
      g_string_append_c (sql, ')');
    }
  g_string_append_c (sql, ')');
}

void
flam_clickhouse_put_runs (GString *sql,
                          const FlamLocation *location,
                          gboolean all_times)
{
  const char *service = flam_location_word (location, "service");

  g_string_append (sql, " WHERE 1");
  if (has_range (location, all_times))
    g_string_append_printf (sql,
                            " AND time >= toDateTime(%" G_GINT64_FORMAT
                            ") AND time <= toDateTime(%" G_GINT64_FORMAT ")",
                            location->from / 1000,
                            location->to / 1000);
  if (service != NULL)
    {
      g_string_append (sql, " AND service = ");
      flam_clickhouse_put_quoted (sql, service);
    }
  for (guint i = 0; i + 1 < location->words->len; i += 2)
    if (flam_location_is_label (location->words->pdata[i]))
      put_label (sql, location->words->pdata[i], location->words->pdata[i + 1]);
}

void
flam_clickhouse_put_hours (GString *sql,
                           const FlamLocation *location,
                           gboolean all_times)
{
  gint64 from = location->from / 1000;

  if (has_range (location, all_times))
    g_string_append_printf (sql,
                            " AND hour >= toDateTime(%" G_GINT64_FORMAT
                            ") AND hour <= toDateTime(%" G_GINT64_FORMAT ")",
                            from - from % FLAM_CLICKHOUSE_HOUR,
                            location->to / 1000);
}

/* --- what comes ----------------------------------------------------------- */

void
flam_clickhouse_take (const char **at,
                      const char *end,
                      char stop,
                      GString *into)
{
  g_string_truncate (into, 0);
  while (*at < end && **at != stop && **at != '\n')
    {
      if (**at == '\\' && *at + 1 < end)
        {
          char c = *++*at;
          g_string_append_c (into,
                             c == 't'   ? '\t'
                             : c == 'n' ? '\n'
                             : c == 'r' ? '\r'
                                        : c);
        }
      else
        g_string_append_c (into, **at);
      ++*at;
    }
  if (*at < end && **at == stop)
    ++*at;
}

gboolean
flam_clickhouse_refuse (const FlamLocation *location, GError **error)
{
  return flam_location_error (
      location, error, N_ ("the answer is not one of ClickHouse's"));
}
