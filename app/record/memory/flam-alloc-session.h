/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The recorder's end of allocation recording: makes the folder that targets
 * with the preload library write to, follows the files that appear there (one
 * a process), and hands events in the order of their times to the ledger. The
 * shared layout: preload/flam-alloc-shared.h.
 *
 *   rings of all threads ──(by time stamp)──▶ ledger ──▶ capture
 *
 * Used by the thread that owns the capture's writer. What is in the files is
 * the target's and may be anything: every number is checked. */

#include "flam-builder.h"
#include "flam-inject.h"

#include <sys/types.h>

/* What the owner provides to the session. */
typedef struct
{
  /* The capture's row for a thread; `name` for those not met before. */
  FlamId (*thread) (gpointer data, pid_t pid, pid_t tid, const char *name);
  /* The capture's frame for a place in a mapping of `pid`, which is at `offset`
   * + `bias` in memory. `path` "" for generated code. */
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
  guint full;    /* processes that had no memory for what they said */
  guint damaged; /* processes that wrote what the library does not */
} FlamAllocStats;

typedef struct _FlamAllocSession FlamAllocSession;

/* `sample_bytes` 0: every allocation. `python`: with Python's frames.
 * `start_ns`: CLOCK_MONOTONIC at the
 * capture's time 0. NULL with an error when there is no place for the files,
 * or the preload library is not where it should be. */
FlamAllocSession *flam_alloc_session_new (FlamBuilder *builder,
                                          const FlamAllocOwner *owner,
                                          guint64 sample_bytes,
                                          gboolean follow,
                                          gboolean python,
                                          gint64 start_ns,
                                          GError **error);
void flam_alloc_session_free (FlamAllocSession *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAllocSession, flam_alloc_session_free)

/* What programs are to load; valid as long as the session. */
FlamInjection flam_alloc_session_injection (const FlamAllocSession *session);

/* Handles what is there; how many events. */
guint64 flam_alloc_session_drain (FlamAllocSession *session);
/* The same for one process, found anew if need be: before what is known of it
 * or of one of its threads is forgotten. `ends`: nothing comes after. FALSE: it
 * never said anything. */
gboolean flam_alloc_session_drain_process (FlamAllocSession *session,
                                           pid_t pid,
                                           gboolean ends);
/* A process is not recorded; `why` goes on after "it ". */
void flam_alloc_session_miss (FlamAllocSession *session,
                              pid_t pid,
                              const char *name,
                              const char *why);
/* Returns when a ring fills up, or has done so since the last drain began, or
 * after `timeout` µs. Events are cheap by the thousand, not one by one. */
void flam_alloc_session_wait (FlamAllocSession *session, gint64 timeout);
/* Targets go silent, the rest is handled, the peak is written. */
void flam_alloc_session_finish (FlamAllocSession *session, gint64 now);
void flam_alloc_session_stats (const FlamAllocSession *session,
                               FlamAllocStats *stats);
