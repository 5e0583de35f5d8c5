/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-chart-page.h"

#include "flam-core-picture.h"
#include "flam-flame-chart.h"
#include "flam-settings.h"
#include "flam-transforms.h"
#include "flam-user-colors.h"
#include "flam-why-empty.h"
#include "flam-widget.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define LISTED_MAX 100

struct _FlamChartPage
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  FlamViewData *shown;  /* the chart's view data */
  gboolean syncing;

  GtkLabel *name;
  GtkLabel *words;
  GtkMenuButton *calls_button;
  GtkPopover *popover;
  GtkListBox *list;
  GtkStack *stack;
  GtkScrolledWindow *scroller;
  FlamFlameChart *chart;
  AdwStatusPage *none;
};

G_DEFINE_FINAL_TYPE (FlamChartPage, flam_chart_page, FLAM_TYPE_PAGE)

/* --- the chart, made on a worker ------------------------------------------ */

typedef struct
{
  FlamViewData *view_data;
  FlamChart *chart; /* NULL: none */
} Made;

static void
made_free (gpointer data)
{
  Made *made = data;

  flam_view_data_unref (made->view_data);
  g_clear_pointer (&made->chart, flam_chart_unref);
  g_free (made);
}

static gpointer
make (gpointer data, const FlamProgress *progress, GError **error)
{
  FlamViewData *view_data = data;
  Made *made = g_new0 (Made, 1);
  GError *wrong = NULL;

  made->view_data = flam_view_data_ref (view_data);
  made->chart = flam_chart_new (
      view_data->profile, view_data->selection, progress, &wrong);
  if (wrong == NULL)
    return made;
  made_free (made);
  g_propagate_error (error, wrong);
  return NULL;
}

static const char *
why_none (FlamPage *page, const FlamViewData *view_data)
{
  const FlamProfile *profile = view_data->profile;
  const FlamMeasure *measure = flam_view_data_get_measure (view_data);

  if (measure != NULL && measure->source != FLAM_FROM_SAMPLES)
    return _ ("Allocations have no calls in time. Switch to CPU.");
  if (profile->samples.n > 0 && profile->samples.time == NULL)
    return _ ("The samples of this capture have no times.");
  return flam_why_empty (flam_page_get_session (page));
}

/* --- calls of one function ------------------------------------------------ */

static void
clear_list (FlamChartPage *self)
{
  GtkWidget *row;

  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->list))) != NULL)
    gtk_list_box_remove (self->list, row);
}

static void
add_call (FlamChartPage *self, const FlamChart *chart, guint span)
{
  const FlamChartSpan *one = &chart->spans[span];
  g_autofree char *length = flam_chart_text (chart, one->to - one->from);
  g_autofree char *from = flam_chart_text (chart, one->from);
  /* Translators: the duration of a call, and its start */
  g_autofree char *text = g_strdup_printf (_ ("%s, from %s on"), length, from);
  GtkWidget *label = gtk_label_new (text);
  GtkWidget *row = gtk_list_box_row_new ();

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, "numeric");
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), label);
  g_object_set_data (G_OBJECT (row), "span", GUINT_TO_POINTER (span));
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_list_box_append (self->list, row);
}

static char *
calls_text (const FlamChart *chart, const FlamChartCalls *calls)
{
  g_autofree char *median = flam_chart_text (chart, calls->durations.median);
  g_autofree char *p99 = flam_chart_text (chart, calls->durations.p99);
  g_autofree char *longest = flam_chart_text (chart, calls->durations.longest);
  g_autofree char *count =
      flam_format_value (calls->durations.n, FLAM_UNIT_COUNT);

  return g_strdup_printf (
      chart->exact
          /* Translators: the number of calls and their durations; 99 of 100
           * were no longer than the third figure */
          ? _ ("%s calls: median %s, 99 %% %s, longest %s")
          /* Translators: the same for sampled calls */
          : _ ("%s calls seen: median %s, 99 %% %s, longest %s"),
      count,
      median,
      p99,
      longest);
}

static void
show_calls (FlamChartPage *self, guint span)
{
  const FlamChart *chart = flam_flame_chart_get_chart (self->chart);
  gboolean call =
      span != G_MAXUINT && flam_flame_chart_node_of (self->chart, span) != 0;

  clear_list (self);
  gtk_widget_set_sensitive (GTK_WIDGET (self->calls_button), call);
  gtk_widget_set_tooltip_text (
      GTK_WIDGET (self->calls_button),
      call ? _ ("The Longest Calls")
           : _ ("Select a call to list the longest calls of its function"));
  if (call)
    {
      g_autoptr (FlamChartCalls) calls = flam_chart_calls_new (chart, span);
      g_autofree char *text = calls_text (chart, calls);
      guint32 row;
      guint lane = flam_chart_lane_of (chart, span, &row);

      flam_widget_show_name (
          self->name, flam_chart_name (chart, &chart->lanes[lane], span), NULL);
      gtk_widget_set_visible (GTK_WIDGET (self->name), TRUE);
      gtk_label_set_label (self->words, text);
      for (guint i = 0; i < MIN (calls->durations.n, LISTED_MAX); i++)
        add_call (self, chart, calls->spans[i]);
      return;
    }
  gtk_label_set_label (self->name, "");
  gtk_widget_set_visible (GTK_WIDGET (self->name), FALSE);
  gtk_label_set_label (
      self->words,
      chart == NULL         ? ""
      : chart->axis != NULL ? _ ("In the order of the lines, without times")
      : !chart->exact
          ? _ ("Drawn from samples: calls between two samples are missing")
          : "");
}

