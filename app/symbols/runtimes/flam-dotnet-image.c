/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dotnet-image.h"

#include <string.h>

#define IMAGE_MAX (512u << 20)
#define PAGE 4096u
#define SECTIONS_MAX 96
#define STREAMS_MAX 16
#define TABLES 0x2d /* up to GenericParamConstraint */
#define ROWS_MAX (1u << 24)
#define NESTED_MAX 16
#define ENTRIES_MAX (1u << 20) /* functions of an image */
#define TYPE_DEPTH_MAX 32

enum
{
  MODULE,
  TYPE_REF,
  TYPE_DEF,
  FIELD_PTR,
  FIELD,
  METHOD_PTR,
  METHOD,
  PARAM_PTR,
  PARAM,
  INTERFACE_IMPL,
  MEMBER_REF,
  DECL_SECURITY = 0x0e,
  STANDALONE_SIG = 0x11,
  EVENT = 0x14,
  PROPERTY = 0x17,
  MODULE_REF = 0x1a,
  TYPE_SPEC = 0x1b,
  ASSEMBLY = 0x20,
  ASSEMBLY_REF = 0x23,
  FILE_TABLE = 0x26,
  EXPORTED_TYPE = 0x27,
  RESOURCE = 0x28,
  NESTED_CLASS = 0x29,
  GENERIC_PARAM = 0x2a,
  METHOD_SPEC = 0x2b,
  GENERIC_CONSTRAINT = 0x2c,
};

/* The sections of a ReadyToRun header. */
enum
{
  R2R_FUNCTIONS = 102,
  R2R_METHODS = 103,
  R2R_INSTANCES = 109,
};

typedef struct
{
  guint32 address; /* relative to the image's base when mapped */
  guint32 size;
  guint32 offset; /* in the file */
} Section;

typedef struct
{
  guint64 at;
  guint32 size;
} Heap;

typedef struct
{
  guint64 at;
  guint32 rows;
  guint32 size; /* of a row */
} Table;

typedef struct
{
  guint32 begin;
  guint32 end;
  guint32 info;
} Function;

/* The first function of a method; those up to the next entry belong to it. */
typedef struct
{
  guint32 function;
  guint32 method; /* 0: of another image, or not known */
} Entry;

struct _FlamDotnetImage
{
  guint64 base;
  gboolean flat;
  Section sections[SECTIONS_MAX];
  guint n_sections;
  guint32 debug; /* the debug directory */
  guint32 debug_size;
  guint64 metadata;
  Heap strings;
  guint8 heap_sizes;
  Table tables[TABLES];
  Function *functions; /* ascending */
  guint32 n_functions;
  GArray *entries; /* ascending */
};

/* --- headers ------------------------------------------------------------- */

/* 0: in no section. */
static guint64
address_of (const FlamDotnetImage *image, guint32 relative)
{
  if (!image->flat)
    return image->base + relative;
  for (guint i = 0; i < image->n_sections; i++)
    if (relative - image->sections[i].address < image->sections[i].size)
      return image->base + image->sections[i].offset +
             (relative - image->sections[i].address);
  return 0;
}

typedef struct
{
  guint32 size_of_image;
  guint32 cli;
  guint32 debug;
  guint32 debug_size;
  guint64 sections;
  guint n_sections;
} Headers;

static gboolean
read_headers (const FlamRuntimeMemory *memory, guint64 base, Headers *headers)
{
  guint8 dos[64], head[24 + 240];
  guint64 at;
  guint32 optional, n_directories;
  gboolean wide;

  if (!flam_runtime_read (memory, base, dos, sizeof dos) || dos[0] != 'M' ||
      dos[1] != 'Z' || flam_runtime_u32 (dos, 60) > PAGE)
    return FALSE;
  at = base + flam_runtime_u32 (dos, 60);
  if (!flam_runtime_read (memory, at, head, sizeof head) ||
      memcmp (head, "PE\0", 4) != 0)
    return FALSE;
  optional = head[20] | (guint32)head[21] << 8;
  wide = head[24] == 0x0b && head[25] == 2;
  if (!wide && (head[24] != 0x0b || head[25] != 1))
    return FALSE;
  headers->size_of_image = flam_runtime_u32 (head, 24 + 56);
  n_directories = flam_runtime_u32 (head, 24 + (wide ? 108 : 92));
  headers->cli = flam_runtime_u32 (head, 24 + (wide ? 112 : 96) + 14 * 8);
  headers->debug = flam_runtime_u32 (head, 24 + (wide ? 112 : 96) + 6 * 8);
  headers->debug_size =
      flam_runtime_u32 (head, 24 + (wide ? 112 : 96) + 6 * 8 + 4);
  headers->sections = at + 24 + optional;
  headers->n_sections = head[6] | (guint)head[7] << 8;
  return n_directories > 14 && headers->cli != 0 &&
         headers->size_of_image <= IMAGE_MAX &&
         headers->n_sections <= SECTIONS_MAX;
}

