/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dwarf-dwo.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECTIONS_MAX 8
#define STR_OFFSETS_HEADER 8
#define DWARF_64 0xffffffffu

typedef struct
{
  const char *name;
  FlamDwarfPiece piece;
} Section;

struct _FlamDwarfDwo
{
  FlamElf *elf; /* the skeleton's */
  Dwarf *dwarf;
  Dwarf_Die die;
  guint64 size;
};

/* --- ELF ----------------------------------------------------------------- */

static void
append (GByteArray *out, const void *bytes, gsize n)
{
  g_byte_array_append (out, bytes, (guint)n);
}

static void
append_u16 (GByteArray *out, guint16 value)
{
  append (out, &value, sizeof value);
}

static void
append_u32 (GByteArray *out, guint32 value)
{
  append (out, &value, sizeof value);
}

static void
append_u64 (GByteArray *out, guint64 value)
{
  append (out, &value, sizeof value);
}

static void
append_text (GByteArray *out, const char *text)
{
  append (out, text, strlen (text) + 1);
}

/* Empty sections are left out. The headers come last, so that unterminated text
 * is followed by zeros and not by the end of the file. */
static GByteArray *
write_elf (const Section *sections, guint n)
{
  GByteArray *out = g_byte_array_new ();
  g_autoptr (GByteArray) names = g_byte_array_new ();
  Elf64_Shdr headers[SECTIONS_MAX + 2] = { 0 };
  Elf64_Ehdr header = {
    .e_ident = { ELFMAG0,
                 ELFMAG1,
                 ELFMAG2,
                 ELFMAG3,
                 ELFCLASS64,
                 G_BYTE_ORDER == G_LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
                 EV_CURRENT },
    .e_type = ET_REL,
    .e_version = EV_CURRENT,
    .e_ehsize = sizeof header,
    .e_shentsize = sizeof headers[0],
  };
  guint used = 1;

  append (out, &header, sizeof header);
  append_text (names, "");
  for (guint i = 0; i < n; i++)
    if (sections[i].piece.size > 0)
      {
        headers[used++] = (Elf64_Shdr){
          .sh_name = names->len,
          .sh_type = SHT_PROGBITS,
          .sh_offset = out->len,
          .sh_size = sections[i].piece.size,
          .sh_addralign = 1,
        };
        append_text (names, sections[i].name);
        append (out, sections[i].piece.data, sections[i].piece.size);
      }
  header.e_shstrndx = (guint16)used;
  headers[used++] = (Elf64_Shdr){
    .sh_name = 0,
    .sh_type = SHT_STRTAB,
    .sh_offset = out->len,
    .sh_size = names->len,
    .sh_addralign = 1,
  };
  append (out, names->data, names->len);
  g_byte_array_set_size (out, (out->len + 7) & ~7u);
  header.e_shoff = out->len;
  header.e_shnum = (guint16)used;
  append (out, headers, used * sizeof headers[0]);
  memcpy (out->data, &header, sizeof header);
  return out;
}

static int
write_memfd (const GByteArray *image)
{
  int fd = memfd_create ("flambeau-dwo", MFD_CLOEXEC);
  gsize done = 0;

  while (fd >= 0 && done < image->len)
    {
      gssize n = write (fd, image->data + done, image->len - done);

      if (n > 0)
        done += (gsize)n;
      else if (n == 0 || errno != EINTR)
        {
          close (fd);
          fd = -1;
        }
    }
  return fd;
}

/* --- strings ------------------------------------------------------------- */

static guint32
read_u32 (const guint8 *at)
{
  guint32 value;

  memcpy (&value, at, sizeof value);
  return value;
}

static guint16
read_u16 (const guint8 *at)
{
  guint16 value;

  memcpy (&value, at, sizeof value);
  return value;
}

/* The start of the offsets in a unit's .debug_str_offsets.dwo: DWARF 5 has a
 * header before them. FALSE: 64-bit DWARF, or damaged. */
static gboolean
find_str_offsets (const FlamDwarfPieces *pieces, gsize *start)
{
  const FlamDwarfPiece *offsets = &pieces->str_offsets;

  if (pieces->info.size < 6 || read_u32 (pieces->info.data) == DWARF_64)
    return FALSE;
  *start = 0;
  if (read_u16 (pieces->info.data + 4) < 5)
    return TRUE;
  *start = STR_OFFSETS_HEADER;
  return offsets->size >= STR_OFFSETS_HEADER &&
         read_u32 (offsets->data) != DWARF_64;
}

/* Selects this unit's strings from the strings of all units, and adjusts its
 * offsets to them. FALSE: they take `most` bytes or more. */
static gboolean
pick_strings (const FlamDwarfPieces *pieces,
              guint64 most,
              GByteArray *offsets,
              GByteArray *strings)
{
  const FlamDwarfPiece *all = &pieces->strings;
  gsize start = 0;

  append (offsets, pieces->str_offsets.data, pieces->str_offsets.size);
  append_text (strings, "");
  if (!find_str_offsets (pieces, &start))
    return FALSE;
  for (gsize at = start; at + 4 <= offsets->len; at += 4)
    {
      guint32 offset = read_u32 (offsets->data + at);
      guint32 moved = strings->len;
      gsize length;

      if (offset >= all->size)
        {
          memset (offsets->data + at, 0, 4);
          continue;
        }
      length = strnlen ((const char *)all->data + offset, all->size - offset);
      if (strings->len + length + 1 >= most)
        return FALSE;
      append (strings, all->data + offset, length);
      append (strings, "", 1);
      memcpy (offsets->data + at, &moved, 4);
    }
  return TRUE;
}

