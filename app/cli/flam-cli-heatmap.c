/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-cli-output.h"
#include "flam-core-picture.h"
#include "flam-html.h"
#include "flam-plot-picture.h"

#include <string.h>

/* The functions that an idle CPU runs, as FlameScope recognizes them. */
#define IDLE                                                                   \
  "cpuidle|cpu_idle|cpu_bringup_and_idle|native_safe_halt|"                    \
  "xen_hypercall_sched_op|xen_hypercall_vcpu_op"

#define SECOND G_GINT64_CONSTANT (1000000000)
#define DEFAULT_ROWS 50
#define ROW_HEIGHT 6
#define COLUMN_WIDTH 8
#define LEAST_WIDTH 640
#define MOST_WIDTH 16000
#define MARKS_HEIGHT 40
/* Seconds in a line of text. */
#define SECONDS_A_LINE 100

/* --- text ---------------------------------------------------------------- */

static const char *
shade (const FlamHeatMap *map, gint64 value)
{
  static const char *const shades[] = { "░", "▒", "▓", "█" };
  double share = map->top > 0 ? (double)value / (double)map->top : 0;

  return value <= 0 ? " "
                    : shades[MIN ((guint)(share * G_N_ELEMENTS (shades)),
                                  G_N_ELEMENTS (shades) - 1)];
}

static void
print_columns (const FlamHeatMap *map, guint first, guint end)
{
  for (guint row = map->n_rows; row-- > 0;)
    {
      g_autoptr (GString) line = g_string_new (NULL);

      for (guint column = first; column < end; column++)
        g_string_append (
            line, shade (map, map->value[(gsize)column * map->n_rows + row]));
      flam_cli_print ("%.3f |%s|\n",
                      (double)row * (double)map->column / map->n_rows / 1e9,
                      line->str);
    }
  if (map->clock > 0)
    {
      g_autoptr (GDateTime) date = g_date_time_new_from_unix_utc (
          (map->clock + (gint64)first * map->column) / SECOND);
      g_autofree char *text = g_date_time_format (date, "%F %T UTC");

      flam_cli_print ("       %s\n", text);
    }
  else
    flam_cli_print ("       %" PRId64 " s\n",
                    (gint64)first * map->column / SECOND);
}

static void
print_text (const FlamHeatMap *map)
{
  for (guint first = 0; first < map->n_columns; first += SECONDS_A_LINE)
    {
      if (first > 0)
        flam_cli_print ("\n");
      print_columns (map, first, MIN (first + SECONDS_A_LINE, map->n_columns));
    }
}

