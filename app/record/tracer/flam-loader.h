/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACER_FLAM_LOADER_H
#define FLAM_TRACER_FLAM_LOADER_H

/* Whether a process has loaded a library since the last look, even one that
 * takes the place of another at the same address. The loader keeps a list of
 * what it loaded for debuggers, and appends to it before any code of a library
 * runs (link.h, gABI "Dynamic Linking"; glibc and musl):
 *
 *   auxv ─▶ program headers ─▶ PT_DYNAMIC ─▶ DT_DEBUG ─▶ r_debug
 *                                                         └▶ link_map ◀▶ ...
 *
 * Only the last entry is read again: one call of 1 µs, with its name, as the
 * next library may get the same memory for its entry. */

#include <glib.h>
#include <sys/types.h>

/* The first members of struct link_map. */
typedef struct
{
  guint64 address, name, dynamic, next, previous;
} FlamLinkMap;

typedef struct
{
  guint64 last; /* address of the last entry; 0: not found yet */
  FlamLinkMap entry;
  char name[128]; /* the beginning of its path */
  gint64 look_at; /* not before this time; G_MAXINT64: no list exists */
} FlamLoader;

/* TRUE also at the first successful look. Forgets by being zeroed. */
gboolean flam_loader_has_news (FlamLoader *loader, pid_t tid, gint64 now);

#endif
