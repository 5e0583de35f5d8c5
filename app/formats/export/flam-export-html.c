/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A self-contained page: the call tree with the self weights of every measure
 * by thread, and the script that shows the part that is chosen:
 *
 *    look       what it opens with
 *    functions  name, file, module: strings; line, kind, flags; colors, and
 *               their meaning for the legend: a string
 *    nodes      parent, function: of the tree of all nodes with a weight
 *    series     measure, thread, node[], self[]: what is not 0
 *
 * Without scripts, the page shows a picture of the selection, which is also the
 * part that can be opened as a capture again. */

#include "flam-formats.h"

#include "flam-core-picture.h"
#include "flam-export-common.h"
#include "flam-html.h"
#include "flam-pages.h"
#include "flam-part.h"
#include "flam-svg.h"

#include <string.h>

/* The greatest number of nodes; the lightest ones above it are added to their
 * callers. */
#define MAX_NODES 300000
#define SCRIPT "flam-page.js"

typedef struct
{
  const FlamPart *part; /* NULL: only the tree, by its weights */
  const FlamTree *tree;
  FlamSink *out;
  FlamThings things;
  GHashTable *index; /* text -> index */
  GPtrArray *texts;
  FlamId *place; /* one per node: its place in the page */
  guint32 n;     /* nodes of the page */
  gint64 *self;  /* scratch: one per node of the page */
} Page;

static guint
intern (Page *page, const char *text)
{
  gpointer index;

  if (!g_hash_table_lookup_extended (page->index, text, NULL, &index))
    {
      index = GUINT_TO_POINTER (page->texts->len);
      g_ptr_array_add (page->texts, (gpointer)text);
      g_hash_table_insert (page->index, (gpointer)text, index);
    }
  return GPOINTER_TO_UINT (index);
}

/* --- the tree ------------------------------------------------------------ */

/* The tree of all stacks with a weight by any measure, counted. */
static FlamTree *
tree_of_all (const FlamPart *part,
             const FlamSelection *selection,
             FlamTreeOrder order)
{
  g_autoptr (FlamWeights) weights = g_new0 (FlamWeights, 1);
  g_autoptr (FlamSelection) all = flam_selection_new ();

  weights->profile = flam_profile_ref (part->profile);
  weights->weight = g_new0 (gint64, part->profile->stacks.n + 1);
  for (guint m = 0; m < part->profile->n_measures; m++)
    for (guint32 lane = 0; lane < part->n_lanes; lane++)
      {
        g_auto (FlamPartRows) rows = flam_part_rows (part, m, lane);
        FlamPartRow row;

        for (; flam_part_rows_next (&rows, &row); weights->total++)
          if (row.stack != FLAM_NONE)
            weights->weight[row.stack]++;
          else
            weights->no_stack++;
      }
  all->measure = part->measure;
  all->by = selection->by == FLAM_BY_THREAD || selection->by == FLAM_BY_PROCESS
                ? FLAM_BY_FUNCTION
                : selection->by;
  return flam_tree_new (weights, all, order, NULL, NULL);
}

static int
compare_totals (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a;
  gint64 y = *(const gint64 *)b;

  return (x < y) - (x > y);
}

/* The total that a node must exceed to be in the page. */
static gint64
least_total (const FlamTree *tree)
{
  g_autofree gint64 *totals = NULL;

  if (tree->n <= MAX_NODES)
    return G_MININT64;
  totals = g_memdup2 (tree->total, tree->n * sizeof *totals);
  qsort (totals, tree->n, sizeof *totals, compare_totals);
  return totals[MAX_NODES];
}

/* A callee's total is at most its caller's: so all nodes below an omitted one
 * are omitted, too. */
static void
place_nodes (Page *page)
{
  const FlamTree *tree = page->tree;
  gint64 least = least_total (tree);

  page->place = g_new (FlamId, tree->n);
  for (FlamId i = 0; i < tree->n; i++)
    page->place[i] = i == 0 || tree->total[i] > least
                         ? page->n++
                         : page->place[tree->parent[i]];
}

static gboolean
is_placed (const Page *page, FlamNodeId node)
{
  return node == 0 ||
         page->place[node] != page->place[page->tree->parent[node]];
}

/* --- columns ------------------------------------------------------------- */

