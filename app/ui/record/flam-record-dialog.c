/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-record-dialog.h"

#include "flam-attach-page.h"
#include "flam-core-picture.h"
#include "flam-field-row.h"
#include "flam-files.h"
#include "flam-help.h"
#include "flam-path-entry.h"
#include "flam-settings.h"
#include "flam-ssh-hosts.h"
#include "flam-transport.h"

#include <glib/gi18n.h>

#define HISTORY_MAX 20

struct _FlamRecordDialog
{
  FlamDialog parent_instance;

  GtkButton *cancel;
  GtkButton *record;
  GtkStack *pages;
  AdwEntryRow *command;
  AdwActionRow *shell_row;
  GtkSwitch *shell;
  AdwActionRow *names_row;
  GtkSwitch *names;
  char *named; /* the program that is offered to name its functions, or NULL */
  char *variables; /* by which it does; or NULL */
  AdwExpanderRow *options;
  AdwEntryRow *host;
  GtkMenuButton *hosts;
  AdwEntryRow *folder;
  char *own_folder; /* the working folder of this process */
  gboolean is_far;  /* a host is entered */
  AdwEntryRow *environment;
  GtkMenuButton *history;
  GtkButton *choose_program;
  GtkButton *choose_folder;
  GtkLabel *complaint;
  FlamAttachPage *attach;
  AdwComboRow *mode;
  AdwComboRow *rate;
  AdwComboRow *bytes;
  GtkSwitch *follow;
  GtkWidget *follow_row;
  GtkWidget *python_malloc_row;
  GtkSwitch *python_malloc;
  AdwEntryRow *output;
  GtkButton *choose_output;
  char *replaced; /* the file that the user agreed to replace */
  GtkSpinButton *delay;
  GtkSpinButton *duration;
};

static guint record_signal;

G_DEFINE_FINAL_TYPE (FlamRecordDialog, flam_record_dialog, FLAM_TYPE_DIALOG)

/* --- strengths, in plain words -------------------------------------------- */

static const struct
{
  guint hz;
  const char *words;
} rates[] = {
  { 97, N_ ("Low: %s times per second, no noticeable cost") },
  { 997, N_ ("Normal: %s times per second, nearly free") },
  { 1999, N_ ("High: %s times per second, slightly slower") },
  { 4999, N_ ("Very High: %s times per second, slower") },
};

static const struct
{
  guint64 bytes;
  const char *words;
} strengths[] = {
  { 4 << 20, N_ ("Low: every 4 MiB, no noticeable cost") },
  { 512 << 10, N_ ("Normal: every 512 KiB, nearly free") },
  { 64 << 10, N_ ("High: every 64 KiB, slightly slower") },
  { 0, N_ ("Exact: every allocation, slower") },
};

static void
fill_strengths (FlamRecordDialog *self, const FlamRecordOptions *options)
{
  g_autoptr (GtkStringList) rate_names = gtk_string_list_new (NULL);
  g_autoptr (GtkStringList) byte_names = gtk_string_list_new (NULL);
  guint rate = 1;
  guint bytes = 1;

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    {
      g_autofree char *number = g_strdup_printf ("%'u", rates[i].hz);
      g_autoptr (GString) text = g_string_new (_ (rates[i].words));
      g_string_replace (text, "%s", number, 1);
      gtk_string_list_append (rate_names, text->str);
      if (rates[i].hz == options->rate)
        rate = i;
    }
  for (guint i = 0; i < G_N_ELEMENTS (strengths); i++)
    {
      gtk_string_list_append (byte_names, _ (strengths[i].words));
      if (strengths[i].bytes == (guint64)options->sample_bytes)
        bytes = i;
    }
  adw_combo_row_set_model (self->rate, G_LIST_MODEL (rate_names));
  adw_combo_row_set_selected (self->rate, rate);
  adw_combo_row_set_model (self->bytes, G_LIST_MODEL (byte_names));
  adw_combo_row_set_selected (self->bytes, bytes);
}

/* --- the entered command
 * ------------------------------------------------------- */

/* A typed number is applied when its field loses the focus, which does not
 * happen with the Return key. */
static double
typed_number (GtkSpinButton *button)
{
  gtk_spin_button_update (button);
  return gtk_spin_button_get_value (button);
}

