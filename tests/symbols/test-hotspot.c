/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A virtual machine's memory, made by hand with the offsets of JDK 17.0.15 and
 * of 25.0.3; and invalid memory. */

#include "flam-hotspot.h"

#include <string.h>

#define BASE 0x10000000ull
#define SIZE 0x40000u
#define VARIABLES BASE /* the exported ones */
#define STRUCTS (BASE + 0x1000)
#define TYPES (BASE + 0x4000)
#define STATICS (BASE + 0x6000)
#define TEXT (BASE + 0x8000)
#define HEAP (BASE + 0x10000)
#define HEAP_SIZE 0x10000u
#define SEGMENTS (BASE + 0x20000)
#define METHODS (BASE + 0x24000)
#define OUTSIDE (BASE + 0x28000) /* an nmethod's data in 25 */
#define THREADS (BASE + 0x2a000) /* the list, threads, their system's part */
#define THREAD_CLASS (BASE + 0x2c000)
#define STRING_CLASS (BASE + 0x2d000)
#define OBJECTS (BASE + 0x2e000)
#define STACK (BASE + 0x30000)
#define LIBRARY 0x7f0000001234ull /* code of the library, not readable */

#define STRIDE 48 /* of an entry in the tables */

typedef struct
{
  guint8 bytes[SIZE];
  guint version;
  guint64 text, entry; /* the next free place */
  guint64 hidden;      /* up to there the stack is not readable; 0: it is */
  guint reads;
} Fake;

static bool
read_fake (void *data, uint64_t address, void *to, size_t size)
{
  Fake *fake = data;

  fake->reads++;
  if (address < BASE || address > BASE + SIZE || size > BASE + SIZE - address)
    return false;
  if (address >= STACK && address < fake->hidden)
    return false;
  memcpy (to, fake->bytes + (address - BASE), size);
  return true;
}

static void
put_bytes (Fake *fake, guint64 address, const void *bytes, gsize size)
{
  if (size > 0)
    memcpy (fake->bytes + (address - BASE), bytes, size);
}

static void
put (Fake *fake, guint64 address, guint64 value)
{
  put_bytes (fake, address, &value, 8);
}

static void
put_half (Fake *fake, guint64 address, guint32 value)
{
  put_bytes (fake, address, &value, 4);
}

static void
put_short (Fake *fake, guint64 address, guint16 value)
{
  put_bytes (fake, address, &value, 2);
}

static guint64
put_text (Fake *fake, const char *text)
{
  guint64 at = fake->text;

  put_bytes (fake, at, text, strlen (text) + 1);
  fake->text += strlen (text) + 1;
  return at;
}

/* --- the tables ---------------------------------------------------------- */

typedef struct
{
  const char *type;
  const char *field;
  int offset_17; /* -1: there is none */
  int offset_25;
} Field;

static const Field fields[] = {
  { "CodeBlob", "_name", 96, 8 },
  { "CodeBlob", "_size", 12, 24 },
  { "CodeBlob", "_frame_size", 28, 44 },
  { "CodeBlob", "_frame_complete_offset", 20, 54 },
  { "CodeBlob", "_code_begin", 32, -1 },
  { "CodeBlob", "_code_end", 40, -1 },
  { "CodeBlob", "_code_offset", -1, 36 },
  { "CodeBlob", "_data_offset", -1, 40 },
  { "CodeBlob", "_relocation_size", -1, 28 },
  { "CodeBlob", "_mutable_data", -1, 16 },
  { "CodeBlob", "_mutable_data_size", -1, 48 },
  { "nmethod", "_compile_id", 304, 212 },
  { "nmethod", "_method", -1, 80 },
  { "CompiledMethod", "_method", 112, -1 },
  { "nmethod", "_orig_pc_offset", 300, 208 },
  { "nmethod", "_metadata_offset", 260, -1 },
  { "nmethod", "_scopes_pcs_offset", 268, 196 },
  { "nmethod", "_scopes_data_offset", -1, 200 },
  { "CompiledMethod", "_scopes_data_begin", 120, -1 },
  { "nmethod", "_dependencies_offset", 272, -1 },
  { "nmethod", "_immutable_data", -1, 96 },
  { "nmethod", "_immutable_data_size", -1, 160 },
  { "nmethod", "_deopt_handler_offset", -1, 176 },
  { "CompiledMethod", "_deopt_handler_begin", 128, -1 },
  { "CodeHeap", "_memory", 8, 0 },
  { "CodeHeap", "_segmap", 120, 112 },
  { "CodeHeap", "_log2_segment_size", 256, 248 },
  { "VirtualSpace", "_low_boundary", 0, 0 },
  { "VirtualSpace", "_high_boundary", 8, 8 },
  { "GrowableArray<int>", "_data", 8, 8 },
  { "GrowableArrayBase", "_len", 0, 0 },
  { "Method", "_constMethod", 8, 8 },
  { "ConstMethod", "_constants", 8, 8 },
  { "ConstMethod", "_code_size", 32, 34 },
  { "ConstMethod", "_flags", 28, -1 },
  { "ConstMethod", "_flags._flags", -1, 28 },
  { "ConstMethod", "_name_index", 34, 36 },
  { "ConstantPool", "_pool_holder", 24, 24 },
  { "ConstantPool", "_source_file_name_index", 54, 54 },
  { "Klass", "_name", 24, 24 },
  { "Symbol", "_length", 4, 4 },
  { "Symbol", "_body", 6, 6 },
  { "PcDesc", "_pc_offset", 0, 0 },
  { "PcDesc", "_scope_decode_offset", 4, 4 },
  { "ThreadsList", "_length", 4, 4 },
  { "ThreadsList", "_threads", 16, 16 },
  { "JavaThread", "_osthread", 560, -1 },
  { "Thread", "_osthread", -1, 1016 },
  { "JavaThread", "_threadObj", 648, 1120 },
  { "OSThread", "_thread_id", 208, 12 },
  { "InstanceKlass", "_fields", 456, -1 },
  { "InstanceKlass", "_fieldinfo_stream", -1, 448 },
  { "InstanceKlass", "_constants", 232, 224 },
  { "Array<u1>", "_data", 4, 4 },
  { "Array<u2>", "_data", 4, 4 },
};

static const Field sizes[] = {
  { "CodeBlob", NULL, 104, 64 },   { "HeapBlock", NULL, 16, 8 },
  { "ConstMethod", NULL, 48, 56 }, { "ConstantPool", NULL, 72, 72 },
  { "PcDesc", NULL, 16, 16 },
};

static guint64
offset_in (const Fake *fake, const Field *list, guint n, const Field *wanted)
{
  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (list[i].type, wanted->type) == 0 &&
        g_strcmp0 (list[i].field, wanted->field) == 0)
      return (guint64)(fake->version < 25 ? list[i].offset_17
                                          : list[i].offset_25);
  g_assert_not_reached ();
}

/* The address of a field. */
#define AT(fake, address, type, field)                                         \
  ((address) + offset_in ((fake),                                              \
                          fields,                                              \
                          G_N_ELEMENTS (fields),                               \
                          &(Field){ (type), (field), 0, 0 }))