static void
put_functions_column (Page *page,
                      const char *name,
                      gint64 (*get) (Page *, FlamNodeId node))
{
  flam_sink_printf (page->out, "\"%s\":[", name);
  for (guint i = 0; i < page->things.first->len; i++)
    {
      if (i > 0)
        flam_sink_put_c (page->out, ',');
      flam_sink_put_int (
          page->out, get (page, g_array_index (page->things.first, FlamId, i)));
    }
  flam_sink_put (page->out, "],\n");
}

static gint64
get_name (Page *page, FlamNodeId node)
{
  return intern (page, flam_tree_name (page->tree, node));
}

static gint64
get_file (Page *page, FlamNodeId node)
{
  guint32 line;

  return intern (page, flam_export_file (page->tree, node, &line));
}

static gint64
get_line (Page *page, FlamNodeId node)
{
  guint32 line;

  flam_export_file (page->tree, node, &line);
  return line;
}

static gint64
get_module (Page *page, FlamNodeId node)
{
  return intern (page, flam_export_module (page->tree, node));
}

/* "" if the color has none. */
static void
put_meanings (Page *page, const FlamColors *colors)
{
  g_autoptr (FlamPalette) palette =
      flam_palette_new_for (page->tree, colors, FALSE);
  g_autoptr (FlamPaletteLegend) legend =
      flam_palette_legend_new (palette, page->tree);
  const GArray *first = page->things.first;

  flam_sink_put (page->out, "\"meaning\":[");
  for (guint i = 0; i < first->len; i++)
    {
      const char *name =
          flam_palette_legend_name (legend, g_array_index (first, FlamId, i));

      if (i > 0)
        flam_sink_put_c (page->out, ',');
      flam_sink_put_int (page->out, intern (page, name != NULL ? name : ""));
    }
  flam_sink_put (page->out, "],\n");
}

static gint64
get_kind (Page *page, FlamNodeId node)
{
  return flam_tree_kind (page->tree, node);
}

static gint64
get_flags (Page *page, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (page->tree, node);

  return function != FLAM_NONE ? page->tree->profile->functions.flags[function]
                               : 0;
}

static void
put_status_of_nodes (Page *page)
{
  const FlamTree *tree = page->tree;

  flam_sink_put (page->out, "],\n\"status\":[0");
  for (FlamId i = 1; i < tree->n; i++)
    if (is_placed (page, i))
      {
        flam_sink_put_c (page->out, ',');
        flam_sink_put_int (page->out, flam_tree_status (tree, i));
      }
}

static void
put_nodes (Page *page)
{
  const FlamTree *tree = page->tree;

  flam_sink_put (page->out, "\"nodes\":{\"parent\":[-1");
  for (FlamId i = 1; i < tree->n; i++)
    if (is_placed (page, i))
      {
        flam_sink_put_c (page->out, ',');
        flam_sink_put_int (page->out, page->place[tree->parent[i]]);
      }
  flam_sink_put (page->out, "],\n\"function\":[-1");
  for (FlamId i = 1; i < tree->n; i++)
    if (is_placed (page, i))
      {
        flam_sink_put_c (page->out, ',');
        flam_sink_put_int (page->out, page->things.thing[i]);
      }
  if (tree->status != NULL)
    put_status_of_nodes (page);
  flam_sink_put (page->out, "]},\n");
}

/* --- series -------------------------------------------------------------- */

static void
put_column (Page *page, const FlamMeasure *measure)
{
  const char *separator = "";

  for (guint32 i = 0; i < page->n; i++)
    if (page->self[i] != 0)
      {
        flam_sink_put (page->out, separator);
        if (measure != NULL)
          flam_export_json_weight (page->out, measure, page->self[i]);
        else
          flam_sink_put_int (page->out, i);
        separator = ",";
      }
}

static void
put_series (Page *page,
            guint number,
            guint32 lane,
            const FlamMeasure *measure,
            gboolean *any)
{
  flam_sink_printf (page->out,
                    "%s{\"measure\":%u,\"thread\":%u,\"node\":[",
                    *any ? ",\n" : "",
                    number,
                    lane);
  *any = TRUE;
  put_column (page, NULL);
  flam_sink_put (page->out, "],\"self\":[");
  put_column (page, measure);
  flam_sink_put (page->out, "]}");
}

