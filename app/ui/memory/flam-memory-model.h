/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The summary of the memory that a session looks at, kept up to date for as
 * long as a view shows it:
 *
 *   session: view data, zoom, search ──worker──▶ FlamMemorySummary ──▶ views
 *
 * One a session, so that two views add up once. */

#include <gtk/gtk.h>
#include "flam-memory-summary.h"
#include "flam-session.h"

G_BEGIN_DECLS

#define FLAM_TYPE_MEMORY_MODEL (flam_memory_model_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamMemoryModel, flam_memory_model, FLAM, MEMORY_MODEL, GObject)

/* The session's own; not a new reference. */
FlamMemoryModel *flam_memory_model_of (FlamSession *session);

/* Property "memory": NULL until there is one. */
FlamMemorySummary *flam_memory_model_get (FlamMemoryModel *model);

/* Memory is added up while one of the views given here is seen. Each once,
 * before it is seen first. */
void flam_memory_model_watch (FlamMemoryModel *model, GtkWidget *view);

/* Whether the session shows single allocations. */
gboolean flam_memory_model_is_wanted (FlamSession *session);

G_END_DECLS
