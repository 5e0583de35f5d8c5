/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dotnet.h"

#include <elf.h>
#include <string.h>

#include "flam-dotnet-debug.h"
#include "flam-dotnet-image.h"
#include "flam-dotnet-pdb.h"
#include "flam-symbol-table.h"

/* --- the file ------------------------------------------------------------ */

/* The version that the file has for `what` and the like: "9.0.124.61010"; that
 * of .NET Core 3.1 is 4.700. */
static guint32
read_version (const FlamElf *elf, FlamRuntimeFile *file)
{
  static const char *const sections[] = { ".rodata", ".data" };
  static const char mark[] = "@(#)Version ";

  for (guint i = 0; i < G_N_ELEMENTS (sections); i++)
    {
      FlamElfSection section;
      const char *at = NULL;
      char text[24] = "";
      guint64 left, major;
      char *end;

      if (!flam_elf_get_section (elf, sections[i], &section) ||
          section.data == NULL)
        continue;
      at = memmem (section.data, section.size, mark, strlen (mark));
      if (at == NULL)
        continue;
      at += strlen (mark);
      left = section.size - (guint64)((const guint8 *)at - section.data);
      memcpy (text, at, MIN (left, sizeof text - 1));
      text[strspn (text, "0123456789.")] = '\0';
      major = g_ascii_strtoull (text, &end, 10);
      if (major == 4 && g_str_has_prefix (end, ".700."))
        {
          g_strlcpy (file->version, "3.1", sizeof file->version);
          return 3;
        }
      g_strlcpy (file->version, text, sizeof file->version);
      return major < 100 ? (guint32)major : 0;
    }
  return 0;
}

static void
refuse (FlamRuntimeFile *file, const char *why)
{
  file->why = why;
  file->help = N_ ("start the program with DOTNET_PerfMapEnabled=1");
}

gboolean
flam_dotnet_find (const FlamElf *elf,
                  int fd,
                  const char *path,
                  FlamRuntimeFile *file)
{
  g_autofree char *base = g_path_get_basename (path);
  gboolean library = strcmp (base, "libcoreclr.so") == 0;
  FlamDotnetFile facts = { 0 };
  FlamDotnetLayout layout;
  guint64 size, info;

  (void)fd;
  /* A program that is a single file exports functions with versions. */
  if (!library &&
      (!flam_elf_has_section (elf, ".interp") ||
       !flam_elf_has_section (elf, ".gnu.version_d") ||
       !flam_elf_find_symbol (elf, "DotNetRuntimeInfo", &info, &size)))
    return FALSE;
  file->variable = "DOTNET_PerfMapEnabled=1";
  facts.version = read_version (elf, file);
  if (flam_elf_get_machine (elf) != EM_X86_64 ||
      !flam_dotnet_layout_init (&layout, facts.version))
    refuse (file, N_ ("this version of .NET is not known"));
  else if (!flam_elf_find_symbol (elf, "g_dacTable", &facts.table, &size) ||
           (!flam_elf_find_symbol (elf,
                                   "DotNetRuntimeContractDescriptor",
                                   &facts.descriptor,
                                   &size) &&
            facts.version >= 10))
    refuse (file, N_ ("it does not have the table that leads to its code"));
  else
    file->facts = g_memdup2 (&facts, sizeof facts);
  return TRUE;
}

/* --- the process --------------------------------------------------------- */

#define RANGES_MAX 16384
#define LEVELS 5
#define LEVEL_ENTRIES 256
#define LEVEL_TABLES_MAX 4096 /* of all levels */
#define FRAGMENTS_MAX 64      /* of one entry */
#define SEARCH_SHARE 20       /* 1/20 of the time for searches of ranges */
#define IMAGE_TRIES 3
#define HEADERS_MAX 4096 /* unwind information of one method: its handlers */
#define MAP_WORDS 64     /* read at once: code of 16 KiB */
#define CODE_MAX (64u << 20)
#define STUB_MAX 0x100u /* kinds of stubs, in place of a header */