#define SIZE_OF(fake, type)                                                    \
  (offset_in (                                                                 \
      (fake), sizes, G_N_ELEMENTS (sizes), &(Field){ (type), NULL, 0, 0 }))

/* The variables that the library exports, one after another. */
static guint64
variable (guint i)
{
  return VARIABLES + 8 * i;
}

static void
addresses_of (uint64_t addresses[FLAM_HOTSPOT_SYMBOLS])
{
  for (guint i = 0; i < FLAM_HOTSPOT_SYMBOLS; i++)
    addresses[i] = variable (i);
}

/* A field's entry; with `address`, a variable's. */
static void
put_entry (Fake *fake,
           const char *type,
           const char *field,
           guint64 offset,
           guint64 address)
{
  put (fake, fake->entry, put_text (fake, type));
  put (fake, fake->entry + 8, put_text (fake, field));
  put_half (fake, fake->entry + 24, address != 0);
  put (fake, fake->entry + 32, offset);
  put (fake, fake->entry + 40, address);
  fake->entry += STRIDE;
}

static void
put_variable (Fake *fake, const char *type, const char *name, guint64 value)
{
  static guint n;
  guint64 at = STATICS + 0x400 + 8 * (n++ % 32);

  put (fake, at, value);
  put_entry (fake, type, name, 0, at);
}

static void
put_tables (Fake *fake)
{
  static const struct
  {
    const char *name;
    guint64 value;
  } exported[] = {
    { "gHotSpotVMStructs", STRUCTS },
    { "gHotSpotVMStructEntryArrayStride", STRIDE },
    { "gHotSpotVMStructEntryTypeNameOffset", 0 },
    { "gHotSpotVMStructEntryFieldNameOffset", 8 },
    { "gHotSpotVMStructEntryIsStaticOffset", 24 },
    { "gHotSpotVMStructEntryOffsetOffset", 32 },
    { "gHotSpotVMStructEntryAddressOffset", 40 },
    { "gHotSpotVMTypes", TYPES },
    { "gHotSpotVMTypeEntryArrayStride", STRIDE },
    { "gHotSpotVMTypeEntryTypeNameOffset", 0 },
    { "gHotSpotVMTypeEntrySizeOffset", 32 },
  };

  for (guint i = 0; i < FLAM_HOTSPOT_SYMBOLS; i++)
    for (guint j = 0; j < G_N_ELEMENTS (exported); j++)
      if (strcmp (flam_hotspot_symbols[i], exported[j].name) == 0)
        put (fake, variable (i), exported[j].value);
  fake->entry = STRUCTS;
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if ((fake->version < 25 ? fields[i].offset_17 : fields[i].offset_25) >= 0)
      put_entry (fake,
                 fields[i].type,
                 fields[i].field,
                 offset_in (fake, fields, G_N_ELEMENTS (fields), &fields[i]),
                 0);
  if (fake->version < 22)
    put_variable (fake, "JDK_Version", "_current", 0x0f000000 | fake->version);
  else
    put_variable (
        fake, "Abstract_VM_Version", "_vm_major_version", fake->version);
  put_variable (fake, "CodeCache", "_heaps", STATICS);
  put_variable (
      fake, "StubRoutines", "_call_stub_return_address", HEAP + 0x2000 + 0x140);
  put_variable (
      fake, "StubRoutines", "_jbyte_arraycopy", HEAP + 0x2000 + 0x180);
  put_variable (fake, "ThreadsSMRSupport", "_java_thread_list", THREADS + 0x10);
  put_variable (fake,
                "vmClasses",
                "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]",
                THREAD_CLASS);
  put_variable (fake,
                "vmClasses",
                "_klasses[static_cast<int>(vmClassID::String_klass_knum)]",
                STRING_CLASS);
  put_variable (fake,
                "CompressedOops",
                fake->version < 25 ? "_narrow_oop._base" : "_base",
                OBJECTS);
  put_variable (fake,
                "CompressedOops",
                fake->version < 25 ? "_narrow_oop._shift" : "_shift",
                3);
  put_variable (fake,
                "CompressedKlassPointers",
                fake->version < 25 ? "_narrow_klass._base" : "_base",
                BASE);
  put_variable (fake,
                "CompressedKlassPointers",
                fake->version < 25 ? "_narrow_klass._shift" : "_shift",
                0);
  fake->entry = TYPES;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      put (fake, fake->entry, put_text (fake, sizes[i].type));
      put (fake,
           fake->entry + 32,
           offset_in (fake, sizes, G_N_ELEMENTS (sizes), &sizes[i]));
      fake->entry += STRIDE;
    }
}

/* --- the code heap ------------------------------------------------------- */

/* One heap with segments of 128 bytes, all of them free. */
static void
put_heap (Fake *fake)
{
  guint64 heap = STATICS + 0x40,
          memory = AT (fake, heap, "CodeHeap", "_memory");
  guint64 map = AT (fake, heap, "CodeHeap", "_segmap");

  put_half (fake, STATICS, 1); /* the array: one heap */
  put (fake, STATICS + 8, STATICS + 0x20);
  put (fake, STATICS + 0x20, heap);
  put (fake, memory, HEAP);
  put (fake, memory + 8, HEAP + HEAP_SIZE);
  put (fake, map, SEGMENTS);
  put_half (fake, AT (fake, heap, "CodeHeap", "_log2_segment_size"), 7);
  memset (fake->bytes + (SEGMENTS - BASE), 0xff, HEAP_SIZE / 128);
}

/* A block with a blob of 0x800 bytes, whose code begins at 0x140. */
static guint64
put_blob (Fake *fake, guint64 block, const char *name, guint frame_words)
{
  guint64 blob = block + SIZE_OF (fake, "HeapBlock");

  for (guint i = 0; i < 16; i++)
    fake->bytes[SEGMENTS - BASE + (block - HEAP) / 128 + i] = (guint8)i;
  put (fake, AT (fake, blob, "CodeBlob", "_name"), put_text (fake, name));
  put_half (
      fake, AT (fake, blob, "CodeBlob", "_frame_size"), (guint32)frame_words);
  put_short (fake, AT (fake, blob, "CodeBlob", "_frame_complete_offset"), 12);
  put_half (fake, AT (fake, blob, "CodeBlob", "_size"), 0x7f0);
  if (fake->version < 25)
    {
      put (fake, AT (fake, blob, "CodeBlob", "_code_begin"), block + 0x140);
      put (fake, AT (fake, blob, "CodeBlob", "_code_end"), block + 0x400);
    }
  else
    {
      put_half (fake,
                AT (fake, blob, "CodeBlob", "_code_offset"),
                (guint32)(block + 0x140 - blob));
      put_half (fake,
                AT (fake, blob, "CodeBlob", "_data_offset"),
                (guint32)(block + 0x400 - blob));
    }
  return blob;
}

/* UNSIGNED5: from 20 on no byte is 0, each is one more. */
static guint64
put_number (Fake *fake, guint64 at, guint8 byte)
{
  g_assert_cmpint (byte, <, 190);
  fake->bytes[at - BASE] = byte + (fake->version >= 20);
  return at + 1;
}

#define NMETHOD_BLOCK (HEAP + 0x1000)
#define CODE (NMETHOD_BLOCK + 0x140)
#define COMPILE_ID 77

