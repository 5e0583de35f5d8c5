/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-go-table.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of one pc table: a longer one is damaged. */
#define STEPS_MAX ((gsize)256 << 10)
#define TEXT_MAX ((gsize)64 << 10)
/* Places in the data of a program that look like the table's begin. */
#define TRIES_MAX 16

typedef enum
{
  LAYOUT_1_2,
  LAYOUT_1_16,
  LAYOUT_1_18, /* entries are relative to the text, in 4 bytes */
  LAYOUT_1_20, /* the record has the line of the definition */
} Layout;

struct _FlamGoTable
{
  const FlamElf *elf;
  const guint8 *data;
  gsize size;
  guint64 vaddr; /* of data[0] */
  Layout layout;
  gboolean big_endian;
  guint quantum;   /* the unit of lengths in pc tables */
  guint word_size; /* of a pointer: 4 or 8 */
  guint64 text;    /* entries are relative to it, or 0 */
  /* Offsets in `data`. */
  guint64 names, units, files, pc_tables, entries, records;
  guint64 n_entries;
  FlamGoFunction *functions;
  guint64 *record; /* of each function: offset in `data` */
  guint32 n;
};

/* --- numbers -------------------------------------------------------------- */

static gboolean
read_u32 (const FlamGoTable *table, guint64 at, guint32 *value)
{
  if (at > table->size || table->size - at < 4)
    return FALSE;
  memcpy (value, table->data + at, 4);
  *value =
      table->big_endian ? GUINT32_FROM_BE (*value) : GUINT32_FROM_LE (*value);
  return TRUE;
}

static gboolean
read_word (const FlamGoTable *table, guint64 at, guint64 *value)
{
  guint32 half;

  if (table->word_size == 4)
    {
      if (!read_u32 (table, at, &half))
        return FALSE;
      *value = half;
      return TRUE;
    }
  if (at > table->size || table->size - at < 8)
    return FALSE;
  memcpy (value, table->data + at, 8);
  *value =
      table->big_endian ? GUINT64_FROM_BE (*value) : GUINT64_FROM_LE (*value);
  return TRUE;
}

static const char *
read_text (const FlamGoTable *table, guint64 at)
{
  if (at >= table->size ||
      memchr (table->data + at, '\0', MIN (table->size - at, TEXT_MAX)) == NULL)
    return NULL;
  return (const char *)table->data + at;
}

/* --- the header ----------------------------------------------------------- */

static gboolean
read_magic (FlamGoTable *table)
{
  static const struct
  {
    guint32 magic;
    Layout layout;
  } magics[] = {
    { 0xfffffffb, LAYOUT_1_2 },
    { 0xfffffffa, LAYOUT_1_16 },
    { 0xfffffff0, LAYOUT_1_18 },
    { 0xfffffff1, LAYOUT_1_20 },
  };
  guint32 magic;

  if (table->size < 16)
    return FALSE;
  table->quantum = table->data[6];
  table->word_size = table->data[7];
  if (table->data[4] != 0 || table->data[5] != 0 ||
      (table->quantum != 1 && table->quantum != 2 && table->quantum != 4) ||
      (table->word_size != 4 && table->word_size != 8))
    return FALSE;
  for (guint big = 0; big < 2; big++)
    {
      table->big_endian = big != 0;
      read_u32 (table, 0, &magic);
      for (guint i = 0; i < G_N_ELEMENTS (magics); i++)
        if (magic == magics[i].magic)
          {
            table->layout = magics[i].layout;
            return TRUE;
          }
    }
  return FALSE;
}

static guint
entry_size (const FlamGoTable *table)
{
  return table->layout >= LAYOUT_1_18 ? 4 : table->word_size;
}