static gboolean
sum_lane (Page *page, guint measure, guint32 lane)
{
  g_auto (FlamPartRows) rows = flam_part_rows (page->part, measure, lane);
  FlamPartRow row;
  gboolean any = FALSE;

  memset (page->self, 0, page->n * sizeof *page->self);
  while (flam_part_rows_next (&rows, &row))
    {
      FlamNodeId node =
          row.stack != FLAM_NONE ? page->tree->stack_node[row.stack] : 0;

      page->self[page->place[node != FLAM_NONE ? node : 0]] += row.weight;
      any = TRUE;
    }
  return any;
}

/* The selected measure is the page's first. */
static guint
measure_at (const Page *page, guint i)
{
  guint selected = page->part->measure;

  return i == 0 ? selected : i <= selected ? i - 1 : i;
}

static void
put_all_series (Page *page)
{
  gboolean any = FALSE;

  flam_sink_put (page->out, "\"series\":[");
  if (page->part == NULL)
    {
      const FlamMeasure measure = flam_tree_measure (page->tree);

      memset (page->self, 0, page->n * sizeof *page->self);
      for (FlamId i = 0; i < page->tree->n; i++)
        page->self[page->place[i]] += page->tree->self[i];
      put_series (page, 0, 0, &measure, &any);
    }
  for (guint i = 0; page->part && i < page->part->profile->n_measures; i++)
    for (guint32 lane = 0; lane < page->part->n_lanes; lane++)
      {
        guint m = measure_at (page, i);

        if (sum_lane (page, m, lane))
          put_series (page, i, lane, &page->part->profile->measures[m], &any);
      }
  flam_sink_put (page->out, "],\n");
}

/* The error of blocks depends on their bytes: the number of that measure. */
static void
put_bytes_of (Page *page, const FlamMeasure *measure)
{
  const FlamFacts *facts = &page->tree->profile->facts;
  FlamMeasureSource bytes;

  if (page->part == NULL || measure->source == FLAM_FROM_SAMPLES)
    return;
  bytes = flam_allocation_filter_other_source (measure->source);
  for (guint i = 0; i < page->part->profile->n_measures; i++)
    if (page->part->profile->measures[measure_at (page, i)].source == bytes)
      {
        char spread[G_ASCII_DTOSTR_BUF_SIZE], step[G_ASCII_DTOSTR_BUF_SIZE];

        g_ascii_dtostr (spread, sizeof spread, facts->blocks_spread);
        g_ascii_dtostr (step,
                        sizeof step,
                        flam_estimate_least (facts, measure->source, FALSE));
        flam_sink_printf (page->out,
                          ",\"bytes\":%u,\"whole\":%" G_GINT64_FORMAT
                          ",\"spread\":%s,\"step\":%s",
                          i,
                          flam_estimate_whole (facts, measure->source, FALSE),
                          spread,
                          step);
        return;
      }
}

static void
put_measure (Page *page, const FlamMeasure *measure, guint i)
{
  const FlamFacts *facts = &page->tree->profile->facts;

  flam_export_json_member (
      page->out,
      i > 0 ? ",{\"name\":" : "{\"name\":",
      flam_profile_string (page->tree->profile, measure->name));
  flam_sink_printf (
      page->out, ",\"unit\":\"%s\"", flam_unit_to_string (measure->unit));
  if (measure->kind == FLAM_MEASURE_ALLOC && measure->unit == FLAM_UNIT_BYTES &&
      facts->sample_bytes > 0)
    flam_sink_printf (page->out,
                      ",\"every\":%" G_GINT64_FORMAT
                      ",\"whole\":%" G_GINT64_FORMAT,
                      facts->sample_bytes,
                      flam_estimate_whole (facts, measure->source, TRUE));
  else if (facts->sample_bytes > 0)
    put_bytes_of (page, measure);
  flam_sink_put (page->out, "}");
}

