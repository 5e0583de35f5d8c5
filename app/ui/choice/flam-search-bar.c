/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-search-bar.h"

#include "flam-core-picture.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

struct _FlamSearchBar
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamGraphView *graph; /* not referenced: freed with the same window */

  GtkSearchBar *bar;
  GtkSearchEntry *entry;
  GtkLabel *result;
  GtkToggleButton *regex_button;
  GtkToggleButton *case_button;
  GtkButton *keep_button;
  gboolean narrow;
};

G_DEFINE_FINAL_TYPE (FlamSearchBar, flam_search_bar, GTK_TYPE_WIDGET)

static guint closed_signal;
static guint height_signal;

static void
on_changed (FlamSearchBar *self)
{
  flam_session_set_search (self->session,
                           gtk_editable_get_text (GTK_EDITABLE (self->entry)));
}

static void
update_result (FlamSearchBar *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamRegex *regex = flam_session_get_search_regex (self->session);
  gint64 matched = flam_graph_view_get_matched (self->graph);
  g_autofree char *percent = NULL;
  g_autofree char *text = NULL;
  guint n = 0;
  guint at;

  gtk_widget_set_sensitive (GTK_WIDGET (self->keep_button), matched > 0);
  if (tree == NULL || *flam_session_get_search (self->session) == '\0')
    {
      gtk_label_set_label (self->result, "");
      return;
    }
  percent = flam_format_percent (matched, tree->total[0]);
  at = flam_flame_graph_count_matches (flam_graph_view_get_graph (self->graph),
                                       &n);
  if (regex != NULL && flam_regex_get_slow (regex) != NULL)
    /* Translators: about a regular expression */
    text = g_strdup (_ ("takes too long"));
  else if (n == 0)
    text = g_strdup (_ ("no match"));
  else if (self->narrow)
    /* Translators: the number of a match, and of all matches */
    text = g_strdup_printf (_ ("%u of %u"), at, n);
  else if (at > 0)
    /* Translators: a share of the whole; the number of a match, and of all
     * matches */
    text = g_strdup_printf (_ ("matched %s, %u of %u"), percent, at, n);
  else
    text = g_strdup_printf (
        ngettext ("matched %s, %u place", "matched %s, %u places", n),
        percent,
        n);
  gtk_label_set_label (self->result, text);
  gtk_widget_set_visible (GTK_WIDGET (self->result), TRUE);
}

static void
on_switch (FlamSearchBar *self)
{
  FlamSearchFlags flags = 0;

  if (gtk_toggle_button_get_active (self->regex_button))
    flags |= FLAM_SEARCH_REGEX;
  if (gtk_toggle_button_get_active (self->case_button))
    flags |= FLAM_SEARCH_CASE;
  flam_session_set_search_flags (self->session, flags);
}

/* The matches become a transform, which the search no longer changes. */
static void
on_keep (FlamSearchBar *self)
{
  const char *text = flam_session_get_search (self->session);
  g_autoptr (FlamSelection) selection =
      flam_selection_copy (flam_session_get_selection (self->session));
  g_autofree char *literal = g_regex_escape_string (text, -1);
  gboolean regex = gtk_toggle_button_get_active (self->regex_button);
  gboolean exact = gtk_toggle_button_get_active (self->case_button);
  g_autofree char *pattern =
      g_strconcat (exact ? "" : "(?i)", regex ? text : literal, NULL);
  g_autofree char *plain = g_strconcat (exact ? "" : "(?i)", literal, NULL);

  if (*text != '\0' && (flam_selection_add_transform (
                            selection, FLAM_TRANSFORM_FILTER, pattern, NULL) ||
                        flam_selection_add_transform (
                            selection, FLAM_TRANSFORM_FILTER, plain, NULL)))
    {
      flam_session_select (self->session, g_steal_pointer (&selection));
      gtk_search_bar_set_search_mode (self->bar, FALSE);
    }
}

int
flam_search_bar_get_height (FlamSearchBar *self)
{
  GtkWidget *revealer;
  int height = 0;

  g_return_val_if_fail (FLAM_IS_SEARCH_BAR (self), 0);
  revealer = gtk_widget_get_first_child (GTK_WIDGET (self->bar));
  if (gtk_search_bar_get_search_mode (self->bar) && GTK_IS_REVEALER (revealer))
    gtk_widget_measure (gtk_revealer_get_child (GTK_REVEALER (revealer)),
                        GTK_ORIENTATION_VERTICAL,
                        -1,
                        NULL,
                        &height,
                        NULL,
                        NULL);
  return height;
}

