/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-hotspot-private.h"

/* Marks a text for translation (flam-types.h); there is no GLib here. */
#define N_(String) (String)

#define ENTRIES_MAX 8192
#define STRIDE_MAX 256
#define VALUE_MAX 65535 /* of an offset or a size */
#define TEXT_MAX 64     /* of a name in the tables */
#define HOPS_MAX 200    /* in a segment map */
#define FREE_SEGMENT 0xff
#define SHIFT_MAX 20

enum
{
  STRUCTS,
  STRUCT_STRIDE,
  STRUCT_TYPE,
  STRUCT_FIELD,
  STRUCT_IS_STATIC,
  STRUCT_OFFSET,
  STRUCT_ADDRESS,
  TYPES,
  TYPE_STRIDE,
  TYPE_NAME,
  TYPE_SIZE,
};

const char *const flam_hotspot_symbols[FLAM_HOTSPOT_SYMBOLS] = {
  [STRUCTS] = "gHotSpotVMStructs",
  [STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
  [STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
  [STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
  [STRUCT_IS_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
  [STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
  [STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
  [TYPES] = "gHotSpotVMTypes",
  [TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
  [TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
  [TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
};

/* The offset of a field; without one, the size of the type. */
static const struct
{
  uint8_t field;
  const char *type;
  const char *name;
} wanted[] = {
  { BLOB_NAME, "CodeBlob", "_name" },
  { BLOB_SIZE, "CodeBlob", "_size" },
  { BLOB_FRAME_SIZE, "CodeBlob", "_frame_size" },
  { BLOB_FRAME_COMPLETE, "CodeBlob", "_frame_complete_offset" },
  { BLOB_CODE_BEGIN, "CodeBlob", "_code_begin" },
  { BLOB_CODE_END, "CodeBlob", "_code_end" },
  { BLOB_CODE_OFFSET, "CodeBlob", "_code_offset" },
  { BLOB_DATA_OFFSET, "CodeBlob", "_data_offset" },
  { BLOB_RELOCATION_SIZE, "CodeBlob", "_relocation_size" },
  { BLOB_MUTABLE_DATA, "CodeBlob", "_mutable_data" },
  { BLOB_MUTABLE_SIZE, "CodeBlob", "_mutable_data_size" },
  { BLOB_LENGTH, "CodeBlob", NULL },
  { NMETHOD_COMPILE_ID, "nmethod", "_compile_id" },
  { NMETHOD_METHOD, "nmethod", "_method" },
  { NMETHOD_METHOD, "CompiledMethod", "_method" },
  { NMETHOD_ORIG_PC, "nmethod", "_orig_pc_offset" },
  { NMETHOD_METADATA, "nmethod", "_metadata_offset" },
  { NMETHOD_SCOPES_PCS, "nmethod", "_scopes_pcs_offset" },
  { NMETHOD_SCOPES_DATA, "nmethod", "_scopes_data_offset" },
  { NMETHOD_SCOPES_BEGIN, "CompiledMethod", "_scopes_data_begin" },
  { NMETHOD_DEPENDENCIES, "nmethod", "_dependencies_offset" },
  { NMETHOD_IMMUTABLE, "nmethod", "_immutable_data" },
  { NMETHOD_IMMUTABLE_SIZE, "nmethod", "_immutable_data_size" },
  { NMETHOD_DEOPT, "nmethod", "_deoptimize_offset" },
  { NMETHOD_DEOPT, "nmethod", "_deopt_handler_offset" },
  { NMETHOD_DEOPT, "nmethod", "_deopt_handler_entry_offset" },
  { NMETHOD_DEOPT_MH, "nmethod", "_deoptimize_mh_offset" },
  { NMETHOD_DEOPT_MH, "nmethod", "_deopt_mh_handler_offset" },
  { NMETHOD_DEOPT_BEGIN, "CompiledMethod", "_deopt_handler_begin" },
  { NMETHOD_DEOPT_MH_BEGIN, "CompiledMethod", "_deopt_mh_handler_begin" },
  { HEAP_MEMORY, "CodeHeap", "_memory" },
  { HEAP_SEGMENT_MAP, "CodeHeap", "_segmap" },
  { HEAP_SHIFT, "CodeHeap", "_log2_segment_size" },
  { SPACE_LOW, "VirtualSpace", "_low_boundary" },
  { SPACE_HIGH, "VirtualSpace", "_high_boundary" },
  { HEADER_LENGTH, "HeapBlock", NULL },
  { ARRAY_DATA, "GrowableArray<int>", "_data" },
  { ARRAY_COUNT, "GenericGrowableArray", "_len" },
  { ARRAY_COUNT, "GrowableArrayBase", "_len" },
  { METHOD_CONST, "Method", "_constMethod" },
  { CONST_CONSTANTS, "ConstMethod", "_constants" },
  { CONST_CODE_SIZE, "ConstMethod", "_code_size" },
  { CONST_FLAGS, "ConstMethod", "_flags" },
  { CONST_FLAGS, "ConstMethod", "_flags._flags" },
  { CONST_NAME, "ConstMethod", "_name_index" },
  { CONST_LENGTH, "ConstMethod", NULL },
  { POOL_HOLDER, "ConstantPool", "_pool_holder" },
  { POOL_FILE, "ConstantPool", "_source_file_name_index" },
  { POOL_LENGTH, "ConstantPool", NULL },
  { CLASS_FILE, "InstanceKlass", "_source_file_name_index" },
  { CLASS_NAME, "Klass", "_name" },
  { SYMBOL_LENGTH, "Symbol", "_length" },
  { SYMBOL_BODY, "Symbol", "_body" },
  { DESCRIPTOR_PC, "PcDesc", "_pc_offset" },
  { DESCRIPTOR_SCOPE, "PcDesc", "_scope_decode_offset" },
  { DESCRIPTOR_LENGTH, "PcDesc", NULL },
  { LIST_COUNT, "ThreadsList", "_length" },
  { LIST_THREADS, "ThreadsList", "_threads" },
  { THREAD_SYSTEM, "JavaThread", "_osthread" },
  { THREAD_SYSTEM, "Thread", "_osthread" },
  { THREAD_OBJECT, "JavaThread", "_threadObj" },
  { SYSTEM_NUMBER, "OSThread", "_thread_id" },
  { CLASS_FIELDS, "InstanceKlass", "_fields" },
  { CLASS_STREAM, "InstanceKlass", "_fieldinfo_stream" },
  { CLASS_CONSTANTS, "InstanceKlass", "_constants" },
  { BYTES_DATA, "Array<u1>", "_data" },
  { SHORTS_DATA, "Array<u2>", "_data" },
};

/* The addresses of variables, while they are looked for. */
typedef struct
{
  uint64_t version;       /* JDK_Version: the major version in its first byte */
  uint64_t major_version; /* 22 on */
  uint64_t heap;          /* 8 */
  uint64_t heaps;         /* 9 on */
  uint64_t continuation;  /* 21 on */
  uint64_t threads;       /* 10 on */
  uint64_t thread_class, string_class;
  uint64_t object_base, object_shift, class_base, class_shift;
} Variables;

/* A name that begins with "*" is one in brackets. */
static const struct
{
  const char *type;
  const char *name;
  size_t at;
} variables[] = {
  { "JDK_Version", "_current", offsetof (Variables, version) },
  { "Abstract_VM_Version",
    "_vm_major_version",
    offsetof (Variables, major_version) },
  { "CodeCache", "_heap", offsetof (Variables, heap) },
  { "CodeCache", "_heaps", offsetof (Variables, heaps) },
  { "ContinuationEntry", "_return_pc", offsetof (Variables, continuation) },
  { "ThreadsSMRSupport", "_java_thread_list", offsetof (Variables, threads) },
  { "vmClasses", "*:Thread_klass_knum", offsetof (Variables, thread_class) },
  { "vmClasses", "*:String_klass_knum", offsetof (Variables, string_class) },
  { "SystemDictionary",
    "*:Thread_klass_knum",
    offsetof (Variables, thread_class) },
  { "SystemDictionary",
    "*:String_klass_knum",
    offsetof (Variables, string_class) },
  { "CompressedOops", "_base", offsetof (Variables, object_base) },
  { "CompressedOops", "_shift", offsetof (Variables, object_shift) },
  { "CompressedOops", "_narrow_oop._base", offsetof (Variables, object_base) },
  { "CompressedOops",
    "_narrow_oop._shift",
    offsetof (Variables, object_shift) },
  { "CompressedKlassPointers", "_base", offsetof (Variables, class_base) },
  { "CompressedKlassPointers", "_shift", offsetof (Variables, class_shift) },
  { "CompressedKlassPointers",
    "_narrow_klass._base",
    offsetof (Variables, class_base) },
  { "CompressedKlassPointers",
    "_narrow_klass._shift",
    offsetof (Variables, class_shift) },
};

/* An entry of one of the two tables. */
typedef struct
{
  char type[TEXT_MAX];
  char name[TEXT_MAX]; /* of the field; "" for a type */
  uint64_t value;      /* offset, size, or address of a variable */
  bool is_static;
} Entry;

/* --- tables -------------------------------------------------------------- */

bool
flam_hotspot_text (const FlamRuntimeMemory *memory,
                   uint64_t address,
                   char *text,
                   size_t size)
{
  size_t n = 0;

  while (n + 1 < size)
    {
      /* Up to the next multiple, so that no read crosses a page. */
      size_t piece = 64 - (address + n) % 64;

      if (piece > size - 1 - n)
        piece = size - 1 - n;
      if (address == 0 || !read_bytes (memory, address + n, text + n, piece))
        break;
      for (size_t i = 0; i < piece; i++)
        if (text[n + i] == '\0')
          return true;
      n += piece;
    }
  text[n] = '\0';
  return n > 0;
}

static void
take_field (FlamHotspot *hotspot, const Entry *entry)
{
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (strcmp (wanted[i].type, entry->type) == 0 &&
        strcmp (wanted[i].name != NULL ? wanted[i].name : "", entry->name) ==
            0 &&
        entry->value <= VALUE_MAX)
      hotspot->fields[wanted[i].field] = (uint32_t)entry->value;
  /* 12 on: the length is the upper half of a word. */
  if (strcmp (entry->type, "Symbol") == 0 &&
      strcmp (entry->name, "_length_and_refcount") == 0 &&
      !has (hotspot, SYMBOL_LENGTH) && entry->value <= VALUE_MAX)
    hotspot->fields[SYMBOL_LENGTH] = (uint32_t)entry->value + 2;
}

static void
insert_stub (FlamHotspot *hotspot,
             uint64_t entry,
             const char *name,
             size_t size)
{
  uint32_t at;

  if (hotspot->n_stubs == FLAM_HOTSPOT_STUBS)
    return;
  for (at = hotspot->n_stubs; at > 0 && hotspot->stubs[at - 1].entry > entry;
       at--)
    hotspot->stubs[at] = hotspot->stubs[at - 1];
  hotspot->stubs[at] = (FlamHotspotStub){ .entry = entry };
  if (size >= FLAM_HOTSPOT_STUB_NAME)
    size = FLAM_HOTSPOT_STUB_NAME - 1;
  memcpy (hotspot->stubs[at].name, name, size);
  hotspot->n_stubs++;
}

/* "_jbyte_disjoint_arraycopy" -> "jbyte_disjoint_arraycopy" */
static void
take_stub (FlamHotspot *hotspot,
           const FlamRuntimeMemory *memory,
           const Entry *entry)
{
  const char *name = entry->name + (entry->name[0] == '_');
  uint64_t address = 0;

  if (!read_word (memory, entry->value, &address) || address == 0)
    return;
  if (strcmp (entry->name, "_call_stub_return_address") == 0)
    hotspot->call_stub = address;
  else
    insert_stub (hotspot, address, name, strlen (name));
}

bool
flam_hotspot_stub_name (const char *symbol, char name[FLAM_HOTSPOT_STUB_NAME])
{
  static const char *const scopes[] = { "_ZN12StubRoutines3x86",
                                        "_ZN12StubRoutines" };
  size_t length = 0;

  for (unsigned i = 0; i < sizeof scopes / sizeof *scopes && length == 0; i++)
    if (strncmp (symbol, scopes[i], strlen (scopes[i])) == 0)
      {
        symbol += strlen (scopes[i]);
        for (; *symbol >= '0' && *symbol <= '9' && length < TEXT_MAX; symbol++)
          length = 10 * length + (size_t)(*symbol - '0');
      }
  if (length < 2 || length >= FLAM_HOTSPOT_STUB_NAME || *symbol != '_' ||
      strlen (symbol) != length + 1 || symbol[length] != 'E')
    return false;
  memset (name, 0, FLAM_HOTSPOT_STUB_NAME);
  memcpy (name, symbol + 1, length - 1);
  return true;
}

void
flam_hotspot_add_stub (FlamHotspot *hotspot,
                       const FlamRuntimeMemory *memory,
                       uint64_t address,
                       const char *name)
{
  uint64_t entry;

  if (!read_word (memory, address, &entry) ||
      !flam_hotspot_is_code (hotspot, entry))
    return;
  for (uint32_t i = 0; i < hotspot->n_stubs; i++)
    if (hotspot->stubs[i].entry == entry)
      return;
  insert_stub (hotspot, entry, name, strlen (name));
}

static bool
is_variable (const char *wanted_name, const char *name)
{
  return *wanted_name == '*' ? strstr (name, wanted_name + 1) != NULL
                             : strcmp (wanted_name, name) == 0;
}

static void
take_variable (FlamHotspot *hotspot,
               const FlamRuntimeMemory *memory,
               const Entry *entry,
               Variables *found)
{
  if (strcmp (entry->type, "StubRoutines") == 0)
    take_stub (hotspot, memory, entry);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (strcmp (variables[i].type, entry->type) == 0 &&
        is_variable (variables[i].name, entry->name))
      memcpy ((char *)found + variables[i].at, &entry->value, 8);
}

/* The offsets within an entry. The exported variables are filled in when the
 * library is loaded. */
static bool
read_offsets (const FlamRuntimeMemory *memory,
              const uint64_t *addresses,
              unsigned n,
              uint64_t *values)
{
  for (unsigned i = 0; i < n; i++)
    if (!read_word (memory, addresses[i], &values[i]) ||
        (i > 0 && values[i] >= STRIDE_MAX))
      return false;
  for (unsigned i = 2; i < n; i++)
    if (values[i] + 8 > values[1])
      return false;
  return values[0] != 0 && values[1] > 0;
}

/* TRUE if all of the table was read. */
static bool
read_structs (FlamHotspot *hotspot,
              const FlamRuntimeMemory *memory,
              const uint64_t *addresses,
              Variables *found)
{
  uint64_t at[7]; /* from STRUCTS on */

  if (!read_offsets (memory, addresses + STRUCTS, 7, at))
    return false;
  for (unsigned i = 0; i < ENTRIES_MAX; i++)
    {
      uint8_t bytes[STRIDE_MAX];
      Entry entry;
      uint64_t type;

      if (!read_bytes (memory, at[0] + i * at[1], bytes, at[1]))
        return false;
      type = flam_runtime_u64 (bytes, at[STRUCT_TYPE]);
      if (type == 0)
        return true;
      if (!flam_hotspot_text (memory, type, entry.type, TEXT_MAX) ||
          !flam_hotspot_text (memory,
                              flam_runtime_u64 (bytes, at[STRUCT_FIELD]),
                              entry.name,
                              TEXT_MAX))
        continue;
      entry.is_static = flam_runtime_u32 (bytes, at[STRUCT_IS_STATIC]) != 0;
      entry.value = flam_runtime_u64 (
          bytes, at[entry.is_static ? STRUCT_ADDRESS : STRUCT_OFFSET]);
      if (entry.is_static)
        take_variable (hotspot, memory, &entry, found);
      else
        take_field (hotspot, &entry);
    }
  return false;
}

static bool
read_types (FlamHotspot *hotspot,
            const FlamRuntimeMemory *memory,
            const uint64_t *addresses)
{
  uint64_t at[4]; /* from TYPES on */

  if (!read_offsets (memory, addresses + TYPES, 4, at))
    return false;
  for (unsigned i = 0; i < ENTRIES_MAX; i++)
    {
      uint8_t bytes[STRIDE_MAX];
      Entry entry = { .name = "" };
      uint64_t type;

      if (!read_bytes (memory, at[0] + i * at[1], bytes, at[1]))
        return false;
      type = flam_runtime_u64 (bytes, at[TYPE_NAME - TYPES]);
      if (type == 0)
        return true;
      if (!flam_hotspot_text (memory, type, entry.type, TEXT_MAX))
        continue;
      entry.value = flam_runtime_u64 (bytes, at[TYPE_SIZE - TYPES]);
      take_field (hotspot, &entry);
    }
  return false;
}

/* --- data that was read
 * ------------------------------------------------------- */

static bool
has_all (const FlamHotspot *hotspot, const uint8_t *fields, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!has (hotspot, fields[i]))
      return false;
  return true;
}

/* Whether everything that the version needs is present, and fits into the
 * pieces that are read at once. */
static bool
is_complete (FlamHotspot *hotspot)
{
  static const uint8_t always[] = {
    BLOB_NAME,        BLOB_FRAME_SIZE,    BLOB_FRAME_COMPLETE,
    BLOB_LENGTH,      NMETHOD_COMPILE_ID, NMETHOD_METHOD,
    NMETHOD_ORIG_PC,  NMETHOD_SCOPES_PCS, HEAP_MEMORY,
    HEAP_SEGMENT_MAP, HEAP_SHIFT,         SPACE_LOW,
    SPACE_HIGH,       HEADER_LENGTH,      METHOD_CONST,
    CONST_CONSTANTS,  CONST_CODE_SIZE,    CONST_FLAGS,
    CONST_NAME,       CONST_LENGTH,       POOL_HOLDER,
    POOL_LENGTH,      CLASS_NAME,         SYMBOL_LENGTH,
    SYMBOL_BODY,      DESCRIPTOR_PC,      DESCRIPTOR_SCOPE,
    DESCRIPTOR_LENGTH
  };
  static const uint8_t in_blob[] = { BLOB_NAME,
                                     BLOB_SIZE,
                                     BLOB_FRAME_SIZE,
                                     BLOB_FRAME_COMPLETE,
                                     BLOB_CODE_BEGIN,
                                     BLOB_CODE_END,
                                     BLOB_CODE_OFFSET,
                                     BLOB_DATA_OFFSET,
                                     BLOB_RELOCATION_SIZE,
                                     BLOB_MUTABLE_DATA,
                                     BLOB_MUTABLE_SIZE,
                                     NMETHOD_COMPILE_ID,
                                     NMETHOD_METHOD,
                                     NMETHOD_ORIG_PC,
                                     NMETHOD_METADATA,
                                     NMETHOD_SCOPES_PCS,
                                     NMETHOD_SCOPES_DATA,
                                     NMETHOD_SCOPES_BEGIN,
                                     NMETHOD_DEPENDENCIES,
                                     NMETHOD_IMMUTABLE,
                                     NMETHOD_IMMUTABLE_SIZE,
                                     NMETHOD_DEOPT,
                                     NMETHOD_DEOPT_MH,
                                     NMETHOD_DEOPT_BEGIN,
                                     NMETHOD_DEOPT_MH_BEGIN };
  static const uint8_t pointers[] = { BLOB_CODE_BEGIN, BLOB_CODE_END };
  static const uint8_t offsets[] = { BLOB_CODE_OFFSET, BLOB_DATA_OFFSET };
  uint32_t size = 0;

  for (size_t i = 0; i < sizeof in_blob; i++)
    if (has (hotspot, in_blob[i]) && hotspot->fields[in_blob[i]] + 8 > size)
      size = hotspot->fields[in_blob[i]] + 8;
  hotspot->header_size = size;
  return has_all (hotspot, always, sizeof always) && size <= HEADER_MAX &&
         hotspot->fields[BLOB_LENGTH] <= HEADER_MAX &&
         (has_all (hotspot, pointers, sizeof pointers) ||
          has_all (hotspot, offsets, sizeof offsets)) &&
         hotspot->fields[DESCRIPTOR_LENGTH] >= 8 &&
         hotspot->fields[DESCRIPTOR_LENGTH] <= 64 &&
         hotspot->fields[DESCRIPTOR_PC] + 4 <=
             hotspot->fields[DESCRIPTOR_LENGTH] &&
         hotspot->fields[DESCRIPTOR_SCOPE] + 4 <=
             hotspot->fields[DESCRIPTOR_LENGTH] &&
         (has (hotspot, POOL_FILE) || has (hotspot, CLASS_FILE));
}

static bool
read_heap (FlamHotspot *hotspot,
           const FlamRuntimeMemory *memory,
           uint64_t address)
{
  const uint32_t *fields = hotspot->fields;
  uint64_t space = address + fields[HEAP_MEMORY];
  uint64_t map = address + fields[HEAP_SEGMENT_MAP];
  FlamHotspotHeap heap = { 0 };
  uint32_t shift;

  if (hotspot->n_heaps == FLAM_HOTSPOT_HEAPS ||
      !read_word (memory, space + fields[SPACE_LOW], &heap.start) ||
      !read_word (memory, space + fields[SPACE_HIGH], &heap.end) ||
      !read_word (memory, map + fields[SPACE_LOW], &heap.segment_map) ||
      !read_bytes (memory, address + fields[HEAP_SHIFT], &shift, sizeof shift))
    return false;
  if (heap.start == 0 || heap.end <= heap.start || heap.segment_map == 0 ||
      shift == 0 || shift > SHIFT_MAX)
    return false;
  heap.shift = (uint8_t)shift;
  hotspot->heaps[hotspot->n_heaps++] = heap;
  return true;
}

/* FALSE: there are none yet. */
static bool
read_heaps (FlamHotspot *hotspot,
            const FlamRuntimeMemory *memory,
            const Variables *found)
{
  const uint32_t *fields = hotspot->fields;
  uint64_t array = 0, data = 0, heap = 0;
  uint32_t n = 0;

  if (found->heap != 0)
    return read_word (memory, found->heap, &heap) && heap != 0 &&
           read_heap (hotspot, memory, heap);
  if (!has (hotspot, ARRAY_DATA) || !has (hotspot, ARRAY_COUNT) ||
      !read_word (memory, found->heaps, &array) || array == 0 ||
      !read_bytes (memory, array + fields[ARRAY_COUNT], &n, sizeof n) ||
      !read_word (memory, array + fields[ARRAY_DATA], &data))
    return false;
  if (n == 0 || n > FLAM_HOTSPOT_HEAPS)
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (!read_word (memory, data + 8 * i, &heap) ||
        !read_heap (hotspot, memory, heap))
      return false;
  return true;
}

static uint32_t
read_version (const FlamRuntimeMemory *memory, const Variables *found)
{
  uint32_t value = 0;

  if (found->version != 0 &&
      read_bytes (memory, found->version, &value, sizeof value))
    return value & 0xff;
  if (found->major_version != 0 &&
      read_bytes (memory, found->major_version, &value, sizeof value))
    return value;
  return 0;
}

FlamHotspotState
flam_hotspot_open (FlamHotspot *hotspot,
                   const FlamRuntimeMemory *memory,
                   const uint64_t addresses[FLAM_HOTSPOT_SYMBOLS],
                   const char **why)
{
  Variables found = { 0 };

  memset (hotspot, 0, sizeof *hotspot);
  for (unsigned i = 0; i < FLAM_HOTSPOT_FIELDS; i++)
    hotspot->fields[i] = ABSENT;
  *why = NULL;
  for (unsigned i = 0; i < FLAM_HOTSPOT_SYMBOLS; i++)
    if (addresses[i] == 0)
      {
        *why = N_ ("its libjvm.so does not export its tables");
        return FLAM_HOTSPOT_UNREADABLE;
      }
  if (!read_structs (hotspot, memory, addresses, &found) ||
      !read_types (hotspot, memory, addresses))
    return FLAM_HOTSPOT_EARLY;
  if (!is_complete (hotspot))
    {
      *why = N_ ("this version is not supported: 8 to 25 are");
      return FLAM_HOTSPOT_UNREADABLE;
    }
  hotspot->version = read_version (memory, &found);
  hotspot->continuation = found.continuation;
  hotspot->threads = found.threads;
  hotspot->thread_class = found.thread_class;
  hotspot->string_class = found.string_class;
  hotspot->object_base = found.object_base;
  hotspot->object_shift = found.object_shift;
  hotspot->class_base = found.class_base;
  hotspot->class_shift = found.class_shift;
  if (hotspot->version == 0 || hotspot->call_stub == 0 ||
      !read_heaps (hotspot, memory, &found))
    return FLAM_HOTSPOT_EARLY;
  if (hotspot->version < 8)
    {
      *why = N_ ("this version is not supported: 8 to 25 are");
      return FLAM_HOTSPOT_UNREADABLE;
    }
  return FLAM_HOTSPOT_READY;
}

/* --- blobs --------------------------------------------------------------- */

static const FlamHotspotHeap *
find_heap (const FlamHotspot *hotspot, uint64_t pc)
{
  for (uint32_t i = 0; i < hotspot->n_heaps; i++)
    if (pc >= hotspot->heaps[i].start && pc < hotspot->heaps[i].end)
      return &hotspot->heaps[i];
  return NULL;
}

bool
flam_hotspot_is_code (const FlamHotspot *hotspot, uint64_t pc)
{
  return find_heap (hotspot, pc) != NULL;
}

bool
flam_hotspot_has_code (const FlamHotspot *hotspot, uint64_t start, uint64_t end)
{
  for (uint32_t i = 0; i < hotspot->n_heaps; i++)
    if (start < hotspot->heaps[i].end && end > hotspot->heaps[i].start)
      return true;
  return false;
}

bool
flam_hotspot_read_blob (const FlamHotspot *hotspot,
                        const FlamRuntimeMemory *memory,
                        uint64_t address,
                        Blob *blob)
{
  const uint32_t *fields = hotspot->fields;
  const uint8_t *header = blob->header;
  uint16_t complete;

  /* A blob that is not an nmethod is shorter, and may be the last one. */
  if (!read_bytes (memory, address, blob->header, hotspot->header_size))
    {
      memset (blob->header, 0, sizeof blob->header);
      if (!read_bytes (memory, address, blob->header, fields[BLOB_LENGTH]))
        return false;
    }
  blob->address = address;
  blob->name = flam_runtime_u64 (header, fields[BLOB_NAME]);
  blob->frame_size =
      8 * (uint64_t)flam_runtime_u32 (header, fields[BLOB_FRAME_SIZE]);
  if (has (hotspot, BLOB_CODE_BEGIN))
    {
      blob->code = flam_runtime_u64 (header, fields[BLOB_CODE_BEGIN]);
      blob->end = flam_runtime_u64 (header, fields[BLOB_CODE_END]);
    }
  else
    {
      blob->code =
          address + flam_runtime_u32 (header, fields[BLOB_CODE_OFFSET]);
      blob->end = address + flam_runtime_u32 (header, fields[BLOB_DATA_OFFSET]);
    }
  complete = short_at (header, fields[BLOB_FRAME_COMPLETE]);
  /* -1: the code never has a complete frame. */
  blob->complete = complete == UINT16_MAX ? blob->end : blob->code + complete;
  return blob->code > address && blob->end >= blob->code;
}

bool
flam_hotspot_find_blob (const FlamHotspot *hotspot,
                        const FlamRuntimeMemory *memory,
                        uint64_t pc,
                        Blob *blob)
{
  const FlamHotspotHeap *heap = find_heap (hotspot, pc);
  uint64_t segment;
  uint8_t back = 0;

  if (heap == NULL)
    return false;
  segment = (pc - heap->start) >> heap->shift;
  for (unsigned i = 0; i < HOPS_MAX; i++)
    {
      if (!read_bytes (memory, heap->segment_map + segment, &back, 1) ||
          back == FREE_SEGMENT || back > segment)
        return false;
      if (back == 0)
        break;
      segment -= back;
    }
  return back == 0 &&
         flam_hotspot_read_blob (hotspot,
                                 memory,
                                 heap->start + (segment << heap->shift) +
                                     hotspot->fields[HEADER_LENGTH],
                                 blob) &&
         pc >= blob->code && pc <= blob->end;
}