static gboolean
read_header (FlamGoTable *table)
{
  guint64 *const parts[] = { &table->names,
                             &table->units,
                             &table->files,
                             &table->pc_tables,
                             &table->entries };
  guint first = table->layout >= LAYOUT_1_18 ? 3 : 2;
  guint32 files;

  if (!read_word (table, 8, &table->n_entries) ||
      table->n_entries >= table->size / (2 * entry_size (table)))
    return FALSE;
  if (table->layout > LAYOUT_1_2)
    {
      for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
        if (!read_word (table, 8 + (first + i) * table->word_size, parts[i]) ||
            *parts[i] >= table->size)
          return FALSE;
      table->records = table->entries;
      return TRUE;
    }
  /* Everything is relative to the header; the number of the files' table stands
   * behind the last entry. */
  table->entries = 8 + table->word_size;
  if (!read_u32 (table,
                 table->entries + (2 * table->n_entries + 1) * table->word_size,
                 &files))
    return FALSE;
  table->files = files;
  return TRUE;
}

/* --- where the text begins ------------------------------------------------ */

static gboolean
is_code (const FlamElf *elf, guint64 vaddr)
{
  guint n;
  const FlamElfSegment *segments = flam_elf_get_segments (elf, &n);

  for (guint i = 0; i < n; i++)
    if (segments[i].executable && vaddr >= segments[i].vaddr &&
        vaddr - segments[i].vaddr < segments[i].memory_size)
      return TRUE;
  return FALSE;
}

/* What the dynamic linker adds the load address to and writes to `vaddr`, in
 * programs that may be loaded anywhere; 0: nothing. */
static guint64
find_relocation (const FlamElf *elf, guint64 vaddr)
{
  Elf *handle = flam_elf_get_handle (elf);

  for (Elf_Scn *section = elf_nextscn (handle, NULL); section != NULL;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;
      Elf_Data *data;
      size_t n;

      if (!gelf_getshdr (section, &header) || header.sh_type != SHT_RELA ||
          !(header.sh_flags & SHF_ALLOC) ||
          (data = elf_getdata (section, NULL)) == NULL)
        continue;
      n = data->d_size / gelf_fsize (handle, ELF_T_RELA, 1, EV_CURRENT);
      for (size_t i = 0; i < n && i < G_MAXINT; i++)
        {
          GElf_Rela relocation;

          if (gelf_getrela (data, (int)i, &relocation) &&
              relocation.r_offset == vaddr)
            return (guint64)relocation.r_addend;
        }
    }
  return 0;
}

/* Programs that Go's own linker made start at "_rt0_", and their text is all of
 * .text. */
static gboolean
begins_at_start (FlamGoTable *table, guint64 text)
{
  GElf_Ehdr header;

  if (!gelf_getehdr (flam_elf_get_handle (table->elf), &header))
    return FALSE;
  for (guint64 i = 0; i < table->n_entries; i++)
    {
      guint64 at = table->entries + 8 * i;
      guint32 entry, record, name;
      const char *text_of_name;

      if (!read_u32 (table, at, &entry) || text + entry != header.e_entry)
        continue;
      if (!read_u32 (table, at + 4, &record) ||
          !read_u32 (table, table->records + record + 4, &name))
        return FALSE;
      text_of_name = read_text (table, table->names + name);
      return text_of_name != NULL && g_str_has_prefix (text_of_name, "_rt0_");
    }
  return FALSE;
}

/* The header has the address up to Go 1.25, but only as a relocation in
 * programs that may be loaded anywhere. */
static gboolean
find_text (FlamGoTable *table)
{
  guint64 at = 8 + 2 * (guint64)table->word_size;
  FlamElfSection section;

  if (table->layout < LAYOUT_1_18)
    return TRUE;
  if (!read_word (table, at, &table->text))
    return FALSE;
  if (table->text == 0)
    table->text = find_relocation (table->elf, table->vaddr + at);
  if (table->text != 0)
    return is_code (table->elf, table->text);
  if (!flam_elf_get_section (table->elf, ".text", &section) ||
      !begins_at_start (table, section.vaddr))
    return FALSE;
  table->text = section.vaddr;
  return TRUE;
}

