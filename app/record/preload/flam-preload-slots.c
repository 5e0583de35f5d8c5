/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In a running program, names are bound already. A module calls a function of
 * another one through a slot, which its loader has filled:
 *
 *     call malloc@plt ──▶ jmp *slot ──▶ malloc          as it was
 *                                  └──▶ the hook        while it is recorded
 *
 *   slot ◀── R_X86_64_JUMP_SLOT, GLOB_DAT or 64 in DT_JMPREL or DT_RELA
 *
 * A slot belongs to a function if it holds its address, or if it is bound at
 * the first call and still leads back into its own module; then its symbol's
 * name decides. So slots that a loader has not filled yet, in another thread,
 * are left alone, and so are those that the program has changed itself. At the
 * end, slots with a hook's address get that of the real function.
 *
 * Sources: the ELF gABI, chapter 5; the AMD64 psABI, sections 4.4 and 5.2.
 * dl_iterate_phdr() holds a lock that excludes unloading; it is not held while
 * constructors run. */

#include "flam-preload.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ull
#ifdef __aarch64__
#define SLOT_OF_CALLS R_AARCH64_JUMP_SLOT
#define SLOT_OF_DATA R_AARCH64_GLOB_DAT
#define SLOT_OF_POINTERS R_AARCH64_ABS64
#else
#define SLOT_OF_CALLS R_X86_64_JUMP_SLOT
#define SLOT_OF_DATA R_X86_64_GLOB_DAT
#define SLOT_OF_POINTERS R_X86_64_64
#endif

typedef struct
{
  bool hooks;
  uint64_t low; /* where the addresses to be replaced are */
  uint64_t high;
} Pass;

/* A module, as far as it is needed here. */
typedef struct
{
  const struct dl_phdr_info *info;
  uint64_t start;
  uint64_t end;
  uint64_t constant; /* read-only once it is loaded (PT_GNU_RELRO) */
  uint64_t constant_end;
  bool opened; /* it can be written now */
  const Elf64_Sym *symbols;
  const char *names;
} Module;

static const PreloadHook *table;
static atomic_flag setting = ATOMIC_FLAG_INIT;
static _Atomic bool expected;
static _Atomic bool in_use;

static void *
from_of (const PreloadHook *hook, bool hooks)
{
  return hooks ? *hook->real : hook->hook;
}

static void *
to_of (const PreloadHook *hook, bool hooks)
{
  return hooks ? hook->hook : *hook->real;
}

static const PreloadHook *
hook_by_address (const Pass *pass, uint64_t value)
{
  if (value < pass->low || value > pass->high)
    return NULL;
  for (const PreloadHook *hook = table; hook->name; hook++)
    if ((uint64_t)from_of (hook, pass->hooks) == value && *hook->real != NULL)
      return hook;
  return NULL;
}

static const PreloadHook *
hook_by_name (const char *name)
{
  for (const PreloadHook *hook = table; hook->name; hook++)
    if (*hook->real != NULL && strcmp (hook->name, name) == 0)
      return hook;
  return NULL;
}

static void
protect (const Module *module, int protection)
{
  syscall (SYS_mprotect,
           module->constant,
           module->constant_end - module->constant,
           (long)protection);
}

/* In one store: other threads are calling through it. */
static void
set_slot (Module *module, uint64_t *slot, void *value)
{
  uint64_t at = (uint64_t)slot;

  if (!module->opened && at >= module->constant && at < module->constant_end)
    {
      protect (module, PROT_READ | PROT_WRITE);
      module->opened = true;
    }
  __atomic_store_n (slot, (uint64_t)value, __ATOMIC_RELEASE);
}

