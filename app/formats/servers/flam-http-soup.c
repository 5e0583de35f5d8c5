/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-http.h"

#include <dlfcn.h>
#include <glib/gi18n.h>
#include <libsecret/secret.h>
#include <libsoup/soup.h>

/* Everything runs in a main context of its own, so that a thread that waits
 * for the server can be told to stop. */

#define PIECE (256 << 10)
#define MAX_REDIRECTS 5
/* Answers of status 1xx before the one that counts. */
#define MAX_INTERIM 100
#define SLOWEST 1000 /* bytes per second of an answer */

extern const FlamHttpFunctions flam_http_functions
    __attribute__ ((visibility ("default")));

typedef struct
{
  const FlamHttpRequest *request;
  const FlamHttpEnd *end;
  GMainContext *context;
  GCancellable *cancellable;
  SoupSession *session;
  GAsyncResult *result; /* of the current step */
  guint interim;        /* answers of status 1xx so far */
  gint64 last;          /* us: the last byte in either direction */
  gint64 begun;         /* us: the answer's content; 0: not yet */
  guint64 received;     /* bytes of it */
  gboolean silent;      /* the time is over */
  gboolean slow;        /* and there were bytes */
} Exchange;

static void
step_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Exchange *exchange = data;

  exchange->result = g_object_ref (result);
}

/* The result of the step that was begun; g_object_unref. */
static GAsyncResult *
await (Exchange *exchange)
{
  while (exchange->result == NULL)
    g_main_context_iteration (exchange->context, TRUE);
  return g_steal_pointer (&exchange->result);
}

/* A server that sends a byte now and then would be read for ever. */
static gboolean
is_slow (const Exchange *exchange, gint64 now)
{
  gint64 time = exchange->request->timeout +
                (gint64)(exchange->received * G_USEC_PER_SEC / SLOWEST);

  return exchange->begun > 0 && now - exchange->begun > time;
}

static gboolean
look (gpointer data)
{
  Exchange *exchange = data;
  gint64 now = g_get_monotonic_time ();

  /* libsoup's own time-out begins anew with each address of the server, each
   * part of TLS and each answer of status 1xx. */
  if (now - exchange->last > exchange->request->timeout)
    exchange->silent = TRUE;
  exchange->slow |= is_slow (exchange, now);
  if (exchange->silent || exchange->slow ||
      !exchange->end->go_on (exchange->end->data))
    g_cancellable_cancel (exchange->cancellable);
  return G_SOURCE_CONTINUE;
}

/* --- certificates --------------------------------------------------------- */

/* A folder of programs that brings its own libraries also has GIO's modules
 * for TLS and proxies, beside this library; their usual place is the machine's
 * that they were built on. */
static gpointer
load_modules (gpointer unused)
{
  Dl_info here;
  g_autofree char *folder = NULL;
  g_autofree char *modules = NULL;

  if (dladdr (&flam_http_functions, &here) == 0)
    return NULL;
  folder = g_path_get_dirname (here.dli_fname);
  modules = g_build_filename (folder, "modules", NULL);
  if (!g_file_test (modules, G_FILE_TEST_IS_DIR))
    return NULL;
  g_io_modules_scan_all_in_directory (modules);
  return g_steal_pointer (&modules);
}

/* The file of the authorities to trust; NULL: the system's. */
static const char *
find_authorities (gboolean own_modules)
{
  static const char *const places[] = {
    "/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch */
    "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora */
    "/etc/ssl/ca-bundle.pem",             /* openSUSE */
    "/etc/ssl/cert.pem",                  /* Alpine */
  };
  const char *file = g_getenv ("SSL_CERT_FILE");

  if (file != NULL && *file != '\0')
    return file;
  for (guint i = 0; own_modules && i < G_N_ELEMENTS (places); i++)
    if (g_file_test (places[i], G_FILE_TEST_EXISTS))
      return places[i];
  return NULL;
}