/* The remaining options, common to launching and attaching. */
static gboolean
take_bounds (FlamRecordDialog *self, FlamRecordOptions *options, GError **error)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->output));

  options->delay = typed_number (self->delay);
  options->duration = typed_number (self->duration);
  if (*text == '\0')
    return TRUE;
  options->output = g_canonicalize_filename (
      text, options->host == NULL ? options->directory : NULL);
  options->force = g_strcmp0 (options->output, self->replaced) == 0;
  if (options->force || !g_file_test (options->output, G_FILE_TEST_EXISTS))
    return TRUE;
  g_set_error (error,
               G_FILE_ERROR,
               G_FILE_ERROR_EXIST,
               _ ("The file “%s” already exists"),
               options->output);
  return FALSE;
}

static const char *
text_of (AdwEntryRow *row)
{
  return gtk_editable_get_text (GTK_EDITABLE (row));
}

static gboolean
attaches (FlamRecordDialog *self)
{
  return g_strcmp0 (gtk_stack_get_visible_child_name (self->pages), "attach") ==
         0;
}

static gboolean
is_blank (const char *text)
{
  return strspn (text, " \t\n") == strlen (text);
}

static char **
parse_environment (const char *text, GError **error)
{
  char **words = NULL;

  if (is_blank (text))
    return g_new0 (char *, 1);
  if (!g_shell_parse_argv (text, NULL, &words, error))
    return NULL;
  for (guint i = 0; words[i] != NULL; i++)
    if (strchr (words[i], '=') == NULL || *words[i] == '=')
      {
        g_set_error (error,
                     G_SHELL_ERROR,
                     G_SHELL_ERROR_FAILED,
                     _ ("“%s” is not of the form NAME=VALUE"),
                     words[i]);
        g_strfreev (words);
        return NULL;
      }
  return words;
}

static gboolean
check_program (const char *program, const char *cwd, GError **error)
{
  g_autofree char *found = NULL;
  g_autoptr (GString) message = NULL;
  const char *why = _ ("The program “%s” does not exist");

  if (strchr (program, '/') == NULL)
    found = g_find_program_in_path (program);
  else
    found = g_canonicalize_filename (program, cwd);
  if (found != NULL && g_file_test (found, G_FILE_TEST_IS_DIR))
    why = _ ("“%s” is a folder, not a program");
  else if (found != NULL && g_file_test (found, G_FILE_TEST_IS_EXECUTABLE))
    return TRUE;
  else if (found != NULL && g_file_test (found, G_FILE_TEST_EXISTS))
    why = _ ("“%s” is not executable. Start it with its interpreter, such as "
             "python3 FILE, or make it executable: chmod +x FILE");
  message = g_string_new (why);
  g_string_replace (message, "%s", program, 1);
  g_set_error_literal (
      error, G_SHELL_ERROR, G_SHELL_ERROR_FAILED, message->str);
  return FALSE;
}

/* The first character outside of quotes that only a shell would act on; 0:
 * none. */
static char
shell_sign (const char *text)
{
  char quote = 0;

  for (const char *p = text; *p != '\0'; p++)
    if (*p == '\\' && quote != '\'' && p[1] != '\0')
      p++;
    else if (quote != 0 ? *p == quote : *p == '\'' || *p == '"')
      quote = quote != 0 ? 0 : *p;
    else if ((quote == 0 && strchr ("|&;<>*?", *p) != NULL) ||
             (quote != '\'' &&
              (*p == '`' || (*p == '$' && p[1] != '\0' && p[1] != ' '))))
      return *p;
  return 0;
}

/* The shell is recorded with the programs that it starts. */
static gboolean
take_shell (FlamRecordDialog *self, FlamRecordOptions *options)
{
  const char *text = text_of (self->command);
  const char *argv[] = { "/bin/sh", "-c", text, NULL };

  if (shell_sign (text) == 0 || !gtk_switch_get_active (self->shell))
    return FALSE;
  options->argv = g_strdupv ((char **)argv);
  options->follow = TRUE;
  return TRUE;
}

/* What is in the field; NULL: this machine. g_free. */
static char *
typed_host (FlamRecordDialog *self)
{
  char *host = g_strstrip (g_strdup (text_of (self->host)));

  if (*host != '\0')
    return host;
  g_free (host);
  return NULL;
}