static void
look_at_slot (const Pass *pass, Module *module, const Elf64_Rela *entry)
{
  uint64_t at = module->info->dlpi_addr + entry->r_offset;
  uint64_t *slot = (uint64_t *)at;
  unsigned type = ELF64_R_TYPE (entry->r_info);
  const Elf64_Sym *symbol = &module->symbols[ELF64_R_SYM (entry->r_info)];
  const PreloadHook *hook;
  uint64_t value;

  if ((type != SLOT_OF_CALLS && type != SLOT_OF_DATA &&
       type != SLOT_OF_POINTERS) ||
      ELF64_R_SYM (entry->r_info) == 0 || at % 8 != 0 || at < module->start ||
      at + 8 > module->end)
    return;
  value = __atomic_load_n (slot, __ATOMIC_RELAXED);
  hook = hook_by_address (pass, value);
  if (hook == NULL && pass->hooks && type == SLOT_OF_CALLS &&
      value >= module->start && value < module->end &&
      symbol->st_shndx == SHN_UNDEF)
    hook = hook_by_name (module->names + symbol->st_name);
  if (hook != NULL)
    set_slot (module, slot, to_of (hook, pass->hooks));
}

static void
look_at_table (const Pass *pass,
               Module *module,
               uint64_t address,
               uint64_t size)
{
  const Elf64_Rela *entries = (const Elf64_Rela *)address;

  for (uint64_t i = 0; address != 0 && i < size / sizeof *entries; i++)
    look_at_slot (pass, module, &entries[i]);
}

/* Entries are addresses once the loader has processed the module. */
static uint64_t
address_of (const Module *module, uint64_t value)
{
  return value < module->start ? value + module->info->dlpi_addr : value;
}

