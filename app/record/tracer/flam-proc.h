/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROC_H
#define FLAM_PROC_H

/* Reads /proc/PID/task/TID/NAME, and of a leader /proc/PID/NAME: it may have
 * ended while its other threads are still alive. If no descriptor is available,
 * the data is missing and the recording contains a warning. */

#include <glib.h>
#include <sys/types.h>

/* Returns a descriptor, or -1. */
int flam_proc_open (pid_t pid, pid_t tid, const char *name);
/* Returns a descriptor that stays open, or -1 if many are in use, so that
 * others remain available. */
int flam_proc_open_kept (pid_t pid, pid_t tid, const char *name);
/* The whole file, g_free; NULL: there is none. */
char *flam_proc_text (pid_t pid, pid_t tid, const char *name);
/* Whether the process does nothing on the signal, by its own choice or by
 * default. */
gboolean flam_proc_ignores (pid_t pid, int sig);
/* The thread's name. */
gboolean flam_proc_comm (pid_t pid, pid_t tid, char comm[16]);
/* Bytes of executable mappings: another number means other mappings. 0:
 * unknown. */
guint64 flam_proc_code_size (pid_t pid, pid_t tid);

/* Values of /proc/PID/task/TID/sched, written by kernel/sched/debug.c. */
typedef struct
{
  gint64 moved_at; /* se.exec_start, ns by the clock of the thread's run queue:
                    * when it was last put on a CPU, taken off it, or charged
                    * for its time there */
  gint64 cpu;      /* se.sum_exec_runtime, ns: its CPU time until then */
  guint64 left;    /* nr_switches: how often it left a CPU */
} FlamSwitches;

/* FALSE: `text` does not contain them. */
gboolean flam_proc_parse_switches (const char *text, FlamSwitches *switches);

typedef struct
{
  pid_t pid;
  pid_t parent;
} FlamKin;

/* The number of the last process of this pid namespace: proc(5); -1: unknown.
 * Reading it takes 5 µs, reading the names of all processes takes
 * milliseconds. */
gint64 flam_proc_last (void);
/* All processes but this one, also those that are not yet reaped. GArray of
 * FlamKin. */
GArray *flam_proc_all (void);
/* The descendants of unrelated processes, pid_t, each after its parent; without
 * those that have ended, and without this process and its descendants. GArray
 * of FlamKin. */
GArray *flam_proc_below (const GArray *pids);
/* Its command line, arguments separated by spaces, on one line; or its name, or
 * its number. g_free. */
char *flam_proc_command (pid_t pid);
/* Its working folder, g_free; NULL: it has ended, may not be read, or its
 * folder was deleted. */
char *flam_proc_folder (pid_t pid);
/* Whether it runs, or has ended and is not yet reaped. */
gboolean flam_proc_lives (pid_t pid);

/* Called with the error of any open() that failed. */
void flam_proc_note_error (int error);
/* Whether descriptors ran out. */
gboolean flam_proc_starved (void);

#endif
