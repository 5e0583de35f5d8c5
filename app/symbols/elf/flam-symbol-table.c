/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-symbol-table.h"

#include "flam-minidebug.h"
#include "flam-plt.h"

#include <stdlib.h>
#include <string.h>

/* A candidate for the name at its address. */
typedef struct
{
  guint64 start;
  guint64 end; /* == start: no size */
  const char *name;
  guint64 bound; /* for one without a size; 0: none */
  guint32 order; /* in the file's table */
  gboolean weak;
  gboolean local;
} Candidate;

struct _FlamSymbolTable
{
  FlamElf *minidebug; /* or NULL */
  FlamGoTable *go;    /* or NULL */
  gboolean stripped;
  GStringChunk *plt_names;
  FlamSymbol *symbols;
  guint32 n;
  FlamIntervals map; /* -> row of symbols */
};

typedef struct
{
  GArray *candidates;
  GStringChunk *names;
} Collector;

static guint
leading_underscores (const char *name)
{
  return (guint)strspn (name, "_");
}

/* < 0: `a` is the better name. */
static int
compare_names (const Candidate *a, const Candidate *b)
{
  guint under_a, under_b;
  gsize length_a, length_b;

  if ((a->end > a->start) != (b->end > b->start))
    return a->end > a->start ? -1 : 1;
  if (a->weak != b->weak)
    return a->weak ? 1 : -1;
  if (a->local != b->local)
    return a->local ? 1 : -1;
  under_a = leading_underscores (a->name);
  under_b = leading_underscores (b->name);
  if (under_a != under_b)
    return under_a < under_b ? -1 : 1;
  length_a = strlen (a->name);
  length_b = strlen (b->name);
  if (length_a != length_b)
    return length_a > length_b ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

static int
compare_candidates (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a;
  const Candidate *y = b;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return compare_names (x, y);
}

/* Mapping symbols, with which compilers mark code and data on ARM and
 * RISC-V. */
static gboolean
is_mapping_symbol (const char *name)
{
  return name[0] == '$' && name[1] != '\0' && strchr ("adtx", name[1]) &&
         (name[2] == '\0' || name[2] == '.');
}

static gboolean
is_function (const GElf_Sym *symbol, gboolean executable)
{
  switch (GELF_ST_TYPE (symbol->st_info))
    {
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return TRUE;
    case STT_NOTYPE:
      return executable;
    default:
      return FALSE;
    }
}

/* The end of a function at `at` in `code`, if nothing else gives it: the first
 * return that is followed by padding up to the next multiple of 16. `address`
 * is that of the code's first byte. */
static guint64
find_code_end (const guint8 *code, gsize size, guint64 address, gsize at)
{
  static const guint8 return_near = 0xc3;
  static const guint8 padding[] = { 0x00, 0x0f, 0x2e, 0x66, 0x90, 0xcc };

  for (; at < size; at++)
    {
      const guint8 *found = memchr (code + at, return_near, size - at);

      if (found == NULL)
        break;
      at = (gsize)(found - code);
      if (at + 1 == size || (address + at + 1) % 16 == 0 ||
          memchr (padding, code[at + 1], sizeof padding) != NULL)
        return address + at + 1;
    }
  return address + size;
}

/* The bound of a symbol without a size if most functions have no symbol: in a
 * library without .symtab, its assembler code may span hundreds of functions up
 * to the next symbol. */
static guint64
find_bound (Elf *handle, const GElf_Sym *symbol, guint64 section_end)
{
  Elf_Scn *section = elf_getscn (handle, symbol->st_shndx);
  Elf_Data *data = section != NULL ? elf_rawdata (section, NULL) : NULL;
  GElf_Shdr header;

  if (data == NULL || data->d_buf == NULL || !gelf_getshdr (section, &header) ||
      symbol->st_value < header.sh_addr ||
      symbol->st_value - header.sh_addr >= data->d_size)
    return section_end;
  return find_code_end (data->d_buf,
                        data->d_size,
                        header.sh_addr,
                        symbol->st_value - header.sh_addr);
}

/* Section numbers -> the end of the section, and whether it contains code;
 * computed in one pass, so that symbols need no look-up in libelf. */
typedef struct
{
  GArray *ends; /* guint64; 0: no code */
} Sections;

static Sections
read_sections (Elf *handle)
{
  Sections sections = { g_array_new (FALSE, TRUE, sizeof (guint64)) };

  for (Elf_Scn *section = elf_nextscn (handle, NULL); section;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;
      size_t index = elf_ndxscn (section);

      if (index > G_MAXUINT16 || !gelf_getshdr (section, &header))
        continue;
      if (sections.ends->len <= index)
        g_array_set_size (sections.ends, index + 1);
      if (header.sh_flags & SHF_EXECINSTR)
        g_array_index (sections.ends, guint64, index) =
            header.sh_addr + header.sh_size;
    }
  return sections;
}

static void
add_symbols (Collector *collector, const FlamElf *elf, Elf_Scn *section)
{
  Elf *handle = flam_elf_get_handle (elf);
  Elf_Data *data = elf_getdata (section, NULL);
  guint64 thumb = flam_elf_get_machine (elf) == EM_ARM;
  gboolean bounded;
  Sections sections;
  GElf_Shdr header;
  size_t n;

  if (!data || !gelf_getshdr (section, &header))
    return;
  bounded = header.sh_type == SHT_DYNSYM &&
            (flam_elf_get_machine (elf) == EM_X86_64 ||
             flam_elf_get_machine (elf) == EM_386);
  sections = read_sections (handle);
  n = data->d_size / gelf_fsize (handle, ELF_T_SYM, 1, EV_CURRENT);
  for (size_t i = 1; i < n && i < G_MAXUINT32; i++)
    {
      GElf_Sym symbol;
      Candidate candidate;
      guint64 section_end;

      if (!gelf_getsym (data, i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_shndx == SHN_ABS || symbol.st_shndx == SHN_COMMON)
        continue;
      section_end =
          symbol.st_shndx < sections.ends->len
              ? g_array_index (sections.ends, guint64, symbol.st_shndx)
              : 0;
      if (!is_function (&symbol, section_end != 0))
        continue;
      candidate.name = elf_strptr (handle, header.sh_link, symbol.st_name);
      if (!candidate.name || !*candidate.name ||
          is_mapping_symbol (candidate.name))
        continue;
      candidate.start = symbol.st_value & ~thumb;
      candidate.end = candidate.start + symbol.st_size;
      if (candidate.end < candidate.start)
        candidate.end = candidate.start;
      candidate.bound = bounded && symbol.st_size == 0 && section_end != 0
                            ? find_bound (handle, &symbol, section_end)
                            : section_end;
      candidate.order = collector->candidates->len;
      candidate.weak = GELF_ST_BIND (symbol.st_info) == STB_WEAK;
      candidate.local = GELF_ST_BIND (symbol.st_info) == STB_LOCAL;
      g_array_append_val (collector->candidates, candidate);
    }
  g_array_free (sections.ends, TRUE);
}

static Elf_Scn *
find_table (const FlamElf *elf, guint32 type)
{
  Elf *handle = flam_elf_get_handle (elf);

  for (Elf_Scn *section = elf_nextscn (handle, NULL); section;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;

      if (gelf_getshdr (section, &header) && header.sh_type == type)
        return section;
    }
  return NULL;
}

static gboolean
add_table (Collector *collector, const FlamElf *elf, guint32 type)
{
  Elf_Scn *section = elf ? find_table (elf, type) : NULL;

  if (section)
    add_symbols (collector, elf, section);
  return section != NULL;
}

static void
add_stub (gpointer data, guint64 vaddr, guint64 size, const char *name)
{
  Collector *collector = data;
  g_autofree char *full = g_strconcat (name, "@plt", NULL);
  Candidate candidate = {
    .start = vaddr,
    .end = vaddr + size,
    .bound = vaddr + size,
    .order = collector->candidates->len,
    .name = g_string_chunk_insert_const (collector->names, full),
    .weak = TRUE,
    .local = TRUE,
  };

  g_array_append_val (collector->candidates, candidate);
}

static void
add_go_functions (Collector *collector, const FlamGoTable *go)
{
  guint32 n = 0;
  const FlamGoFunction *functions =
      go != NULL ? flam_go_table_get (go, &n) : NULL;

  for (guint32 i = 0; i < n; i++)
    {
      Candidate candidate = {
        .start = functions[i].start,
        .end = functions[i].end,
        .bound = functions[i].end,
        .order = collector->candidates->len,
        .name = functions[i].name,
        .local = TRUE,
      };

      g_array_append_val (collector->candidates, candidate);
    }
}

/* The first candidate of each address is its best one. A worse one that ends
 * later still names the addresses after the best one's end. */
static guint
choose (Candidate *candidates, guint n)
{
  guint out = 0;
  guint64 start = 0;
  guint64 reached = 0;

  for (guint i = 0; i < n; i++)
    {
      Candidate candidate = candidates[i];

      if (i == 0 || candidate.start != start)
        start = candidate.start;
      else if (candidate.end > reached)
        candidate.start = reached;
      else
        continue;
      reached = candidate.end;
      candidates[out++] = candidate;
    }
  return out;
}

static guint
give_sizes (Candidate *candidates, guint n)
{
  guint out = 0;
  guint64 covered = 0;

  for (guint i = 0; i < n; i++)
    {
      Candidate candidate = candidates[i];

      if (candidate.end == candidate.start)
        {
          guint64 end = candidate.bound;

          if (candidate.start < covered)
            continue;
          if (i + 1 < n && (candidates[i + 1].start < end || end == 0))
            end = candidates[i + 1].start;
          if (end <= candidate.start)
            continue;
          candidate.end = end;
        }
      else
        covered = MAX (covered, candidate.end);
      candidates[out++] = candidate;
    }
  return out;
}

static void
build (FlamSymbolTable *table, GArray *array)
{
  Candidate *candidates = (Candidate *)array->data;
  FlamInterval *ranges;

  if (array->len > 1)
    qsort (candidates, array->len, sizeof *candidates, compare_candidates);
  table->n = choose (candidates, array->len);
  if (table->n > 1)
    qsort (candidates, table->n, sizeof *candidates, compare_candidates);
  table->n = give_sizes (candidates, table->n);
  table->symbols = g_new (FlamSymbol, MAX (table->n, 1));
  ranges = g_new (FlamInterval, MAX (table->n, 1));
  for (guint32 i = 0; i < table->n; i++)
    {
      table->symbols[i].start = candidates[i].start;
      table->symbols[i].end = candidates[i].end;
      table->symbols[i].name = candidates[i].name;
      ranges[i].start = candidates[i].start;
      ranges[i].end = candidates[i].end;
      ranges[i].value = i;
    }
  flam_intervals_init (&table->map, ranges, table->n);
  g_free (ranges);
}

FlamSymbolTable *
flam_symbol_table_new (const FlamElf *elf, const FlamElf *debug)
{
  FlamSymbolTable *table = g_new0 (FlamSymbolTable, 1);
  Collector collector;

  table->plt_names = g_string_chunk_new (4096);
  collector.names = table->plt_names;
  collector.candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  if (!add_table (&collector, debug, SHT_SYMTAB) &&
      !add_table (&collector, elf, SHT_SYMTAB))
    {
      add_table (&collector, elf, SHT_DYNSYM);
      table->minidebug = flam_minidebug_open (elf);
      add_table (&collector, table->minidebug, SHT_SYMTAB);
      table->go = flam_go_table_new (elf);
      table->stripped = table->minidebug == NULL && table->go == NULL;
      add_go_functions (&collector, table->go);
    }
  flam_plt_foreach (elf, add_stub, &collector);
  build (table, collector.candidates);
  g_array_free (collector.candidates, TRUE);
  return table;
}

void
flam_symbol_table_free (FlamSymbolTable *table)
{
  if (!table)
    return;
  flam_intervals_clear (&table->map);
  g_string_chunk_free (table->plt_names);
  flam_elf_free (table->minidebug);
  flam_go_table_free (table->go);
  g_free (table->symbols);
  g_free (table);
}

const FlamSymbol *
flam_symbol_table_find (const FlamSymbolTable *table, guint64 vaddr)
{
  guint32 row = flam_intervals_find (&table->map, vaddr);
  return row == FLAM_NONE ? NULL : &table->symbols[row];
}

const FlamSymbol *
flam_symbol_table_get (const FlamSymbolTable *table, guint32 *n)
{
  *n = table->n;
  return table->symbols;
}

gboolean
flam_symbol_table_is_stripped (const FlamSymbolTable *table)
{
  return table->stripped;
}

const FlamGoTable *
flam_symbol_table_get_go (const FlamSymbolTable *table)
{
  return table->go;
}

static gboolean
foreach_in_table (const FlamElf *elf,
                  guint32 type,
                  FlamElfSymbolFunc func,
                  gpointer data)
{
  Elf *handle = flam_elf_get_handle (elf);
  Elf_Scn *section = find_table (elf, type);
  Elf_Data *table = section ? elf_getdata (section, NULL) : NULL;
  GElf_Shdr header;
  size_t n;

  if (!table || !gelf_getshdr (section, &header))
    return FALSE;
  n = table->d_size / gelf_fsize (handle, ELF_T_SYM, 1, EV_CURRENT);
  for (size_t i = 1; i < n && i < G_MAXINT; i++)
    {
      GElf_Sym symbol;
      const char *name;

      if (!gelf_getsym (table, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
        continue;
      name = elf_strptr (handle, header.sh_link, symbol.st_name);
      if (name && func (data, name, &symbol))
        return TRUE;
    }
  return FALSE;
}

gboolean
flam_elf_foreach_symbol (const FlamElf *elf,
                         FlamElfSymbolFunc func,
                         gpointer data)
{
  return foreach_in_table (elf, SHT_DYNSYM, func, data) ||
         foreach_in_table (elf, SHT_SYMTAB, func, data);
}

typedef struct
{
  const char *name;
  GElf_Sym symbol;
} Wanted;

static gboolean
take_wanted (gpointer data, const char *name, const GElf_Sym *symbol)
{
  Wanted *wanted = data;

  if (strcmp (name, wanted->name) != 0)
    return FALSE;
  wanted->symbol = *symbol;
  return TRUE;
}

gboolean
flam_elf_find_symbol (const FlamElf *elf,
                      const char *name,
                      guint64 *vaddr,
                      guint64 *size)
{
  Wanted wanted = { .name = name };

  if (!flam_elf_foreach_symbol (elf, take_wanted, &wanted))
    return FALSE;
  *vaddr = wanted.symbol.st_value;
  *size = wanted.symbol.st_size;
  return TRUE;
}