/* Names of folders and programs are those of the host, and cannot be checked
 * here. */
static gboolean
take_host (FlamRecordDialog *self, FlamRecordOptions *options, GError **error)
{
  g_autofree char *host = typed_host (self);

  if (host == NULL)
    return TRUE;
  if (!flam_transport_check (host, error))
    return FALSE;
  options->host = g_steal_pointer (&host);
  return TRUE;
}

/* NULL with an error when the input is invalid. */
static FlamRecordOptions *
launch_options (FlamRecordDialog *self, GError **error)
{
  g_autoptr (FlamRecordOptions) options = flam_recording_options_new ();
  const char *folder = text_of (self->folder);
  gboolean shell;

  options->directory = is_blank (folder) ? NULL : g_strdup (folder);
  if (!take_host (self, options, error))
    return NULL;
  shell = take_shell (self, options);
  if (!shell && !g_shell_parse_argv (
                    text_of (self->command), NULL, &options->argv, error))
    return NULL;
  if (options->host == NULL && options->directory != NULL &&
      !g_file_test (options->directory, G_FILE_TEST_IS_DIR))
    {
      g_set_error (error,
                   G_SHELL_ERROR,
                   G_SHELL_ERROR_FAILED,
                   _ ("The folder “%s” does not exist"),
                   options->directory);
      return NULL;
    }
  if (!shell && options->host == NULL &&
      !check_program (options->argv[0], options->directory, error))
    return NULL;
  options->environment = parse_environment (text_of (self->environment), error);
  if (options->environment == NULL)
    return NULL;
  if (gtk_widget_get_visible (GTK_WIDGET (self->names_row)) &&
      gtk_switch_get_active (self->names) &&
      !flam_recording_add_variables (options, self->variables, NULL, error))
    return NULL;
  return g_steal_pointer (&options);
}

static void
complain (FlamRecordDialog *self, const char *text)
{
  g_autofree char *shown = flam_message_sentence (text != NULL ? text : "");

  gtk_label_set_label (self->complaint, shown);
  gtk_widget_set_visible (GTK_WIDGET (self->complaint), text != NULL);
}

/* A shell's signs in the command line. */
static void
update_shell (FlamRecordDialog *self)
{
  char sign[2] = { shell_sign (text_of (self->command)) };
  g_autofree char *text = NULL;
  g_autofree char *markup = NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->shell_row), *sign != '\0');
  if (*sign == '\0')
    return;
  /* Translators: a character, such as | or > */
  text = g_strdup_printf (
      _ ("Otherwise “%s” is passed to the program as it is"), sign);
  markup = g_markup_escape_text (text, -1);
  adw_action_row_set_subtitle (self->shell_row, markup);
}

/* The first word of a command line; g_free. */
static char *
program_of (const char *command)
{
  g_auto (GStrv) words = NULL;

  return g_shell_parse_argv (command, NULL, &words, NULL) ? g_strdup (words[0])
                                                          : NULL;
}

static void
update_names (FlamRecordDialog *self)
{
  g_autofree char *program = program_of (text_of (self->command));

  gtk_widget_set_visible (GTK_WIDGET (self->names_row),
                          program != NULL &&
                              g_strcmp0 (program, self->named) == 0);
}

/* The list is that of the machine in the field. */
static gboolean
is_host_applied (FlamRecordDialog *self)
{
  g_autofree char *host = typed_host (self);

  return g_strcmp0 (host, flam_attach_page_get_host (self->attach)) == 0;
}

/* The folder of this process is none of another host. */
static void
show_folder (FlamRecordDialog *self)
{
  g_autofree char *host = typed_host (self);
  const char *folder = text_of (self->folder);
  gboolean was_far = self->is_far;

  self->is_far = host != NULL;
  if (self->is_far && !was_far && g_strcmp0 (folder, self->own_folder) == 0)
    gtk_editable_set_text (GTK_EDITABLE (self->folder), "");
  else if (was_far && !self->is_far && is_blank (folder))
    gtk_editable_set_text (GTK_EDITABLE (self->folder), self->own_folder);
}

