/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Reports that the file of an open capture was written again. */

#include "flam-tab-private.h"

#include <glib/gi18n.h>

/* Changes with every version of the file; NULL: there is none. */
static char *
version_of (GFile *file)
{
  g_autoptr (GFileInfo) info = g_file_query_info (
      file,
      G_FILE_ATTRIBUTE_ETAG_VALUE "," G_FILE_ATTRIBUTE_STANDARD_SIZE,
      G_FILE_QUERY_INFO_NONE,
      NULL,
      NULL);

  if (info == NULL)
    return NULL;
  return g_strdup_printf ("%s %" G_GOFFSET_FORMAT,
                          g_file_info_get_etag (info),
                          g_file_info_get_size (info));
}

static void
on_file (GFileMonitor *monitor,
         GFile *file,
         GFile *other,
         GFileMonitorEvent event,
         FlamTab *self)
{
  g_autofree char *version = NULL;
  g_autofree char *text = NULL;
  g_autofree char *markup = NULL;
  AdwToast *toast;

  if (event != G_FILE_MONITOR_EVENT_CHANGES_DONE_HINT &&
      event != G_FILE_MONITOR_EVENT_CREATED)
    return;
  version = version_of (file);
  if (version == NULL || g_strcmp0 (version, self->version) == 0)
    return;
  /* Once per version that was read. */
  flam_tab_unwatch (self);
  text = g_strdup_printf (_ ("%s has changed on disk"),
                          flam_session_get_title (self->session));
  markup = g_markup_escape_text (text, -1);
  toast = adw_toast_new (markup);
  adw_toast_set_button_label (toast, _ ("Re_load"));
  adw_toast_set_action_name (toast, "win.reload");
  adw_toast_set_timeout (toast, 0);
  adw_toast_overlay_add_toast (self->toasts, toast);
}

void
flam_tab_unwatch (FlamTab *self)
{
  if (self->monitor != NULL)
    g_signal_handlers_disconnect_by_func (self->monitor, on_file, self);
  g_clear_object (&self->monitor);
  g_clear_pointer (&self->version, g_free);
}

void
flam_tab_watch (FlamTab *self)
{
  const char *path = flam_session_get_path (self->session);
  g_autoptr (GFile) file = NULL;

  flam_tab_unwatch (self);
  if (path == NULL || self->recording != NULL)
    return;
  file = g_file_new_for_path (path);
  self->version = version_of (file);
  self->monitor =
      g_file_monitor_file (file, G_FILE_MONITOR_WATCH_MOVES, NULL, NULL);
  if (self->monitor != NULL)
    g_signal_connect_object (
        self->monitor, "changed", G_CALLBACK (on_file), self, 0);
}
