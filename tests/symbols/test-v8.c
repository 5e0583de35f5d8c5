/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A heap of V8, made by hand with the layouts of node 12 to 24; the tables of
 * its compilers; and invalid memory. */

#include "flam-v8-code.h"
#include "flam-v8-elf.h"
#include "flam-v8-script.h"
#include "flam-v8-tables.h"
#include "flam-v8.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define BASE 0x10000000ull
#define SIZE 0x20000u
#define STACK (BASE + 0x18000)
#define NATIVE 0x400000ull /* code of the file, not readable */
#define BUILTINS 0x500000ull

#define VERSIONS 7
#define NONE G_MININT32

/* --- layouts ------------------------------------------------------------- */

static const guint32 versions[VERSIONS] = {
  FLAM_V8_VERSION (7, 8, 279),  FLAM_V8_VERSION (8, 4, 371),
  FLAM_V8_VERSION (9, 4, 146),  FLAM_V8_VERSION (10, 2, 154),
  FLAM_V8_VERSION (11, 3, 244), FLAM_V8_VERSION (12, 4, 254),
  FLAM_V8_VERSION (13, 6, 233),
};

/* The values that node 12.22.12, 14.21.3, 16.20.2, 18.20.8, 20.20.2, 22.21.1
 * and 24.11.1 export. */
static const struct
{
  const char *name;
  gint32 values[VERSIONS];
} exported[] = {
  { "CodeKindBaseline", { NONE, NONE, NONE, 11, 11, 10, 10 } },
  { "CodeKindFieldMask", { NONE, NONE, NONE, 15, 15, 15, 15 } },
  { "CodeKindFieldShift", { NONE, NONE, NONE, 0, 0, 0, 0 } },
  { "DeoptimizationDataInlinedFunctionCountIndex",
    { NONE, NONE, NONE, NONE, 1, 1, 1 } },
  { "DeoptimizationDataInliningPositionsIndex",
    { NONE, NONE, NONE, NONE, 7, 7, 8 } },
  { "DeoptimizationDataLiteralArrayIndex",
    { NONE, NONE, NONE, NONE, 2, 2, 3 } },
  { "DeoptimizationDataSharedFunctionInfoIndex",
    { NONE, NONE, NONE, NONE, 6, 6, NONE } },
  { "DeoptimizationDataWrappedSharedFunctionInfoIndex",
    { NONE, NONE, NONE, NONE, NONE, NONE, 7 } },
  { "FirstContextType", { 138, 136, 137, 207, 205, 190, 220 } },
  { "FirstJSFunctionType", { NONE, NONE, NONE, NONE, NONE, 2066, 2065 } },
  { "FirstNonstringType", { 64, 64, 64, 128, 128, 128, 128 } },
  { "LastContextType", { 147, 145, 146, 216, 214, 199, 229 } },
  { "LastJSFunctionType", { NONE, NONE, NONE, NONE, NONE, 2082, 2081 } },
  { "SmiShiftSize", { 31, 31, 31, 31, 31, 31, 31 } },
  { "TaggedSize", { 8, 8, 8, 8, 8, 8, 8 } },
  { "class_BytecodeArray__data__uintptr_t",
    { NONE, NONE, NONE, 56, 54, 64, 64 } },
  { "class_BytecodeArray__source_position_table__Object",
    { 32, 32, NONE, NONE, NONE, NONE, NONE } },
  { "class_Code__flags__uint32_t", { NONE, NONE, NONE, 48, NONE, 48, 52 } },
  { "class_Code__instruction_size__int", { 40, 40, 40, 40, NONE, 52, 56 } },
  { "class_Code__instruction_start__Address",
    { NONE, NONE, NONE, NONE, NONE, 40, 40 } },
  { "class_Code__instruction_start__uintptr_t",
    { 64, 96, 96, 128, NONE, NONE, NONE } },
  { "class_JSFunction__code__CodeT",
    { NONE, NONE, NONE, 48, NONE, NONE, NONE } },
  { "class_JSFunction__code__Tagged_Code_",
    { NONE, NONE, NONE, NONE, NONE, 24, NONE } },
  { "class_JSFunction__raw_code__CodeT",
    { NONE, NONE, 48, NONE, NONE, NONE, NONE } },
  { "class_JSFunction__shared__SharedFunctionInfo",
    { 24, 24, 24, 24, 24, 32, 32 } },
  { "class_JSRegExp__source__Object", { 32, 32, 32, 32, 32, 32, 32 } },
  { "class_Script__line_ends__Object", { 56, 56, 56, 56, 56, 56, 56 } },
  { "class_Script__line_offset__SMI",
    { 24, 24, NONE, NONE, NONE, NONE, NONE } },
  { "class_Script__name__Object", { 16, 16, 16, 16, 16, 16, 16 } },
  { "class_Script__source__Object", { 8, 8, NONE, 8, 8, 8, 8 } },
  { "class_SharedFunctionInfo__function_data__Object",
    { 8, 8, 8, 8, 8, NONE, NONE } },
  { "class_SharedFunctionInfo__name_or_scope_info__Object",
    { 16, 16, 16, 16, 16, NONE, NONE } },
  { "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
    { NONE, NONE, NONE, NONE, NONE, NONE, 24 } },
  { "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
    { NONE, NONE, NONE, NONE, NONE, 16, NONE } },
  { "class_SharedFunctionInfo__script__Tagged_HeapObject_",
    { NONE, NONE, NONE, NONE, NONE, 32, 40 } },
  { "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
    { NONE, 32, 32, 32, 32, NONE, NONE } },
  { "class_SharedFunctionInfo__script_or_debug_info__Object",
    { 32, NONE, NONE, NONE, NONE, NONE, NONE } },
  { "off_fp_bytecode_array", { NONE, NONE, NONE, -32, -32, -32, -32 } },
  { "off_fp_bytecode_offset", { NONE, NONE, NONE, -40, -40, -40, -40 } },
  { "off_fp_function", { -16, -16, -16, -16, -16, -16, -16 } },
  { "scopeinfo_idx_first_vars", { 3, 3, 3, 3, 3, 3, 5 } },
  { "scopeinfo_idx_ncontextlocals", { 2, 2, 2, 2, 2, 2, 2 } },
  { "type_BytecodeArray__BYTECODE_ARRAY_TYPE",
    { 72, 133, 133, 195, 191, 205, 186 } },
  { "type_Code__CODE_TYPE", { 69, 158, 162, 240, 245, 206, 187 } },
  { "type_FixedArray__FIXED_ARRAY_TYPE",
    { 123, 117, 119, 179, 175, 174, 205 } },
  { "type_JSFunction__JS_FUNCTION_TYPE",
    { 1105, 1092, 1059, 2065, 2066, 2066, 2065 } },
  { "type_JSRegExp__JS_REGEXP_TYPE",
    { 1075, NONE, NONE, NONE, NONE, NONE, NONE } },
  { "type_JSRegExp__JS_REG_EXP_TYPE",
    { NONE, 1077, 1102, 2120, 2131, 2133, 2137 } },
  { "type_ScopeInfo__SCOPE_INFO_TYPE", { 136, 130, 178, 256, 261, 272, 280 } },
  { "type_Script__SCRIPT_TYPE", { 96, 104, 112, 170, 167, 167, 167 } },
  { "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
    { 160, 173, 179, 257, 262, 274, 282 } },
};

