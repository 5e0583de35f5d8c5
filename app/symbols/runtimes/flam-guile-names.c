/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-guile.h"

#include <elf.h>
#include <string.h>

/* Names and lines of Guile's code, in the images of files that a process has
 * mapped. */

#define PAGE 4096u
#define PAGES_MAX 8192u /* of an image, from its beginning to the code */
#define IMAGES_MAX 256
#define SECTIONS_MAX 64
#define LINES_SIZE_MAX (1u << 20)
#define FILES_MAX 1024

typedef struct
{
  guint64 offset;
  guint64 size;
} Part;

typedef struct
{
  guint64 start; /* 0: none; then there is no image from `first` to `end` */
  guint64 first, end;
  guint64 code; /* offset of the section that symbols are relative to */
  Part symbols, strings, lines;
} Image;

struct _FlamGuileImages
{
  guint n;
  guint next; /* the one that is replaced next */
  Image list[IMAGES_MAX];
  guint64 lines_of; /* the image of `lines`; 0: none */
  gsize n_lines;
  guint8 lines[LINES_SIZE_MAX];
};

FlamGuileImages *
flam_guile_images_new (void)
{
  return g_new0 (FlamGuileImages, 1);
}

/* --- images -------------------------------------------------------------- */

static Part
part_of (const Elf64_Shdr *section)
{
  return (Part){ section->sh_offset, section->sh_size };
}

static gboolean
is_named (const FlamRuntimeMemory *memory,
          const Image *image,
          const Part *names,
          const Elf64_Shdr *section,
          const char *name)
{
  char text[16] = "";
  gsize size = strlen (name) + 1;

  return section->sh_name < names->size &&
         size <= names->size - section->sh_name &&
         flam_runtime_read (memory,
                            image->start + names->offset + section->sh_name,
                            text,
                            size) &&
         memcmp (text, name, size) == 0;
}

static gboolean
read_symbol (const FlamRuntimeMemory *memory,
             const Image *image,
             guint64 i,
             Elf64_Sym *symbol)
{
  return flam_runtime_read (memory,
                            image->start + image->symbols.offset +
                                i * sizeof *symbol,
                            symbol,
                            sizeof *symbol);
}

static gboolean
read_sections (const FlamRuntimeMemory *memory,
               const Elf64_Ehdr *header,
               Image *image)
{
  Elf64_Shdr sections[SECTIONS_MAX];
  Elf64_Sym symbol;
  Part names;

  if (header->e_shnum == 0 || header->e_shnum > SECTIONS_MAX ||
      header->e_shentsize != sizeof *sections ||
      header->e_shstrndx >= header->e_shnum ||
      !flam_runtime_read (memory,
                          image->start + header->e_shoff,
                          sections,
                          header->e_shnum * sizeof *sections))
    return FALSE;
  names = part_of (&sections[header->e_shstrndx]);
  for (guint i = 0; i < header->e_shnum; i++)
    {
      image->end =
          MAX (image->end,
               image->start + MIN (sections[i].sh_offset + sections[i].sh_size,
                                   (guint64)PAGES_MAX * PAGE));
      if (sections[i].sh_type == SHT_SYMTAB &&
          sections[i].sh_link < header->e_shnum)
        {
          image->symbols = part_of (&sections[i]);
          image->strings = part_of (&sections[sections[i].sh_link]);
        }
      else if (is_named (memory, image, &names, &sections[i], ".debug_line"))
        image->lines = part_of (&sections[i]);
    }
  if (image->symbols.size < sizeof symbol ||
      !read_symbol (memory, image, 0, &symbol) ||
      symbol.st_shndx >= header->e_shnum)
    return FALSE;
  image->code = sections[symbol.st_shndx].sh_offset;
  return TRUE;
}

/* An image has no machine type, and begins at a page. */
static gboolean
read_image (const FlamRuntimeMemory *memory, guint64 start, Image *image)
{
  Elf64_Ehdr header;

  if (!flam_runtime_read (memory, start, &header, SELFMAG) ||
      memcmp (header.e_ident, ELFMAG, SELFMAG) != 0 ||
      !flam_runtime_read (memory, start, &header, sizeof header))
    return FALSE;
  *image = (Image){ .start = start, .first = start };
  return header.e_machine == EM_NONE &&
         header.e_ident[EI_CLASS] == ELFCLASS64 &&
         read_sections (memory, &header, image);
}

/* The image that contains the code. Code without an image is remembered,
 * too. */