/* Of the list of processes, and also while the options are folded. */
static void
show_host (FlamRecordDialog *self)
{
  g_autofree char *host = typed_host (self);
  g_autofree char *escaped =
      g_markup_escape_text (host != NULL ? host : "", -1);
  g_autofree char *shown = NULL;

  if (host != NULL)
    /* Translators: a machine or a container */
    shown = g_strdup_printf (_ ("Host: %s"), escaped);
  adw_expander_row_set_subtitle (self->options, shown != NULL ? shown : "");
}

static void
update (FlamRecordDialog *self)
{
  gboolean attach = attaches (self);
  guint mode = adw_combo_row_get_selected (self->mode);
  FlamRecordWhat what = flam_record_mode_what ((FlamRecordMode)mode);
  gboolean memory = (what & FLAM_RECORD_ALLOC) != 0;
  gboolean calls = (what & (FLAM_RECORD_FAULTS | FLAM_RECORD_RESOURCES)) != 0;
  g_autoptr (GPtrArray) chosen =
      attach ? flam_attach_page_get_processes (self->attach) : NULL;
  gboolean ready = attach ? chosen->len > 0 && is_host_applied (self)
                          : !is_blank (text_of (self->command));

  complain (self, NULL);
  show_host (self);
  show_folder (self);
  update_shell (self);
  update_names (self);
  gtk_widget_set_visible (GTK_WIDGET (self->folder), !attach);
  gtk_widget_set_visible (GTK_WIDGET (self->environment), !attach);
  /* The list of processes has its own. */
  gtk_widget_set_visible (self->follow_row, !attach);
  gtk_widget_set_sensitive (GTK_WIDGET (self->record), ready);
  gtk_widget_set_visible (GTK_WIDGET (self->rate),
                          (what & (FLAM_RECORD_CPU | FLAM_RECORD_WALL)) != 0);
  gtk_widget_set_visible (GTK_WIDGET (self->bytes), memory);
  gtk_widget_set_visible (self->python_malloc_row, memory && !attach);
  adw_action_row_set_subtitle (
      ADW_ACTION_ROW (self->mode),
      attach && memory ? _ ("Memory allocated from now on")
      : calls ? _ ("Programs that make many system calls become slower")
              : "");
}

/* Nothing is connected to while a name is typed. */
static void
apply_host (FlamRecordDialog *self)
{
  g_autofree char *host = typed_host (self);
  g_autoptr (GError) error = NULL;

  if (host != NULL && !flam_transport_check (host, &error))
    complain (self, error->message);
  else if (attaches (self))
    flam_attach_page_set_host (self->attach, host);
}

static void
on_page (FlamRecordDialog *self)
{
  update (self);
  apply_host (self);
  if (attaches (self))
    flam_attach_page_begin (self->attach);
  else
    gtk_widget_grab_focus (GTK_WIDGET (self->command));
}

/* --- record --------------------------------------------------------------- */

static void
remember (FlamRecordDialog *self)
{
  GSettings *settings = flam_settings_get ();
  guint rate = adw_combo_row_get_selected (self->rate);
  guint bytes = adw_combo_row_get_selected (self->bytes);
  guint mode = adw_combo_row_get_selected (self->mode);

  g_settings_set_string (settings,
                         FLAM_KEY_RECORD_MODE,
                         flam_record_mode_name ((FlamRecordMode)mode));
  g_settings_set_uint (settings, FLAM_KEY_RECORD_RATE, rates[rate].hz);
  g_settings_set_uint64 (
      settings, FLAM_KEY_RECORD_BYTES, strengths[bytes].bytes);
  g_settings_set_boolean (
      settings, FLAM_KEY_RECORD_FOLLOW, gtk_switch_get_active (self->follow));
  g_settings_set_boolean (settings,
                          FLAM_KEY_RECORD_PYTHON_MALLOC,
                          gtk_switch_get_active (self->python_malloc));
}

static FlamRecordOptions *
attach_options (FlamRecordDialog *self, const GPtrArray *processes)
{
  FlamRecordOptions *options = flam_recording_options_new ();

  options->host = g_strdup (flam_attach_page_get_host (self->attach));
  for (guint i = 0; i < processes->len; i++)
    flam_record_options_add_pid (options,
                                 ((FlamProcess *)processes->pdata[i])->pid);
  options->python_malloc = FALSE;
  return options;
}

