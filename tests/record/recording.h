/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the recorder's tests share: run it on a small target, look at what it
 * wrote. Targets are built beside the tests, from targets/. */

#include <sys/types.h>

#include "flam-core-profile.h"

G_BEGIN_DECLS

typedef struct
{
  char *path;           /* of the capture, removed at the end */
  FlamProfile *profile; /* NULL when there is no readable capture */
  int status;           /* the recorder's exit status, 128 + signal */
  char *error;          /* what it said on stderr, with the target's */
  char *said;           /* on the control descriptor */
} Recording;

/* The path of a target, g_free. */
char *target_path (const char *name);

/* Starts one alone, and waits until it is that program; it ends with the test,
 * whose output it would keep open. */
pid_t target_start (const char *name, const char *argument);

/* `arguments` are the recorder's, NULL-terminated, without --output. */
Recording *record (const char *const *arguments);
/* `recorder --rate 1000 OPTION -- TARGET ARGUMENT`; option may be NULL. */
Recording *
record_target (const char *option, const char *target, const char *argument);
void recording_free (Recording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Recording, recording_free)

/* It is readable and ended with `status`; and it lost hardly any samples. */
void assert_ended (const Recording *recording, int status);
void assert_good (const Recording *recording, int status);

gboolean has_warning (const FlamProfile *profile, const char *part);

/* In steps: start (with control), talk, end. */
typedef struct
{
  char *path;
  GPid pid;
  int control; /* our end */
  int error;
} Running;

Running *recorder_start (const char *const *arguments);
void recorder_say (Running *running, const char *line);
/* Reads what it says until a line begins with `prefix`; FALSE: it ended. */
gboolean recorder_wait_for (Running *running, const char *prefix);
/* The line, g_free; NULL: it ended. */
char *recorder_wait_for_line (Running *running, const char *prefix);
/* Waits for its end; frees `running`. */
Recording *recorder_end (Running *running);

/* Weight of a measure whose stacks end in, or hold, a function. */
gint64 weight_of (const FlamProfile *profile,
                  const char *measure,
                  const char *function,
                  gboolean self);
gint64 total_of (const FlamProfile *profile, const char *measure);
gint64 thread_weight (const FlamProfile *profile,
                      const char *measure,
                      const char *thread);
/* "leaf < caller < root" of the heaviest stack with a function on it; one that
 * reaches its root, if there is one: a late sample may weigh most. */
char *stack_text (const FlamProfile *profile, const char *leaf);
/* The share of samples whose stack begins in _start or where threads do. */
double rooted_share (const FlamProfile *profile);
/* How often a function is on the deepest stack, of a sample or an allocation,
 * that reaches its root. */
guint depth_of (const FlamProfile *profile, const char *function);
/* Shares are compared with what is known by construction, within the error of
 * sampling: four standard errors of a share of one half, by the first measure.
 * A sample weighs the time since the one before it: on a busy machine there are
 * few and heavy ones, and so many count for less. On a machine that is taken by
 * others samples are not independent: at least 3 points. */
double sampling_error (const FlamProfile *profile);
void
assert_share (gint64 part, gint64 whole, double expected, double tolerance);

G_END_DECLS