static const Image *
image_of (FlamGuileImages *images,
          const FlamRuntimeMemory *memory,
          guint64 code)
{
  guint64 page = code - code % PAGE;
  Image image = { 0 };

  for (guint i = 0; i < images->n; i++)
    if (code >= images->list[i].first && code < images->list[i].end)
      return &images->list[i];
  for (guint i = 0; i < PAGES_MAX && page - i * PAGE <= page; i++)
    {
      guint8 byte;

      if (read_image (memory, page - i * PAGE, &image) && code < image.end)
        break;
      image = (Image){ 0 };
      if (!flam_runtime_read_u8 (memory, page - i * PAGE, &byte))
        break;
    }
  if (image.start == 0)
    image = (Image){ .first = page, .end = page + PAGE };
  if (images->n < IMAGES_MAX)
    images->next = images->n++;
  else
    images->next = (images->next + 1) % IMAGES_MAX;
  images->list[images->next] = image;
  return &images->list[images->next];
}

/* --- functions ----------------------------------------------------------- */

/* Symbols are in the order of their addresses. `at`: of the code, from the
 * beginning of its section. */
static gboolean
find_symbol (const FlamRuntimeMemory *memory,
             const Image *image,
             guint64 at,
             Elf64_Sym *symbol)
{
  guint64 low = 0, high = image->symbols.size / sizeof *symbol;

  while (low < high)
    {
      guint64 middle = low + (high - low) / 2;

      if (!read_symbol (memory, image, middle, symbol))
        return FALSE;
      if (symbol->st_value <= at)
        low = middle + 1;
      else
        high = middle;
    }
  return low > 0 && read_symbol (memory, image, low - 1, symbol) &&
         at >= symbol->st_value && at - symbol->st_value < symbol->st_size;
}

/* --- lines --------------------------------------------------------------- */

typedef struct
{
  const guint8 *at, *end;
} Bytes;

static guint64
next_number (Bytes *bytes, guint size)
{
  guint64 value = 0;

  if ((gsize)(bytes->end - bytes->at) < size)
    {
      bytes->at = bytes->end;
      return 0;
    }
  memcpy (&value, bytes->at, size);
  bytes->at += size;
  return value;
}

static guint64
next_leb (Bytes *bytes, gboolean is_signed)
{
  guint64 value = 0, byte = 0;
  guint shift = 0;

  while (bytes->at < bytes->end)
    {
      byte = *bytes->at++;
      if (shift < 64)
        value |= (byte & 0x7f) << shift;
      shift += 7;
      if (!(byte & 0x80))
        break;
    }
  if (is_signed && byte & 0x40 && shift < 64)
    value |= ~(guint64)0 << shift;
  return value;
}

static const char *
next_text (Bytes *bytes)
{
  const guint8 *text = bytes->at;
  const guint8 *end = memchr (text, '\0', (gsize)(bytes->end - bytes->at));

  if (end == NULL)
    {
      bytes->at = bytes->end;
      return "";
    }
  bytes->at = end + 1;
  return (const char *)text;
}

typedef struct
{
  guint64 address;
  guint64 file;
  gint64 line;
} Row;

/* The form of the line table, and its next row: DWARF 2, section 6.2. */
typedef struct
{
  guint64 step;
  gint line_base;
  guint line_range, opcode_base;
  guint n_files;
  const char *files[FILES_MAX];
  guint8 n_arguments[256];
  Row row;
} Lines;

static gboolean
read_line_header (Bytes *bytes, Lines *lines)
{
  guint64 size;
  Bytes header;

  memset (lines, 0, sizeof *lines);
  size = next_number (bytes, 4);
  if (size < (gsize)(bytes->end - bytes->at))
    bytes->end = bytes->at + size;
  if (next_number (bytes, 2) != 2)
    return FALSE;
  size = next_number (bytes, 4);
  if (size > (gsize)(bytes->end - bytes->at))
    return FALSE;
  header = (Bytes){ bytes->at, bytes->at + size };
  bytes->at = header.end;
  lines->step = next_number (&header, 1);
  next_number (&header, 1);
  lines->line_base = (gint8)next_number (&header, 1);
  lines->line_range = (guint)next_number (&header, 1);
  lines->opcode_base = (guint)next_number (&header, 1);
  for (guint i = 1; i < lines->opcode_base; i++)
    lines->n_arguments[i] = (guint8)next_number (&header, 1);
  while (next_text (&header)[0] != '\0')
    ;
  while (header.at < header.end && lines->n_files < FILES_MAX)
    {
      const char *text = next_text (&header);

      if (text[0] == '\0')
        break;
      lines->files[lines->n_files++] = text;
      for (guint i = 0; i < 3; i++)
        next_leb (&header, FALSE);
    }
  return lines->line_range > 0 && lines->opcode_base > 0;
}

static void
begin_lines (Lines *lines)
{
  lines->row = (Row){ .file = 1, .line = 1 };
}