/* NULL: none. */
static char *
title_of (const GPtrArray *processes)
{
  guint n = processes != NULL ? processes->len : 0;
  const char *first = n > 0 ? ((FlamProcess *)processes->pdata[0])->name : NULL;

  if (n < 2)
    return g_strdup (first);
  /* Translators: the name of a process, and how many others are recorded with
   * it */
  return g_strdup_printf (
      ngettext ("%s and %u other", "%s and %u others", n - 1), first, n - 1);
}

static void
on_record (FlamRecordDialog *self)
{
  g_autoptr (GPtrArray) processes =
      attaches (self) ? flam_attach_page_get_processes (self->attach) : NULL;
  g_autofree char *title = title_of (processes);
  g_autoptr (FlamRecordOptions) options = NULL;
  g_autoptr (GError) error = NULL;
  const char *name = title;

  remember (self);
  if (processes != NULL && processes->len > 0)
    options = attach_options (self, processes);
  else if (!attaches (self))
    options = launch_options (self, &error);
  if (options == NULL || !take_bounds (self, options, &error))
    {
      complain (self, error != NULL ? error->message : NULL);
      return;
    }
  if (options->argv != NULL)
    flam_settings_push_string (
        FLAM_KEY_COMMANDS, text_of (self->command), HISTORY_MAX);
  if (options->host != NULL)
    flam_settings_push_string (FLAM_KEY_HOSTS, options->host, HISTORY_MAX);
  if (processes == NULL && shell_sign (text_of (self->command)) != 0 &&
      gtk_switch_get_active (self->shell))
    name = text_of (self->command);
  g_signal_emit (self, record_signal, 0, options, name);
  flam_dialog_close (FLAM_DIALOG (self));
}

/* --- history and choosers ------------------------------------------------- */

static void
action_use (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_editable_set_text (GTK_EDITABLE (FLAM_RECORD_DIALOG (widget)->command),
                         g_variant_get_string (parameter, NULL));
}

static void
action_use_host (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamRecordDialog *self = FLAM_RECORD_DIALOG (widget);

  gtk_editable_set_text (GTK_EDITABLE (self->host),
                         g_variant_get_string (parameter, NULL));
  apply_host (self);
}

static void
append_items (GMenu *menu, const char *action, char **texts)
{
  for (guint i = 0; texts[i] != NULL; i++)
    {
      g_autoptr (GMenuItem) item = g_menu_item_new (NULL, NULL);
      g_auto (GStrv) parts = g_strsplit (texts[i], "_", -1);
      g_autofree char *label = g_strjoinv ("__", parts);
      g_menu_item_set_label (item, label);
      g_menu_item_set_action_and_target (item, action, "s", texts[i]);
      g_menu_append_item (menu, item);
    }
}

/* The recent hosts, then the hosts in ssh's configuration. */
static void
fill_hosts (FlamRecordDialog *self)
{
  g_auto (GStrv) recent =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_HOSTS);
  g_auto (GStrv) hosts = flam_ssh_hosts (NULL);
  g_autoptr (GMenu) menu = g_menu_new ();
  g_autoptr (GMenu) first = g_menu_new ();
  g_autoptr (GMenu) second = g_menu_new ();

  append_items (first, "record.use-host", recent);
  append_items (second, "record.use-host", hosts);
  g_menu_append_section (menu, NULL, G_MENU_MODEL (first));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (second));
  gtk_menu_button_set_menu_model (self->hosts, G_MENU_MODEL (menu));
  gtk_widget_set_sensitive (GTK_WIDGET (self->hosts),
                            recent[0] != NULL || hosts[0] != NULL);
}

static void
fill_history (FlamRecordDialog *self)
{
  g_auto (GStrv) commands =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_COMMANDS);
  g_autoptr (GMenu) menu = g_menu_new ();

  append_items (menu, "record.use", commands);
  gtk_menu_button_set_menu_model (self->history, G_MENU_MODEL (menu));
  gtk_widget_set_sensitive (GTK_WIDGET (self->history), commands[0] != NULL);
  if (commands[0] != NULL)
    {
      gtk_editable_set_text (GTK_EDITABLE (self->command), commands[0]);
      gtk_editable_select_region (GTK_EDITABLE (self->command), 0, -1);
    }
}

