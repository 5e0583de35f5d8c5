/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROCESS_FEED_H
#define FLAM_PROCESS_FEED_H

/* The processes of this machine or of another one, again and again: a recorder
 * that lists them (--list), here or there. */

#include "flam-process-list.h"

G_BEGIN_DECLS

typedef struct _FlamProcessFeed FlamProcessFeed;

/* A sorted GPtrArray of FlamProcess, every two seconds, with this process left
 * out; or NULL with an error, after which nothing comes. */
typedef void (*FlamProcessesRead) (GPtrArray *list,
                                   const GError *error,
                                   gpointer data);

/* `host`: as of flam-transport.h; NULL: this machine. `read` is not called
 * before this returns. */
FlamProcessFeed *flam_process_feed_start (const char *host,
                                          FlamProcessesRead read,
                                          gpointer data);
/* NULL is permitted. */
void flam_process_feed_stop (FlamProcessFeed *feed);

G_END_DECLS

#endif
