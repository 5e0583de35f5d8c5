/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-elf.h"

#include "flam-file-map.h"
#include "flam-path-access.h"

#include <string.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>

#define BUILD_ID_MAX 64
/* More PT_LOADs than any linker writes, few enough to cost little. */
#define SEGMENTS_MAX 4096
#define UNPACKED_MAX ((guint64)1 << 32)
/* Compressed debug information expands to three to ten times its size. */
#define UNPACKED_RATIO 32
#define UNPACKED_FREE ((guint64)256 << 20)

struct _FlamElf
{
  char *path;
  FlamFileMap *mapping;
  guint8 *image;
  Elf *handle;
  guint16 machine;
  char *build_id;
  char *soname;
  FlamElfSegment *segments;
  guint n_segments;
};

static char *
read_build_id (Elf *handle)
{
  const void *bits = NULL;
  gssize n = dwelf_elf_gnu_build_id (handle, &bits);
  GString *hex;

  if (n <= 0 || n > BUILD_ID_MAX)
    return g_strdup ("");
  hex = g_string_sized_new (2 * n);
  for (gssize i = 0; i < n; i++)
    g_string_append_printf (hex, "%02x", ((const guint8 *)bits)[i]);
  return g_string_free (hex, FALSE);
}

static void
read_segments (FlamElf *elf)
{
  size_t n = 0;

  if (elf_getphdrnum (elf->handle, &n) != 0)
    return;
  n = MIN (n, SEGMENTS_MAX);
  elf->segments = g_new0 (FlamElfSegment, MAX (n, 1));
  for (size_t i = 0; i < n; i++)
    {
      GElf_Phdr header;

      if (!gelf_getphdr (elf->handle, i, &header) || header.p_type != PT_LOAD)
        continue;
      elf->segments[elf->n_segments++] = (FlamElfSegment){
        .offset = header.p_offset,
        .file_size = header.p_filesz,
        .vaddr = header.p_vaddr,
        .memory_size = header.p_memsz,
        .executable = (header.p_flags & PF_X) != 0,
      };
    }
}

static char *
soname_of (Elf *handle, Elf_Scn *section, const GElf_Shdr *header)
{
  Elf_Data *data = elf_getdata (section, NULL);
  size_t n;

  if (!data || header->sh_entsize == 0)
    return NULL;
  n = data->d_size / gelf_fsize (handle, ELF_T_DYN, 1, EV_CURRENT);
  for (size_t i = 0; i < n; i++)
    {
      GElf_Dyn entry;

      if (!gelf_getdyn (data, i, &entry) || entry.d_tag == DT_NULL)
        return NULL;
      if (entry.d_tag == DT_SONAME)
        return g_strdup (
            elf_strptr (handle, header->sh_link, entry.d_un.d_val));
    }
  return NULL;
}

static char *
read_soname (Elf *handle)
{
  for (Elf_Scn *section = elf_nextscn (handle, NULL); section;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;

      if (gelf_getshdr (section, &header) && header.sh_type == SHT_DYNAMIC)
        {
          char *soname = soname_of (handle, section, &header);
          return soname ? soname : g_strdup ("");
        }
    }
  return g_strdup ("");
}

/* The size in the older form, ".zdebug_line": "ZLIB" and a big-endian
 * number. */
static guint64
old_unpacked_size (Elf_Scn *section)
{
  Elf_Data *data = elf_rawdata (section, NULL);
  guint64 size;

  if (!data || !data->d_buf || data->d_size < 12 ||
      memcmp (data->d_buf, "ZLIB", 4) != 0)
    return 0;
  memcpy (&size, (const char *)data->d_buf + 4, sizeof size);
  return GUINT64_FROM_BE (size);
}

/* Readers of debug information unpack each compressed section they find, and
 * check only the compressed size. */