/* RangeSection::flags */
#define IN_HEAP 2u
#define STUBS 4u /* where ranges are a tree */

typedef enum
{
  RANGE_HEAP,
  RANGE_IMAGE,
  RANGE_STUBS,
} RangeKind;

typedef struct
{
  guint64 begin;
  guint64 end;
  RangeKind kind;
  guint64 base; /* of the map's addresses */
  guint64 map;
  guint64 module; /* of an image */
} Range;

typedef struct
{
  FlamDotnetImage *image; /* NULL: not found */
  guint tries;
} Image;

typedef struct
{
  FlamDotnetPdb *pdb; /* NULL: none */
} Lines;

struct _FlamDotnet
{
  FlamDotnetLayout layout;
  guint64 ranges_at;
  GArray *ranges;      /* Range, ascending */
  gint64 searched;     /* when the last search ended */
  gint64 cost;         /* and its duration */
  GHashTable *modules; /* address of the Module ─▶ Image */
  GHashTable *bases;   /* address of an image ─▶ Image */
  GHashTable *lines;   /* the same ─▶ Lines */
  FlamDotnetOpenPdb open_pdb;
  gpointer open_data;
};

static void
free_image (gpointer data)
{
  Image *image = data;

  if (image->image != NULL)
    flam_dotnet_image_free (image->image);
  g_free (image);
}

static void
free_lines (gpointer data)
{
  Lines *lines = data;

  if (lines->pdb != NULL)
    flam_dotnet_pdb_free (lines->pdb);
  g_free (lines);
}

static gboolean
describe (FlamDotnet *dotnet, const FlamRuntimeMemory *memory, guint64 address)
{
  guint8 head[24];
  g_autofree char *json = NULL;
  guint32 size;

  if (!flam_runtime_read (memory, address, head, sizeof head) ||
      memcmp (head, "DNCCDAC", 8) != 0)
    return FALSE;
  size = flam_runtime_u32 (head, 12);
  if (size > FLAM_DOTNET_DESCRIPTOR_MAX)
    return FALSE;
  json = g_malloc (size + 1);
  return flam_runtime_read (memory, flam_runtime_u64 (head, 16), json, size) &&
         flam_dotnet_layout_describe (&dotnet->layout, json, size);
}

FlamDotnetOpened
flam_dotnet_open (const FlamDotnetFile *file,
                  const FlamRuntimeMemory *memory,
                  guint64 base,
                  FlamDotnet **made)
{
  FlamDotnet *dotnet = g_new0 (FlamDotnet, 1);
  guint32 offset = 0;
  gboolean known = flam_dotnet_layout_init (&dotnet->layout, file->version);

  dotnet->ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  dotnet->modules =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_image);
  dotnet->bases =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_image);
  dotnet->lines =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_lines);
  if (dotnet->layout.offsets &&
      flam_runtime_read_u32 (memory, base + file->table, &offset))
    dotnet->ranges_at = offset == 0 ? 0 : base + offset;
  else if (!dotnet->layout.offsets)
    flam_runtime_read_u64 (memory, base + file->table, &dotnet->ranges_at);
  *made = dotnet;
  /* The descriptor is there from the beginning, the table later. */
  if (known &&
      (file->descriptor == 0 || dotnet->layout.version < 9 ||
       describe (dotnet, memory, base + file->descriptor)) &&
      dotnet->ranges_at != 0)
    return FLAM_DOTNET_READY;
  known = known && dotnet->ranges_at == 0;
  flam_dotnet_free (dotnet);
  *made = NULL;
  return known ? FLAM_DOTNET_EARLY : FLAM_DOTNET_UNREADABLE;
}

void
flam_dotnet_free (FlamDotnet *dotnet)
{
  g_array_unref (dotnet->ranges);
  g_hash_table_unref (dotnet->modules);
  g_hash_table_unref (dotnet->bases);
  g_hash_table_unref (dotnet->lines);
  g_free (dotnet);
}