static gboolean
read_sections (FlamDotnetImage *image,
               const FlamRuntimeMemory *memory,
               const Headers *headers)
{
  guint8 bytes[SECTIONS_MAX * 40];

  if (!flam_runtime_read (
          memory, headers->sections, bytes, headers->n_sections * 40ul))
    return FALSE;
  for (guint i = 0; i < headers->n_sections; i++)
    image->sections[i] = (Section){
      .address = flam_runtime_u32 (bytes, i * 40 + 12),
      .size = flam_runtime_u32 (bytes, i * 40 + 16),
      .offset = flam_runtime_u32 (bytes, i * 40 + 20),
    };
  image->n_sections = headers->n_sections;
  image->debug = headers->debug;
  image->debug_size = headers->debug_size;
  return TRUE;
}

/* --- metadata ------------------------------------------------------------ */

/* Columns of the tables. A lower-case letter is a number of 2 or 4 bytes, or an
 * index into a heap; '@' and above an index into that table, by its number; an
 * upper-case letter from the list below is one into several tables. */
#define T(table) (char)(0x80 | (table))

static const char *const columns[TABLES] = {
  [MODULE] = "2sggg",
  [TYPE_REF] = "Rss",
  [TYPE_DEF] = (const char[]){ '4', 's', 's', 'D', T (FIELD), T (METHOD), 0 },
  [FIELD_PTR] = (const char[]){ T (FIELD), 0 },
  [FIELD] = "2sb",
  [METHOD_PTR] = (const char[]){ T (METHOD), 0 },
  [METHOD] = (const char[]){ '4', '2', '2', 's', 'b', T (PARAM), 0 },
  [PARAM_PTR] = (const char[]){ T (PARAM), 0 },
  [PARAM] = "22s",
  [INTERFACE_IMPL] = (const char[]){ T (TYPE_DEF), 'D', 0 },
  [MEMBER_REF] = "Psb",
  [0x0b] = "2Cb",
  [0x0c] = "AYb",
  [0x0d] = "Mb",
  [DECL_SECURITY] = "2Sb",
  [0x0f] = (const char[]){ '2', '4', T (TYPE_DEF), 0 },
  [0x10] = (const char[]){ '4', T (FIELD), 0 },
  [STANDALONE_SIG] = "b",
  [0x12] = (const char[]){ T (TYPE_DEF), T (EVENT), 0 },
  [0x13] = (const char[]){ T (EVENT), 0 },
  [EVENT] = "2sD",
  [0x15] = (const char[]){ T (TYPE_DEF), T (PROPERTY), 0 },
  [0x16] = (const char[]){ T (PROPERTY), 0 },
  [PROPERTY] = "2sb",
  [0x18] = (const char[]){ '2', T (METHOD), 'H', 0 },
  [0x19] = (const char[]){ T (TYPE_DEF), 'O', 'O', 0 },
  [MODULE_REF] = "s",
  [TYPE_SPEC] = "b",
  [0x1c] = (const char[]){ '2', 'F', 's', T (MODULE_REF), 0 },
  [0x1d] = (const char[]){ '4', T (FIELD), 0 },
  [0x1e] = "44",
  [0x1f] = "4",
  [ASSEMBLY] = "422224bss",
  [0x21] = "4",
  [0x22] = "444",
  [ASSEMBLY_REF] = "22224bssb",
  [0x24] = (const char[]){ '4', T (ASSEMBLY_REF), 0 },
  [0x25] = (const char[]){ '4', '4', '4', T (ASSEMBLY_REF), 0 },
  [FILE_TABLE] = "4sb",
  [EXPORTED_TYPE] = "44ssI",
  [RESOURCE] = "44sI",
  [NESTED_CLASS] = (const char[]){ T (TYPE_DEF), T (TYPE_DEF), 0 },
  [GENERIC_PARAM] = "22Gs",
  [METHOD_SPEC] = "Ob",
  [GENERIC_CONSTRAINT] = (const char[]){ T (GENERIC_PARAM), 'D', 0 },
};