typedef struct
{
  guint version;
  const char *changed; /* a value that is another one, or NULL */
  gint32 value;        /* NONE: absent */
} Exports;

static bool
find_export (gpointer data, const char *name, gint32 *value)
{
  const Exports *exports = data;
  gint32 found = NONE;

  for (guint i = 0; i < G_N_ELEMENTS (exported); i++)
    if (strcmp (exported[i].name, name) == 0)
      found = exported[i].values[exports->version];
  if (g_strcmp0 (exports->changed, name) == 0)
    found = exports->value;
  if (found != NONE)
    *value = found;
  return found != NONE;
}

static FlamV8Layout
layout_of (guint version)
{
  Exports exports = { .version = version };
  FlamV8Layout layout;

  g_assert_cmpstr (
      flam_v8_layout_init (&layout, versions[version], find_export, &exports),
      ==,
      NULL);
  return layout;
}

/* Offsets that were found in processes of these versions. */
static void
test_layouts (void)
{
  static const struct
  {
    const char *name;
    gsize at, size;
    gint32 values[VERSIONS];
  } expected[] = {
#define FIELD(field)                                                           \
#field, G_STRUCT_OFFSET(FlamV8Layout, field),                                \
      sizeof((FlamV8Layout){ 0 }.field)
    { FIELD (function_shared), { 24, 24, 24, 24, 24, 32, 32 } },
    { FIELD (function_code), { 48, 48, 48, 48, 48, 24, 24 } },
    { FIELD (function_has_handle), { 0, 0, 0, 0, 0, 0, 1 } },
    { FIELD (shared_name), { 16, 16, 16, 16, 16, 16, 24 } },
    { FIELD (shared_script), { 32, 32, 32, 32, 32, 32, 40 } },
    { FIELD (code_deopt), { 16, 16, 16, 16, 16, 8, 8 } },
    { FIELD (code_positions), { 24, 24, 24, 24, 24, 16, 16 } },
    { FIELD (code_start), { 64, 96, 96, 128, 40, 40, 40 } },
    { FIELD (code_start_inside), { 1, 1, 1, 1, 0, 0, 0 } },
    { FIELD (code_size), { 40, 40, 40, 40, 56, 52, 56 } },
    { FIELD (code_flags), { 48, 48, 48, 48, 48, 48, 52 } },
    { FIELD (code_kind_baseline), { 255, 255, 11, 11, 11, 10, 10 } },
    { FIELD (bytecode_positions), { 32, 32, 32, 32, 32, 24, 24 } },
    { FIELD (bytecode_data), { 54, 54, 54, 56, 54, 64, 64 } },
    { FIELD (frame_bytecode), { -24, -24, -32, -32, -32, -32, -32 } },
    { FIELD (frame_bytecode_offset), { -32, -32, -40, -40, -40, -40, -40 } },
    { FIELD (type_function_first),
      { 1105, 1092, 1059, 2065, 2066, 2066, 2065 } },
    { FIELD (type_function_last),
      { 1105, 1092, 1072, 2079, 2080, 2082, 2081 } },
    { FIELD (deopt_literals), { 2, 2, 2, 2, 2, 2, 3 } },
    { FIELD (deopt_shared), { 6, 6, 6, 6, 6, 6, 7 } },
    { FIELD (deopt_shared_wrapped), { 0, 0, 0, 0, 0, 0, 1 } },
    { FIELD (deopt_inlining), { 7, 7, 7, 7, 7, 7, 8 } },
#undef FIELD
  };

  for (guint v = 0; v < VERSIONS; v++)
    {
      FlamV8Layout layout = layout_of (v);

      for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
        {
          const guint8 *at = (const guint8 *)&layout + expected[i].at;
          gint32 value = expected[i].size == 1 ? *at : *(const guint16 *)at;

          if (expected[i].values[v] < 0)
            value = (gint16)value;
          if (value != expected[i].values[v])
            g_error ("%s in version %u: %d", expected[i].name, v, value);
        }
    }
}

static void
test_refused (void)
{
  FlamV8Layout layout;
  Exports exports = { 4, "TaggedSize", 4 };

  g_assert_cmpstr (
      flam_v8_layout_init (&layout, versions[4], find_export, &exports),
      ==,
      "it compresses pointers, as Chrome and Electron do");
  exports = (Exports){ 4, NULL, 0 };
  g_assert_nonnull (flam_v8_layout_init (
      &layout, FLAM_V8_VERSION (7, 7, 299), find_export, &exports));
  g_assert_nonnull (flam_v8_layout_init (
      &layout, FLAM_V8_VERSION (14, 7, 0), find_export, &exports));
  /* Each value is needed, and an absurd one is not accepted. */
  exports = (Exports){ 4, "type_Script__SCRIPT_TYPE", NONE };
  g_assert_nonnull (
      flam_v8_layout_init (&layout, versions[4], find_export, &exports));
  exports = (Exports){ 4, "class_Script__name__Object", 4000 };
  g_assert_nonnull (
      flam_v8_layout_init (&layout, versions[4], find_export, &exports));
  exports = (Exports){ 4, "off_fp_bytecode_offset", -36 };
  g_assert_nonnull (
      flam_v8_layout_init (&layout, versions[4], find_export, &exports));
}

/* --- a heap -------------------------------------------------------------- */

#define MAPS_MAX 64

typedef struct
{
  guint8 bytes[SIZE];
  FlamV8File file;
  guint64 next;
  guint64 maps[MAPS_MAX];
  guint16 types[MAPS_MAX];
  guint n_maps;
  guint64 sp; /* the lowest used word of the stack */
} Heap;

static bool
read_heap (gpointer data, guint64 address, gpointer to, gsize size)
{
  const Heap *heap = data;

  if (address < BASE || address > BASE + SIZE || size > BASE + SIZE - address)
    return false;
  memcpy (to, heap->bytes + (address - BASE), size);
  return true;
}

static void
put_bytes (Heap *heap, guint64 address, const void *bytes, gsize size)
{
  g_assert_cmpuint (address, >=, BASE);
  g_assert_cmpuint (address + size, <=, BASE + SIZE);
  memcpy (heap->bytes + (address - BASE), bytes, size);
}

static void
put (Heap *heap, guint64 address, guint64 value)
{
  put_bytes (heap, address, &value, 8);
}

static guint64
small (gint32 value)
{
  return (guint64)(guint32)value << 32;
}

static guint64
room (Heap *heap, gsize size)
{
  guint64 at = heap->next;

  heap->next += (size + 7) & ~7ull;
  g_assert_cmpuint (heap->next, <, STACK);
  return at;
}

/* A new object of a type, as a tagged word. */
static guint64
object (Heap *heap, guint16 type, gsize size)
{
  guint64 at;
  guint i = 0;

  while (i < heap->n_maps && heap->types[i] != type)
    i++;
  if (i == heap->n_maps)
    {
      heap->maps[i] = room (heap, 80);
      heap->types[i] = type;
      put_bytes (heap, heap->maps[i] + 12, &type, 2);
      heap->n_maps++;
    }
  at = room (heap, size);
  put (heap, at, heap->maps[i] + 1);
  return at + 1;
}

static void
set (Heap *heap, guint64 tagged, guint at, guint64 value)
{
  put (heap, tagged - 1 + at, value);
}

static void
set_half (Heap *heap, guint64 tagged, guint at, guint32 value)
{
  put_bytes (heap, tagged - 1 + at, &value, 4);
}

