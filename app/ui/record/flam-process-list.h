/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROCESS_LIST_H
#define FLAM_PROCESS_LIST_H

/* The processes of a machine, and whether attaching to them is permitted. */

#include <glib-object.h>

#include "flam-core-profile.h"

G_BEGIN_DECLS

#define FLAM_TYPE_PROCESS (flam_process_get_type ())
G_DECLARE_FINAL_TYPE (FlamProcess, flam_process, FLAM, PROCESS, GObject)

struct _FlamProcess
{
  GObject parent_instance;
  int pid;
  char *name;    /* the program's name, cut to 15 bytes by the kernel */
  char *command; /* with arguments, on one line; "" for none */
  int parent;
  int session;   /* of processes that were started together */
  gint64 began;  /* with its number, it identifies a process */
  guint depth;   /* in its tree */
  guint n_below; /* descendants in its tree */
  double cpu;    /* share of one processor over 300 ms, 0..n */
  char *reason;  /* why attaching is not permitted; NULL: it is */
};

/* A line of the recorder's list (flam-process-line.h); NULL: it is not one. */
FlamProcess *flam_process_parse (const char *text);
/* Copies what may change while a process runs; emits "changed". */
void flam_process_update (FlamProcess *process, const FlamProcess *now);

/* The FlamProcesses of a GPtrArray, each after its parent, the busiest trees
 * first. A tree ends at the border of a session, or all processes would be in
 * one. Sets `depth` and `n_below`. */
GPtrArray *flam_process_list_sort (GPtrArray *list);

G_END_DECLS

#endif
