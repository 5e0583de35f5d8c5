/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GO_H
#define FLAM_GO_H

/* The labels of Go's goroutines (runtime/pprof.Do), read from outside: Go 1.18
 * to 1.26. Go's functions need no reader.
 *
 *   fs_base - 8 ─▶ g ─▶ m ─▶ curg ─▶ labels ─▶ a map       (to 1.23)
 *                                            ─▶ a list      (1.24 on)
 *
 * Sources: Go's runtime/runtime2.go, runtime/map.go and
 * runtime/pprof/label.go; OpenTelemetry's eBPF profiler (Apache-2.0) for the
 * offsets of versions other than 1.19. */

#include "flam-runtime-file.h"
#include "flam-runtime-name.h"

typedef struct
{
  gint64 g;       /* from fs_base */
  guint16 labels; /* in a g */
  guint16 curg;   /* in an m */
  gboolean list;  /* they are a list, not a map */
} FlamGo;

/* A FlamRuntimeFind; `facts` is a FlamGo. Versions without known offsets are
 * not found, since nothing but labels is missing. */
gboolean flam_go_find (const FlamElf *elf,
                       int fd,
                       const char *path,
                       FlamRuntimeFile *file);
/* The address of the labels of the goroutine that a thread runs; 0: none. */
guint64 flam_go_labels (const FlamGo *go,
                        const FlamRuntimeMemory *memory,
                        guint64 fs_base);
/* The bytes that identify a set of labels: those at its address, followed by
 * those at `*second`, to which the first ones point. */
guint32 flam_go_first_size (const FlamGo *go);
guint32 flam_go_second (const FlamGo *go, const guint8 *first, guint64 *second);
/* Each label is a hidden function whose file is the key. */
gboolean flam_go_name (const FlamGo *go,
                       const guint8 *first,
                       const FlamRuntimeMemory *memory,
                       FlamRuntimeName *name);

#endif
