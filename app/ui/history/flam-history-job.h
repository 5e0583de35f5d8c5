/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_JOB_H
#define FLAM_HISTORY_JOB_H

/* Reads the captures of a folder, or the figures in a store
 * (flam-history-store.h), as work for a job (flam-job.h). */

#include "flam-core-query.h"

G_BEGIN_DECLS

/* The captures in the folder, or the store, `path`; those in `before` (NULL:
 * none) that have not changed since are not read again. */
gpointer flam_history_job_input_new (const char *path,
                                     const FlamHistory *before);
void flam_history_job_input_free (gpointer input);
/* FlamJobWork; gives a FlamHistory. */
gpointer flam_history_job_work (gpointer input,
                                const FlamProgress *progress,
                                GError **error);

G_END_DECLS

#endif
