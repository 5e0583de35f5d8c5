/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-members.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "flam-bpf.h"
#include "flam-perf-events.h"

#define MEMBERS_MAX 65536
/* Of the first PID namespace: include/linux/proc_ns.h. */
#define FIRST_NAMESPACE 0xEFFFFFFCu

struct _FlamPerfMembers
{
  int map;     /* process -> 0 */
  int program; /* at each creation of a thread or process; -1: none */
  int event;   /* which lets it run */
};

enum
{
  CONTEXT = BPF_REG_6,
};

/* Slots of its stack. */
#define PROCESS (-4)
#define VALUE (-16)

/* `child`: where the tracepoint's record has the child's number. That of a
 * thread is added, too, where it is of no use. */
static int
load_program (int map, guint child)
{
  g_autofree FlamBpf *code = g_new0 (FlamBpf, 1);

  flam_bpf_set (code, CONTEXT, BPF_REG_1);
  flam_bpf_call (code, BPF_FUNC_get_current_pid_tgid);
  flam_bpf_put (code, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
  flam_bpf_store (code, BPF_W, BPF_REG_10, PROCESS, BPF_REG_0);
  flam_bpf_look_up (code, map, PROCESS);
  flam_bpf_put (code, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 2, 0);
  flam_bpf_leave (code, 0);
  flam_bpf_put (
      code, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_1, CONTEXT, (gint16)child, 0);
  flam_bpf_store (code, BPF_W, BPF_REG_10, PROCESS, BPF_REG_1);
  flam_bpf_store_zero (code, BPF_REG_10, VALUE);
  flam_bpf_set_map (code, BPF_REG_1, map);
  flam_bpf_set (code, BPF_REG_2, BPF_REG_10);
  flam_bpf_add_value (code, BPF_REG_2, PROCESS);
  flam_bpf_set (code, BPF_REG_3, BPF_REG_10);
  flam_bpf_add_value (code, BPF_REG_3, VALUE);
  flam_bpf_set_value (code, BPF_REG_4, BPF_ANY);
  flam_bpf_call (code, BPF_FUNC_map_update_elem);
  flam_bpf_leave (code, 0);
  return flam_bpf_load_program (code, BPF_PROG_TYPE_TRACEPOINT);
}

/* The program runs for all processes of the system. */
static int
open_event (guint64 id, int program)
{
  struct perf_event_attr attr = {
    .size = sizeof attr,
    .type = PERF_TYPE_TRACEPOINT,
    .config = id,
    .sample_period = 1,
    .sample_type = PERF_SAMPLE_RAW,
  };
  int fd = (int)syscall (
      SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

  if (fd < 0)
    return -1;
  if (ioctl (fd, PERF_EVENT_IOC_SET_BPF, program) == 0)
    return fd;
  close (fd);
  return -1;
}

/* A program sees the numbers of the first PID namespace. */
static gboolean
is_in_first_namespace (void)
{
  struct stat own;

  return stat ("/proc/self/ns/pid", &own) == 0 && own.st_ino == FIRST_NAMESPACE;
}

FlamPerfMembers *
flam_perf_members_new (gboolean children)
{
  FlamPerfMembers *members = g_new0 (FlamPerfMembers, 1);
  guint64 id;
  guint child;

  members->map = members->program = members->event = -1;
  errno = EPERM;
  if (is_in_first_namespace ())
    members->map = flam_bpf_make_map (BPF_MAP_TYPE_HASH, 4, 8, MEMBERS_MAX);
  if (members->map >= 0 && !children)
    return members;
  if (members->map >= 0 && flam_perf_events_tracepoint (
                               "sched_process_fork", "child_pid", &id, &child))
    members->program = load_program (members->map, child);
  if (members->program >= 0)
    members->event = open_event (id, members->program);
  if (members->event >= 0)
    return members;
  flam_perf_members_free (members);
  return NULL;
}

void
flam_perf_members_free (FlamPerfMembers *members)
{
  int code = errno;

  if (members->event >= 0)
    close (members->event);
  if (members->program >= 0)
    close (members->program);
  if (members->map >= 0)
    close (members->map);
  g_free (members);
  errno = code;
}

int
flam_perf_members_map (const FlamPerfMembers *members)
{
  return members->map;
}

void
flam_perf_members_add (const FlamPerfMembers *members, pid_t pid)
{
  flam_bpf_set_element (
      members->map, &(guint32){ (guint32)pid }, &(guint64){ 0 });
}

void
flam_perf_members_remove (const FlamPerfMembers *members, pid_t pid)
{
  flam_bpf_delete_element (members->map, &(guint32){ (guint32)pid });
}