static gboolean
trust (SoupSession *session, GError **error)
{
  static GOnce modules = G_ONCE_INIT;
  const char *file =
      find_authorities (g_once (&modules, load_modules, NULL) != NULL);
  g_autoptr (GTlsDatabase) database = NULL;

  if (file == NULL)
    return TRUE;
  database = g_tls_file_database_new (file, error);
  if (database != NULL)
    soup_session_set_tls_database (session, database);
  return database != NULL;
}

static const char *
name_flaw (GTlsCertificateFlags flaws)
{
  if (flaws & G_TLS_CERTIFICATE_BAD_IDENTITY)
    return N_ ("its certificate is for another host");
  if (flaws & G_TLS_CERTIFICATE_EXPIRED)
    return N_ ("its certificate has expired");
  if (flaws & G_TLS_CERTIFICATE_NOT_ACTIVATED)
    return N_ ("its certificate is not valid yet");
  if (flaws & G_TLS_CERTIFICATE_REVOKED)
    return N_ ("its certificate was revoked");
  if (flaws & G_TLS_CERTIFICATE_UNKNOWN_CA)
    return N_ ("its certificate was not issued by an authority that this "
               "system trusts");
  return N_ ("its certificate is not valid");
}

/* --- the exchange --------------------------------------------------------- */

static gboolean
fail (GError **error, int code, const char *text)
{
  g_set_error_literal (error, G_IO_ERROR, code, text);
  return FALSE;
}