static void
program_chosen (const char *path, gpointer data)
{
  FlamRecordDialog *self = data;
  g_autofree char *quoted = g_shell_quote (path);
  gboolean plain = strpbrk (path, " \t\"'\\$`*?[]{}();&|<>#~") == NULL;

  gtk_editable_set_text (GTK_EDITABLE (self->command), plain ? path : quoted);
}

static void
folder_chosen (const char *path, gpointer data)
{
  FlamRecordDialog *self = data;

  gtk_editable_set_text (GTK_EDITABLE (self->folder), path);
}

static void
output_chosen (const char *path, gpointer data)
{
  FlamRecordDialog *self = data;

  g_free (self->replaced);
  self->replaced = g_strdup (path);
  gtk_editable_set_text (GTK_EDITABLE (self->output), path);
}

static void
choose (FlamRecordDialog *self,
        const char *title,
        GtkFileChooserAction action,
        FlamFilesChosen chosen)
{
  flam_files_choose (flam_dialog_get_window (FLAM_DIALOG (self)),
                     action,
                     title,
                     _ ("_Choose"),
                     chosen,
                     G_OBJECT (self));
}

static void
on_choose_program (FlamRecordDialog *self)
{
  choose (self,
          _ ("Choose a Program"),
          GTK_FILE_CHOOSER_ACTION_OPEN,
          program_chosen);
}

static void
on_choose_folder (FlamRecordDialog *self)
{
  choose (self,
          _ ("Choose the Working Folder"),
          GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
          folder_chosen);
}

static void
on_choose_output (FlamRecordDialog *self)
{
  choose (self,
          _ ("Choose Where the Capture Goes"),
          GTK_FILE_CHOOSER_ACTION_SAVE,
          output_chosen);
}

/* Keys of the pages. A mnemonic in a page's title would become part of its name
 * for screen readers. */
static gboolean
show_page (GtkWidget *widget, GVariant *name, gpointer data)
{
  FlamRecordDialog *self = FLAM_RECORD_DIALOG (widget);

  gtk_stack_set_visible_child_name (self->pages,
                                    g_variant_get_string (name, NULL));
  return TRUE;
}

/* --- object --------------------------------------------------------------- */

static void
flam_record_dialog_dispose (GObject *object)
{
  FlamRecordDialog *self = FLAM_RECORD_DIALOG (object);

  g_clear_pointer (&self->replaced, g_free);
  g_clear_pointer (&self->named, g_free);
  g_clear_pointer (&self->variables, g_free);
  g_clear_pointer (&self->own_folder, g_free);
  gtk_widget_dispose_template (GTK_WIDGET (object), FLAM_TYPE_RECORD_DIALOG);
  G_OBJECT_CLASS (flam_record_dialog_parent_class)->dispose (object);
}

static void
flam_record_dialog_class_init (FlamRecordDialogClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_record_dialog_dispose;
  g_type_ensure (FLAM_TYPE_ATTACH_PAGE);
  record_signal = g_signal_new ("record",
                                FLAM_TYPE_RECORD_DIALOG,
                                G_SIGNAL_RUN_LAST,
                                0,
                                NULL,
                                NULL,
                                NULL,
                                G_TYPE_NONE,
                                2,
                                G_TYPE_POINTER,
                                G_TYPE_STRING);
  gtk_widget_class_add_binding (
      class, GDK_KEY_l, GDK_ALT_MASK, show_page, "s", "launch");
  gtk_widget_class_add_binding (
      class, GDK_KEY_a, GDK_ALT_MASK, show_page, "s", "attach");
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-record-dialog.ui");
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, cancel);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, record);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, pages);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, command);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, shell_row);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, shell);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, names_row);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, names);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, options);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, host);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, hosts);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, folder);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, environment);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, history);
  gtk_widget_class_bind_template_child (
      class, FlamRecordDialog, choose_program);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, choose_folder);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, complaint);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, attach);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, mode);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, rate);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, bytes);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, follow);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, follow_row);
  gtk_widget_class_bind_template_child (
      class, FlamRecordDialog, python_malloc_row);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, python_malloc);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, output);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, choose_output);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, delay);
  gtk_widget_class_bind_template_child (class, FlamRecordDialog, duration);
  gtk_widget_class_install_action (class, "record.use", "s", action_use);
  gtk_widget_class_install_action (
      class, "record.use-host", "s", action_use_host);
}