/* Indexes into one of several tables: the lowest bits tell which. */
typedef struct
{
  char letter;
  guint8 bits;
  guint8 n;
  guint8 tables[22];
} Coded;

static const Coded coded[] = {
  { 'D', 2, 3, { TYPE_DEF, TYPE_REF, TYPE_SPEC } },
  { 'C', 2, 3, { FIELD, PARAM, PROPERTY } },
  { 'A', 5, 22, { METHOD,       FIELD,         TYPE_REF,
                  TYPE_DEF,     PARAM,         INTERFACE_IMPL,
                  MEMBER_REF,   MODULE,        DECL_SECURITY,
                  PROPERTY,     EVENT,         STANDALONE_SIG,
                  MODULE_REF,   TYPE_SPEC,     ASSEMBLY,
                  ASSEMBLY_REF, FILE_TABLE,    EXPORTED_TYPE,
                  RESOURCE,     GENERIC_PARAM, GENERIC_CONSTRAINT,
                  METHOD_SPEC } },
  { 'M', 1, 2, { FIELD, PARAM } },
  { 'S', 2, 3, { TYPE_DEF, METHOD, ASSEMBLY } },
  { 'P', 3, 5, { TYPE_DEF, TYPE_REF, MODULE_REF, METHOD, TYPE_SPEC } },
  { 'H', 1, 2, { EVENT, PROPERTY } },
  { 'O', 1, 2, { METHOD, MEMBER_REF } },
  { 'F', 1, 2, { FIELD, METHOD } },
  { 'I', 2, 3, { FILE_TABLE, ASSEMBLY_REF, EXPORTED_TYPE } },
  { 'Y', 3, 2, { METHOD, MEMBER_REF } },
  { 'R', 2, 4, { MODULE, MODULE_REF, ASSEMBLY_REF, TYPE_REF } },
  { 'G', 1, 2, { TYPE_DEF, METHOD } },
};

static guint32
column_size (const FlamDotnetImage *image, char column)
{
  guint8 letter = (guint8)column;

  if (letter >= 0x80)
    return image->tables[letter & 0x7f].rows > 0xffff ? 4 : 2;
  switch (column)
    {
    case '2':
      return 2;
    case '4':
      return 4;
    case 's':
      return image->heap_sizes & 1 ? 4 : 2;
    case 'g':
      return image->heap_sizes & 2 ? 4 : 2;
    case 'b':
      return image->heap_sizes & 4 ? 4 : 2;
    default:
      break;
    }
  for (guint i = 0; i < G_N_ELEMENTS (coded); i++)
    for (guint t = 0; coded[i].letter == column && t < coded[i].n; t++)
      if (image->tables[coded[i].tables[t]].rows >= 1u << (16 - coded[i].bits))
        return 4;
  return 2;
}

static gboolean
read_tables (FlamDotnetImage *image,
             const FlamRuntimeMemory *memory,
             const Heap *stream)
{
  guint8 head[24];
  guint64 present, at = stream->at + sizeof head,
                   end = stream->at + stream->size;

  if (stream->size < sizeof head ||
      !flam_runtime_read (memory, stream->at, head, sizeof head))
    return FALSE;
  image->heap_sizes = head[6];
  present = flam_runtime_u64 (head, 8);
  if (present >> TABLES != 0)
    return FALSE;
  for (guint i = 0; i < TABLES; i++)
    if (present >> i & 1)
      {
        if (!flam_runtime_read_u32 (memory, at, &image->tables[i].rows) ||
            image->tables[i].rows > ROWS_MAX)
          return FALSE;
        at += 4;
      }
  if (image->heap_sizes & 0x40)
    at += 4;
  for (guint i = 0; i < TABLES; i++)
    {
      Table *table = &image->tables[i];

      for (const char *c = columns[i]; *c != '\0'; c++)
        table->size += column_size (image, *c);
      table->at = at;
      at += (guint64)table->rows * table->size;
    }
  /* With an indirection, which only edited programs have, the methods of a type
   * are not in a row. */
  return at <= end && image->tables[METHOD_PTR].rows == 0;
}

