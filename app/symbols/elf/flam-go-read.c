/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Numbers, texts and pc tables of Go's table of functions. */

#include "flam-go-private.h"

#include <string.h>

/* Maximum size of a pc table in bytes; a longer one is damaged. */
#define STEPS_MAX ((gsize)256 << 10)
#define TEXT_MAX ((gsize)64 << 10)

gboolean
flam_go_read_u32 (const FlamGoTable *table, guint64 at, guint32 *value)
{
  if (at > table->size || table->size - at < 4)
    return FALSE;
  memcpy (value, table->data + at, 4);
  *value =
      table->big_endian ? GUINT32_FROM_BE (*value) : GUINT32_FROM_LE (*value);
  return TRUE;
}

gboolean
flam_go_read_word (const FlamGoTable *table, guint64 at, guint64 *value)
{
  guint32 half;

  if (table->word_size == 4)
    {
      if (!flam_go_read_u32 (table, at, &half))
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

const char *
flam_go_read_text (const FlamGoTable *table, guint64 at)
{
  if (at >= table->size ||
      memchr (table->data + at, '\0', MIN (table->size - at, TEXT_MAX)) == NULL)
    return NULL;
  return (const char *)table->data + at;
}

guint
flam_go_entry_size (const FlamGoTable *table)
{
  return table->layout >= FLAM_GO_1_18 ? 4 : table->word_size;
}

gboolean
flam_go_read_field (const FlamGoTable *table,
                    guint64 record,
                    guint field,
                    guint32 *value)
{
  return flam_go_read_u32 (
      table, record + flam_go_entry_size (table) + 4 * (guint64)field, value);
}

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

gboolean
flam_go_find_value (const FlamGoTable *table,
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

gboolean
flam_go_seek_relocation (const FlamElf *elf,
                         FlamGoRelocationTest test,
                         gpointer user_data,
                         GElf_Rela *found)
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
        if (gelf_getrela (data, (int)i, found) && test (found, user_data))
          return TRUE;
    }
  return FALSE;
}

static gboolean
is_at (const GElf_Rela *relocation, gpointer vaddr)
{
  return relocation->r_offset == *(const guint64 *)vaddr;
}

guint64
flam_go_find_relocation (const FlamElf *elf, guint64 vaddr)
{
  GElf_Rela found;

  return flam_go_seek_relocation (elf, is_at, &vaddr, &found)
             ? (guint64)found.r_addend
             : 0;
}
