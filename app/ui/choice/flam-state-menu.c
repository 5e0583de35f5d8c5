/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-state-menu.h"

#include "flam-core-picture.h"
#include "flam-settings.h"
#include "flam-swatch.h"
#include "flam-widget.h"

#include <adwaita.h>
#include <glib/gi18n.h>

enum
{
  SHOW_ALL,
  SHOW_CPU,
  SHOW_OFF_CPU,
  N_SHOWS
};

static const guint masks[N_SHOWS] = { FLAM_STATES_ALL,
                                      FLAM_STATES_CPU,
                                      FLAM_STATES_OFF_CPU };

struct _FlamStateMenu
{
  GtkWidget parent_instance;

  FlamSession *session;
  gboolean syncing;
  guint known; /* the states in the capture, one bit each */
  struct
  {
    GtkWidget *check;
    GtkWidget *swatch;
    GtkWidget *share;
  } states[FLAM_N_STATES];

  GtkMenuButton *button;
  GtkLabel *label;
  GtkToggleButton *show[N_SHOWS];
  GtkGrid *grid;
  GtkCheckButton *color;
};

G_DEFINE_FINAL_TYPE (FlamStateMenu, flam_state_menu, GTK_TYPE_WIDGET)

/* --- choosing ------------------------------------------------------------- */

static void
choose (FlamStateMenu *self, guint states)
{
  FlamSelection *selection;

  if (self->syncing || flam_session_get_selection (self->session) == NULL)
    return;
  /* All states of the capture, or none at all, mean everything. */
  states &= self->known;
  if (states == 0 || states == self->known)
    states = FLAM_STATES_ALL;
  selection = flam_selection_copy (flam_session_get_selection (self->session));
  selection->states = states;
  flam_session_select (self->session, selection);
}

static void
on_show (FlamStateMenu *self)
{
  for (guint i = 0; i < N_SHOWS; i++)
    if (gtk_toggle_button_get_active (self->show[i]))
      choose (self, masks[i]);
}

static void
on_check (FlamStateMenu *self)
{
  guint states = 0;

  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (gtk_check_button_get_active (GTK_CHECK_BUTTON (self->states[i].check)))
      states |= 1u << i;
  choose (self, states);
}

/* --- showing -------------------------------------------------------------- */

static const char *
name_of (guint states, guint known)
{
  states &= known;
  if (states == known)
    return _ ("Running and waiting");
  if (states == (FLAM_STATES_OFF_CPU & known))
    return _ ("Waiting");
  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (states == 1u << i)
      return _ (flam_state_to_title (i));
  return _ ("Some states");
}

static void
update_row (FlamStateMenu *self, FlamState state, const FlamViewData *view_data)
{
  const FlamMeasure *measure = flam_view_data_get_measure (view_data);
  gint64 weight = view_data->by_state.weight[state];
  gint64 whole = 0;
  g_autofree char *share = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; i < FLAM_N_STATES; i++)
    whole += view_data->by_state.weight[i];
  share = flam_format_percent (weight, whole);
  if (measure != NULL)
    text = flam_format_weight (measure, weight);
  gtk_label_set_label (GTK_LABEL (self->states[state].share), share);
  gtk_widget_set_tooltip_text (self->states[state].share, text);
  flam_swatch_set_color (
      FLAM_SWATCH (self->states[state].swatch),
      flam_palette_state_color (
          state,
          adw_style_manager_get_dark (adw_style_manager_get_default ())));
}