/* Compiled code with two descriptors: at its pc 0x20 `inner` is inlined in
 * `outer`, at 0x50 there is only `outer`. */
static guint64
put_nmethod (Fake *fake, guint64 inner, guint64 outer)
{
  guint64 blob = put_blob (fake, NMETHOD_BLOCK, "nmethod", 6);
  guint64 metadata, descriptors, scopes, at;

  put_half (fake, AT (fake, blob, "nmethod", "_compile_id"), COMPILE_ID);
  put_half (fake, AT (fake, blob, "nmethod", "_orig_pc_offset"), 16);
  if (fake->version < 25)
    {
      put (fake, AT (fake, blob, "CompiledMethod", "_method"), outer);
      put (fake,
           AT (fake, blob, "CompiledMethod", "_deopt_handler_begin"),
           CODE + 0x100);
      metadata = blob + 0x400;
      scopes = blob + 0x440;
      descriptors = blob + 0x480;
      put_half (fake, AT (fake, blob, "nmethod", "_metadata_offset"), 0x400);
      put (fake,
           AT (fake, blob, "CompiledMethod", "_scopes_data_begin"),
           scopes);
      put_half (fake, AT (fake, blob, "nmethod", "_scopes_pcs_offset"), 0x480);
      put_half (
          fake, AT (fake, blob, "nmethod", "_dependencies_offset"), 0x4c0);
    }
  else
    {
      put (fake, AT (fake, blob, "nmethod", "_method"), outer);
      put_half (fake,
                AT (fake, blob, "nmethod", "_deopt_handler_offset"),
                (guint32)(CODE + 0x100 - blob));
      metadata = OUTSIDE + 0x820;
      descriptors = OUTSIDE + 0x10;
      scopes = OUTSIDE + 0x50;
      put (fake, AT (fake, blob, "CodeBlob", "_mutable_data"), OUTSIDE + 0x800);
      put_half (fake, AT (fake, blob, "CodeBlob", "_relocation_size"), 0x20);
      put_half (fake, AT (fake, blob, "CodeBlob", "_mutable_data_size"), 0x30);
      put (fake, AT (fake, blob, "nmethod", "_immutable_data"), OUTSIDE);
      put_half (fake, AT (fake, blob, "nmethod", "_scopes_pcs_offset"), 0x10);
      put_half (fake, AT (fake, blob, "nmethod", "_scopes_data_offset"), 0x50);
      put_half (fake, AT (fake, blob, "nmethod", "_immutable_data_size"), 0x80);
    }
  put (fake, metadata, inner);
  put (fake, metadata + 8, outer);
  /* Scopes: the caller's, the method's number, the bytecode plus 1. */
  at = put_number (fake, scopes + 1, 0);
  at = put_number (fake, at, 2);
  put_number (fake, at, 4 + 1);
  at = put_number (fake, scopes + 8, 1);
  at = put_number (fake, at, 1);
  put_number (fake, at, 2 + 1);
  /* Descriptors: the first and the last are marks. */
  put_half (fake, descriptors, (guint32)-1);
  put_half (fake, descriptors + 16, 0x20);
  put_half (fake, descriptors + 20, 8);
  put_half (fake, descriptors + 32, 0x50);
  put_half (fake, descriptors + 36, 1);
  put_half (fake, descriptors + 48, 0x2c0);
  return blob;
}

/* --- methods ------------------------------------------------------------- */

static guint64
put_symbol (Fake *fake, const char *text)
{
  guint64 at = (fake->text + 7) & ~7ull;

  put_short (fake, AT (fake, at, "Symbol", "_length"), (guint16)strlen (text));
  put_bytes (fake, AT (fake, at, "Symbol", "_body"), text, strlen (text));
  fake->text = at + 6 + strlen (text);
  return at;
}

/* The method's place; its ConstMethod is at 0x40, with 8 bytes of code, the
 * lines after them, its constants at 0x100, its class at 0x200. */
static guint64
put_method (Fake *fake,
            guint i,
            const char *class,
            const char *name,
            const char *file,
            const guint8 *lines,
            gsize n_lines)
{
  guint64 method = METHODS + i * 0x400, constant = method + 0x40;
  guint64 pool = method + 0x100, holder = method + 0x200;

  put (fake, AT (fake, method, "Method", "_constMethod"), constant);
  put (fake, AT (fake, constant, "ConstMethod", "_constants"), pool);
  put_short (fake, AT (fake, constant, "ConstMethod", "_code_size"), 8);
  put_short (fake, AT (fake, constant, "ConstMethod", "_name_index"), 3);
  fake->bytes[AT (fake,
                  constant,
                  "ConstMethod",
                  fake->version < 25 ? "_flags" : "_flags._flags") -
              BASE] = n_lines > 0;
  put_bytes (
      fake, constant + SIZE_OF (fake, "ConstMethod") + 8, lines, n_lines);
  put (fake, AT (fake, pool, "ConstantPool", "_pool_holder"), holder);
  put_short (
      fake, AT (fake, pool, "ConstantPool", "_source_file_name_index"), 4);
  /* The lowest bit of an entry is a mark. */
  put (fake,
       pool + SIZE_OF (fake, "ConstantPool") + 3 * 8,
       put_symbol (fake, name) | 1);
  put (fake,
       pool + SIZE_OF (fake, "ConstantPool") + 4 * 8,
       put_symbol (fake, file));
  put (fake, AT (fake, holder, "Klass", "_name"), put_symbol (fake, class));
  return method;
}

static guint64
bytecode_of (const Fake *fake, guint64 method, guint at)
{
  return method + 0x40 + SIZE_OF (fake, "ConstMethod") + at;
}

/* From bytecode 0 line 10 on, from 3 line 12, from 5 line 11: a short pair is 8
 * times the difference of bytecodes, plus that of lines; a long one, after 255,
 * is two signed numbers, doubled, with the sign in the lowest bit. */
static const guint8 lines_17[] = { 255, 0, 20, 3 << 3 | 2, 255, 4, 1, 0 };
static const guint8 lines_25[] = { 255, 1, 21, 3 << 3 | 2, 255, 5, 2, 0 };

typedef struct
{
  Fake *fake;
  FlamHotspot hotspot;
  FlamRuntimeMemory memory;
  FlamRuntimeName *name;
  guint64 inner, outer;
} Setup;

static void
set_up (Setup *setup, guint version)
{
  uint64_t addresses[FLAM_HOTSPOT_SYMBOLS];
  const guint8 *lines = version < 20 ? lines_17 : lines_25;
  const char *why;
  Fake *fake = setup->fake = g_new0 (Fake, 1);

  fake->version = version;
  fake->text = TEXT;
  put_tables (fake);
  put_heap (fake);
  setup->inner = put_method (
      fake, 0, "shop/Cart$Item", "price", "Cart.java", lines, sizeof lines_17);
  setup->outer = put_method (
      fake, 1, "shop/Cart", "total", "Cart.java", lines, sizeof lines_17);
  put_blob (fake, HEAP, "Interpreter", 0);
  put_nmethod (fake, setup->inner, setup->outer);
  put_blob (fake, HEAP + 0x2000, "StubRoutines (1)", 0);
  setup->memory = (FlamRuntimeMemory){ read_fake, fake };
  setup->name = flam_runtime_name_new ();
  addresses_of (addresses);
  g_assert_cmpint (
      flam_hotspot_open (&setup->hotspot, &setup->memory, addresses, &why),
      ==,
      FLAM_HOTSPOT_READY);
  g_assert_null (why);
}

