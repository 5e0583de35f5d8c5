/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-tips.h"

#include "flam-settings.h"

#include <glib/gi18n.h>

#define TIP_WIDTH_CHARS 36
#define PAUSE_MS 1000

typedef struct
{
  const char *id; /* in the setting */
  const char *text;
  const char *done; /* the signal of the target after which it is needless */
  GtkPositionType side; /* of the target, which stays free */
} Tip;

static const Tip tips[] = {
  { "range",
    N_ ("Drag over the overview to see only a part of the time. Esc shows all "
        "of it again."),
    "range-changed",
    GTK_POS_BOTTOM },
  { "menu",
    N_ ("Right-click a box for its callers, to hide it, or to open its source "
        "in an editor."),
    "context-menu",
    GTK_POS_TOP },
};

/* A tip for one owner, which keeps one of each. */
typedef struct
{
  const Tip *tip;
  GtkWidget *owner;
  GtkWidget *target;
  GtkWidget *popover; /* NULL: not shown */
  gint64 done_at;     /* last, in monotonic time */
} Offer;

static GQuark
offers_quark (void)
{
  return g_quark_from_static_string ("flam-tips");
}

/* TRUE once per tip. */
static gboolean
take (const char *id)
{
  GSettings *settings = flam_settings_get ();
  g_auto (GStrv) left = g_settings_get_strv (settings, FLAM_KEY_TIPS);
  g_autoptr (GStrvBuilder) others = g_strv_builder_new ();
  g_auto (GStrv) rest = NULL;

  if (!g_strv_contains ((const char *const *)left, id))
    return FALSE;
  for (guint i = 0; left[i] != NULL; i++)
    if (g_strcmp0 (left[i], id) != 0)
      g_strv_builder_add (others, left[i]);
  rest = g_strv_builder_end (others);
  g_settings_set_strv (settings, FLAM_KEY_TIPS, (const char *const *)rest);
  return TRUE;
}

static void show_next (GtkWidget *owner);

/* Not during a drag, which the tip would be in the way of. */
static gboolean
go_on (gpointer owner)
{
  Offer *offers = g_object_get_qdata (owner, offers_quark ());

  for (guint i = 0; i < G_N_ELEMENTS (tips); i++)
    if (g_get_monotonic_time () - offers[i].done_at < PAUSE_MS * 1000)
      return G_SOURCE_CONTINUE;
  if (gtk_widget_get_mapped (owner))
    show_next (owner);
  return G_SOURCE_REMOVE;
}

static gboolean
unparent (gpointer popover)
{
  if (gtk_widget_get_parent (popover) != NULL)
    gtk_widget_unparent (popover);
  return G_SOURCE_REMOVE;
}

static void
close_tip (Offer *offer)
{
  GtkWidget *popover = g_steal_pointer (&offer->popover);

  if (popover == NULL)
    return;
  gtk_widget_set_visible (popover, FALSE);
  /* It is still in use while its own button closes it. */
  g_idle_add_full (
      G_PRIORITY_DEFAULT, unparent, g_object_ref (popover), g_object_unref);
  g_timeout_add_full (G_PRIORITY_DEFAULT,
                      PAUSE_MS,
                      go_on,
                      g_object_ref (offer->owner),
                      g_object_unref);
}

static void
on_done (Offer *offer)
{
  offer->done_at = g_get_monotonic_time ();
  take (offer->tip->id);
  close_tip (offer);
}

/* The keyboard stays where it was, so the popover does not get the key. */
static gboolean
on_key (GtkEventControllerKey *keys, guint key)
{
  Offer *offers = g_object_get_qdata (
      G_OBJECT (gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (keys))),
      offers_quark ());

  for (guint i = 0; i < G_N_ELEMENTS (tips); i++)
    if (key == GDK_KEY_Escape && offers[i].popover != NULL &&
        gtk_widget_get_visible (offers[i].popover))
      {
        close_tip (&offers[i]);
        return GDK_EVENT_STOP;
      }
  return GDK_EVENT_PROPAGATE;
}

/* Under X11, the popover would be above the windows of other programs. */
static void
on_active (GtkWidget *popover, GParamSpec *pspec, GtkWindow *window)
{
  gtk_widget_set_visible (popover, gtk_window_is_active (window));
}

