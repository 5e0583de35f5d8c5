/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SAFE_POINT_H
#define FLAM_SAFE_POINT_H

/* Whether a stopped thread may be used for a call of the loader: it must not be
 * in the middle of a function that such a call needs, because it would find
 * that function's locks held, by itself, or its data half changed. So every
 * frame of its stack is looked at:
 *
 *   poll < wait_for_client < main < _start      may be used
 *   malloc < strdup < main                      not: in an allocator
 *   _dl_fixup < main                            not: in the loader
 *   futex < start_thread                        not: the C library's own work
 *
 * This also applies to the calls that a signal handler has interrupted. */

#include <glib.h>
#include <sys/types.h>

typedef struct _FlamSafePoint FlamSafePoint;

/* NULL with a reason, which continues a sentence after "it ", if the process
 * has no C library that can load others, or its files cannot be read. */
FlamSafePoint *flam_safe_point_new (pid_t pid, const char **why);
void flam_safe_point_free (FlamSafePoint *safe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSafePoint, flam_safe_point_free)

/* A function of the C library; 0: it has none of that name. */
guint64 flam_safe_point_function (const FlamSafePoint *safe, const char *name);
/* The address of the instructions `syscall; ret` in it, and of those that call
 * rt_sigreturn, to which its signal handlers return. */
guint64 flam_safe_point_gate (const FlamSafePoint *safe);
guint64 flam_safe_point_leave (const FlamSafePoint *safe);
gboolean flam_safe_point_allows (FlamSafePoint *safe, pid_t tid);

#endif