static void
tear_down (Setup *setup)
{
  g_free (setup->fake);
  g_free (setup->name);
}

/* From variables that the tables for debuggers do not mention. */
static void
test_variables (gconstpointer version)
{
  static const struct
  {
    const char *symbol, *name;
  } symbols[] = {
    { "_ZN12StubRoutines5_dsinE", "dsin" },
    { "_ZN12StubRoutines3x8611_float_signE", "float_sign" },
    { "_ZN12StubRoutines24_jbyte_disjoint_arraycopyE", NULL },
    { "_ZN12StubRoutines5dsin_E", NULL },
    { "_ZN12StubRoutines99999999999999999999_dsinE", NULL },
    { "_ZN12StubRoutines1_E", NULL },
    { "_ZN13StubGenerator5_dsinE", NULL },
    { "dsin", NULL },
  };
  const guint64 variable = STATICS + 0x800;
  char name[FLAM_HOTSPOT_STUB_NAME];
  Setup setup;
  guint n;

  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    {
      gboolean is_stub = flam_hotspot_stub_name (symbols[i].symbol, name);

      g_assert_cmpstr (is_stub ? name : NULL, ==, symbols[i].name);
    }
  set_up (&setup, GPOINTER_TO_UINT (version));
  n = setup.hotspot.n_stubs;
  /* A variable that is not set yet, and one with an address in no heap. */
  put (setup.fake, variable, 0);
  flam_hotspot_add_stub (&setup.hotspot, &setup.memory, variable, "late");
  put (setup.fake, variable, STATICS);
  flam_hotspot_add_stub (&setup.hotspot, &setup.memory, variable, "data");
  g_assert_cmpuint (setup.hotspot.n_stubs, ==, n);
  put (setup.fake, variable, HEAP + 0x2104);
  flam_hotspot_add_stub (&setup.hotspot, &setup.memory, variable, "dsin");
  flam_hotspot_add_stub (&setup.hotspot, &setup.memory, variable, "again");
  g_assert_cmpuint (setup.hotspot.n_stubs, ==, n + 1);
  g_assert_cmpstr (setup.hotspot.stubs[0].name, ==, "dsin");
  g_assert_cmpstr (setup.hotspot.stubs[1].name, ==, "jbyte_arraycopy");
  tear_down (&setup);
}

static void
test_open (gconstpointer version)
{
  Setup setup;
  uint64_t addresses[FLAM_HOTSPOT_SYMBOLS];
  const char *why;

  set_up (&setup, GPOINTER_TO_UINT (version));
  g_assert_cmpint (setup.hotspot.version, ==, GPOINTER_TO_UINT (version));
  g_assert_cmpint (setup.hotspot.n_heaps, ==, 1);
  g_assert_cmphex (setup.hotspot.call_stub, ==, HEAP + 0x2140);
  g_assert_cmpstr (setup.hotspot.stubs[0].name, ==, "jbyte_arraycopy");
  g_assert_true (flam_hotspot_is_code (&setup.hotspot, HEAP));
  g_assert_false (flam_hotspot_is_code (&setup.hotspot, HEAP + HEAP_SIZE));
  g_assert_true (
      flam_hotspot_has_code (&setup.hotspot, HEAP - 0x1000, HEAP + 1));
  g_assert_false (flam_hotspot_has_code (&setup.hotspot, HEAP - 0x1000, HEAP));

  /* The heaps are not made yet. */
  put_half (setup.fake, STATICS, 0);
  addresses_of (addresses);
  g_assert_cmpint (
      flam_hotspot_open (&setup.hotspot, &setup.memory, addresses, &why),
      ==,
      FLAM_HOTSPOT_EARLY);
  /* A field is missing: the first entry's name. */
  put_half (setup.fake, STATICS, 1);
  put (setup.fake, STRUCTS + 8, STRUCTS);
  g_assert_cmpint (
      flam_hotspot_open (&setup.hotspot, &setup.memory, addresses, &why),
      ==,
      FLAM_HOTSPOT_UNREADABLE);
  g_assert_cmpstr (why, ==, "this version is not supported: 8 to 25 are");
  addresses[3] = 0;
  g_assert_cmpint (
      flam_hotspot_open (&setup.hotspot, &setup.memory, addresses, &why),
      ==,
      FLAM_HOTSPOT_UNREADABLE);
  tear_down (&setup);
}

/* --- frames -------------------------------------------------------------- */

static FlamRuntimeRegs
leaf (guint64 pc, guint64 sp, guint64 bp)
{
  FlamRuntimeRegs regs = { .pc = pc, .known = 0xffff, .leaf = true };

  regs.general[FLAM_RUNTIME_RSP] = sp;
  regs.general[FLAM_RUNTIME_RBP] = bp;
  return regs;
}

static FlamRuntimeRegs
caller (guint64 pc, guint64 sp, guint64 bp)
{
  FlamRuntimeRegs regs = leaf (pc, sp, bp);

  regs.known = 1 << FLAM_RUNTIME_RSP | 1 << FLAM_RUNTIME_RBP;
  regs.leaf = false;
  return regs;
}

#define assert_step(setup, regs, frame)                                        \
  g_assert_cmpint (flam_hotspot_step (                                         \
                       &(setup)->hotspot, &(setup)->memory, (regs), (frame)),  \
                   ==,                                                         \
                   FLAM_HOTSPOT_STEPPED)

#define assert_regs(regs, the_pc, sp, bp)                                      \
  G_STMT_START                                                                 \
  {                                                                            \
    g_assert_cmphex ((regs).pc, ==, (the_pc));                                 \
    g_assert_cmphex ((regs).general[FLAM_RUNTIME_RSP], ==, (sp));              \
    g_assert_cmphex ((regs).general[FLAM_RUNTIME_RBP], ==, (bp));              \
    g_assert_false ((regs).leaf);                                              \
  }                                                                            \
  G_STMT_END

#define FP (STACK + 0x200)

static void
put_interpreted (Setup *setup, guint64 method, guint64 bytecode)
{
  put (setup->fake, FP - 64, bytecode);
  put (setup->fake, FP - 24, method);
  put (setup->fake, FP - 8, FP + 0x30);
  put (setup->fake, FP, FP + 0x100);
  put (setup->fake, FP + 8, CODE + 0x50);
}

