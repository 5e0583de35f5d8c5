/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-headline-bar.h"

#include "flam-headline-link.h"
#include "flam-settings.h"
#include "flam-why-empty.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

struct _FlamHeadlineBar
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamJob *job;
  FlamHeadline *headline;
  FlamProfile *asked; /* the profile of the sentence that is being made */
  FlamProfile *of;    /* the profile of the headline's ids */
  const FlamHeadlinePart *pending; /* waits for its picture */

  GtkLabel *label;
  GtkButton *stop;
  GtkButton *show_all;
};

G_DEFINE_FINAL_TYPE (FlamHeadlineBar, flam_headline_bar, GTK_TYPE_WIDGET)

/* --- links ---------------------------------------------------------------- */

/* Pages that show the current frame; a link leads away from others. */
static void
show_frames (FlamHeadlineBar *self)
{
  static const char *const pages[] = {
    "tree", "functions", "code", "chart", NULL
  };

  if (!g_strv_contains (pages, flam_session_get_page (self->session)))
    flam_session_set_page (self->session, "graph");
}

/* The heaviest box of a module, or 0. */
static FlamNodeId
find_module (const FlamTree *tree, FlamModuleId module)
{
  FlamNodeId best = 0;

  for (FlamNodeId i = 1; i < tree->n; i++)
    if (flam_tree_module (tree, i) == module &&
        (best == 0 || tree->total[i] > tree->total[best]))
      best = i;
  return best;
}

/* In a picture of the part's measure, and by modules if it is one. */
static void
go (FlamHeadlineBar *self, const FlamHeadlinePart *part)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  const char *file = "";
  FlamNodeId node = 0;

  if (tree == NULL || tree->profile != self->of)
    return;
  if (part->kind == FLAM_HEADLINE_MODULE)
    node = find_module (tree, part->what);
  else if (part->kind != FLAM_HEADLINE_MEASURE)
    {
      node = flam_tree_find_function (tree, part->function);
      if (part->line > 0)
        file = flam_profile_string (self->of, part->file);
    }
  if (node == 0 && part->kind != FLAM_HEADLINE_MEASURE)
    return;
  flam_session_set_zoom (self->session, 0);
  /* The sentence speaks of all of its stacks. */
  flam_session_set_current_at (self->session, node, file, part->line, TRUE);
}

static gboolean
is_of_part (const FlamProfile *profile,
            FlamProcessId process,
            const FlamHeadlinePart *part)
{
  return process != FLAM_NONE &&
         (part->kind == FLAM_HEADLINE_RANK
              ? profile->processes.rank[process] == part->what + 1
              : profile->processes.name[process] == part->what);
}

/* Of the selected threads, those of a program or of a rank. */
static void
choose_threads (FlamHeadlineBar *self, const FlamHeadlinePart *part)
{
  const FlamSelection *all = flam_session_get_selection (self->session);
  const FlamProfile *profile = self->of;
  FlamSelection *selection = flam_selection_copy (all);

  flam_selection_no_threads (selection);
  for (FlamThreadId t = 0; t < profile->threads.n; t++)
    if (flam_selection_has_thread (all, t) &&
        is_of_part (profile, profile->threads.process[t], part))
      flam_selection_add_thread (selection, t);
  flam_session_select (self->session, selection);
}

static void
follow (FlamHeadlineBar *self, const FlamHeadlinePart *part)
{
  const FlamSelection *now = flam_session_get_selection (self->session);

  if (part->kind == FLAM_HEADLINE_QUALITY)
    gtk_widget_activate_action (GTK_WIDGET (self), "win.capture-quality", NULL);
  else if (part->kind == FLAM_HEADLINE_BALANCE)
    flam_session_set_page (self->session, "balance");
  else if (part->kind == FLAM_HEADLINE_PROGRAM ||
           part->kind == FLAM_HEADLINE_RANK)
    choose_threads (self, part);
  else
    {
      show_frames (self);
      if (part->line > 0)
        g_settings_set_boolean (
            flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
      if (part->measure != now->measure)
        {
          self->pending = part;
          flam_session_set_measure (self->session, part->measure);
        }
      else if (part->kind == FLAM_HEADLINE_MODULE && now->by != FLAM_BY_MODULE)
        {
          FlamSelection *selection = flam_selection_copy (now);

          selection->by = FLAM_BY_MODULE;
          self->pending = part;
          flam_session_select (self->session, selection);
        }
      else
        go (self, part);
    }
}

static gboolean
on_link (GtkLabel *label, const char *uri, FlamHeadlineBar *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);

  /* The names of another picture of the capture are on their way. */
  if (profile == self->of)
    follow (self, flam_headline_link_find (self->headline, uri));
  return TRUE;
}

/* --- sentence ------------------------------------------------------------- */

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_profile_unref (input->profile);
  flam_selection_free (input->selection);
  g_free (input);
}

static gpointer
work (gpointer data, const FlamProgress *progress, GError **error)
{
  Input *input = data;

  return flam_headline_new (input->profile, input->selection, progress, error);
}

