/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-page-table.h"

#include "flam-balance-words.h"
#include "flam-chart-page.h"
#include "flam-code-view.h"
#include "flam-difference-view.h"
#include "flam-functions-view.h"
#include "flam-graph-view.h"
#include "flam-heat-words.h"
#include "flam-memory-view.h"
#include "flam-plot-page.h"
#include "flam-tree-view.h"

#include <glib/gi18n.h>

static const FlamPlotKind heat = {
  .make = flam_plot_of_heat,
  .title = N_ ("Heat map"),
  .about = N_ ("Each column is a second, its parts from bottom to top. Click "
               "twice to choose a range."),
  .none_title = N_ ("No Heat Map"),
  .none_text = N_ ("No samples of this measure have times."),
  .describe = flam_heat_words,
  .choice_title = N_ ("Rows per Second"),
  .choices =
      (const char *const[]){ "10", "20", "25", "49", "50", "99", "100", NULL },
  .choice = 4,
};

static const FlamPlotKind balance = {
  .make = flam_plot_of_balance,
  .title = N_ ("Balance of the ranks"),
  .about = N_ ("Each row is a rank of the job, rank 0 at the bottom: the "
               "stronger the color, the more it worked. Click twice to choose "
               "a range."),
  .none_title = N_ ("No Ranks"),
  .none_text = N_ ("This is not the capture of a parallel job, or its samples "
                   "have no times."),
  .describe = flam_balance_words,
  .choice_title = N_ ("Time Slices"),
  .choices = (const char *const[]){ "20", "50", "100", "200", "500", NULL },
  .choice = 2,
};

const FlamPageRow flam_page_table[] = {
  {
      .id = "graph",
      .title = N_ ("Flame Graph"),
      .topic = "flame-graph",
      .type = flam_graph_view_get_type,
      .legend = TRUE,
  },
  {
      .id = "tree",
      .title = N_ ("Call Tree"),
      .topic = "tables",
      .type = flam_tree_view_get_type,
  },
  {
      .id = "functions",
      .title = N_ ("Functions"),
      .topic = "tables",
      .type = flam_functions_view_get_type,
  },
  {
      .id = "code",
      .title = N_ ("Machine Code"),
      .topic = "code",
      .type = flam_code_view_get_type,
      .in_menu = TRUE,
  },
  {
      .id = "chart",
      .title = N_ ("Chart"),
      .topic = "time",
      .type = flam_chart_page_get_type,
      .in_menu = TRUE,
  },
  {
      .id = "heat",
      .title = N_ ("Heat Map"),
      .topic = "time",
      .type = flam_plot_page_get_type,
      .plot = &heat,
      .in_menu = TRUE,
  },
  {
      .id = "difference",
      .title = N_ ("Difference"),
      .topic = "difference",
      .type = flam_difference_view_get_type,
      .in_menu = TRUE,
      .of_baseline = TRUE,
  },
  {
      .id = "balance",
      .title = N_ ("Balance"),
      .topic = "ranks",
      .type = flam_plot_page_get_type,
      .plot = &balance,
      .in_menu = TRUE,
  },
  {
      .id = "memory",
      .title = N_ ("Summary"),
      .topic = "memory",
      .type = flam_memory_view_get_type,
      .of_memory = TRUE,
  },
};

const guint flam_n_pages = G_N_ELEMENTS (flam_page_table);
