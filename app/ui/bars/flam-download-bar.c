/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-download-bar.h"

#include "flam-core-picture.h"
#include "flam-debuginfod.h"
#include "flam-settings.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

#define MODULES_MAX 12
#define LEAST_SHARE 0.01 /* of the picture: the least for a module to count */

struct _FlamDownloadBar
{
  GtkWidget parent_instance;

  FlamSession *session;
  GArray *wanted;    /* FlamId: modules of the session's profile */
  GHashTable *asked; /* build ids of this file that were offered once */
  char *names;       /* "libc.so.6", "libc.so.6 and 2 more" */

  GtkRevealer *revealer;
  GtkLabel *label;
  GtkProgressBar *progress;
  GtkButton *download;
  GtkButton *cancel;
  GtkButton *close;
};

G_DEFINE_FINAL_TYPE (FlamDownloadBar, flam_download_bar, GTK_TYPE_WIDGET)

/* --- missing files -------------------------------------------------------- */

/* The self weight of each module. */
static gint64 *
self_by_module (const FlamViewData *view_data)
{
  const FlamProfile *profile = view_data->profile;
  gint64 *weight = g_new0 (gint64, MAX (profile->modules.n, 1));

  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      FlamFunctionId function =
          profile->frames.function[profile->stacks.frame[i]];
      FlamModuleId module = profile->functions.module[function];

      if (module != FLAM_NONE)
        weight[module] += view_data->weights->weight[i];
    }
  return weight;
}

static const char *
build_id_of (const FlamProfile *profile, FlamModuleId module)
{
  return flam_profile_string (profile, profile->modules.build_id[module]);
}

static gboolean
may_be_asked_for (FlamDownloadBar *self,
                  const FlamProfile *profile,
                  FlamModuleId module)
{
  const char *path =
      flam_profile_string (profile, profile->modules.path[module]);
  guint8 symbols = profile->modules.symbols[module];

  return (symbols == FLAM_SYMBOLS_NONE || symbols == FLAM_SYMBOLS_DYNSYM ||
          symbols == FLAM_SYMBOLS_SYMTAB) &&
         *path == '/' && *build_id_of (profile, module) != '\0' &&
         !g_hash_table_contains (self->asked, build_id_of (profile, module));
}

/* Sorts the heaviest first; returns their share of the picture. */
static gint64
find_wanted (FlamDownloadBar *self, const FlamViewData *view_data)
{
  const FlamProfile *profile = view_data->profile;
  g_autofree gint64 *weight = self_by_module (view_data);
  gint64 least =
      MAX ((gint64)((double)view_data->weights->total * LEAST_SHARE), 1);
  gint64 sum = 0;

  g_array_set_size (self->wanted, 0);
  while (self->wanted->len < MODULES_MAX)
    {
      FlamId heaviest = FLAM_NONE;

      for (FlamId i = 0; i < profile->modules.n; i++)
        if (weight[i] >= least && may_be_asked_for (self, profile, i) &&
            (heaviest == FLAM_NONE || weight[i] > weight[heaviest]))
          heaviest = i;
      if (heaviest == FLAM_NONE)
        break;
      sum += weight[heaviest];
      weight[heaviest] = 0;
      g_array_append_val (self->wanted, heaviest);
    }
  return sum;
}

static void
name_wanted (FlamDownloadBar *self, const FlamProfile *profile)
{
  FlamId first = g_array_index (self->wanted, FlamId, 0);
  const char *name =
      flam_profile_string (profile, profile->modules.name[first]);
  guint more = self->wanted->len - 1;

  g_free (self->names);
  self->names =
      more == 0 ? g_strdup (name)
                /* Translators: a library's name, and how many more there are */
                : g_strdup_printf (
                      ngettext ("%s and %u more", "%s and %u more", more),
                      name,
                      more);
}

/* --- messages ------------------------------------------------------------- */