/* A difference has a sentence of its own, and so has a graph without boxes. */
static void
show (FlamHeadlineBar *self)
{
  const char *page = flam_session_get_page (self->session);
  gboolean compared =
      flam_baseline_get_kind (flam_session_get_baseline (self->session)) !=
          FLAM_BASELINE_NONE &&
      strcmp (page, "difference") == 0;
  gboolean empty = gtk_widget_get_visible (GTK_WIDGET (self->show_all)) &&
                   strcmp (page, "graph") == 0;

  gtk_widget_set_visible (GTK_WIDGET (self),
                          !compared && !empty &&
                              !flam_session_is_live (self->session) &&
                              *gtk_label_get_text (self->label) != '\0');
}

static void
done (gpointer result, const GError *error, gpointer data)
{
  FlamHeadlineBar *self = data;
  g_autofree char *markup = NULL;
  gboolean waits = self->pending != NULL;
  FlamHeadlinePart pending = { .function = FLAM_NONE };

  if (waits)
    pending = *self->pending;
  self->pending = NULL;
  pending.text = NULL;
  g_clear_pointer (&self->headline, flam_headline_free);
  self->headline = result;
  g_clear_pointer (&self->of, flam_profile_unref);
  self->of = g_steal_pointer (&self->asked);
  if (result != NULL)
    markup = flam_headline_link_markup (result);
  gtk_label_set_markup (self->label, markup != NULL ? markup : "");
  show (self);
  if (waits)
    go (self, &pending);
}

/* Nothing stands out before all of it is read. */
static void
show_growing (FlamHeadlineBar *self, const FlamProfile *profile)
{
  g_autofree char *share = flam_format_percent (
      (gint64)(profile->facts.read_fraction * 1e6), 1000000);
  /* Translators: a share of a file */
  g_autofree char *text = g_strdup_printf (
      _ ("The first %s of the file is shown; the rest is being read."), share);

  flam_job_cancel (self->job);
  gtk_label_set_text (self->label, text);
  gtk_widget_set_visible (GTK_WIDGET (self), TRUE);
}

/* Other pages than the graph have no way back of their own. */
static void
show_empty (FlamHeadlineBar *self)
{
  flam_job_cancel (self->job);
  gtk_label_set_text (self->label, flam_why_empty (self->session));
  show (self);
}

static void
update (FlamHeadlineBar *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  gboolean empty = view_data != NULL && view_data->tree->n <= 1 &&
                   flam_why_empty_is_narrowed (self->session);
  Input *input;

  gtk_widget_set_visible (GTK_WIDGET (self->show_all), empty);
  gtk_widget_set_visible (GTK_WIDGET (self->stop),
                          flam_session_is_growing (self->session));
  if (view_data == NULL || flam_session_is_live (self->session))
    {
      flam_job_cancel (self->job);
      gtk_label_set_text (self->label, "");
      gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
      return;
    }
  if (self->of != view_data->profile)
    self->pending = NULL;
  if (flam_session_is_growing (self->session))
    {
      show_growing (self, view_data->profile);
      return;
    }
  if (empty)
    {
      show_empty (self);
      return;
    }
  g_clear_pointer (&self->asked, flam_profile_unref);
  self->asked = flam_profile_ref (view_data->profile);
  input = g_new0 (Input, 1);
  input->profile = flam_profile_ref (view_data->profile);
  input->selection = flam_selection_copy (view_data->selection);
  flam_job_start (self->job,
                  work,
                  input,
                  input_free,
                  (GDestroyNotify)flam_headline_free,
                  done,
                  self);
}

void
flam_headline_bar_set_session (FlamHeadlineBar *self, FlamSession *session)
{
  g_return_if_fail (FLAM_IS_HEADLINE_BAR (self));
  g_return_if_fail (self->session == NULL);
  self->session = g_object_ref (session);
  g_signal_connect_object (session,
                           "notify::view-data",
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      session, "notify::page", G_CALLBACK (show), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_session_get_baseline (session),
                           "changed",
                           G_CALLBACK (show),
                           self,
                           G_CONNECT_SWAPPED);
}

/* --- object --------------------------------------------------------------- */

static void
flam_headline_bar_dispose (GObject *object)
{
  FlamHeadlineBar *self = FLAM_HEADLINE_BAR (object);

  if (self->job != NULL)
    flam_job_cancel (self->job);
  g_clear_object (&self->job);
  g_clear_pointer (&self->headline, flam_headline_free);
  g_clear_pointer (&self->asked, flam_profile_unref);
  g_clear_pointer (&self->of, flam_profile_unref);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_HEADLINE_BAR);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_headline_bar_parent_class)->dispose (object);
}

static void
flam_headline_bar_class_init (FlamHeadlineBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_headline_bar_dispose;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-headline-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamHeadlineBar, label);
  gtk_widget_class_bind_template_child (class, FlamHeadlineBar, stop);
  gtk_widget_class_bind_template_child (class, FlamHeadlineBar, show_all);
}

static void
flam_headline_bar_init (FlamHeadlineBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->job = flam_job_new ();
  g_signal_connect (self->label, "activate-link", G_CALLBACK (on_link), self);
}
