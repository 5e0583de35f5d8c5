/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-server.h"

#include "flam-http.h"
#include "flam-json.h"

#include <string.h>

#define TRIES 3
/* ms before the second try, and four times as much before the third */
#define PAUSE 250
#define SHORT_ANSWER (64 << 20)

static const FlamHttpFunctions *
open_library (GError **error)
{
  static const FlamLibrary library = { "libflambeau-http.so",
                                       "app/formats/servers",
                                       FLAM_HTTP_SYMBOL };

  return flam_library_open (&library, error);
}

/* --- the token ------------------------------------------------------------ */

static char *
read_token (const FlamLocation *location, const char *file, GError **error)
{
  char *token;
  g_autoptr (GError) bad = NULL;

  if (!g_file_get_contents (file, &token, NULL, &bad))
    {
      flam_location_error (location, error, "%s", bad->message);
      return NULL;
    }
  return g_strstrip (token);
}

/* "" if there is none; NULL with an error. */
static char *
find_token (const FlamLocation *location,
            const FlamHttpFunctions *functions,
            const FlamServerOptions *options,
            GError **error)
{
  const char *file = options->token_file != NULL
                         ? options->token_file
                         : g_getenv ("FLAMBEAU_TOKEN_FILE");
  const char *token = g_getenv ("FLAMBEAU_TOKEN");
  char *secret = NULL;

  if (options->token != NULL)
    return g_strdup (options->token);
  if (file != NULL && *file != '\0')
    return read_token (location, file, error);
  if (token != NULL)
    return g_strdup (token);
  if (location->safe)
    secret = functions->find_secret (location->server);
  return secret != NULL ? secret : g_strdup ("");
}

static char *
basic (const char *user, const char *password)
{
  g_autofree char *both = g_strdup_printf ("%s:%s", user, password);
  g_autofree char *encoded =
      g_base64_encode ((const guchar *)both, strlen (both));

  return g_strconcat ("Basic ", encoded, NULL);
}

/* The header's value, or NULL: none. FALSE with an error. */
static gboolean
authorize (const FlamLocation *location,
           const FlamHttpFunctions *functions,
           const FlamServerOptions *options,
           char **header,
           GError **error)
{
  g_autofree char *token = NULL;

  *header = NULL;
  if (location->password != NULL)
    {
      *header = basic (location->user, location->password);
      return TRUE;
    }
  token = find_token (location, functions, options, error);
  if (token == NULL)
    return FALSE;
  for (const char *c = token; *c != '\0'; c++)
    if (g_ascii_iscntrl (*c))
      return flam_location_error (
          location,
          error,
          N_ ("the token contains characters that tokens cannot have"));
  if (location->user != NULL)
    *header = basic (location->user, token);
  else if (*token != '\0')
    *header = g_strconcat ("Bearer ", token, NULL);
  return TRUE;
}

gboolean
flam_server_keep_token (const FlamLocation *location,
                        const char *token,
                        GError **error)
{
  const FlamHttpFunctions *functions = open_library (error);
  g_autoptr (GError) bad = NULL;

  if (functions == NULL)
    return FALSE;
  return functions->keep_secret (location->server, token, &bad) ||
         flam_location_error (
             location,
             error,
             N_ ("the token cannot be stored in the keyring: %s"),
             bad->message);
}

/* --- answers that are errors ---------------------------------------------- */

/* Servers' errors are JSON with a message, or text. */
static char *
find_reason (const GString *answer)
{
  g_auto (FlamJson) json = { 0 };
  g_autofree char *text = NULL;
  g_autofree char *valid = NULL;
  char *end;

  flam_json_open (&json, (const guint8 *)answer->str, answer->len);
  if (answer->len > 0 && answer->str[0] == '{')
    flam_json_each (&json)
      if ((flam_json_key_is (&json, "message") ||
           flam_json_key_is (&json, "error")) &&
          json.token == FLAM_JSON_STRING && text == NULL)
        text = g_strdup (flam_json_get_string (&json, NULL));
  if (text == NULL && answer->len > 0 && answer->str[0] != '<')
    text = g_strndup (answer->str, answer->len);
  if (text == NULL)
    return g_strdup ("");
  valid = g_utf8_make_valid (text, -1);
  g_strstrip (valid);
  end = strchr (valid, '\n');
  if (end != NULL)
    *end = '\0';
  if (g_utf8_strlen (valid, -1) > 300)
    *g_utf8_offset_to_pointer (valid, 300) = '\0';
  return g_steal_pointer (&valid);
}

/* Of ClickHouse's "Code: 193, e.displayText() = DB::Exception: TEXT, e.what() =
 * DB::Exception" (later: "Code: 516. DB::Exception: TEXT"), only TEXT. */
static void
leave_out_codes (char *reason)
{
  static const char before[] = "DB::Exception: ";
  const char *text =
      g_str_has_prefix (reason, "Code: ") ? strstr (reason, before) : NULL;
  char *end;

  if (text == NULL)
    return;
  text += sizeof before - 1;
  memmove (reason, text, strlen (text) + 1);
  end = strstr (reason, ", e.what() = ");
  if (end != NULL)
    *end = '\0';
}

