/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-location.h"

#include <string.h>

#define SCHEME_FLAGS                                                           \
  (G_URI_FLAGS_PARSE_RELAXED | G_URI_FLAGS_HAS_PASSWORD |                      \
   G_URI_FLAGS_ENCODED_QUERY | G_URI_FLAGS_ENCODED_PATH)
#define LONGEST_NAME 100
#define HOUR_MS (G_GINT64_CONSTANT (3600) * 1000)

static const struct
{
  const char *scheme;
  FlamLocationKind kind;
  const char *http;
} schemes[] = {
  { "http", FLAM_LOCATION_FILE, "http" },
  { "https", FLAM_LOCATION_FILE, "https" },
  { "pyroscope+http", FLAM_LOCATION_PYROSCOPE, "http" },
  { "pyroscope+https", FLAM_LOCATION_PYROSCOPE, "https" },
  { "parca+http", FLAM_LOCATION_PARCA, "http" },
  { "parca+https", FLAM_LOCATION_PARCA, "https" },
  { "otlp+http", FLAM_LOCATION_OTLP, "http" },
  { "otlp+https", FLAM_LOCATION_OTLP, "https" },
  { "clickhouse", FLAM_LOCATION_CLICKHOUSE, "http" },
  { "clickhouse+http", FLAM_LOCATION_CLICKHOUSE, "http" },
  { "clickhouse+https", FLAM_LOCATION_CLICKHOUSE, "https" },
};

static int
find_scheme (const char *text)
{
  const char *end = strstr (text, "://");

  for (guint i = 0; end != NULL && i < G_N_ELEMENTS (schemes); i++)
    if (strlen (schemes[i].scheme) == (gsize)(end - text) &&
        g_ascii_strncasecmp (schemes[i].scheme, text, end - text) == 0)
      return (int)i;
  return -1;
}

gboolean
flam_location_is (const char *text)
{
  return find_scheme (text) >= 0;
}

gboolean
flam_location_error (const FlamLocation *location,
                     GError **error,
                     const char *format,
                     ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return flam_error_set (
      error, FLAM_ERROR_SYSTEM, "%s: %s", location->text, message);
}

/* --- times ---------------------------------------------------------------- */

static gint64
unit_ms (const char *unit)
{
  static const struct
  {
    const char *name;
    gint64 ms;
  } units[] = {
    { "ms", 1 },      { "s", 1000 },         { "m", 60 * 1000 },
    { "h", HOUR_MS }, { "d", 24 * HOUR_MS }, { "w", 7 * 24 * HOUR_MS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (units[i].name, unit) == 0)
      return units[i].ms;
  return 0;
}

/* Seconds since 1970, or milli-, micro- or nanoseconds: by the number of
 * digits, as Pyroscope reads them. */
static gboolean
read_number (const char *text, gint64 *ms)
{
  gsize digits = strspn (text, "0123456789");
  gint64 number;

  if (digits < 9 || text[digits] != '\0' ||
      !g_ascii_string_to_signed (text, 10, 0, G_MAXINT64, &number, NULL))
    return FALSE;
  *ms = digits >= 18   ? number / 1000000
        : digits >= 15 ? number / 1000
        : digits >= 12 ? number
                       : number * 1000;
  return TRUE;
}

static gboolean
read_date (const char *text, gint64 *ms)
{
  g_autofree char *whole = strchr (text, 'T') != NULL || strchr (text, ' ')
                               ? g_strdup (text)
                               : g_strconcat (text, "T00:00:00", NULL);
  g_autoptr (GTimeZone) zone = g_time_zone_new_local ();
  g_autoptr (GDateTime) date = g_date_time_new_from_iso8601 (whole, zone);
  g_autofree char *with_seconds = NULL;

  if (date == NULL)
    {
      with_seconds = g_strconcat (whole, ":00", NULL);
      date = g_date_time_new_from_iso8601 (with_seconds, zone);
    }
  if (date == NULL)
    return FALSE;
  *ms = g_date_time_to_unix (date) * 1000 +
        g_date_time_get_microsecond (date) / 1000;
  return TRUE;
}

static gboolean
read_time (const char *text, gint64 now, gint64 *ms)
{
  char *end;
  gint64 count, unit;

  if (strcmp (text, "now") == 0)
    {
      *ms = now;
      return TRUE;
    }
  if (g_str_has_prefix (text, "now-"))
    text += 3;
  if (*text != '-')
    return read_number (text, ms) || read_date (text, ms);
  count = g_ascii_strtoll (text + 1, &end, 10);
  unit = unit_ms (end);
  if (end == text + 1 || unit == 0 || count < 0 || count > G_MAXINT32)
    return FALSE;
  *ms = now - count * unit;
  return TRUE;
}

static gboolean
read_range (FlamLocation *location, GError **error)
{
  static const char *const keys[] = { "from", "to", "until" };
  gint64 now = g_get_real_time () / 1000;

  location->to = now;
  location->from = G_MININT64;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const char *value = flam_location_word (location, keys[i]);

      if (value == NULL)
        continue;
      location->has_range = TRUE;
      if (!read_time (value, now, i == 0 ? &location->from : &location->to))
        return flam_location_error (
            location,
            error,
            N_ ("%s=%s: expected a time, such as -1h, now or 2026-11-27T10:30"),
            keys[i],
            value);
    }
  if (location->from == G_MININT64)
    location->from = location->to - HOUR_MS;
  if (location->from >= location->to)
    return flam_location_error (
        location, error, N_ ("the time range ends before it begins"));
  return TRUE;
}

