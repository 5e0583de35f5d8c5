/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SERVER_H
#define FLAM_SERVER_H

/* Requests to the server of a location: with the user's token, repeated if the
 * server is busy, and with errors in one sentence that names the URL.
 *
 * The token comes from the options, or a file that they name,
 * $FLAMBEAU_TOKEN_FILE, $FLAMBEAU_TOKEN or the keyring, in this order. It is
 * the password of the user in the URL, or else sent alone ("Bearer"). A token
 * from the keyring is only sent where nobody can listen. */

#include "flam-location.h"
#include "flam-spool.h"

G_BEGIN_DECLS

typedef struct
{
  const char *token;      /* as the user types it; or NULL */
  const char *token_file; /* or NULL */
  guint timeout;          /* s without a byte; 0: the default */
  guint64 most;           /* bytes of an answer; 0: the default */
  const FlamProgress *progress;
  gboolean asks_token; /* the user has a field for it */
} FlamServerOptions;

#define FLAM_SERVER_TIMEOUT 60
#define FLAM_SERVER_MOST (G_GUINT64_CONSTANT (1) << 30)

typedef struct
{
  const char *path;           /* after the location's base, with a query */
  const char *const *headers; /* name, value, ..., NULL; or NULL */
  const char *body_type;
  GBytes *body; /* NULL: GET */
} FlamServerRequest;

/* Adds the answer to `into`, which is then sealed. FALSE with "URL: why". */
gboolean flam_server_send (const FlamLocation *location,
                           const FlamServerRequest *request,
                           const FlamServerOptions *options,
                           FlamSpool *into,
                           GError **error);
/* The same for a short answer, as text; g_free. NULL with an error. */
char *flam_server_send_short (const FlamLocation *location,
                              const FlamServerRequest *request,
                              const FlamServerOptions *options,
                              GError **error);
/* Puts a token into the keyring, for the location's server. */
gboolean flam_server_keep_token (const FlamLocation *location,
                                 const char *token,
                                 GError **error);

G_END_DECLS

#endif
