/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-query.h"
#include "recording.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-capture-reader.h"

char *
target_path (const char *name)
{
  return g_test_build_filename (G_TEST_BUILT, "record", name, NULL);
}

pid_t
target_start (const char *name, const char *argument)
{
  g_autofree char *path = target_path (name);
  g_autofree char *ours = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *link = NULL;
  pid_t test = getpid (), pid = fork ();

  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      if (getppid () == test)
        execl (path, name, argument, NULL);
      _exit (127);
    }
  link = g_strdup_printf ("/proc/%d/exe", (int)pid);
  for (;;)
    {
      g_autofree char *program = g_file_read_link (link, NULL);
      if (g_strcmp0 (program, ours) != 0)
        return pid;
      g_usleep (1000);
    }
}

static FlamProfile *
open_capture (const char *path)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new (path, builder);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;
  gboolean changed;
  int fd = open (path, O_RDONLY | O_CLOEXEC);

  if (fd < 0)
    return NULL;
  if (!flam_capture_reader_poll (reader, fd, &changed, &error))
    g_error ("%s", error->message);
  close (fd);
  profile = flam_builder_finish (builder, &error);
  if (profile == NULL)
    g_error ("%s: %s", path, error->message);
  return g_steal_pointer (&profile);
}

static int
exit_status (GPid pid)
{
  int status;

  while (waitpid (pid, &status, 0) < 0)
    ;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static void
set_up_child (gpointer data)
{
  const int *control = data;

  fcntl (*control, F_SETFD, 0);
}

Running *
recorder_start (const char *const *arguments)
{
  Running *running = g_new0 (Running, 1);
  g_autoptr (GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  int pair[2], fd;

  fd = g_file_open_tmp ("flam-XXXXXX.flambeau", &running->path, NULL);
  close (fd);
  g_unlink (running->path);
  g_assert_cmpint (
      socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
  running->control = pair[0];
  g_ptr_array_add (argv, g_strdup (g_getenv ("FLAMBEAU_RECORDER")));
  g_ptr_array_add (argv, g_strdup ("--output"));
  g_ptr_array_add (argv, g_strdup (running->path));
  g_ptr_array_add (argv, g_strdup ("--control-fd"));
  g_ptr_array_add (argv, g_strdup_printf ("%d", pair[1]));
  for (guint i = 0; arguments[i] != NULL; i++)
    g_ptr_array_add (argv, g_strdup (arguments[i]));
  g_ptr_array_add (argv, NULL);
  if (!g_spawn_async_with_pipes (NULL,
                                 (char **)argv->pdata,
                                 NULL,
                                 G_SPAWN_DO_NOT_REAP_CHILD |
                                     G_SPAWN_LEAVE_DESCRIPTORS_OPEN |
                                     G_SPAWN_STDOUT_TO_DEV_NULL,
                                 set_up_child,
                                 &pair[1],
                                 &running->pid,
                                 NULL,
                                 NULL,
                                 &running->error,
                                 &error))
    g_error ("%s", error->message);
  close (pair[1]);
  return running;
}

void
recorder_say (Running *running, const char *line)
{
  g_autofree char *text = g_strconcat (line, "\n", NULL);

  g_assert_cmpint (
      write (running->control, text, strlen (text)), ==, strlen (text));
}

static gboolean
read_control_line (Running *running, GString *line)
{
  char byte;

  g_string_truncate (line, 0);
  while (read (running->control, &byte, 1) == 1)
    {
      if (byte == '\n')
        return TRUE;
      g_string_append_c (line, byte);
    }
  return FALSE;
}

char *
recorder_wait_for_line (Running *running, const char *prefix)
{
  g_autoptr (GString) line = g_string_new (NULL);

  while (read_control_line (running, line))
    if (g_str_has_prefix (line->str, prefix))
      return g_strdup (line->str);
  return NULL;
}

gboolean
recorder_wait_for (Running *running, const char *prefix)
{
  g_autofree char *line = recorder_wait_for_line (running, prefix);

  return line != NULL;
}

static char *
read_all (int fd)
{
  GString *text = g_string_new (NULL);
  char buffer[4096];
  ssize_t n;

  while ((n = read (fd, buffer, sizeof buffer)) > 0)
    g_string_append_len (text, buffer, n);
  close (fd);
  return g_string_free (text, FALSE);
}

Recording *
recorder_end (Running *running)
{
  Recording *recording = g_new0 (Recording, 1);

  recording->said = read_all (running->control);
  recording->error = read_all (running->error);
  recording->status = exit_status (running->pid);
  recording->path = running->path;
  recording->profile = open_capture (running->path);
  g_free (running);
  return recording;
}

Recording *
record (const char *const *arguments)
{
  return recorder_end (recorder_start (arguments));
}

Recording *
record_target (const char *option, const char *target, const char *argument)
{
  g_autofree char *path = target_path (target);
  const char *arguments[8];
  guint n = 0;

  if (option != NULL)
    arguments[n++] = option;
  arguments[n++] = "--rate";
  arguments[n++] = "1000";
  arguments[n++] = "--";
  arguments[n++] = path;
  arguments[n++] = argument;
  arguments[n] = NULL;
  return record (arguments);
}

void
recording_free (Recording *recording)
{
  g_unlink (recording->path);
  g_clear_pointer (&recording->profile, flam_profile_unref);
  g_free (recording->path);
  g_free (recording->error);
  g_free (recording->said);
  g_free (recording);
}

void
assert_ended (const Recording *recording, int status)
{
  if (recording->status != status)
    g_error ("status %d, expected %d: %s",
             recording->status,
             status,
             recording->error);
  g_assert_nonnull (recording->profile);
}

void
assert_good (const Recording *recording, int status)
{
  assert_ended (recording, status);
  /* A recorder that gets no CPU for a long time loses some; one with sanitizers
   * takes up to a second to read a large program's tables. */
#ifndef __SANITIZE_ADDRESS__
  g_assert_cmpuint (
      20 * recording->profile->facts.lost, <=, recording->profile->samples.n);
#endif
}

gboolean
has_warning (const FlamProfile *profile, const char *part)
{
  for (guint i = 0; profile->facts.warnings[i] != NULL; i++)
    if (strstr (profile->facts.warnings[i], part) != NULL)
      return TRUE;
  return FALSE;
}

/* --- content ------------------------------------------------------------- */

static const char *
frame_name (const FlamProfile *profile, FlamStackId stack)
{
  return flam_profile_function_name (
      profile, profile->frames.function[profile->stacks.frame[stack]]);
}

static gint64
weight (const FlamProfile *profile, const char *measure, guint32 sample)
{
  int i = flam_profile_find_measure (profile, measure);

  g_assert_cmpint (i, >=, 0);
  return profile->measures[i].weight != NULL
             ? profile->measures[i].weight[sample]
             : 1;
}

static FlamWeights *
weights_of (const FlamProfile *profile, const char *measure)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  int index = flam_profile_find_measure (profile, measure);

  g_assert_cmpint (index, >=, 0);
  selection->measure = index;
  return flam_weights_new (profile, selection, NULL, NULL);
}

gint64
total_of (const FlamProfile *profile, const char *measure)
{
  g_autoptr (FlamWeights) weights = weights_of (profile, measure);

  return weights->total;
}

/* The part of a stack whose leaf is a function, FLAM_NONE without it. */
static FlamId
find_frame (const FlamProfile *profile, FlamId stack, const char *function)
{
  while (stack != FLAM_NONE &&
         strcmp (frame_name (profile, stack), function) != 0)
    stack = profile->stacks.prefix[stack];
  return stack;
}

static gboolean
stack_holds (const FlamProfile *profile,
             FlamStackId stack,
             const char *function,
             gboolean self)
{
  if (self)
    return strcmp (frame_name (profile, stack), function) == 0;
  return find_frame (profile, stack, function) != FLAM_NONE;
}

gint64
weight_of (const FlamProfile *profile,
           const char *measure,
           const char *function,
           gboolean self)
{
  g_autoptr (FlamWeights) weights = weights_of (profile, measure);
  gint64 total = 0;

  for (FlamId s = 0; s < profile->stacks.n; s++)
    if (weights->weight[s] != 0 && stack_holds (profile, s, function, self))
      total += weights->weight[s];
  return total;
}

gint64
weight_through (const FlamProfile *profile,
                const char *measure,
                const char *caller,
                const char *function)
{
  g_autoptr (FlamWeights) weights = weights_of (profile, measure);
  gint64 total = 0;

  for (FlamId s = 0; s < profile->stacks.n; s++)
    if (weights->weight[s] != 0 &&
        find_frame (profile, find_frame (profile, s, function), caller) !=
            FLAM_NONE)
      total += weights->weight[s];
  return total;
}

gint64
thread_weight (const FlamProfile *profile,
               const char *measure,
               const char *thread)
{
  gint64 total = 0;

  for (guint32 t = 0; t < profile->threads.n; t++)
    if (strcmp (flam_profile_string (profile, profile->threads.name[t]),
                thread) == 0)
      for (guint32 i = 0; i < profile->threads.n_samples[t]; i++)
        total +=
            weight (profile, measure, profile->threads.first_sample[t] + i);
  return total;
}

static gboolean
is_root (const char *name)
{
  static const char *const roots[] = {
    "_start",  "clone3",       "__clone3",  "clone",
    "__clone", "start_thread", "_dl_start", "__GI___clone3",
  };

  for (guint i = 0; i < G_N_ELEMENTS (roots); i++)
    if (strcmp (name, roots[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_rooted (const FlamProfile *profile, FlamStackId stack)
{
  while (profile->stacks.prefix[stack] != FLAM_NONE)
    stack = profile->stacks.prefix[stack];
  return is_root (frame_name (profile, stack));
}

char *
stack_text (const FlamProfile *profile, const char *leaf)
{
  const char *measure = flam_profile_string (profile, profile->measures[0].id);
  g_autoptr (FlamWeights) weights = weights_of (profile, measure);
  GString *text = g_string_new (NULL);
  FlamId best = FLAM_NONE;
  gint64 best_weight = 0;

  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      gint64 weight = weights->weight[i];

      if (weight <= 0 || !stack_holds (profile, i, leaf, FALSE))
        continue;
      if (is_rooted (profile, i))
        weight += weights->total;
      if (weight > best_weight)
        {
          best = i;
          best_weight = weight;
        }
    }
  for (; best != FLAM_NONE; best = profile->stacks.prefix[best])
    g_string_append_printf (
        text, "%s%s", text->len > 0 ? " < " : "", frame_name (profile, best));
  return g_string_free (text, FALSE);
}

/* Prefixes come first: each stack's content is determined once. */
guint
depth_of (const FlamProfile *profile, const char *function)
{
  g_autofree guint *n = g_new0 (guint, profile->stacks.n);
  guint most = 0;

  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      FlamStackId prefix = profile->stacks.prefix[i];

      n[i] = (prefix != FLAM_NONE ? n[prefix] : 0) +
             (strcmp (frame_name (profile, i), function) == 0);
    }
  for (guint32 i = 0; i < profile->samples.n + profile->allocations.n; i++)
    {
      FlamStackId stack =
          i < profile->samples.n
              ? profile->samples.stack[i]
              : profile->allocations.stack[i - profile->samples.n];

      if (stack != FLAM_NONE && n[stack] > most && is_rooted (profile, stack))
        most = n[stack];
    }
  return most;
}

double
rooted_share (const FlamProfile *profile)
{
  guint32 rooted = 0, n = 0;

  for (guint32 i = 0; i < profile->samples.n; i++)
    {
      FlamStackId stack = profile->samples.stack[i];

      /* Time without samples has no stack. */
      if (profile->samples.event != NULL && profile->samples.event[i] != 0)
        continue;
      n++;
      rooted += stack != FLAM_NONE && is_rooted (profile, stack);
    }
  return n > 0 ? (double)rooted / n : 0;
}

void
assert_share (gint64 part, gint64 whole, double expected, double tolerance)
{
  double share = whole > 0 ? (double)part / (double)whole : 0;

  if (share < expected - tolerance || share > expected + tolerance)
    g_error (
        "a share of %.4f, expected %.2f +- %.3f", share, expected, tolerance);
}

double
sampling_error (const FlamProfile *profile)
{
  const gint64 *weight = profile->measures[0].weight;
  double sum = 0, squares = 0;

  for (guint32 i = 0; i < profile->samples.n; i++)
    {
      double w = weight != NULL ? (double)weight[i] : 1;
      sum += w;
      squares += w * w;
    }
  return sum > 0 ? MAX (2 * sqrt (squares) / sum, 0.03) : 1;
}
