/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-parcel.h"

#include "flam-alloc-session.h"
#include "flam-core-profile.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "flam-config.h"

#define LINKER "ld-linux-" /* its name begins so */
#define FILES_MAX 100      /* of a folder */
#define TAR_BLOCK 512
#define GZIP_WINDOW (15 + 16) /* zlib's code for a gzip header */

typedef struct
{
  char *name;
  GMappedFile *file;
} Item;

struct _FlamParcel
{
  char *machine;
  char *linker;
  GArray *items; /* Item */
  char *hash;
};

static void
item_clear (gpointer data)
{
  Item *item = data;

  g_free (item->name);
  g_mapped_file_unref (item->file);
}

static void
parcel_free (FlamParcel *parcel)
{
  g_free (parcel->machine);
  g_free (parcel->linker);
  g_array_unref (parcel->items);
  g_free (parcel->hash);
  g_free (parcel);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamParcel, parcel_free)

/* --- its files -------------------------------------------------- */

static gboolean
add (FlamParcel *parcel, const char *name, const char *path, GError **error)
{
  GMappedFile *file = g_mapped_file_new (path, FALSE, error);
  Item item = { g_strdup (name), file };

  if (file == NULL)
    {
      g_free (item.name);
      return FALSE;
    }
  g_array_append_val (parcel->items, item);
  return TRUE;
}

/* The file of this process in which `address` is mapped. */
static char *
file_at (gulong address)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/self/maps", &text, NULL, NULL))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *path = strchr (lines[i], '/');
      char *end = NULL;
      guint64 first = g_ascii_strtoull (lines[i], &end, 16);

      if (path != NULL && *end == '-' && first <= address &&
          address < g_ascii_strtoull (end + 1, NULL, 16))
        return g_strdup (path);
    }
  return NULL;
}

static int
add_library (struct dl_phdr_info *info, size_t size, void *data)
{
  GPtrArray *paths = data;

  if (strchr (info->dlpi_name, '/') != NULL)
    g_ptr_array_add (paths, g_strdup (info->dlpi_name));
  return 0;
}

/* By the names under which the dynamic linker looks for them. The linker is
 * also loaded, and may have been started with the recorder as its argument. */
static gboolean
add_own_files (FlamParcel *parcel, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *own = file_at ((gulong)flam_parcels_new);
  g_autofree char *library = flam_alloc_session_library (error);
  gulong base = getauxval (AT_BASE);
  g_autofree char *linker =
      base != 0 ? file_at (base) : g_file_read_link ("/proc/self/exe", NULL);

  if (library == NULL)
    return FALSE;
  if (own == NULL || linker == NULL)
    return flam_error_set (
        error, FLAM_ERROR_SYSTEM, N_ ("/proc/self/maps cannot be read"));
  parcel->linker = g_path_get_basename (linker);
  if (!add (parcel, FLAM_PARCEL_RECORDER, own, error) ||
      !add (parcel, FLAM_PARCEL_LIBRARY, library, error) ||
      !add (parcel, parcel->linker, linker, error))
    return FALSE;
  dl_iterate_phdr (add_library, paths);
  for (guint i = 0; i < paths->len; i++)
    {
      g_autofree char *name = g_path_get_basename (paths->pdata[i]);

      if (strcmp (name, parcel->linker) != 0 &&
          !add (parcel, name, paths->pdata[i], error))
        return FALSE;
    }
  return TRUE;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static gboolean
add_folder (FlamParcel *parcel, const char *folder, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (folder, 0, error);
  const char *name;

  if (dir == NULL)
    return FALSE;
  while ((name = g_dir_read_name (dir)) != NULL && names->len < FILES_MAX)
    g_ptr_array_add (names, g_strdup (name));
  g_dir_close (dir);
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_build_filename (folder, names->pdata[i], NULL);

      if (!add (parcel, names->pdata[i], path, error))
        return FALSE;
      if (g_str_has_prefix (names->pdata[i], LINKER))
        {
          g_free (parcel->linker);
          parcel->linker = g_strdup (names->pdata[i]);
        }
    }
  return parcel->linker != NULL ||
         flam_error_set (
             error,
             FLAM_ERROR_SYSTEM,
             N_ ("%s has no recorder; app/recorders makes such a folder"),
             folder);
}

static char *
compute_hash (const FlamParcel *parcel)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

  for (guint i = 0; i < parcel->items->len; i++)
    {
      const Item *item = &g_array_index (parcel->items, Item, i);

      g_checksum_update (
          sum, (const guchar *)item->name, (gssize)strlen (item->name) + 1);
      g_checksum_update (
          sum,
          (const guchar *)g_mapped_file_get_contents (item->file),
          (gssize)g_mapped_file_get_length (item->file));
    }
  return g_strndup (g_checksum_get_string (sum), 32);
}

