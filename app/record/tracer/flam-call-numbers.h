/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_NUMBERS_H
#define FLAM_CALL_NUMBERS_H

/* The numbers of system calls. Processors that Linux supports since 2012 have
 * none of the older calls that a newer one replaces: these get numbers here
 * that no call has. */

#include <sys/syscall.h>

#ifndef SYS_open
enum
{
  SYS_open = -1000,
  SYS_creat,
  SYS_dup2,
  SYS_epoll_create,
  SYS_epoll_wait,
  SYS_eventfd,
  SYS_inotify_init,
  SYS_lstat,
  SYS_pause,
  SYS_pipe,
  SYS_poll,
  SYS_rename,
  SYS_select,
  SYS_signalfd,
  SYS_stat,
  SYS_unlink,
};
#endif

#endif
