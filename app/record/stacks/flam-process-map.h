/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is mapped where in a process, and pc -> frame.
 *
 *   pc ──▶ frames (hash) ──▶ frame of the capture
 *     miss └▶ space (mappings) ──▶ module, file offset ──▶ new frame
 *
 * /proc/PID/maps is read by the tracer at exec, and as long as a program is
 * young at stops for samples; and by the sampler when the process is new, when
 * a stack runs into code that is in no known mapping, and ten times a second
 * (less often where that takes long), so that a library that took the place of
 * another is noticed. */

#include "flam-binary-table.h"
#include "flam-python-reader.h"

typedef struct _FlamProcessMap
{
  pid_t pid;
  pid_t tid;      /* a thread that lives: the leader may have ended */
  FlamId process; /* the capture's */
  FlamUnwindSpace *space;
  char *maps;         /* the text that they are in */
  GArray *mappings;   /* FlamMapping, executable ones */
  GHashTable *frames; /* pc -> frame + 1 */
  gint64 read_at;     /* when maps were read; -1 never */
  gint64 pause;       /* no look at maps for so long, ns */
  gboolean gone;      /* they could not be read the last time */
  GHashTable *roots;  /* pcs that are roots by maps younger than their stacks */
  const guint *hint_program; /* the target's; NULL: none */
  guint program;             /* the one that the maps are of */
  GPtrArray *pythons;        /* FlamPythonInterpreter, all there ever were */
  const FlamPythonInterpreter *python; /* the last one; NULL: none now */
  gint64 every; /* how old maps may be, ns: 100 times what reading takes */
} FlamProcessMap;

FlamProcessMap *flam_process_map_new (pid_t pid, const FlamProcessMap *parent);
void flam_process_map_free (FlamProcessMap *map);
/* After an exec: nothing is known. */
void flam_process_map_reset (FlamProcessMap *map);
/* What /proc/PID/maps said; TRUE when the mappings are different now. */
gboolean flam_process_map_set_maps (FlamProcessMap *map,
                                    FlamBinaryTable *binaries,
                                    const char *text,
                                    gint64 now);
/* The same with what it says now, if the process still runs the program that
 * the messages so far are of. `gone` says whether it could be read. */
gboolean flam_process_map_refresh (FlamProcessMap *map,
                                   FlamBinaryTable *binaries,
                                   gint64 now);
/* The frame of a pc; one without a module where there is no mapping. */
FlamId
flam_process_map_frame (FlamProcessMap *map, FlamBuilder *builder, guint64 pc);