void
flam_dotnet_set_open_pdb (FlamDotnet *dotnet,
                          FlamDotnetOpenPdb open,
                          gpointer data)
{
  dotnet->open_pdb = open;
  dotnet->open_data = data;
}

/* --- ranges -------------------------------------------------------------- */

static void
add_range (FlamDotnet *dotnet, const FlamRuntimeMemory *memory, guint64 address)
{
  const FlamDotnetLayout *layout = &dotnet->layout;
  guint8 section[16];
  guint32 flags;
  guint64 heap;
  Range range = { 0 };

  if (!flam_runtime_read (memory, address, section, sizeof section) ||
      !flam_runtime_read_u32 (
          memory, address + layout->section_flags, &flags) ||
      dotnet->ranges->len >= RANGES_MAX)
    return;
  range.begin = flam_runtime_u64 (section, 0);
  range.end = flam_runtime_u64 (section, 8);
  if (range.begin >= range.end)
    return;
  if ((flags & IN_HEAP) != 0)
    {
      range.kind = RANGE_HEAP;
      if (!flam_runtime_read_u64 (
              memory, address + layout->section_heap, &heap) ||
          !flam_runtime_read_u64 (
              memory, heap + layout->heap_base, &range.base) ||
          !flam_runtime_read_u64 (memory, heap + layout->heap_map, &range.map))
        return;
    }
  else if (layout->tree && (flags & STUBS) != 0)
    range.kind = RANGE_STUBS;
  else
    {
      range.kind = RANGE_IMAGE;
      if (!flam_runtime_read_u64 (
              memory, address + layout->section_module, &range.module))
        return;
    }
  g_array_append_val (dotnet->ranges, range);
}

static void
read_list (FlamDotnet *dotnet, const FlamRuntimeMemory *memory)
{
  guint64 address;

  if (!flam_runtime_read_u64 (memory, dotnet->ranges_at, &address))
    return;
  for (guint i = 0; i < RANGES_MAX && address != 0; i++)
    {
      add_range (dotnet, memory, address);
      if (!flam_runtime_read_u64 (
              memory, address + dotnet->layout.section_next, &address))
        return;
    }
}

/* The lowest bit of a pointer in the tree marks ranges that can end. */
static void
read_fragments (FlamDotnet *dotnet,
                const FlamRuntimeMemory *memory,
                guint64 address)
{
  for (guint i = 0; i < FRAGMENTS_MAX && address != 0; i++)
    {
      guint8 fragment[32];

      if (!flam_runtime_read (memory, address, fragment, sizeof fragment))
        return;
      add_range (dotnet, memory, flam_runtime_u64 (fragment, 24));
      address = flam_runtime_u64 (fragment, 0) & ~(guint64)1;
    }
}

static void
read_level (FlamDotnet *dotnet,
            const FlamRuntimeMemory *memory,
            guint64 address,
            guint level,
            guint *n_tables)
{
  guint64 entries[LEVEL_ENTRIES];

  if (++*n_tables > LEVEL_TABLES_MAX ||
      !flam_runtime_read (memory, address, entries, sizeof entries))
    return;
  for (guint i = 0; i < LEVEL_ENTRIES; i++)
    {
      guint64 next = entries[i] & ~(guint64)1;

      if (next == 0)
        continue;
      if (level + 1 < LEVELS)
        read_level (dotnet, memory, next, level + 1, n_tables);
      else
        read_fragments (dotnet, memory, next);
    }
}

