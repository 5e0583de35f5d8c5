/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_STORE_H
#define FLAM_HISTORY_STORE_H

/* The figures of many captures in one SQLite file, to which runs are added, and
 * which every tool that reads SQL can query:
 *
 *    run ◀─ run_measure ◀─ run_function ─▶ function
 *
 * A run is a capture, labelled with its commit, host and job; it has the totals
 * of its measures, and self and total of every function, or of the largest ones
 * and an upper bound of the others (flam-figures.h). The view "functions"
 * has a row for each run, measure and function, by their names.
 *
 * A file is hostile like any capture: views and triggers in it are not run, and
 * what is read is bounded and checked. Several processes may append at the same
 * time. */

#include "flam-core-query.h"

G_BEGIN_DECLS

typedef struct _FlamHistoryStore FlamHistoryStore;

/* By the head of the file. */
gboolean flam_history_store_is (const char *path);
/* `append`: it is created if it does not exist. NULL with FLAM_ERROR: it is
 * another file, of a newer version, or cannot be opened. */
FlamHistoryStore *
flam_history_store_open (const char *path, gboolean append, GError **error);
void flam_history_store_free (FlamHistoryStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamHistoryStore, flam_history_store_free)

/* Whether it has a run of this file in its current state. */
gboolean flam_history_store_has (FlamHistoryStore *store,
                                 const char *path,
                                 gint64 modified,
                                 gint64 size);
/* All of it or nothing; FlamFigures. */
gboolean flam_history_store_append_all (FlamHistoryStore *store,
                                        const GPtrArray *runs,
                                        GError **error);
gboolean flam_history_store_append (FlamHistoryStore *store,
                                    const FlamFigures *figures,
                                    GError **error);
/* FlamFigures of all runs, for flam_history_new(), with the functions of the
 * selected measure: that of this id, or with NULL that of each run. */
GPtrArray *flam_history_store_read (FlamHistoryStore *store,
                                    const char *measure,
                                    GError **error);

G_END_DECLS

#endif
