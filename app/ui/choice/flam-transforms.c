/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-transforms.h"

#include <glib/gi18n.h>

/* The search ignores case. */
#define CASELESS "(?i)"

const char *
flam_transforms_label (FlamTransformKind kind)
{
  switch (kind)
    {
    case FLAM_TRANSFORM_FOCUS:
      return _ ("focus");
    case FLAM_TRANSFORM_IGNORE:
      return _ ("drop");
    case FLAM_TRANSFORM_FILTER:
      return _ ("only through");
    case FLAM_TRANSFORM_HIDE:
      return _ ("hide");
    case FLAM_TRANSFORM_COLLAPSE:
      return _ ("collapse");
    case FLAM_TRANSFORM_STOP_AT:
      return _ ("stop at");
    case FLAM_TRANSFORM_PRUNE:
      return _ ("prune");
    case FLAM_TRANSFORM_BRANCHES:
      return _ ("branches");
    default:
      g_return_val_if_reached ("");
    }
}

char *
flam_transforms_describe (const FlamTransform *transform)
{
  const char *pattern = transform->pattern;
  gsize length = strlen (pattern);
  GString *plain;

  if (transform->regex != NULL && g_str_has_prefix (pattern, CASELESS))
    return g_strdup (pattern + strlen (CASELESS));
  if (transform->regex == NULL || length < 2 || pattern[0] != '^' ||
      pattern[length - 1] != '$')
    return g_strdup (pattern);
  plain = g_string_new (NULL);
  for (gsize i = 1; i < length - 1; i++)
    {
      if (pattern[i] == '\\' && i + 1 < length - 1)
        i++;
      g_string_append_c (plain, pattern[i]);
    }
  return g_string_free (plain, FALSE);
}

static guint
n_transforms (const FlamSelection *selection)
{
  return selection->transforms != NULL ? selection->transforms->len : 0;
}

/* The name of the transform that was added or removed. */
static char *
describe_transforms (const FlamSelection *less, const FlamSelection *more)
{
  const FlamTransform *extra = NULL;
  g_autofree char *pattern = NULL;

  for (guint i = 0; i < n_transforms (more) && extra == NULL; i++)
    {
      const FlamTransform *one = more->transforms->pdata[i];
      const FlamTransform *other =
          i < n_transforms (less) ? less->transforms->pdata[i] : NULL;

      if (other == NULL || one->kind != other->kind || one->of != other->of ||
          strcmp (one->pattern, other->pattern) != 0)
        extra = one;
    }
  if (extra == NULL)
    return g_strdup (_ ("transforms"));
  pattern = flam_transforms_describe (extra);
  /* Translators: a transform and its function */
  return g_strdup_printf (
      _ ("%s: %s"), flam_transforms_label (extra->kind), pattern);
}

char *
flam_transforms_describe_step (const FlamSelection *before,
                               const FlamSelection *now)
{
  if (n_transforms (now) > n_transforms (before))
    return describe_transforms (before, now);
  if (n_transforms (now) < n_transforms (before))
    return describe_transforms (now, before);
  if (now->from != before->from || now->to != before->to)
    return g_strdup (_ ("time range"));
  if (now->invert != before->invert)
    return g_strdup (_ ("inverted"));
  if (now->recursion != before->recursion)
    return g_strdup (_ ("recursion collapsed"));
  if (now->no_native != before->no_native)
    return g_strdup (_ ("native code"));
  if (now->no_inlines != before->no_inlines)
    return g_strdup (_ ("inlined functions"));
  if (now->no_repl != before->no_repl)
    return g_strdup (_ ("the REPL’s frames"));
  if (now->by != before->by)
    return g_strdup (_ ("grouping"));
  if (now->states != before->states)
    return g_strdup (_ ("states of threads"));
  if (now->allocators != before->allocators)
    return g_strdup (_ ("allocators"));
  if (now->suppressions != before->suppressions)
    return g_strdup (_ ("leak suppressions"));
  if ((now->labels != NULL ? now->labels->len : 0) !=
      (before->labels != NULL ? before->labels->len : 0))
    return g_strdup (_ ("labels"));
  if ((now->threads == NULL) != (before->threads == NULL) ||
      (now->threads != NULL &&
       (now->threads->len != before->threads->len ||
        memcmp (now->threads->data,
                before->threads->data,
                now->threads->len * sizeof (FlamId)) != 0)))
    return g_strdup (_ ("threads"));
  return g_strdup (_ ("display"));
}

/* --- actions -------------------------------------------------------------- */

static void
transform (FlamSession *session, FlamTransformKind kind)
{
  flam_session_transform_node (
      session, kind, flam_session_get_current (session));
}

static void
on_focus (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  transform (session, FLAM_TRANSFORM_FOCUS);
}

static void
on_hide (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  transform (session, FLAM_TRANSFORM_HIDE);
}

static void
on_ignore (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  transform (session, FLAM_TRANSFORM_IGNORE);
}

static void
on_filter (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  transform (session, FLAM_TRANSFORM_FILTER);
}