static gboolean
read_metadata (FlamDotnetImage *image, const FlamRuntimeMemory *memory)
{
  guint8 head[16], stream[8 + 8];
  guint64 at = image->metadata;
  guint32 version;
  guint16 n_streams;
  Heap tables = { 0 };

  if (!flam_runtime_read (memory, at, head, sizeof head) ||
      memcmp (head, "BSJB", 4) != 0)
    return FALSE;
  version = flam_runtime_u32 (head, 12);
  if (version > 255 ||
      !flam_runtime_read_u16 (memory, at + 16 + version + 2, &n_streams))
    return FALSE;
  at += 16 + version + 4;
  for (guint i = 0; i < n_streams && i < STREAMS_MAX; i++)
    {
      Heap heap;
      guint length = 0;

      if (!flam_runtime_read (memory, at, stream, sizeof stream))
        return FALSE;
      heap = (Heap){ image->metadata + flam_runtime_u32 (stream, 0),
                     flam_runtime_u32 (stream, 4) };
      if (memcmp (stream + 8, "#~\0", 3) == 0)
        tables = heap;
      else if (memcmp (stream + 8, "#Strings", 8) == 0)
        image->strings = heap;
      /* A name of up to 32 bytes with its NUL, in steps of 4. */
      for (at += 8; length < 32; length += 4)
        {
          guint8 part[4];

          if (!flam_runtime_read (memory, at + length, part, sizeof part))
            return FALSE;
          if (memchr (part, 0, sizeof part) != NULL)
            break;
        }
      at += length + 4;
    }
  return tables.size > 0 && image->strings.size > 0 &&
         image->strings.size < IMAGE_MAX &&
         read_tables (image, memory, &tables);
}

/* A column of a row, which counts from 1. */
static gboolean
read_cell (const FlamDotnetImage *image,
           const FlamRuntimeMemory *memory,
           guint table,
           guint32 row,
           guint column,
           guint32 *value)
{
  const Table *t = &image->tables[table];
  const char *c = columns[table];
  guint64 at = t->at + (guint64)(row - 1) * t->size;
  guint16 narrow;

  if (row == 0 || row > t->rows)
    return FALSE;
  for (guint i = 0; i < column; i++)
    at += column_size (image, c[i]);
  if (column_size (image, c[column]) == 4)
    return flam_runtime_read_u32 (memory, at, value);
  if (!flam_runtime_read_u16 (memory, at, &narrow))
    return FALSE;
  *value = narrow;
  return TRUE;
}

/* The address of a text; 0: unreadable. */
static guint64
read_text_cell (const FlamDotnetImage *image,
                const FlamRuntimeMemory *memory,
                guint table,
                guint32 row,
                guint column)
{
  guint32 offset;

  if (!read_cell (image, memory, table, row, column, &offset) ||
      offset >= image->strings.size)
    return 0;
  return image->strings.at + offset;
}

/* The last row of an ascending column with a value up to `wanted`; 0: none. */
static guint32
last_up_to (const FlamDotnetImage *image,
            const FlamRuntimeMemory *memory,
            guint table,
            guint column,
            guint32 wanted)
{
  guint32 low = 0, high = image->tables[table].rows;

  while (low < high)
    {
      guint32 middle = high - (high - low) / 2, value;

      if (!read_cell (image, memory, table, middle, column, &value))
        return 0;
      if (value <= wanted)
        low = middle;
      else
        high = middle - 1;
    }
  return low;
}

guint32
flam_dotnet_image_get_owner (const FlamDotnetImage *image,
                             const FlamRuntimeMemory *memory,
                             guint32 method)
{
  if (method == 0 || method > image->tables[METHOD].rows)
    return 0;
  return last_up_to (image, memory, TYPE_DEF, 5, method);
}

/* Namespace.Outer+Inner. */
static const char *
type_name (const FlamDotnetImage *image,
           const FlamRuntimeMemory *memory,
           guint32 type,
           FlamRuntimeName *name)
{
  const char *text = NULL, *space;
  guint64 address;

  for (guint i = 0; i < NESTED_MAX; i++)
    {
      const char *own;
      guint32 row, nested, outer;

      address = read_text_cell (image, memory, TYPE_DEF, type, 1);
      own = address == 0
                ? NULL
                : flam_runtime_name_read_string (name, memory, address);
      if (own == NULL)
        return NULL;
      text = text == NULL ? own
                          : flam_runtime_name_printf (name, "%s+%s", own, text);
      row = last_up_to (image, memory, NESTED_CLASS, 0, type);
      if (row == 0 ||
          !read_cell (image, memory, NESTED_CLASS, row, 0, &nested) ||
          nested != type)
        break;
      if (!read_cell (image, memory, NESTED_CLASS, row, 1, &outer) ||
          outer == type)
        return NULL;
      type = outer;
    }
  address = read_text_cell (image, memory, TYPE_DEF, type, 2);
  space = address == 0 ? NULL
                       : flam_runtime_name_read_string (name, memory, address);
  if (space == NULL || space[0] == '\0')
    return text;
  return flam_runtime_name_printf (name, "%s.%s", space, text);
}