typedef enum
{
  SAY_NOTHING,
  SAY_OFFER,
  SAY_PROGRESS,
  SAY_RESULT,
} Saying;

static void
say (FlamDownloadBar *self, Saying saying, const char *text)
{
  if (text != NULL)
    gtk_label_set_label (self->label, text);
  gtk_widget_set_visible (GTK_WIDGET (self->download), saying == SAY_OFFER);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), saying == SAY_PROGRESS);
  gtk_widget_set_visible (GTK_WIDGET (self->cancel), saying == SAY_PROGRESS);
  gtk_widget_set_visible (GTK_WIDGET (self->close), saying != SAY_PROGRESS);
  if (saying != SAY_NOTHING)
    gtk_widget_set_visible (GTK_WIDGET (self->revealer), TRUE);
  gtk_revealer_set_reveal_child (self->revealer, saying != SAY_NOTHING);
}

static void
start (FlamDownloadBar *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  g_autofree char *text = NULL;

  if (self->wanted->len == 0 || profile == NULL)
    return;
  for (guint i = 0; i < self->wanted->len; i++)
    g_hash_table_add (self->asked,
                      g_strdup (build_id_of (
                          profile, g_array_index (self->wanted, FlamId, i))));
  text = g_strdup_printf (_ ("Downloading the debug information of %s"),
                          self->names);
  gtk_progress_bar_set_fraction (self->progress, 0);
  say (self, SAY_PROGRESS, text);
  flam_session_download (self->session,
                         (const FlamId *)(const void *)self->wanted->data,
                         self->wanted->len);
}

static void
offer (FlamDownloadBar *self, const FlamViewData *view_data, gint64 weight)
{
  g_autofree char *share =
      flam_format_percent (weight, view_data->weights->total);
  g_autofree char *text = g_strdup_printf (
      /* Translators: library names, and their share of the picture */
      _ ("Debug information is missing for %s, where %s is spent. Download it "
         "from the debuginfod servers?"),
      self->names,
      share);

  say (self, SAY_OFFER, text);
}

/* Called for every final picture: the first one, and those of later selections,
 * which may have other hot modules. */
static void
on_symbolized (FlamDownloadBar *self)
{
  const FlamViewData *view_data = flam_session_get_view_data (self->session);
  g_autofree char *wish =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_DEBUGINFOD);
  gint64 weight;

  if (view_data == NULL || strcmp (wish, "never") == 0 ||
      flam_job_is_busy (flam_session_get_download (self->session)) ||
      gtk_revealer_get_reveal_child (self->revealer) ||
      !flam_debuginfod_is_configured ())
    return;
  weight = find_wanted (self, view_data);
  if (self->wanted->len == 0)
    return;
  name_wanted (self, view_data->profile);
  if (strcmp (wish, "always") == 0)
    start (self);
  else
    offer (self, view_data, weight);
}

/* A change of the preferences applies to the open capture, too. */
static void
on_wish (FlamDownloadBar *self)
{
  if (flam_job_is_busy (flam_session_get_download (self->session)))
    return;
  say (self, SAY_NOTHING, NULL);
  on_symbolized (self);
}

static void
on_downloaded (FlamDownloadBar *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  g_autofree char *text = NULL;
  guint found = 0;

  for (guint i = 0; i < self->wanted->len; i++)
    found +=
        profile->modules.symbols[g_array_index (self->wanted, FlamId, i)] ==
        FLAM_SYMBOLS_DWARF;
  if (found == self->wanted->len)
    {
      say (self, SAY_NOTHING, NULL);
      return;
    }
  text =
      found == 0
          ? g_strdup_printf (_ ("The debuginfod servers have nothing for %s."),
                             self->names)
          : g_strdup_printf (
                ngettext ("Downloaded the debug information of %u module; "
                          "the servers have none for the others.",
                          "Downloaded the debug information of %u modules; "
                          "the servers have none for the others.",
                          found),
                found);
  say (self, SAY_RESULT, text);
}

