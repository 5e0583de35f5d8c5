/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Runs of PHP's XHProf and tideways, as JSON: pairs of functions.
 *
 *    {"main()":{"ct":1,"wt":1000,"cpu":900,"mu":100,"pmu":100},
 *     "main()==>foo":{"ct":2,"wt":800,"cpu":700,"mu":10,"pmu":10}}
 *
 * A pair has the sums over its calls, with what these called: their number, the
 * wall and the CPU time in µs, memory. A function of recursion level 2 is
 * "f@2". Source: XHProf's documentation. */

#include "flam-call-graph.h"
#include "flam-formats.h"
#include "flam-json.h"

#include <string.h>

typedef struct
{
  FlamFrameId frame;
  gint64 own[2]; /* ns: wall, CPU; without callees */
} Function;

typedef struct
{
  FlamBuilder *builder;
  FlamCallGraph *graph;
  GHashTable *known; /* name -> function + 1 */
  GArray *functions; /* Function */
  gboolean cpu;
  guint64 pairs, bad;
} Run;

static guint32
find_function (Run *run, const char *name)
{
  gpointer found = g_hash_table_lookup (run->known, name);
  Function function = { FLAM_NONE, { 0, 0 } };
  guint32 row;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  function.frame =
      flam_load_frame (run->builder, name, -1, FLAM_KIND_INTERPRETED);
  row = flam_call_graph_add_function (
      run->graph, flam_builder_lone_thread (run->builder), function.frame);
  g_array_append_val (run->functions, function);
  g_hash_table_insert (run->known, g_strdup (name), GUINT_TO_POINTER (row + 1));
  return row;
}

static void
add_times (Run *run, guint32 row, const gint64 *times, int sign)
{
  Function *function = &g_array_index (run->functions, Function, row);

  for (guint i = 0; i < 2; i++)
    function->own[i] += sign * times[i];
}

/* Sums of up to 100,000 years do not overflow. */
static gint64
get_time (const Run *run, FlamJson *json)
{
  return flam_json_get_limited (json, run->builder, 1000, 0, G_MAXINT64 >> 20);
}

static void
read_pair (Run *run, FlamJson *json)
{
  g_autofree char *caller = g_strdup (flam_json_get_key (json, NULL));
  char *arrow = strstr (caller, "==>");
  gint64 times[2] = { 0, 0 };
  guint32 from, to;

  if (json->token != FLAM_JSON_OBJECT || run->pairs >= 1 << 19)
    {
      run->bad++;
      return;
    }
  flam_json_each (json)
    if (flam_json_key_is (json, "wt"))
      times[0] = get_time (run, json);
    else if (flam_json_key_is (json, "cpu"))
      {
        times[1] = get_time (run, json);
        run->cpu = TRUE;
      }
  run->pairs++;
  if (arrow == NULL)
    {
      add_times (run, find_function (run, caller), times, 1);
      return;
    }
  *arrow = '\0';
  from = find_function (run, caller);
  to = find_function (run, arrow + 3);
  add_times (run, to, times, 1);
  add_times (run, from, times, -1);
  flam_call_graph_add_call (run->graph, from, to, FLAM_NONE, times[0]);
}

/* A function whose callees took longer than itself, due to clock errors, has
 * none. */
static void
add_costs (Run *run)
{
  for (guint32 i = 0; i < run->functions->len; i++)
    {
      const Function *function = &g_array_index (run->functions, Function, i);
      gint64 own[2] = { MAX (function->own[0], 0), MAX (function->own[1], 0) };

      if (own[0] > 0 || own[1] > 0)
        flam_call_graph_add_cost (run->graph, i, function->frame, own);
    }
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamJson *json = flam_json_load (load, NULL);
  Run run = { .builder = load->builder,
              .graph = flam_call_graph_new (load, 2),
              .known = flam_arena_table (load, FLAM_KEY_TEXT, NULL),
              .functions = flam_arena_array (load, Function) };

  flam_load_measures (load->builder, FLAM_STANDARD_WALL_TIME);
  flam_builder_add_column (load->builder);
  flam_json_each (json)
    read_pair (&run, json);
  if (!flam_json_end (json, load, run.pairs > 0, error))
    return FALSE;
  if (run.cpu)
    flam_builder_add_standard_measure (
        load->builder, FLAM_STANDARD_CPU_TIME, 1, FLAM_NONE);
  add_costs (&run);
  flam_builder_warn_count (load->builder,
                           run.bad,
                           "%" PRIu64 " pair of functions was left out",
                           "%" PRIu64 " pairs of functions were left out");
  return flam_call_graph_finish (run.graph, error);
}

const FlamImporter flam_import_xhprof = {
  .id = "xhprof",
  .label = "XHProf",
  .written_by = "XHProf and Tideways, as JSON",
  .suffixes = FLAM_LIST (".xhprof.json", ".xhprof"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (85, "main().ct", "main().wt")),
  .load = load,
};