static void
put_choices (Page *page)
{
  flam_sink_put (page->out, "\"measures\":[");
  if (page->part == NULL)
    {
      const FlamMeasure measure = flam_tree_measure (page->tree);

      put_measure (page, &measure, 0);
    }
  for (guint i = 0; page->part && i < page->part->profile->n_measures; i++)
    put_measure (page, &page->part->profile->measures[measure_at (page, i)], i);
  flam_sink_put (page->out, "],\n\"threads\":[");
  for (guint32 i = 0; page->part != NULL && i < page->part->n_lanes; i++)
    {
      g_autofree char *name = flam_part_lane_name (page->part, i);
      FlamThreadId thread = flam_part_thread (page->part, i);
      gint32 tid =
          thread != FLAM_NONE ? page->part->profile->threads.tid[thread] : -1;
      const char *known = *name != '\0' ? name : "Without a name";
      g_autofree char *label =
          tid >= 0 ? g_strdup_printf ("%s (%d)", known, tid) : g_strdup (known);

      flam_export_json_member (page->out, i > 0 ? "," : "", label);
    }
  flam_sink_put (page->out, "],\n");
}

static void
put_data (Page *page, const FlamPictureStyle *look)
{
  static const char *const orders[] = { [FLAM_ORDER_TOTAL] = "weight",
                                        [FLAM_ORDER_NAME] = "name",
                                        [FLAM_ORDER_TIME] = "time" };
  FlamSink *out = page->out;

  flam_sink_put (out, "<script type=\"application/json\" id=\"flambeau\">\n{");
  flam_sink_printf (out,
                    "\"look\":{\"dir\":\"%s\",\"sort\":\"%s\"},\n",
                    look->direction == FLAM_DIRECTION_FLAME ? "flame"
                                                            : "icicle",
                    orders[look->order]);
  flam_sink_put (out, "\"functions\":{");
  put_functions_column (page, "name", get_name);
  put_functions_column (page, "file", get_file);
  put_functions_column (page, "line", get_line);
  put_functions_column (page, "module", get_module);
  put_functions_column (page, "kind", get_kind);
  put_functions_column (page, "flags", get_flags);
  flam_color_rules_try (look->colors.rules, page->tree);
  put_meanings (page, &look->colors);
  flam_html_put_colors (out, page->tree, page->things.first, &look->colors);
  flam_sink_put (out, "},\n");
  flam_html_put_statuses (out, page->tree, &look->colors);
  put_nodes (page);
  put_choices (page);
  put_all_series (page);
  flam_sink_put (out, "\"strings\":[");
  for (guint i = 0; i < page->texts->len; i++)
    {
      g_autofree char *shown = flam_format_visible (page->texts->pdata[i]);

      flam_export_json_member (out, i > 0 ? ",\n" : "", shown);
    }
  flam_sink_put (out, "]}\n</script>\n");
}

/* --- the page ------------------------------------------------------------ */

static const char head[] =
    "<header><h1></h1>"
    "<label>Measure <select id=\"measure\"></select></label>"
    "<label>Thread <select id=\"thread\"></select></label>"
    "<label>Shape <select id=\"dir\"><option value=\"icicle\">Icicle</option>"
    "<option value=\"flame\">Flame</option></select></label>"
    "<label>Order <select id=\"sort\"><option value=\"weight\">Heaviest first"
    "</option><option value=\"name\">By name</option></select></label>"
    "<label><input type=\"checkbox\" id=\"irrelevant\">Hide runtime "
    "internals</label>"
    "<label><input type=\"checkbox\" id=\"imports\">Hide imports</label>"
    "<label><input type=\"checkbox\" id=\"native\">Hide native code</label>"
    "<label>Theme <select id=\"theme\"><option value=\"\">System</option>"
    "<option value=\"light\">Light</option><option value=\"dark\">Dark"
    "</option></select></label>"
    "<input type=\"search\" id=\"search\" placeholder=\"Search (regex)\" "
    "aria-label=\"Search\"><button id=\"reset\" disabled>Reset zoom</button>"
    "</header>\n";

static const char body[] =
    "<main><div id=\"graph\" tabindex=\"0\"><canvas id=\"canvas\" "
    "role=\"img\" aria-label=\"Flame graph\"></canvas><div id=\"room\"></div>"
    "</div><div id=\"side\"><table><thead><tr>"
    "<th data-key=\"self\"><button>Self</button></th>"
    "<th data-key=\"total\"><button>Total</button></th>"
    "<th data-key=\"name\"><button>Function</button></th><th>File</th></tr>"
    "</thead>"
    "<tbody id=\"rows\"></tbody></table><div class=\"more\" id=\"more\"></div>"
    "</div></main>\n"
    "<footer><span id=\"details\"></span><span id=\"matched\"></span>"
    "<span id=\"legend\"></span><span id=\"total\"></span></footer><div "
    "id=\"tip\" hidden></div>\n";

