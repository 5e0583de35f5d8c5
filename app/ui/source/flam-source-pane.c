/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-source-pane.h"

#include "flam-accent.h"
#include "flam-core-picture.h"
#include "flam-cost-gutter.h"
#include "flam-editor-launch.h"
#include "flam-fetched-source.h"
#include "flam-files.h"
#include "flam-heat-strip.h"
#include "flam-settings.h"
#include "flam-source-file.h"
#include "flam-source-missing.h"
#include "flam-widget.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define MIN_WIDTH 240
#define PATIENCE_FRAMES 600
#define FRAMES_TO_MOVE 2
#define FRAMES_TO_STAY 10
#define LINES_AROUND 80       /* more than a page of them */
#define COLORED_AT_ONCE 50000 /* characters */

struct _FlamSourcePane
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamJob *job;
  FlamBaselineLines *base_lines; /* the baseline, weighed; NULL: not yet */
  FlamSourceFile *waits; /* for the end of a zoom's animation, or NULL */
  char *path;            /* the local file in the buffer, or NULL */
  char *header;          /* the tooltip of the file's name */
  char *recorded;        /* the file to find in a chosen folder */
  gboolean fetching;     /* a file from the capture's host */
  guint32 line;          /* the marked target line, or 0 */
  guint32 where;         /* the centered line: that one, or the hottest */
  GtkTextTag *jumped;
  GtkCssProvider *font;
  FlamCostGutter *gutter;
  guint scroll_tick;
  int patience;   /* frames to wait for the heights of the lines */
  double place;   /* where the view is scrolled to */
  int still;      /* number of frames during which it has not changed */
  gboolean sized; /* the heights of all lines are known */

  GtkLabel *file_label;
  GtkLabel *line_label;
  GtkToggleButton *alone_button;
  GtkButton *editor_button;
  GtkStack *stack;
  GtkBox *missing_bar;
  GtkLabel *missing_label;
  GtkButton *missing_choose;
  GtkWidget *code; /* the view and the strip beside it */
  GtkWidget *scroller;
  GtkSourceView *view;
  FlamHeatStrip *strip;
  AdwStatusPage *message;
  GtkWidget *remedies;
  GtkButton *choose_button;
  GtkButton *fetch_button;
};

G_DEFINE_FINAL_TYPE (FlamSourcePane, flam_source_pane, GTK_TYPE_WIDGET)

static GtkTextBuffer *
buffer_of (FlamSourcePane *self)
{
  return gtk_text_view_get_buffer (GTK_TEXT_VIEW (self->view));
}

/* --- display -------------------------------------------------------- */

static void
show_message (FlamSourcePane *self,
              const char *title,
              const char *text,
              gboolean can_choose)
{
  adw_status_page_set_title (self->message, title);
  adw_status_page_set_description (self->message, text);
  gtk_widget_set_visible (self->remedies, can_choose);
  gtk_widget_set_sensitive (GTK_WIDGET (self->editor_button), FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self->alone_button), FALSE);
  gtk_stack_set_visible_child_name (self->stack, "message");
}

/* The tooltip is queried on demand: GTK asks the display server for the
 * pointer's position whenever a tooltip is set. */
static gboolean
on_query_header (FlamSourcePane *self,
                 int x,
                 int y,
                 gboolean by_keyboard,
                 GtkTooltip *tooltip)
{
  gtk_tooltip_set_text (tooltip, self->header);
  return TRUE;
}

static void
set_header (FlamSourcePane *self, const char *file, guint32 line)
{
  g_autofree char *base = *file == '\0' ? g_strdup (_ ("Source"))
                          : flam_source_path_origin (file) != FLAM_SOURCE_FILE
                              ? g_strdup (file)
                              : g_path_get_basename (file);
  g_autofree char *text =
      line != 0 ? g_strdup_printf (_ ("line %u"), line) : g_strdup ("");

  gtk_label_set_label (self->file_label, base);
  g_free (self->header);
  self->header = g_strdup (file);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self->file_label), *file != '\0');
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->file_label),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  file,
                                  -1);
  gtk_label_set_label (self->line_label, text);
}

static void
set_text (FlamSourcePane *self, const FlamSourceFile *file)
{
  gtk_text_buffer_set_text (buffer_of (self), file->text, -1);
  self->sized = FALSE;
  g_free (self->path);
  self->path = g_strdup (file->path);
  gtk_source_buffer_set_language (
      GTK_SOURCE_BUFFER (buffer_of (self)),
      gtk_source_language_manager_guess_language (
          gtk_source_language_manager_get_default (), self->path, NULL));
}