static GtkWidget *
content_of (Offer *offer)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *label = gtk_label_new (_ (offer->tip->text));
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("_Got It"));

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_max_width_chars (GTK_LABEL (label), TIP_WIDTH_CHARS);
  gtk_widget_set_halign (button, GTK_ALIGN_END);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (close_tip), offer);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), button);
  gtk_widget_set_margin_top (box, 6);
  gtk_widget_set_margin_bottom (box, 6);
  gtk_widget_set_margin_start (box, 6);
  gtk_widget_set_margin_end (box, 6);
  return box;
}

/* Without a grab: the first drag or click does what the tip describes. */
static void
show (Offer *offer)
{
  gboolean above = offer->tip->side == GTK_POS_TOP;
  graphene_rect_t bounds;
  GdkRectangle at;

  if (!gtk_widget_compute_bounds (offer->target, offer->owner, &bounds))
    return;
  at =
      (GdkRectangle){ (int)(bounds.origin.x + bounds.size.width / 2),
                      (int)(bounds.origin.y + (above ? 0 : bounds.size.height)),
                      1,
                      1 };
  offer->popover = g_object_new (
      GTK_TYPE_POPOVER, "accessible-role", GTK_ACCESSIBLE_ROLE_ALERT, NULL);
  gtk_popover_set_autohide (GTK_POPOVER (offer->popover), FALSE);
  gtk_popover_set_child (GTK_POPOVER (offer->popover), content_of (offer));
  gtk_popover_set_pointing_to (GTK_POPOVER (offer->popover), &at);
  gtk_popover_set_position (GTK_POPOVER (offer->popover), offer->tip->side);
  gtk_widget_set_parent (offer->popover, offer->owner);
  gtk_accessible_update_property (GTK_ACCESSIBLE (offer->popover),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ (offer->tip->text),
                                  -1);
  g_signal_connect_object (gtk_widget_get_root (offer->owner),
                           "notify::is-active",
                           G_CALLBACK (on_active),
                           offer->popover,
                           G_CONNECT_SWAPPED);
  gtk_popover_popup (GTK_POPOVER (offer->popover));
}

static void
show_next (GtkWidget *owner)
{
  Offer *offers = g_object_get_qdata (G_OBJECT (owner), offers_quark ());

  for (guint i = 0; i < G_N_ELEMENTS (tips); i++)
    if (gtk_widget_get_mapped (offers[i].target) && take (offers[i].tip->id))
      {
        show (&offers[i]);
        return;
      }
}

/* A child without a size has no place to point at. */
static gboolean
begin (gpointer owner)
{
  Offer *offers = g_object_get_qdata (owner, offers_quark ());

  if (!gtk_widget_get_mapped (owner))
    return G_SOURCE_REMOVE;
  for (guint i = 0; i < G_N_ELEMENTS (tips); i++)
    if (gtk_widget_get_mapped (offers[i].target) &&
        gtk_widget_get_width (offers[i].target) == 0)
      return G_SOURCE_CONTINUE;
  show_next (owner);
  return G_SOURCE_REMOVE;
}

static void
init_offer (Offer *offer, const Tip *tip, GtkWidget *owner, GtkWidget *target)
{
  *offer = (Offer){ tip, owner, target, NULL, 0 };
  g_signal_connect_swapped (target, tip->done, G_CALLBACK (on_done), offer);
  g_signal_connect_swapped (target, "unmap", G_CALLBACK (close_tip), offer);
}

void
flam_tips_offer (GtkWidget *owner, GtkWidget *overview, GtkWidget *graph)
{
  g_auto (GStrv) left =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_TIPS);
  GtkEventController *keys;
  Offer *offers;

  if (left[0] == NULL ||
      g_object_get_qdata (G_OBJECT (owner), offers_quark ()) != NULL)
    return;
  offers = g_new (Offer, G_N_ELEMENTS (tips));
  init_offer (&offers[0], &tips[0], owner, overview);
  init_offer (&offers[1], &tips[1], owner, graph);
  g_object_set_qdata_full (G_OBJECT (owner), offers_quark (), offers, g_free);
  keys = gtk_event_controller_key_new ();
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), NULL);
  gtk_widget_add_controller (owner, keys);
  g_timeout_add_full (G_PRIORITY_DEFAULT,
                      PAUSE_MS,
                      begin,
                      g_object_ref (owner),
                      g_object_unref);
}