static gboolean
unpacks_too_much (Elf *handle, gsize size)
{
  guint64 most = MAX ((guint64)size * UNPACKED_RATIO, UNPACKED_FREE);
  guint64 sum = 0;
  size_t names = 0;

  elf_getshdrstrndx (handle, &names);
  for (Elf_Scn *section = elf_nextscn (handle, NULL); section;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;
      GElf_Chdr packed;
      const char *name;
      guint64 own = 0;

      if (!gelf_getshdr (section, &header))
        continue;
      name = elf_strptr (handle, names, header.sh_name);
      if (header.sh_flags & SHF_COMPRESSED)
        own = gelf_getchdr (section, &packed) ? packed.ch_size : 0;
      else if (name && g_str_has_prefix (name, ".zdebug"))
        own = old_unpacked_size (section);
      if (own > most - sum)
        return TRUE;
      sum += own;
    }
  return FALSE;
}

static FlamElf *
finish_open (FlamElf *elf, GError **error)
{
  GElf_Ehdr header;
  size_t size = 0;

  if (!elf->handle || elf_kind (elf->handle) != ELF_K_ELF ||
      !gelf_getehdr (elf->handle, &header))
    {
      flam_error_set (error,
                      FLAM_ERROR_INVALID,
                      N_ ("%s: not an ELF file, or its header is damaged"),
                      elf->path);
      flam_elf_free (elf);
      return NULL;
    }
  if (elf_rawfile (elf->handle, &size) && unpacks_too_much (elf->handle, size))
    {
      flam_error_set (error,
                      FLAM_ERROR_TOO_LARGE,
                      N_ ("%s: its compressed sections unpack to more than %d "
                          "times the file's size and %d MiB"),
                      elf->path,
                      UNPACKED_RATIO,
                      (int)(UNPACKED_FREE >> 20));
      flam_elf_free (elf);
      return NULL;
    }
  elf->machine = header.e_machine;
  elf->build_id = read_build_id (elf->handle);
  elf->soname = read_soname (elf->handle);
  read_segments (elf);
  return elf;
}

/* Takes ownership of `fd`. The library does not map the file itself, so that a
 * file that is truncated meanwhile does no harm; it writes to the section
 * headers of sections that it unpacks. */
static FlamElf *
open_mapped (const char *path, int fd, gsize size, GError **error)
{
  FlamElf *elf = g_new0 (FlamElf, 1);

  elf_version (EV_CURRENT);
  elf->path = g_strdup (path);
  elf->mapping = flam_file_map_new (fd, size);
  if (elf->mapping != NULL && flam_file_map_make_writable (elf->mapping))
    elf->handle = elf_memory ((char *)elf->mapping->data, size);
  close (fd);
  return finish_open (elf, error);
}

FlamElf *
flam_elf_open (const char *path, GError **error)
{
  struct stat info;
  int fd = flam_path_access_open_regular (path, &info, error);

  return fd < 0 ? NULL : open_mapped (path, fd, (gsize)info.st_size, error);
}

FlamElf *
flam_elf_open_named (const char *path, GError **error)
{
  struct stat info;
  int fd = flam_path_access_open (path, &info, error);

  return fd < 0 ? NULL : open_mapped (path, fd, (gsize)info.st_size, error);
}

FlamElf *
flam_elf_new_from_data (const char *name,
                        const void *data,
                        gsize size,
                        GError **error)
{
  FlamElf *elf = g_new0 (FlamElf, 1);

  elf_version (EV_CURRENT);
  elf->path = g_strdup (name);
  elf->image = g_malloc (MAX (size, 1));
  memcpy (elf->image, data, size);
  elf->handle = elf_memory ((char *)elf->image, size);
  return finish_open (elf, error);
}

void
flam_elf_free (FlamElf *elf)
{
  if (!elf)
    return;
  if (elf->handle)
    elf_end (elf->handle);
  flam_file_map_free (elf->mapping);
  g_free (elf->image);
  g_free (elf->segments);
  g_free (elf->soname);
  g_free (elf->build_id);
  g_free (elf->path);
  g_free (elf);
}