gboolean
flam_dotnet_image_name (const FlamDotnetImage *image,
                        const FlamRuntimeMemory *memory,
                        guint32 method,
                        FlamRuntimeName *name)
{
  guint32 owner = flam_dotnet_image_get_owner (image, memory, method);
  guint64 address = read_text_cell (image, memory, METHOD, method, 3);
  const char *function, *type;
  FlamRuntimeNamed *named;

  if (owner == 0 || address == 0)
    return FALSE;
  function = flam_runtime_name_read_string (name, memory, address);
  /* The first type has the functions that are in no class. */
  type = owner == 1 ? "" : type_name (image, memory, owner, name);
  if (function == NULL || function[0] == '\0' || type == NULL)
    return FALSE;
  named = flam_runtime_name_add (name);
  named->function = function;
  named->type = type;
  named->compiled = true;
  return TRUE;
}

/* --- the debug directory -------------------------------------------------- */

#define DEBUG_ENTRY 28u
#define DEBUG_ENTRIES_MAX 32
#define CODE_VIEW 2u
#define PORTABLE 0x504du /* the minor version of its entry */
#define PACKED_PDB 17u

/* "RSDS", a GUID, a counter, and the path. The number of a portable PDB is the
 * GUID and the time in the entry. */
static gboolean
read_code_view (const FlamRuntimeMemory *memory,
                guint64 at,
                guint32 size,
                const guint8 *entry,
                FlamDotnetSymbols *symbols)
{
  guint8 head[24];

  if (size <= sizeof head ||
      !flam_runtime_read (memory, at, head, sizeof head) ||
      memcmp (head, "RSDS", 4) != 0)
    return FALSE;
  memcpy (symbols->number, head + 4, 16);
  memcpy (symbols->number + 16, entry + 4, 4);
  size = MIN (size - (guint32)sizeof head, sizeof symbols->path - 1);
  if (!flam_runtime_read (memory, at + sizeof head, symbols->path, size))
    size = 0;
  symbols->path[size] = '\0';
  return TRUE;
}

gboolean
flam_dotnet_image_get_symbols (const FlamDotnetImage *image,
                               const FlamRuntimeMemory *memory,
                               FlamDotnetSymbols *symbols)
{
  guint64 directory = address_of (image, image->debug);
  gboolean found = FALSE;

  memset (symbols, 0, sizeof *symbols);
  if (image->debug == 0 || directory == 0)
    return FALSE;
  for (guint32 i = 0;
       i < image->debug_size / DEBUG_ENTRY && i < DEBUG_ENTRIES_MAX;
       i++)
    {
      guint8 entry[DEBUG_ENTRY];
      guint32 type, size;
      guint64 at;

      if (!flam_runtime_read (
              memory, directory + i * DEBUG_ENTRY, entry, sizeof entry))
        break;
      type = flam_runtime_u32 (entry, 12);
      size = flam_runtime_u32 (entry, 16);
      at = address_of (image, flam_runtime_u32 (entry, 20));
      if (at == 0)
        continue;
      if (type == CODE_VIEW && (entry[10] | (guint)entry[11] << 8) == PORTABLE)
        found |= read_code_view (memory, at, size, entry, symbols);
      else if (type == PACKED_PDB && size <= IMAGE_MAX)
        {
          symbols->packed = at;
          symbols->packed_size = size;
        }
    }
  return found;
}

guint64
flam_dotnet_image_get_base (const FlamDotnetImage *image)
{
  return image->base;
}

/* --- precompiled code ---------------------------------------------------- */

/* Bytes of a section of the image, copied. Reading beyond them, or each of them
 * again and again, gives 0 and sets `bad`. */
typedef struct
{
  guint8 *bytes;
  guint32 size;
  guint64 reads;
  gboolean bad;
} Bytes;

#define READS_OF_A_BYTE 64

static guint32
byte_at (Bytes *bytes, guint32 at)
{
  if (at >= bytes->size ||
      bytes->reads++ > (guint64)READS_OF_A_BYTE * bytes->size)
    {
      bytes->bad = TRUE;
      return 0;
    }
  return bytes->bytes[at];
}

static guint32
little (Bytes *bytes, guint32 at, guint size)
{
  guint32 value = 0;

  for (guint i = 0; i < size; i++)
    value |= byte_at (bytes, at + i) << 8 * i;
  return value;
}