/* `folder` NULL: this running program. */
static FlamParcel *
parcel_new (const char *machine, const char *folder, GError **error)
{
  g_autoptr (FlamParcel) parcel = g_new0 (FlamParcel, 1);

  parcel->machine = g_strdup (machine);
  parcel->items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_array_set_clear_func (parcel->items, item_clear);
  if (folder == NULL ? !add_own_files (parcel, error)
                     : !add_folder (parcel, folder, error))
    return NULL;
  parcel->hash = compute_hash (parcel);
  return g_steal_pointer (&parcel);
}

static gboolean
is_machine (const char *name)
{
  return *name != '\0' &&
         strspn (name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_") ==
             strlen (name);
}

GPtrArray *
flam_parcels_new (GError **error)
{
  g_autoptr (GPtrArray) parcels =
      g_ptr_array_new_with_free_func ((GDestroyNotify)parcel_free);
  const char *given = g_getenv ("FLAMBEAU_RECORDERS"), *name;
  g_autofree char *folder = given != NULL && *given != '\0'
                                ? g_strdup (given)
                                : flam_installed (FLAM_LIBDIR "/recorders");
  GDir *dir = g_dir_open (folder, 0, NULL);
  struct utsname own = { 0 };
  FlamParcel *parcel;

  uname (&own);
  parcel = parcel_new (own.machine, NULL, error);
  if (parcel != NULL)
    g_ptr_array_add (parcels, parcel);
  while (parcel != NULL && dir != NULL &&
         (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (strcmp (name, own.machine) == 0 || !is_machine (name))
        continue;
      parcel = parcel_new (name, path, error);
      if (parcel != NULL)
        g_ptr_array_add (parcels, parcel);
    }
  g_clear_pointer (&dir, g_dir_close);
  return parcel != NULL ? g_steal_pointer (&parcels) : NULL;
}

const char *
flam_parcel_machine (const FlamParcel *parcel)
{
  return parcel->machine;
}

const char *
flam_parcel_linker (const FlamParcel *parcel)
{
  return parcel->linker;
}

const char *
flam_parcel_hash (const FlamParcel *parcel)
{
  return parcel->hash;
}

/* --- as an archive ------------------------------------------------------- */

typedef struct
{
  z_stream zlib;
  GByteArray *packed;
} Packer;

static void
pack (Packer *packer, gconstpointer data, gsize size, int flush)
{
  guint8 buffer[32768];

  packer->zlib.next_in = (Bytef *)data;
  packer->zlib.avail_in = (uInt)size;
  do
    {
      packer->zlib.next_out = buffer;
      packer->zlib.avail_out = sizeof buffer;
      deflate (&packer->zlib, flush);
      g_byte_array_append (packer->packed,
                           buffer,
                           (guint)(sizeof buffer - packer->zlib.avail_out));
    }
  while (packer->zlib.avail_out == 0);
}

/* The header of the POSIX format, ustar. */
static void
pack_item (Packer *packer, const Item *item)
{
  static const char zeros[TAR_BLOCK];
  gsize size = g_mapped_file_get_length (item->file);
  char head[TAR_BLOCK] = "";
  guint sum = 0;

  g_strlcpy (head, item->name, 100);
  memcpy (head + 100, "0000700", 8);
  memcpy (head + 108, "0000000", 8);
  memcpy (head + 116, "0000000", 8);
  g_snprintf (head + 124, 12, "%011" G_GINT64_MODIFIER "o", (guint64)size);
  memcpy (head + 136, "00000000000", 12);
  memcpy (head + 148, "        ", 8);
  head[156] = '0';
  memcpy (head + 257, "ustar\00000", 8);
  for (guint i = 0; i < TAR_BLOCK; i++)
    sum += (guchar)head[i];
  g_snprintf (head + 148, 8, "%06o", sum);
  pack (packer, head, TAR_BLOCK, Z_NO_FLUSH);
  pack (packer, g_mapped_file_get_contents (item->file), size, Z_NO_FLUSH);
  pack (packer, zeros, -size % TAR_BLOCK, Z_NO_FLUSH);
}

GByteArray *
flam_parcel_pack (const FlamParcel *parcel, GError **error)
{
  static const char end[2 * TAR_BLOCK];
  Packer packer = { .packed = g_byte_array_new () };

  if (deflateInit2 (&packer.zlib,
                    Z_BEST_SPEED,
                    Z_DEFLATED,
                    GZIP_WINDOW,
                    9,
                    Z_DEFAULT_STRATEGY) != Z_OK)
    {
      g_byte_array_unref (packer.packed);
      return flam_error_null (
          error, FLAM_ERROR_SYSTEM, N_ ("not enough memory"));
    }
  for (guint i = 0; i < parcel->items->len; i++)
    pack_item (&packer, &g_array_index (parcel->items, Item, i));
  pack (&packer, end, sizeof end, Z_FINISH);
  deflateEnd (&packer.zlib);
  return packer.packed;
}
