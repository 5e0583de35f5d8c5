/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RECORD_OPTIONS_H
#define FLAM_RECORD_OPTIONS_H

/* The settings of a recording, as a value: read from a command line, and
 * written as one. The recorder and flambeau-cli read it, the window's dialog
 * writes it; the options and their help texts are in one table here, against
 * which the man page and the shells' completions are checked. */

#include "flam-core-profile.h"

#include <sys/types.h>

typedef enum
{
  FLAM_RECORD_CPU = 1 << 0,       /* threads that run */
  FLAM_RECORD_WALL = 1 << 1,      /* and waiting threads */
  FLAM_RECORD_ALLOC = 1 << 2,     /* allocations, with the preload library */
  FLAM_RECORD_FAULTS = 1 << 3,    /* page faults and mapped memory */
  FLAM_RECORD_RESOURCES = 1 << 4, /* descriptors and threads */
} FlamRecordWhat;

typedef enum
{
  FLAM_RECORD_MODE_CPU,
  FLAM_RECORD_MODE_WALL,
  FLAM_RECORD_MODE_ALLOC,
  FLAM_RECORD_MODE_BOTH,
  FLAM_RECORD_MODE_FAULTS,
  FLAM_RECORD_MODE_RESOURCES,
  FLAM_N_RECORD_MODES,
} FlamRecordMode;

/* The engine that takes the samples: ptrace, perf_event_open(2), or the latter
 * if it can sample the kernel. */
#define FLAM_ENGINE_AUTO "auto"
#define FLAM_ENGINE_PTRACE "ptrace"
#define FLAM_ENGINE_PERF "perf"

typedef struct
{
  char *mode;          /* the name of a FlamRecordMode */
  FlamRecordWhat what; /* of the mode, once parsed */
  char *engine;        /* FLAM_ENGINE_* */
  char *events;        /* names for flam-record-events.h; or NULL */
  double rate;         /* Hz */
  double duration;     /* s, 0: until the target ends */
  double delay;        /* s without samples at the beginning */
  double every;        /* s from one recording to the next; 0: only one */
  double span;         /* s of each of them */
  char *push;          /* a server's URL; or NULL. Only flambeau-cli has it */
  gint64 sample_bytes; /* one allocation per this many bytes; 0: all */
  gboolean exact;      /* all, regardless of sample_bytes */
  gboolean follow;     /* children too */
  gboolean runtimes;   /* managed frames: Java's, Python's ... */
  gboolean python;     /* Python's among them */
  gboolean python_malloc; /* Python's small blocks by malloc */
  char *output;           /* or NULL */
  gboolean force;         /* overwrite an existing output */
  int control_fd;         /* -1 none */
  char **pids;            /* attach to these: "PID" or "PID,PID..."; or NULL */
  char **processes;       /* and to processes of these names; or NULL */
  char **units;           /* of these units of systemd; or NULL */
  char **cgroups;         /* of these control groups; or NULL */
  char **containers;      /* of these containers; or NULL */
  char *wait_for;         /* or to the first one of this name; or NULL */
  char *host;             /* all of this on another machine; or NULL */
  double reconnect;       /* s to try, if the connection is lost */
  gboolean remove;        /* only remove the recorder from there */
  gboolean list;          /* only print the processes */
  char *fetch;            /* a file from `host` as `output`, and nothing else;
                             or NULL */
  char *reached;          /* the `host` that was given elsewhere; or NULL */
  char *directory;        /* to launch in; NULL: the current one */
  char **environment;     /* NAME=VALUE, to be added; or NULL */
  gboolean help;          /* or the version, and nothing else */
  char **argv;            /* to launch; NULL or empty: attach */
} FlamRecordOptions;

/* The defaults, with nothing to attach to and no argv. */
FlamRecordOptions *flam_record_options_new (void);
FlamRecordOptions *flam_record_options_copy (const FlamRecordOptions *options,
                                             GError **error);
/* NULL with a message for users. If `help` is set, nothing else is. */
FlamRecordOptions *
flam_record_options_parse (int argc, char **argv, GError **error);
void flam_record_options_free (FlamRecordOptions *options);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamRecordOptions, flam_record_options_free)

/* Arguments, without argv[0], from which parse() makes the same options: only
 * the options that differ from those of new(). */
char **flam_record_options_to_arguments (const FlamRecordOptions *options);
/* One line for each option; g_strfreev. */
char **flam_record_options_help (void);
/* The program and its arguments as typed in a shell; g_free. */
char *flam_record_options_command (const FlamRecordOptions *options);

/* Whether running processes are recorded, not a program that is started. */
gboolean flam_record_options_attaches (const FlamRecordOptions *options);
void flam_record_options_add_pid (FlamRecordOptions *options, pid_t pid);
/* The numbers in `pids`, pid_t, each once; NULL: one of them is not a
 * number. */
GArray *flam_record_options_get_pids (const FlamRecordOptions *options,
                                      GError **error);

FlamRecordWhat flam_record_mode_what (FlamRecordMode mode);
/* "cpu", "wall", ... */
const char *flam_record_mode_name (FlamRecordMode mode);
/* FALSE: unknown name. */
gboolean flam_record_mode_parse (const char *name, FlamRecordMode *mode);

/* flambeau-recorder, or the value of $FLAMBEAU_RECORDER. */
const char *flam_recorder_path (void);

#endif
