/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HTTP_H
#define FLAM_HTTP_H

/* One exchange with a server over HTTP. libflambeau-http.so does it, by
 * libsoup, with the system's certificates and proxies; this is its interface.
 * An answer is bounded: in size, in the time without a byte, and in its own
 * time, by its size. */

#include <gio/gio.h>

G_BEGIN_DECLS

#define FLAM_HTTP_SYMBOL "flam_http_functions"
/* The bytes of an error's answer that are kept, to be shown. */
#define FLAM_HTTP_REASON 4096

typedef struct
{
  const char *method; /* "GET" */
  const char *url;    /* without a user and a fragment */
  /* The value of this header; or NULL. It is not sent to other hosts that the
   * server redirects to. */
  const char *authorization;
  const char *const *headers; /* name, value, ..., NULL; or NULL */
  const char *body_type;      /* of the body */
  GBytes *body;               /* or NULL */
  gint64 timeout;             /* us without a byte */
  guint64 most;               /* bytes of the answer */
} FlamHttpRequest;

typedef struct
{
  guint status;    /* 200 to 299: done */
  GString *reason; /* of another status: the beginning of the answer */
  gboolean early;  /* of an error: no part of an answer had arrived */
} FlamHttpAnswer;

/* The caller's end of it. */
typedef struct
{
  /* The next bytes of a good answer. */
  gboolean (*take) (gpointer data,
                    const void *bytes,
                    gsize length,
                    GError **error);
  /* FALSE: stop. Called several times per second. */
  gboolean (*go_on) (gpointer data);
  gpointer data;
} FlamHttpEnd;

typedef struct
{
  /* FALSE with an error of GIO's; a message for people, without the URL. */
  gboolean (*send) (const FlamHttpRequest *request,
                    const FlamHttpEnd *end,
                    FlamHttpAnswer *answer,
                    GError **error);
  /* The keyring's secret for a server; NULL: none, or no keyring. g_free. */
  char *(*find_secret) (const char *server);
  gboolean (*keep_secret) (const char *server,
                           const char *secret,
                           GError **error);
} FlamHttpFunctions;

G_END_DECLS

#endif
