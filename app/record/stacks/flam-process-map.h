/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROCESS_MAP_H
#define FLAM_PROCESS_MAP_H

/* The mappings of a process, and pc -> frame.
 *
 *   pc ──▶ frames (hash) ──▶ frame of the capture
 *     miss └▶ space (mappings) ──▶ module, file offset ──▶ new frame
 *
 * /proc/PID/maps is read by the tracer at exec and, while a program is young,
 * at stops for samples. The sampler reads it when the process is new, when a
 * stack runs into code that is in no known mapping, and ten times a second
 * (less often where that takes long), so that a library that was replaced by
 * another one is detected. */

#include "flam-binary-table.h"
#include "flam-runtime-processes.h"
#include "flam-runtime-stepper.h"
#include "flam-runtime-threads.h"

typedef struct _FlamProcessMap
{
  pid_t pid;
  pid_t tid;             /* a thread that is alive: the leader may have ended */
  FlamProcessId process; /* the row in the capture */
  char *folder;          /* its working folder; NULL: unknown */
  FlamUnwindSpace *space;
  char *maps;         /* the text that contains their paths */
  GArray *mappings;   /* FlamMapping, executable ones */
  GHashTable *frames; /* pc -> frame + 1 */
  gint64 read_at;     /* when maps were read; -1 never */
  gint64 pause;       /* minimum time between two reads of maps, ns */
  gboolean gone;      /* the last read failed */
  GHashTable *roots;  /* pcs that are roots by maps younger than their stacks */
  const guint *hint_program; /* the target's; NULL: none */
  guint program;             /* the program of the maps */
  FlamRuntimeProcesses *runtimes;
  FlamRuntimeNames *names; /* of managed functions of native runtimes */
  FlamRuntimeThreads *threads;
  gint64 every; /* maximum age of maps, ns: 100 times the cost of a read */
  /* FlamGaps of children by the names of their programs, shared with the
   * children; of itself, if it is a child. NULL: none. */
  GHashTable *children;
  GHashTable *siblings;
} FlamProcessMap;

FlamProcessMap *flam_process_map_new (pid_t pid, const FlamProcessMap *parent);
void flam_process_map_free (FlamProcessMap *map);
/* After an exec: drops all mappings. */
void flam_process_map_reset (FlamProcessMap *map);
/* Sets the text of /proc/PID/maps; TRUE if the mappings have changed. */
gboolean flam_process_map_set_maps (FlamProcessMap *map,
                                    FlamBinaryTable *binaries,
                                    const char *text,
                                    gint64 now);
/* Whether the process still runs the program of the messages so far: another
 * program's maps would not match this one's stacks. */
gboolean flam_process_map_is_current (const FlamProcessMap *map);
/* The same with the current text, if the process still runs the program of the
 * messages so far. `gone` tells whether it could be read. */
gboolean flam_process_map_refresh (FlamProcessMap *map,
                                   FlamBinaryTable *binaries,
                                   gint64 now);
/* Its runtimes for the tracer, NULL: none. Opens those that are ready. */
const FlamRuntimeSet *flam_process_map_runtimes (FlamProcessMap *map,
                                                 FlamBinaryTable *binaries,
                                                 gint64 now);
/* The frame of a pc; without a module if there is no mapping. */
FlamFrameId
flam_process_map_frame (FlamProcessMap *map, FlamBuilder *builder, guint64 pc);

#endif
