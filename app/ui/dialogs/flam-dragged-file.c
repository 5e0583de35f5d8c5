/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-dragged-file.h"

#include <glib/gstdio.h>

struct _FlamDraggedFile
{
  GdkContentProvider parent_instance;

  char *name;
  GBytes *document;
  GFile *file; /* NULL: not dropped yet */
};

G_DEFINE_FINAL_TYPE (FlamDraggedFile,
                     flam_dragged_file,
                     GDK_TYPE_CONTENT_PROVIDER)

static GPtrArray *written; /* char*: paths, each in its own folder */

/* Each file is in its own folder, since two of them may have the same name. */
static GFile *
write_file (FlamDraggedFile *self, GError **error)
{
  g_autofree char *parent =
      g_build_filename (g_get_user_cache_dir (), "flambeau", "dragged", NULL);
  g_autofree char *folder = g_build_filename (parent, "XXXXXX", NULL);
  g_autofree char *name = g_strdelimit (g_strdup (self->name), "/", '_');
  char *path;

  if (g_mkdir_with_parents (parent, 0700) != 0 || g_mkdtemp (folder) == NULL)
    {
      int code = errno;

      g_set_error_literal (error,
                           G_FILE_ERROR,
                           (int)g_file_error_from_errno (code),
                           g_strerror (code));
      return NULL;
    }
  path = g_build_filename (folder, name, NULL);
  if (written == NULL)
    written = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (written, path);
  if (!g_file_set_contents (path,
                            g_bytes_get_data (self->document, NULL),
                            (gssize)g_bytes_get_size (self->document),
                            error))
    return NULL;
  return g_file_new_for_path (path);
}

void
flam_dragged_file_remove_all (void)
{
  for (guint i = 0; written != NULL && i < written->len; i++)
    {
      g_autofree char *folder = g_path_get_dirname (written->pdata[i]);

      g_unlink (written->pdata[i]);
      g_rmdir (folder);
    }
  g_clear_pointer (&written, g_ptr_array_unref);
}

static GdkContentFormats *
ref_formats (GdkContentProvider *provider)
{
  return gdk_content_formats_new_for_gtype (GDK_TYPE_FILE_LIST);
}

static gboolean
get_value (GdkContentProvider *provider, GValue *value, GError **error)
{
  FlamDraggedFile *self = FLAM_DRAGGED_FILE (provider);

  if (!G_VALUE_HOLDS (value, GDK_TYPE_FILE_LIST))
    return GDK_CONTENT_PROVIDER_CLASS (flam_dragged_file_parent_class)
        ->get_value (provider, value, error);
  if (self->file == NULL)
    self->file = write_file (self, error);
  if (self->file == NULL)
    return FALSE;
  g_value_take_boxed (value, gdk_file_list_new_from_array (&self->file, 1));
  return TRUE;
}

static void
flam_dragged_file_finalize (GObject *object)
{
  FlamDraggedFile *self = FLAM_DRAGGED_FILE (object);

  g_free (self->name);
  g_bytes_unref (self->document);
  g_clear_object (&self->file);
  G_OBJECT_CLASS (flam_dragged_file_parent_class)->finalize (object);
}

static void
flam_dragged_file_class_init (FlamDraggedFileClass *klass)
{
  GdkContentProviderClass *class = GDK_CONTENT_PROVIDER_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = flam_dragged_file_finalize;
  class->ref_formats = ref_formats;
  class->get_value = get_value;
}

static void
flam_dragged_file_init (FlamDraggedFile *self)
{
}

GdkContentProvider *
flam_dragged_file_new (const char *name, GBytes *document)
{
  FlamDraggedFile *self = g_object_new (FLAM_TYPE_DRAGGED_FILE, NULL);

  self->name = g_strdup (name);
  self->document = g_bytes_ref (document);
  return GDK_CONTENT_PROVIDER (self);
}