static void
on_collapse (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  transform (session, FLAM_TRANSFORM_COLLAPSE);
}

static void
on_stop_at (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  transform (session, FLAM_TRANSFORM_STOP_AT);
}

static void
on_prune (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  transform (session, FLAM_TRANSFORM_PRUNE);
}

static void
on_recursion (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  const FlamSelection *now = flam_session_get_selection (session);
  FlamSelection *selection;

  if (now == NULL)
    return;
  selection = flam_selection_copy (now);
  selection->recursion = now->recursion == FLAM_RECURSION_OFF
                             ? FLAM_RECURSION_COLLAPSE
                             : FLAM_RECURSION_OFF;
  flam_session_select (session, selection);
}

static void
on_zoom (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  flam_session_set_zoom (session, flam_session_get_current (session));
}

static void
on_undo (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  flam_session_undo (session);
}

static GdkClipboard *
clipboard (void)
{
  return gdk_display_get_clipboard (gdk_display_get_default ());
}

static void
on_copy_name (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  const FlamTree *tree = flam_session_get_tree (session);

  if (tree != NULL)
    gdk_clipboard_set_text (
        clipboard (),
        flam_tree_name (tree, flam_session_get_current (session)));
}

static void
on_copy_path (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  const FlamTree *tree = flam_session_get_tree (session);
  g_autoptr (GString) text = g_string_new (NULL);

  if (tree == NULL)
    return;
  for (FlamNodeId node = flam_session_get_current (session); node != FLAM_NONE;
       node = tree->parent[node])
    g_string_append_printf (text, "%s\n", flam_tree_name (tree, node));
  gdk_clipboard_set_text (clipboard (), text->str);
}

static void
on_open_editor (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  g_signal_emit_by_name (session, "open-in-editor");
}

static void
on_callers (GSimpleAction *action, GVariant *parameter, gpointer session)
{
  g_signal_emit_by_name (session, "show-callers");
}

static const GActionEntry entries[] = {
  { "zoom", on_zoom },           { "callers", on_callers },
  { "focus", on_focus },         { "hide", on_hide },
  { "ignore", on_ignore },       { "filter", on_filter },
  { "collapse", on_collapse },   { "recursion", on_recursion },
  { "stop-at", on_stop_at },     { "prune", on_prune },
  { "undo", on_undo },           { "copy-name", on_copy_name },
  { "copy-path", on_copy_path }, { "open-in-editor", on_open_editor },
};

static void
update_enabled (FlamSession *session, GParamSpec *pspec, GActionMap *map)
{
  static const char *const on_frames[] = {
    "zoom",      "callers",        "focus", "hide",     "ignore",
    "filter",    "stop-at",        "prune", "collapse", "copy-name",
    "copy-path", "open-in-editor", NULL
  };
  gboolean frame = flam_session_get_current (session) != 0;

  for (guint i = 0; on_frames[i] != NULL; i++)
    g_simple_action_set_enabled (
        G_SIMPLE_ACTION (g_action_map_lookup_action (map, on_frames[i])),
        frame);
}

/* --- keys ----------------------------------------------------------------- */

static void
add_key (GtkShortcutController *keys, guint key, const char *action)
{
  gtk_shortcut_controller_add_shortcut (
      keys,
      gtk_shortcut_new (gtk_keyval_trigger_new (key, 0),
                        gtk_named_action_new (action)));
}

static void
add_keys (GtkWidget *widget)
{
  GtkEventController *controller = gtk_shortcut_controller_new ();
  GtkShortcutController *keys = GTK_SHORTCUT_CONTROLLER (controller);

  add_key (keys, GDK_KEY_f, "node.focus");
  add_key (keys, GDK_KEY_h, "node.hide");
  add_key (keys, GDK_KEY_c, "node.collapse");
  add_key (keys, GDK_KEY_u, "node.undo");
  add_key (keys, GDK_KEY_i, "win.invert");
  add_key (keys, GDK_KEY_p, "win.show-peak");
  add_key (keys, GDK_KEY_l, "win.show-leaks");
  add_key (keys, GDK_KEY_slash, "win.search");
  gtk_widget_add_controller (widget, controller);
}

void
flam_transforms_install (GtkWidget *widget, FlamSession *session)
{
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();

  g_action_map_add_action_entries (
      G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), session);
  gtk_widget_insert_action_group (widget, "node", G_ACTION_GROUP (group));
  g_signal_connect_object (
      session, "notify::current", G_CALLBACK (update_enabled), group, 0);
  update_enabled (session, NULL, G_ACTION_MAP (group));
  add_keys (widget);
}

/* --- menu ----------------------------------------------------------------- */

/* The transforms that name what they apply to. */
typedef struct
{
  const char *focus;
  const char *ignore; /* NULL: only the focus applies */
  const char *filter;
  const char *stop_at;
  const char *prune;
} NodeWords;