/* --- words ---------------------------------------------------------------- */

const char *
flam_location_word (const FlamLocation *location, const char *key)
{
  for (guint i = 0; i + 1 < location->words->len; i += 2)
    if (strcmp (location->words->pdata[i], key) == 0)
      return location->words->pdata[i + 1];
  return NULL;
}

void
flam_location_set_word (FlamLocation *location,
                        const char *key,
                        const char *value)
{
  for (guint i = 0; i + 1 < location->words->len; i += 2)
    if (strcmp (location->words->pdata[i], key) == 0)
      {
        g_ptr_array_remove_range (location->words, i, 2);
        break;
      }
  g_ptr_array_add (location->words, g_strdup (key));
  g_ptr_array_add (location->words, g_strdup (value));
}

gboolean
flam_location_is_label (const char *key)
{
  static const char *const own[] = { "service", "type",   "query",
                                     "from",    "to",     "until",
                                     "seconds", "tenant", NULL };

  return !g_strv_contains (own, key);
}

static void
put_matcher (GString *selector, const char *key, const char *value)
{
  g_string_append_printf (
      selector, "%s%s=\"", selector->len > 1 ? "," : "", key);
  for (const char *c = value; *c != '\0'; c++)
    {
      if (*c == '"' || *c == '\\')
        g_string_append_c (selector, '\\');
      if (*c == '\n')
        g_string_append (selector, "\\n");
      else
        g_string_append_c (selector, *c);
    }
  g_string_append_c (selector, '"');
}

GString *
flam_location_selector (const FlamLocation *location)
{
  GString *selector = g_string_new ("{");

  for (guint i = 0; i + 1 < location->words->len; i += 2)
    {
      const char *key = location->words->pdata[i];

      if (strcmp (key, "service") == 0)
        key = location->kind == FLAM_LOCATION_PARCA ? "job" : "service_name";
      else if (!flam_location_is_label (key))
        continue;
      put_matcher (selector, key, location->words->pdata[i + 1]);
    }
  g_string_append_c (selector, '}');
  return selector;
}

static gboolean
read_words (FlamLocation *location, GError **error)
{
  GUriParamsIter iter;
  char *key, *value;
  g_autoptr (GError) bad = NULL;

  if (location->query == NULL)
    return TRUE;
  g_uri_params_iter_init (
      &iter, location->query, -1, "&", G_URI_PARAMS_WWW_FORM);
  while (g_uri_params_iter_next (&iter, &key, &value, &bad))
    {
      g_ptr_array_add (location->words, key);
      g_ptr_array_add (location->words, value);
    }
  return bad == NULL ||
         flam_location_error (
             location, error, N_ ("expected KEY=VALUE&… after the ?"));
}

/* --- the URL -------------------------------------------------------------- */

/* Go's page of its profiles leads to them; the usual one is meant. */
static void
find_endpoint (FlamLocation *location)
{
  static const char index[] = "/debug/pprof";
  const char *seconds = flam_location_word (location, "seconds");
  char *base = location->base;

  if (g_str_has_suffix (base, index))
    {
      location->base = g_strconcat (base, "/profile", NULL);
      g_free (base);
      base = location->base;
    }
  if (seconds != NULL)
    location->seconds =
        (guint)CLAMP (g_ascii_strtoll (seconds, NULL, 10), 0, 24 * 3600);
  else if (g_str_has_suffix (base, "/debug/pprof/profile"))
    location->seconds = 30; /* Go's default */
}

