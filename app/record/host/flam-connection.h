/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CONNECTION_H
#define FLAM_CONNECTION_H

/* A started client of flam-transport.h, and its standard error, whose last line
 * explains a failure. */

#include <glib.h>

typedef struct
{
  char *host;
  GPid pid; /* 0: none, or it has ended */
  int in, out, errors;
  GString *printed;
  gboolean (*is_stopped) (gpointer data); /* ends a wait */
  gpointer data;
} FlamConnection;

/* Runs `script` on `host`. Sets all members but the last two. */
gboolean flam_connection_open (FlamConnection *connection,
                               const char *host,
                               const char *script,
                               GError **error);
/* Continues it, if it was stopped: what is sent to it waits until then. */
void flam_connection_wake (const FlamConnection *connection);
/* Ends it and waits for its end, not for long. */
void flam_connection_close (FlamConnection *connection);

/* Reads its output so far. FALSE: nothing more will follow. */
gboolean flam_connection_listen (FlamConnection *connection);
/* Sets "HOST: WHAT: the last line that was printed". */
gboolean flam_connection_fail (FlamConnection *connection,
                               const char *what,
                               GError **error);

/* These block. FALSE: not as many bytes arrived. */
gboolean flam_connection_read (FlamConnection *connection,
                               gpointer data,
                               gsize size,
                               GError **error);
/* Returns a line that the script has printed, without its end;
 * NULL with the reason if none arrived. */
char *flam_connection_read_line (FlamConnection *connection, GError **error);
gboolean flam_connection_write (FlamConnection *connection,
                                gconstpointer data,
                                gsize size,
                                GError **error);

#endif