static gint
compare_ranges (gconstpointer a, gconstpointer b)
{
  const Range *x = a;
  const Range *y = b;

  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void
search_ranges (FlamDotnet *dotnet, const FlamRuntimeMemory *memory)
{
  guint n_tables = 0;
  guint kept = 0;

  g_array_set_size (dotnet->ranges, 0);
  if (dotnet->layout.tree)
    read_level (dotnet, memory, dotnet->ranges_at, 0, &n_tables);
  else
    read_list (dotnet, memory);
  g_array_sort (dotnet->ranges, compare_ranges);
  /* A large range is in the tree more than once. */
  for (guint i = 0; i < dotnet->ranges->len; i++)
    {
      const Range *range = &g_array_index (dotnet->ranges, Range, i);

      if (kept > 0 &&
          range->begin < g_array_index (dotnet->ranges, Range, kept - 1).end)
        continue;
      g_array_index (dotnet->ranges, Range, kept++) = *range;
    }
  g_array_set_size (dotnet->ranges, kept);
}

static const Range *
range_at (const FlamDotnet *dotnet, guint64 pc)
{
  guint low = 0, high = dotnet->ranges->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      const Range *range = &g_array_index (dotnet->ranges, Range, middle);

      if (pc < range->begin)
        high = middle;
      else if (pc >= range->end)
        low = middle + 1;
      else
        return range;
    }
  return NULL;
}

/* Ranges are added as the program runs. */
static const Range *
find_range (FlamDotnet *dotnet,
            const FlamRuntimeMemory *memory,
            gint64 now,
            guint64 pc)
{
  const Range *range = range_at (dotnet, pc);
  gint64 began;

  if (range != NULL || (dotnet->searched != 0 &&
                        now - dotnet->searched < SEARCH_SHARE * dotnet->cost))
    return range;
  began = g_get_monotonic_time () * 1000;
  search_ranges (dotnet, memory);
  dotnet->cost = g_get_monotonic_time () * 1000 - began;
  dotnet->searched = now + dotnet->cost;
  return range_at (dotnet, pc);
}

/* --- code in heaps ------------------------------------------------------- */

#define BUCKET 32u        /* bytes of code for each nibble */
#define WORD (8 * BUCKET) /* and for each word of the map */

/* Of a word of the map that has addresses. */
static gboolean
is_far (guint32 word)
{
  return (word & 15) > 8;
}

static guint64
far_start (guint32 word)
{
  return (word & ~15u) + ((word & 15) - 9) * 4;
}

/* The last start in a word, of code up to `bucket`; the highest nibble is that
 * of the first bucket. */
static gboolean
last_start (guint32 word, guint bucket, guint64 *start)
{
  for (gint i = (gint)bucket; i >= 0; i--)
    {
      guint nibble = word >> (28 - 4 * i) & 15;

      if (nibble > 8)
        return FALSE;
      if (nibble != 0)
        {
          *start = (guint)i * BUCKET + (nibble - 1) * 4;
          return TRUE;
        }
    }
  return FALSE;
}

/* Where the code with `pc` begins. */
static gboolean
find_start (const FlamDotnet *dotnet,
            const FlamRuntimeMemory *memory,
            const Range *range,
            guint64 pc,
            guint64 *start)
{
  guint64 offset = pc - range->base;
  guint64 index = offset / WORD;
  guint bucket = offset % WORD / BUCKET;
  guint32 words[MAP_WORDS], word;
  guint64 in_word = 0;

  if (pc < range->base || offset > G_MAXUINT32 ||
      !flam_runtime_read_u32 (memory, range->map + index * 4, &word))
    return FALSE;
  if (dotnet->layout.far_starts && is_far (word))
    {
      *start = range->base + far_start (word);
      return *start <= pc;
    }
  /* In the bucket of pc, code may also begin behind it. */
  if (last_start (word, bucket, &in_word) && in_word > offset % WORD)
    {
      if (bucket == 0 || !last_start (word, bucket - 1, &in_word))
        in_word = WORD;
    }
  else if (!last_start (word, bucket, &in_word))
    in_word = WORD;
  if (in_word < WORD)
    {
      *start = range->base + index * WORD + in_word;
      return TRUE;
    }
  for (guint64 end = index; end > 0 && index - end < CODE_MAX / WORD;)
    {
      guint n = (guint)MIN (end, dotnet->layout.far_starts ? 1 : MAP_WORDS);

      if (!flam_runtime_read (
              memory, range->map + (end - n) * 4, words, n * 4ul))
        return FALSE;
      for (guint i = n; i-- > 0;)
        if (dotnet->layout.far_starts && is_far (words[i]))
          {
            *start = range->base + far_start (words[i]);
            return *start <= pc;
          }
        else if (words[i] != 0)
          {
            *start = range->base + (end - n + i) * WORD;
            if (!last_start (words[i], 7, &in_word))
              return FALSE;
            *start += in_word;
            return TRUE;
          }
      if (dotnet->layout.far_starts)
        return FALSE;
      end -= n;
    }
  return FALSE;
}

