/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-luajit-names.h"

#include <string.h>

#include "flam-runtime-lines.h"

#define CLOSURE_SIZE_MAX 48
#define KIND_LUA 0u
#define CODE_MAX (1u << 16)
#define LINE_BUILT_IN 0xffffffffu

/* An instruction: opcode, A, then D of 16 bits, or C and B. */
#define OP_MOVE 18u
#define OP_NIL 44u
#define OP_UPVALUE 45u
#define OP_GLOBAL 54u
#define OP_FIELD 57u
#define OP_CALL_FIRST 65u
#define OP_CALL_LAST 70u
#define OP_ITERATOR 69u /* its function is 3 slots before */

/* Names of variables that the compiler makes have a number instead. */
#define VARIABLE_NAMES 7u
#define VARIABLES_MAX 4096 /* bytes that are read */

#define CALLED_FROM_MAX 256 /* instructions before a call that are read */
#define NAME_SIZE 64
#define SEEN_MAX 256

#define KEY_C 1u /* marks the key of a function that is not in Lua */

typedef struct
{
  guint64 code;
  guint32 size;
  guint32 number;
} Seen;

struct _FlamLuajit
{
  Seen seen[SEEN_MAX]; /* by the number of the trace */
  guint64 first;       /* of all code that was seen */
  guint64 end;
};

FlamLuajit *
flam_luajit_new (void)
{
  return g_new0 (FlamLuajit, 1);
}

/* --- traces -------------------------------------------------------------- */

void
flam_luajit_note_trace (FlamLuajit *luajit,
                        guint32 number,
                        guint64 code,
                        guint32 size)
{
  luajit->seen[number % SEEN_MAX] = (Seen){ code, size, number };
  luajit->first = luajit->end == 0 ? code : MIN (luajit->first, code);
  luajit->end = MAX (luajit->end, code + size);
}

guint32
flam_luajit_find_trace (const FlamLuajit *luajit, guint64 pc)
{
  if (pc - luajit->first >= luajit->end - luajit->first)
    return 0;
  for (guint i = 0; i < SEEN_MAX; i++)
    if (pc - luajit->seen[i].code < luajit->seen[i].size)
      return luajit->seen[i].number;
  return 0;
}

/* --- functions ----------------------------------------------------------- */

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

/* Identifies a function, as its address may be used again. */
static guint64
proto_cookie (const FlamLuajitLayout *layout, const guint8 *proto)
{
  guint64 cookie =
      mix (0, flam_luajit_reference (layout, proto, layout->proto_constants));

  cookie = mix (cookie, flam_runtime_u32 (proto, layout->proto_n_code));
  cookie =
      mix (cookie, flam_luajit_reference (layout, proto, layout->proto_file));
  cookie = mix (cookie, flam_runtime_u64 (proto, layout->proto_line));
  return cookie | 1;
}

static bool
is_proto (const FlamLuajitLayout *layout, const guint8 *proto, guint64 address)
{
  guint64 code = address + layout->proto_size;
  guint32 n = flam_runtime_u32 (proto, layout->proto_n_code);
  guint32 size = flam_runtime_u32 (proto, layout->proto_all);
  guint64 constants =
      flam_luajit_reference (layout, proto, layout->proto_constants);

  return proto[layout->type] == FLAM_LUAJIT_PROTO && n > 0 && n <= CODE_MAX &&
         size >= layout->proto_size + 4 * n &&
         constants - code >= 4 * (guint64)n && constants - address <= size;
}

static void
set_proto (const FlamLuajitLayout *layout,
           FlamLuajitFunction *function,
           guint64 address)
{
  function->key = address;
  function->cookie = proto_cookie (layout, function->proto);
  function->lua = true;
  function->pc = 0;
}

bool
flam_luajit_read_function (const FlamLuajitLayout *layout,
                           const FlamRuntimeMemory *memory,
                           guint64 closure,
                           FlamLuajitFunction *function)
{
  guint8 bytes[CLOSURE_SIZE_MAX];
  guint64 code, native;

  if (closure % 8 != 0 ||
      !flam_runtime_read (memory, closure, bytes, layout->closure_size) ||
      bytes[layout->type] != FLAM_LUAJIT_FUNCTION)
    return false;
  code = flam_luajit_reference (layout, bytes, layout->closure_code);
  native = flam_runtime_u64 (bytes, layout->closure_c);
  if (bytes[layout->closure_kind] == KIND_LUA)
    {
      code -= layout->proto_size;
      if (!flam_runtime_read (
              memory, code, function->proto, layout->proto_size) ||
          !is_proto (layout, function->proto, code))
        return false;
      set_proto (layout, function, code);
      return true;
    }
  /* Functions of the library share one or the other. */
  *function = (FlamLuajitFunction){ .key = mix (native, code) | KEY_C };
  return true;
}