const char *
flam_elf_get_path (const FlamElf *elf)
{
  return elf->path;
}

const char *
flam_elf_get_build_id (const FlamElf *elf)
{
  return elf->build_id;
}

const char *
flam_elf_get_soname (const FlamElf *elf)
{
  return elf->soname;
}

guint16
flam_elf_get_machine (const FlamElf *elf)
{
  return elf->machine;
}

Elf *
flam_elf_get_handle (const FlamElf *elf)
{
  return elf->handle;
}

const FlamElfSegment *
flam_elf_get_segments (const FlamElf *elf, guint *n)
{
  *n = elf->n_segments;
  return elf->segments;
}

/* Segments may share a page of the file; executable ones are preferred, because
 * the look-up is for code. */
gboolean
flam_elf_offset_to_vaddr (const FlamElf *elf, guint64 offset, guint64 *vaddr)
{
  const FlamElfSegment *best = NULL;

  for (guint i = 0; i < elf->n_segments; i++)
    {
      const FlamElfSegment *segment = &elf->segments[i];

      if (offset >= segment->offset &&
          offset - segment->offset < segment->file_size &&
          (!best || (segment->executable && !best->executable)))
        best = segment;
    }
  if (!best)
    return FALSE;
  *vaddr = offset - best->offset + best->vaddr;
  return TRUE;
}

gboolean
flam_elf_vaddr_to_offset (const FlamElf *elf, guint64 vaddr, guint64 *offset)
{
  for (guint i = 0; i < elf->n_segments; i++)
    {
      const FlamElfSegment *segment = &elf->segments[i];

      if (vaddr >= segment->vaddr &&
          vaddr - segment->vaddr < segment->file_size)
        {
          *offset = vaddr - segment->vaddr + segment->offset;
          return TRUE;
        }
    }
  return FALSE;
}

static Elf_Scn *
find_section (const FlamElf *elf, const char *name, GElf_Shdr *header)
{
  size_t names;

  if (elf_getshdrstrndx (elf->handle, &names) != 0)
    return NULL;
  for (Elf_Scn *section = elf_nextscn (elf->handle, NULL); section;
       section = elf_nextscn (elf->handle, section))
    {
      const char *own;

      if (!gelf_getshdr (section, header))
        continue;
      own = elf_strptr (elf->handle, names, header->sh_name);
      if (own && strcmp (own, name) == 0)
        return section;
    }
  return NULL;
}

gboolean
flam_elf_has_section (const FlamElf *elf, const char *name)
{
  GElf_Shdr header;
  return find_section (elf, name, &header) && header.sh_type != SHT_NOBITS;
}

gboolean
flam_elf_get_section (const FlamElf *elf,
                      const char *name,
                      FlamElfSection *section)
{
  GElf_Shdr header;
  GElf_Chdr packed;
  Elf_Scn *found = find_section (elf, name, &header);
  Elf_Data *data;

  if (!found)
    return FALSE;
  *section = (FlamElfSection){
    .vaddr = header.sh_addr,
    .size = header.sh_size,
    .executable = (header.sh_flags & SHF_EXECINSTR) != 0,
  };
  if (header.sh_type == SHT_NOBITS)
    return TRUE;
  if ((header.sh_flags & SHF_COMPRESSED) &&
      (!gelf_getchdr (found, &packed) || packed.ch_size > UNPACKED_MAX ||
       elf_compress (found, 0, 0) < 0))
    return TRUE;
  data = elf_rawdata (found, NULL);
  if (data && data->d_buf)
    {
      section->data = data->d_buf;
      section->size = data->d_size;
    }
  return TRUE;
}

const char *
flam_elf_get_debuglink (const FlamElf *elf, guint32 *crc)
{
  GElf_Word word = 0;
  const char *name = dwelf_elf_gnu_debuglink (elf->handle, &word);

  *crc = word;
  return name && *name ? name : NULL;
}