static guint64
text (Heap *heap, const char *latin1)
{
  guint32 n = (guint32)strlen (latin1);
  guint64 string = object (heap, 8, 16 + n);

  set_half (heap, string, 12, n);
  put_bytes (heap, string - 1 + 16, latin1, n);
  return string;
}

static guint64
bytes_of (Heap *heap, const void *bytes, gsize n)
{
  guint64 array = object (heap, 2000, 16 + n);

  set (heap, array, 8, small ((gint32)n));
  put_bytes (heap, array - 1 + 16, bytes, n);
  return array;
}

static guint64
array_of (Heap *heap, guint16 type, const guint64 *words, gsize n)
{
  guint64 array = object (heap, type, 16 + 8 * n);

  set (heap, array, 8, small ((gint32)n));
  put_bytes (heap, array - 1 + 16, words, 8 * n);
  return array;
}

static Heap *
heap_new (guint version)
{
  Heap *heap = g_new0 (Heap, 1);

  heap->next = BASE;
  heap->sp = BASE + SIZE - 64;
  heap->file.layout = layout_of (version);
  heap->file.native = (FlamRuntimeRange){ NATIVE, NATIVE + 0x200000 };
  heap->file.builtins = (FlamRuntimeRange){ BUILTINS, BUILTINS + 0x10000 };
  return heap;
}

static guint64
scope_of (Heap *heap, const char *name, guint start)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint64 scope = object (heap, layout->type_scope_info, 160);
  guint at = layout->scope_data;

  /* The function's name, and two variables in the context. */
  set (heap, scope, at, small (1 << 12));
  set (heap, scope, at + 16, small (2));
  if (layout->scope_start != 0)
    set (heap, scope, at + 24, small ((gint32)start));
  at += 8u * layout->scope_locals + 4 * 8;
  set (heap, scope, at, text (heap, name));
  set (heap, scope, at + 8, small (-1));
  if (layout->scope_start == 0)
    {
      set (heap, scope, at + 16, small ((gint32)start));
      set (heap, scope, at + 24, small ((gint32)start + 10));
    }
  return scope;
}

static guint64
script_of (Heap *heap, const char *name, const char *source)
{
  guint64 script = object (heap, heap->file.layout.type_script, 80);

  set (heap, script, heap->file.layout.script_source, text (heap, source));
  set (heap, script, heap->file.layout.script_name, text (heap, name));
  return script;
}

static guint64
shared_of (Heap *heap, const char *name, guint start, guint64 script)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint64 shared = object (heap, layout->type_shared, 72);

  set (heap, shared, layout->shared_name, scope_of (heap, name, start));
  set (heap, shared, layout->shared_script, script);
  return shared;
}

/* A dispatch table, where functions refer to their code by one: the handle is
 * the address of its entry. */
static void
set_code (Heap *heap, guint64 function, guint64 code)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint64 owner, table;

  if (!layout->function_has_handle)
    {
      set (heap, function, layout->function_code, code);
      return;
    }
  owner = room (heap, 16);
  table = room (heap, 4 * 16);
  put (heap, owner, owner + 8);
  put (heap, owner + 8, table);
  heap->file.table_owner = owner;
  put (heap, table + 3 * 16 + 8, code << 16 | 5);
  set (heap, function, layout->function_code, 3 << 8);
}

static guint64
function_of (Heap *heap, guint64 shared)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint64 function = object (heap, layout->type_function_first, 72);

  set (heap, function, layout->function_shared, shared);
  return function;
}

static guint64
bytecode_of (Heap *heap, guint64 positions)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint64 bytecode = object (heap, layout->type_bytecode, 128);

  set (heap, bytecode, 8, small (40));
  set (heap, bytecode, layout->bytecode_positions, positions);
  return bytecode;
}

/* Code with its machine code, of 256 bytes. */
static guint64
code_of (Heap *heap, guint kind, guint64 deopt, guint64 positions)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint64 code = object (heap, layout->type_code, 128 + 256);

  set (heap, code, layout->code_deopt, deopt);
  set (heap, code, layout->code_positions, positions);
  set_half (heap, code, layout->code_flags, kind);
  set_half (heap, code, layout->code_size, 256);
  if (!layout->code_start_inside)
    {
      guint64 header = object (heap, 2001, 16 + 256);

      set (heap, header, 8, code);
      set (heap, code, 32, header);
      set (heap, code, layout->code_start, header - 1 + 16);
    }
  return code;
}

static guint64
start_of (Heap *heap, guint64 code)
{
  FlamRuntimeMemory memory = { read_heap, heap };
  FlamV8Code read;

  g_assert_true (flam_v8_code_read (&heap->file.layout, &memory, code, &read));
  return read.start;
}

static guint64
push (Heap *heap, guint64 value)
{
  heap->sp -= 8;
  put (heap, heap->sp, value);
  return heap->sp;
}

/* A frame, called from `pc` in the frame `caller`. */
static guint64
frame (Heap *heap,
       guint64 pc,
       guint64 caller,
       guint64 function,
       guint64 bytecode,
       guint64 offset)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint64 fp;

  push (heap, pc);
  fp = push (heap, caller);
  push (heap, object (heap, layout->type_context_first, 16));
  push (heap, function);
  while ((gint64)(heap->sp - fp) > layout->frame_bytecode_offset)
    push (heap, 0);
  put (heap, fp + (guint64)(gint64)layout->frame_bytecode, bytecode);
  put (heap, fp + (guint64)(gint64)layout->frame_bytecode_offset, offset);
  return fp;
}

/* --- reading ------------------------------------------------------------- */

static gsize
walk (Heap *heap,
      FlamV8 *v8,
      guint64 pc,
      guint64 rbp,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  FlamRuntimeMemory memory = { read_heap, heap };
  FlamRuntimeRegs regs = { .pc = pc, .known = ~0u, .leaf = true };

  regs.general[FLAM_RUNTIME_RBP] = rbp;
  regs.general[FLAM_RUNTIME_RSP] = heap->sp;
  return flam_v8_walk (v8, &regs, &memory, entries, limit);
}

/* "name file:line (first line)", and + if it is compiled, for each function of
 * each frame. */
static char *
describe (Heap *heap, guint64 pc, guint64 rbp)
{
  FlamV8 *v8 = flam_v8_new (&heap->file, 0);
  FlamRuntimeMemory memory = { read_heap, heap };
  FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeEntry entries[64];
  GString *found = g_string_new (NULL);
  gsize n = walk (heap, v8, pc, rbp, entries, G_N_ELEMENTS (entries));

  for (gsize i = 0; i < n; i++)
    {
      if (entries[i].function == 0)
        continue;
      flam_runtime_name_clear (name);
      g_assert_true (flam_v8_name (v8, &entries[i], &memory, name));
      for (guint j = 0; j < name->n; j++)
        g_string_append_printf (found,
                                "%s %s:%u (%u)%s%s",
                                name->frames[j].function,
                                name->frames[j].file,
                                name->frames[j].line,
                                name->frames[j].first_line,
                                name->frames[j].compiled ? "+" : "",
                                j + 1 < name->n ? " in " : "; ");
    }
  g_free (name);
  flam_v8_free (v8);
  return g_string_free (found, FALSE);
}

#define assert_frames(heap, pc, rbp, expected)                                 \
  G_STMT_START                                                                 \
  {                                                                            \
    g_autofree char *found = describe (heap, pc, rbp);                         \
    g_assert_cmpstr (found, ==, expected);                                     \
  }                                                                            \
  G_STMT_END

