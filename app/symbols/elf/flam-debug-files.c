/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-debug-files.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define DEBUG_ROOT "/usr/lib/debug"

typedef struct
{
  const FlamElf *elf;
  GString *tried;
  const char *link; /* of .gnu_debuglink, or NULL */
  guint32 crc;
} Search;

char *
flam_debug_file_path (const char *directory,
                      const char *build_id,
                      const char *suffix)
{
  if (strlen (build_id) < 4)
    return NULL;
  return g_strdup_printf (
      "%s/.build-id/%.2s/%s%s", directory, build_id, build_id + 2, suffix);
}

static gboolean
checksum_matches (const FlamElf *elf, guint32 crc)
{
  size_t size = 0;
  const char *bytes = elf_rawfile (flam_elf_get_handle (elf), &size);

  return bytes != NULL && crc32_z (0, (const Bytef *)bytes, size) == crc;
}

static FlamElf *
try_path (const Search *search, const char *path)
{
  const char *wanted = flam_elf_get_build_id (search->elf);
  g_autoptr (FlamElf) found = NULL;

  if (!path || strcmp (path, flam_elf_get_path (search->elf)) == 0)
    return NULL;
  if (search->tried)
    g_string_append_printf (search->tried, "%s\n", path);
  found = flam_elf_open_named (path, NULL);
  if (!found ||
      flam_elf_get_machine (found) != flam_elf_get_machine (search->elf))
    return NULL;
  if (*wanted ? strcmp (wanted, flam_elf_get_build_id (found)) != 0
              : !checksum_matches (found, search->crc))
    return NULL;
  return g_steal_pointer (&found);
}

static FlamElf *
try_directory (const Search *search, const char *directory)
{
  g_autofree char *by_id = flam_debug_file_path (
      directory, flam_elf_get_build_id (search->elf), ".debug");
  g_autofree char *own = NULL;
  g_autofree char *by_name = NULL;
  FlamElf *found = try_path (search, by_id);

  if (found || !search->link)
    return found;
  own = g_path_get_dirname (flam_elf_get_path (search->elf));
  by_name = g_build_filename (directory, own, search->link, NULL);
  return try_path (search, by_name);
}

static FlamElf *
try_beside (const Search *search)
{
  g_autofree char *own = NULL;
  g_autofree char *base_lines = NULL;
  g_autofree char *hidden = NULL;
  FlamElf *found;

  if (!search->link)
    return NULL;
  own = g_path_get_dirname (flam_elf_get_path (search->elf));
  base_lines = g_build_filename (own, search->link, NULL);
  hidden = g_build_filename (own, ".debug", search->link, NULL);
  found = try_path (search, base_lines);
  return found ? found : try_path (search, hidden);
}

FlamElf *
flam_debug_file_find (const FlamElf *elf,
                      const char *const *directories,
                      GString *tried)
{
  Search search = { .elf = elf, .tried = tried };
  FlamElf *found = NULL;

  search.link = flam_elf_get_debuglink (elf, &search.crc);
  if (search.link && strchr (search.link, '/'))
    search.link = NULL;
  for (gsize i = 0; !found && directories && directories[i]; i++)
    {
      g_autofree char *flat =
          search.link ? g_build_filename (directories[i], search.link, NULL)
                      : NULL;

      found = try_directory (&search, directories[i]);
      if (!found)
        found = try_path (&search, flat);
    }
  if (!found)
    found = try_beside (&search);
  return found ? found : try_directory (&search, DEBUG_ROOT);
}

gboolean
flam_debug_file_is_installed (const FlamElf *debug)
{
  return g_str_has_prefix (flam_elf_get_path (debug), DEBUG_ROOT "/.build-id/");
}

static FlamElf *
try_package (const char *path)
{
  g_autoptr (FlamElf) elf = path ? flam_elf_open_named (path, NULL) : NULL;

  return elf && flam_elf_has_section (elf, ".debug_cu_index")
             ? g_steal_pointer (&elf)
             : NULL;
}

/* `folder` may be NULL: the path is used unchanged. */
static FlamElf *
try_package_of (const char *folder, const char *path)
{
  g_autofree char *inside =
      folder ? g_build_filename (folder, path, NULL) : g_strdup (path);
  g_autofree char *package = g_strconcat (inside, ".dwp", NULL);

  return try_package (package);
}

static FlamElf *
try_package_beside (const char *binary, const char *debug)
{
  char *real = realpath (binary, NULL);
  g_autofree char *name = g_path_get_basename (binary);
  g_autofree char *folder = g_path_get_dirname (debug);
  FlamElf *found = try_package_of (NULL, binary);

  if (!found && real)
    found = try_package_of (NULL, real);
  if (!found)
    found = try_package_of (folder, name);
  if (!found)
    found = try_package_of (NULL, debug);
  free (real);
  return found;
}

static FlamElf *
try_package_in (const char *directory, const FlamElf *binary)
{
  const char *path = flam_elf_get_path (binary);
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *by_id =
      flam_debug_file_path (directory, flam_elf_get_build_id (binary), ".dwp");
  FlamElf *found = try_package (by_id);

  if (!found)
    found = try_package_of (directory, path);
  return found ? found : try_package_of (directory, name);
}

FlamElf *
flam_debug_package_find (const FlamElf *binary,
                         const FlamElf *debug,
                         const char *const *directories)
{
  FlamElf *found = try_package_beside (flam_elf_get_path (binary),
                                       flam_elf_get_path (debug));

  for (gsize i = 0; !found && directories && directories[i]; i++)
    found = try_package_in (directories[i], binary);
  return found ? found : try_package_in (DEBUG_ROOT, binary);
}