/* The unwind information for an address, of a method and its handlers. */
static gboolean
find_function (const FlamDotnet *dotnet,
               const FlamRuntimeMemory *memory,
               const Range *range,
               guint64 header,
               guint64 pc,
               FlamDotnetFunction *function)
{
  guint64 infos = header + dotnet->layout.header_infos;
  guint32 n, low = 0;

  if (!flam_runtime_read_u32 (
          memory, header + dotnet->layout.header_count, &n) ||
      n > HEADERS_MAX)
    return FALSE;
  for (guint32 high = n; low < high;)
    {
      guint32 middle = low + (high - low) / 2;
      guint8 info[12];
      guint64 begin, end;

      if (!flam_runtime_read (
              memory, infos + middle * sizeof info, info, sizeof info))
        return FALSE;
      begin = range->begin + flam_runtime_u32 (info, 0);
      end = range->begin + flam_runtime_u32 (info, 4);
      if (pc < begin)
        high = middle;
      else if (pc >= end)
        low = middle + 1;
      else
        {
          *function = (FlamDotnetFunction){
            range->begin,
            begin,
            end,
            range->begin + flam_runtime_u32 (info, 8),
          };
          return TRUE;
        }
    }
  return FALSE;
}

/* --- methods ------------------------------------------------------------- */

#define DYNAMIC 7u /* the kind of a method that is made by a program */
#define KINDS 7u

/* Flags of a MethodTable. */
#define HAS_PARTS 0x80000000u /* an array or a text */
#define GENERIC 0x30u
#define HAS_ARGUMENTS 1u /* the second flags: what the words from 48 on are */
#define HAS_INTERFACES 2u
#define HAS_DISPATCH 4u
#define HAS_SLOTS 8u
#define HAS_MODULE 16u

typedef struct
{
  gboolean dynamic;
  guint64 name; /* of a dynamic method */
  guint64 table;
  guint32 token;
} Method;

static gboolean
read_method (const FlamDotnet *dotnet,
             const FlamRuntimeMemory *memory,
             guint64 address,
             Method *method)
{
  const FlamDotnetLayout *layout = &dotnet->layout;
  guint8 desc[8];
  guint64 chunk;
  guint16 range;

  *method = (Method){ 0 };
  if (address % 8 != 0 ||
      !flam_runtime_read (memory, address, desc, sizeof desc))
    return FALSE;
  if ((desc[6] & KINDS) == DYNAMIC)
    {
      method->dynamic = TRUE;
      return flam_runtime_read_u64 (
          memory, address + layout->dynamic_name, &method->name);
    }
  chunk = address - desc[2] * 8ul - layout->chunk_size;
  if (!flam_runtime_read_u64 (memory, chunk, &method->table) ||
      !flam_runtime_read_u16 (memory, chunk + layout->chunk_range, &range))
    return FALSE;
  method->token =
      (guint32)(range & ((1u << (24 - layout->token_bits)) - 1))
          << layout->token_bits |
      ((desc[0] | (guint32)desc[1] << 8) & ((1u << layout->token_bits) - 1));
  return method->token != 0;
}

/* Differs if another method has taken the place of one. */
static guint64
cookie_of (const Method *method)
{
  return method->dynamic ? method->name
                         : method->table ^ (guint64)method->token << 40;
}

