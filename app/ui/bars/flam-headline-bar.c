/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-headline-bar.h"

#include "flam-core-picture.h"
#include "flam-widget.h"

#include <glib/gi18n.h>
#include <stdlib.h>

struct _FlamHeadlineBar
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamJob *job;
  FlamHeadline *headline;
  FlamProfile *asked; /* the profile of the sentence that is being made */
  FlamProfile *of;    /* the profile of the headline's ids */
  const FlamHeadlinePart *pending; /* waits for its measure's picture */

  GtkLabel *label;
  GtkButton *stop;
};

G_DEFINE_FINAL_TYPE (FlamHeadlineBar, flam_headline_bar, GTK_TYPE_WIDGET)

/* --- links ---------------------------------------------------------------- */

static void
go (FlamHeadlineBar *self, const FlamHeadlinePart *part)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  const char *file = "";
  FlamId node;

  if (tree == NULL || tree->profile != self->of || part->function == FLAM_NONE)
    return;
  node = flam_tree_find_function (tree, part->function);
  if (part->line > 0)
    file = flam_profile_string (self->of, part->file);
  if (node == 0)
    return;
  flam_session_set_zoom (self->session, 0);
  /* The sentence speaks of all of its stacks. */
  flam_session_set_current_at (self->session, node, file, part->line, TRUE);
}

static gboolean
on_link (GtkLabel *label, const char *uri, FlamHeadlineBar *self)
{
  char *end;
  gulong sentence = strtoul (uri, &end, 10);
  gulong index = *end == '.' ? strtoul (end + 1, NULL, 10) : 0;
  const FlamHeadlinePart *part =
      &self->headline->sentence[sentence].part[index];

  if (part->measure != flam_session_get_selection (self->session)->measure)
    {
      self->pending = part->function != FLAM_NONE ? part : NULL;
      flam_session_set_measure (self->session, part->measure);
    }
  else
    go (self, part);
  return TRUE;
}

static char *
show_link (const FlamHeadlinePart *part,
           guint sentence,
           guint index,
           gpointer data)
{
  /* A part of a word would be isolated from its place otherwise, if it is
   * written in the other direction. */
  return g_markup_printf_escaped (
      "<a href=\"%u.%u\">\u2068%s\u2069</a>", sentence, index, part->text);
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

/* A difference has a sentence of its own. */
static void
show (FlamHeadlineBar *self)
{
  gboolean compared =
      flam_baseline_get_kind (flam_session_get_baseline (self->session)) !=
          FLAM_BASELINE_NONE &&
      strcmp (flam_session_get_page (self->session), "difference") == 0;

  gtk_widget_set_visible (GTK_WIDGET (self),
                          !compared && !flam_session_is_live (self->session) &&
                              *gtk_label_get_text (self->label) != '\0');
}

static void
done (gpointer result, const GError *error, gpointer data)
{
  FlamHeadlineBar *self = data;
  g_autofree char *markup = NULL;
  FlamHeadlinePart pending = { .function = FLAM_NONE };

  if (self->pending != NULL)
    pending = *self->pending;
  self->pending = NULL;
  pending.text = NULL;
  g_clear_pointer (&self->headline, flam_headline_free);
  self->headline = result;
  g_clear_pointer (&self->of, flam_profile_unref);
  self->of = g_steal_pointer (&self->asked);
  if (result != NULL)
    markup = flam_headline_show (result, show_link, NULL);
  gtk_label_set_markup (self->label, markup != NULL ? markup : "");
  show (self);
  if (pending.function != FLAM_NONE)
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

static void
update (FlamHeadlineBar *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  Input *input;

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
}

static void
flam_headline_bar_init (FlamHeadlineBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->job = flam_job_new ();
  g_signal_connect (self->label, "activate-link", G_CALLBACK (on_link), self);
}
