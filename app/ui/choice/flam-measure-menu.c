/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-measure-menu.h"

#include "flam-value-text.h"

#include <glib/gi18n.h>
#include <string.h>

struct _FlamMeasureMenu
{
  GObject parent_instance;

  FlamSession *session;
  GtkWidget *kinds;           /* around the toggle */
  GtkToggleButton *toggle[2]; /* by FlamMeasureKind */
  GtkMenuButton *button;
  GtkLabel *label; /* in the button */
  GSimpleAction *choose;
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

/* --- the menu ------------------------------------------------------------- */

static void
append (GMenu *menu, const char *label, const char *action)
{
  g_autoptr (GMenuItem) item = g_menu_item_new (label, action);

  g_menu_item_set_attribute (item, "hidden-when", "s", "action-disabled");
  g_menu_append_item (menu, item);
}

static GMenuModel *
measures_of (const FlamProfile *profile,
             const FlamSelection *selection,
             FlamMeasureKind kind)
{
  GMenu *menu = g_menu_new ();

  for (guint i = 0; i < profile->n_measures; i++)
    if (profile->measures[i].kind == kind)
      {
        g_autofree char *shown =
            flam_value_text_mnemonic (measure_name (profile, selection, i));
        g_autoptr (GMenuItem) item = g_menu_item_new (shown, NULL);

        g_menu_item_set_action_and_target (item, "measure.choose", "u", i);
        g_menu_append_item (menu, item);
      }
  return G_MENU_MODEL (menu);
}

static GMenuModel *
weights_menu (void)
{
  static const struct
  {
    const char *word;
    const char *label;
  } rows[] = {
    { "guess", N_ ("According to the File Name") },
    { "samples", N_ ("Samples") },
    { "time", N_ ("Microseconds") },
    { "bytes", N_ ("Allocated Bytes") },
    { "faults", N_ ("Page Faults") },
  };
  GMenu *menu = g_menu_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GMenuItem) item = g_menu_item_new (_ (rows[i].label), NULL);

      g_menu_item_set_action_and_target (
          item, "win.weights", "s", rows[i].word);
      g_menu_append_item (menu, item);
    }
  return G_MENU_MODEL (menu);
}

static gboolean
is_of_text (const FlamProfile *profile)
{
  return strcmp (profile->facts.format, "folded") == 0;
}

/* The measures of both sides: leaks are two clicks away, whatever is shown. */
static GMenuModel *
menu_of (const FlamProfile *profile, const FlamSelection *selection)
{
  GMenu *menu = g_menu_new ();
  gboolean both = flam_profile_has_kind (profile, FLAM_MEASURE_CPU) &&
                  flam_profile_has_kind (profile, FLAM_MEASURE_ALLOC);
  g_autoptr (GMenuModel) cpu =
      measures_of (profile, selection, FLAM_MEASURE_CPU);
  g_autoptr (GMenuModel) alloc =
      measures_of (profile, selection, FLAM_MEASURE_ALLOC);
  g_autoptr (GMenu) memory = g_menu_new ();

  if (g_menu_model_get_n_items (cpu) > 0)
    g_menu_append_section (menu, both ? _ ("CPU") : NULL, cpu);
  if (g_menu_model_get_n_items (alloc) > 0)
    {
      g_menu_append_section (menu, both ? _ ("Memory") : NULL, alloc);
      append (memory, _ ("_Growth Between…"), "win.growth");
      append (memory, _ ("Leak _Suppressions…"), "win.suppressions");
      g_menu_append_section (menu, NULL, G_MENU_MODEL (memory));
    }
  if (is_of_text (profile))
    {
      g_autoptr (GMenuModel) weights = weights_menu ();

      g_menu_append_section (menu, _ ("Weights of This Text"), weights);
    }
  return G_MENU_MODEL (menu);
}

/* The menu is made when it is opened. */
static void
create_menu (GtkMenuButton *button, gpointer data)
{
  FlamMeasureMenu *self = data;
  const FlamProfile *profile = flam_session_get_profile (self->session);
  g_autoptr (GMenuModel) menu = NULL;

  if (profile == NULL)
    return;
  menu = menu_of (profile, flam_session_get_selection (self->session));
  gtk_menu_button_set_menu_model (button, menu);
}

static void
update_button (FlamMeasureMenu *self, guint measure)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  const char *name =
      measure < profile->n_measures
          ? measure_name (
                profile, flam_session_get_selection (self->session), measure)
          : "";
  g_autofree char *spoken = g_strdup_printf (_ ("Measure: %s"), name);

  gtk_label_set_label (self->label, name);
  gtk_widget_set_visible (GTK_WIDGET (self->button),
                          profile->n_measures > 1 || is_of_text (profile));
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
  g_simple_action_set_state (self->choose, g_variant_new_uint32 (measure));
}

/* --- the toggle ----------------------------------------------------------- */

static void
update_toggle (FlamMeasureMenu *self, FlamMeasureKind kind)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);

  gtk_widget_set_visible (
      self->kinds,
      flam_profile_has_kind (profile, FLAM_MEASURE_CPU) &&
          flam_profile_has_kind (profile, FLAM_MEASURE_ALLOC));
  gtk_toggle_button_set_active (self->toggle[kind], TRUE);
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
  update_toggle (self, kind);
  update_button (self, selection->measure);
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
on_choose (GSimpleAction *action, GVariant *parameter, FlamMeasureMenu *self)
{
  flam_session_set_measure (self->session, g_variant_get_uint32 (parameter));
}

static void
flam_measure_menu_finalize (GObject *object)
{
  FlamMeasureMenu *self = FLAM_MEASURE_MENU (object);

  g_clear_object (&self->choose);
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
  self->latest[0] = self->latest[1] = G_MAXUINT;
  self->choose = g_simple_action_new_stateful (
      "choose", G_VARIANT_TYPE_UINT32, g_variant_new_uint32 (0));
  g_signal_connect (self->choose, "activate", G_CALLBACK (on_choose), self);
}

static void
follow (FlamMeasureMenu *self,
        gpointer object,
        const char *signal,
        GCallback callback)
{
  g_signal_connect_object (object, signal, callback, self, G_CONNECT_SWAPPED);
}

FlamMeasureMenu *
flam_measure_menu_new (FlamSession *session,
                       GtkWidget *kinds,
                       GtkToggleButton *cpu,
                       GtkToggleButton *memory,
                       GtkMenuButton *button,
                       GtkLabel *label)
{
  FlamMeasureMenu *self = g_object_new (FLAM_TYPE_MEASURE_MENU, NULL);
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();

  self->session = session;
  self->kinds = kinds;
  self->toggle[FLAM_MEASURE_CPU] = cpu;
  self->toggle[FLAM_MEASURE_ALLOC] = memory;
  self->button = button;
  self->label = label;
  g_action_map_add_action (G_ACTION_MAP (group), G_ACTION (self->choose));
  gtk_widget_insert_action_group (
      GTK_WIDGET (button), "measure", G_ACTION_GROUP (group));
  gtk_menu_button_set_create_popup_func (button, create_menu, self, NULL);
  follow (self, cpu, "toggled", G_CALLBACK (on_toggled));
  follow (self, session, "notify::profile", G_CALLBACK (forget));
  follow (self, session, "notify::selection", G_CALLBACK (update));
  return self;
}
