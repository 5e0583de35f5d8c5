/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-thread-data.h"

#include <string.h>

#include "flam-code-ranges.h"
#include "flam-symbol-table.h"

#define DTV_AT 8
#define DTV_ENTRY_SIZE 16
#define MODULES_MAX 4096

#define VALUES_AT 0x310
#define TABLES_AT 0x510
#define TABLE_SIZE 32
#define TABLES 32
#define VALUE_SIZE 16

#define GETTER_MAX 64

/* In a program's own file the variable's distance from the thread pointer is
 * fixed: the block ends there. The C library can be started, too, but has a
 * name for others to load it by. */
static gboolean
find_fixed (const FlamElf *elf, guint64 value, FlamThreadVariable *variable)
{
  Elf *handle = flam_elf_get_handle (elf);
  GElf_Phdr header, block = { 0 };
  gboolean program = FALSE;
  size_t n;

  if (elf_getphdrnum (handle, &n) != 0)
    return FALSE;
  for (size_t i = 0; i < n && i < G_MAXINT; i++)
    if (gelf_getphdr (handle, (int)i, &header))
      {
        program = program || header.p_type == PT_INTERP;
        if (header.p_type == PT_TLS)
          block = header;
      }
  if (!program || flam_elf_get_soname (elf)[0] != '\0' ||
      block.p_type != PT_TLS || value >= block.p_memsz ||
      block.p_memsz > G_MAXINT32 || block.p_align > 4096)
    return FALSE;
  variable->kind = FLAM_THREAD_VARIABLE_FIXED;
  variable->offset =
      (gint64)value - (gint64)((block.p_memsz + block.p_align - 1) /
                               MAX (block.p_align, 1) * MAX (block.p_align, 1));
  return TRUE;
}

/* `value` is the offset of the variable in the block of its module. */
static gboolean
use_relocation (const GElf_Rela *rela,
                guint64 value,
                FlamThreadVariable *variable)
{
  variable->slot = rela->r_offset;
  switch (GELF_R_TYPE (rela->r_info))
    {
    case R_X86_64_DTPMOD64:
      variable->kind = FLAM_THREAD_VARIABLE_MODULE;
      variable->offset = (gint64)value;
      return TRUE;
    case R_X86_64_TPOFF64:
      variable->kind = FLAM_THREAD_VARIABLE_OFFSET;
      variable->offset = 0;
      return TRUE;
    case R_X86_64_TLSDESC: /* the argument of its function */
      variable->kind = FLAM_THREAD_VARIABLE_OFFSET;
      variable->slot += 8;
      variable->offset = 0;
      return TRUE;
    default:
      return FALSE;
    }
}

/* The name of a relocation's symbol. */
static const char *
symbol_of (Elf *handle,
           const GElf_Shdr *relocations,
           const GElf_Rela *rela,
           GElf_Sym *symbol)
{
  Elf_Scn *section = elf_getscn (handle, relocations->sh_link);
  Elf_Data *data = section ? elf_getdata (section, NULL) : NULL;
  guint64 index = GELF_R_SYM (rela->r_info);
  GElf_Shdr header;

  if (data == NULL || index == 0 || index > G_MAXINT ||
      !gelf_getshdr (section, &header) ||
      !gelf_getsym (data, (int)index, symbol))
    return NULL;
  return elf_strptr (handle, header.sh_link, symbol->st_name);
}

/* Whether a relocation is for the variable; the offset alone identifies one
 * that is not exported. */
static gboolean
is_for (Elf *handle,
        const GElf_Shdr *relocations,
        const GElf_Rela *rela,
        const char *name,
        guint64 value)
{
  GElf_Sym symbol;
  const char *own;

  if (GELF_R_SYM (rela->r_info) == 0)
    return GELF_R_TYPE (rela->r_info) == R_X86_64_DTPMOD64 ||
           (guint64)rela->r_addend == value;
  own = symbol_of (handle, relocations, rela, &symbol);
  return own != NULL && strcmp (own, name) == 0;
}

static gboolean
find_by_relocation (const FlamElf *elf,
                    const char *name,
                    guint64 value,
                    FlamThreadVariable *variable)
{
  Elf *handle = flam_elf_get_handle (elf);

  for (Elf_Scn *section = elf_nextscn (handle, NULL); section != NULL;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;
      Elf_Data *data;
      GElf_Rela rela;

      if (!gelf_getshdr (section, &header) || header.sh_type != SHT_RELA ||
          !(header.sh_flags & SHF_ALLOC) ||
          (data = elf_getdata (section, NULL)) == NULL)
        continue;
      for (int i = 0; gelf_getrela (data, i, &rela); i++)
        {
          guint64 type = GELF_R_TYPE (rela.r_info);

          if ((type == R_X86_64_DTPMOD64 || type == R_X86_64_TPOFF64 ||
               type == R_X86_64_TLSDESC) &&
              is_for (handle, &header, &rela, name, value))
            return use_relocation (&rela, value, variable);
        }
    }
  return FALSE;
}

/* The offset in the module's block, which the code contains: it follows the
 * call of __tls_get_addr() at `at`. */
static gboolean
read_local_offset (const guint8 *code, gsize n, gsize at, gint64 *offset)
{
  gint32 x;

  at += at < n && code[at] == 0xe8 ? 5 : 6; /* call x; call *x(%rip) */
  if (at + 7 > n || code[at] != 0x48 || code[at + 1] != 0x8b)
    return FALSE;
  memcpy (&x, code + at + 3, sizeof x);
  switch (code[at + 2])
    {
    case 0x00: /* mov (%rax), %rax */
      *offset = 0;
      return TRUE;
    case 0x40: /* mov x(%rax), %rax */
      *offset = (gint8)code[at + 3];
      return TRUE;
    case 0x80:
      *offset = x;
      return TRUE;
    default:
      return FALSE;
    }
}

