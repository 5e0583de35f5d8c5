/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_THREAD_ITEM_H
#define FLAM_THREAD_ITEM_H

/* A process or a thread in the thread selector's tree: threads stand below
 * their process, processes below the one that started them. Those of a job's
 * ranks stand below their rank, and ranks below their host if there are
 * several. */

#include "flam-core-profile.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define FLAM_TYPE_THREAD_ITEM (flam_thread_item_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamThreadItem, flam_thread_item, FLAM, THREAD_ITEM, GObject)

struct _FlamThreadItem
{
  GObject parent_instance;

  FlamProcessId process;
  FlamThreadId thread; /* FLAM_NONE: the process and all processes that it
                          started, or a rank, or a host */
  GArray *group;       /* FlamThreadId, of a rank or a host; else
                          NULL */
  FlamProcessTree *process_tree; /* of a process; else NULL */
  guint32 row;                   /* of a process, in the process_tree */
  gint64 weight;                 /* of all threads that it represents */
  char *name;                    /* "worker-3 (3307)" */
  char *former;                  /* "sh until 1.2 s, make until 3 s", or "" */
  GListStore *children;          /* FlamThreadItem; NULL: none */
};

FlamThreadItem *flam_thread_item_new (const FlamProfile *profile,
                                      FlamProcessId process,
                                      FlamThreadId thread,
                                      gint64 weight);

/* The threads that it represents: its own, or all below it. Not to be freed. */
const FlamThreadId *flam_thread_item_get_threads (const FlamThreadItem *self,
                                                  guint32 *n);

/* The processes without a parent, each with its rows below it, siblings by
 * weight, threads first, and ranks by number; of FlamThreadItem. `weights`: one
 * per thread. With `search` (case-folded, "": all), only items whose names
 * contain it, and the processes above them. */
GListStore *flam_thread_items_new (const FlamProfile *profile,
                                   const gint64 *weights,
                                   const char *search);

G_END_DECLS

#endif