#define SOURCE "one\ntwo\r\nthree\rfour\nfive"

/* Code offset 4 is at character 4, and from 9 on at character 16. The first
 * code offset is counted from -1: 5; the second is 5 more and is stored as -6,
 * for an expression. A position is 2 * (character + 1): 10, and then 24 more. A
 * number n is stored as 2 * n, and -n as 2 * n - 1. */
static const guint8 positions[] = { 10, 20, 11, 48 };

static guint64
positions_of (Heap *heap)
{
  return bytes_of (heap, positions, sizeof positions);
}

static void
test_interpreted (void)
{
  for (guint v = 0; v < VERSIONS; v++)
    {
      g_autofree Heap *heap = heap_new (v);
      gint32 data = heap->file.layout.bytecode_data;
      guint64 script = script_of (heap, "/a/b\xe9.js", SOURCE);
      guint64 bytecode = bytecode_of (heap, positions_of (heap));
      guint64 outer = function_of (heap, shared_of (heap, "outer", 0, script));
      guint64 inner =
          function_of (heap, shared_of (heap, "inn\xe9r", 8, script));
      guint64 first = frame (heap,
                             BUILTINS + 1,
                             heap->sp + 512,
                             outer,
                             bytecode,
                             small (data - 1 + 12));
      guint64 second = frame (
          heap, BUILTINS + 2, first, inner, bytecode, small (data - 1 + 4));

      assert_frames (heap,
                     BUILTINS + 3,
                     second,
                     "innér /a/bé.js:2 (2); outer /a/bé.js:4 (1); ");
      /* A native function was called. */
      push (heap, BUILTINS + 3);
      push (heap, 0);
      assert_frames (
          heap, NATIVE, 0, "innér /a/bé.js:2 (2); outer /a/bé.js:4 (1); ");
    }
}

/* A function with a name instead of a scope, of two bytes for each character:
 * such a string may have the type 0. A module has an URL. */
static void
test_names (void)
{
  const guint16 units[] = { 0x5927, 0x304d, 0x3055 };

  for (guint v = 0; v < VERSIONS; v++)
    {
      g_autofree Heap *heap = heap_new (v);
      gint32 data = heap->file.layout.bytecode_data;
      guint64 shared = shared_of (heap, "", 0, 0);
      guint64 other = shared_of (
          heap, "", 0, script_of (heap, "file:///a%20b/%C3%a9%.mjs", SOURCE));
      guint64 bytecode = bytecode_of (heap, positions_of (heap));
      guint64 wide = object (heap, 0, 32), fp;

      set_half (heap, wide, 12, 3);
      put_bytes (heap, wide - 1 + 16, units, sizeof units);
      set (heap, shared, heap->file.layout.shared_name, wide);
      fp = frame (heap,
                  BUILTINS + 1,
                  heap->sp + 512,
                  function_of (heap, other),
                  bytecode,
                  small (data - 1));
      fp = frame (heap,
                  BUILTINS + 1,
                  fp,
                  function_of (heap, shared),
                  bytecode,
                  small (data - 1));
      assert_frames (
          heap, BUILTINS, fp, "大きさ :0 (0); (anonymous) /a b/é%.mjs:1 (1); ");
    }
}

/* The function at `rbp` runs the code at `pc`. */
static guint64
optimized_of (Heap *heap, guint64 shared, guint64 inlined, guint64 table)
{
  const FlamV8Layout *layout = &heap->file.layout;
  /* Inlined at character 0 of the code's own function. */
  const guint64 inlining[] = { 2 * (0 + 1), 0 };
  guint64 literals = array_of (heap, 2002, &inlined, 1);
  guint64 words[16] = { 0 };

  words[layout->deopt_n_inlined] = small (1);
  words[layout->deopt_literals] = literals;
  words[layout->deopt_shared] = shared;
  if (layout->deopt_shared_wrapped)
    {
      words[layout->deopt_shared] = object (heap, 2003, 16);
      set (heap, words[layout->deopt_shared], 8, shared);
    }
  words[layout->deopt_inlining] = bytes_of (heap, inlining, sizeof inlining);
  return code_of (
      heap, 12, array_of (heap, 2004, words, G_N_ELEMENTS (words)), table);
}

/* From code offset 4 on: at character 4 of the first inlined function. The two
 * parts of the position are 10 and 2^31, and twice their sum is 7 bits each. */
static const guint8 inlined_positions[] = { 10, 0x94, 0x80, 0x80, 0x80, 0x10 };

static void
test_optimized (void)
{
  for (guint v = 0; v < VERSIONS; v++)
    {
      g_autofree Heap *heap = heap_new (v);
      guint64 script = script_of (heap, "/a.js", SOURCE);
      guint64 shared = shared_of (heap, "outer", 0, script);
      guint64 inlined = shared_of (heap, "inner", 4, script);
      guint64 table =
          bytes_of (heap, inlined_positions, sizeof inlined_positions);
      guint64 code = optimized_of (heap, shared, inlined, table);
      guint64 start = start_of (heap, code);
      guint64 function = function_of (heap, shared), fp;

      set_code (heap, function, code);
      fp = frame (heap, BUILTINS + 1, heap->sp + 512, function, 0, 1);
      assert_frames (
          heap, start + 4, fp, "inner /a.js:2 (2)+ in outer /a.js:1 (1)+; ");
      /* Before the first position: the function begins. */
      assert_frames (heap, start + 3, fp, "outer /a.js:1 (1)+; ");
      /* A builtin without a frame was called; a return address is behind its
       * call. */
      push (heap, start + 4);
      assert_frames (heap, BUILTINS + 9, fp, "outer /a.js:1 (1)+; ");
      put (heap, heap->sp, start + 5);
      assert_frames (
          heap, BUILTINS + 9, fp, "inner /a.js:2 (2)+ in outer /a.js:1 (1)+; ");
    }
}

/* Code without optimization, made of bytecodes of length 2: 4 bytes of a
 * prologue, then 3 for each. */
static guint64
baseline_of (Heap *heap, guint64 bytecode)
{
  const FlamV8Layout *layout = &heap->file.layout;
  guint8 table[21], codes[40], lengths[3 * 7] = { 1, 1, 1, 1, 1, 2, 3 };

  table[0] = 4;
  memset (table + 1, 3, sizeof table - 1);
  memset (codes, 5, sizeof codes);
  put_bytes (heap, bytecode - 1 + layout->bytecode_data, codes, sizeof codes);
  heap->file.bytecode_lengths = room (heap, sizeof lengths);
  heap->file.n_bytecodes = 7;
  put_bytes (heap, heap->file.bytecode_lengths, lengths, sizeof lengths);
  return code_of (heap,
                  layout->code_kind_baseline,
                  bytecode,
                  bytes_of (heap, table, sizeof table));
}

/* Baseline code is the function's, or that of its SharedFunctionInfo. Node 12
 * and 14 have none. */