static void
test_interpreted (gconstpointer version)
{
  Setup setup;
  FlamHotspotFrame frame;
  FlamRuntimeRegs regs;

  set_up (&setup, GPOINTER_TO_UINT (version));
  put_interpreted (
      &setup, setup.outer, bytecode_of (setup.fake, setup.outer, 4));
  regs = caller (HEAP + 0x200, FP - 0x60, FP);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpint (frame.kind, ==, FLAM_HOTSPOT_INTERPRETED);
  g_assert_cmphex (frame.function, ==, setup.outer);
  g_assert_cmphex (frame.cookie, ==, setup.outer + 0x40);
  g_assert_cmpint (frame.at, ==, 4);
  assert_regs (regs, CODE + 0x50, FP + 0x30, FP + 0x100);

  /* The innermost one has its bytecode in r13. */
  regs = leaf (HEAP + 0x200, FP - 0x60, FP);
  regs.general[FLAM_RUNTIME_R13] = bytecode_of (setup.fake, setup.outer, 7);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpint (frame.at, ==, 7);

  /* At the entry of `inner`, which `outer` calls: its frame is missing. */
  regs = leaf (HEAP + 0x200, FP - 0x60, FP);
  put (setup.fake, FP - 0x60, HEAP + 0x300);
  regs.general[FLAM_RUNTIME_RBX] = setup.inner;
  regs.general[FLAM_RUNTIME_R13] = FP - 0x58;
  assert_step (&setup, &regs, &frame);
  g_assert_cmphex (frame.function, ==, setup.inner);
  g_assert_cmpuint (frame.at, ==, FLAM_HOTSPOT_NO_BYTECODE);
  assert_regs (regs, HEAP + 0x300, FP - 0x58, FP);
  assert_step (&setup, &regs, &frame);
  g_assert_cmphex (frame.function, ==, setup.outer);
  g_assert_cmpint (frame.at, ==, 4);

  /* Right after push rbp and mov rbp, rsp. */
  regs = leaf (HEAP + 0x200, FP - 0x70, FP - 0x70);
  put (setup.fake, FP - 0x70, FP);
  put (setup.fake, FP - 0x68, HEAP + 0x300);
  regs.general[FLAM_RUNTIME_RBX] = setup.inner;
  regs.general[FLAM_RUNTIME_R13] = FP - 0x58;
  assert_step (&setup, &regs, &frame);
  g_assert_cmphex (frame.function, ==, setup.inner);
  assert_regs (regs, HEAP + 0x300, FP - 0x58, FP);

  /* A frame that is complete up to its method: the data below the stack pointer
   * does not belong to it, and changes. */
  put_interpreted (
      &setup, setup.outer, bytecode_of (setup.fake, setup.outer, 4));
  setup.fake->hidden = FP - 24;
  regs = leaf (HEAP + 0x200, FP - 24, FP);
  regs.general[FLAM_RUNTIME_RBX] = setup.outer;
  regs.general[FLAM_RUNTIME_R13] = bytecode_of (setup.fake, setup.outer, 0);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpint (frame.at, ==, 0);
  assert_regs (regs, CODE + 0x50, FP + 0x30, FP + 0x100);
  setup.fake->hidden = 0;

  /* A native method. */
  put_interpreted (&setup, setup.inner, 0);
  regs = caller (HEAP + 0x200, FP - 0x60, FP);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpuint (frame.at, ==, FLAM_HOTSPOT_NO_BYTECODE);

  /* Called at the entry of a native method, with the caller's sp in r13. */
  put_interpreted (&setup, setup.inner, FP + 0x30);
  regs = caller (HEAP + 0x200, FP - 0x60, FP);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpuint (frame.at, ==, FLAM_HOTSPOT_NO_BYTECODE);

  /* No method. */
  put_interpreted (&setup, FP, 0);
  regs = caller (HEAP + 0x200, FP - 0x60, FP);
  g_assert_cmpint (
      flam_hotspot_step (&setup.hotspot, &setup.memory, &regs, &frame),
      ==,
      FLAM_HOTSPOT_LOST);
  tear_down (&setup);
}

static void
put_code (Setup *setup, guint at, const char *bytes, gsize n)
{
  put_bytes (setup->fake, CODE + at, bytes, n);
}

/* Of the compiled frame at FP, 6 words, the last two rbp and the return
 * address. */
static void
put_compiled (Setup *setup)
{
  put (setup->fake, FP + 32, FP + 0x100);
  put (setup->fake, FP + 40, HEAP + 0x300);
}

static void
test_compiled (gconstpointer version)
{
  /* The place of a leaf's frame, by the code at its pc 12 bytes or more from
   * the start; the first byte is the one before. */
  static const struct
  {
    const char *bytes;
    gsize n;
    guint at;
    guint popped; /* words below the return address; 0: a whole frame */
  } places[] = {
    { "\x90\x48\x8b\x03", 4, 40, 0 },
    { "\x90\x5d\xc3", 3, 40, 2 },
    { "\x5d\xc3", 2, 40, 1 },
    { "\x5d\x49\x3b\x67\x28\x0f\x87\0\0\0\0\xc3", 12, 40, 1 },
    { "\x28\x0f\x87\0\0\0\0\xc3", 8, 40, 1 },
    { "\x5d\x4d\x8b\x97\x08\x01\0\0\x41\x85\x02\xc3", 12, 40, 1 },
    { "\x90\x41\x85\x02\xc3", 5, 40, 1 },
    { "\x5d\x85\x05\0\0\0\0\xc3", 8, 40, 1 },
    /* The prologue: mov [rsp - n], eax; push rbp; sub rsp, n. */
    { "\x90\x89\x84\x24\0\xc0\xfe\xff\x55\x48\x83\xec\x20", 13, 0, 1 },
    { "\xff\x55\x48\x83\xec\x20", 6, 7, 1 },
    { "\x55\x48\x83\xec\x20", 5, 8, 2 },
  };
  Setup setup;
  FlamHotspotFrame frame;
  FlamRuntimeRegs regs;

  set_up (&setup, GPOINTER_TO_UINT (version));
  put_compiled (&setup);
  regs = caller (CODE + 0x20, FP, 1);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpint (frame.kind, ==, FLAM_HOTSPOT_COMPILED);
  g_assert_cmphex (
      frame.function, ==, NMETHOD_BLOCK + SIZE_OF (setup.fake, "HeapBlock"));
  g_assert_cmpint (frame.cookie, ==, COMPILE_ID);
  g_assert_cmpint (frame.at, ==, 0x20);
  assert_regs (regs, HEAP + 0x300, FP + 48, FP + 0x100);

  /* A sleeping thread's rbp is unknown until a frame has saved it. */
  regs = caller (CODE + 0x20, FP, 0);
  regs.known = 1 << FLAM_RUNTIME_RSP;
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, HEAP + 0x300, FP + 48, FP + 0x100);
  g_assert_true (flam_runtime_knows (&regs, FLAM_RUNTIME_RBP));
  put (setup.fake, FP + 32, 0);
  regs = caller (CODE + 0x20, FP, 0);
  regs.known = 1 << FLAM_RUNTIME_RSP;
  assert_step (&setup, &regs, &frame);
  g_assert_false (flam_runtime_knows (&regs, FLAM_RUNTIME_RBP));
  put_compiled (&setup);

  /* Two words more, pushed for a call. */
  regs = caller (CODE + 0x20, FP - 16, 1);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, HEAP + 0x300, FP + 48, FP + 0x100);

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      guint64 sp = places[i].popped > 0 ? FP + 48 - 8 * places[i].popped : FP;
      guint64 bp = places[i].popped == 1 ? 1 : FP + 0x100;

      memset (setup.fake->bytes + (CODE - BASE), 0x90, 64);
      if (places[i].at > 0)
        put_code (&setup, places[i].at - 1, places[i].bytes, places[i].n);
      else
        put_code (&setup, 0, places[i].bytes + 1, places[i].n - 1);
      regs = leaf (CODE + places[i].at, sp, 1);
      assert_step (&setup, &regs, &frame);
      g_test_message ("place %u", i);
      assert_regs (regs, HEAP + 0x300, FP + 48, bp);
    }

  /* Deoptimized: its own pc is in the frame. */
  put (setup.fake, FP + 16, CODE + 0x50);
  regs = caller (CODE + 0x100, FP, 1);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpint (frame.at, ==, 0x50);

  /* The return address is not in a heap: only the frame itself is known. */
  put (setup.fake, FP + 40, LIBRARY);
  regs = caller (CODE + 0x20, FP, 1);
  g_assert_cmpint (
      flam_hotspot_step (&setup.hotspot, &setup.memory, &regs, &frame),
      ==,
      FLAM_HOTSPOT_LAST);
  g_assert_cmpint (frame.at, ==, 0x20);
  tear_down (&setup);
}

