/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RELAY_JOIN_H
#define FLAM_RELAY_JOIN_H

/* How a relay gets another connection when the first one was lost: a process
 * that the new connection's client has started passes its descriptors on.
 *
 *   client ════════ flam_relay_join() ── socket ── flam_relay_accept()
 *                   (waits)                        (reads and writes)
 *
 * The socket has an abstract name, which the client chose at random, and both
 * ends check that the other one belongs to the same user. */

#include <glib.h>

/* FLAM_JOIN_OPTION NAME */
#define FLAM_JOIN_OPTION "--join"

typedef struct
{
  int socket; /* -1: there was none to accept */
  int in, out;
  guint64 received; /* by the client, before the connection was lost */
} FlamJoined;

/* The listening socket; -1: not possible. */
int flam_relay_listen (const char *name);
/* The next connection, if there is one. Its process lives until `socket` is
 * closed. */
FlamJoined flam_relay_accept (int listening);
/* Hands over standard input and output; the exit status. Prints `begin` or
 * `gone` after FLAM_RELAY_WORD. */
int flam_relay_join (const char *name);

#define FLAM_RELAY_WORD "flambeau-recorder:"

#endif