static FlamDotnetImage *
known_image (GHashTable *images, guint64 key, Image **image)
{
  *image = g_hash_table_lookup (images, &key);
  if (*image == NULL)
    {
      *image = g_new0 (Image, 1);
      g_hash_table_insert (images, g_memdup2 (&key, sizeof key), *image);
    }
  return (*image)->image;
}

static FlamDotnetImage *
image_at (FlamDotnet *dotnet, const FlamRuntimeMemory *memory, guint64 base)
{
  Image *image;

  if (known_image (dotnet->bases, base, &image) == NULL &&
      image->tries < IMAGE_TRIES)
    {
      image->tries++;
      image->image = flam_dotnet_image_new (memory, base);
    }
  return image->image;
}

/* The assembly of a module: at the address that it has, around its name, or in
 * the range of its precompiled code. */
static FlamDotnetImage *
image_of (FlamDotnet *dotnet, const FlamRuntimeMemory *memory, guint64 module)
{
  const FlamDotnetLayout *layout = &dotnet->layout;
  Image *image;
  guint64 at;

  for (guint i = 0; i < dotnet->ranges->len; i++)
    {
      const Range *range = &g_array_index (dotnet->ranges, Range, i);

      if (range->kind == RANGE_IMAGE && range->module == module)
        return image_at (dotnet, memory, range->begin);
    }
  if (known_image (dotnet->modules, module, &image) != NULL ||
      image->tries >= IMAGE_TRIES)
    return image->image;
  image->tries++;
  if (layout->module_base != 0 &&
      flam_runtime_read_u64 (memory, module + layout->module_base, &at) &&
      at != 0)
    image->image = flam_dotnet_image_new (memory, at);
  if (image->image == NULL && layout->module_name != 0 &&
      flam_runtime_read_u64 (memory, module + layout->module_name, &at))
    image->image = flam_dotnet_image_new_around (memory, at);
  return image->image;
}

/* Up to 8, a MethodTable leads to the module that loaded it. It is another one
 * than that of the type if this is an instance of a generic type: then that has
 * a word of its own, which comes after the words that are at fixed places. */
static gboolean
read_own_module (const FlamDotnet *dotnet,
                 const FlamRuntimeMemory *memory,
                 guint64 table,
                 guint64 *module)
{
  guint8 words[48];
  guint32 flags;
  guint64 canonical, free[2];
  guint n_free = 0, before = 0, n_virtuals;

  if (!flam_runtime_read (memory, table, words, sizeof words))
    return FALSE;
  canonical = flam_runtime_u64 (words, 40);
  if ((canonical & 3) == 3 &&
      !flam_runtime_read_u64 (memory, canonical & ~3ull, &table))
    return FALSE;
  if ((canonical & 3) == 2)
    table = canonical & ~3ull;
  if (!flam_runtime_read (memory, table, words, sizeof words))
    return FALSE;
  flags = words[8] | (guint32)words[9] << 8;
  if ((flags & HAS_MODULE) == 0)
    return flam_runtime_read_u64 (
        memory, table + dotnet->layout.table_module, module);
  if ((flags & HAS_ARGUMENTS) == 0)
    free[n_free++] = 48;
  if ((flags & HAS_INTERFACES) == 0)
    free[n_free++] = 56;
  before = ((flags & HAS_DISPATCH) != 0) + ((flags & HAS_SLOTS) != 0);
  n_virtuals = words[12] | (guint)words[13] << 8;
  table += before < n_free
               ? free[before]
               : 64 + (n_virtuals + 7) / 8 * 8ul + (before - n_free) * 8ul;
  return flam_runtime_read_u64 (memory, table, module);
}

