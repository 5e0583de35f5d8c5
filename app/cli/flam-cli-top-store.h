/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_TOP_STORE_H
#define FLAM_CLI_TOP_STORE_H

/* "top" of a store of runs (flam-history-store.h): the costs of functions,
 * summed over all of its runs. With --label, only runs with each of these
 * labels (host, job, commit, name) count. A store contains no stacks. */

#include "flam-cli.h"
#include "flam-core-query.h"

G_BEGIN_DECLS

/* `limit`: 0 for all rows. */
FlamExit flam_cli_top_store (const char *path,
                             const FlamCliOptions *options,
                             FlamSort sort,
                             guint limit);

G_END_DECLS

#endif
