/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-calls.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "flam-call-numbers.h"
#include "flam-stops.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

/* The results of a call. */
typedef enum
{
  NOTHING, /* of interest */
  MAPS,
  UNMAPS,
  MOVES,
  PROTECTS,
  BREAKS,
  OPENS,         /* a descriptor */
  OPENS_PAIR,    /* two, at its first argument */
  OPENS_SOCKETS, /* two, at its fourth */
  OPENS_SIGNALS, /* one, unless it has one already */
  DUPLICATES,    /* one, unless it is the same */
  CONTROLS,      /* one, if it duplicates */
  RECEIVES,      /* the descriptors in a message */
  CLOSES,
  CLOSES_RANGE,
} Shape;

#define CALL(name, shape)                                                      \
  {                                                                            \
    SYS_##name, shape                                                          \
  }

static const struct
{
  long number;
  Shape shape;
} calls[] = {
  CALL (mmap, MAPS),
  CALL (munmap, UNMAPS),
  CALL (mremap, MOVES),
  CALL (mprotect, PROTECTS),
  CALL (pkey_mprotect, PROTECTS),
  CALL (brk, BREAKS),
  CALL (open, OPENS),
  CALL (openat, OPENS),
  CALL (openat2, OPENS),
  CALL (creat, OPENS),
  CALL (open_by_handle_at, OPENS),
  CALL (open_tree, OPENS),
  CALL (fsopen, OPENS),
  CALL (fsmount, OPENS),
  CALL (fspick, OPENS),
  CALL (socket, OPENS),
  CALL (accept, OPENS),
  CALL (accept4, OPENS),
  CALL (dup, OPENS),
  CALL (epoll_create, OPENS),
  CALL (epoll_create1, OPENS),
  CALL (eventfd, OPENS),
  CALL (eventfd2, OPENS),
  CALL (timerfd_create, OPENS),
  CALL (inotify_init, OPENS),
  CALL (inotify_init1, OPENS),
  CALL (fanotify_init, OPENS),
  CALL (memfd_create, OPENS),
  CALL (memfd_secret, OPENS),
  CALL (userfaultfd, OPENS),
  CALL (perf_event_open, OPENS),
  CALL (io_uring_setup, OPENS),
  CALL (pidfd_open, OPENS),
  CALL (pidfd_getfd, OPENS),
  CALL (mq_open, OPENS),
  CALL (signalfd, OPENS_SIGNALS),
  CALL (signalfd4, OPENS_SIGNALS),
  CALL (pipe, OPENS_PAIR),
  CALL (pipe2, OPENS_PAIR),
  CALL (socketpair, OPENS_SOCKETS),
  CALL (dup2, DUPLICATES),
  CALL (dup3, DUPLICATES),
  CALL (fcntl, CONTROLS),
  CALL (recvmsg, RECEIVES),
  CALL (close, CLOSES),
  CALL (close_range, CLOSES_RANGE),
};

#define N_NUMBERS 512

static Shape
shape_of (FlamRecordWhat what, long number)
{
  static guint8 shapes[N_NUMBERS];
  static gsize filled;
  Shape shape;

  if (g_once_init_enter (&filled))
    {
      for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
        if (calls[i].number >= 0)
          shapes[calls[i].number] = (guint8)calls[i].shape;
      g_once_init_leave (&filled, 1);
    }
  if (number < 0 || number >= N_NUMBERS)
    return NOTHING;
  shape = shapes[number];
  return what & (shape < OPENS ? FLAM_RECORD_FAULTS : FLAM_RECORD_RESOURCES)
             ? shape
             : NOTHING;
}

/* --- entry --------------------------------------------------------------- */

/* AArch64's kernels may have pages of 16 or 64 KiB. */
static guint64
page_size (void)
{
  return (guint64)sysconf (_SC_PAGESIZE);
}

/* Of whole pages; FALSE: the call fails. */
static gboolean
is_range (guint64 at, guint64 size)
{
  return at % page_size () == 0 && size > 0 && size <= G_MAXINT64 &&
         at <= G_MAXINT64 - size;
}

static guint64
whole_pages (guint64 size)
{
  return (size + page_size () - 1) & ~(page_size () - 1);
}

guint
flam_call_enter (FlamRecordWhat what,
                 const FlamCall *call,
                 pid_t pid,
                 FlamCallEvent *events)
{
  const guint64 *arguments = call->arguments;

  switch (shape_of (what, call->number))
    {
    case UNMAPS:
    case MOVES:
      if (!is_range (arguments[0], arguments[1]))
        return 0;
      events[0] = (FlamCallEvent){ FLAM_CALL_UNMAP,
                                   arguments[0],
                                   whole_pages (arguments[1]) };
      return 1;
    case CLOSES:
      events[0] = (FlamCallEvent){ FLAM_CALL_CLOSE, (guint32)arguments[0], 1 };
      return 1;
    case CLOSES_RANGE:
      {
        guint32 first = (guint32)arguments[0], last = (guint32)arguments[1];

        if (first > last || (arguments[2] & CLOSE_RANGE_CLOEXEC))
          return 0;
        events[0] = (FlamCallEvent){ FLAM_CALL_CLOSE,
                                     first,
                                     (guint64)last - first + 1 };
        return 1;
      }
    default:
      return 0;
    }
}

/* --- exit ---------------------------------------------------------------- */

