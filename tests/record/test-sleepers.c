/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stack of a sleeping thread is copied while the thread is not stopped: the
 * contents of /proc before and after decide whether the copy is consistent.
 * Here /proc is scripted. */

#include "flam-sleepers.h"
#include "flam-tracer-state.h"

#include <string.h>
#include <unistd.h>

#define SCHEDSTAT 1001 /* descriptors that are never in use */
#define SYSCALL 1002

static guint64 stack[8];
static const char *const
    *counts; /* contents of schedstat, one per read; the last one stays */
static const char *call;

/* Replaces the C library's function. */
ssize_t pread64 (int fd, void *to, size_t size, off_t at);

ssize_t
pread64 (int fd, void *to, size_t size, off_t at)
{
  g_autofree char *text = NULL;

  if (fd == SCHEDSTAT)
    {
      text = g_strdup_printf ("5000 100 %s\n", counts[0]);
      if (counts[1] != NULL)
        counts++;
    }
  else if (fd == SYSCALL)
    text = g_strdup_printf (
        "%s 0x%" G_GINT64_MODIFIER "x 0x1234\n", call, (guint64)(gsize)stack);
  else
    return -1;
  g_assert_cmpuint (strlen (text), <, size);
  memcpy (to, text, strlen (text));
  return (ssize_t)strlen (text);
}

static const char sleeping[] = "230 0x0 0x0 0x7ffd 0x0 0x0 0x0"; /* nanosleep */

/* The number of stacks that are written of a thread that is examined once. */
static void
test_torn (void)
{
  static const char *const same[] = { "41", NULL };
  static const char *const before[] = { "41", "42", NULL };
  static const struct
  {
    const char *call;
    const char *const *counts;
    gboolean sleeps;
    guint n_samples;
  } rows[] = {
    { sleeping, same, TRUE, 1 },
    { sleeping, before, TRUE, 0 },
    { "running", same, FALSE, 0 },
  };
  FlamRecordOptions options = { .what = FLAM_RECORD_CPU | FLAM_RECORD_WALL };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree FlamTracer *tracer = g_new0 (FlamTracer, 1);
      FlamTarget target = { .pid = getpid () };
      FlamTask task = { .tid = getpid (),
                        .target = &target,
                        .schedstat_fd = SCHEDSTAT,
                        .syscall_fd = SYSCALL,
                        .stat_fd = -1,
                        .hint_copy = sizeof stack };
      FlamPipe pipe;

      g_test_message ("%u", i);
      flam_pipe_init (&pipe);
      tracer->options = &options;
      tracer->pipe = &pipe;
      call = rows[i].call;
      counts = rows[i].counts;
      g_assert_cmpint (
          flam_sleepers_check (tracer, &task, 1000), ==, rows[i].sleeps);
      g_assert_cmpuint (tracer->stats.samples, ==, rows[i].n_samples);
      g_assert_cmpint (task.blocked_known, ==, rows[i].n_samples);
      if (rows[i].n_samples > 0)
        {
          FlamMessage *message = (FlamMessage *)(gpointer)pipe.current->data;

          g_assert_cmpuint (message->kind, ==, FLAM_MESSAGE_ASLEEP);
          g_assert_cmpuint (message->regs[7], ==, (guint64)(gsize)stack);
          g_assert_cmpuint (message->regs[16], ==, 0x1234);
          g_assert_cmpmem (flam_message_stack (message),
                           flam_message_stack_size (message),
                           stack,
                           sizeof stack);
        }
      flam_pipe_clear (&pipe);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (stack); i++)
    stack[i] = 0x1111111111111111u * i;
  g_test_add_func ("/sleepers/torn", test_torn);
  return g_test_run ();
}
