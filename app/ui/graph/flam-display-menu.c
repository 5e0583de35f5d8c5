/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-display-menu.h"

#include "flam-core-query.h"
#include "flam-settings.h"

#include <glib/gi18n.h>
#include <string.h>

/* A row of the menu; of those with a target, one is chosen. */
typedef struct
{
  const char *label;
  const char *target;
  guint needs; /* FlamFrameTraits; 0: always */
} Row;

static const Row shapes[] = {
  { N_ ("_Flame Graph"), "flame" },
  { N_ ("_Sunburst"), "sunburst" },
  { N_ ("_Treemap"), "treemap" },
};

static const Row roots[] = {
  { N_ ("Root at the _Bottom"), "flame" },
  { N_ ("_Root at the Top"), "icicle" },
};

static const Row colors[] = {
  { N_ ("Automatic"), "auto" },
  { N_ ("By Module"), "module" },
  { N_ ("By Language"), "language", FLAM_HAS_INTERPRETED },
  { N_ ("By Self Cost"), "self" },
  { N_ ("By Function"), "name" },
  { N_ ("Safe for Color Blindness"), "safe" },
  { N_ ("By Status, as in Julia’s Viewers"), "julia", FLAM_HAS_STATUS },
  { N_ ("As in flamegraph.pl"), "hot" },
};

static gboolean
has (guint traits, guint needs)
{
  return (traits & needs) == needs;
}

static void
append_rows (
    GMenu *menu, const char *action, const Row *rows, guint n, guint traits)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GMenuItem) item = g_menu_item_new (_ (rows[i].label), NULL);

      if (!has (traits, rows[i].needs))
        continue;
      g_menu_item_set_action_and_target (item, action, "s", rows[i].target);
      g_menu_append_item (menu, item);
    }
}

static void
append_section (GMenu *menu, const char *title, GMenu *section)
{
  if (g_menu_model_get_n_items (G_MENU_MODEL (section)) > 0)
    g_menu_append_section (menu, title, G_MENU_MODEL (section));
}

/* --- the graph ------------------------------------------------------------ */

static gboolean
is_page (FlamSession *session, const char *id)
{
  const char *page = flam_session_get_page (session);

  return strcmp (*page != '\0' ? page : "graph", id) == 0;
}

static void
append_graph (GMenu *menu, FlamSession *session, guint traits)
{
  gboolean graph = is_page (session, "graph");
  g_autoptr (GMenu) of_shape = g_menu_new ();
  g_autoptr (GMenu) of_root = g_menu_new ();
  g_autoptr (GMenu) of_colors = g_menu_new ();
  g_autoptr (GMenu) looks = g_menu_new ();

  if (graph)
    append_rows (
        of_shape, "win." FLAM_KEY_SHAPE, shapes, G_N_ELEMENTS (shapes), traits);
  append_section (menu, NULL, of_shape);
  if (graph && flam_settings_get_shape () == FLAM_SHAPE_FLAME)
    append_rows (of_root,
                 "win." FLAM_KEY_DIRECTION,
                 roots,
                 G_N_ELEMENTS (roots),
                 traits);
  append_section (menu, NULL, of_root);
  if (graph || is_page (session, "chart") || is_page (session, "functions"))
    {
      append_rows (of_colors,
                   "win." FLAM_KEY_COLORS,
                   colors,
                   G_N_ELEMENTS (colors),
                   traits);
      g_menu_append_submenu (looks, _ ("_Colors"), G_MENU_MODEL (of_colors));
    }
  g_menu_append (looks, _ ("Callees First (_Inverted)"), "win.invert");
  append_section (menu, NULL, looks);
}

/* --- frames --------------------------------------------------------------- */

