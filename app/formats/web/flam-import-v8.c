/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-v8-profile.h"

/* V8's own profiles, as node and Chrome's developer tools write them.
 *
 * .cpuprofile: as in flam-v8-profile.h; without samples the nodes' hitCounts
 * are used.
 *
 * .heapprofile: the same tree nested, with the sizes of live objects:
 *    {"head":{"callFrame":{…},"selfSize":0,"id":1,"children":[{…},…]},
 *     "samples":[{"size":88,"nodeId":3,"ordinal":12},…]} */

static void
add_cpu (FlamV8Profile *profile)
{
  gboolean timed = profile->samples->len > 0 && profile->deltas->len > 0;
  guint64 unknown;

  flam_builder_add_column (profile->builder);
  if (timed)
    {
      flam_builder_set_spans (
          profile->builder,
          flam_builder_add_standard_measure (
              profile->builder, FLAM_STANDARD_WALL_TIME, 0, FLAM_NONE),
          FLAM_SPANS_SAMPLES);
      flam_builder_add_standard_measure (
          profile->builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
      flam_builder_set_has_times (profile->builder);
      if (profile->start >= 0 && profile->start < G_MAXINT64 / 1000)
        flam_builder_set_origin (profile->builder, profile->start * 1000);
      unknown = flam_v8_profile_add_samples (profile);
      flam_builder_warn_count (
          profile->builder,
          unknown,
          "%" PRIu64
          " sample refers to a node that is not in the file and was left out",
          "%" PRIu64
          " samples refer to nodes that are not in the file and were left out");
      return;
    }
  flam_builder_add_standard_measure (
      profile->builder, FLAM_STANDARD_SAMPLES, 0, FLAM_NONE);
  flam_v8_profile_add_nodes (profile);
}

static void
add_heap (FlamV8Profile *profile)
{
  static const FlamMeasureRow live = { "live",
                                       N_ ("Live memory"),
                                       FLAM_OF_BYTES };

  flam_load_measure (profile->builder,
                     &live,
                     flam_builder_add_column (profile->builder),
                     FLAM_NONE);
  flam_v8_profile_add_nodes (profile);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  void (*const add) (FlamV8Profile * profile) = load->form;
  FlamBuilder *builder = load->builder;
  FlamJson *json = flam_json_load (load, NULL);
  FlamV8Profile *profile =
      flam_v8_profile_new (load, flam_builder_lone_thread (builder));

  flam_v8_profile_read (profile, json);
  if (json->truncated && profile->nodes->len > 1)
    flam_load_partial (load, NULL, "%s", json->problem);
  else if (!flam_json_finish (json, load->source, error))
    return FALSE;
  flam_json_warn_rest (json, load);
  flam_v8_profile_link (profile);
  add (profile);
  return TRUE;
}

const FlamImporter flam_import_cpuprofile = {
  .id = "cpuprofile",
  .label = N_ ("V8 CPU profile"),
  .written_by = "node --cpu-prof, Chrome DevTools",
  .suffixes = FLAM_LIST (".cpuprofile"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (90, "nodes[].callFrame"),
                       FLAM_MEMBERS (85, "head.callFrame", "head.hitCount"),
                       FLAM_MEMBERS (85, "head.functionName")),
  .load = load,
  .form = add_cpu,
};

const FlamImporter flam_import_heapprofile = {
  .id = "heapprofile",
  .label = N_ ("V8 heap profile"),
  .written_by = "node --heap-prof, Chrome DevTools",
  .suffixes = FLAM_LIST (".heapprofile"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (90, "head.callFrame", "head.selfSize")),
  .load = load,
  .form = add_heap,
};