static void
on_profile (FlamDownloadBar *self)
{
  if (flam_session_get_profile (self->session) != NULL)
    return;
  g_hash_table_remove_all (self->asked);
  g_array_set_size (self->wanted, 0);
  say (self, SAY_NOTHING, NULL);
}

static void
on_fraction (FlamDownloadBar *self)
{
  FlamJob *job = flam_session_get_download (self->session);

  if (flam_job_is_busy (job))
    gtk_progress_bar_set_fraction (self->progress, flam_job_get_fraction (job));
}

static void
on_cancel (FlamDownloadBar *self)
{
  flam_job_cancel (flam_session_get_download (self->session));
  say (self, SAY_NOTHING, NULL);
}

/* A download that was declined is not offered again while the file is open. */
static void
on_close (FlamDownloadBar *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);

  for (guint i = 0; profile != NULL && i < self->wanted->len; i++)
    g_hash_table_add (self->asked,
                      g_strdup (build_id_of (
                          profile, g_array_index (self->wanted, FlamId, i))));
  say (self, SAY_NOTHING, NULL);
}

/* --- object --------------------------------------------------------------- */

void
flam_download_bar_set_session (FlamDownloadBar *self, FlamSession *session)
{
  static const struct
  {
    const char *signal;
    GCallback callback;
  } follow[] = {
    { "symbolized", G_CALLBACK (on_symbolized) },
    { "downloaded", G_CALLBACK (on_downloaded) },
    { "notify::profile", G_CALLBACK (on_profile) },
  };

  g_return_if_fail (FLAM_IS_DOWNLOAD_BAR (self));
  self->session = g_object_ref (session);
  for (guint i = 0; i < G_N_ELEMENTS (follow); i++)
    g_signal_connect_object (
        session, follow[i].signal, follow[i].callback, self, G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_settings_get (),
                           "changed::" FLAM_KEY_DEBUGINFOD,
                           G_CALLBACK (on_wish),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_session_get_download (session),
                           "notify::fraction",
                           G_CALLBACK (on_fraction),
                           self,
                           G_CONNECT_SWAPPED);
}

static void
flam_download_bar_dispose (GObject *object)
{
  FlamDownloadBar *self = FLAM_DOWNLOAD_BAR (object);

  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_DOWNLOAD_BAR);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_download_bar_parent_class)->dispose (object);
}

static void
flam_download_bar_finalize (GObject *object)
{
  FlamDownloadBar *self = FLAM_DOWNLOAD_BAR (object);

  g_array_unref (self->wanted);
  g_hash_table_unref (self->asked);
  g_free (self->names);
  G_OBJECT_CLASS (flam_download_bar_parent_class)->finalize (object);
}

static void
flam_download_bar_class_init (FlamDownloadBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_download_bar_dispose;
  G_OBJECT_CLASS (klass)->finalize = flam_download_bar_finalize;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-download-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamDownloadBar, revealer);
  gtk_widget_class_bind_template_child (class, FlamDownloadBar, label);
  gtk_widget_class_bind_template_child (class, FlamDownloadBar, progress);
  gtk_widget_class_bind_template_child (class, FlamDownloadBar, download);
  gtk_widget_class_bind_template_child (class, FlamDownloadBar, cancel);
  gtk_widget_class_bind_template_child (class, FlamDownloadBar, close);
}

static void
flam_download_bar_init (FlamDownloadBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  say (self, SAY_NOTHING, NULL);
  self->wanted = g_array_new (FALSE, FALSE, sizeof (FlamId));
  self->asked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_signal_connect_swapped (
      self->download, "clicked", G_CALLBACK (start), self);
  g_signal_connect_swapped (
      self->cancel, "clicked", G_CALLBACK (on_cancel), self);
  g_signal_connect_swapped (
      self->close, "clicked", G_CALLBACK (on_close), self);
}