/* --- functions ------------------------------------------------------------ */

static gboolean
read_entry (const FlamGoTable *table, guint64 i, guint64 *vaddr)
{
  guint64 at = table->entries + 2 * i * entry_size (table);
  guint32 offset;

  if (table->layout < LAYOUT_1_18)
    return read_word (table, at, vaddr);
  if (!read_u32 (table, at, &offset))
    return FALSE;
  *vaddr = table->text + offset;
  return TRUE;
}

static gboolean
read_record (const FlamGoTable *table, guint64 i, guint64 *record)
{
  guint64 at = table->entries + (2 * i + 1) * entry_size (table);
  guint32 offset;

  if (table->layout < LAYOUT_1_18)
    {
      if (!read_word (table, at, record) || *record >= table->size)
        return FALSE;
    }
  else
    {
      if (!read_u32 (table, at, &offset))
        return FALSE;
      *record = offset;
    }
  *record += table->records;
  return TRUE;
}

/* Field `i` behind the entry, all of 4 bytes. */
static gboolean
read_field (const FlamGoTable *table, guint64 record, guint i, guint32 *value)
{
  return read_u32 (table, record + entry_size (table) + 4 * (guint64)i, value);
}

enum
{
  FIELD_NAME = 0,
  FIELD_PC_FILES = 4,
  FIELD_PC_LINES = 5,
  FIELD_UNIT = 7,       /* from 1.16 on */
  FIELD_FIRST_LINE = 8, /* from 1.20 on */
};

static void
read_functions (FlamGoTable *table)
{
  guint32 limit = (guint32)MIN (table->n_entries, G_MAXINT32);

  table->functions = g_new (FlamGoFunction, MAX (limit, 1));
  table->record = g_new (guint64, MAX (limit, 1));
  for (guint32 i = 0; i < limit; i++)
    {
      FlamGoFunction *function = &table->functions[table->n];
      guint32 name;

      if (!read_entry (table, i, &function->start) ||
          !read_entry (table, i + 1, &function->end) ||
          !read_record (table, i, &table->record[table->n]) ||
          !read_field (table, table->record[table->n], FIELD_NAME, &name))
        return;
      function->name = read_text (table, table->names + name);
      if (function->name == NULL || *function->name == '\0' ||
          function->end <= function->start ||
          !is_code (table->elf, function->start) ||
          !is_code (table->elf, function->end - 1) ||
          (table->n > 0 && function->start < function[-1].end))
        continue;
      table->n++;
    }
}

/* --- creation ------------------------------------------------------------- */

static gboolean
open_at (FlamGoTable *table, const FlamElfSection *section, gsize offset)
{
  table->data = section->data + offset;
  table->size = section->size - offset;
  table->vaddr = section->vaddr + offset;
  return read_magic (table) && read_header (table) && find_text (table);
}

/* The C linker puts the table among other data of programs that may be loaded
 * anywhere. */
static gboolean
search (FlamGoTable *table, const FlamElfSection *section)
{
  for (gsize at = 0, tries = 0; at + 64 <= section->size && tries < TRIES_MAX;
       at += 8)
    {
      table->data = section->data + at;
      table->size = section->size - at;
      if (!read_magic (table))
        continue;
      if (open_at (table, section, at))
        return TRUE;
      tries++;
    }
  return FALSE;
}

FlamGoTable *
flam_go_table_new (const FlamElf *elf)
{
  g_autoptr (FlamGoTable) table = g_new0 (FlamGoTable, 1);
  FlamElfSection section;

  table->elf = elf;
  if ((flam_elf_get_section (elf, ".gopclntab", &section) ||
       flam_elf_get_section (elf, ".data.rel.ro.gopclntab", &section)) &&
      section.data != NULL)
    {
      if (!open_at (table, &section, 0))
        return NULL;
    }
  else if (!flam_elf_has_section (elf, ".note.go.buildid") ||
           !flam_elf_get_section (elf, ".data.rel.ro", &section) ||
           section.data == NULL || !search (table, &section))
    return NULL;
  read_functions (table);
  return table->n > 0 ? g_steal_pointer (&table) : NULL;
}