bool
flam_luajit_function_at (const FlamLuajitLayout *layout,
                         const FlamRuntimeMemory *memory,
                         guint64 pc,
                         FlamLuajitFunction *function)
{
  guint8 bytes[FLAM_LUAJIT_PROTO_SIZE + 1024];
  const gsize size = layout->proto_size + 1024u;
  const guint32 step = 1024;

  if (pc % 4 != 0)
    return false;
  /* `bytes` are the bytes before `end`, which may be the start of code. */
  for (guint64 end = pc + 4; pc + 4 - end < 4 * CODE_MAX; end -= step)
    {
      guint64 start = end - size;
      /* The heap may begin with the page. */
      guint64 skipped = ((end - 1) & ~4095ull) - start;
      bool last = !flam_runtime_read (memory, start, bytes, size);

      if (last &&
          (skipped >= size ||
           !flam_runtime_read (
               memory, start + skipped, bytes + skipped, size - skipped)))
        return false;
      if (last)
        memset (bytes, 0, skipped);
      for (guint32 at = step; at > 0; at -= 4)
        {
          const guint8 *proto = bytes + at - 4;
          guint64 address = start + at - 4;

          if (proto[layout->type] != FLAM_LUAJIT_PROTO || address % 8 != 0 ||
              !is_proto (layout, proto, address))
            continue;
          memcpy (function->proto, proto, layout->proto_size);
          set_proto (layout, function, address);
          return flam_luajit_set_pc (layout, function, pc);
        }
      if (last)
        break;
    }
  return false;
}

bool
flam_luajit_set_pc (const FlamLuajitLayout *layout,
                    FlamLuajitFunction *function,
                    guint64 pc)
{
  guint64 at = pc - (function->key + layout->proto_size);

  if (at % 4 != 0 ||
      at / 4 >= flam_runtime_u32 (function->proto, layout->proto_n_code))
    return false;
  function->pc = (guint32)(at / 4) + 1;
  return true;
}

/* --- names by calls ------------------------------------------------------ */

/* A string that ends with a NUL, truncated. */
static bool
read_text (const FlamRuntimeMemory *memory,
           guint64 address,
           char text[NAME_SIZE])
{
  gsize n = 0;

  /* Pieces that end where a page may end, since the next one may not exist. */
  while (n < NAME_SIZE - 1)
    {
      gsize piece = MIN (16 - (gsize)((address + n) % 16), NAME_SIZE - 1 - n);

      if (!flam_runtime_read (memory, address + n, text + n, piece))
        return false;
      if (memchr (text + n, '\0', piece) != NULL)
        return true;
      n += piece;
    }
  text[n] = '\0';
  return true;
}

/* The address of a string's bytes: those until 2020 are told apart by the
 * length before the bytes. */
static guint64
string_bytes (const FlamLuajitLayout *layout,
              const FlamRuntimeMemory *memory,
              guint64 string)
{
  guint64 bytes = string + layout->string_bytes;
  guint32 length;
  guint8 end;

  if (layout->string_bytes != layout->string_bytes_before &&
      (!flam_runtime_read_u32 (memory, bytes - 4, &length) ||
       !flam_runtime_read_u8 (memory, bytes + length, &end) || end != '\0'))
    return string + layout->string_bytes_before;
  return bytes;
}

/* The string with this number among the constants. */
static bool
constant_text (const FlamLuajitLayout *layout,
               const FlamRuntimeMemory *memory,
               const guint8 *proto,
               guint32 i,
               char text[NAME_SIZE])
{
  guint64 constants =
      flam_luajit_reference (layout, proto, layout->proto_constants);
  guint64 string;
  guint8 type;

  return i < flam_runtime_u32 (proto, layout->proto_n_constants) &&
         flam_luajit_read_reference (layout,
                                     memory,
                                     constants -
                                         layout->reference * (guint64)(i + 1),
                                     &string) &&
         string % 8 == 0 &&
         flam_runtime_read_u8 (memory, string + layout->type, &type) &&
         type == FLAM_LUAJIT_STRING &&
         read_text (memory, string_bytes (layout, memory, string), text);
}