static NodeWords
words_of (const FlamTree *tree, FlamNodeId node)
{
  if (flam_tree_is_top (tree, node))
    return (NodeWords){
      .focus = tree->by == FLAM_BY_THREAD    ? _ ("_Focus on This Thread")
               : tree->by == FLAM_BY_PROCESS ? _ ("_Focus on This Process")
                                             : _ ("_Focus on This Label"),
    };
  if (tree->by == FLAM_BY_MODULE)
    return (NodeWords){ _ ("_Focus on This Module"),
                        _ ("_Drop Stacks with This Module"),
                        _ ("_Keep Only Stacks with This Module"),
                        _ ("_Stop at This Module"),
                        _ ("_Prune This Module") };
  if (tree->by == FLAM_BY_FILE)
    return (NodeWords){ _ ("_Focus on This File"),
                        _ ("_Drop Stacks with This File"),
                        _ ("_Keep Only Stacks with This File"),
                        _ ("_Stop at This File"),
                        _ ("_Prune This File") };
  return (NodeWords){ _ ("_Focus on This Function"),
                      _ ("_Drop Stacks with This Function"),
                      _ ("_Keep Only Stacks with This Function"),
                      _ ("_Stop at This Function"),
                      _ ("_Prune This Function") };
}

static void
add_transforms (GMenu *menu, const NodeWords *words)
{
  g_menu_append (menu, words->focus, "node.focus");
  if (words->ignore == NULL)
    return;
  g_menu_append (menu, _ ("_Hide (Add Cost to Callers)"), "node.hide");
  g_menu_append (menu, _ ("_Collapse Callees"), "node.collapse");
  g_menu_append (menu, words->ignore, "node.ignore");
  g_menu_append (menu, words->filter, "node.filter");
  g_menu_append (menu, words->stop_at, "node.stop-at");
  g_menu_append (menu, words->prune, "node.prune");
}

static GMenuModel *
node_menu (const FlamTree *tree, FlamNodeId node)
{
  const NodeWords words = words_of (tree, node);
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) transforms = g_menu_new ();
  g_autoptr (GMenu) rest = g_menu_new ();
  g_autoptr (GMenu) first = g_menu_new ();

  g_menu_append (first, _ ("_Zoom to This"), "node.zoom");
  g_menu_append (first, _ ("Callers and Ca_llees"), "node.callers");
  add_transforms (transforms, &words);
  g_menu_append (transforms, _ ("Collapse _Recursion"), "node.recursion");
  g_menu_append (transforms, _ ("_Undo"), "node.undo");
  g_menu_append (rest, _ ("Copy _Name"), "node.copy-name");
  g_menu_append (rest, _ ("Copy _Stack"), "node.copy-path");
  g_menu_append (rest, _ ("Open in _Editor"), "node.open-in-editor");
  g_menu_append (rest, _ ("No_tes…"), "win.notes");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (first));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (transforms));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (rest));
  return G_MENU_MODEL (menu);
}

static gboolean
unparent (gpointer popover)
{
  gtk_widget_unparent (popover);
  return G_SOURCE_REMOVE;
}

/* Deferred until after "closed", when the chosen action is activated. */
static void
on_closed (GtkWidget *popover)
{
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE,
                   unparent,
                   g_object_ref (popover),
                   g_object_unref);
}

/* Only a layout manager makes a popover resize when its style, which is applied
 * after it was first measured, needs more room. */
static GtkWidget *
popover_parent (GtkWidget *widget)
{
  while (gtk_widget_get_layout_manager (widget) == NULL &&
         gtk_widget_get_parent (widget) != NULL)
    widget = gtk_widget_get_parent (widget);
  return widget;
}

void
flam_transforms_popup (GtkWidget *widget,
                       FlamSession *session,
                       FlamNodeId node,
                       double x,
                       double y)
{
  GtkWidget *parent = popover_parent (widget);
  g_autoptr (GMenuModel) menu = NULL;
  GdkRectangle place = { 0, 0, 1, 1 };
  const FlamTree *tree = flam_session_get_tree (session);
  GtkWidget *popover;

  if (tree == NULL || node == 0 || node == FLAM_NONE || node >= tree->n)
    return;
  gtk_widget_translate_coordinates (widget, parent, x, y, &x, &y);
  place.x = (int)x;
  place.y = (int)y;
  /* What it represents besides its path stays. */
  if (node != flam_session_get_current (session))
    flam_session_set_current (session, node);
  menu = node_menu (tree, node);
  popover = gtk_popover_menu_new_from_model (menu);
  gtk_widget_set_parent (popover, parent);
  gtk_popover_set_pointing_to (GTK_POPOVER (popover), &place);
  gtk_popover_set_has_arrow (GTK_POPOVER (popover), FALSE);
  gtk_widget_set_halign (popover, GTK_ALIGN_START);
  g_signal_connect (popover, "closed", G_CALLBACK (on_closed), NULL);
  gtk_popover_popup (GTK_POPOVER (popover));
  /* A tooltip that is already shown is queried again, and then hidden. */
  gtk_widget_trigger_tooltip_query (widget);
}