/* 1 to 5 bytes: the number of low bits that are set tells how many more. */
static guint32
unsigned_at (Bytes *bytes, guint32 *at)
{
  guint32 first = byte_at (bytes, *at);
  guint more = 0;
  guint32 value;

  while (more < 4 && first >> more & 1)
    more++;
  if (more == 4)
    {
      value = little (bytes, *at + 1, 4);
      *at += 5;
      return value;
    }
  value = little (bytes, *at, more + 1) >> (more + 1);
  *at += more + 1;
  return value;
}

/* The same, of which the highest bit is a sign. */
static gint32
signed_at (Bytes *bytes, guint32 *at)
{
  guint32 from = *at;
  guint32 value = unsigned_at (bytes, at);
  guint bits = (*at - from) * 7;

  if (bits < 32 && value >> (bits - 1) & 1)
    value |= ~0u << bits;
  return (gint32)value;
}

/* The number of the first function, from an entry point. */
static guint32
function_at (Bytes *bytes, guint32 at)
{
  guint32 id = unsigned_at (bytes, &at);

  return id & 1 ? id >> 2 : id >> 1;
}

static void
add_entry (FlamDotnetImage *image, guint32 function, guint32 method)
{
  const Entry entry = { function, method };

  if (function < image->n_functions && image->entries->len < ENTRIES_MAX)
    g_array_append_val (image->entries, entry);
}

/* A sparse array of blocks of 16, each a tree by the bits of the index. */
static void
read_methods (FlamDotnetImage *image, Bytes *bytes)
{
  guint32 base = 0;
  guint32 head = unsigned_at (bytes, &base);
  guint32 n = head >> 2;
  guint width = 1u << (head & 3);

  for (guint32 i = 0; i < n && i < ROWS_MAX && width <= 4; i++)
    {
      guint32 at = base + little (bytes, base + i / 16 * width, width);
      gboolean found = TRUE;

      for (guint bit = 8; bit > 0 && found; bit >>= 1)
        {
          guint32 next = at;
          guint32 value = unsigned_at (bytes, &next);

          if ((i & bit) != 0 && (value & 2) != 0)
            at += value >> 2;
          else if ((i & bit) == 0 && (value & 1) != 0)
            at = next;
          else if ((value & 3) == 0 && value >> 2 == (i & 15))
            {
              at = next;
              break;
            }
          else
            found = FALSE;
        }
      if (found && !bytes->bad)
        add_entry (image, function_at (bytes, at), i + 1);
      if (bytes->bad)
        return;
    }
}

/* A number as in signatures: 1, 2 or 4 bytes, the highest bits first. */
static guint32
compressed_at (Bytes *bytes, guint32 *at)
{
  guint32 first = byte_at (bytes, *at);

  if (first < 0x80)
    {
      *at += 1;
      return first;
    }
  if (first < 0xc0)
    {
      first = (first & 0x3f) << 8 | byte_at (bytes, *at + 1);
      *at += 2;
      return first;
    }
  first = (first & 0x1f) << 24 | byte_at (bytes, *at + 1) << 16 |
          byte_at (bytes, *at + 2) << 8 | byte_at (bytes, *at + 3);
  *at += 4;
  return first;
}

/* Over a type in a signature (ECMA-335 II.23.2.12, and the elements that only
 * precompiled images have). FALSE: it has an element that cannot be followed.
 */
static gboolean
skip_type (Bytes *bytes, guint32 *at, guint depth)
{
  guint32 n;

  if (depth > TYPE_DEPTH_MAX || bytes->bad)
    return FALSE;
  switch (byte_at (bytes, (*at)++))
    {
    case 0x01 ... 0x0e: /* primitive types */
    case 0x16:
    case 0x18:
    case 0x19:
    case 0x1c:
    case 0x3e: /* any reference */
      return TRUE;
    case 0x0f: /* pointer, reference, array, pinned, native value */
    case 0x10:
    case 0x1d:
    case 0x45:
    case 0x3d:
      return skip_type (bytes, at, depth + 1);
    case 0x11: /* value, class; type arguments by number */
    case 0x12:
    case 0x13:
    case 0x1e:
      compressed_at (bytes, at);
      return TRUE;
    case 0x1f: /* modifiers */
    case 0x20:
    case 0x3f: /* of another module */
      compressed_at (bytes, at);
      return skip_type (bytes, at, depth + 1);
    case 0x14: /* array with dimensions */
      if (!skip_type (bytes, at, depth + 1))
        return FALSE;
      compressed_at (bytes, at);
      for (guint i = 0; i < 2; i++)
        for (n = compressed_at (bytes, at); n > 0 && !bytes->bad; n--)
          compressed_at (bytes, at);
      return !bytes->bad;
    case 0x15: /* instance of a generic type */
      if (!skip_type (bytes, at, depth + 1))
        return FALSE;
      for (n = compressed_at (bytes, at); n > 0; n--)
        if (!skip_type (bytes, at, depth + 1))
          return FALSE;
      return TRUE;
    default:
      return FALSE;
    }
}