static gboolean
refuse (const FlamLocation *location,
        const FlamServerOptions *options,
        const FlamHttpAnswer *answer,
        GError **error)
{
  g_autofree char *reason = find_reason (answer->reason);
  const char *colon = *reason != '\0' ? ": " : "";

  leave_out_codes (reason);
  if (answer->status == 401 || answer->status == 403)
    return flam_location_error (
        location,
        error,
        options->asks_token
            ? N_ ("the server refuses access (%u%s%s); enter its token")
            : N_ ("the server refuses access (%u%s%s); provide a token with "
                  "--token-file, $FLAMBEAU_TOKEN or the keyring"),
        answer->status,
        colon,
        reason);
  return flam_location_error (location,
                              error,
                              N_ ("the server answers with error %u%s%s"),
                              answer->status,
                              colon,
                              reason);
}

/* --- requests ------------------------------------------------------------- */

typedef struct
{
  FlamSpool *into;
  const FlamProgress *progress;
  GError *cancelled;
} Receiver;

static gboolean
take (gpointer data, const void *bytes, gsize length, GError **error)
{
  Receiver *receiver = data;

  return flam_spool_append (receiver->into, bytes, length, error);
}

static gboolean
go_on (gpointer data)
{
  Receiver *receiver = data;

  return receiver->cancelled == NULL &&
         flam_progress_step (receiver->progress, 0, &receiver->cancelled);
}

static gboolean
is_busy (guint status)
{
  return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Whether another try may do better. All tries together have the time of
 * one. */
static gboolean
may_repeat (const FlamHttpAnswer *answer, const GError *bad)
{
  if (bad == NULL)
    return is_busy (answer->status);
  return answer->early &&
         (g_error_matches (bad, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED) ||
          g_error_matches (bad, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT));
}

static gboolean
pause_before (Receiver *receiver, guint attempt)
{
  for (guint ms = attempt == 1 ? PAUSE : 4 * PAUSE; ms > 0; ms -= 50)
    {
      if (!go_on (receiver))
        return FALSE;
      g_usleep (50 * 1000);
    }
  return TRUE;
}

static gboolean
try_all (const FlamLocation *location,
         const FlamServerOptions *options,
         const FlamHttpFunctions *functions,
         const FlamHttpRequest *request,
         Receiver *receiver,
         GError **error)
{
  const FlamHttpEnd end = { take, go_on, receiver };
  const gint64 last = g_get_monotonic_time () + request->timeout;
  FlamHttpRequest this = *request;
  g_autoptr (GString) reason = g_string_new (NULL);

  for (guint attempt = 1;; attempt++)
    {
      FlamHttpAnswer answer = { .reason = reason };
      g_autoptr (GError) bad = NULL;

      g_string_truncate (reason, 0);
      if (functions->send (&this, &end, &answer, &bad) &&
          answer.status >= 200 && answer.status < 300)
        return TRUE;
      if (receiver->cancelled == NULL && attempt < TRIES &&
          may_repeat (&answer, bad) && pause_before (receiver, attempt) &&
          (this.timeout = last - g_get_monotonic_time ()) > 0)
        continue;
      if (receiver->cancelled != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&receiver->cancelled));
          return FALSE;
        }
      return bad != NULL
                 ? flam_location_error (location, error, "%s", bad->message)
                 : refuse (location, options, &answer, error);
    }
}

gboolean
flam_server_send (const FlamLocation *location,
                  const FlamServerRequest *request,
                  const FlamServerOptions *options,
                  FlamSpool *into,
                  GError **error)
{
  const FlamHttpFunctions *functions = open_library (error);
  g_autofree char *header = NULL;
  g_autofree char *url = g_strconcat (location->base, request->path, NULL);
  FlamHttpRequest http = {
    .method = request->body != NULL ? "POST" : "GET",
    .url = url,
    .headers = request->headers,
    .body_type = request->body_type,
    .body = request->body,
    .timeout =
        G_TIME_SPAN_SECOND *
        ((gint64)location->seconds +
         (options->timeout > 0 ? options->timeout : FLAM_SERVER_TIMEOUT)),
    .most = options->most > 0 ? options->most : FLAM_SERVER_MOST,
  };
  Receiver receiver = { into, options->progress, NULL };
  gboolean sent;

  if (functions == NULL ||
      !authorize (location, functions, options, &header, error))
    return FALSE;
  http.authorization = header;
  sent = try_all (location, options, functions, &http, &receiver, error);
  g_clear_error (&receiver.cancelled);
  return sent && flam_spool_seal (into, error);
}

char *
flam_server_send_short (const FlamLocation *location,
                        const FlamServerRequest *request,
                        const FlamServerOptions *options,
                        GError **error)
{
  FlamServerOptions bounded = *options;
  FlamSpool spool;
  char *text = NULL;

  bounded.most = SHORT_ANSWER;
  if (!flam_spool_init (&spool, error))
    return NULL;
  if (flam_server_send (location, request, &bounded, &spool, error))
    text = g_strndup ((const char *)spool.base, spool.size);
  flam_spool_clear (&spool);
  return text;
}