static void
test_baseline_frames (void)
{
  for (guint v = 2; v < VERSIONS; v++)
    for (guint shares = 0; shares < 2; shares++)
      {
        g_autofree Heap *heap = heap_new (v);
        guint64 script = script_of (heap, "/a.js", SOURCE);
        guint64 shared = shared_of (heap, "outer", 0, script);
        guint64 bytecode = bytecode_of (heap, positions_of (heap));
        guint64 code = baseline_of (heap, bytecode);
        guint64 start = start_of (heap, code);
        guint64 function = function_of (heap, shared), fp;

        if (shares)
          set (heap, shared, heap->file.layout.shared_data, code);
        else
          set_code (heap, function, code);
        fp = frame (heap, BUILTINS + 1, heap->sp + 512, function, bytecode, 1);
        assert_frames (heap, start + 12, fp, "outer /a.js:2 (1)+; ");
        assert_frames (heap, start + 19, fp, "outer /a.js:4 (1)+; ");
        assert_frames (heap, start + 9, fp, "outer /a.js:1 (1)+; ");
        /* A return address is behind its call. */
        push (heap, start + 19);
        assert_frames (heap, BUILTINS + 1, fp, "outer /a.js:2 (1)+; ");
      }
}

/* A function is in the middle of a loop for which code was made, while it has
 * code of its own, or none. */
static void
test_replaced (void)
{
  for (guint v = 0; v < VERSIONS; v++)
    {
      g_autofree Heap *heap = heap_new (v);
      gint32 data = heap->file.layout.bytecode_data;
      guint64 script = script_of (heap, "/a.js", SOURCE);
      guint64 shared = shared_of (heap, "outer", 0, script);
      guint64 other = shared_of (heap, "other", 4, script);
      guint64 table = positions_of (heap);
      guint64 known = optimized_of (heap, other, other, table);
      guint64 loop = optimized_of (heap, shared, other, table);
      guint64 bytecode = bytecode_of (heap, positions_of (heap));
      guint64 caller = function_of (heap, other);
      guint64 function = function_of (heap, shared), first, second;

      set_code (heap, caller, known);
      first = frame (heap, BUILTINS + 1, heap->sp + 512, caller, 0, 1);
      second = frame (heap,
                      start_of (heap, known) + 10,
                      first,
                      function,
                      bytecode,
                      small (data - 1 + 4));
      /* The code of the caller shows how code can be found. */
      assert_frames (heap,
                     BUILTINS + 3,
                     second,
                     "outer /a.js:2 (1); other /a.js:4 (2)+; ");
      for (guint again = 0; again < 2; again++)
        {
          FlamV8 *v8 = flam_v8_new (&heap->file, 0);
          FlamRuntimeMemory memory = { read_heap, heap };
          FlamRuntimeName *name = flam_runtime_name_new ();
          FlamRuntimeEntry entries[8];

          walk (heap, v8, BUILTINS + 3, second, entries, 8);
          g_assert_cmpuint (
              walk (heap, v8, start_of (heap, loop) + 200, second, entries, 8),
              ==,
              4);
          g_assert_cmpuint (entries[0].at, ==, 200);
          g_assert_cmpuint (entries[1].at, ==, second);
          g_assert_true (flam_v8_name (v8, &entries[0], &memory, name));
          g_assert_cmpstr (name->frames[0].function, ==, "outer");
          g_assert_cmpuint (name->frames[0].line, ==, 4);
          g_free (name);
          flam_v8_free (v8);
        }
    }
}

/* The dispatch table is not found in a stripped file, so that functions have no
 * code. The form of the header of machine code is then learnt from the first
 * that is searched for. */
static void
test_stripped (void)
{
  for (guint v = 0; v < VERSIONS; v++)
    {
      g_autofree Heap *heap = heap_new (v);
      guint64 script = script_of (heap, "/a.js", SOURCE);
      guint64 shared = shared_of (heap, "outer", 0, script);
      guint64 code = optimized_of (heap, shared, shared, positions_of (heap));
      guint64 function = function_of (heap, shared), fp;

      fp = frame (heap, BUILTINS + 1, heap->sp + 512, function, 0, 1);
      assert_frames (
          heap, start_of (heap, code) + 20, fp, "outer /a.js:4 (1)+; ");
    }
}

/* The function in rdi was called and has no frame yet; that of the code is in
 * the data of the code. */
static void
test_called (void)
{
  for (guint v = 0; v < VERSIONS; v++)
    {
      g_autofree Heap *heap = heap_new (v);
      guint64 script = script_of (heap, "/a.js", SOURCE);
      guint64 table = positions_of (heap);
      guint64 outer = shared_of (heap, "outer", 0, script);
      guint64 inner = shared_of (heap, "inner", 4, script);
      guint64 code = optimized_of (heap, outer, outer, table);
      guint64 called = optimized_of (heap, inner, inner, table);
      guint64 function = function_of (heap, outer), fp;
      FlamV8 *v8 = flam_v8_new (&heap->file, 0);
      FlamRuntimeEntry entries[8];

      set_code (heap, function, code);
      fp = frame (heap, BUILTINS + 1, heap->sp + 512, function, 0, 1);
      push (heap, start_of (heap, code) + 10);
      walk (heap, v8, BUILTINS + 1, fp, entries, 8);
      g_assert_cmpuint (
          walk (heap, v8, start_of (heap, called), fp, entries, 8), ==, 4);
      g_assert_cmpuint (entries[0].function, ==, inner);
      g_assert_cmpuint (entries[0].at, ==, 0);
      g_assert_cmpuint (entries[1].at, ==, fp);
      g_assert_cmpuint (entries[2].function, ==, outer);
      g_assert_cmpuint (entries[2].at, ==, 9);
      flam_v8_free (v8);
    }
}

/* The code of a regular expression runs, in the frame below the one with the
 * regular expression; another one is on the stack, too. V8 12 wraps the code.
 */
static void
test_regexp (void)
{
  for (guint v = 0; v < VERSIONS; v++)
    {
      g_autofree Heap *heap = heap_new (v);
      const FlamV8Layout *layout = &heap->file.layout;
      guint64 script = script_of (heap, "/a.js", SOURCE);
      guint64 shared = shared_of (heap, "outer", 0, script);
      guint64 known = optimized_of (heap, shared, shared, positions_of (heap));
      guint64 function = function_of (heap, shared), fp, words[10];
      guint64 sources[] = { text (heap, "other"), text (heap, "a+b") };
      guint64 regexps[2], code = 0;
      FlamRuntimeMemory memory = { read_heap, heap };
      g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
      FlamRuntimeEntry entries[8];
      FlamV8 *v8;

      set_code (heap, function, known);
      for (guint i = 0; i < 2; i++)
        {
          code = code_of (heap, 3, 0, 0);
          memset (words, 0, sizeof words);
          words[4] = code;
          if (v == 5)
            {
              words[4] = object (heap, 2005, 16);
              set (heap, words[4], 8, code);
            }
          regexps[i] = object (heap, layout->type_regexp, 64);
          set (heap,
               regexps[i],
               24,
               array_of (heap,
                         v < 6 ? layout->type_fixed_array : 2004,
                         words,
                         v < 6 ? 5 : 10));
          set (heap, regexps[i], 32, sources[i]);
        }
      fp = frame (heap, BUILTINS + 1, heap->sp + 512, function, 0, 1);
      push (heap, regexps[1]);
      push (heap, regexps[0]);
      push (heap, start_of (heap, known) + 5);
      fp = push (heap, fp);
      push (heap, small (4));
      v8 = flam_v8_new (&heap->file, 0);
      g_assert_cmpuint (
          walk (heap, v8, start_of (heap, code) + 40, fp, entries, 8), ==, 4);
      g_assert_cmpuint (entries[1].at, ==, fp);
      g_assert_true (flam_v8_name (v8, &entries[0], &memory, name));
      g_assert_cmpuint (name->n, ==, 1);
      g_assert_cmpstr (name->frames[0].function, ==, "RegExp: a+b");
      g_assert_cmpstr (name->frames[0].file, ==, "");
      flam_runtime_name_clear (name);
      g_assert_true (flam_v8_name (v8, &entries[2], &memory, name));
      g_assert_cmpstr (name->frames[0].function, ==, "outer");
      g_assert_cmpuint (name->frames[0].line, ==, 2);
      flam_v8_free (v8);
    }
}

