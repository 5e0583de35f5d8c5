/* SPDX-License-Identifier: GPL-3.0-or-later */

/* forbidden ARG...: runs the program $FLAM_FORBIDDEN with these arguments, in a
 * sandbox that forbids perf_event_open, as containers do. */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  struct sock_filter filter[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
  const char *path = getenv ("FLAM_FORBIDDEN");

  if (path == NULL || prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    {
      perror ("forbidden");
      return 125;
    }
  argv[0] = (char *)path;
  execv (path, argv);
  perror (path);
  return 126;
}