/* GtkSourceView colors text only once it is seen, in idle time after that. What
 * will be seen of a line far below waits for all text above it. */
static void
color_around (FlamSourcePane *self, guint32 line)
{
  GtkTextIter start, end;

  gtk_text_buffer_get_iter_at_line (
      buffer_of (self), &start, MAX ((int)line - LINES_AROUND, 0));
  gtk_text_buffer_get_iter_at_line (
      buffer_of (self), &end, (int)line + LINES_AROUND);
  if (gtk_text_iter_get_offset (&end) <= COLORED_AT_ONCE)
    gtk_source_buffer_ensure_highlight (
        GTK_SOURCE_BUFFER (buffer_of (self)), &start, &end);
}

/* Where the view is scrolled to for the cursor's line to be in its middle, by
 * the heights of lines that are known so far. */
static double
middle_place (FlamSourcePane *self, double page)
{
  GtkTextBuffer *buffer = buffer_of (self);
  GtkTextIter iter;
  int y, height;

  gtk_text_buffer_get_iter_at_mark (
      buffer, &iter, gtk_text_buffer_get_insert (buffer));
  gtk_text_view_get_line_yrange (
      GTK_TEXT_VIEW (self->view), &iter, &y, &height);
  return y + height / 2.0 - page / 2;
}

/* GtkTextView computes the heights of its lines gradually, in idle time, and
 * those of some scripts are higher than others. The line is brought to the
 * middle at once, again when its place stays the same for some frames, and
 * again if it moves after that. */
static gboolean
scroll_when_sized (GtkWidget *view, GdkFrameClock *clock, gpointer data)
{
  FlamSourcePane *self = data;
  GtkTextBuffer *buffer = buffer_of (self);
  GtkAdjustment *adjustment =
      gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (view));
  double least, place;
  gboolean first;
  GtkTextIter iter;
  int y, height;

  gtk_text_buffer_get_start_iter (buffer, &iter);
  gtk_text_view_get_line_yrange (GTK_TEXT_VIEW (view), &iter, &y, &height);
  least = gtk_text_buffer_get_line_count (buffer) * height / 2.0;
  if (gtk_widget_get_height (view) <= 1 || height == 0 ||
      (gtk_adjustment_get_upper (adjustment) < least && self->patience-- > 0))
    return G_SOURCE_CONTINUE;
  place = middle_place (self, gtk_adjustment_get_page_size (adjustment));
  first = self->still < 0;
  self->still = !first && place == self->place ? self->still + 1 : 0;
  self->place = place;
  if (first || self->still >= FRAMES_TO_MOVE)
    gtk_adjustment_set_value (adjustment, place);
  /* A view that scrolls to a mark leaves its margin out. */
  gtk_adjustment_set_value (
      gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (view)), 0);
  if (self->still < FRAMES_TO_STAY && self->patience-- > 0)
    return G_SOURCE_CONTINUE;
  gtk_adjustment_set_value (adjustment, place);
  self->scroll_tick = 0;
  self->sized = TRUE;
  return G_SOURCE_REMOVE;
}

/* In the view's allocation, which computes the lines around a mark that it is
 * to scroll to, and then begins to move there. It has no way left if the place
 * is reached before, so that the line is seen in the first frame. */
static void
on_lines_sized (FlamSourcePane *self, GtkAdjustment *adjustment)
{
  double page = gtk_adjustment_get_page_size (adjustment);

  self->sized = FALSE;
  if (self->still < 0 && self->scroll_tick != 0 && page > 1)
    gtk_adjustment_set_value (adjustment, middle_place (self, page));
}

static void
scroll_to_line (FlamSourcePane *self, guint32 line)
{
  GtkTextBuffer *buffer = buffer_of (self);
  GtkAdjustment *adjustment =
      gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (self->view));
  GtkTextIter iter;

  gtk_text_buffer_get_iter_at_line (buffer, &iter, (int)line - 1);
  gtk_text_buffer_place_cursor (buffer, &iter);
  if (self->sized)
    {
      gtk_adjustment_set_value (
          adjustment,
          middle_place (self, gtk_adjustment_get_page_size (adjustment)));
      return;
    }
  self->patience = PATIENCE_FRAMES;
  self->still = -1;
  if (self->scroll_tick == 0)
    self->scroll_tick = gtk_widget_add_tick_callback (
        GTK_WIDGET (self->view), scroll_when_sized, self, NULL);
  if (gtk_widget_get_height (GTK_WIDGET (self->view)) <= 1)
    gtk_text_view_scroll_to_mark (GTK_TEXT_VIEW (self->view),
                                  gtk_text_buffer_get_insert (buffer),
                                  0.25,
                                  FALSE,
                                  0,
                                  0);
}

