/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-go-private.h"

/* Positions in the data of a program that look like the beginning of the
 * table. */
#define TRIES_MAX 16

/* --- the header ----------------------------------------------------------- */

static gboolean
read_magic (FlamGoTable *table)
{
  static const struct
  {
    guint32 magic;
    FlamGoLayout layout;
  } magics[] = {
    { 0xfffffffb, FLAM_GO_1_2 },
    { 0xfffffffa, FLAM_GO_1_16 },
    { 0xfffffff0, FLAM_GO_1_18 },
    { 0xfffffff1, FLAM_GO_1_20 },
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
      flam_go_read_u32 (table, 0, &magic);
      for (guint i = 0; i < G_N_ELEMENTS (magics); i++)
        if (magic == magics[i].magic)
          {
            table->layout = magics[i].layout;
            return TRUE;
          }
    }
  return FALSE;
}

static gboolean
read_header (FlamGoTable *table)
{
  guint64 *const parts[] = { &table->names,
                             &table->units,
                             &table->files,
                             &table->pc_tables,
                             &table->entries };
  guint first = table->layout >= FLAM_GO_1_18 ? 3 : 2;
  guint32 files;

  if (!flam_go_read_word (table, 8, &table->n_entries) ||
      table->n_entries >= table->size / (2 * flam_go_entry_size (table)))
    return FALSE;
  if (table->layout > FLAM_GO_1_2)
    {
      for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
        if (!flam_go_read_word (
                table, 8 + (first + i) * table->word_size, parts[i]) ||
            *parts[i] >= table->size)
          return FALSE;
      table->records = table->entries;
      return TRUE;
    }
  /* Everything is relative to the header; the number of the file table follows
   * the last entry. */
  table->entries = 8 + table->word_size;
  if (!flam_go_read_u32 (table,
                         table->entries +
                             (2 * table->n_entries + 1) * table->word_size,
                         &files))
    return FALSE;
  table->files = files;
  return TRUE;
}

/* --- start of the code ---------------------------------------------------- */

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

/* Programs linked by Go's own linker start at "_rt0_", and their text is all of
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

      if (!flam_go_read_u32 (table, at, &entry) ||
          text + entry != header.e_entry)
        continue;
      if (!flam_go_read_u32 (table, at + 4, &record) ||
          !flam_go_read_u32 (table, table->records + record + 4, &name))
        return FALSE;
      text_of_name = flam_go_read_text (table, table->names + name);
      return text_of_name != NULL && g_str_has_prefix (text_of_name, "_rt0_");
    }
  return FALSE;
}

/* The header contains the address up to Go 1.25, but only as a relocation in
 * position-independent programs. */
static gboolean
find_text (FlamGoTable *table)
{
  guint64 at = 8 + 2 * (guint64)table->word_size;
  FlamElfSection section;

  if (table->layout < FLAM_GO_1_18)
    return TRUE;
  if (!flam_go_read_word (table, at, &table->text))
    return FALSE;
  if (table->text == 0)
    table->text = flam_go_find_relocation (table->elf, table->vaddr + at);
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
  guint64 at = table->entries + 2 * i * flam_go_entry_size (table);
  guint32 offset;

  if (table->layout < FLAM_GO_1_18)
    return flam_go_read_word (table, at, vaddr);
  if (!flam_go_read_u32 (table, at, &offset))
    return FALSE;
  *vaddr = table->text + offset;
  return TRUE;
}

static gboolean
read_record (const FlamGoTable *table, guint64 i, guint64 *record)
{
  guint64 at = table->entries + (2 * i + 1) * flam_go_entry_size (table);
  guint32 offset;

  if (table->layout < FLAM_GO_1_18)
    {
      if (!flam_go_read_word (table, at, record) || *record >= table->size)
        return FALSE;
    }
  else
    {
      if (!flam_go_read_u32 (table, at, &offset))
        return FALSE;
      *record = offset;
    }
  *record += table->records;
  return TRUE;
}

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
          !flam_go_read_field (
              table, table->record[table->n], FLAM_GO_FIELD_NAME, &name))
        return;
      function->name = flam_go_read_text (table, table->names + name);
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

/* In position-independent programs, the C linker puts the table among other
 * data. */
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
  flam_go_find_calls (table);
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