/* The ways in which a function loads a variable of its own library:
 *
 *   66 48 8d 3d x   lea x(%rip), %rdi; call __tls_get_addr
 *                   two words: the number of the module, the offset
 *   48 8d 3d x      the same for a variable that is not exported: the offset is
 *                   in the next instruction
 *   48 8d 05 x      lea x(%rip), %rax; call *(%rax): a TLS descriptor
 *   48 8b 05 x      mov x(%rip), %rax; mov %fs:(%rax), %rax: the offset
 *   64 48 8b 04 25 x   mov %fs:x, %rax */
static gboolean
find_by_getter (const FlamElf *elf,
                const char *getter,
                FlamThreadVariable *variable)
{
  guint64 vaddr, size;
  const guint8 *code, *slot;
  gsize n, n_slot;
  gint32 x;

  if (!flam_elf_find_symbol (elf, getter, &vaddr, &size) ||
      (code = flam_elf_bytes (elf, vaddr, &n)) == NULL)
    return FALSE;
  n = MIN (MIN (n, size), GETTER_MAX);
  for (gsize i = 0; i + 9 <= n; i++)
    {
      memcpy (&x, code + i + 3, sizeof x);
      variable->slot = vaddr + i + 7 + (guint64)(gint64)x;
      variable->offset = 0;
      if (memcmp (code + i, "\x48\x8d\x3d", 3) == 0)
        {
          variable->kind = FLAM_THREAD_VARIABLE_MODULE;
          if (i == 0 || code[i - 1] != 0x66)
            return read_local_offset (code, n, i + 7, &variable->offset);
          slot = flam_elf_bytes (elf, variable->slot + 8, &n_slot);
          if (slot == NULL || n_slot < 8)
            return FALSE;
          memcpy (&variable->offset, slot, 8);
          return TRUE;
        }
      if (memcmp (code + i, "\x48\x8d\x05", 3) == 0)
        {
          variable->kind = FLAM_THREAD_VARIABLE_OFFSET;
          variable->slot += 8;
          return TRUE;
        }
      if (memcmp (code + i, "\x48\x8b\x05", 3) == 0)
        {
          variable->kind = FLAM_THREAD_VARIABLE_OFFSET;
          return TRUE;
        }
      if (memcmp (code + i, "\x64\x48\x8b\x04\x25", 5) == 0)
        {
          memcpy (&x, code + i + 5, sizeof x);
          variable->kind = FLAM_THREAD_VARIABLE_FIXED;
          variable->offset = x;
          return TRUE;
        }
    }
  return FALSE;
}

gboolean
flam_thread_variable_find (const FlamElf *elf,
                           const char *name,
                           const char *getter,
                           FlamThreadVariable *variable)
{
  guint64 value, size;

  *variable = (FlamThreadVariable){ 0 };
  if (flam_elf_find_symbol (elf, name, &value, &size)
          ? find_fixed (elf, value, variable) ||
                find_by_relocation (elf, name, value, variable)
          : getter != NULL && find_by_getter (elf, getter, variable))
    return TRUE;
  *variable = (FlamThreadVariable){ 0 };
  return FALSE;
}

gboolean
flam_thread_variable_local (const FlamElf *elf,
                            guint64 offset,
                            FlamThreadVariable *variable)
{
  *variable = (FlamThreadVariable){ 0 };
  return find_by_relocation (elf, "", offset, variable);
}

bool
flam_thread_variable_address (const FlamThreadVariable *variable,
                              const FlamRuntimeMemory *memory,
                              uint64_t base,
                              uint64_t fs_base,
                              uint64_t *address)
{
  uint64_t word, dtv, block;

  if (fs_base == 0 || variable->kind == FLAM_THREAD_VARIABLE_NONE)
    return false;
  *address = fs_base + (uint64_t)variable->offset;
  if (variable->kind == FLAM_THREAD_VARIABLE_FIXED)
    return true;
  if (!flam_runtime_read_u64 (memory, base + variable->slot, &word))
    return false;
  *address += word;
  if (variable->kind == FLAM_THREAD_VARIABLE_OFFSET)
    return true;
  /* All bits are set in the block of a module that the thread has not used. */
  if (word == 0 || word > MODULES_MAX ||
      !flam_runtime_read_u64 (memory, fs_base + DTV_AT, &dtv) ||
      !flam_runtime_read_u64 (memory, dtv + DTV_ENTRY_SIZE * word, &block) ||
      block == 0 || block == UINT64_MAX)
    return false;
  *address = block + (uint64_t)variable->offset;
  return true;
}

bool
flam_thread_value (const FlamRuntimeMemory *memory,
                   uint64_t fs_base,
                   uint32_t key,
                   uint64_t *value)
{
  uint64_t table = fs_base + VALUES_AT;

  if (fs_base == 0 || key >= TABLES * TABLE_SIZE)
    return false;
  if (key >= TABLE_SIZE &&
      (!flam_runtime_read_u64 (
           memory, fs_base + TABLES_AT + 8 * (key / TABLE_SIZE), &table) ||
       table == 0))
    return false;
  return flam_runtime_read_u64 (
      memory, table + VALUE_SIZE * (key % TABLE_SIZE) + 8, value);
}
