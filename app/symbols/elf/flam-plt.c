/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plt.h"

#include "flam-core-profile.h"

#include <string.h>

typedef struct
{
  const FlamElf *elf;
  GHashTable *slots; /* address of the GOT slot -> callee's name */
  FlamPltFunc func;
  gpointer data;
} Plt;

static void
free_slot (gpointer slot)
{
  g_slice_free (guint64, slot);
}

static const char *
relocation_name (Elf *handle,
                 Elf_Data *symbols,
                 guint strings,
                 const GElf_Rela *relocation)
{
  GElf_Sym symbol;
  const char *name;

  if (!gelf_getsym (symbols, GELF_R_SYM (relocation->r_info), &symbol))
    return NULL;
  name = elf_strptr (handle, strings, symbol.st_name);
  return name && *name ? name : NULL;
}

static void
add_slots (Plt *plt, Elf_Scn *section, const GElf_Shdr *header)
{
  Elf *handle = flam_elf_get_handle (plt->elf);
  Elf_Scn *symbol_section = elf_getscn (handle, header->sh_link);
  Elf_Data *data = elf_getdata (section, NULL);
  Elf_Data *symbols =
      symbol_section ? elf_getdata (symbol_section, NULL) : NULL;
  GElf_Shdr symbol_header;
  size_t n;

  if (!data || !symbols || !gelf_getshdr (symbol_section, &symbol_header))
    return;
  n = data->d_size / gelf_fsize (handle, ELF_T_RELA, 1, EV_CURRENT);
  for (size_t i = 0; i < n; i++)
    {
      GElf_Rela relocation;
      const char *name;
      guint64 *slot;

      if (!gelf_getrela (data, i, &relocation) ||
          GELF_R_SYM (relocation.r_info) == 0)
        continue;
      name =
          relocation_name (handle, symbols, symbol_header.sh_link, &relocation);
      if (!name)
        continue;
      slot = g_slice_new (guint64);
      *slot = relocation.r_offset;
      g_hash_table_insert (plt->slots, slot, (char *)name);
    }
}

static void
collect_slots (Plt *plt)
{
  Elf *handle = flam_elf_get_handle (plt->elf);

  for (Elf_Scn *section = elf_nextscn (handle, NULL); section;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;

      if (gelf_getshdr (section, &header) && header.sh_type == SHT_RELA &&
          (header.sh_flags & SHF_ALLOC))
        add_slots (plt, section, &header);
    }
}

static guint32
word_at (const guint8 *p)
{
  guint32 word;
  memcpy (&word, p, 4);
  return GUINT32_FROM_LE (word);
}

/* jmp *disp32(%rip), perhaps after endbr64 or a bnd prefix. */
static gboolean
x86_64_slot (const guint8 *stub, guint size, guint64 vaddr, guint64 *slot)
{
  for (guint i = 0; i + 6 <= size; i++)
    if (stub[i] == 0xff && stub[i + 1] == 0x25)
      {
        *slot = vaddr + i + 6 + (gint32)word_at (stub + i + 2);
        return TRUE;
      }
  return FALSE;
}

/* [bti c;] adrp x16, page; ldr x17, [x16, #offset] */
static gboolean
aarch64_slot (const guint8 *stub, guint size, guint64 vaddr, guint64 *slot)
{
  for (guint i = 0; i + 8 <= size; i += 4)
    {
      guint32 adrp = word_at (stub + i);
      guint32 ldr = word_at (stub + i + 4);
      gint64 page;

      if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
        continue;
      page = (gint64)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
      page = (gint64)((guint64)page << 43) >> 31;
      *slot =
          ((vaddr + i) & ~(guint64)4095) + page + ((ldr >> 10 & 0xfff) << 3);
      return TRUE;
    }
  return FALSE;
}

static void
name_stubs (Plt *plt, const char *section_name, guint size)
{
  gboolean arm = flam_elf_get_machine (plt->elf) == EM_AARCH64;
  FlamElfSection section;

  if (!flam_elf_get_section (plt->elf, section_name, &section) || !section.data)
    return;
  for (guint64 at = 0; at + size <= section.size; at += size)
    {
      const guint8 *stub = section.data + at;
      guint64 vaddr = section.vaddr + at;
      guint64 slot;
      const char *name;

      if (!(arm ? aarch64_slot (stub, size, vaddr, &slot)
                : x86_64_slot (stub, size, vaddr, &slot)))
        continue;
      name = g_hash_table_lookup (plt->slots, &slot);
      if (name)
        plt->func (plt->data, vaddr, size, name);
    }
}

static guint
plt_got_entry_size (const FlamElf *elf)
{
  FlamElfSection section;
  gboolean direct = flam_elf_get_section (elf, ".plt.got", &section) &&
                    section.data && section.size >= 2 &&
                    section.data[0] == 0xff && section.data[1] == 0x25;
  return direct ? 8 : 16;
}

void
flam_plt_foreach (const FlamElf *elf, FlamPltFunc func, gpointer data)
{
  guint16 machine = flam_elf_get_machine (elf);
  Plt plt = { .elf = elf, .func = func, .data = data };

  if (machine != EM_X86_64 && machine != EM_AARCH64)
    return;
  plt.slots =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, free_slot, NULL);
  collect_slots (&plt);
  name_stubs (&plt, ".plt.sec", 16);
  name_stubs (&plt, ".plt", 16);
  if (machine == EM_X86_64)
    name_stubs (&plt, ".plt.got", plt_got_entry_size (elf));
  g_hash_table_destroy (plt.slots);
}