static void
mark_line (FlamSourcePane *self, guint32 line)
{
  GtkTextBuffer *buffer = buffer_of (self);
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (buffer, &start, &end);
  gtk_text_buffer_remove_tag (buffer, self->jumped, &start, &end);
  self->line = line;
  if (line == 0)
    return;
  gtk_text_buffer_get_iter_at_line (buffer, &start, (int)line - 1);
  end = start;
  gtk_text_iter_forward_line (&end);
  gtk_text_buffer_apply_tag (buffer, self->jumped, &start, &end);
}

static guint
cursor_line (FlamSourcePane *self)
{
  GtkTextIter iter;

  gtk_text_buffer_get_iter_at_mark (
      buffer_of (self), &iter, gtk_text_buffer_get_insert (buffer_of (self)));
  return (guint)gtk_text_iter_get_line (&iter) + 1;
}

/* The figures are drawn beside the text. Screen readers get them as the
 * description of the cursor's line. */
static void
describe_line (FlamSourcePane *self)
{
  g_autofree char *text =
      flam_cost_gutter_describe (self->gutter, cursor_line (self));

  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text,
                                  -1);
}

static void
show_source (FlamSourcePane *self, const FlamSourceFile *file)
{
  guint32 line = file->request->line;
  guint32 where = line != 0          ? line
                  : file->first != 0 ? file->first
                                     : file->costs->hottest;

  if (file->text != NULL)
    {
      set_text (self, file);
      color_around (self, where);
    }
  flam_cost_gutter_set_costs (self->gutter, file->costs);
  flam_heat_strip_set_costs (
      self->strip,
      file->costs,
      (guint)gtk_text_buffer_get_line_count (buffer_of (self)));
  set_header (self, file->request->recorded, where);
  gtk_widget_set_visible (GTK_WIDGET (self->alone_button),
                          flam_session_get_current (self->session) != 0 &&
                              flam_source_can_be_alone (self->session));
  gtk_widget_set_sensitive (GTK_WIDGET (self->editor_button),
                            g_file_test (self->path, G_FILE_TEST_EXISTS));
  gtk_stack_set_visible_child_name (self->stack, "source");
  if (line != self->line || where != self->where || file->text != NULL)
    {
      mark_line (self, line);
      self->where = where;
      if (where != 0)
        scroll_to_line (self, where);
    }
  describe_line (self);
}

/* The host of the capture, which may have the file. */
static void
offer_fetching (FlamSourcePane *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  const char *host =
      view_data != NULL ? flam_fetched_host (view_data->profile, self->recorded)
                        : NULL;
  g_autofree char *shown = NULL;
  g_autofree char *label = NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->fetch_button), host != NULL);
  gtk_widget_set_sensitive (GTK_WIDGET (self->fetch_button), !self->fetching);
  if (host == NULL)
    return;
  shown = flam_format_visible (host);
  /* Translators: a machine or a container */
  label = g_strdup_printf (
      self->fetching ? _ ("Fetching from %s…") : _ ("Fetch from %s"), shown);
  gtk_button_set_label (self->fetch_button, label);
}

/* `text` is not markup. */
static void
show_reason (FlamSourcePane *self,
             const char *title,
             const char *text,
             gboolean can_choose)
{
  g_autofree char *shown = flam_message_sentence (text);
  g_autofree char *markup = g_markup_escape_text (shown, -1);

  offer_fetching (self);
  show_message (self, title, markup, can_choose);
}

static void
show_idle (FlamSourcePane *self)
{
  set_header (self, "", 0);
  show_message (self,
                "", /* the bar explains it */
                _ ("Select a function to see where in its source the cost is."),
                FALSE);
}

/* Another file comes first, but was not found. */
static void
show_missing (FlamSourcePane *self, const FlamSourceFile *file)
{
  g_autofree char *text =
      file->missing != NULL ? flam_source_missing_first_text (file) : NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->missing_bar), text != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->missing_choose),
                          file->origin == FLAM_SOURCE_FILE);
  gtk_label_set_text (self->missing_label, text != NULL ? text : "");
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->missing_label), file->missing);
  g_free (self->recorded);
  self->recorded = g_strdup (file->missing != NULL ? file->missing
                                                   : file->request->recorded);
}