/* Which native frames are V8's: not the ones of its own C++ code, nor one that
 * ends elsewhere. */
static void
test_is_frame (void)
{
  g_autofree Heap *heap = heap_new (4);
  const FlamV8File *file = &heap->file;

  g_assert_true (flam_v8_is_frame (file, 0, BUILTINS + 5, 116, 100));
  g_assert_true (flam_v8_is_frame (file, 0, 0x7f0000001000, 116, 100));
  g_assert_false (flam_v8_is_frame (file, 0, NATIVE + 5, 116, 100));
  g_assert_false (flam_v8_is_frame (file, 0, BUILTINS + 5, 124, 100));
  g_assert_true (flam_v8_is_frame (file, 0x1000, BUILTINS + 0x1005, 116, 100));
  g_assert_false (flam_v8_is_frame (file, 0x1000, NATIVE + 0x1005, 116, 100));
}

/* --- tables -------------------------------------------------------------- */

static void
test_baseline (void)
{
  g_autofree Heap *heap = heap_new (4);
  FlamRuntimeMemory memory = { read_heap, heap };
  /* A prologue of 6 bytes, then 3, 200 and 5. */
  const guint8 table[] = { 6, 3, 0xc8, 1, 5 };
  /* Three bytecodes: of length 2, a prefix with one of length 5, and one of
   * length 1. */
  const guint8 code[] = { 5, 0, 1, 6, 0, 0, 0, 0, 4 };
  guint8 lengths[3 * 7] = { 1, 1, 1, 1, 1, 2, 3 };
  FlamV8Bytecodes bytecodes = { .n_lengths = 7, .size = sizeof code };
  guint64 at = room (heap, sizeof table), found;

  lengths[2 * 7 + 6] = 5;
  put_bytes (heap, at, table, sizeof table);
  bytecodes.code = room (heap, sizeof code);
  put_bytes (heap, bytecodes.code, code, sizeof code);
  bytecodes.lengths = room (heap, sizeof lengths);
  put_bytes (heap, bytecodes.lengths, lengths, sizeof lengths);
#define FIND(offset)                                                           \
  flam_v8_baseline_bytecode (                                                  \
      &memory, at, sizeof table, &bytecodes, offset, &found)
  g_assert_false (FIND (5));
  g_assert_true (FIND (6));
  g_assert_cmpuint (found, ==, 0);
  g_assert_true (FIND (9));
  g_assert_cmpuint (found, ==, 2);
  g_assert_true (FIND (208));
  g_assert_cmpuint (found, ==, 2);
  g_assert_true (FIND (209));
  g_assert_cmpuint (found, ==, 8);
  g_assert_false (FIND (214));
#undef FIND
}

static void
test_positions (void)
{
  g_autofree Heap *heap = heap_new (4);
  FlamRuntimeMemory memory = { read_heap, heap };
  const guint8 flagged[] = { 23, 20, 22, 48 };
  guint64 at = room (heap, sizeof positions);
  FlamV8Position position;

  put_bytes (heap, at, positions, sizeof positions);
  position = flam_v8_position_at (&memory, at, sizeof positions, false, 3);
  g_assert_false (position.known);
  g_assert_true (position.before);
  position = flam_v8_position_at (&memory, at, sizeof positions, false, 8);
  g_assert_true (position.known);
  g_assert_cmpuint (position.offset, ==, 4);
  position = flam_v8_position_at (&memory, at, sizeof positions, false, 1000);
  g_assert_cmpuint (position.offset, ==, 16);
  position = flam_v8_position_at (&memory, at, 0, false, 8);
  g_assert_false (position.known || position.before);
  /* With two flags: 5 is 4 * 5 + 2, or + 3. */
  put_bytes (heap, at, flagged, sizeof flagged);
  position = flam_v8_position_at (&memory, at, sizeof flagged, true, 3);
  g_assert_true (position.before);
  position = flam_v8_position_at (&memory, at, sizeof flagged, true, 8);
  g_assert_cmpuint (position.offset, ==, 4);
  position = flam_v8_position_at (&memory, at, sizeof flagged, true, 9);
  g_assert_cmpuint (position.offset, ==, 16);
  /* In another file: no offset. Inlined: bits 31 to 46. */
  g_assert_false (flam_v8_position (11).known);
  g_assert_cmpuint (flam_v8_position (10 | 3ull << 31).inlined, ==, 3);
  g_assert_cmpuint (flam_v8_position (10 | 3ull << 31).offset, ==, 4);
}

/* --- strings ------------------------------------------------------------- */

static guint64
pair (Heap *heap, guint16 type, guint32 length, guint64 a, guint64 b)
{
  guint64 string = object (heap, type, 32);

  set_half (heap, string, 12, length);
  set (heap, string, 16, a);
  set (heap, string, 24, b);
  return string;
}

static void
assert_string (Heap *heap, guint64 string, gsize limit, const char *expected)
{
  FlamRuntimeMemory memory = { read_heap, heap };
  guint16 units[64];
  glong n = flam_v8_string (&heap->file.layout, &memory, string, units, limit);
  g_autofree char *utf8 =
      n >= 0 ? g_utf16_to_utf8 (units, n, NULL, NULL, NULL) : NULL;

  g_assert_cmpstr (utf8, ==, expected);
}

/* The lower bits of a type: 0 sequential, 1 of two, 2 external, 3 sliced,
 * 5 thin; + 8: one byte for each character. */
static void
test_strings (void)
{
  g_autofree Heap *heap = heap_new (4);
  const guint16 units[] = { 'a', 0x20ac, 0xd83d, 0xde00 };
  guint64 wide = object (heap, 0, 32), latin = text (heap, "hello w\xf6rld");
  guint64 outside = room (heap, 8), cycle;

  set_half (heap, wide, 12, 4);
  put_bytes (heap, wide - 1 + 16, units, sizeof units);
  put_bytes (heap, outside, "outside", 7);
  assert_string (heap, latin, 64, "hello wörld");
  assert_string (heap, wide, 64, "a€😀");
  assert_string (heap, wide, 2, "a€");
  assert_string (heap, pair (heap, 1, 15, latin, wide), 64, "hello wörlda€😀");
  assert_string (heap, pair (heap, 1, 15, latin, wide), 13, "hello wörlda€");
  assert_string (heap, pair (heap, 3 + 8, 3, latin, small (6)), 64, "wör");
  assert_string (heap, pair (heap, 3 + 8, 30, latin, small (6)), 64, NULL);
  assert_string (heap, pair (heap, 5, 11, latin, 0), 64, "hello wörld");
  assert_string (heap, pair (heap, 2 + 8, 7, 0, outside), 64, "outside");
  /* A string of a string that is cut. */
  assert_string (heap,
                 pair (heap,
                       3 + 8,
                       2,
                       pair (heap, 1, 11, latin, text (heap, "")),
                       small (6)),
                 64,
                 "wö");
  assert_string (heap, small (5), 64, NULL);
  assert_string (heap, object (heap, 200, 32), 64, NULL);
  /* A string of itself. */
  cycle = pair (heap, 1, 10, 0, 0);
  set (heap, cycle, 16, cycle);
  set (heap, cycle, 24, cycle);
  assert_string (heap, cycle, 64, NULL);
  set (heap, cycle, 24, text (heap, ""));
  assert_string (heap, cycle, 64, NULL);
}