static void
on_mode (FlamSearchBar *self)
{
  gboolean open = gtk_search_bar_get_search_mode (self->bar);

  g_signal_emit (self, height_signal, 0);
  if (open)
    {
      on_changed (self);
      return;
    }
  flam_session_set_search (self->session, "");
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    g_signal_emit (self, closed_signal, 0);
}

static void
on_activate (FlamSearchBar *self)
{
  flam_search_bar_next (self, FALSE);
}

static void
on_profile (FlamSearchBar *self)
{
  if (flam_session_get_profile (self->session) == NULL)
    gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
}

void
flam_search_bar_start (FlamSearchBar *self)
{
  g_return_if_fail (FLAM_IS_SEARCH_BAR (self));
  gtk_search_bar_set_search_mode (self->bar, TRUE);
  gtk_widget_grab_focus (GTK_WIDGET (self->entry));
}

void
flam_search_bar_next (FlamSearchBar *self, gboolean backward)
{
  g_return_if_fail (FLAM_IS_SEARCH_BAR (self));
  flam_graph_view_next_match (self->graph, backward);
}

void
flam_search_bar_set_narrow (FlamSearchBar *self, gboolean narrow)
{
  g_return_if_fail (FLAM_IS_SEARCH_BAR (self));
  self->narrow = narrow;
  gtk_widget_set_halign (GTK_WIDGET (self),
                         narrow ? GTK_ALIGN_FILL : GTK_ALIGN_END);
  gtk_widget_set_hexpand (GTK_WIDGET (self->entry), narrow);
  gtk_widget_set_visible (GTK_WIDGET (self->keep_button), !narrow);
  gtk_editable_set_width_chars (GTK_EDITABLE (self->entry), narrow ? 6 : 18);
  if (self->session != NULL)
    update_result (self);
}

void
flam_search_bar_bind (FlamSearchBar *self, GBindingGroup *group)
{
  g_return_if_fail (FLAM_IS_SEARCH_BAR (self));
  g_binding_group_set_source (group, self->bar);
}

void
flam_search_bar_set_session (FlamSearchBar *self,
                             FlamSession *session,
                             FlamGraphView *graph)
{
  g_return_if_fail (FLAM_IS_SEARCH_BAR (self));
  self->session = g_object_ref (session);
  self->graph = graph;
  g_signal_connect_object (session,
                           "notify::profile",
                           G_CALLBACK (on_profile),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (graph,
                           "notify::matched",
                           G_CALLBACK (update_result),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::current",
                           G_CALLBACK (update_result),
                           self,
                           G_CONNECT_SWAPPED | G_CONNECT_AFTER);
}

static void
flam_search_bar_dispose (GObject *object)
{
  FlamSearchBar *self = FLAM_SEARCH_BAR (object);

  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_SEARCH_BAR);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_search_bar_parent_class)->dispose (object);
}

static void
flam_search_bar_class_init (FlamSearchBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_search_bar_dispose;
  closed_signal = g_signal_new ("closed",
                                FLAM_TYPE_SEARCH_BAR,
                                G_SIGNAL_RUN_LAST,
                                0,
                                NULL,
                                NULL,
                                NULL,
                                G_TYPE_NONE,
                                0);
  height_signal = g_signal_new ("height-changed",
                                FLAM_TYPE_SEARCH_BAR,
                                G_SIGNAL_RUN_LAST,
                                0,
                                NULL,
                                NULL,
                                NULL,
                                G_TYPE_NONE,
                                0);
  gtk_widget_class_set_css_name (class, "flamsearch");
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-search-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamSearchBar, bar);
  gtk_widget_class_bind_template_child (class, FlamSearchBar, entry);
  gtk_widget_class_bind_template_child (class, FlamSearchBar, result);
  gtk_widget_class_bind_template_child (class, FlamSearchBar, regex_button);
  gtk_widget_class_bind_template_child (class, FlamSearchBar, case_button);
  gtk_widget_class_bind_template_child (class, FlamSearchBar, keep_button);
}

static void
flam_search_bar_init (FlamSearchBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (
      self->entry, "search-changed", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (
      self->entry, "activate", G_CALLBACK (on_activate), self);
  g_signal_connect_swapped (
      self->bar, "notify::search-mode-enabled", G_CALLBACK (on_mode), self);
  g_signal_connect_swapped (
      self->regex_button, "toggled", G_CALLBACK (on_switch), self);
  g_signal_connect_swapped (
      self->case_button, "toggled", G_CALLBACK (on_switch), self);
  g_signal_connect_swapped (
      self->keep_button, "clicked", G_CALLBACK (on_keep), self);
  gtk_search_bar_connect_entry (self->bar, GTK_EDITABLE (self->entry));
}