/* --- the chart ------------------------------------------------------------ */

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamChartPage *self = data;
  Made *made = result;

  if (made == NULL)
    return;
  g_clear_pointer (&self->shown, flam_view_data_unref);
  self->shown = flam_view_data_ref (made->view_data);
  flam_flame_chart_set_chart (self->chart, made->chart, made->view_data->tree);
  show_calls (self, G_MAXUINT);
  if (made->chart == NULL || made->chart->n_spans == 0)
    adw_status_page_set_description (
        self->none, why_none (FLAM_PAGE (self), made->view_data));
  gtk_stack_set_visible_child_name (
      self->stack,
      made->chart != NULL && made->chart->n_spans > 0 ? "chart" : "none");
  made_free (made);
}

static void
fill (FlamPage *page)
{
  FlamChartPage *self = FLAM_CHART_PAGE (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);

  if (view_data == NULL)
    {
      flam_flame_chart_set_chart (self->chart, NULL, NULL);
      return;
    }
  flam_page_start (page,
                   make,
                   flam_view_data_ref (view_data),
                   (GDestroyNotify)flam_view_data_unref,
                   made_free,
                   on_made);
}

static void
on_span_selected (FlamFlameChart *chart, guint span, FlamChartPage *self)
{
  FlamNodeId node =
      span != G_MAXUINT ? flam_flame_chart_node_of (chart, span) : 0;

  show_calls (self, span);
  if (self->shown != flam_session_get_view_data (self->session) || node == 0)
    return;
  self->syncing = TRUE;
  flam_session_set_current (self->session, node);
  self->syncing = FALSE;
}

static void
on_span_activated (FlamFlameChart *chart, guint span, FlamChartPage *self)
{
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

static void
on_context_menu (
    FlamFlameChart *chart, guint span, double x, double y, FlamChartPage *self)
{
  if (self->shown == flam_session_get_view_data (self->session))
    flam_transforms_popup (GTK_WIDGET (chart),
                           self->session,
                           flam_flame_chart_node_of (chart, span),
                           x,
                           y);
}

static void
on_row (GtkListBox *list, GtkListBoxRow *row, FlamChartPage *self)
{
  guint span = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "span"));

  gtk_popover_popdown (self->popover);
  flam_flame_chart_go_to (self->chart, span);
  gtk_widget_grab_focus (GTK_WIDGET (self->chart));
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_chart_page_begin (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (FLAM_CHART_PAGE (widget)->chart));
}

static void
update_palette (FlamChartPage *self)
{
  flam_flame_chart_set_palette (self->chart,
                                flam_settings_get_chart_palette ());
}

static void
flam_chart_page_constructed (GObject *object)
{
  FlamChartPage *self = FLAM_CHART_PAGE (object);

  G_OBJECT_CLASS (flam_chart_page_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  flam_page_follow (FLAM_PAGE (self),
                    flam_settings_get (),
                    "changed::" FLAM_KEY_COLORS,
                    G_CALLBACK (update_palette));
  update_palette (self);
}

static void
flam_chart_page_dispose (GObject *object)
{
  FlamChartPage *self = FLAM_CHART_PAGE (object);

  G_OBJECT_CLASS (flam_chart_page_parent_class)->dispose (object);
  g_clear_pointer (&self->shown, flam_view_data_unref);
}

static void
flam_chart_page_class_init (FlamChartPageClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_chart_page_constructed;
  object_class->dispose = flam_chart_page_dispose;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  FLAM_PAGE_CLASS (klass)->begin = flam_chart_page_begin;
  g_type_ensure (FLAM_TYPE_FLAME_CHART);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-chart-page.ui");
  gtk_widget_class_bind_template_child (class, FlamChartPage, name);
  gtk_widget_class_bind_template_child (class, FlamChartPage, words);
  gtk_widget_class_bind_template_child (class, FlamChartPage, calls_button);
  gtk_widget_class_bind_template_child (class, FlamChartPage, popover);
  gtk_widget_class_bind_template_child (class, FlamChartPage, list);
  gtk_widget_class_bind_template_child (class, FlamChartPage, stack);
  gtk_widget_class_bind_template_child (class, FlamChartPage, scroller);
  gtk_widget_class_bind_template_child (class, FlamChartPage, chart);
  gtk_widget_class_bind_template_child (class, FlamChartPage, none);
}

static void
update_rules (FlamChartPage *self)
{
  flam_flame_chart_set_rules (
      self->chart, flam_user_colors_get_rules (flam_user_colors_get ()));
}

static void
flam_chart_page_init (FlamChartPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_object (flam_user_colors_get (),
                           "used",
                           G_CALLBACK (update_rules),
                           self,
                           G_CONNECT_SWAPPED);
  update_rules (self);
  flam_flame_chart_set_vadjustment (
      self->chart, gtk_scrolled_window_get_vadjustment (self->scroller));
  g_signal_connect (
      self->chart, "span-selected", G_CALLBACK (on_span_selected), self);
  g_signal_connect (
      self->chart, "span-activated", G_CALLBACK (on_span_activated), self);
  g_signal_connect (
      self->chart, "context-menu", G_CALLBACK (on_context_menu), self);
  g_signal_connect (self->list, "row-activated", G_CALLBACK (on_row), self);
}
