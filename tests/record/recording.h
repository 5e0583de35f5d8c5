/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_RECORDING_H
#define FLAM_TEST_RECORDING_H

/* Shared by the recorder's tests: runs it on a small target, and examines the
 * capture. Targets are built beside the tests, from targets/. */

#include <sys/types.h>

#include "flam-core-profile.h"

G_BEGIN_DECLS

typedef struct
{
  char *path;           /* of the capture, removed at the end */
  FlamProfile *profile; /* NULL if there is no readable capture */
  int status;           /* the recorder's exit status, 128 + signal */
  char *error;          /* its output on stderr, with the target's */
  char *said;           /* on the control descriptor */
} Recording;

/* The path of a target, g_free. */
char *target_path (const char *name);

/* Starts a target alone, and waits until it has called exec; it ends with the
 * test, whose output it would otherwise keep open. */
pid_t target_start (const char *name, const char *argument);

/* `arguments` are the recorder's, NULL-terminated, without --output. */
Recording *record (const char *const *arguments);
/* `recorder --rate 1000 OPTION -- TARGET ARGUMENT`; option may be NULL. */
Recording *
record_target (const char *option, const char *target, const char *argument);
void recording_free (Recording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Recording, recording_free)

/* Asserts that it is readable, ended with `status`, and lost hardly any
 * samples. */
void assert_ended (const Recording *recording, int status);
void assert_good (const Recording *recording, int status);

gboolean has_warning (const FlamProfile *profile, const char *part);

/* In steps: start (with control), communicate, end. */
typedef struct
{
  char *path;
  GPid pid;
  int control; /* our end */
  int error;
} Running;

Running *recorder_start (const char *const *arguments);
void recorder_say (Running *running, const char *line);
/* Reads its lines until one begins with `prefix`; FALSE: it ended. */
gboolean recorder_wait_for (Running *running, const char *prefix);
/* The line, g_free; NULL: it ended. */
char *recorder_wait_for_line (Running *running, const char *prefix);
/* Waits for its end; frees `running`. */
Recording *recorder_end (Running *running);

/* Weight of a measure whose stacks end in, or contain, a function. */
gint64 weight_of (const FlamProfile *profile,
                  const char *measure,
                  const char *function,
                  gboolean self);
/* Of stacks in which `function` is below `caller`. */
gint64 weight_through (const FlamProfile *profile,
                       const char *measure,
                       const char *caller,
                       const char *function);
gint64 total_of (const FlamProfile *profile, const char *measure);
gint64 thread_weight (const FlamProfile *profile,
                      const char *measure,
                      const char *thread);
/* "leaf < caller < root" of the heaviest stack that contains a function,
 * preferably one that reaches its root: a late sample may weigh most. */
char *stack_text (const FlamProfile *profile, const char *leaf);
/* The share of samples whose stacks begin in _start or at the start of a
 * thread. */
double rooted_share (const FlamProfile *profile);
/* The number of frames of a function in the deepest stack, of a sample or an
 * allocation, that reaches its root. */
guint depth_of (const FlamProfile *profile, const char *function);
/* Compares shares with those known by construction, within the error of
 * sampling: four standard errors of a share of one half, by the first measure.
 * A sample weighs the time since the previous one, so on a busy machine there
 * are few and heavy samples, which count as fewer. On a machine that others
 * use, samples are not independent: at least 3 points are allowed. */
double sampling_error (const FlamProfile *profile);
void
assert_share (gint64 part, gint64 whole, double expected, double tolerance);

G_END_DECLS

#endif
