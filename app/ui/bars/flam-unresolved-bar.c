/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-unresolved-bar.h"

#include "flam-core-picture.h"
#include "flam-environment.h"
#include "flam-files.h"
#include "flam-transport.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

#define LEAST_SHARE 0.2 /* of the picture, for a banner to be shown */

struct _FlamUnresolvedBar
{
  GtkWidget parent_instance;

  FlamSession *session;
  char
      *dismissed; /* the path of the capture for which it was closed, or NULL */

  GtkRevealer *revealer;
  GtkLabel *label;
  GtkButton *again;
  GtkButton *copy;
  char *command; /* installs the symbols; NULL: not known */
  GtkButton *choose;
  GtkButton *close;
};

G_DEFINE_FINAL_TYPE (FlamUnresolvedBar, flam_unresolved_bar, GTK_TYPE_WIDGET)

/* The self weight of functions without a name, and the module with most of it.
 * Only files count, since no folder contains the kernel. */
static gint64
find_unresolved (const FlamViewData *view_data, FlamId *heaviest)
{
  const FlamProfile *profile = view_data->profile;
  g_autofree gint64 *weight = g_new0 (gint64, profile->modules.n + 1);
  gint64 sum = 0;

  *heaviest = FLAM_NONE;
  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      FlamFunctionId function =
          profile->frames.function[profile->stacks.frame[i]];
      FlamModuleId module = profile->functions.module[function];

      if (module == FLAM_NONE ||
          profile->functions.kind[function] != FLAM_KIND_UNRESOLVED ||
          *flam_profile_string (profile, profile->modules.path[module]) != '/')
        continue;
      weight[module] += view_data->weights->weight[i];
      sum += view_data->weights->weight[i];
      if (*heaviest == FLAM_NONE || weight[module] > weight[*heaviest])
        *heaviest = module;
    }
  return sum;
}

/* Stripped programs have only the names that they export. */
static gboolean
is_found (const FlamProfile *profile, FlamModuleId module)
{
  FlamSymbolState state = profile->modules.symbols[module];

  return state == FLAM_SYMBOLS_SYMTAB || state == FLAM_SYMBOLS_DYNSYM ||
         state == FLAM_SYMBOLS_DWARF;
}

/* --- the package with the symbols ----------------------------------------- */

/* "libfoo1:amd64: /usr/lib/…" -> "libfoo1". */
static void
on_package (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (FlamUnresolvedBar) self = data;
  g_autofree char *line = NULL;
  g_autofree char *name = NULL;

  if (!g_subprocess_communicate_utf8_finish (
          G_SUBPROCESS (source), result, &line, NULL, NULL) ||
      self->copy == NULL || line == NULL)
    return;
  name = g_strndup (line, strcspn (line, ":, \n"));
  if (*name == '\0')
    return;
  g_free (self->command);
  self->command = g_strdup_printf ("sudo apt install %s-dbgsym", name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->copy), self->command);
  gtk_widget_set_visible (GTK_WIDGET (self->copy), TRUE);
  gtk_widget_set_visible (GTK_WIDGET (self->choose), FALSE);
}

/* The Debian package that contains the file; NULL: none. */
static void
find_package (FlamUnresolvedBar *self, const char *path)
{
  g_autofree char *program = g_find_program_in_path ("dpkg-query");
  g_autoptr (GSubprocess) process = NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->copy), FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self->choose), TRUE);
  if (path == NULL || program == NULL)
    return;
  /* Packages may name the folder that /lib is a link to, or the link. */
  process = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE,
      NULL,
      program,
      "--search",
      path,
      g_str_has_prefix (path, "/usr/") ? path + 4 : path,
      NULL);
  if (process != NULL)
    g_subprocess_communicate_utf8_async (
        process, NULL, NULL, on_package, g_object_ref (self));
}

static void
on_copy (FlamUnresolvedBar *self)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)),
                          self->command);
}

/* --- bar ------------------------------------------------------------------ */

static gboolean
is_dismissed (FlamUnresolvedBar *self)
{
  return g_strcmp0 (self->dismissed, flam_session_get_path (self->session)) ==
         0;
}

/* The runtimes whose functions could not be read, if something can be done
 * about it. */
static gboolean
show_unread (FlamUnresolvedBar *self, const FlamViewData *view_data)
{
  const FlamFacts *facts = &view_data->profile->facts;
  const char *runtimes = flam_facts_other (facts, FLAM_FACT_UNREAD);
  const char *variables = flam_facts_other (facts, FLAM_FACT_UNREAD_VARIABLES);
  g_autofree char *text = NULL;

  if (runtimes == NULL || variables == NULL)
    return FALSE;
  /* Translators: runtimes of languages, as in "V8 13.9", and assignments to
   * variables */
  text = g_strdup_printf (_ ("The functions of %s cannot be read. With %s, the "
                             "program names them."),
                          runtimes,
                          variables);
  gtk_label_set_label (self->label, text);
  gtk_widget_set_visible (GTK_WIDGET (self->copy), FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self->choose), FALSE);
  return TRUE;
}

