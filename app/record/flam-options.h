/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the recorder was asked to do: its command line, as a value. */

#include "flam-launch.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_RECORD_CPU = 1 << 0,   /* threads that run */
  FLAM_RECORD_WALL = 1 << 1,  /* and those that wait */
  FLAM_RECORD_ALLOC = 1 << 2, /* allocations, by the preload library */
} FlamRecordWhat;

typedef struct
{
  FlamRecordWhat what;
  char *mode;           /* as it was said: "cpu", "wall" ... */
  double rate;          /* Hz */
  gint64 duration;      /* ns, 0: until the target ends */
  guint64 sample_bytes; /* one allocation every so many bytes; 0: all */
  gboolean follow;      /* children too */
  gboolean python;
  gboolean python_malloc; /* each block of Python by malloc */
  char *output;           /* or NULL */
  gboolean force;         /* it may exist */
  int control_fd;         /* -1 none */
  pid_t pid;              /* attach to it, or 0: launch */
  char *directory;
  char **environment; /* NAME=VALUE */
  char **argv;
} FlamOptions;

/* NULL with a message for people; `help` is set when that was all. */
FlamOptions *
flam_options_parse (int argc, char **argv, gboolean *help, GError **error);
void flam_options_free (FlamOptions *options);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamOptions, flam_options_free)

/* The command as facts show it. */
char *flam_options_command (const FlamOptions *options);

G_END_DECLS
