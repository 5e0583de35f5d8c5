/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of an ELF image from which unwind tables are made: executable
 * segments, .eh_frame (by section, else through .eh_frame_hdr), .debug_frame,
 * .gopclntab, and the symbols.
 *
 *   .eh_frame_hdr: OFFSET SIZE WHAT
 *                       0    1 version, 1
 *                       1    1 encoding of the pointer to .eh_frame
 *                       2    2 encodings of a count and a table, not used
 *                       4    . pointer to .eh_frame
 *
 * A loaded image has no sections, and .eh_frame has no size there: it ends with
 * an entry of length 0, or at the end of its segment. */

#include "flam-unwind-rows.h"

#include <elf.h>
#include <string.h>

/* Marks a text for translation (flam-types.h); there is no GLib here. */
#define N_(String) (String)

#define MAX_SEGMENTS 64

typedef struct
{
  const uint8_t *data;
  size_t size;
  bool loaded;
  uint64_t lowest; /* vaddr of the first byte of a loaded image */
  const Elf64_Phdr *phdrs;
  unsigned n_phdrs;
  FlamUnwindSegment segments[MAX_SEGMENTS];
  unsigned n_segments;
} Image;

static const void *
bytes_at (const Image *image, uint64_t offset, uint64_t size)
{
  if (offset > image->size || size > image->size - offset)
    return NULL;
  return image->data + offset;
}