/* `why` is owned by the function. */
static gboolean
fail_for (const Exchange *exchange,
          SoupMessage *message,
          GError *why,
          GError **error)
{
  GTlsCertificateFlags flaws =
      soup_message_get_tls_peer_certificate_errors (message);

  if (g_error_matches (why, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE) &&
      flaws != 0)
    fail (error, G_IO_ERROR_FAILED, name_flaw (flaws));
  else if (exchange->slow)
    fail (error,
          G_IO_ERROR_TIMED_OUT,
          N_ ("the server sends less than 1 kB per second"));
  else if (exchange->silent ||
           g_error_matches (why, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    fail (error, G_IO_ERROR_TIMED_OUT, N_ ("the server does not answer"));
  else if (g_error_matches (why, G_TLS_ERROR, G_TLS_ERROR_NOT_TLS) ||
           g_error_matches (why, G_TLS_ERROR, G_TLS_ERROR_MISC))
    fail (error, G_IO_ERROR_FAILED, N_ ("the server does not use TLS (https)"));
  else if (g_error_matches (
               why, SOUP_SESSION_ERROR, SOUP_SESSION_ERROR_PARSING) ||
           exchange->interim > MAX_INTERIM)
    fail (error, G_IO_ERROR_FAILED, N_ ("the server does not use HTTP"));
  else if (g_error_matches (why, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT) ||
           g_error_matches (why, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED))
    fail (error,
          why->code,
          N_ ("the server closed the connection without an answer"));
  else
    {
      g_propagate_error (error, why);
      return FALSE;
    }
  g_error_free (why);
  return FALSE;
}

/* The time-out is for a server that is silent. This one is not. */
static void
count_interim (SoupMessage *message, gpointer data)
{
  Exchange *exchange = data;

  if (++exchange->interim > MAX_INTERIM)
    g_cancellable_cancel (exchange->cancellable);
}

static void
count_sent (SoupMessage *message, guint bytes, gpointer data)
{
  Exchange *exchange = data;

  exchange->last = g_get_monotonic_time ();
}

static gboolean
is_same_server (GUri *a, GUri *b)
{
  return g_strcmp0 (g_uri_get_scheme (a), g_uri_get_scheme (b)) == 0 &&
         g_strcmp0 (g_uri_get_host (a), g_uri_get_host (b)) == 0 &&
         g_uri_get_port (a) == g_uri_get_port (b);
}

static SoupMessage *
make_message (const FlamHttpRequest *request, GUri *uri, GUri *first)
{
  SoupMessage *message = soup_message_new_from_uri (request->method, uri);
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);

  soup_message_add_flags (message, SOUP_MESSAGE_NO_REDIRECT);
  for (guint i = 0; request->headers != NULL && request->headers[i] != NULL;
       i += 2)
    soup_message_headers_replace (
        headers, request->headers[i], request->headers[i + 1]);
  if (request->authorization != NULL && is_same_server (uri, first))
    soup_message_headers_replace (
        headers, "Authorization", request->authorization);
  if (request->body != NULL)
    soup_message_set_request_body_from_bytes (
        message, request->body_type, request->body);
  return message;
}

static gssize
read_piece (Exchange *exchange,
            GInputStream *stream,
            char *into,
            GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  g_input_stream_read_async (stream,
                             into,
                             PIECE,
                             G_PRIORITY_DEFAULT,
                             exchange->cancellable,
                             step_done,
                             exchange);
  result = await (exchange);
  return g_input_stream_read_finish (stream, result, error);
}

static gboolean
too_large (GError **error)
{
  return fail (error,
               G_IO_ERROR_NO_SPACE,
               N_ ("the server sends more data than a capture may contain"));
}

static gboolean
read_answer (Exchange *exchange,
             SoupMessage *message,
             GInputStream *stream,
             FlamHttpAnswer *answer,
             GError **error)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  goffset length = soup_message_headers_get_content_length (headers);
  gboolean told = soup_message_headers_get_encoding (headers) ==
                  SOUP_ENCODING_CONTENT_LENGTH;
  gboolean good = SOUP_STATUS_IS_SUCCESSFUL (answer->status);
  g_autofree char *piece = g_malloc (PIECE);
  GError *why = NULL;
  gssize n;

  if (good && told && (guint64)length > exchange->request->most)
    return too_large (error);
  exchange->begun = g_get_monotonic_time ();
  while ((n = read_piece (exchange, stream, piece, &why)) > 0)
    {
      exchange->last = g_get_monotonic_time ();
      exchange->received += (guint64)n;
      if (!good)
        {
          g_string_append_len (
              answer->reason,
              piece,
              MIN (n, (gssize)(FLAM_HTTP_REASON - answer->reason->len)));
          if (answer->reason->len == FLAM_HTTP_REASON)
            return TRUE;
        }
      else if (exchange->received > exchange->request->most)
        return too_large (error);
      else if (!exchange->end->take (exchange->end->data, piece, n, error))
        return FALSE;
    }
  if (!good)
    {
      g_clear_error (&why);
      return TRUE;
    }
  if (n < 0 && !g_error_matches (why, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT))
    return fail_for (exchange, message, why, error);
  g_clear_error (&why);
  if (n < 0 || (told && exchange->received < (guint64)length))
    return fail (
        error,
        G_IO_ERROR_FAILED,
        N_ ("the server closed the connection in the middle of its answer"));
  return TRUE;
}

/* The address that an answer leads to; NULL: it is the answer. */
static GUri *
redirection (SoupMessage *message, GUri *uri, const FlamHttpRequest *request)
{
  guint status = soup_message_get_status (message);
  const char *place = soup_message_headers_get_one (
      soup_message_get_response_headers (message), "Location");
  GUri *next;

  if (place == NULL || status < 300 || status > 399 || request->body != NULL)
    return NULL;
  next = g_uri_parse_relative (uri, place, SOUP_HTTP_URI_FLAGS, NULL);
  if (next != NULL && g_strcmp0 (g_uri_get_scheme (next), "https") != 0 &&
      g_strcmp0 (g_uri_get_scheme (next), g_uri_get_scheme (uri)) != 0)
    g_clear_pointer (&next, g_uri_unref);
  return next;
}