static guint
map (const FlamCall *call, gint64 result, FlamCallEvent *events)
{
  const guint64 *arguments = call->arguments;
  FlamCallOp op = arguments[2] == PROT_NONE             ? FLAM_CALL_RESERVE
                  : (arguments[3] & MAP_ANONYMOUS) != 0 ? FLAM_CALL_MAP
                                                        : FLAM_CALL_MAP_FILE;

  events[0] =
      (FlamCallEvent){ op, (guint64)result, whole_pages (arguments[1]) };
  return 1;
}

/* A call that fails has given nothing back. */
static guint
move (const FlamCall *call, gint64 result, FlamCallEvent *events)
{
  const guint64 *arguments = call->arguments;

  events[0] = result < 0 ? (FlamCallEvent){ FLAM_CALL_MAP,
                                            arguments[0],
                                            whole_pages (arguments[1]) }
                         : (FlamCallEvent){ FLAM_CALL_MAP,
                                            (guint64)result,
                                            whole_pages (arguments[2]) };
  return is_range (arguments[0], arguments[1]) ? 1 : 0;
}

static guint
protect (const FlamCall *call, FlamCallEvent *events)
{
  const guint64 *arguments = call->arguments;

  events[0] = (FlamCallEvent){ arguments[2] == PROT_NONE ? FLAM_CALL_FORBID
                                                         : FLAM_CALL_ALLOW,
                               arguments[0],
                               whole_pages (arguments[1]) };
  return is_range (arguments[0], arguments[1]) ? 1 : 0;
}

static guint
open_one (gint64 result, FlamCallEvent *events)
{
  events[0] = (FlamCallEvent){ FLAM_CALL_OPEN, (guint32)result, 1 };
  return 1;
}

static guint
open_two (pid_t pid, guint64 at, FlamCallEvent *events)
{
  guint32 numbers[2];

  if (flam_read_memory (pid, at, numbers, sizeof numbers) != sizeof numbers)
    return 0;
  for (guint i = 0; i < 2; i++)
    events[i] = (FlamCallEvent){ FLAM_CALL_OPEN, numbers[i], 1 };
  return 2;
}

/* The descriptors in a message: cmsg(3). */
static guint
receive (pid_t pid, guint64 at, FlamCallEvent *events)
{
  struct msghdr message;
  guint8 control[4096];
  gsize size;
  guint n = 0;

  if (flam_read_memory (pid, at, &message, sizeof message) != sizeof message ||
      message.msg_controllen < CMSG_LEN (sizeof (guint32)) ||
      message.msg_control == NULL)
    return 0;
  size = flam_read_memory (pid,
                           (guint64)(gsize)message.msg_control,
                           control,
                           MIN (message.msg_controllen, sizeof control));
  for (gsize i = 0; i + sizeof (struct cmsghdr) <= size;)
    {
      struct cmsghdr head;

      memcpy (&head, control + i, sizeof head);
      if (head.cmsg_len < sizeof head || head.cmsg_len > size - i)
        break;
      if (head.cmsg_level == SOL_SOCKET && head.cmsg_type == SCM_RIGHTS)
        for (gsize j = i + CMSG_LEN (0);
             j + sizeof (guint32) <= i + head.cmsg_len &&
             n < FLAM_CALL_EVENTS_MAX;
             j += sizeof (guint32))
          {
            guint32 number;

            memcpy (&number, control + j, sizeof number);
            events[n++] = (FlamCallEvent){ FLAM_CALL_OPEN, number, 1 };
          }
      i += CMSG_ALIGN (head.cmsg_len);
    }
  return n;
}

static gboolean
is_opened (Shape shape, const FlamCall *call)
{
  const guint64 *arguments = call->arguments;

  switch (shape)
    {
    case OPENS:
      return TRUE;
    case OPENS_SIGNALS:
      return (gint32)arguments[0] < 0;
    case DUPLICATES:
      return (guint32)arguments[0] != (guint32)arguments[1];
    case CONTROLS:
      return arguments[1] == F_DUPFD || arguments[1] == F_DUPFD_CLOEXEC;
    default:
      return FALSE;
    }
}

guint
flam_call_leave (FlamRecordWhat what,
                 const FlamCall *call,
                 pid_t pid,
                 gint64 result,
                 FlamCallEvent *events)
{
  Shape shape = shape_of (what, call->number);

  if (shape == MOVES)
    return move (call, result, events);
  if (shape == NOTHING || (result < 0 && result >= -4095))
    return 0;
  switch (shape)
    {
    case MAPS:
      return map (call, result, events);
    case PROTECTS:
      return protect (call, events);
    case BREAKS:
      events[0] = (FlamCallEvent){ FLAM_CALL_BREAK, (guint64)result, 0 };
      return 1;
    case OPENS_PAIR:
      return open_two (pid, call->arguments[0], events);
    case OPENS_SOCKETS:
      return open_two (pid, call->arguments[3], events);
    case RECEIVES:
      return receive (pid, call->arguments[1], events);
    default:
      return is_opened (shape, call) ? open_one (result, events) : 0;
    }
}

gboolean
flam_call_gets (const FlamCallEvent *events, guint n)
{
  for (guint i = 0; i < n; i++)
    if (events[i].op != FLAM_CALL_UNMAP && events[i].op != FLAM_CALL_FORBID &&
        events[i].op != FLAM_CALL_RESERVE && events[i].op != FLAM_CALL_CLOSE &&
        events[i].op != FLAM_CALL_END_THREAD)
      return TRUE;
  return FALSE;
}