static void
look_at_dynamic (const Pass *pass, Module *module, const Elf64_Dyn *entry)
{
  uint64_t rela = 0, rela_size = 0, calls = 0, calls_size = 0;
  bool is_rela = true;

  for (; entry->d_tag != DT_NULL; entry++)
    switch (entry->d_tag)
      {
      case DT_SYMTAB:
        module->symbols =
            (const Elf64_Sym *)address_of (module, entry->d_un.d_ptr);
        break;
      case DT_STRTAB:
        module->names = (const char *)address_of (module, entry->d_un.d_ptr);
        break;
      case DT_RELA:
        rela = address_of (module, entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        rela_size = entry->d_un.d_val;
        break;
      case DT_JMPREL:
        calls = address_of (module, entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        calls_size = entry->d_un.d_val;
        break;
      case DT_PLTREL:
        is_rela = entry->d_un.d_val == DT_RELA;
        break;
      default:
        break;
      }
  if (module->symbols == NULL || module->names == NULL)
    return;
  look_at_table (pass, module, rela, rela_size);
  if (is_rela)
    look_at_table (pass, module, calls, calls_size);
}

/* The dynamic section; NULL: none, or it is this library. */
static const Elf64_Dyn *
read_segments (Module *module, const struct dl_phdr_info *info)
{
  const Elf64_Dyn *dynamic = NULL;
  uint64_t own = (uint64_t)preload_slots_set;

  *module = (Module){ .info = info, .start = UINT64_MAX };
  for (unsigned i = 0; i < info->dlpi_phnum; i++)
    {
      const Elf64_Phdr *segment = &info->dlpi_phdr[i];
      uint64_t start = info->dlpi_addr + segment->p_vaddr;
      uint64_t end = start + segment->p_memsz;

      if (segment->p_type == PT_LOAD)
        {
          module->start = start < module->start ? start : module->start;
          module->end = end > module->end ? end : module->end;
        }
      else if (segment->p_type == PT_DYNAMIC)
        dynamic = (const Elf64_Dyn *)start;
      else if (segment->p_type == PT_GNU_RELRO)
        {
          module->constant = start & ~(PAGE - 1);
          module->constant_end = end & ~(PAGE - 1);
        }
    }
  return own >= module->start && own < module->end ? NULL : dynamic;
}

static int
look_at_module (struct dl_phdr_info *info, size_t size, void *data)
{
  Module module;
  const Elf64_Dyn *dynamic = read_segments (&module, info);

  (void)size;
  if (dynamic != NULL)
    look_at_dynamic (data, &module, dynamic);
  if (module.opened)
    protect (&module, PROT_READ);
  return 0;
}

void
preload_slots_set (const PreloadHook *all, bool hooks)
{
  Pass pass = { .hooks = hooks, .low = UINT64_MAX };

  while (atomic_flag_test_and_set (&setting))
    preload_pause ();
  table = all;
  atomic_store (&in_use, hooks);
  atomic_store (&expected, false);
  for (const PreloadHook *hook = table; hook->name; hook++)
    {
      uint64_t from = (uint64_t)from_of (hook, hooks);

      if (*hook->real == NULL)
        continue;
      pass.low = from < pass.low ? from : pass.low;
      pass.high = from > pass.high ? from : pass.high;
    }
  dl_iterate_phdr (look_at_module, &pass);
  atomic_flag_clear (&setting);
}

void
preload_slots_expect (void)
{
  atomic_store (&expected, true);
}

/* Another thread that is doing the same, or ends the recording, has priority:
 * no hook waits. */
void
preload_slots_refresh (void)
{
  Pass pass = { .hooks = true, .low = 1, .high = UINT64_MAX };

  if (!atomic_load_explicit (&expected, memory_order_relaxed) ||
      !atomic_load (&in_use) || atomic_flag_test_and_set (&setting))
    return;
  if (atomic_load (&in_use))
    {
      atomic_store (&expected, false);
      dl_iterate_phdr (look_at_module, &pass);
    }
  atomic_flag_clear (&setting);
}

typedef struct
{
  const char *name;
  uint64_t found;
} Search;

/* By the hash table, which flam-preload-symbols.c explains; without a system
 * call, since each of them would stop here for the recorder. */
static const Elf64_Sym *
find_symbol (const Module *module, const uint32_t *head, const char *name)
{
  uint32_t wanted = preload_name_hash (name);
  const uint32_t *buckets = head + 4 + 2 * (uint64_t)head[2];
  const uint32_t *hashes = buckets + head[0];
  uint32_t i = head[0] > 0 ? buckets[wanted % head[0]] : 0;

  for (; i >= head[1] && i > 0; i++)
    {
      const Elf64_Sym *symbol = &module->symbols[i];
      uint32_t hash = hashes[i - head[1]];

      if ((hash | 1) == (wanted | 1) && symbol->st_shndx != SHN_UNDEF &&
          strcmp (module->names + symbol->st_name, name) == 0)
        return symbol;
      if (hash & 1)
        break;
    }
  return NULL;
}

static int
find_in_module (struct dl_phdr_info *info, size_t size, void *data)
{
  const Elf64_Dyn *entry = NULL;
  const uint32_t *hashes = NULL;
  const Elf64_Sym *symbol = NULL;
  Search *search = data;
  Module module;

  (void)size;
  entry = read_segments (&module, info);
  for (; entry != NULL && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_SYMTAB)
      module.symbols =
          (const Elf64_Sym *)address_of (&module, entry->d_un.d_ptr);
    else if (entry->d_tag == DT_STRTAB)
      module.names = (const char *)address_of (&module, entry->d_un.d_ptr);
    else if (entry->d_tag == DT_GNU_HASH)
      hashes = (const uint32_t *)address_of (&module, entry->d_un.d_ptr);
  if (hashes != NULL && module.symbols != NULL && module.names != NULL)
    symbol = find_symbol (&module, hashes, search->name);
  if (symbol != NULL)
    search->found = info->dlpi_addr + symbol->st_value;
  return symbol != NULL;
}

void *
preload_slots_find (const char *name)
{
  Search search = { .name = name };

  dl_iterate_phdr (find_in_module, &search);
  return (void *)search.found;
}

static int
find_program (struct dl_phdr_info *info, size_t size, void *data)
{
  uint64_t base = *(const uint64_t *)data;

  (void)size;
  if ((uint64_t)info->dlpi_phdr != getauxval (AT_PHDR))
    return 0;
  for (unsigned i = 0; i < info->dlpi_phnum; i++)
    {
      const Elf64_Phdr *segment = &info->dlpi_phdr[i];
      uint64_t start = info->dlpi_addr + segment->p_vaddr;

      if (segment->p_type == PT_LOAD && base >= (start & ~(PAGE - 1)) &&
          base < start + segment->p_memsz)
        return 1;
    }
  return 0;
}

bool
preload_is_in_program (uint64_t base)
{
  return dl_iterate_phdr (find_program, &base) != 0;
}