static const char *
open_image (Image *image)
{
  const Elf64_Ehdr *header = bytes_at (image, 0, sizeof *header);

  if ((uintptr_t)image->data % 8 != 0)
    return N_ ("not aligned in memory");
  if (!header || memcmp (header->e_ident, ELFMAG, SELFMAG) != 0)
    return N_ ("not an ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != FLAM_UNWIND_ELF_MACHINE)
    return N_ ("for another processor");
  if (header->e_phentsize != sizeof (Elf64_Phdr) || header->e_phoff % 8 != 0)
    return N_ ("no usable program headers");
  image->n_phdrs = header->e_phnum;
  image->phdrs = bytes_at (
      image, header->e_phoff, image->n_phdrs * (uint64_t)sizeof (Elf64_Phdr));
  return image->phdrs ? NULL : N_ ("program headers lie outside the file");
}

/* The readable bytes from a virtual address to the end of its segment. */
static const void *
bytes_at_vaddr (const Image *image, uint64_t vaddr, size_t *size)
{
  for (unsigned i = 0; i < image->n_phdrs; i++)
    {
      const Elf64_Phdr *phdr = &image->phdrs[i];
      uint64_t at;
      const void *bytes;

      if (phdr->p_type != PT_LOAD || vaddr < phdr->p_vaddr ||
          vaddr - phdr->p_vaddr >= phdr->p_filesz)
        continue;
      at = image->loaded ? vaddr - image->lowest
                         : vaddr - phdr->p_vaddr + phdr->p_offset;
      *size = phdr->p_filesz - (vaddr - phdr->p_vaddr);
      if (at<image->size && * size> image->size - at)
        *size = image->size - at;
      bytes = bytes_at (image, at, *size);
      if (bytes)
        return bytes;
    }
  return NULL;
}

static void
collect_segments (Image *image)
{
  image->lowest = UINT64_MAX;
  for (unsigned i = 0; i < image->n_phdrs; i++)
    {
      const Elf64_Phdr *phdr = &image->phdrs[i];

      if (phdr->p_type != PT_LOAD)
        continue;
      if (phdr->p_vaddr < image->lowest)
        image->lowest = phdr->p_vaddr & ~(uint64_t)4095;
      if (!(phdr->p_flags & PF_X) || image->n_segments == MAX_SEGMENTS)
        continue;
      image->segments[image->n_segments++] =
          (FlamUnwindSegment){ phdr->p_vaddr, phdr->p_offset, phdr->p_filesz };
    }
  for (unsigned i = 0; i < image->n_segments; i++)
    {
      FlamUnwindSegment *segment = &image->segments[i];
      size_t size = 0;
      const void *code = bytes_at_vaddr (image, segment->vaddr, &size);

      segment->code = size >= segment->size ? code : NULL;
    }
}

static void
find_by_sections (const Image *image, FlamUnwindSections *sections)
{
  const Elf64_Ehdr *header = (const void *)image->data;
  const Elf64_Shdr *headers, *names;

  if (image->loaded || header->e_shentsize != sizeof *headers ||
      header->e_shoff % 8 != 0)
    return;
  headers = bytes_at (
      image, header->e_shoff, header->e_shnum * (uint64_t)sizeof *headers);
  if (!headers || header->e_shstrndx >= header->e_shnum)
    return;
  names = &headers[header->e_shstrndx];
  if (!bytes_at (image, names->sh_offset, names->sh_size))
    return;
  for (unsigned i = 0; i < header->e_shnum; i++)
    {
      const Elf64_Shdr *section = &headers[i];
      const char *name = (const char *)image->data + names->sh_offset;
      FlamUnwindSection *found = NULL;

      if (section->sh_type == SHT_NOBITS ||
          section->sh_name >= names->sh_size ||
          (section->sh_flags & SHF_COMPRESSED))
        continue;
      name += section->sh_name;
      if (names->sh_size - section->sh_name >= sizeof ".eh_frame" &&
          strcmp (name, ".eh_frame") == 0)
        found = &sections->eh_frame;
      else if (names->sh_size - section->sh_name >= sizeof ".debug_frame" &&
               strcmp (name, ".debug_frame") == 0)
        found = &sections->debug_frame;
      else if (names->sh_size - section->sh_name >= sizeof ".gopclntab" &&
               strcmp (name, ".gopclntab") == 0)
        found = &sections->go_table;
      else if (section->sh_type == SHT_SYMTAB ||
               (section->sh_type == SHT_DYNSYM && !sections->symbols.data))
        found = &sections->symbols;
      if (!found)
        continue;
      found->data = bytes_at (image, section->sh_offset, section->sh_size);
      found->size = section->sh_size;
      found->vaddr = section->sh_addr;
    }
}

/* The encodings of pointers that linkers use: pc-relative and absolute. */
static uint64_t
eh_frame_pointer (const uint8_t *header, uint64_t vaddr)
{
  int32_t narrow;
  uint64_t wide, base = (header[1] & 0x70) == 0x10 ? vaddr + 4 : 0;

  if ((header[1] & 0x70) != 0 && (header[1] & 0x70) != 0x10)
    return 0;
  switch (header[1] & 0x0f)
    {
    case 0x03:
    case 0x0b:
      memcpy (&narrow, header + 4, 4);
      return base + (uint64_t)(int64_t)narrow;
    case 0x00:
    case 0x04:
    case 0x0c:
      memcpy (&wide, header + 4, 8);
      return base + wide;
    default:
      return 0;
    }
}

static void
find_by_header (const Image *image, FlamUnwindSections *sections)
{
  for (unsigned i = 0; i < image->n_phdrs; i++)
    {
      const Elf64_Phdr *phdr = &image->phdrs[i];
      const uint8_t *header;
      uint64_t vaddr;
      size_t size;

      if (phdr->p_type != PT_GNU_EH_FRAME)
        continue;
      header = bytes_at_vaddr (image, phdr->p_vaddr, &size);
      if (!header || size < 12 || header[0] != 1)
        return;
      vaddr = eh_frame_pointer (header, phdr->p_vaddr);
      sections->data_vaddr = phdr->p_vaddr;
      sections->eh_frame.data = bytes_at_vaddr (image, vaddr, &size);
      sections->eh_frame.size = size;
      sections->eh_frame.vaddr = vaddr;
      return;
    }
}

static FlamUnwindTable *
table_of_image (Image *image, const char **why)
{
  FlamUnwindSections sections = { 0 };

  *why = open_image (image);
  if (*why)
    return NULL;
  collect_segments (image);
  sections.segments = image->segments;
  sections.n_segments = image->n_segments;
  find_by_sections (image, &sections);
  if (!sections.eh_frame.data)
    find_by_header (image, &sections);
  return flam_unwind_table_new (&sections, why);
}

FlamUnwindTable *
flam_unwind_table_new_file (const void *file, size_t size, const char **why)
{
  Image image = { .data = file, .size = size };

  return table_of_image (&image, why);
}

FlamUnwindTable *
flam_unwind_table_new_memory (const void *image, size_t size, const char **why)
{
  Image loaded = { .data = image, .size = size, .loaded = true };

  return table_of_image (&loaded, why);
}
