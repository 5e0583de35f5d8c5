/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_SESSION_H
#define FLAM_ALLOC_SESSION_H

/* The recorder's side of allocation recording: makes the folder into which
 * targets with the preload library write, follows the files that appear there
 * (one per process), and passes events in the order of their times to the
 * ledger. The shared layout is in preload/flam-alloc-shared.h.
 *
 *   rings of all threads ──(by time stamp)──▶ ledger ──▶ capture
 *
 * Used by the thread that uses the capture's writer. The content of the files
 * is the target's and may be anything: every number is checked. */

#include "flam-core-profile.h"
#include "flam-inject.h"

#include <sys/types.h>

/* The functions that the session needs. */
typedef struct
{
  /* The capture's row for a thread; `name` is for a new one. */
  FlamId (*thread) (gpointer data, pid_t pid, pid_t tid, const char *name);
  /* The capture's frame for a location in a mapping of `pid`, which is at
   * `offset` + `bias` in memory. `path` is "" for generated code. */
  FlamId (*frame) (gpointer data,
                   pid_t pid,
                   const char *path,
                   guint64 start,
                   guint64 end,
                   guint64 bias,
                   guint64 inode,
                   guint64 offset);
  gpointer data;
} FlamAllocOwner;

typedef struct
{
  guint64 lost;
  guint64 truncated;
  guint full;    /* processes without memory for all their data */
  guint damaged; /* processes that wrote invalid data */
} FlamAllocStats;

typedef struct _FlamAllocSession FlamAllocSession;

/* The path of the allocation library; g_free. */
char *flam_alloc_session_library (GError **error);

/* `sample_bytes` 0: every allocation. `python`: with Python frames. `attached`:
 * to processes that run already. `start_ns`: CLOCK_MONOTONIC at the capture's
 * time 0. `spill`: an empty file for the tables of a large heap, which is taken
 * over; -1: none. NULL with an error if there is no folder for the files, or
 * the preload library is not at its installed path. */
FlamAllocSession *flam_alloc_session_new (FlamBuilder *builder,
                                          const FlamAllocOwner *owner,
                                          guint64 sample_bytes,
                                          gboolean follow,
                                          gboolean python,
                                          gboolean attached,
                                          gint64 start_ns,
                                          int spill,
                                          GError **error);
void flam_alloc_session_free (FlamAllocSession *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAllocSession, flam_alloc_session_free)

/* Sets another time 0; call before the first event is handled. */
void flam_alloc_session_set_start (FlamAllocSession *session, gint64 start_ns);
/* The library that programs must load; valid as long as the session. */
FlamInjection flam_alloc_session_injection (const FlamAllocSession *session);

/* Handles the available events; returns how many. */
guint64 flam_alloc_session_drain (FlamAllocSession *session);
/* The same for one process, whose file is searched for again if necessary:
 * called before the data of the process or of one of its threads is dropped.
 * `ends`: no more events follow. FALSE: the process never wrote any event. */
gboolean flam_alloc_session_drain_process (FlamAllocSession *session,
                                           pid_t pid,
                                           gboolean ends);
/* Reports a process that is not recorded; `why` continues a sentence after "it
 * ". */
void flam_alloc_session_miss (FlamAllocSession *session,
                              pid_t pid,
                              const char *name,
                              const char *why);
/* Returns when a ring fills up, or has done so since the last drain began, or
 * after `timeout` µs. Handling thousands of events at a time is cheap, handling
 * single events is not. */
void flam_alloc_session_wait (FlamAllocSession *session, gint64 timeout);
/* Stops the targets, handles the remaining events, and writes the peak. */
void flam_alloc_session_finish (FlamAllocSession *session, gint64 now);
void flam_alloc_session_stats (const FlamAllocSession *session,
                               FlamAllocStats *stats);

#endif