static void
put_warnings (Page *page)
{
  const FlamFacts *facts = &page->tree->profile->facts;

  for (guint i = 0; facts->warnings[i] != NULL; i++)
    {
      flam_sink_put (page->out, "<p class=\"warning\">");
      flam_sink_put_escaped (page->out, facts->warnings[i], -1);
      flam_sink_put (page->out, "</p>\n");
    }
  if (page->n < page->tree->n)
    flam_sink_printf (page->out,
                      "<p class=\"warning\">%u of the lightest nodes are "
                      "shown as their caller’s own.</p>\n",
                      page->tree->n - page->n);
}

/* The main findings, above the picture. */
static void
put_headline (Page *page,
              const FlamProfile *profile,
              const FlamSelection *selection)
{
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (profile, selection, NULL, NULL);
  g_autofree char *text = flam_headline_to_english (headline);

  if (*text == '\0')
    return;
  flam_sink_put (page->out, "<p class=\"headline\">");
  flam_sink_put_escaped (page->out, text, -1);
  flam_sink_put (page->out, "</p>\n");
}

static void
put_page (Page *page,
          const FlamProfile *profile,
          const FlamSelection *selection,
          const FlamExportOptions *options)
{
  g_autoptr (FlamTree) tree =
      flam_export_tree_in_order (profile, selection, options->look.order);
  FlamSink *out = page->out;
  const char *end_of_heading = strstr (head, "</h1>");

  flam_html_put_head (out, options->look.title, SCRIPT);
  flam_sink_put (out, "<style>\n");
  flam_sink_put (out, flam_html_resource ("flam-page.css"));
  flam_sink_put (out, "</style></head>\n<body class=\"app\">\n");
  flam_sink_put_len (out, head, (gsize)(end_of_heading - head));
  flam_sink_put_escaped (out, options->look.title, -1);
  flam_sink_put (out, end_of_heading);
  put_headline (page, profile, selection);
  put_warnings (page);
  flam_sink_put (out, "<noscript>\n");
  flam_svg_append (out, tree, NULL, &options->look);
  flam_sink_put (out, "</noscript>\n");
  flam_sink_put (out, body);
  put_data (page, &options->look);
  flam_html_put_script (out, SCRIPT);
  flam_sink_put (out, "</body></html>\n");
}

/* A selection with a direction or rows cannot be a profile: only its tree is
 * written. */
static gboolean
is_tree_alone (const FlamSelection *selection)
{
  return selection->invert || selection->by == FLAM_BY_MODULE ||
         selection->by == FLAM_BY_FILE;
}

static gboolean
save (FlamExport *export, GError **error)
{
  gboolean alone = is_tree_alone (export->selection);
  g_auto (FlamPart) part = { 0 };
  g_autoptr (FlamTree) tree = NULL;
  Page page = { .part = alone ? NULL : &part, .out = export->out };

  if (export->options->look.chart)
    return flam_chart_page (export->profile,
                            export->selection,
                            &export->options->look,
                            export->out,
                            error);
  if (!alone &&
      !flam_part_init (&part, export->profile, export->selection, error))
    return FALSE;
  page.tree = tree =
      alone
          ? flam_export_tree_in_order (
                export->profile, export->selection, export->options->look.order)
          : tree_of_all (&part, export->selection, export->options->look.order);
  page.index = flam_arena_table (export, FLAM_KEY_LENT, NULL);
  page.texts = flam_arena_pointers (export, NULL);
  flam_things_init (&page.things, tree, FALSE);
  place_nodes (&page);
  page.self = flam_arena_vector (export, gint64, page.n);
  put_page (&page, export->profile, export->selection, export->options);
  flam_things_clear (&page.things);
  g_free (page.place);
  return TRUE;
}

const FlamExporter flam_export_html = {
  .id = "html",
  .label = N_ ("HTML page"),
  .suffix = "html",
  .mime_type = "text/html",
  .text = TRUE,
  .look = FLAM_PICTURE_STYLE_TITLE | FLAM_PICTURE_STYLE_DIRECTION |
          FLAM_PICTURE_STYLE_ORDER | FLAM_PICTURE_STYLE_COLORS |
          FLAM_PICTURE_STYLE_CHART,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
};