/* The names of upvalues are one after the other, each with a NUL. */
static bool
upvalue_text (const FlamLuajitLayout *layout,
              const FlamRuntimeMemory *memory,
              const guint8 *proto,
              guint32 i,
              char text[NAME_SIZE])
{
  guint64 first = flam_luajit_reference (layout, proto, layout->proto_upvalues);
  guint64 names = first;

  if (names == 0 || i >= proto[layout->proto_n_upvalues])
    return false;
  for (guint32 skipped = 0; skipped < i;)
    {
      guint8 c;

      if (!flam_runtime_read_u8 (memory, names++, &c) ||
          names - first > VARIABLES_MAX)
        return false;
      skipped += c == '\0';
    }
  return read_text (memory, names, text);
}

typedef struct
{
  const FlamRuntimeMemory *memory;
  guint64 at;
  guint64 end;
} Bytes;

static bool
next_byte (Bytes *bytes, guint8 *value)
{
  return bytes->at < bytes->end &&
         flam_runtime_read_u8 (bytes->memory, bytes->at++, value);
}

static bool
next_number (Bytes *bytes, guint32 *value)
{
  guint8 byte = 0x80;

  *value = 0;
  for (guint shift = 0; (byte & 0x80) != 0; shift += 7)
    {
      if (shift > 28 || !next_byte (bytes, &byte))
        return false;
      *value |= (guint32)(byte & 0x7f) << shift;
    }
  return true;
}

/* The variable in a slot: slot N holds the Nth variable whose scope contains
 * the pc. Each has a name, the start of its scope, counted from the previous
 * one's, and the length of its scope. */
static bool
variable_text (const FlamLuajitLayout *layout,
               const FlamRuntimeMemory *memory,
               const guint8 *proto,
               guint slot,
               guint32 pc,
               char text[NAME_SIZE])
{
  guint64 start =
      flam_luajit_reference (layout, proto, layout->proto_variables);
  Bytes bytes = { memory, start, start + VARIABLES_MAX };
  guint32 first = 0, delta, n;

  if (start == 0)
    return false;
  for (;;)
    {
      guint64 name = bytes.at;
      guint8 c, kind;

      if (!next_byte (&bytes, &kind) || kind == 0)
        return false;
      for (c = kind; kind >= VARIABLE_NAMES && c != 0;)
        if (!next_byte (&bytes, &c))
          return false;
      if (!next_number (&bytes, &delta) || !next_number (&bytes, &n))
        return false;
      first += delta;
      if (first > pc)
        return false;
      if (pc - first < n && slot-- == 0)
        return kind >= VARIABLE_NAMES && read_text (memory, name, text);
    }
}

/* The name of a function by the instruction that loaded it for the call at
 * `pc`: the last one before that wrote the slot. */
static bool
name_of_call (const FlamLuajitLayout *layout,
              const FlamRuntimeMemory *memory,
              const FlamLuajitFunction *caller,
              char text[NAME_SIZE])
{
  guint32 pc = caller->pc - 1;
  guint32 first = pc > CALLED_FROM_MAX ? pc - CALLED_FROM_MAX : 0;
  guint32 code[CALLED_FROM_MAX + 1];
  guint op, slot;

  if (!flam_runtime_read (memory,
                          caller->key + layout->proto_size + 4 * (guint64)first,
                          code,
                          4 * (gsize)(pc - first + 1)))
    return false;
  op = code[pc - first] & 255;
  slot = code[pc - first] >> 8 & 255;
  if (op < OP_CALL_FIRST || op > OP_CALL_LAST)
    return false;
  if (op >= OP_ITERATOR)
    slot -= 3;
  if (variable_text (layout, memory, caller->proto, slot, pc, text))
    return true;
  for (guint32 i = pc; i-- > first;)
    {
      guint32 load = code[i - first], a = load >> 8 & 255, d = load >> 16;

      if (a != slot)
        continue;
      switch (load & 255)
        {
        case OP_MOVE:
          slot = d;
          if (variable_text (layout, memory, caller->proto, slot, i, text))
            return true;
          continue;
        case OP_UPVALUE:
          return upvalue_text (layout, memory, caller->proto, d, text);
        case OP_GLOBAL:
          return constant_text (layout, memory, caller->proto, d, text);
        case OP_FIELD:
          return constant_text (layout, memory, caller->proto, d & 255, text);
        case OP_NIL:
          return false;
        default:
          break;
        }
    }
  return false;
}