static void
test_stubs (gconstpointer version)
{
  const guint64 stubs = HEAP + 0x2000 + 0x140;
  gint32 distance = (gint32)(stubs + 0x40 - (CODE + 0x60));
  Setup setup;
  FlamHotspotFrame frame;
  FlamRuntimeRegs regs;

  set_up (&setup, GPOINTER_TO_UINT (version));
  /* The call stub, called by the library. */
  put (setup.fake, FP, FP + 0x100);
  put (setup.fake, FP + 8, LIBRARY);
  regs = caller (stubs, FP - 0x80, FP);
  assert_step (&setup, &regs, &frame);
  g_assert_cmpint (frame.kind, ==, FLAM_HOTSPOT_STUB);
  assert_regs (regs, LIBRARY, FP + 16, FP + 0x100);
  g_assert_true (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));
  g_assert_true (setup.name->frames[0].hidden);

  /* The stub at the entry of compiled code, called by this code. */
  put (setup.fake, FP + 8, UINT64_MAX);
  put (setup.fake, FP + 16, CODE + 0x70);
  regs = caller (stubs + 0x80, FP - 0x80, FP);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x70, FP + 24, FP + 0x100);

  /* A leaf without a frame, 3 words pushed; the call before its return address
   * identifies it. */
  put_code (&setup, 0x5b, "\xe8", 1);
  put_bytes (setup.fake, CODE + 0x5c, &distance, 4);
  put (setup.fake, STACK + 24, CODE + 0x60);
  regs = leaf (stubs + 0x60, STACK, 1);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x60, STACK + 32, 1ull);
  g_assert_true (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));
  g_assert_cmpstr (setup.name->frames[0].function, ==, "jbyte_arraycopy");
  g_assert_false (setup.name->frames[0].hidden);

  /* At its entry, called through a register. */
  put (setup.fake, STACK, CODE + 0x70);
  regs = leaf (stubs + 0x40, STACK, 1);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x70, STACK + 8, 1ull);

  /* A stub of the first compiler, whose frame has no size: called directly, 4
   * words pushed. */
  put_blob (setup.fake, HEAP + 0x4000, "slow_subtype_check Runtime1 stub", -1u);
  distance = (gint32)(HEAP + 0x4140 - (CODE + 0x90));
  put_code (&setup, 0x8b, "\xe8", 1);
  put_bytes (setup.fake, CODE + 0x8c, &distance, 4);
  put (setup.fake, STACK, HEAP + 0x300);
  put (setup.fake, STACK + 32, CODE + 0x90);
  regs = leaf (HEAP + 0x4160, STACK, 1);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x90, STACK + 40, 1ull);
  /* Another one has pushed rbp and calls the library. */
  put (setup.fake, STACK, 7);
  put (setup.fake, STACK + 8, CODE + 0x70);
  regs = caller (HEAP + 0x4160, STACK, 1);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x70, STACK + 16, 7ull);

  /* An adapter: the caller's sp is in r13, but the stack there may contain old
   * data. */
  put_blob (setup.fake, HEAP + 0x5000, "I2C/C2I adapters", 0);
  put (setup.fake, STACK, CODE + 0x70);
  put (setup.fake, STACK + 24 + 40, CODE + 0x90);
  regs = leaf (HEAP + 0x5180, STACK, 1);
  regs.general[FLAM_RUNTIME_R13] = STACK + 24;
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x70, STACK + 24, 1ull);
  regs = leaf (HEAP + 0x5180, STACK, 1);
  regs.general[FLAM_RUNTIME_R13] = STACK + 32;
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x70, STACK + 8, 1ull);

  /* The place for a virtual thread's other frames. */
  put_blob (setup.fake, HEAP + 0x3000, "StubRoutines (continuation stubs)", 0);
  put (setup.fake, FP + 8, CODE + 0x70);
  regs = caller (HEAP + 0x3180, FP - 0x80, FP);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x70, FP + 16, FP + 0x100);
  g_assert_true (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));
  g_assert_cmpstr (
      setup.name->frames[0].function, ==, "[frames that are not mounted]");

  /* The carrier's frames are above it, behind two words of arguments and a
   * frame of 6 words, whatever rbp is. */
  put (setup.fake, STATICS + 0x900, 0);
  setup.hotspot.continuation = STATICS + 0x900;
  for (guint i = 0; i < 32; i++)
    put (setup.fake, STACK + 0x80 + 8 * i, 0);
  put (setup.fake, STACK + 0x80 + 16 + 32, FP + 0x40);
  put (setup.fake, STACK + 0x80 + 16 + 40, CODE + 0x90);
  put (setup.fake, STACK + 0x80 + 16 + 48 + 40, CODE + 0x70);
  regs = caller (HEAP + 0x3180, STACK + 0x80, 1);
  g_assert_cmpint (
      flam_hotspot_step (&setup.hotspot, &setup.memory, &regs, &frame),
      ==,
      FLAM_HOTSPOT_LAST);
  put (setup.fake, STATICS + 0x900, CODE + 0x70);
  regs = caller (HEAP + 0x3180, STACK + 0x80, 1);
  assert_step (&setup, &regs, &frame);
  assert_regs (regs, CODE + 0x90, STACK + 0x80 + 64, FP + 0x40);

  /* Free segments. */
  regs = leaf (HEAP + 0x8000, STACK, 1);
  g_assert_cmpint (
      flam_hotspot_step (&setup.hotspot, &setup.memory, &regs, &frame),
      ==,
      FLAM_HOTSPOT_LOST);
  tear_down (&setup);
}

/* --- names --------------------------------------------------------------- */

static void
assert_named (const FlamRuntimeName *name,
              guint i,
              const char *type,
              const char *function,
              const char *file,
              guint line)
{
  g_assert_cmpint (i, <, name->n);
  g_assert_cmpstr (name->frames[i].type, ==, type);
  g_assert_cmpstr (name->frames[i].function, ==, function);
  g_assert_cmpstr (name->frames[i].file, ==, file);
  g_assert_cmpint (name->frames[i].line, ==, line);
}