static void
flam_record_dialog_init (FlamRecordDialog *self)
{
  g_autoptr (FlamRecordOptions) options = flam_recording_options_new ();
  FlamRecordMode mode = FLAM_RECORD_MODE_CPU;

  gtk_widget_init_template (GTK_WIDGET (self));
  flam_field_row_describe (self->command);
  flam_field_row_describe (self->host);
  flam_field_row_describe (self->folder);
  flam_field_row_describe (self->environment);
  flam_field_row_describe (self->output);
  g_object_set (self, "default-widget", self->record, NULL);
  flam_help_bind (GTK_WIDGET (self), "record");
  fill_strengths (self, options);
  flam_record_mode_parse (options->mode, &mode);
  adw_combo_row_set_selected (self->mode, mode);
  gtk_switch_set_active (self->follow, options->follow);
  gtk_switch_set_active (self->python_malloc, options->python_malloc);
  self->own_folder = g_get_current_dir ();
  gtk_editable_set_text (GTK_EDITABLE (self->folder), self->own_folder);
  fill_history (self);
  fill_hosts (self);

  g_signal_connect_swapped (
      self->cancel, "clicked", G_CALLBACK (flam_dialog_close), self);
  g_signal_connect_swapped (
      self->record, "clicked", G_CALLBACK (on_record), self);
  g_signal_connect_swapped (
      self->attach, "activated", G_CALLBACK (on_record), self);
  g_signal_connect_swapped (self->attach, "changed", G_CALLBACK (update), self);
  g_object_bind_property (self->follow,
                          "active",
                          flam_attach_page_get_children (self->attach),
                          "active",
                          G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
  g_signal_connect_swapped (
      self->command, "changed", G_CALLBACK (update), self);
  g_signal_connect_swapped (
      self->pages, "notify::visible-child", G_CALLBACK (on_page), self);
  g_signal_connect_swapped (self->host, "changed", G_CALLBACK (update), self);
  g_signal_connect_swapped (self->host, "apply", G_CALLBACK (apply_host), self);
  g_signal_connect_swapped (
      self->mode, "notify::selected", G_CALLBACK (update), self);
  g_signal_connect_swapped (
      self->choose_program, "clicked", G_CALLBACK (on_choose_program), self);
  g_signal_connect_swapped (
      self->choose_folder, "clicked", G_CALLBACK (on_choose_folder), self);
  g_signal_connect_swapped (
      self->choose_output, "clicked", G_CALLBACK (on_choose_output), self);
  flam_path_entry_complete (self->command, FLAM_COMPLETE_COMMAND, self->folder);
  flam_path_entry_complete (self->folder, FLAM_COMPLETE_FOLDER, NULL);
  update (self);
  flam_dialog_set_focus (FLAM_DIALOG (self), GTK_WIDGET (self->command));
}

FlamRecordDialog *
flam_record_dialog_new (void)
{
  return g_object_new (FLAM_TYPE_RECORD_DIALOG, NULL);
}

void
flam_record_dialog_offer (FlamRecordDialog *self,
                          const char *command,
                          const char *runtimes,
                          const char *variables,
                          gboolean chosen)
{
  g_autofree char *text = NULL;
  g_autofree char *markup = NULL;

  g_return_if_fail (FLAM_IS_RECORD_DIALOG (self) && self->named == NULL);
  if (command == NULL || runtimes == NULL || variables == NULL)
    return;
  self->named = program_of (command);
  self->variables = g_strdup (variables);
  /* Translators: runtimes of languages, as in "V8 13.9", and assignments to
   * variables */
  text = g_strdup_printf (_ ("%s cannot be read; %s makes the program write a "
                             "map of its functions"),
                          runtimes,
                          variables);
  markup = g_markup_escape_text (text, -1);
  adw_action_row_set_subtitle (self->names_row, markup);
  gtk_switch_set_active (self->names, TRUE);
  if (chosen)
    gtk_editable_set_text (GTK_EDITABLE (self->command), command);
  update_names (self);
}