static void
show_file (FlamSourcePane *self, FlamSourceFile *file)
{
  show_missing (self, file);
  if (file->request->base_lines != NULL && self->base_lines == NULL)
    self->base_lines = flam_baseline_lines_ref (file->request->base_lines);
  if (file->path != NULL)
    show_source (self, file);
  else if (*file->request->recorded == '\0')
    show_idle (self);
  else
    {
      g_autofree char *text = flam_source_missing_text (file);

      set_header (self, file->request->recorded, file->request->line);
      if (file->origin == FLAM_SOURCE_FILE)
        show_reason (self, _ ("Source Not Found"), text, TRUE);
      else
        show_reason (self, _ ("No Source File"), text, FALSE);
    }
  flam_source_file_free (file);
}

static void
source_done (gpointer result, const GError *error, gpointer data)
{
  FlamSourcePane *self = data;

  if (error != NULL)
    show_reason (self, _ ("Source Cannot Be Read"), error->message, FALSE);
  else if (flam_session_is_moving (self->session))
    self->waits = result;
  else
    show_file (self, result);
}

static void
on_moving (FlamSourcePane *self)
{
  if (self->waits != NULL && !flam_session_is_moving (self->session))
    show_file (self, g_steal_pointer (&self->waits));
}

/* --- the file to show
 * --------------------------------------------------------- */

/* What the costs are limited to: a path, unless a list of functions, or a
 * comparison, shows functions as wholes. */
static void
label_alone (FlamSourcePane *self)
{
  gboolean function =
      flam_session_is_current_whole (self->session) ||
      flam_baseline_get_kind (flam_session_get_baseline (self->session)) !=
          FLAM_BASELINE_NONE;

  gtk_button_set_label (GTK_BUTTON (self->alone_button),
                        function ? _ ("This function") : _ ("This path"));
  gtk_widget_set_tooltip_text (
      GTK_WIDGET (self->alone_button),
      function ? _ ("Count only this function’s own frames, not other callers "
                    "of the file’s lines")
               : _ ("Count only the stacks through the selected path"));
}

static void
update (FlamSourcePane *self)
{
  FlamViewData *view_data;
  FlamSourceRequest *request;
  FlamNodeId node;

  if (self->session == NULL || !gtk_widget_get_visible (GTK_WIDGET (self)))
    return;
  view_data = flam_session_get_view_data (self->session);
  node = flam_session_get_current (self->session);
  flam_job_cancel (self->job);
  g_clear_pointer (&self->waits, flam_source_file_free);
  if (view_data == NULL)
    {
      show_idle (self);
      return;
    }
  label_alone (self);
  request = flam_source_request_new (
      self->session,
      gtk_toggle_button_get_active (self->alone_button),
      self->path);
  flam_source_request_compare (
      request,
      flam_baseline_copy_new (flam_session_get_baseline (self->session)),
      self->base_lines != NULL ? flam_baseline_lines_ref (self->base_lines)
                               : NULL);
  g_free (self->recorded);
  self->recorded = g_strdup (request->recorded);
  if (*request->recorded == '\0' && node != 0)
    {
      g_autofree char *why = flam_source_unknown_text (view_data, node);

      flam_source_request_free (request);
      set_header (self, "", 0);
      show_reason (self, _ ("No Source Known"), why, FALSE);
      return;
    }
  flam_job_start (self->job,
                  flam_source_file_work,
                  request,
                  flam_source_request_free,
                  flam_source_file_free,
                  source_done,
                  self);
}

/* The baseline, or the side that is compared with it, has changed. */
static void
on_compared (FlamSourcePane *self)
{
  g_clear_pointer (&self->base_lines, flam_baseline_lines_unref);
  update (self);
}

/* --- actions -------------------------------------------------------------- */

static void
folder_chosen (const char *path, gpointer data)
{
  FlamSourcePane *self = data;
  g_autofree char *base = NULL;
  g_autofree char *text = NULL;

  if (self->recorded == NULL)
    return;
  if (flam_source_file_remember (self->recorded, path))
    {
      update (self);
      return;
    }
  base = g_path_get_basename (self->recorded);
  text = g_strdup_printf (_ ("%s was not found in that folder or below it "
                             "under its recorded path."),
                          base);
  if (gtk_widget_get_visible (GTK_WIDGET (self->missing_bar)))
    gtk_label_set_text (self->missing_label, text);
  else
    show_reason (self, _ ("Source Not Found"), text, TRUE);
}

