/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-share.h"

#include "flam-core-picture.h"
#include "flam-path-access.h"

#include <string.h>
#include <unistd.h>

#define SOURCES_MAX 1000

/* --- sources -------------------------------------------------------------- */

static void
source_free (gpointer data)
{
  FlamShareSource *source = data;

  g_free (source->recorded);
  g_free (source->path);
  g_free (source->folder);
  g_free (source);
}

/* Files without a suffix are sources only if they are in a folder of
 * headers. */
static gboolean
is_source (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  const char *dot = strrchr (name, '.');

  return (dot != NULL && dot != name && dot[1] != '\0') ||
         g_str_has_prefix (path, "/usr/");
}

static void
add_source (GPtrArray *list, FlamSourcePaths *paths, const char *recorded)
{
  g_autofree char *path = flam_source_paths_find (paths, recorded, NULL);
  g_autofree char *folder =
      path != NULL ? flam_source_paths_folder (paths, path) : NULL;
  struct stat info;
  FlamShareSource *source;
  int fd;

  if (path == NULL || !is_source (path))
    return;
  fd = flam_path_access_open_beneath (folder, path, &info, NULL);
  if (fd < 0)
    return;
  close (fd);
  if (info.st_size > FLAM_STRING_MAX)
    return;
  source = g_new0 (FlamShareSource, 1);
  source->recorded = g_strdup (recorded);
  source->path = g_steal_pointer (&path);
  source->folder = g_steal_pointer (&folder);
  source->size = (gsize)info.st_size;
  g_ptr_array_add (list, source);
}

static int
compare_sources (gconstpointer a, gconstpointer b)
{
  const FlamShareSource *x = *(FlamShareSource *const *)a;
  const FlamShareSource *y = *(FlamShareSource *const *)b;

  return strcmp (x->path, y->path);
}

GPtrArray *
flam_share_list_sources (const FlamProfile *profile, FlamSourcePaths *paths)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (source_free);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < profile->sources.n; i++)
    g_hash_table_add (seen, GUINT_TO_POINTER (profile->sources.path[i]));
  for (FlamId i = 0; i < profile->stacks.n && list->len < SOURCES_MAX; i++)
    {
      FlamStringId file = profile->frames.file[profile->stacks.frame[i]];

      if (file != 0 && g_hash_table_add (seen, GUINT_TO_POINTER (file)))
        add_source (list, paths, flam_profile_string (profile, file));
    }
  g_ptr_array_sort (list, compare_sources);
  return list;
}

static gboolean
put_sources (const GPtrArray *sources, FlamBuilder *builder, GError **error)
{
  for (guint i = 0; sources != NULL && i < sources->len; i++)
    {
      const FlamShareSource *source = sources->pdata[i];
      gsize size;
      g_autofree char *text = flam_path_access_read_beneath (
          source->folder, source->path, FLAM_STRING_MAX, &size, error);

      if (text == NULL)
        return FALSE;
      if (memchr (text, '\0', size) == NULL)
        flam_builder_add_source (builder, source->recorded, text, (gssize)size);
    }
  return TRUE;
}

/* --- notes ---------------------------------------------------------------- */

static void
put_notes (const GPtrArray *notes, FlamBuilder *builder)
{
  if (notes == NULL)
    return;
  flam_builder_drop_notes (builder);
  for (guint i = 0; i < notes->len; i++)
    {
      const FlamShareNote *note = notes->pdata[i];

      flam_builder_add_note (builder,
                             note->text,
                             note->function,
                             note->from,
                             note->to,
                             note->written);
    }
}

/* --- sharing -------------------------------------------------------------- */

gboolean
flam_share_apply (const FlamShare *share, FlamBuilder *builder, GError **error)
{
  const char *const words[] = {
    g_get_user_name (), g_get_real_name (), g_get_host_name (), NULL
  };

  put_notes (share->notes, builder);
  if (!put_sources (share->sources, builder, error))
    return FALSE;
  if (share->anonymize != FLAM_ANONYMIZE_NOTHING || share->remains != NULL)
    flam_builder_anonymize (
        builder, share->anonymize, g_get_home_dir (), words, share->remains);
  return TRUE;
}

/* --- content -------------------------------------------------------------- */

static const struct
{
  const char *label;
  FlamTextRole kind;
} told[] = {
  { N_ ("Functions"), FLAM_ROLE_FUNCTION },
  { N_ ("Modules"), FLAM_ROLE_MODULE },
  { N_ ("Files"), FLAM_ROLE_FILE },
  { N_ ("Processes and threads"), FLAM_ROLE_TASK },
  { N_ ("Marks"), FLAM_ROLE_MARK },
  { N_ ("Labels"), FLAM_ROLE_LABEL },
  { N_ ("Notes"), FLAM_ROLE_NOTE },
};

char *
flam_share_describe (const FlamRemains *remains, guint row, const char **label)
{
  const guint n = G_N_ELEMENTS (told);
  g_autofree char *size = NULL;
  FlamTextRole kind;

  if (row < n)
    {
      kind = told[row].kind;
      *label = told[row].label;
      return remains->hashed[kind] > 0
                 ? g_strdup_printf (N_ ("%u, and %u hashed"),
                                    remains->clear[kind],
                                    remains->hashed[kind])
                 : g_strdup_printf ("%u", remains->clear[kind]);
    }
  switch (row - n)
    {
    case 0:
      *label = N_ ("Source files inside");
      size = flam_format_value ((gint64)remains->source_bytes, FLAM_UNIT_BYTES);
      return remains->clear[FLAM_ROLE_SOURCE] > 0
                 ? g_strdup_printf (
                       "%u (%s)", remains->clear[FLAM_ROLE_SOURCE], size)
                 : g_strdup ("0");
    case 1:
      *label = N_ ("Command line");
      return g_strdup (remains->command ? N_ ("yes") : N_ ("no"));
    case 2:
      *label = N_ ("Home folder, user or host");
      return g_strdup (remains->personal ? N_ ("yes") : N_ ("no"));
    default:
      return NULL;
    }
}
