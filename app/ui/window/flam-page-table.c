/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-page-table.h"

#include "flam-callers-view.h"
#include "flam-chart-page.h"
#include "flam-code-view.h"
#include "flam-difference-view.h"
#include "flam-functions-view.h"
#include "flam-graph-view.h"
#include "flam-memory-view.h"
#include "flam-plot-page.h"
#include "flam-sites-view.h"
#include "flam-tree-view.h"

#include <glib/gi18n.h>

static const FlamPlotKind heat = {
  .make = flam_plot_of_heat,
  .title = N_ ("Heat map"),
  .about = N_ ("Each column is a second, its parts from bottom to top. Click "
               "twice to choose a range."),
  .none_title = N_ ("No Heat Map"),
  .none_text = N_ ("No samples of this measure have times."),
  .choice_title = N_ ("Rows in a Second"),
  .choices =
      (const char *const[]){ "10", "20", "25", "49", "50", "99", "100", NULL },
  .choice = 4,
};

const FlamPageRow flam_page_table[] = {
  {
      .id = "graph",
      .title = N_ ("Flame Graph"),
      .hint = N_ ("Click a frame to zoom to it and see its source. Esc zooms "
                  "out; right-click for more."),
      .topic = "flame-graph",
      .type = flam_graph_view_get_type,
      .legend = TRUE,
  },
  {
      .id = "tree",
      .title = N_ ("Call Tree"),
      .hint = N_ ("Selecting a row selects it on all pages. Right-click a "
                  "function to focus on it or hide it."),
      .topic = "tables",
      .type = flam_tree_view_get_type,
  },
  {
      .id = "functions",
      .title = N_ ("Functions"),
      .hint = N_ ("Self is what a function spent itself; Total includes its "
                  "callees. Click a heading to sort."),
      .topic = "tables",
      .type = flam_functions_view_get_type,
  },
  {
      .id = "callers",
      .title = N_ ("Callers"),
      .hint = N_ ("Double-click a function to bring it to the middle, with its "
                  "callers above and its callees below."),
      .topic = "callers",
      .type = flam_callers_view_get_type,
      .in_menu = TRUE,
      .legend = TRUE,
  },
  {
      .id = "code",
      .title = N_ ("Machine Code"),
      .hint = N_ ("The slow instruction is often the one before the one that "
                  "shows the cost."),
      .topic = "code",
      .type = flam_code_view_get_type,
      .in_menu = TRUE,
  },
  {
      .id = "chart",
      .title = N_ ("Chart"),
      .hint =
          N_ ("Time runs from left to right. Use Ctrl and the wheel to zoom."),
      .topic = "time",
      .type = flam_chart_page_get_type,
      .in_menu = TRUE,
      .legend = TRUE,
  },
  {
      .id = "heat",
      .title = N_ ("Heat Map"),
      .hint = N_ ("Stripes show work that repeats at fixed intervals."),
      .topic = "time",
      .type = flam_plot_page_get_type,
      .plot = &heat,
      .in_menu = TRUE,
  },
  {
      .id = "difference",
      .title = N_ ("Difference"),
      .hint = N_ ("If two runs lasted differently long, compare shares."),
      .topic = "difference",
      .type = flam_difference_view_get_type,
      .in_menu = TRUE,
      .of_baseline = TRUE,
  },
  {
      .id = "sites",
      .title = N_ ("Allocations"),
      .hint =
          N_ ("With Callees also counts what a function’s callees allocated."),
      .topic = "memory",
      .type = flam_sites_view_get_type,
      .of_memory = TRUE,
  },
  {
      .id = "memory",
      .title = N_ ("Summary"),
      .hint = N_ ("Click a figure to see on all pages where it comes from."),
      .topic = "memory",
      .type = flam_memory_view_get_type,
      .of_memory = TRUE,
  },
};

const guint flam_n_pages = G_N_ELEMENTS (flam_page_table);
