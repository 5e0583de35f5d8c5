/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cache.h"

#include "flam-elf.h"
#include "flam-file-map.h"
#include "flam-image.h"
#include "flam-kept-files.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".image"
/* µs: longer than any write. */
#define ABANDONED (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)

static char *
folder_path (void)
{
  return g_build_filename (
      g_get_user_cache_dir (), "flambeau", "captures", NULL);
}

/* --- names ---------------------------------------------------------------- */

/* The build of this program: another build may read the capture differently.
 * NULL: builds cannot be distinguished. */
static const char *
program (void)
{
  static char *id;
  static gsize done;

  if (g_once_init_enter (&done))
    {
      g_autoptr (FlamElf) elf = flam_elf_open ("/proc/self/exe", NULL);
      const char *build_id = elf != NULL ? flam_elf_get_build_id (elf) : "";

      id = *build_id != '\0' ? g_strdup (build_id) : NULL;
      g_once_init_leave (&done, 1);
    }
  return id;
}

static void
add_text (GChecksum *sum, const char *text)
{
  g_checksum_update (sum, (const guchar *)text, (gssize)strlen (text) + 1);
}

static void
add_number (GChecksum *sum, gint64 number)
{
  g_checksum_update (sum, (const guchar *)&number, sizeof number);
}

/* The number of cores and the folders of binaries do not affect the result. */
char *
flam_cache_file (const char *path, const FlamLoadOptions *options)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *folder = folder_path ();
  g_autofree char *name = NULL;
  struct stat at;

  if (program () == NULL || strcmp (path, "-") == 0 || stat (path, &at) != 0 ||
      !S_ISREG (at.st_mode))
    return NULL;
  add_text (sum, program ());
  add_text (sum, path);
  add_number (sum, (gint64)at.st_dev);
  add_number (sum, (gint64)at.st_ino);
  add_number (sum, at.st_size);
  add_number (sum, at.st_mtim.tv_sec);
  add_number (sum, at.st_mtim.tv_nsec);
  add_number (sum, at.st_ctim.tv_sec);
  add_number (sum, at.st_ctim.tv_nsec);
  add_number (sum, options != NULL ? options->weights_as : FLAM_WEIGHTS_GUESS);
  add_number (sum, options != NULL ? options->in_order_max : 0);
  name = g_strconcat (g_checksum_get_string (sum), SUFFIX, NULL);
  return g_build_filename (folder, name, NULL);
}

static char *
key_of (const char *file)
{
  return g_path_get_basename (file);
}

/* --- one file ------------------------------------------------------------- */

FlamProfile *
flam_cache_load (const char *file)
{
  int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  g_autoptr (FlamFileMap) bytes = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  g_autofree char *key = key_of (file);
  struct stat at;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &at) == 0 && S_ISREG (at.st_mode) && at.st_uid == getuid ())
    bytes = flam_file_map_new (fd, (gsize)at.st_size);
  if (bytes != NULL)
    profile = flam_image_read (bytes->data, bytes->size, key);
  if (profile != NULL)
    futimens (fd, NULL);
  else
    g_unlink (file);
  close (fd);
  return g_steal_pointer (&profile);
}

/* Whether the profile depends only on the bytes of the capture. */
static gboolean
is_alone (const FlamProfile *profile)
{
  const FlamImporter *importer = flam_importer_find (profile->facts.format);

  return importer != NULL && !importer->base_lines;
}

static gboolean
write_image (const char *file, const FlamProfile *profile)
{
  g_autofree char *key = key_of (file);
  g_autofree char *fresh = g_strconcat (file, ".XXXXXX", NULL);
  int fd = g_mkstemp_full (fresh, O_RDWR | O_CLOEXEC, 0600);
  struct stat at;
  gboolean good;

  if (fd < 0)
    return FALSE;
  good = flam_image_write (profile, key, fd) && fstat (fd, &at) == 0 &&
         (guint64)at.st_size <= FLAM_CACHE_MAX;
  good = close (fd) == 0 && good;
  if (good && g_rename (fresh, file) == 0)
    return TRUE;
  g_unlink (fresh);
  return FALSE;
}

gboolean
flam_cache_save (const char *file,
                 const char *path,
                 const FlamLoadOptions *options,
                 const FlamProfile *profile)
{
  g_autofree char *folder = g_path_get_dirname (file);
  g_autofree char *now = flam_cache_file (path, options);

  if (!is_alone (profile) || g_strcmp0 (now, file) != 0 ||
      g_mkdir_with_parents (folder, 0700) != 0 || !write_image (file, profile))
    return FALSE;
  flam_cache_trim (FLAM_CACHE_MAX);
  return TRUE;
}

/* --- all images ----------------------------------------------------------- */

/* A file that is being written is left alone, unless it is older than any write
 * takes. */
static gboolean
may_go (const FlamKeptFile *kept, guint64 total, guint64 most)
{
  if (g_str_has_suffix (kept->path, SUFFIX))
    return total > most;
  return g_get_real_time () - kept->used > ABANDONED;
}

void
flam_cache_trim (guint64 most)
{
  g_autofree char *folder = folder_path ();
  g_autoptr (GArray) list = flam_kept_files (folder, SUFFIX);
  guint64 total = 0;

  for (guint i = 0; i < list->len; i++)
    {
      const FlamKeptFile *kept = &g_array_index (list, FlamKeptFile, i);

      total += MIN (kept->size, FLAM_CACHE_MAX);
      if (may_go (kept, total, most))
        g_unlink (kept->path);
    }
}

/* --- reading through the cache -------------------------------------------- */

FlamProfile *
flam_cache_open (const char *path,
                 const FlamLoadOptions *options,
                 GError **error)
{
  g_autofree char *file = flam_cache_file (path, options);
  FlamProfile *profile = file != NULL ? flam_cache_load (file) : NULL;
  gint64 began = g_get_monotonic_time ();

  if (profile != NULL)
    return profile;
  profile = flam_formats_load (path, options, error);
  if (profile != NULL && file != NULL &&
      g_get_monotonic_time () - began > FLAM_CACHE_WORTH)
    flam_cache_save (file, path, options, profile);
  return profile;
}