static void
print_json (const FlamHeatMap *map)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  flam_cli_json_string (json, "unit", flam_unit_to_string (map->unit));
  flam_cli_json_int (json, "column_ns", map->column);
  flam_cli_json_int (json, "from_ns", map->from);
  flam_cli_json_int (json, "from_unix_ns", map->clock);
  flam_cli_json_int (json, "rows", map->n_rows);
  flam_cli_json_int (json, "total", map->total);
  flam_cli_json_int (json, "max", map->top);
  json_builder_set_member_name (json, "columns");
  json_builder_begin_array (json);
  for (guint column = 0; column < map->n_columns; column++)
    {
      json_builder_begin_array (json);
      for (guint row = 0; row < map->n_rows; row++)
        json_builder_add_int_value (
            json, map->value[(gsize)column * map->n_rows + row]);
      json_builder_end_array (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

/* --- pictures ------------------------------------------------------------ */

static void
put_page (FlamSink *sink, const char *title, const char *svg)
{
  const char *start = strstr (svg, "<svg");

  flam_html_begin (sink, title, NULL);
  flam_sink_put (sink, start != NULL ? start : svg);
  flam_html_end (sink, NULL);
}

static FlamExit
write_picture (FlamCliOutput *output,
               const FlamPlot *plot,
               const FlamHeatMap *map,
               const char *to,
               const char *path)
{
  g_autofree char *title = g_path_get_basename (path);
  FlamPlotPicture picture = {
    .title = strcmp (to, "html") == 0 ? NULL : title,
    .width =
        CLAMP ((double)map->n_columns * COLUMN_WIDTH, LEAST_WIDTH, MOST_WIDTH),
    .height = (double)map->n_rows * ROW_HEIGHT + MARKS_HEIGHT,
  };
  g_autoptr (GString) document = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  gboolean drawn = strcmp (to, "png") == 0
                       ? flam_plot_to_png (plot, &picture, document, &error)
                       : flam_plot_to_svg (plot, &picture, document, &error);

  if (!drawn)
    {
      g_autofree char *shown = flam_message_shown (error->message);

      flam_cli_error ("%s: %s", path, shown);
      return FLAM_EXIT_REFUSED;
    }
  if (output->path == NULL && strcmp (to, "png") == 0)
    output->path = g_strconcat (title, ".png", NULL);
  if (!flam_cli_output_begin (output))
    return FLAM_EXIT_REFUSED;
  if (strcmp (to, "html") == 0)
    put_page (output->sink, title, document->str);
  else
    flam_sink_put_len (output->sink, document->str, document->len);
  return flam_cli_output_end (output) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

/* --- the verb ------------------------------------------------------------ */

static gboolean
is_form (const char *to)
{
  static const char *const forms[] = { "text", "svg", "png", "html", NULL };

  return g_strv_contains (forms, to);
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_auto (FlamCliOutput) output = { NULL };
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (FlamPlot) plot = NULL;
  g_auto (GStrv) files = NULL;
  g_autofree char *to = NULL;
  const FlamHeatMap *map;
  gboolean idle = FALSE;
  gint rows = DEFAULT_ROWS;
  FlamExit status;
  const GOptionEntry entries[] = {
    { "to",
      0,
      0,
      G_OPTION_ARG_STRING,
      &to,
      N_ ("Output format (default: text)"),
      "text|svg|png|html" },
    { "rows",
      0,
      0,
      G_OPTION_ARG_INT,
      &rows,
      N_ ("Rows per second, 1 to 100 (default: 50)"),
      "N" },
    { "idle",
      0,
      0,
      G_OPTION_ARG_NONE,
      &idle,
      N_ ("Keep the samples of idle CPUs"),
      NULL },
    FLAM_OUTPUT_ENTRIES (output),
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_heatmap, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  if (to == NULL)
    to = g_strdup ("text");
  if (!is_form (to))
    return flam_cli_usage (
        _ ("heatmap: --to %s: expected text, svg, png or html"), to);
  if (rows < 1 || rows > FLAM_HEAT_MAP_ROWS_MAX)
    return flam_cli_usage (_ ("heatmap: --rows %d: expected 1 to %d"),
                           rows,
                           FLAM_HEAT_MAP_ROWS_MAX);
  if (!idle && !flam_selection_add_transform (
                   options->selection, FLAM_TRANSFORM_IGNORE, IDLE, NULL))
    g_assert_not_reached ();
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  plot = flam_plot_of_heat (profile, selection, NULL, (guint)rows, NULL, NULL);
  if (plot == NULL)
    {
      flam_cli_error (_ ("%s: the measure has no times"), files[0]);
      return FLAM_EXIT_REFUSED;
    }
  map = flam_plot_get_heat (plot);
  if (!options->json && strcmp (to, "text") != 0)
    return write_picture (&output, plot, map, to, files[0]);
  if (!flam_cli_output_begin (&output))
    return FLAM_EXIT_REFUSED;
  if (options->json)
    print_json (map);
  else
    print_text (map);
  return flam_cli_output_end (&output) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

const FlamVerb flam_verb_heatmap = {
  "heatmap",
  "FILE",
  N_ ("show when samples were taken, second by second"),
  run,
  TRUE
};