/* Reads a function in Lua by its entry in a chain. */
static bool
read_entry (const FlamLuajitLayout *layout,
            const FlamRuntimeMemory *memory,
            const FlamRuntimeEntry *entry,
            FlamLuajitFunction *function)
{
  if (entry->function == 0 || (entry->function & KEY_C) != 0 ||
      !flam_runtime_read (
          memory, entry->function, function->proto, layout->proto_size) ||
      !is_proto (layout, function->proto, entry->function))
    return false;
  set_proto (layout, function, entry->function);
  function->pc = (guint32)entry->at;
  return function->cookie == entry->cookie;
}

/* The name by which the caller, if it is a function in Lua, has called it. */
static const char *
name_of_callee (const FlamLuajitLayout *layout,
                const FlamRuntimeMemory *memory,
                const FlamRuntimeEntry *caller,
                FlamRuntimeName *name)
{
  FlamLuajitFunction function;
  char text[NAME_SIZE];

  if (!read_entry (layout, memory, caller, &function) || function.pc == 0 ||
      !name_of_call (layout, memory, &function, text) ||
      !read_entry (layout, memory, caller, &function))
    return "";
  return flam_runtime_name_utf8 (name, text, strnlen (text, sizeof text));
}

/* --- names --------------------------------------------------------------- */

static void
read_lines (const FlamLuajitLayout *layout,
            const FlamRuntimeMemory *memory,
            const guint8 *proto,
            FlamRuntimeName *name)
{
  guint32 n = flam_runtime_u32 (proto, layout->proto_n_code) - 1;
  guint32 first = flam_runtime_u32 (proto, layout->proto_line);
  guint32 n_lines = flam_runtime_u32 (proto, layout->proto_n_lines);
  guint64 address = flam_luajit_reference (layout, proto, layout->proto_lines);
  gsize size = n_lines < 256 ? 1 : n_lines < 65536 ? 2 : 4;
  g_autofree guint8 *lines = g_malloc0 (n * size + 4);

  if (address == 0 || first == LINE_BUILT_IN ||
      !flam_runtime_read (memory, address, lines, n * size))
    return;
  flam_runtime_lines_add (name, 1, first);
  for (guint32 i = 0; i < n; i++)
    {
      guint32 line = flam_runtime_u32 (lines, i * size);

      if (size < 4)
        line &= (1u << (8 * size)) - 1;
      if (!flam_runtime_lines_add (name, i + 2, first + line))
        break;
    }
}

gboolean
flam_luajit_name (const FlamLuajitFile *file,
                  const FlamRuntimeMemory *memory,
                  const FlamRuntimeEntry *entry,
                  FlamRuntimeName *name)
{
  const FlamLuajitLayout *layout = file->layout;
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  const char *text = name_of_callee (layout, memory, entry + 1, name);
  FlamLuajitFunction function;
  const guint8 *proto = function.proto;
  const char *source;

  if ((entry->function & KEY_C) != 0)
    {
      named->function = text[0] != '\0' ? text : "(C function)";
      named->hidden = text[0] == '\0'; /* its native frames are enough */
      return TRUE;
    }
  if (!read_entry (layout, memory, entry, &function))
    return FALSE;
  source = flam_runtime_name_read_string (
      name,
      memory,
      string_bytes (layout,
                    memory,
                    flam_luajit_reference (layout, proto, layout->proto_file)));
  if (source == NULL)
    source = "";
  if (flam_runtime_u32 (proto, layout->proto_line) == LINE_BUILT_IN)
    {
      /* A function of the library that is written in Lua. */
      named->function = text[0] != '\0' ? text : source;
      return TRUE;
    }
  named->first_line = flam_runtime_u32 (proto, layout->proto_line);
  /* "@file", "=name", or the text of a chunk that was given as a string. */
  if (source[0] == '@' || source[0] == '=')
    named->file = source + 1;
  else if (source[0] != '\0')
    named->file = "(string)";
  if (named->first_line == 0)
    named->function = "main chunk";
  else if (text[0] != '\0')
    named->function = text;
  else
    named->function = flam_runtime_name_printf (
        name, "function <%s:%u>", named->file, named->first_line);
  read_lines (layout, memory, proto, name);
  return read_entry (layout, memory, entry, &function);
}
