/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-measure-menu.h"

#include "flam-value-text.h"

#include <glib/gi18n.h>
#include <string.h>

struct _FlamMeasureMenu
{
  GObject parent_instance;

  FlamSession *session;
  GtkToggleButton *toggle[2]; /* by FlamMeasureKind */
  GtkDropDown *list;
  GArray *shown;   /* guint: the profile's measure at each row */
  guint latest[2]; /* the measure last looked at on each side */
  gboolean syncing;
};

G_DEFINE_FINAL_TYPE (FlamMeasureMenu, flam_measure_menu, G_TYPE_OBJECT)

static FlamMeasureKind
current_kind (FlamMeasureMenu *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  const FlamSelection *selection = flam_session_get_selection (self->session);

  return selection->measure < profile->n_measures
             ? profile->measures[selection->measure].kind
             : FLAM_MEASURE_CPU;
}

/* Memory that is still in use at the end of a range need not be a leak. */
static const char *
measure_name (const FlamProfile *profile,
              const FlamSelection *selection,
              guint measure)
{
  if (selection->from != G_MININT64 || selection->to != G_MAXINT64)
    {
      if (profile->measures[measure].source == FLAM_FROM_LEAKED)
        return _ ("Growth");
      if (profile->measures[measure].source == FLAM_FROM_LEAKED_BLOCKS)
        return _ ("Growth in blocks");
    }
  return flam_value_text_measure (profile, &profile->measures[measure]);
}

static gboolean
are_same (GListModel *a, GListModel *b)
{
  guint n = g_list_model_get_n_items (a);

  if (b == NULL || g_list_model_get_n_items (b) != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (strcmp (gtk_string_list_get_string (GTK_STRING_LIST (a), i),
                gtk_string_list_get_string (GTK_STRING_LIST (b), i)) != 0)
      return FALSE;
  return TRUE;
}

/* A choice in the list also ends up here, while GTK still needs the model that
 * the choice was made in. */
static void
fill_list (FlamMeasureMenu *self, FlamMeasureKind kind, guint measure)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  guint selected = GTK_INVALID_LIST_POSITION;

  g_array_set_size (self->shown, 0);
  for (guint i = 0; i < profile->n_measures; i++)
    {
      if (profile->measures[i].kind != kind)
        continue;
      if (i == measure)
        selected = self->shown->len;
      g_array_append_val (self->shown, i);
      gtk_string_list_append (
          names,
          measure_name (
              profile, flam_session_get_selection (self->session), i));
    }
  if (!are_same (G_LIST_MODEL (names), gtk_drop_down_get_model (self->list)))
    gtk_drop_down_set_model (self->list, G_LIST_MODEL (names));
  gtk_drop_down_set_selected (self->list, selected);
  gtk_widget_set_sensitive (GTK_WIDGET (self->list), self->shown->len > 1);
}

static void
update_toggle (FlamMeasureMenu *self, FlamMeasureKind kind)
{
  static const char *const missing[] = {
    N_ ("This capture has no CPU samples"),
    N_ ("This capture has no allocations"),
  };
  static const char *const present[] = {
    N_ ("Where the time goes"),
    N_ ("Where the memory goes"),
  };
  gboolean has =
      flam_profile_has_kind (flam_session_get_profile (self->session), kind);
  GtkWidget *button = GTK_WIDGET (self->toggle[kind]);
  const char *text = has ? _ (present[kind]) : _ (missing[kind]);

  gtk_widget_set_sensitive (button, has);
  gtk_widget_set_tooltip_text (button, text);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static void
update (FlamMeasureMenu *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);
  FlamMeasureKind kind;

  if (selection == NULL)
    return;
  self->syncing = TRUE;
  kind = current_kind (self);
  self->latest[kind] = selection->measure;
  update_toggle (self, FLAM_MEASURE_CPU);
  update_toggle (self, FLAM_MEASURE_ALLOC);
  gtk_toggle_button_set_active (self->toggle[kind], TRUE);
  fill_list (self, kind, selection->measure);
  self->syncing = FALSE;
}

static void
forget (FlamMeasureMenu *self)
{
  if (flam_session_get_profile (self->session) == NULL)
    self->latest[0] = self->latest[1] = G_MAXUINT;
}

static guint
first_of (const FlamProfile *profile, FlamMeasureKind kind)
{
  for (guint i = 0; i < profile->n_measures; i++)
    if (profile->measures[i].kind == kind)
      return i;
  return 0;
}

static void
on_toggled (FlamMeasureMenu *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  FlamMeasureKind kind =
      gtk_toggle_button_get_active (self->toggle[FLAM_MEASURE_CPU])
          ? FLAM_MEASURE_CPU
          : FLAM_MEASURE_ALLOC;
  guint measure = self->latest[kind];

  if (self->syncing || profile == NULL || kind == current_kind (self))
    return;
  if (measure >= profile->n_measures || profile->measures[measure].kind != kind)
    measure = first_of (profile, kind);
  flam_session_set_measure (self->session, measure);
}

static void
on_selected (FlamMeasureMenu *self)
{
  guint row = gtk_drop_down_get_selected (self->list);

  if (!self->syncing && row < self->shown->len)
    flam_session_set_measure (self->session,
                              g_array_index (self->shown, guint, row));
}

static void
flam_measure_menu_finalize (GObject *object)
{
  FlamMeasureMenu *self = FLAM_MEASURE_MENU (object);

  g_array_unref (self->shown);
  G_OBJECT_CLASS (flam_measure_menu_parent_class)->finalize (object);
}

static void
flam_measure_menu_class_init (FlamMeasureMenuClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_measure_menu_finalize;
}

static void
flam_measure_menu_init (FlamMeasureMenu *self)
{
  self->shown = g_array_new (FALSE, FALSE, sizeof (guint));
  self->latest[0] = self->latest[1] = G_MAXUINT;
}

/* perf's event names can be long; the list shows them whole. */
static void
list_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 28);
  gtk_list_item_set_child (item, label);
}

static void
list_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const char *text =
      gtk_string_object_get_string (gtk_list_item_get_item (item));

  gtk_label_set_label (GTK_LABEL (gtk_list_item_get_child (item)), text);
}

FlamMeasureMenu *
flam_measure_menu_new (FlamSession *session,
                       GtkToggleButton *cpu,
                       GtkToggleButton *memory,
                       GtkDropDown *list)
{
  FlamMeasureMenu *self = g_object_new (FLAM_TYPE_MEASURE_MENU, NULL);
  g_autoptr (GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();

  self->session = session;
  self->toggle[FLAM_MEASURE_CPU] = cpu;
  self->toggle[FLAM_MEASURE_ALLOC] = memory;
  self->list = list;
  g_signal_connect (factory, "setup", G_CALLBACK (list_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (list_bind), NULL);
  gtk_drop_down_set_factory (list, factory);
  g_signal_connect_object (
      cpu, "toggled", G_CALLBACK (on_toggled), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (list,
                           "notify::selected",
                           G_CALLBACK (on_selected),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      session, "notify::profile", G_CALLBACK (forget), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::selection",
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
  return self;
}