static gboolean
take_extended (Bytes *bytes, Lines *lines)
{
  guint64 size = next_leb (bytes, FALSE);
  Bytes own;
  guint64 code;

  if (size == 0 || size > (gsize)(bytes->end - bytes->at))
    {
      bytes->at = bytes->end;
      return FALSE;
    }
  own = (Bytes){ bytes->at, bytes->at + size };
  bytes->at += size;
  code = next_number (&own, 1);
  if (code == 2)
    lines->row.address = next_number (&own, 8);
  return code == 1;
}

/* An instruction of the table. Whether it makes a row; `ends`: the last one of
 * its sequence. */
static gboolean
take_instruction (Bytes *bytes, Lines *lines, gboolean *ends)
{
  guint code = (guint)next_number (bytes, 1);

  *ends = FALSE;
  if (code >= lines->opcode_base)
    {
      code -= lines->opcode_base;
      lines->row.address += code / lines->line_range * lines->step;
      lines->row.line += lines->line_base + (gint)(code % lines->line_range);
      return TRUE;
    }
  switch (code)
    {
    case 0:
      *ends = take_extended (bytes, lines);
      return *ends;
    case 1:
      return TRUE;
    case 2:
      lines->row.address += next_leb (bytes, FALSE) * lines->step;
      return FALSE;
    case 3:
      lines->row.line += (gint64)next_leb (bytes, TRUE);
      return FALSE;
    case 4:
      lines->row.file = next_leb (bytes, FALSE);
      return FALSE;
    case 8:
      lines->row.address +=
          (255 - lines->opcode_base) / lines->line_range * lines->step;
      return FALSE;
    case 9:
      lines->row.address += next_number (bytes, 2);
      return FALSE;
    default:
      for (guint i = 0; i < lines->n_arguments[code]; i++)
        next_leb (bytes, FALSE);
      return FALSE;
    }
}

/* The row for an address. */
static gboolean
find_line (FlamGuileImages *images,
           guint64 address,
           const char **file,
           guint32 *line)
{
  Bytes bytes = { images->lines, images->lines + images->n_lines };
  g_autofree Lines *lines = g_new (Lines, 1);
  Row before = { 0 };
  gboolean any = FALSE;

  if (!read_line_header (&bytes, lines))
    return FALSE;
  begin_lines (lines);
  while (bytes.at < bytes.end)
    {
      gboolean ends;

      if (!take_instruction (&bytes, lines, &ends))
        continue;
      if (any && address >= before.address && address < lines->row.address)
        {
          *file = before.file > 0 && before.file <= lines->n_files
                      ? lines->files[before.file - 1]
                      : "";
          *line = before.line > 0 && before.line <= G_MAXINT32
                      ? (guint32)before.line
                      : 0;
          return TRUE;
        }
      before = lines->row;
      any = !ends;
      if (ends)
        begin_lines (lines);
    }
  return FALSE;
}

static void
load_lines (FlamGuileImages *images,
            const FlamRuntimeMemory *memory,
            const Image *image)
{
  if (images->lines_of == image->start)
    return;
  images->lines_of = image->start;
  images->n_lines = image->lines.size <= LINES_SIZE_MAX ? image->lines.size : 0;
  if (!flam_runtime_read (memory,
                          image->start + image->lines.offset,
                          images->lines,
                          images->n_lines))
    images->n_lines = 0;
}

static void
add_lines (FlamGuileImages *images,
           guint64 address,
           guint64 first,
           FlamRuntimeName *name,
           FlamRuntimeNamed *named)
{
  const char *file = "";

  if (find_line (images, first, &file, &named->first_line))
    named->file = flam_runtime_name_utf8 (name, file, strlen (file));
  find_line (images, address, &file, &named->line);
}

gboolean
flam_guile_name (FlamGuileImages *images,
                 const FlamRuntimeMemory *memory,
                 const FlamRuntimeEntry *entry,
                 FlamRuntimeName *name)
{
  const Image *image = image_of (images, memory, entry->function);
  guint64 address = entry->function - image->start;
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  Elf64_Sym symbol;

  named->hidden = image->start == 0;
  if (named->hidden)
    return TRUE;
  if (!find_symbol (memory, image, address - image->code, &symbol))
    return FALSE;
  if (symbol.st_name > 0 && symbol.st_name < image->strings.size)
    named->function = flam_runtime_name_read_string (
        name, memory, image->start + image->strings.offset + symbol.st_name);
  if (named->function == NULL)
    return FALSE;
  if (named->function[0] == '\0')
    named->function = "(anonymous)";
  load_lines (images, memory, image);
  add_lines (images, address, image->code + symbol.st_value, name, named);
  return TRUE;
}