/* --- the unit ------------------------------------------------------------ */

static int
write_dwo (const FlamDwarfPieces *pieces,
           const FlamDwarfSkeleton *skeleton,
           guint64 size_max,
           guint64 *size)
{
  g_autoptr (GByteArray) offsets = g_byte_array_new ();
  g_autoptr (GByteArray) strings = g_byte_array_new ();
  g_autoptr (GByteArray) image = NULL;
  FlamDwarfPiece own_offsets = pieces->str_offsets;
  FlamDwarfPiece own_strings = pieces->strings;

  if (pieces->str_offsets.size > size_max)
    return -1;
  if (pick_strings (
          pieces, MIN (pieces->strings.size, size_max), offsets, strings))
    {
      own_offsets = (FlamDwarfPiece){ offsets->data, offsets->len };
      own_strings = (FlamDwarfPiece){ strings->data, strings->len };
    }
  *size = pieces->info.size + pieces->abbrev.size + pieces->rnglists.size +
          own_offsets.size + own_strings.size + skeleton->addresses.size +
          skeleton->ranges.size;
  if (*size > size_max)
    return -1;
  image = write_elf (
      (const Section[]){
          { ".debug_info.dwo", pieces->info },
          { ".debug_abbrev.dwo", pieces->abbrev },
          { ".debug_str_offsets.dwo", own_offsets },
          { ".debug_str.dwo", own_strings },
          { ".debug_rnglists.dwo", pieces->rnglists },
          { ".debug_addr.dwo", skeleton->addresses },
          { ".debug_ranges.dwo", skeleton->ranges },
      },
      7);
  return write_memfd (image);
}

/* The skeleton is written as DWARF 5 even if the split unit is older: libdw
 * compares only the ids. */
static GByteArray *
write_skeleton (const FlamDwarfSkeleton *skeleton, int fd)
{
  static const guint8 abbrev[] = {
    /* clang-format off */
    1, DW_TAG_skeleton_unit, DW_CHILDREN_no,
    DW_AT_low_pc, DW_FORM_addr,
    DW_AT_comp_dir, DW_FORM_string,
    DW_AT_dwo_name, DW_FORM_string,
    0, 0, 0,
    /* clang-format on */
  };
  static const guint8 sizes[] = { DW_UT_skeleton, sizeof (guint64) };
  g_autofree char *name = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autoptr (GByteArray) info = g_byte_array_new ();
  guint32 length;

  append_u32 (info, 0);
  append_u16 (info, 5);
  append (info, sizes, sizeof sizes);
  append_u32 (info, 0);
  append_u64 (info, skeleton->id);
  append (info, abbrev, 1);
  append_u64 (info, skeleton->low_pc);
  append_text (info, "/");
  append_text (info, name);
  length = info->len - 4;
  memcpy (info->data, &length, sizeof length);
  return write_elf (
      (const Section[]){
          { ".debug_info", { info->data, info->len } },
          { ".debug_abbrev", { abbrev, sizeof abbrev } },
      },
      2);
}

/* libdw opens the file by its name, and only keeps its mapping. */
static gboolean
link_units (FlamDwarfDwo *dwo, const FlamDwarfSkeleton *skeleton, int fd)
{
  g_autoptr (GByteArray) image = write_skeleton (skeleton, fd);
  Dwarf_CU *cu = NULL;

  dwo->elf =
      flam_elf_new_from_data ("a skeleton", image->data, image->len, NULL);
  if (!dwo->elf)
    return FALSE;
  dwo->dwarf =
      dwarf_begin_elf (flam_elf_get_handle (dwo->elf), DWARF_C_READ, NULL);
  return dwo->dwarf &&
         dwarf_get_units (dwo->dwarf, NULL, &cu, NULL, NULL, NULL, NULL) == 0 &&
         dwarf_cu_info (cu, NULL, NULL, NULL, &dwo->die, NULL, NULL, NULL) ==
             0 &&
         dwo->die.addr != NULL;
}

FlamDwarfDwo *
flam_dwarf_dwo_new (const FlamDwarfPieces *pieces,
                    const FlamDwarfSkeleton *skeleton,
                    guint64 size_max)
{
  g_autoptr (FlamDwarfDwo) dwo = g_new0 (FlamDwarfDwo, 1);
  int fd = write_dwo (pieces, skeleton, MIN (size_max, G_MAXINT), &dwo->size);
  gboolean linked;

  if (fd < 0)
    return NULL;
  linked = link_units (dwo, skeleton, fd);
  close (fd);
  return linked ? g_steal_pointer (&dwo) : NULL;
}

void
flam_dwarf_dwo_free (FlamDwarfDwo *dwo)
{
  if (!dwo)
    return;
  if (dwo->dwarf)
    dwarf_end (dwo->dwarf);
  flam_elf_free (dwo->elf);
  g_free (dwo);
}

Dwarf_Die
flam_dwarf_dwo_get_die (const FlamDwarfDwo *dwo)
{
  return dwo->die;
}

guint64
flam_dwarf_dwo_get_size (const FlamDwarfDwo *dwo)
{
  return dwo->size;
}