void
flam_go_table_free (FlamGoTable *table)
{
  if (table == NULL)
    return;
  g_free (table->functions);
  g_free (table->record);
  g_free (table);
}

const FlamGoFunction *
flam_go_table_get (const FlamGoTable *table, guint32 *n)
{
  *n = table->n;
  return table->functions;
}

/* --- lines ---------------------------------------------------------------- */

static gboolean
read_varint (const FlamGoTable *table, guint64 *at, guint32 *value)
{
  *value = 0;
  for (guint shift = 0; shift < 32; shift += 7)
    {
      guint8 byte;

      if (*at >= table->size)
        return FALSE;
      byte = table->data[(*at)++];
      *value |= (guint32)(byte & 0x7f) << shift;
      if (byte < 0x80)
        return TRUE;
    }
  return FALSE;
}

/* The value of a pc table `offset` bytes into the function. */
static gboolean
find_value (const FlamGoTable *table,
            guint32 pc_table,
            guint64 offset,
            guint32 *value)
{
  guint64 at = table->pc_tables + pc_table;
  guint64 first = at, reached = 0;

  *value = G_MAXUINT32; /* -1 */
  while (at - first < STEPS_MAX)
    {
      gboolean is_first = at == first;
      guint32 change, length;

      if (!read_varint (table, &at, &change) || (change == 0 && !is_first) ||
          !read_varint (table, &at, &length))
        return FALSE;
      *value += change & 1 ? ~(change >> 1) : change >> 1;
      reached += (guint64)length * table->quantum;
      if (offset < reached)
        return TRUE;
    }
  return FALSE;
}

static const char *
find_file (const FlamGoTable *table, guint64 record, guint64 offset)
{
  guint32 pc_table, number, unit, path;

  if (!read_field (table, record, FIELD_PC_FILES, &pc_table) || pc_table == 0 ||
      !find_value (table, pc_table, offset, &number))
    return NULL;
  if (table->layout == LAYOUT_1_2)
    return read_u32 (table, table->files + 4 * (guint64)number, &path)
               ? read_text (table, path)
               : NULL;
  if (!read_field (table, record, FIELD_UNIT, &unit) ||
      !read_u32 (table, table->units + 4 * ((guint64)unit + number), &path) ||
      path == G_MAXUINT32)
    return NULL;
  return read_text (table, table->files + path);
}

static int
compare_address (gconstpointer key, gconstpointer function)
{
  guint64 vaddr = *(const guint64 *)key;
  const FlamGoFunction *own = function;

  return vaddr < own->start ? -1 : vaddr >= own->end;
}

gboolean
flam_go_table_find_line (const FlamGoTable *table,
                         guint64 vaddr,
                         FlamGoLine *line)
{
  const FlamGoFunction *function = bsearch (&vaddr,
                                            table->functions,
                                            table->n,
                                            sizeof *table->functions,
                                            compare_address);
  guint64 record, offset;
  guint32 pc_table;

  *line = (FlamGoLine){ 0 };
  if (function == NULL)
    return FALSE;
  record = table->record[function - table->functions];
  offset = vaddr - function->start;
  line->file = find_file (table, record, offset);
  if (line->file == NULL || *line->file == '\0' ||
      !read_field (table, record, FIELD_PC_LINES, &pc_table) || pc_table == 0 ||
      !find_value (table, pc_table, offset, &line->line) || line->line == 0 ||
      line->line > G_MAXINT32)
    return FALSE;
  line->function_file = find_file (table, record, 0);
  if (table->layout == LAYOUT_1_20 &&
      (!read_field (table, record, FIELD_FIRST_LINE, &line->first_line) ||
       line->first_line > G_MAXINT32))
    line->first_line = 0;
  return TRUE;
}