static void
test_names (gconstpointer version)
{
  static const guint expected[] = { 10, 10, 10, 12, 12, 11, 11, 11 };
  Setup setup;
  FlamHotspotFrame frame = { .kind = FLAM_HOTSPOT_INTERPRETED };

  set_up (&setup, GPOINTER_TO_UINT (version));
  frame.function = setup.outer;
  frame.cookie = setup.outer + 0x40;
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      frame.at = i;
      g_assert_true (flam_hotspot_name (
          &setup.hotspot, &setup.memory, &frame, setup.name));
      g_assert_cmpint (setup.name->n, ==, 1);
      assert_named (
          setup.name, 0, "shop.Cart", "total", "shop/Cart.java", expected[i]);
      g_assert_cmpint (setup.name->frames[0].first_line, ==, 10);
      g_assert_false (setup.name->frames[0].compiled);
    }
  frame.at = FLAM_HOTSPOT_NO_BYTECODE;
  g_assert_true (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));
  g_assert_cmpint (setup.name->frames[0].line, ==, 0);
  /* The method was redefined. */
  frame.cookie = setup.inner + 0x40;
  g_assert_false (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));

  frame = (FlamHotspotFrame){
    .kind = FLAM_HOTSPOT_COMPILED,
    .function = NMETHOD_BLOCK + SIZE_OF (setup.fake, "HeapBlock"),
    .cookie = COMPILE_ID,
    .at = 0x20,
  };
  /* A return address has a descriptor of its own; another pc has that of the
   * next one. */
  for (; frame.at >= 0x1f; frame.at--)
    {
      g_assert_true (flam_hotspot_name (
          &setup.hotspot, &setup.memory, &frame, setup.name));
      g_assert_cmpint (setup.name->n, ==, 2);
      assert_named (
          setup.name, 0, "shop.Cart$Item", "price", "shop/Cart.java", 10);
      assert_named (setup.name, 1, "shop.Cart", "total", "shop/Cart.java", 12);
      g_assert_true (setup.name->frames[0].compiled);
    }
  frame.at = 0x21;
  g_assert_true (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));
  g_assert_cmpint (setup.name->n, ==, 1);
  assert_named (setup.name, 0, "shop.Cart", "total", "shop/Cart.java", 12);
  /* Behind the last descriptor. */
  frame.at = 0x51;
  g_assert_true (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));
  assert_named (setup.name, 0, "shop.Cart", "total", "shop/Cart.java", 0);
  /* Other code has taken its place. */
  frame.cookie = COMPILE_ID + 1;
  g_assert_false (
      flam_hotspot_name (&setup.hotspot, &setup.memory, &frame, setup.name));
  tear_down (&setup);
}

/* Java's form of UTF-8: U+0000 as two bytes, U+1F600 as two surrogates of three
 * bytes each. */
static void
test_texts (gconstpointer version)
{
  static const struct
  {
    const char *class;
    const char *type;
  } classes[] = {
    { "a/\xc3\x9c"
      "ber",
      "a.Über" },
    { "a/\xed\xa0\xbd\xed\xb8\x80", "a.\U0001F600" },
    { "a/\xc0\x80"
      "b",
      "a.\uFFFD"
      "b" },
    { "a/\xff"
      "b\xed\xa0\xbd",
      "a.\uFFFD"
      "b\uFFFD" },
    { "a/B$$Lambda$14+0x0000000800c03218", "a.B$$Lambda$14" },
    { "a/B$$Lambda+0x00007f12a4c03218", "a.B$$Lambda" },
    { "a/B+0x1234", "a.B+0x1234" },
  };
  Setup setup;
  FlamHotspotFrame frame = { .kind = FLAM_HOTSPOT_INTERPRETED };

  set_up (&setup, GPOINTER_TO_UINT (version));
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    {
      frame.function = put_method (
          setup.fake, 2, classes[i].class, "<init>", "B.java", NULL, 0);
      g_assert_true (flam_hotspot_name (
          &setup.hotspot, &setup.memory, &frame, setup.name));
      assert_named (setup.name, 0, classes[i].type, "<init>", "a/B.java", 0);
    }
  tear_down (&setup);
}

/* --- threads ------------------------------------------------------------- */

/* A class with the given fields, at most three, of which the first is not
 * searched for; its constants are at 0x800. */
static void
put_class (Fake *fake,
           guint64 class,
           const char *const *names,
           const char *const *types,
           const guint16 *offsets,
           guint n)
{
  gboolean streamed = fake->version >= 21;
  guint64 array = class + 0x600, pool = class + 0x800, at = array + 4;

  put (fake,
       AT (fake,
           class,
           "InstanceKlass",
           streamed ? "_fieldinfo_stream" : "_fields"),
       array);
  put (fake, AT (fake, class, "InstanceKlass", "_constants"), pool);
  put_half (fake, array, streamed ? 60 : 6 * n);
  if (streamed)
    {
      at = put_number (fake, at, (guint8)n);
      at = put_number (fake, at, 0);
    }
  for (guint i = 0; i < n; i++)
    {
      guint64 entries = pool + SIZE_OF (fake, "ConstantPool");

      put (fake, entries + 8 * (2 * i + 1), put_symbol (fake, names[i]));
      put (fake, entries + 8 * (2 * i + 2), put_symbol (fake, types[i]));
      if (streamed)
        {
          at = put_number (fake, at, (guint8)(2 * i + 1));
          at = put_number (fake, at, (guint8)(2 * i + 2));
          at = put_number (fake, at, (guint8)offsets[i]);
          at = put_number (fake, at, 2);
          /* The first one has a value and a group, which follow. */
          at = put_number (fake, at, i == 0 ? 1 | 16 : 0);
          if (i == 0)
            at = put_number (fake, put_number (fake, at, 7), 3);
          continue;
        }
      put_short (fake, at + 2, (guint16)(2 * i + 1));
      put_short (fake, at + 4, (guint16)(2 * i + 2));
      put_short (fake, at + 8, (guint16)(offsets[i] << 2 | 1));
      at += 12;
    }
}

/* A string, and its array behind it: 16 and 24 bytes of header and fields. */
static void
put_string (Fake *fake, guint64 at, const void *bytes, guint n, gboolean wide)
{
  put_half (fake, at + 8, (guint32)(STRING_CLASS - BASE));
  put_half (fake, at + 12, (guint32)((at + 24 - OBJECTS) >> 3));
  fake->bytes[at + 16 - BASE] = (guint8)wide;
  put_half (fake, at + 24 + 12, n);
  put_bytes (fake, at + 24 + 16, bytes, n);
}

static void
put_thread (Fake *fake, guint i, guint32 tid, guint64 name)
{
  guint64 thread = THREADS + 0x200 + i * 0x600;
  guint64 system = THREADS + 0x100 + i * 4, handle = THREADS + 0x80 + i * 8;
  guint64 object = OBJECTS + 0x100 + i * 0x40;

  put (fake, THREADS + 0x60 + i * 8, thread);
  put (fake,
       AT (fake,
           thread,
           fake->version < 25 ? "JavaThread" : "Thread",
           "_osthread"),
       system);
  put_half (fake, AT (fake, system, "OSThread", "_thread_id"), tid);
  put (fake, AT (fake, thread, "JavaThread", "_threadObj"), handle);
  put (fake, handle, object);
  put_half (fake, object + 20, (guint32)((name - OBJECTS) >> 3));
}