/* The collector has moved a string: its new address is in place of the map. */
static void
test_moved (void)
{
  g_autofree Heap *heap = heap_new (4);
  guint64 old = object (heap, 8, 32);

  set (heap, old, 0, text (heap, "moved") - 1);
  assert_string (heap, old, 64, "moved");
  set (heap, old, 0, old - 1);
  assert_string (heap, old, 64, NULL);
}

/* --- invalid memory ------------------------------------------------------ */

/* A word of any kind, often one that leads somewhere. */
static guint64
any_word (GRand *rand, const Heap *heap)
{
  switch (g_rand_int_range (rand, 0, 8))
    {
    case 0:
    case 1:
    case 2:
      return BASE + (guint64)g_rand_int_range (rand, 0, SIZE / 8) * 8 + 1;
    case 3:
      return small (g_rand_int_range (rand, -2, 200));
    case 4:
      return heap->maps[g_rand_int_range (rand, 0, (gint32)heap->n_maps)] + 1;
    case 5:
      return (guint64)g_rand_int (rand) << 32 | g_rand_int (rand);
    case 6:
      return small ((gint32)g_rand_int (rand));
    default:
      return BUILTINS + (guint64)g_rand_int_range (rand, 0, 0x100);
    }
}

/* A valid stack in which some words were replaced. */
static void
test_invalid (void)
{
  g_autofree FlamRuntimeEntry *entries = g_new (FlamRuntimeEntry, 512);
  FlamRuntimeName *name = flam_runtime_name_new ();
  guint named = 0;

  for (guint round = 0; round < 3000; round++)
    {
      g_autofree Heap *heap = heap_new (round % VERSIONS);
      g_autoptr (GRand) rand = g_rand_new_with_seed (round);
      FlamRuntimeMemory memory = { read_heap, heap };
      gint32 data = heap->file.layout.bytecode_data;
      guint64 script = script_of (heap, "/a.js", SOURCE);
      guint64 outer = shared_of (heap, "outer", 0, script);
      guint64 inner = shared_of (heap, "inner", 4, script);
      guint64 table =
          bytes_of (heap, inlined_positions, sizeof inlined_positions);
      guint64 bytecode = bytecode_of (heap, positions_of (heap));
      guint64 code = round % 3 == 0 ? baseline_of (heap, bytecode)
                                    : optimized_of (heap, outer, inner, table);
      guint64 start = start_of (heap, code), first = heap->sp + 512;
      guint64 function = function_of (heap, outer), end = heap->next;
      FlamV8 *v8 = flam_v8_new (&heap->file, 0);
      gsize n = (gsize)g_rand_int_range (rand, 1, 40);

      set_code (heap, function, code);
      for (guint i = 0; i < 8; i++)
        first = frame (heap,
                       i % 2 == 0 ? BUILTINS + 1 : start + 5,
                       first,
                       function,
                       bytecode,
                       small (data - 1 + 4));
      for (guint again = 0; again < 3; again++)
        {
          gint32 n_words = (gint32)(BASE + SIZE - heap->sp) / 8;
          gsize found;

          for (gsize i = 0; i < n; i++)
            put (heap,
                 i % 4 == 0 ? heap->sp + 8 * (guint64)g_rand_int_range (
                                                 rand, 0, n_words)
                            : BASE + 8 * (guint64)g_rand_int_range (
                                             rand, 0, (gint32)(end - BASE) / 8),
                 any_word (rand, heap));
          found = walk (heap,
                        v8,
                        again == 0 ? start + 5 : any_word (rand, heap),
                        again == 0 ? first : any_word (rand, heap),
                        entries,
                        round % 5 == 0 ? 3 : 512);
          g_assert_cmpuint (found, <=, round % 5 == 0 ? 3 : 512);
          for (gsize i = 0; i < found; i++)
            if (entries[i].function != 0)
              {
                flam_runtime_name_clear (name);
                if (!flam_v8_name (v8, &entries[i], &memory, name))
                  continue;
                named++;
                g_assert_cmpuint (name->n, >, 0);
                for (guint j = 0; j < name->n; j++)
                  {
                    g_assert_true (
                        g_utf8_validate (name->frames[j].function, -1, NULL));
                    g_assert_true (
                        g_utf8_validate (name->frames[j].file, -1, NULL));
                  }
              }
        }
      flam_v8_free (v8);
    }
  /* It was not all rejected at the first word. */
  g_assert_cmpuint (named, >, 3000);
  g_free (name);
}

/* --- files --------------------------------------------------------------- */

static gboolean
find_in (const char *path, FlamRuntimeFile *file)
{
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  gboolean found;

  *file = (FlamRuntimeFile){ 0 };
  g_assert_nonnull (elf);
  found = flam_v8_find (elf, fd, path, file);
  close (fd);
  return found;
}

/* Chromium is recognized by a file beside it; any other program is not V8. */
static void
test_chromium (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-v8.XXXXXX", NULL);
  g_autofree char *program = g_build_filename (folder, "program", NULL);
  g_autofree char *snapshot =
      g_build_filename (folder, "v8_context_snapshot.bin", NULL);
  g_autofree char *bytes = NULL;
  FlamRuntimeFile file;
  gsize n;

  g_assert_true (g_file_get_contents ("/proc/self/exe", &bytes, &n, NULL));
  g_assert_true (g_file_set_contents (program, bytes, (gssize)n, NULL));
  g_assert_false (find_in (program, &file));
  g_assert_true (g_file_set_contents (snapshot, "", 0, NULL));
  g_assert_true (find_in (program, &file));
  g_assert_cmpstr (
      file.why, ==, "it compresses pointers, as Chrome and Electron do");
  g_assert_cmpstr (file.help, ==, "start it with --js-flags=--perf-basic-prof");
  flam_runtime_file_clear (&file);
  g_unlink (snapshot);
  g_unlink (program);
  g_rmdir (folder);
}

/* The node of this machine, if its version is one of those that are read. */
static void
test_node (void)
{
  g_autofree char *node = g_find_program_in_path ("node");
  FlamRuntimeFile file;
  const FlamV8File *v8;

  if (node == NULL || !find_in (node, &file) || file.why != NULL)
    {
      g_test_skip ("there is no node, or none of these versions");
      return;
    }
  v8 = file.facts;
  g_assert_cmpuint (v8->native.start, <, v8->native.end);
  g_assert_cmpuint (v8->builtins.start, >=, v8->native.start);
  g_assert_cmpuint (v8->builtins.end, <=, v8->native.end);
  g_assert_cmpuint (v8->major, !=, 0);
  flam_runtime_file_clear (&file);
}

/* --- threads -------------------------------------------------------------- */

#define AREA 0x7000000000ull
#define AREA_SIZE 0x4000u
#define DESCRIPTOR (AREA + 0x1240) /* above a thread's stack and data */
#define OBJECT (AREA + 0x3000)     /* a Worker */
#define NUMBER_AT 0xf8u            /* as in node 20 */

