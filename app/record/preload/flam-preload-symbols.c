/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Symbols of a loaded library by name, without the loader and its lock:
 *
 *   image ──▶ program headers ──▶ dynamic section ──▶ DT_GNU_HASH
 *                                       └──▶ DT_SYMTAB ──▶ DT_STRTAB
 *
 *   DT_GNU_HASH: OFFSET SIZE WHAT
 *                     0    4 B, number of buckets
 *                     4    4 F, the first symbol that can be found
 *                     8    4 W, words of a filter
 *                    12    4 unused here
 *                    16   8W the filter
 *                     .   4B each bucket's first symbol, 0 none
 *                     .    . of each symbol from F on its hash; the lowest bit
 *                            is set in the last one of a bucket
 *
 * Sources: the ELF gABI, chapter 5; binutils' bfd/elflink.c for the hash table.
 * A packed program may contain any values in its headers: memory is read
 * through the kernel, so that an invalid address does no harm. */

#include "flam-preload.h"

#include <elf.h>
#include <string.h>

#define ENTRIES_MAX 1024 /* of headers and of the dynamic section */
#define BUCKET_MAX 4096

typedef struct
{
  uint64_t bias; /* address - bias = address in the file */
  uint64_t hash;
  uint64_t symbols;
  uint64_t names;
} Dynamic;

/* Entries are addresses once the loader has processed the library. */
static uint64_t
address_of (const Dynamic *dynamic, uint64_t image, uint64_t value)
{
  return value < image ? value + dynamic->bias : value;
}

static void
read_entries (Dynamic *dynamic, uint64_t image, uint64_t at)
{
  Elf64_Dyn entry;

  for (unsigned i = 0; i < ENTRIES_MAX; i++)
    {
      if (!preload_read (at + i * sizeof entry, &entry, sizeof entry) ||
          entry.d_tag == DT_NULL)
        return;
      if (entry.d_tag == DT_GNU_HASH)
        dynamic->hash = address_of (dynamic, image, entry.d_un.d_ptr);
      else if (entry.d_tag == DT_SYMTAB)
        dynamic->symbols = address_of (dynamic, image, entry.d_un.d_ptr);
      else if (entry.d_tag == DT_STRTAB)
        dynamic->names = address_of (dynamic, image, entry.d_un.d_ptr);
    }
}

static bool
find_dynamic (Dynamic *dynamic, uint64_t image)
{
  uint64_t section = 0;
  bool has_bias = false;
  Elf64_Ehdr header;
  Elf64_Phdr segment;

  *dynamic = (Dynamic){ 0 };
  if (!preload_read (image, &header, sizeof header) ||
      memcmp (header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    return false;
  for (unsigned i = 0; i < header.e_phnum && i < ENTRIES_MAX; i++)
    {
      if (!preload_read (image + header.e_phoff + i * sizeof segment,
                         &segment,
                         sizeof segment))
        return false;
      if (segment.p_type == PT_LOAD && !has_bias)
        {
          dynamic->bias = image - (segment.p_vaddr - segment.p_offset);
          has_bias = true;
        }
      if (segment.p_type == PT_DYNAMIC)
        section = segment.p_vaddr;
    }
  if (!has_bias || section == 0)
    return false;
  read_entries (dynamic, image, section + dynamic->bias);
  return dynamic->hash != 0 && dynamic->symbols != 0 && dynamic->names != 0;
}

static bool
is_called (const Dynamic *dynamic, uint32_t at, const char *name)
{
  char there[64];
  size_t size = strlen (name) + 1;

  return size <= sizeof there &&
         preload_read (dynamic->names + at, there, size) &&
         memcmp (there, name, size) == 0;
}

static uint64_t
find_in_bucket (const Dynamic *dynamic,
                const char *name,
                uint32_t wanted,
                uint32_t symbol,
                uint64_t hashes)
{
  for (unsigned i = 0; i < BUCKET_MAX; i++, symbol++)
    {
      Elf64_Sym entry;
      uint32_t hash;

      if (!preload_read (hashes + 4ull * symbol, &hash, sizeof hash))
        return 0;
      if ((hash | 1) == (wanted | 1) &&
          preload_read (dynamic->symbols + sizeof entry * (uint64_t)symbol,
                        &entry,
                        sizeof entry) &&
          entry.st_shndx != SHN_UNDEF &&
          is_called (dynamic, entry.st_name, name))
        return entry.st_value + dynamic->bias;
      if (hash & 1)
        return 0;
    }
  return 0;
}

uint64_t
preload_find_symbol (const PreloadModule *module, const char *name)
{
  uint32_t wanted = preload_name_hash (name);
  uint32_t head[4]; /* as above */
  uint32_t first;
  uint64_t buckets;
  Dynamic dynamic;

  if (module->image == 0 || !find_dynamic (&dynamic, module->image) ||
      !preload_read (dynamic.hash, head, sizeof head) || head[0] == 0)
    return 0;
  buckets = dynamic.hash + sizeof head + 8ull * head[2];
  if (!preload_read (
          buckets + 4ull * (wanted % head[0]), &first, sizeof first) ||
      first == 0 || first < head[1])
    return 0;
  return find_in_bucket (
      &dynamic, name, wanted, first, buckets + 4ull * head[0] - 4ull * head[1]);
}