/* Its path, and the machine that has it if that is another one; g_free. */
static char *
place_of (const FlamProfile *profile, FlamModuleId module)
{
  const char *path =
      flam_profile_string (profile, profile->modules.path[module]);
  const char *host = flam_facts_other (&profile->facts, FLAM_FACT_REACHED);
  g_autofree char *shown = NULL;

  if (host == NULL)
    return g_strdup (path);
  shown = flam_format_visible (host);
  /* Translators: a command line, or a file, and a machine or a container */
  return g_strdup_printf (_ ("%s on %s"), path, shown);
}

/* The missing data, and the share of the picture that lacks it. */
static char *
text_of (const FlamViewData *view_data, FlamModuleId module, gint64 weight)
{
  const FlamProfile *profile = view_data->profile;
  gboolean memory =
      flam_tree_measure (view_data->tree).kind == FLAM_MEASURE_ALLOC;
  g_autofree char *share =
      flam_format_percent (weight, view_data->weights->total);
  g_autofree char *path = place_of (profile, module);

  if (is_found (profile, module))
    return g_strdup_printf (
        memory
            /* Translators: a share, and the file that has most of it: the file
             * was found, but has few function names */
            ? _ ("No function names for %s of memory: the debug symbols of %s "
                 "are missing")
            : _ ("No function names for %s of samples: the debug symbols of %s "
                 "are missing"),
        share,
        path);
  return g_strdup_printf (
      memory
          /* Translators: a share, and the file that has most of it, which is
           * not on this computer */
          ? _ ("No function names for %s of memory: %s is missing")
          : _ ("No function names for %s of samples: %s is missing"),
      share,
      path);
}

/* Its label has no text before. */
static void
reveal (FlamUnresolvedBar *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self->revealer), TRUE);
  gtk_revealer_set_reveal_child (self->revealer, TRUE);
}

static void
update (FlamUnresolvedBar *self)
{
  const FlamViewData *view_data = flam_session_get_view_data (self->session);
  g_autofree char *text = NULL;
  FlamModuleId module = FLAM_NONE;
  gint64 weight = view_data != NULL ? find_unresolved (view_data, &module) : 0;
  gboolean unread = view_data != NULL && !is_dismissed (self) &&
                    show_unread (self, view_data);

  gtk_widget_set_visible (GTK_WIDGET (self->again), unread);
  if (unread)
    {
      reveal (self);
      return;
    }
  if (module == FLAM_NONE ||
      (double)weight < LEAST_SHARE * (double)view_data->weights->total ||
      is_dismissed (self))
    {
      gtk_revealer_set_reveal_child (self->revealer, FALSE);
      return;
    }
  text = text_of (view_data, module, weight);
  gtk_label_set_label (self->label, text);
  reveal (self);
  /* The package is one of the other machine's. */
  find_package (
      self,
      is_found (view_data->profile, module) &&
              flam_facts_other (&view_data->profile->facts,
                                FLAM_FACT_REACHED) == NULL
          ? flam_profile_string (view_data->profile,
                                 view_data->profile->modules.path[module])
          : NULL);
}

static void
on_view_data (FlamUnresolvedBar *self)
{
  if (flam_session_get_view_data (self->session) == NULL)
    gtk_revealer_set_reveal_child (self->revealer, FALSE);
}

static void
on_close (FlamUnresolvedBar *self)
{
  g_free (self->dismissed);
  self->dismissed = g_strdup (flam_session_get_path (self->session));
  gtk_revealer_set_reveal_child (self->revealer, FALSE);
}

static void
on_choose (FlamUnresolvedBar *self)
{
  flam_files_choose_binaries (GTK_WIDGET (self));
}

void
flam_unresolved_bar_set_session (FlamUnresolvedBar *self, FlamSession *session)
{
  g_return_if_fail (FLAM_IS_UNRESOLVED_BAR (self));
  self->session = g_object_ref (session);
  g_signal_connect_object (
      session, "symbolized", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (session,
                           "notify::view-data",
                           G_CALLBACK (on_view_data),
                           self,
                           G_CONNECT_SWAPPED);
}

static void
flam_unresolved_bar_dispose (GObject *object)
{
  FlamUnresolvedBar *self = FLAM_UNRESOLVED_BAR (object);

  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_UNRESOLVED_BAR);
  g_clear_object (&self->session);
  g_clear_pointer (&self->dismissed, g_free);
  g_clear_pointer (&self->command, g_free);
  G_OBJECT_CLASS (flam_unresolved_bar_parent_class)->dispose (object);
}

static void
flam_unresolved_bar_class_init (FlamUnresolvedBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_unresolved_bar_dispose;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-unresolved-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamUnresolvedBar, revealer);
  gtk_widget_class_bind_template_child (class, FlamUnresolvedBar, label);
  gtk_widget_class_bind_template_child (class, FlamUnresolvedBar, again);
  gtk_widget_class_bind_template_child (class, FlamUnresolvedBar, copy);
  gtk_widget_class_bind_template_child (class, FlamUnresolvedBar, choose);
  gtk_widget_class_bind_template_child (class, FlamUnresolvedBar, close);
}

static void
flam_unresolved_bar_init (FlamUnresolvedBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->copy, "clicked", G_CALLBACK (on_copy), self);
  g_signal_connect_swapped (
      self->choose, "clicked", G_CALLBACK (on_choose), self);
  g_signal_connect_swapped (
      self->close, "clicked", G_CALLBACK (on_close), self);
}