static bool
read_area (gpointer data, uint64_t address, void *to, size_t size)
{
  if (address < AREA || size > AREA_SIZE || address - AREA > AREA_SIZE - size)
    return false;
  memcpy (to, (const guint8 *)data + (address - AREA), size);
  return true;
}

static void
put_word (guint8 *area, guint64 address, guint64 word)
{
  memcpy (area + (address - AREA), &word, sizeof word);
}

static void
put_thread (guint8 *area, guint64 start, const char *name)
{
  memset (area, 0, AREA_SIZE);
  put_word (area, DESCRIPTOR, DESCRIPTOR);
  put_word (area, DESCRIPTOR + 16, DESCRIPTOR);
  put_word (area, DESCRIPTOR + 0x640, start);
  put_word (area, DESCRIPTOR + 0x648, OBJECT);
  put_word (area, OBJECT + NUMBER_AT, 12);
  put_word (area, OBJECT + NUMBER_AT + 16, OBJECT + 0x200);
  put_word (area, OBJECT + NUMBER_AT + 24, strlen (name));
  memcpy (area + (OBJECT + 0x200 - AREA), name, strlen (name));
}

/* By what a thread was started with, or what looks like it. */
static void
test_threads (void)
{
  static const struct
  {
    guint64 start;
    const char *given, *name; /* NULL: none */
  } rows[] = {
    { 0x401000, "", "Worker 12" },
    { 0x401000, "WorkerThread", "Worker 12" },
    { 0x401000, "indexer", "Worker 12: indexer" },
    { 0x401000, "a\nb", "Worker 12" },
    { 0x401000,
      "a name that is too long to be the name of a thread",
      "Worker 12" },
    { 0x402000, "", "V8Worker" },
    { 0x403000, "", "DelayedTaskScheduler" },
    { 0x404000, "", "SignalInspector" },
    { 0x405000, "", "libuv-worker" },
    { 0x406000, "", NULL },
    { 0, "", NULL },
  };
  FlamV8Threads threads = { { 0x1000, 0x2000, 0x3000, 0x4000, 0x5000 },
                            NUMBER_AT };
  g_autofree guint8 *area = g_malloc (AREA_SIZE);
  FlamRuntimeMemory memory = { read_area, area };
  char name[FLAM_V8_THREAD_NAME_SIZE];

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      gboolean any;

      put_thread (area, rows[i].start, rows[i].given);
      any =
          flam_v8_threads_name (&threads, NATIVE, &memory, AREA + 0x358, name);
      g_assert_cmpstr (any ? name : NULL, ==, rows[i].name);
    }
  put_thread (area, 0x401000, "");
  threads.number = 0;
  g_assert_true (
      flam_v8_threads_name (&threads, NATIVE, &memory, AREA + 0x358, name));
  g_assert_cmpstr (name, ==, "Worker");
  threads.starts[FLAM_V8_START_WORKER] = 0;
  g_assert_false (
      flam_v8_threads_name (&threads, NATIVE, &memory, AREA + 0x358, name));
}

/* With any content: no read beyond the name, and an end. */
static void
test_threads_invalid (void)
{
  const FlamV8Threads threads = { { 0x1000, 0, 0, 0, 0x5000 }, NUMBER_AT };
  g_autofree guint8 *area = g_malloc (AREA_SIZE);
  FlamRuntimeMemory memory = { read_area, area };
  char name[FLAM_V8_THREAD_NAME_SIZE];

  for (guint i = 0; i < 20000; i++)
    {
      put_thread (area, 0x401000, "indexer");
      for (guint n = (guint)g_test_rand_int_range (1, 5); n > 0; n--)
        {
          const guint64 words[] = { AREA,        DESCRIPTOR,
                                    G_MAXUINT64, OBJECT,
                                    0x401000,    39,
                                    G_MAXINT64,  AREA + AREA_SIZE - 8 };
          const guint64 places[] = {
            DESCRIPTOR,         DESCRIPTOR + 16,         DESCRIPTOR + 0x648,
            OBJECT + NUMBER_AT, OBJECT + NUMBER_AT + 16, OBJECT + NUMBER_AT + 24
          };

          put_word (area,
                    places[g_test_rand_int_range (0, G_N_ELEMENTS (places))],
                    words[g_test_rand_int_range (0, G_N_ELEMENTS (words))]);
        }
      name[0] = '\0';
      if (flam_v8_threads_name (
              &threads,
              NATIVE,
              &memory,
              AREA + (guint64)g_test_rand_int_range (0, AREA_SIZE),
              name))
        g_assert_true (g_str_has_prefix (name, "Worker"));
    }
}

/* The call and the store of node 18's constructor, and what only looks like
 * them. */
static void
test_worker_number (void)
{
  guint8 code[128] = { 0 };
  const guint64 at = 0xc65975, allocate = 0xade040;
  static const guint8 bytes[] = { 0xe8, 0xc6, 0x86, 0xe7, 0xff, 0x49,
                                  0x8d, 0xbf, 0x08, 0x01, 0x00, 0x00,
                                  0x49, 0xc7, 0x87, 0x00, 0x01, 0x00,
                                  0x00, 0x00, 0x00, 0x00, 0x00, 0x49,
                                  0x89, 0x87, 0xf8, 0x00, 0x00, 0x00 };

  memcpy (code, bytes, sizeof bytes);
  g_assert_cmpuint (
      flam_v8_threads_find_number (code, sizeof code, at, allocate), ==, 0xf8);
  g_assert_cmpuint (
      flam_v8_threads_find_number (code, sizeof code, at, allocate + 1), ==, 0);
  g_assert_cmpuint (
      flam_v8_threads_find_number (code, sizeof bytes, at, allocate), ==, 0);
  g_assert_cmpuint (flam_v8_threads_find_number (code, 0, at, allocate), ==, 0);
  code[29] = 0x40; /* too far from the object */
  g_assert_cmpuint (
      flam_v8_threads_find_number (code, sizeof code, at, allocate), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/v8/layouts", test_layouts);
  g_test_add_func ("/v8/layouts/refused", test_refused);
  g_test_add_func ("/v8/interpreted", test_interpreted);
  g_test_add_func ("/v8/names", test_names);
  g_test_add_func ("/v8/optimized", test_optimized);
  g_test_add_func ("/v8/baseline/frames", test_baseline_frames);
  g_test_add_func ("/v8/replaced", test_replaced);
  g_test_add_func ("/v8/stripped", test_stripped);
  g_test_add_func ("/v8/called", test_called);
  g_test_add_func ("/v8/regexp", test_regexp);
  g_test_add_func ("/v8/is-frame", test_is_frame);
  g_test_add_func ("/v8/baseline", test_baseline);
  g_test_add_func ("/v8/positions", test_positions);
  g_test_add_func ("/v8/strings", test_strings);
  g_test_add_func ("/v8/moved", test_moved);
  g_test_add_func ("/v8/invalid", test_invalid);
  g_test_add_func ("/v8/chromium", test_chromium);
  g_test_add_func ("/v8/threads", test_threads);
  g_test_add_func ("/v8/threads/invalid", test_threads_invalid);
  g_test_add_func ("/v8/threads/worker-number", test_worker_number);
  g_test_add_func ("/v8/node", test_node);
  return g_test_run ();
}
