/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-plot-page.h"

#include "flam-plot-widget.h"

#include <glib/gi18n.h>
#include <stdlib.h>

struct _FlamPlotPage
{
  FlamPage parent_instance;

  const FlamPlotKind *kind;

  GtkLabel *about;
  GtkDropDown *choices;
  GtkStack *stack;
  FlamPlotWidget *plot;
  AdwStatusPage *none;
};

G_DEFINE_FINAL_TYPE (FlamPlotPage, flam_plot_page, FLAM_TYPE_PAGE)

typedef struct
{
  FlamViewData *view_data;
  const FlamPlotKind *kind;
  guint choice;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_view_data_unref (input->view_data);
  g_free (input);
}

/* A job's result is never NULL: a plot without series stands for none. */
static gpointer
make (gpointer data, const FlamProgress *progress, GError **error)
{
  const Input *input = data;
  GError *wrong = NULL;
  FlamPlot *plot = input->kind->make (input->view_data->profile,
                                      input->view_data->selection,
                                      input->view_data->weights,
                                      input->choice,
                                      progress,
                                      &wrong);

  if (wrong != NULL)
    {
      g_propagate_error (error, wrong);
      return NULL;
    }
  return plot != NULL ? plot
                      : flam_plot_new (
                            FLAM_PLOT_NO_AXIS, 0, FLAM_UNIT_COUNT, NULL, NULL);
}

static void
show_range (FlamPlotPage *self)
{
  const FlamSelection *selection =
      flam_session_get_selection (flam_page_get_session (FLAM_PAGE (self)));

  if (selection != NULL)
    flam_plot_widget_set_range (self->plot, selection->from, selection->to);
}

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamPlotPage *self = data;
  FlamPlot *plot = result;
  gboolean empty = plot == NULL || plot->n == 0;

  if (!empty)
    {
      plot->title = g_strdup (_ (self->kind->title));
      plot->describe = self->kind->describe;
    }
  else
    g_clear_pointer (&plot, flam_plot_free);
  flam_plot_widget_set_plot (self->plot, plot);
  show_range (self);
  gtk_stack_set_visible_child_name (self->stack, empty ? "none" : "plot");
}

static guint
chosen (FlamPlotPage *self)
{
  guint at = gtk_drop_down_get_selected (self->choices);

  return self->kind->choices != NULL && at != GTK_INVALID_LIST_POSITION
             ? (guint)atoi (self->kind->choices[at])
             : 0;
}

static void
fill (FlamPage *page)
{
  FlamPlotPage *self = FLAM_PLOT_PAGE (page);
  FlamViewData *view_data =
      flam_session_get_view_data (flam_page_get_session (page));
  Input *input;

  if (view_data == NULL || self->kind == NULL)
    {
      flam_plot_widget_set_plot (self->plot, NULL);
      return;
    }
  input = g_new (Input, 1);
  *input = (Input){
    flam_view_data_ref (view_data),
    self->kind,
    chosen (self),
  };
  flam_page_start (
      page, make, input, input_free, (GDestroyNotify)flam_plot_free, on_made);
}

void
flam_plot_page_set_kind (FlamPlotPage *self, const FlamPlotKind *kind)
{
  g_return_if_fail (FLAM_IS_PLOT_PAGE (self));
  self->kind = kind;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->plot),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (kind->title),
                                  -1);
  gtk_label_set_label (self->about, _ (kind->about));
  adw_status_page_set_title (self->none, _ (kind->none_title));
  adw_status_page_set_description (self->none, _ (kind->none_text));
  gtk_widget_set_visible (GTK_WIDGET (self->choices), kind->choices != NULL);
  if (kind->choices != NULL)
    {
      g_autoptr (GtkStringList) list = gtk_string_list_new (kind->choices);

      gtk_drop_down_set_model (self->choices, G_LIST_MODEL (list));
      gtk_drop_down_set_selected (self->choices, kind->choice);
      gtk_widget_set_tooltip_text (GTK_WIDGET (self->choices),
                                   _ (kind->choice_title));
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->choices),
                                      GTK_ACCESSIBLE_PROPERTY_LABEL,
                                      _ (kind->choice_title),
                                      -1);
    }
  g_signal_connect_swapped (self->choices,
                            "notify::selected",
                            G_CALLBACK (flam_page_queue_fill),
                            self);
}

static void
on_range (FlamPlotWidget *plot, gint64 from, gint64 to, FlamPlotPage *self)
{
  FlamSession *session = flam_page_get_session (FLAM_PAGE (self));
  FlamSelection *selection =
      flam_selection_copy (flam_session_get_selection (session));

  selection->from = from;
  selection->to = to;
  flam_session_select (session, selection);
}

static gboolean
flam_plot_page_begin (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (FLAM_PLOT_PAGE (widget)->plot));
}

static void
flam_plot_page_constructed (GObject *object)
{
  FlamPage *page = FLAM_PAGE (object);

  G_OBJECT_CLASS (flam_plot_page_parent_class)->constructed (object);
  flam_page_follow (page,
                    flam_page_get_session (page),
                    "notify::selection",
                    G_CALLBACK (show_range));
}

static void
flam_plot_page_class_init (FlamPlotPageClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->constructed = flam_plot_page_constructed;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  FLAM_PAGE_CLASS (klass)->begin = flam_plot_page_begin;
  g_type_ensure (FLAM_TYPE_PLOT_WIDGET);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-plot-page.ui");
  gtk_widget_class_bind_template_child (class, FlamPlotPage, about);
  gtk_widget_class_bind_template_child (class, FlamPlotPage, choices);
  gtk_widget_class_bind_template_child (class, FlamPlotPage, stack);
  gtk_widget_class_bind_template_child (class, FlamPlotPage, plot);
  gtk_widget_class_bind_template_child (class, FlamPlotPage, none);
}

static void
flam_plot_page_init (FlamPlotPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect (self->plot, "range-changed", G_CALLBACK (on_range), self);
}
