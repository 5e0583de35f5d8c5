/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-heat-view.h"

#include "flam-plot-widget.h"

#include <glib/gi18n.h>
#include <stdlib.h>

struct _FlamHeatView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */

  GtkDropDown *rows;
  GtkStack *stack;
  FlamPlotWidget *grid;
};

G_DEFINE_FINAL_TYPE (FlamHeatView, flam_heat_view, FLAM_TYPE_PAGE)

typedef struct
{
  FlamViewData *view_data;
  guint n_rows;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_view_data_unref (input->view_data);
  g_free (input);
}

/* A job's result is never NULL: a map without columns stands for none. */
static gpointer
make (gpointer data, const FlamProgress *progress, GError **error)
{
  const Input *input = data;
  GError *wrong = NULL;
  FlamHeatMap *map = flam_heat_map_new (input->view_data->profile,
                                        input->view_data->selection,
                                        input->n_rows,
                                        progress,
                                        &wrong);

  if (wrong != NULL)
    {
      g_propagate_error (error, wrong);
      return NULL;
    }
  return map != NULL ? map : g_new0 (FlamHeatMap, 1);
}

static char *
describe (const FlamPlot *plot, FlamPlotSpot spot, const char *separator)
{
  const FlamHeatMap *map = plot->data;
  g_autofree char *time =
      flam_format_value (flam_heat_map_time_of (map, spot.point), FLAM_UNIT_NS);
  g_autofree char *value =
      flam_format_value (map->value[spot.point], map->unit);

  /* Translators: a time, and the activity at that time */
  return g_strdup_printf (_ ("at %s: %s"), time, value);
}

static gint64
cell_time (const FlamPlot *plot, guint cell)
{
  return flam_heat_map_time_of (plot->data, cell);
}

/* Takes ownership of the map. */
static FlamPlot *
plot_new (FlamHeatMap *map)
{
  FlamPlot *plot = flam_plot_new (
      FLAM_PLOT_TIME, 1, map->unit, map, (GDestroyNotify)flam_heat_map_free);

  plot->to = map->column * map->n_columns;
  plot->top = MAX (map->top, 1);
  plot->n_rows = map->n_rows;
  plot->series[0] = (FlamPlotSeries){
    .shape = FLAM_PLOT_CELLS,
    .n = map->n_columns * map->n_rows,
    .value = map->value,
  };
  plot->title = g_strdup (_ ("Heat map"));
  plot->describe = describe;
  plot->cell_time = cell_time;
  return plot;
}

static void
show_range (FlamHeatView *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);

  if (selection != NULL)
    flam_plot_widget_set_range (self->grid, selection->from, selection->to);
}

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamHeatView *self = data;
  FlamHeatMap *map = result;
  gboolean empty = map == NULL || map->n_columns == 0;

  if (map != NULL && empty)
    g_clear_pointer (&map, flam_heat_map_free);
  flam_plot_widget_set_plot (self->grid, map != NULL ? plot_new (map) : NULL);
  show_range (self);
  gtk_stack_set_visible_child_name (self->stack, empty ? "none" : "map");
}

static guint
wanted_rows (FlamHeatView *self)
{
  GtkStringObject *item = gtk_drop_down_get_selected_item (self->rows);

  return item != NULL ? (guint)atoi (gtk_string_object_get_string (item)) : 50;
}

static void
fill (FlamPage *page)
{
  FlamHeatView *self = FLAM_HEAT_VIEW (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  Input *input;

  if (view_data == NULL)
    {
      flam_plot_widget_set_plot (self->grid, NULL);
      return;
    }
  input = g_new0 (Input, 1);
  input->view_data = flam_view_data_ref (view_data);
  input->n_rows = wanted_rows (self);
  flam_page_start (page,
                   make,
                   input,
                   input_free,
                   (GDestroyNotify)flam_heat_map_free,
                   on_made);
}

static void
on_range (FlamPlotWidget *grid, gint64 from, gint64 to, FlamHeatView *self)
{
  FlamSelection *selection =
      flam_selection_copy (flam_session_get_selection (self->session));

  selection->from = from;
  selection->to = to;
  flam_session_select (self->session, selection);
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_heat_view_begin (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (FLAM_HEAT_VIEW (widget)->grid));
}

static void
flam_heat_view_constructed (GObject *object)
{
  FlamHeatView *self = FLAM_HEAT_VIEW (object);

  G_OBJECT_CLASS (flam_heat_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  flam_page_follow (FLAM_PAGE (self),
                    self->session,
                    "notify::selection",
                    G_CALLBACK (show_range));
}

static void
flam_heat_view_class_init (FlamHeatViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_heat_view_constructed;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  FLAM_PAGE_CLASS (klass)->begin = flam_heat_view_begin;
  g_type_ensure (FLAM_TYPE_PLOT_WIDGET);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-heat-view.ui");
  gtk_widget_class_bind_template_child (class, FlamHeatView, rows);
  gtk_widget_class_bind_template_child (class, FlamHeatView, stack);
  gtk_widget_class_bind_template_child (class, FlamHeatView, grid);
}

static void
flam_heat_view_init (FlamHeatView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect (self->grid, "range-changed", G_CALLBACK (on_range), self);
  g_signal_connect_swapped (
      self->rows, "notify::selected", G_CALLBACK (flam_page_queue_fill), self);
}