static void
update (FlamStateMenu *self)
{
  const FlamViewData *view_data = flam_session_get_view_data (self->session);
  const FlamMeasure *measure =
      view_data != NULL ? flam_view_data_get_measure (view_data) : NULL;
  g_autofree char *spoken = NULL;
  guint states;

  gtk_widget_set_visible (GTK_WIDGET (self),
                          (self->known & FLAM_STATES_OFF_CPU) != 0 &&
                              measure != NULL &&
                              measure->source == FLAM_FROM_SAMPLES);
  if (view_data == NULL)
    return;
  states = view_data->selection->states;
  self->syncing = TRUE;
  gtk_label_set_label (self->label, name_of (states, self->known));
  spoken = g_strdup_printf (_ ("What threads were doing: %s"),
                            name_of (states, self->known));
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
  for (guint i = 0; i < N_SHOWS; i++)
    {
      guint mask = masks[i] & self->known;

      gtk_toggle_button_set_active (self->show[i],
                                    (states & self->known) == mask);
      gtk_widget_set_sensitive (GTK_WIDGET (self->show[i]), mask != 0);
    }
  for (guint i = 0; i < FLAM_N_STATES; i++)
    {
      gboolean shown = (self->known & 1u << i) != 0;

      gtk_widget_set_visible (self->states[i].check, shown);
      gtk_widget_set_visible (self->states[i].swatch, shown);
      gtk_widget_set_visible (self->states[i].share, shown);
      gtk_check_button_set_active (GTK_CHECK_BUTTON (self->states[i].check),
                                   (states & 1u << i) != 0);
      update_row (self, i, view_data);
    }
  self->syncing = FALSE;
}

static void
on_profile (FlamStateMenu *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);

  self->known = profile != NULL ? profile->samples.states : 0;
}

/* --- object --------------------------------------------------------------- */

void
flam_state_menu_set_session (FlamStateMenu *self, FlamSession *session)
{
  g_return_if_fail (FLAM_IS_STATE_MENU (self));
  self->session = g_object_ref (session);
  g_signal_connect_object (session,
                           "notify::profile",
                           G_CALLBACK (on_profile),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::view-data",
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (adw_style_manager_get_default (),
                           "notify::dark",
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
  update (self);
}

static void
flam_state_menu_dispose (GObject *object)
{
  FlamStateMenu *self = FLAM_STATE_MENU (object);

  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_STATE_MENU);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_state_menu_parent_class)->dispose (object);
}

static void
flam_state_menu_class_init (FlamStateMenuClass *klass)
{
  static const char *const shows[N_SHOWS] = { "show_all",
                                              "show_cpu",
                                              "show_off_cpu" };
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_state_menu_dispose;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-state-menu.ui");
  gtk_widget_class_bind_template_child (class, FlamStateMenu, button);
  gtk_widget_class_bind_template_child (class, FlamStateMenu, label);
  gtk_widget_class_bind_template_child (class, FlamStateMenu, grid);
  gtk_widget_class_bind_template_child (class, FlamStateMenu, color);
  for (guint i = 0; i < N_SHOWS; i++)
    gtk_widget_class_bind_template_child_full (
        class,
        shows[i],
        FALSE,
        G_STRUCT_OFFSET (FlamStateMenu, show) + i * sizeof (GtkToggleButton *));
}

static void
add_state (FlamStateMenu *self, FlamState state)
{
  GtkWidget *check =
      gtk_check_button_new_with_label (_ (flam_state_to_title (state)));
  GtkWidget *swatch = flam_swatch_new (0);
  GtkWidget *share = gtk_label_new (NULL);

  gtk_widget_set_hexpand (check, TRUE);
  gtk_label_set_xalign (GTK_LABEL (share), 1);
  gtk_widget_add_css_class (share, "numeric");
  gtk_grid_attach (self->grid, check, 0, (int)state, 1, 1);
  gtk_grid_attach (self->grid, swatch, 1, (int)state, 1, 1);
  gtk_grid_attach (self->grid, share, 2, (int)state, 1, 1);
  g_signal_connect_swapped (check, "toggled", G_CALLBACK (on_check), self);
  self->states[state].check = check;
  self->states[state].swatch = swatch;
  self->states[state].share = share;
}

static void
flam_state_menu_init (FlamStateMenu *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  for (guint i = 0; i < FLAM_N_STATES; i++)
    add_state (self, i);
  for (guint i = 0; i < N_SHOWS; i++)
    g_signal_connect_swapped (
        self->show[i], "clicked", G_CALLBACK (on_show), self);
  g_settings_bind (flam_settings_get (),
                   FLAM_KEY_COLOR_STATES,
                   self->color,
                   "active",
                   G_SETTINGS_BIND_DEFAULT);
}
