/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CORE_QUERY_H
#define FLAM_CORE_QUERY_H

/* Everything that is computed from a profile: all of core/query. */

#include "flam-core-profile.h"

#include "flam-allocation-filter.h"
#include "flam-balance.h"
#include "flam-block-hash.h"
#include "flam-block-table.h"
#include "flam-transfer.h"
#include "flam-cut.h"
#include "flam-dates.h"
#include "flam-diff.h"
#include "flam-estimate.h"
#include "flam-figures.h"
#include "flam-fold.h"
#include "flam-frame-traits.h"
#include "flam-functions.h"
#include "flam-heat-map.h"
#include "flam-history.h"
#include "flam-jumps.h"
#include "flam-ledger.h"
#include "flam-lines.h"
#include "flam-memory-summary.h"
#include "flam-merge.h"
#include "flam-own-code.h"
#include "flam-path-weights.h"
#include "flam-sample-filter.h"
#include "flam-sandwich.h"
#include "flam-selection.h"
#include "flam-shown.h"
#include "flam-spill.h"
#include "flam-suppressions.h"
#include "flam-timeline.h"
#include "flam-tree.h"
#include "flam-trend.h"
#include "flam-weights.h"

#endif