static void
on_choose (FlamSourcePane *self)
{
  flam_files_choose (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))),
                     GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                     _ ("Choose the Source Folder"),
                     _ ("_Choose"),
                     folder_chosen,
                     G_OBJECT (self));
}

static void
source_fetched (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (FlamSourcePane) self = data;
  g_autoptr (GError) error = NULL;

  self->fetching = FALSE;
  if (self->session == NULL)
    return;
  if (flam_fetched_finish (result, &error))
    update (self);
  else
    show_reason (self, _ ("Source Not Found"), error->message, TRUE);
}

static void
on_fetch (FlamSourcePane *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  FlamNodeId node = flam_session_get_current (self->session);

  if (self->fetching || view_data == NULL ||
      flam_fetched_host (view_data->profile, self->recorded) == NULL)
    return;
  self->fetching = TRUE;
  offer_fetching (self);
  flam_fetched_fetch (view_data->profile,
                      flam_tree_function (view_data->tree, node),
                      self->recorded,
                      source_fetched,
                      g_object_ref (self));
}

static void
on_open_in_editor (FlamSourcePane *self)
{
  if (self->path != NULL)
    flam_editor_open (GTK_WIDGET (self), self->path, cursor_line (self));
}

/* --- looks ---------------------------------------------------------------- */

static void
update_scheme (FlamSourcePane *self)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GtkSourceStyleScheme *scheme = gtk_source_style_scheme_manager_get_scheme (
      gtk_source_style_scheme_manager_get_default (),
      dark ? "Adwaita-dark" : "Adwaita");
  GdkRGBA mark = flam_accent (dark, dark ? 0.35f : 0.22f);

  gtk_source_buffer_set_style_scheme (GTK_SOURCE_BUFFER (buffer_of (self)),
                                      scheme);
  g_object_set (self->jumped, "paragraph-background-rgba", &mark, NULL);
}

static void
update_font (FlamSourcePane *self)
{
  GSettings *settings = flam_settings_get ();
  g_autofree char *name = g_settings_get_string (settings, FLAM_KEY_FONT);
  g_autoptr (PangoFontDescription) font = NULL;
  g_autofree char *css = NULL;

  if (!g_settings_get_boolean (settings, FLAM_KEY_SYSTEM_FONT))
    {
      font = pango_font_description_from_string (name);
      if (pango_font_description_get_family (font) != NULL)
        css = g_strdup_printf (
            "textview { font-family: \"%s\"; "
            "font-size: %dpt; }",
            pango_font_description_get_family (font),
            MAX (pango_font_description_get_size (font) / PANGO_SCALE, 6));
    }
  gtk_css_provider_load_from_data (self->font, css != NULL ? css : "", -1);
}

/* Its page is the view without the gutter. */
static void
on_page_changed (FlamSourcePane *self)
{
  flam_cost_gutter_set_room (self->gutter,
                             gtk_widget_get_width (GTK_WIDGET (self->view)));
}

static void
add_gutter (FlamSourcePane *self)
{
  GtkSourceGutterRenderer *renderer = flam_cost_gutter_new ();

  gtk_source_gutter_insert (
      gtk_source_view_get_gutter (self->view, GTK_TEXT_WINDOW_LEFT),
      renderer,
      -50);
  self->gutter = FLAM_COST_GUTTER (renderer);
  g_signal_connect_object (
      gtk_scrollable_get_hadjustment (GTK_SCROLLABLE (self->view)),
      "notify::page-size",
      G_CALLBACK (on_page_changed),
      self,
      G_CONNECT_SWAPPED);
}

static void
follow (FlamSourcePane *self, gpointer object, const char *signal, GCallback f)
{
  g_signal_connect_object (object, signal, f, self, G_CONNECT_SWAPPED);
}

/* --- object --------------------------------------------------------------- */

static void
on_picked (FlamHeatStrip *strip, guint line, FlamSourcePane *self)
{
  scroll_to_line (self, line);
}