/* The image with the method's names: that of its type. */
static FlamDotnetImage *
image_of_method (FlamDotnet *dotnet,
                 const FlamRuntimeMemory *memory,
                 const Method *method)
{
  FlamDotnetImage *image;
  guint8 words[12];
  guint64 module;
  guint32 type;

  if (dotnet->layout.version >= 9)
    return flam_runtime_read_u64 (
               memory, method->table + dotnet->layout.table_module, &module)
               ? image_of (dotnet, memory, module)
               : NULL;
  if (!flam_runtime_read (memory, method->table, words, sizeof words))
    return NULL;
  if ((flam_runtime_u32 (words, 0) & (HAS_PARTS | GENERIC)) == 0)
    {
      if (!flam_runtime_read_u64 (
              memory, method->table + dotnet->layout.table_module, &module))
        return NULL;
    }
  else if (!read_own_module (dotnet, memory, method->table, &module))
    return NULL;
  image = image_of (dotnet, memory, module);
  /* The type's own number has to be that of the method's type. */
  type = dotnet->layout.version == 8 ? flam_runtime_u32 (words, 8) >> 8
                                     : words[10] | (guint32)words[11] << 8;
  if (image == NULL ||
      ((dotnet->layout.version == 8 || type != 0xffff) &&
       flam_dotnet_image_get_owner (image, memory, method->token) != type))
    return NULL;
  return image;
}

/* --- frames -------------------------------------------------------------- */

/* A place in code: what is at a pc. */
typedef struct
{
  guint64 start; /* of the method's code; 0: a stub */
  gboolean has_function;
  FlamDotnetFunction function;
  gboolean has_method;
  Method method;          /* of code in a heap */
  guint64 debug;          /* where the runtime has its places in CIL */
  FlamDotnetImage *image; /* of precompiled code */
  guint32 token;
} Place;

static void
find_place (FlamDotnet *dotnet,
            const FlamRuntimeMemory *memory,
            gint64 now,
            guint64 pc,
            Place *place)
{
  const Range *range = find_range (dotnet, memory, now, pc);
  guint64 start, header, desc;

  *place = (Place){ 0 };
  if (range == NULL || range->kind == RANGE_STUBS)
    return;
  if (range->kind == RANGE_IMAGE)
    {
      place->image = image_at (dotnet, memory, range->begin);
      place->has_function =
          place->image != NULL &&
          flam_dotnet_image_find (
              place->image, pc, &place->function, &place->token, &place->start);
      return;
    }
  if (!find_start (dotnet, memory, range, pc, &start) ||
      !flam_runtime_read_u64 (memory, start - 8, &header) || header < STUB_MAX)
    return;
  place->start = start;
  place->has_function =
      find_function (dotnet, memory, range, header, pc, &place->function);
  place->has_method =
      flam_runtime_read_u64 (
          memory, header + dotnet->layout.header_method, &desc) &&
      read_method (dotnet, memory, desc, &place->method);
  if (!flam_runtime_read_u64 (
          memory, header + dotnet->layout.header_debug, &place->debug))
    place->debug = 0;
}

/* A handler, such as a `finally` block, has a frame of its own above that of
 * its method. It has no name of its own, and is left out if its method follows.
 */
static gboolean
is_handler (FlamDotnet *dotnet,
            const FlamRuntimeMemory *memory,
            gint64 now,
            const Place *place,
            const FlamRuntimeRegs *caller)
{
  Place own;

  if (!place->has_function || place->function.begin == place->start)
    return FALSE;
  find_place (dotnet, memory, now, caller->pc - 1, &own);
  return own.start == place->start;
}

gboolean
flam_dotnet_step (FlamDotnet *dotnet,
                  const FlamRuntimeMemory *memory,
                  gint64 now,
                  FlamRuntimeRegs *regs,
                  FlamRuntimeEntry *entry)
{
  guint64 pc = regs->leaf ? regs->pc : regs->pc - 1;
  Place place;
  gboolean stepped;

  find_place (dotnet, memory, now, pc, &place);
  *entry = (FlamRuntimeEntry){ 0 };
  stepped = (place.has_function &&
             flam_dotnet_unwind (memory, &place.function, regs)) ||
            flam_dotnet_unwind_stub (memory, regs);
  if (place.start != 0 &&
      !(stepped && is_handler (dotnet, memory, now, &place, regs)))
    *entry = (FlamRuntimeEntry){
      .function = place.start,
      .at = pc - place.start,
      .cookie = place.has_method ? cookie_of (&place.method) : place.token,
    };
  return stepped;
}