/* What the signature of a method has, by its flags. */
enum
{
  SIGNATURE_INSTANCE = 0x04,
  SIGNATURE_SLOT = 0x08,
  SIGNATURE_MEMBER_REF = 0x10,
  SIGNATURE_CONSTRAINED = 0x20,
  SIGNATURE_OWNER = 0x40,
  SIGNATURE_MODULE = 0x80,
};

static void
read_instance (FlamDotnetImage *image, Bytes *bytes, guint32 at)
{
  guint32 flags = compressed_at (bytes, &at);
  guint32 method;

  if ((flags & SIGNATURE_MODULE) != 0)
    compressed_at (bytes, &at);
  if ((flags & SIGNATURE_OWNER) != 0 && !skip_type (bytes, &at, 0))
    return;
  method = compressed_at (bytes, &at);
  if ((flags & (SIGNATURE_MODULE | SIGNATURE_SLOT | SIGNATURE_MEMBER_REF)) != 0)
    method = 0;
  if ((flags & SIGNATURE_INSTANCE) != 0)
    for (guint32 n = compressed_at (bytes, &at); n > 0; n--)
      if (!skip_type (bytes, &at, 0))
        return;
  if ((flags & SIGNATURE_CONSTRAINED) != 0 && !skip_type (bytes, &at, 0))
    return;
  if (!bytes->bad)
    add_entry (image, function_at (bytes, at), method);
}

/* A table of hashes: buckets of { hash, relative address }. */
static void
read_instances (FlamDotnetImage *image, Bytes *bytes)
{
  guint32 head = byte_at (bytes, 0);
  guint width = 1u << (head & 3);
  guint32 n = head >> 2 < 24 ? 1u << (head >> 2) : 0;
  guint32 at, end;

  if (n == 0 || width > 4)
    return;
  at = 1 + little (bytes, 1, width);
  end = 1 + little (bytes, 1 + n * width, width);
  while (at < end && !bytes->bad)
    {
      guint32 from = ++at;
      guint32 target = from + (guint32)signed_at (bytes, &at);

      read_instance (image, bytes, target);
    }
}

static gboolean
read_section (const FlamDotnetImage *image,
              const FlamRuntimeMemory *memory,
              const guint8 *section,
              Bytes *bytes)
{
  guint64 address = address_of (image, flam_runtime_u32 (section, 4));

  *bytes = (Bytes){ .size = flam_runtime_u32 (section, 8) };
  if (bytes->size == 0 || bytes->size > IMAGE_MAX / 8 || address == 0)
    return FALSE;
  bytes->bytes = g_malloc (bytes->size);
  if (flam_runtime_read (memory, address, bytes->bytes, bytes->size))
    return TRUE;
  g_free (bytes->bytes);
  return FALSE;
}

static void
read_functions (FlamDotnetImage *image, const Bytes *bytes)
{
  guint32 n = bytes->size / sizeof (Function);

  image->functions = g_new (Function, n);
  for (guint32 i = 0; i < n && i < ENTRIES_MAX; i++)
    {
      Function *function = &image->functions[i];

      *function = (Function){
        flam_runtime_u32 (bytes->bytes, i * sizeof *function),
        flam_runtime_u32 (bytes->bytes, i * sizeof *function + 4),
        flam_runtime_u32 (bytes->bytes, i * sizeof *function + 8),
      };
      /* A last one without an end closes the table. */
      if (function->end <= function->begin ||
          (i > 0 && function->begin < image->functions[i - 1].end))
        return;
      image->n_functions = i + 1;
    }
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *x = a;
  const Entry *y = b;

  return x->function < y->function ? -1 : x->function > y->function;
}

