/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GECKO_COUNTERS_H
#define FLAM_GECKO_COUNTERS_H

/* Counters of the Firefox Profiler's files: memory, bandwidth, power.
 *
 *    "counters": [ { "name": "malloc", "category": "Memory", "pid": "12",
 *                    "samples": { "time": […], "count": […] } }, … ]
 *
 * A count is the change of the counter since the previous one, or, unless the
 * counter is drawn as a sum (`"display": {"graphType": "line-accumulated"}`, by
 * default those of memory), what happened since then, such as bytes transferred
 * or energy used. The profiler takes the first count as 0, since Gecko does not
 * clear its counters when a recording starts. Gecko's own
 * dumps have the samples as rows under a schema; versions of 2019 to 2023 have
 * them in "sampleGroups" or "sample_groups", an array of one group, and those
 * before raw version 18 have the group itself there. Source: the Firefox
 * Profiler's docs-developer, its types/profile, gecko-profile-versioning, and
 * process-profile and profile-data for what it draws. */

#include "flam-formats.h"
#include "flam-json.h"

G_BEGIN_DECLS

/* `counters`: the array, or "". `offset`: added to its times, ns. `names`: a
 * set, owned by the caller, of the names so far: a repeated one, of another
 * process, is distinguished by its pid. Returns how many values were left out.
 */
guint64 flam_gecko_counters_read (const FlamLoad *load,
                                  FlamJsonText counters,
                                  gint64 offset,
                                  GHashTable *names);

G_END_DECLS

#endif
