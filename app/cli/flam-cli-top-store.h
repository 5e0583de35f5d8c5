/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_TOP_STORE_H
#define FLAM_CLI_TOP_STORE_H

/* "top" of a store of runs (flam-history-store.h): the costs of functions,
 * summed over its runs, or over those that have all labels of the options:
 * host, job, commit, or name. There are no stacks in a store. */

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