static void
read_precompiled (FlamDotnetImage *image,
                  const FlamRuntimeMemory *memory,
                  guint32 header)
{
  guint8 head[16], sections[64 * 12];
  guint64 at = address_of (image, header);
  guint32 n;

  if (image->flat || header == 0 ||
      !flam_runtime_read (memory, at, head, sizeof head) ||
      memcmp (head, "RTR\0", 4) != 0)
    return;
  n = flam_runtime_u32 (head, 12);
  if (n > 64 ||
      !flam_runtime_read (memory, at + sizeof head, sections, n * 12ul))
    return;
  /* They ascend by their kind: the functions come first. */
  for (guint32 i = 0; i < n; i++)
    {
      guint32 kind = flam_runtime_u32 (sections, i * 12);
      Bytes bytes;

      if ((kind != R2R_FUNCTIONS && kind != R2R_METHODS &&
           kind != R2R_INSTANCES) ||
          (kind == R2R_FUNCTIONS && image->functions != NULL) ||
          !read_section (image, memory, sections + i * 12ul, &bytes))
        continue;
      if (kind == R2R_FUNCTIONS)
        read_functions (image, &bytes);
      else if (kind == R2R_METHODS)
        read_methods (image, &bytes);
      else
        read_instances (image, &bytes);
      g_free (bytes.bytes);
    }
  g_array_sort (image->entries, compare_entries);
}

gboolean
flam_dotnet_image_find (const FlamDotnetImage *image,
                        guint64 address,
                        FlamDotnetFunction *function,
                        guint32 *method,
                        guint64 *start)
{
  guint64 relative = address - image->base;
  guint32 low = 0, high = image->n_functions;
  guint first = 0, last = image->entries->len;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (image->functions[middle].begin <= relative)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0 || relative >= image->functions[low - 1].end)
    return FALSE;
  *function = (FlamDotnetFunction){
    .base = image->base,
    .begin = image->base + image->functions[low - 1].begin,
    .end = image->base + image->functions[low - 1].end,
    .info = image->base + image->functions[low - 1].info,
  };
  while (first < last)
    {
      guint middle = first + (last - first) / 2;

      if (g_array_index (image->entries, Entry, middle).function < low)
        first = middle + 1;
      else
        last = middle;
    }
  *method = 0;
  *start = function->begin;
  if (first > 0)
    {
      const Entry *entry = &g_array_index (image->entries, Entry, first - 1);

      *method = entry->method;
      *start = image->base + image->functions[entry->function].begin;
    }
  return TRUE;
}

/* --- opening ------------------------------------------------------------- */

static gboolean
open_as (FlamDotnetImage *image,
         const FlamRuntimeMemory *memory,
         guint32 cli,
         gboolean flat)
{
  guint8 header[72];
  guint64 address;

  image->flat = flat;
  memset (image->tables, 0, sizeof image->tables);
  address = address_of (image, cli);
  if (address == 0 ||
      !flam_runtime_read (memory, address, header, sizeof header) ||
      flam_runtime_u32 (header, 0) != sizeof header)
    return FALSE;
  image->metadata = address_of (image, flam_runtime_u32 (header, 8));
  if (image->metadata == 0 || !read_metadata (image, memory))
    return FALSE;
  read_precompiled (image, memory, flam_runtime_u32 (header, 64));
  return TRUE;
}

FlamDotnetImage *
flam_dotnet_image_new (const FlamRuntimeMemory *memory, guint64 base)
{
  FlamDotnetImage *image;
  Headers headers;

  if (!read_headers (memory, base, &headers))
    return NULL;
  image = g_new0 (FlamDotnetImage, 1);
  image->base = base;
  image->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  if (read_sections (image, memory, &headers) &&
      (open_as (image, memory, headers.cli, FALSE) ||
       open_as (image, memory, headers.cli, TRUE)))
    return image;
  flam_dotnet_image_free (image);
  return NULL;
}

FlamDotnetImage *
flam_dotnet_image_new_around (const FlamRuntimeMemory *memory, guint64 name)
{
  guint64 page = name & ~(guint64)(PAGE - 1);

  for (guint i = 0; i < IMAGE_MAX / PAGE / 8 && page > 0; i++, page -= PAGE)
    {
      guint16 magic;
      Headers headers;
      FlamDotnetImage *image;

      if (!flam_runtime_read_u16 (memory, page, &magic) || magic != 0x5a4d ||
          !read_headers (memory, page, &headers))
        continue;
      image = flam_dotnet_image_new (memory, page);
      if (image != NULL &&
          read_text_cell (image, memory, ASSEMBLY, 1, 7) == name)
        return image;
      if (image != NULL)
        flam_dotnet_image_free (image);
      return NULL;
    }
  return NULL;
}

void
flam_dotnet_image_free (FlamDotnetImage *image)
{
  g_array_unref (image->entries);
  g_free (image->functions);
  g_free (image);
}