static gboolean
exchange_with (Exchange *exchange, FlamHttpAnswer *answer, GError **error)
{
  g_autoptr (GUri) first =
      g_uri_parse (exchange->request->url, SOUP_HTTP_URI_FLAGS, error);
  g_autoptr (GUri) uri = NULL;

  if (first == NULL)
    return FALSE;
  uri = g_uri_ref (first);
  for (guint i = 0; i <= MAX_REDIRECTS; i++)
    {
      g_autoptr (SoupMessage) message =
          make_message (exchange->request, uri, first);
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GInputStream) stream = NULL;
      GError *why = NULL;
      GUri *next;

      answer->early = TRUE;
      g_signal_connect (
          message, "got-informational", G_CALLBACK (count_interim), exchange);
      g_signal_connect (
          message, "wrote-body-data", G_CALLBACK (count_sent), exchange);
      soup_session_send_async (exchange->session,
                               message,
                               G_PRIORITY_DEFAULT,
                               exchange->cancellable,
                               step_done,
                               exchange);
      result = await (exchange);
      stream = soup_session_send_finish (exchange->session, result, &why);
      if (stream == NULL)
        return fail_for (exchange, message, why, error);
      answer->early = FALSE;
      next = redirection (message, uri, exchange->request);
      if (next == NULL)
        {
          answer->status = soup_message_get_status (message);
          return read_answer (exchange, message, stream, answer, error);
        }
      g_uri_unref (uri);
      uri = next;
    }
  return fail (error, G_IO_ERROR_FAILED, N_ ("the server redirects too often"));
}

static gboolean
send (const FlamHttpRequest *request,
      const FlamHttpEnd *end,
      FlamHttpAnswer *answer,
      GError **error)
{
  Exchange exchange = { .request = request,
                        .end = end,
                        .last = g_get_monotonic_time () };
  GSource *timer = g_timeout_source_new (100);
  gboolean sent;

  exchange.context = g_main_context_new ();
  exchange.cancellable = g_cancellable_new ();
  g_main_context_push_thread_default (exchange.context);
  g_source_set_callback (timer, look, &exchange, NULL);
  g_source_attach (timer, exchange.context);
  exchange.session = soup_session_new_with_options (
      "timeout", 0, "user-agent", "Flambeau", NULL);
  /* A packed capture stays packed here: it is unpacked when it is read. */
  soup_session_remove_feature_by_type (exchange.session,
                                       SOUP_TYPE_CONTENT_DECODER);
  sent = trust (exchange.session, error) &&
         exchange_with (&exchange, answer, error);
  g_source_destroy (timer);
  g_source_unref (timer);
  soup_session_abort (exchange.session);
  g_object_unref (exchange.session);
  while (g_main_context_iteration (exchange.context, FALSE))
    ;
  g_main_context_pop_thread_default (exchange.context);
  g_main_context_unref (exchange.context);
  g_object_unref (exchange.cancellable);
  return sent;
}

/* --- the keyring ---------------------------------------------------------- */

static const SecretSchema schema = { "dev.flambeau.Flambeau.Server",
                                     SECRET_SCHEMA_NONE,
                                     { { "server",
                                         SECRET_SCHEMA_ATTRIBUTE_STRING } } };

static char *
find_secret (const char *server)
{
  char *found =
      secret_password_lookup_sync (&schema, NULL, NULL, "server", server, NULL);
  char *copy = g_strdup (found);

  secret_password_free (found);
  return copy;
}

static gboolean
keep_secret (const char *server, const char *secret, GError **error)
{
  g_autofree char *label = g_strdup_printf ("Flambeau: %s", server);

  return secret_password_store_sync (&schema,
                                     SECRET_COLLECTION_DEFAULT,
                                     label,
                                     secret,
                                     NULL,
                                     error,
                                     "server",
                                     server,
                                     NULL);
}

const FlamHttpFunctions flam_http_functions = {
  .send = send,
  .find_secret = find_secret,
  .keep_secret = keep_secret,
};