/* Choices of the selection, which the capture's path shows, too. */
static void
toggle (FlamSession *session, gsize offset)
{
  const FlamSelection *now = flam_session_get_selection (session);
  FlamSelection *selection;

  if (now == NULL)
    return;
  selection = flam_selection_copy (now);
  G_STRUCT_MEMBER (gboolean, selection, offset) =
      !G_STRUCT_MEMBER (gboolean, selection, offset);
  flam_session_select (session, selection);
}

static void
on_native (GSimpleAction *action, GVariant *state, gpointer session)
{
  toggle (session, G_STRUCT_OFFSET (FlamSelection, no_native));
}

static void
on_inlines (GSimpleAction *action, GVariant *state, gpointer session)
{
  toggle (session, G_STRUCT_OFFSET (FlamSelection, no_inlines));
}

static void
on_repl (GSimpleAction *action, GVariant *state, gpointer session)
{
  toggle (session, G_STRUCT_OFFSET (FlamSelection, no_repl));
}

static const GActionEntry entries[] = {
  { "native", NULL, NULL, "true", on_native },
  { "inlines", NULL, NULL, "true", on_inlines },
  { "repl", NULL, NULL, "true", on_repl },
};

static void
set_state (GActionMap *map, const char *name, gboolean shown)
{
  g_simple_action_set_state (
      G_SIMPLE_ACTION (g_action_map_lookup_action (map, name)),
      g_variant_new_boolean (shown));
}

static void
append_frames (GMenu *menu, guint traits)
{
  static const struct
  {
    const char *label;
    const char *action;
    guint needs;
  } rows[] = {
    { N_ ("_Native Code"),
      "show.native",
      FLAM_HAS_NATIVE | FLAM_HAS_INTERPRETED },
    { N_ ("In_lined Functions"), "show.inlines", FLAM_HAS_INLINES },
    { N_ ("Runtime Int_ernals"),
      "win." FLAM_KEY_IRRELEVANT,
      FLAM_HAS_IRRELEVANT },
    { N_ ("Import _Machinery"), "win." FLAM_KEY_IMPORTS, FLAM_HAS_IMPORTS },
    { N_ ("_Julia’s REPL"), "show.repl", FLAM_HAS_REPL },
  };
  g_autoptr (GMenu) frames = g_menu_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (has (traits, rows[i].needs))
      g_menu_append (frames, _ (rows[i].label), rows[i].action);
  /* Translators: the heading above items that are shown or hidden: native code,
   * ... */
  append_section (menu, _ ("Show"), frames);
}

/* --- the button ----------------------------------------------------------- */

static void
create_menu (GtkMenuButton *button, gpointer data)
{
  FlamSession *session = data;
  const FlamProfile *profile = flam_session_get_profile (session);
  g_autoptr (GMenu) menu = g_menu_new ();
  g_autoptr (GMenu) picture = g_menu_new ();
  guint traits;

  if (profile == NULL)
    return;
  traits = flam_frame_traits_of (profile);
  append_graph (menu, session, traits);
  append_frames (menu, traits);
  if (is_page (session, "graph"))
    g_menu_append (picture, _ ("Co_py Picture"), "win.copy-picture");
  append_section (menu, NULL, picture);
  gtk_menu_button_set_menu_model (button, G_MENU_MODEL (menu));
}

static void
on_selection (FlamSession *session, GParamSpec *pspec, GActionMap *map)
{
  const FlamSelection *selection = flam_session_get_selection (session);

  if (selection == NULL)
    return;
  set_state (map, "native", !selection->no_native);
  set_state (map, "inlines", !selection->no_inlines);
  set_state (map, "repl", !selection->no_repl);
}

void
flam_display_menu_install (GtkMenuButton *button, FlamSession *session)
{
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();

  g_action_map_add_action_entries (
      G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), session);
  gtk_widget_insert_action_group (
      GTK_WIDGET (button), "show", G_ACTION_GROUP (group));
  g_signal_connect_object (
      session, "notify::selection", G_CALLBACK (on_selection), group, 0);
  gtk_menu_button_set_create_popup_func (button, create_menu, session, NULL);
}
