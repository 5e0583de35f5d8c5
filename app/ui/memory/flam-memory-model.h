/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MEMORY_MODEL_H
#define FLAM_MEMORY_MODEL_H

/* The memory summary of a session's selection, kept up to date while a view
 * shows it:
 *
 *   session: view data, zoom, search ──worker──▶ FlamMemorySummary ──▶ views
 *
 * There is one per session, so that all views share it. */

#include <gtk/gtk.h>
#include "flam-core-query.h"
#include "flam-session.h"

G_BEGIN_DECLS

#define FLAM_TYPE_MEMORY_MODEL (flam_memory_model_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamMemoryModel, flam_memory_model, FLAM, MEMORY_MODEL, GObject)

/* The session's own model; not a new reference. */
FlamMemoryModel *flam_memory_model_of (FlamSession *session);

/* Property "memory": NULL until there is one. */
FlamMemorySummary *flam_memory_model_get (FlamMemoryModel *model);

/* Memory is summed while one of the views given here is visible. Call once for
 * each, before it is first shown. */
void flam_memory_model_watch (FlamMemoryModel *model, GtkWidget *view);

/* Whether the session has single allocations. */
gboolean flam_memory_model_is_wanted (FlamSession *session);

G_END_DECLS

#endif
