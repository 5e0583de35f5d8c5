/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CORE_PROFILE_H
#define FLAM_CORE_PROFILE_H

/* The tables of a capture and their writer: all of core/profile. */

#include "flam-anonymize.h"
#include "flam-builder-merge.h"
#include "flam-builder.h"
#include "flam-columns.h"
#include "flam-cores.h"
#include "flam-facts.h"
#include "flam-fingerprint.h"
#include "flam-installed.h"
#include "flam-library.h"
#include "flam-order.h"
#include "flam-peak-tracker.h"
#include "flam-identity.h"
#include "flam-process-tree.h"
#include "flam-profile.h"
#include "flam-rank-waits.h"
#include "flam-regex.h"
#include "flam-rescale.h"
#include "flam-snapshots.h"
#include "flam-strings.h"
#include "flam-tables.h"
#include "flam-types.h"
#include "flam-union.h"
#include "flam-varint.h"

#endif
