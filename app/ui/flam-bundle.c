/* SPDX-License-Identifier: GPL-3.0-or-later */

#define G_SETTINGS_ENABLE_BACKEND
#include "flam-bundle.h"

#include "flam-config.h"
#include "flam-core-profile.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <gio/gio.h>
#include <gio/gsettingsbackend.h>
#include <libintl.h>

/* NULL: not a bundle. Only a bundle has these loaders here. */
static char *
find_loaders (void)
{
  g_autofree char *path = flam_installed (FLAM_LIBDIR "/loaders.cache");

  return g_file_test (path, G_FILE_TEST_EXISTS) ? g_steal_pointer (&path)
                                                : NULL;
}

static char *
data_dirs (void)
{
  const char *given = g_getenv ("XDG_DATA_DIRS");
  g_autofree char *own = flam_installed (FLAM_SHAREDIR);

  return g_strconcat (
      own,
      ":",
      given != NULL && *given != '\0' ? given : "/usr/local/share:/usr/share",
      NULL);
}

/* GDK-PixBuf finds its loaders through this variable, which it reads later. */
static void
set_types (void)
{
  const char *const *folders = g_get_system_data_dirs ();
  g_autoptr (GStrvBuilder) types = g_strv_builder_new ();
  g_auto (GStrv) list = NULL;

  for (guint i = 0; folders[i] != NULL; i++)
    {
      g_autofree char *folder = g_build_filename (folders[i], "mime", NULL);

      g_strv_builder_add (types, folder);
    }
  list = g_strv_builder_end (types);
  g_content_type_set_mime_dirs ((const char *const *)list);
}

/* Each of them reads its variables once and keeps the values. */
static void
read_variables (void)
{
  set_types ();
  g_slist_free (gdk_pixbuf_get_formats ());
  g_object_unref (g_settings_backend_get_default ());
}

void
flam_bundle_find_data (void)
{
  g_autofree char *loaders = find_loaders ();
  g_autofree char *shared = NULL;
  g_autofree char *modules = NULL;
  const char *backend = g_getenv ("GSETTINGS_BACKEND");

  if (loaders == NULL)
    return;
  shared = data_dirs ();
  modules = flam_installed (FLAM_LIBDIR "/gio");
  {
    /* The host's GIO modules, dconf among them, are built for the host's
     * GLib. */
    const struct
    {
      const char *name;
      const char *value;
    } variables[] = {
      { "XDG_DATA_DIRS", shared },
      { "GDK_PIXBUF_MODULE_FILE", loaders },
      { "GIO_MODULE_DIR", modules },
      { "GSETTINGS_BACKEND", backend != NULL ? backend : "keyfile" },
    };
    char *before[G_N_ELEMENTS (variables)];

    for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
      {
        before[i] = g_strdup (g_getenv (variables[i].name));
        g_setenv (variables[i].name, variables[i].value, TRUE);
      }
    read_variables ();
    for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
      {
        if (before[i] != NULL)
          g_setenv (variables[i].name, before[i], TRUE);
        else
          g_unsetenv (variables[i].name);
        g_free (before[i]);
      }
  }
}

void
flam_bundle_find_words (void)
{
  static const char *const domains[] = {
    "glib20", "gtk40", "gtksourceview-5", "libadwaita"
  };
  g_autofree char *loaders = find_loaders ();
  g_autofree char *words = flam_installed (FLAM_LOCALEDIR);

  for (guint i = 0; loaders != NULL && i < G_N_ELEMENTS (domains); i++)
    bindtextdomain (domains[i], words);
}