/* Made by a program, or by the runtime to call native code: the name alone. */
static gboolean
name_dynamic (const FlamRuntimeMemory *memory,
              guint64 address,
              FlamRuntimeName *name)
{
  const char *text = flam_runtime_name_read_string (name, memory, address);
  FlamRuntimeNamed *named;

  if (text == NULL || text[0] == '\0')
    return FALSE;
  named = flam_runtime_name_add (name);
  named->function = text;
  named->type = "dynamicClass";
  named->compiled = true;
  return TRUE;
}

/* --- lines --------------------------------------------------------------- */

static GBytes *
packed_pdb (const FlamRuntimeMemory *memory, const FlamDotnetSymbols *symbols)
{
  g_autofree guint8 *packed = g_malloc (symbols->packed_size);

  return flam_runtime_read (
             memory, symbols->packed, packed, symbols->packed_size)
             ? flam_dotnet_pdb_unpack (packed, symbols->packed_size)
             : NULL;
}

static const FlamDotnetPdb *
pdb_of (FlamDotnet *dotnet,
        const FlamRuntimeMemory *memory,
        const FlamDotnetImage *image)
{
  guint64 base = flam_dotnet_image_get_base (image);
  Lines *lines = g_hash_table_lookup (dotnet->lines, &base);
  g_autoptr (GBytes) bytes = NULL;
  FlamDotnetSymbols symbols;

  if (lines != NULL)
    return lines->pdb;
  lines = g_new0 (Lines, 1);
  g_hash_table_insert (dotnet->lines, g_memdup2 (&base, sizeof base), lines);
  if (!flam_dotnet_image_get_symbols (image, memory, &symbols))
    return NULL;
  if (symbols.packed != 0)
    bytes = packed_pdb (memory, &symbols);
  else if (dotnet->open_pdb != NULL && symbols.path[0] != '\0')
    bytes = dotnet->open_pdb (dotnet->open_data, base, symbols.path);
  if (bytes != NULL)
    lines->pdb = flam_dotnet_pdb_new (bytes, symbols.number);
  return lines->pdb;
}

static void
add_lines (FlamDotnet *dotnet,
           const FlamRuntimeMemory *memory,
           const FlamDotnetImage *image,
           const Place *place,
           FlamRuntimeName *name)
{
  const FlamDotnetPdb *pdb = pdb_of (dotnet, memory, image);
  g_autoptr (GArray) places =
      g_array_new (FALSE, FALSE, sizeof (FlamDotnetPlace));

  if (pdb != NULL && flam_dotnet_debug_read (
                         dotnet->layout.version, memory, place->debug, places))
    flam_dotnet_pdb_name (
        pdb, place->method.token, places, name, &name->frames[0]);
}

gboolean
flam_dotnet_name (FlamDotnet *dotnet,
                  const FlamRuntimeMemory *memory,
                  const FlamRuntimeEntry *entry,
                  FlamRuntimeName *name)
{
  FlamDotnetImage *image;
  Place place;

  find_place (dotnet, memory, dotnet->searched, entry->function, &place);
  if (place.image != NULL)
    return place.token != 0 && place.token == entry->cookie &&
           flam_dotnet_image_name (place.image, memory, place.token, name);
  if (!place.has_method || cookie_of (&place.method) != entry->cookie)
    return FALSE;
  if (place.method.dynamic)
    return name_dynamic (memory, place.method.name, name);
  image = image_of_method (dotnet, memory, &place.method);
  if (image == NULL ||
      !flam_dotnet_image_name (image, memory, place.method.token, name))
    return FALSE;
  add_lines (dotnet, memory, image, &place, name);
  return TRUE;
}