static void
take_thread (void *data, uint32_t tid, const char *name)
{
  g_string_append_printf (data, "%u %s\n", tid, name);
}

/* The third thread's name is not a string. */
static void
put_threads (Fake *fake)
{
  static const char *const thread_names[] = { "eetop", "name" };
  static const char *const thread_types[] = { "J", "Ljava/lang/String;" };
  static const guint16 thread_offsets[] = { 24, 20 };
  static const char *const string_names[] = { "hash", "value", "coder" };
  static const char *const string_types[] = { "I", "[B", "B" };
  static const guint16 string_offsets[] = { 20, 12, 16 };
  const guint16 wide[] = { 0x3c9, '-', '1' };

  put_class (fake, THREAD_CLASS, thread_names, thread_types, thread_offsets, 2);
  put_class (fake, STRING_CLASS, string_names, string_types, string_offsets, 3);
  put_half (fake, THREADS + 0x10 + 4, 3);
  put (fake, THREADS + 0x10 + 16, THREADS + 0x60);
  put_string (fake, OBJECTS + 0x400, "http-nio-8080-exec-12", 21, FALSE);
  put_string (fake, OBJECTS + 0x500, wide, sizeof wide, TRUE);
  put_thread (fake, 0, 1001, OBJECTS + 0x400);
  put_thread (fake, 1, 1002, OBJECTS + 0x500);
  put_thread (fake, 2, 1003, OBJECTS + 0x600);
}

static void
test_threads (gconstpointer version)
{
  g_autoptr (GString) said = g_string_new (NULL);
  Setup setup;

  set_up (&setup, GPOINTER_TO_UINT (version));
  put_threads (setup.fake);
  flam_hotspot_name_threads (
      &setup.hotspot, &setup.memory, setup.name, take_thread, said);
  g_assert_cmpstr (said->str,
                   ==,
                   "1001 http-nio-8080-exec-12\n"
                   "1002 \317\211-1\n");
  tear_down (&setup);
}

/* --- invalid memory ------------------------------------------------------ */

static void
check_thread (void *data, uint32_t tid, const char *name)
{
  g_assert_true (g_utf8_validate (name, -1, NULL));
}

static void
check_texts (const FlamRuntimeName *name)
{
  g_assert_cmpint (name->n, <=, FLAM_RUNTIME_INLINED_MAX);
  for (guint i = 0; i < name->n; i++)
    {
      g_assert_true (g_utf8_validate (name->frames[i].type, -1, NULL));
      g_assert_true (g_utf8_validate (name->frames[i].function, -1, NULL));
      g_assert_true (g_utf8_validate (name->frames[i].file, -1, NULL));
    }
}

/* Bytes of the image change; what is read stays bounded. */
static void
test_lies (gconstpointer version)
{
  static const guint64 pcs[] = { HEAP + 0x200, CODE + 0x20,   CODE + 0x100,
                                 CODE + 4,     HEAP + 0x2180, HEAP + 0x2140 };
  Setup setup;
  g_autofree Fake *good = NULL;

  set_up (&setup, GPOINTER_TO_UINT (version));
  put_interpreted (
      &setup, setup.outer, bytecode_of (setup.fake, setup.outer, 4));
  put_threads (setup.fake);
  good = g_memdup2 (setup.fake, sizeof *good);
  for (guint i = 0; i < 20000; i++)
    {
      FlamHotspot hotspot = setup.hotspot;
      uint64_t addresses[FLAM_HOTSPOT_SYMBOLS];
      const char *why;
      FlamRuntimeRegs regs;

      memcpy (setup.fake, good, sizeof *good);
      for (guint j = 0; j < 40; j++)
        {
          static const guint64 places[] = {
            STRUCTS,        STATICS,   HEAP,    NMETHOD_BLOCK,
            HEAP + 0x2000,  SEGMENTS,  METHODS, METHODS + 0x400,
            OUTSIDE + 0x10, FP - 0x80, THREADS, THREAD_CLASS + 0x600,
            OBJECTS + 0x400
          };
          guint64 place =
              places[g_test_rand_int_range (0, G_N_ELEMENTS (places))] +
              (guint64)g_test_rand_int_range (0, 0x200);
          if (g_test_rand_bit ())
            put (setup.fake,
                 place,
                 BASE + (guint64)g_test_rand_int_range (0, SIZE));
          else
            setup.fake->bytes[place - BASE] = (guint8)g_test_rand_int ();
        }
      addresses_of (addresses);
      if (i % 8 == 0)
        flam_hotspot_open (&hotspot, &setup.memory, addresses, &why);
      if (hotspot.n_heaps == 0)
        continue;
      setup.fake->reads = 0;
      flam_hotspot_name_threads (
          &hotspot, &setup.memory, setup.name, check_thread, NULL);
      regs = i % 2 == 0
                 ? leaf (pcs[i / 2 % G_N_ELEMENTS (pcs)], FP - 0x60, FP)
                 : caller (pcs[i / 2 % G_N_ELEMENTS (pcs)], FP - 0x60, FP);
      regs.general[FLAM_RUNTIME_R13] = FP - 0x20;
      regs.general[FLAM_RUNTIME_RBX] = setup.inner;
      for (guint j = 0; j < 8; j++)
        {
          FlamHotspotFrame frame;
          guint64 sp = regs.general[FLAM_RUNTIME_RSP];
          FlamHotspotStep step =
              flam_hotspot_step (&hotspot, &setup.memory, &regs, &frame);

          if (step == FLAM_HOTSPOT_LOST)
            break;
          flam_hotspot_name (&hotspot, &setup.memory, &frame, setup.name);
          check_texts (setup.name);
          if (step != FLAM_HOTSPOT_STEPPED)
            break;
          g_assert_cmphex (regs.general[FLAM_RUNTIME_RSP], >, sp);
        }
      g_assert_cmpint (setup.fake->reads, <, 2000000);
    }
  tear_down (&setup);
}

/* Of a blob's header, 512 bytes are read: a field beyond them is refused. */
static void
test_header (gconstpointer version)
{
  static const guint64 offsets[] = { 504, 505, 4096 };

  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    {
      uint64_t addresses[FLAM_HOTSPOT_SYMBOLS];
      const char *why;
      Setup setup;

      set_up (&setup, GPOINTER_TO_UINT (version));
      addresses_of (addresses);
      put (setup.fake, STRUCTS + 32, offsets[i]); /* the first: the name */
      g_assert_cmpint (
          flam_hotspot_open (&setup.hotspot, &setup.memory, addresses, &why) ==
              FLAM_HOTSPOT_READY,
          ==,
          offsets[i] <= 504);
      tear_down (&setup);
    }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    GTestDataFunc run;
  } cases[] = {
    { "open", test_open },         { "interpreted", test_interpreted },
    { "compiled", test_compiled }, { "stubs", test_stubs },
    { "names", test_names },       { "texts", test_texts },
    { "threads", test_threads },   { "lies", test_lies },
    { "header", test_header },     { "variables", test_variables },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint version = 17; version <= 25; version += 8)
      {
        g_autofree char *path =
            g_strdup_printf ("/hotspot/%u/%s", version, cases[i].name);
        g_test_add_data_func (path, GUINT_TO_POINTER (version), cases[i].run);
      }
  return g_test_run ();
}