void
flam_source_pane_set_session (FlamSourcePane *self, FlamSession *session)
{
  FlamBaseline *baseline = flam_session_get_baseline (session);

  g_return_if_fail (FLAM_IS_SOURCE_PANE (self));
  self->session = g_object_ref (session);
  g_signal_connect_object (session,
                           "notify::view-data",
                           G_CALLBACK (on_compared),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      session, "notify::current", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::moving",
                           G_CALLBACK (on_moving),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      baseline, "changed", G_CALLBACK (on_compared), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (
      baseline, "scaled", G_CALLBACK (on_compared), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "open-in-editor",
                           G_CALLBACK (on_open_in_editor),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_settings_get (),
                           "changed::" FLAM_KEY_PATH_MAPPINGS,
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
  update (self);
}

/* A view that has columns beside its text is never freed (GtkSourceView 5.6).
 */
static void
remove_gutter (FlamSourcePane *self)
{
  GtkSourceGutter *gutter =
      gtk_source_view_get_gutter (self->view, GTK_TEXT_WINDOW_LEFT);
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (gutter));

  while (child != NULL)
    {
      GtkWidget *next = gtk_widget_get_next_sibling (child);

      if (GTK_SOURCE_IS_GUTTER_RENDERER (child))
        gtk_source_gutter_remove (gutter, GTK_SOURCE_GUTTER_RENDERER (child));
      child = next;
    }
  self->gutter = NULL;
}

static void
flam_source_pane_dispose (GObject *object)
{
  FlamSourcePane *self = FLAM_SOURCE_PANE (object);

  if (self->job != NULL)
    flam_job_cancel (self->job);
  g_clear_object (&self->job);
  g_clear_pointer (&self->waits, flam_source_file_free);
  g_clear_pointer (&self->base_lines, flam_baseline_lines_unref);
  if (self->gutter != NULL)
    remove_gutter (self);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_SOURCE_PANE);
  g_clear_object (&self->font);
  g_clear_object (&self->session);
  g_clear_pointer (&self->header, g_free);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->recorded, g_free);
  G_OBJECT_CLASS (flam_source_pane_parent_class)->dispose (object);
}

static void
flam_source_pane_class_init (FlamSourcePaneClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_source_pane_dispose;
  g_type_ensure (FLAM_TYPE_HEAT_STRIP);
  gtk_widget_class_set_css_name (class, "flamsource");
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-source-pane.ui");
  gtk_widget_class_bind_template_child (class, FlamSourcePane, file_label);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, line_label);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, alone_button);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, editor_button);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, stack);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, code);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, scroller);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, view);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, missing_bar);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, missing_label);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, missing_choose);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, strip);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, message);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, remedies);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, fetch_button);
  gtk_widget_class_bind_template_child (class, FlamSourcePane, choose_button);
}

static void
flam_source_pane_init (FlamSourcePane *self)
{
  GSettings *settings = flam_settings_get ();

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_size_request (GTK_WIDGET (self), MIN_WIDTH, -1);
  /* Code is written from left to right in every language. */
  gtk_widget_set_direction (self->code, GTK_TEXT_DIR_LTR);
  gtk_widget_set_direction (self->scroller, GTK_TEXT_DIR_LTR);
  self->job = flam_job_new ();
  self->jumped = gtk_text_buffer_create_tag (buffer_of (self), NULL, NULL);
  self->font = gtk_css_provider_new ();
  gtk_style_context_add_provider (
      gtk_widget_get_style_context (GTK_WIDGET (self->view)),
      GTK_STYLE_PROVIDER (self->font),
      GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  add_gutter (self);
  follow (self,
          gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (self->view)),
          "changed",
          G_CALLBACK (on_lines_sized));
  follow (self,
          buffer_of (self),
          "notify::cursor-position",
          G_CALLBACK (describe_line));
  update_font (self);
  update_scheme (self);
  follow (self,
          adw_style_manager_get_default (),
          "notify::dark",
          G_CALLBACK (update_scheme));
  flam_accent_watch (G_OBJECT (self), G_CALLBACK (update_scheme));
  follow (self,
          settings,
          "changed::" FLAM_KEY_SYSTEM_FONT,
          G_CALLBACK (update_font));
  follow (self, settings, "changed::" FLAM_KEY_FONT, G_CALLBACK (update_font));
  follow (
      self, self->file_label, "query-tooltip", G_CALLBACK (on_query_header));
  follow (self, self->alone_button, "toggled", G_CALLBACK (update));
  follow (self, self->choose_button, "clicked", G_CALLBACK (on_choose));
  follow (self, self->missing_choose, "clicked", G_CALLBACK (on_choose));
  follow (self, self->fetch_button, "clicked", G_CALLBACK (on_fetch));
  g_signal_connect (self->strip, "line-picked", G_CALLBACK (on_picked), self);
  g_signal_connect_swapped (self, "notify::visible", G_CALLBACK (update), self);
}
