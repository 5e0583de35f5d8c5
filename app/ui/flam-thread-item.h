/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A row of the thread selector: a process, or one of its threads below it. */

#include "flam-profile.h"

#include <glib-object.h>

G_BEGIN_DECLS

#define FLAM_TYPE_THREAD_ITEM (flam_thread_item_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamThreadItem, flam_thread_item, FLAM, THREAD_ITEM, GObject)

struct _FlamThreadItem
{
  GObject parent_instance;
  FlamId process;
  FlamId thread; /* FLAM_NONE: the row of the process */
  gint64 weight;
  char *name; /* what is shown and searched */
};

FlamThreadItem *flam_thread_item_new (const FlamProfile *profile,
                                      FlamId process,
                                      FlamId thread,
                                      gint64 weight);

/* Processes by weight, each followed by its threads by weight; of
 * FlamThreadItem. `weights`: one a thread. */
GPtrArray *flam_thread_items_new (const FlamProfile *profile,
                                  const gint64 *weights);

G_END_DECLS