static void
find_name (FlamLocation *location)
{
  const char *service = flam_location_word (location, "service");

  if (service == NULL)
    service = flam_location_word (location, "query");
  location->name = service != NULL ? g_strdup (service)
                                   : g_path_get_basename (location->base);
  g_strdelimit (location->name, "/\n", '_');
  if (strlen (location->name) > LONGEST_NAME)
    *g_utf8_find_prev_char (location->name, location->name + LONGEST_NAME) =
        '\0';
}

/* Loopback: data that is sent there stays on this machine. */
static gboolean
is_here (const char *host)
{
  g_autoptr (GInetAddress) address = g_inet_address_new_from_string (host);

  return address != NULL ? g_inet_address_get_is_loopback (address)
                         : g_ascii_strcasecmp (host, "localhost") == 0;
}

static char *
join_server (const char *scheme, const char *host, int port, gboolean with)
{
  gboolean v6 = strchr (host, ':') != NULL;
  GString *text = g_string_new (NULL);

  if (with)
    g_string_append_printf (text, "%s://", scheme);
  g_string_append_printf (text, v6 ? "[%s]" : "%s", host);
  if (port > 0)
    g_string_append_printf (text, ":%d", port);
  return g_string_free (text, FALSE);
}

static gboolean
take_apart (FlamLocation *location, GUri *uri, const char *http, GError **error)
{
  g_autofree char *root = NULL;
  const char *host = g_uri_get_host (uri);
  int port = g_uri_get_port (uri);
  gsize length;

  if (host == NULL || *host == '\0')
    return flam_location_error (
        location, error, N_ ("this address has no host"));
  if (port < 0 && location->kind == FLAM_LOCATION_CLICKHOUSE)
    port = strcmp (http, "https") == 0 ? 8443 : 8123;
  root = join_server (http, host, port, TRUE);
  if (location->kind == FLAM_LOCATION_CLICKHOUSE)
    {
      location->base = g_strdup (root);
      location->database = g_uri_unescape_string (
          g_uri_get_path (uri) + strspn (g_uri_get_path (uri), "/"), "/");
      if (location->database == NULL || *location->database == '\0')
        {
          g_free (location->database);
          location->database = g_strdup ("default");
        }
    }
  else
    location->base = g_strconcat (root, g_uri_get_path (uri), NULL);
  length = strlen (location->base);
  if (location->kind != FLAM_LOCATION_FILE ||
      g_str_has_suffix (location->base, "/debug/pprof/"))
    while (length > 0 && location->base[length - 1] == '/')
      location->base[--length] = '\0';
  location->server = join_server (NULL, host, port, FALSE);
  location->safe = strcmp (http, "https") == 0 || is_here (host);
  location->user = g_strdup (g_uri_get_user (uri));
  location->password = g_strdup (g_uri_get_password (uri));
  location->query = g_strdup (g_uri_get_query (uri));
  return TRUE;
}

FlamLocation *
flam_location_new (const char *text, GError **error)
{
  g_autoptr (FlamLocation) location = g_new0 (FlamLocation, 1);
  g_autoptr (GError) bad = NULL;
  g_autoptr (GUri) uri = NULL;
  int scheme = find_scheme (text);

  location->words = g_ptr_array_new_with_free_func (g_free);
  location->text = g_strdup (text);
  if (scheme < 0)
    {
      flam_location_error (
          location, error, N_ ("this is not an address that can be opened"));
      return NULL;
    }
  location->kind = schemes[scheme].kind;
  uri = g_uri_parse (text, SCHEME_FLAGS, &bad);
  if (uri == NULL)
    {
      flam_location_error (location, error, "%s", bad->message);
      return NULL;
    }
  g_free (location->text);
  location->text = g_uri_to_string_partial (uri, G_URI_HIDE_PASSWORD);
  if (!take_apart (location, uri, schemes[scheme].http, error) ||
      !read_words (location, error) ||
      (location->kind != FLAM_LOCATION_FILE && !read_range (location, error)))
    return NULL;
  find_endpoint (location);
  find_name (location);
  return g_steal_pointer (&location);
}

void
flam_location_free (FlamLocation *location)
{
  if (location == NULL)
    return;
  g_free (location->text);
  g_free (location->base);
  g_free (location->query);
  g_free (location->server);
  g_free (location->database);
  g_free (location->user);
  g_free (location->password);
  g_free (location->name);
  g_ptr_array_unref (location->words);
  g_free (location);
}
