/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-lua.h"

#include <stdio.h>
#include <string.h>

#include "flam-code-ranges.h"
#include "flam-runtime-lines.h"
#include "flam-symbol-table.h"

/* A collectable object: next 0, type 8. */
#define TYPE_THREAD 8u
#define TYPE_STRING 4u
#define OBJECT_TYPE 8

/* A value: 0, its tag 8; in the tag, the variants of functions. */
#define VALUE_SIZE 16
#define TAG_MASK 0x3fu
#define TAG_LUA 6u
#define TAG_C 22u
#define TAG_C_CLOSURE 38u
#define CLOSURE_IS_C 10 /* 5.1 */

/* A string: length of a short one 11 (5.3 on), of others 16, bytes 24. */
#define STRING_SHORT_LENGTH 11
#define STRING_LENGTH 16
#define STRING_BYTES 24
#define STRING_LONG 20u

/* The main lua_State and the global one are one block, in this order. */
#define MAIN_DISTANCE 256

#define STATE_READ 144
#define CALL_READ 72
#define PROTO_READ 128
#define INSTRUCTION 4
#define VARIABLE_SIZE 16 /* name 0, startpc 8, endpc 12 */

/* The native stack is searched up to this size, in pieces; a search reads at
 * most this number of objects. */
#define SEARCH_MAX (64u << 10)
#define SEARCH_PIECE 512
#define TRIES_MAX 256
#define STATES_MAX 64
#define STACK_MAX (64u << 20)

/* A thread without a lua_State: the pause until the next search, ns. */
#define FIRST_PAUSE 1000000
#define LAST_PAUSE 64000000

#define INSTRUCTIONS_MAX (1u << 16)
#define CALLED_FROM_MAX                                                        \
  256 /* instructions before a call that are looked at                         \
       */

#define KEY_C 1u /* marks the key of a function written in C: its address */

static const FlamLuaLayout layouts[] = {
  { .version = 0x0501,
    .state_global = 32,
    .state_call = 40,
    .state_last = 56,
    .state_stack = 64,
    .state_base = 80,
    .state_pc = 48,
    .call_function = 8,
    .call_pc = 24,
    .call_size = 40,
    .closure_proto = 32,
    .proto_n_code = 80,
    .proto_n_lines = 84,
    .proto_n_variables = 92,
    .proto_n_upvalues = 72,
    .proto_n_constants = 76,
    .proto_line = 96,
    .proto_constants = 16,
    .proto_code = 24,
    .proto_lines = 40,
    .proto_variables = 48,
    .proto_upvalues = 56,
    .proto_source = 64,
    .op_bits = 6,
    .op_constant = 1,
    .upvalue_size = 8,
    .op_get_upvalue = 4,
    .op_get_global = 5,
    .op_get_field = 6,
    .op_get_table = 6,
    .op_self = 11,
    .op_call = 28,
    .op_tail_call = 29 },
  { .version = 0x0502,
    .state_global = 24,
    .state_call = 32,
    .state_last = 48,
    .state_stack = 56,
    .state_base = 128,
    .call_previous = 16,
    .call_pc = 56,
    .call_status = 34,
    .call_size = 64,
    .status_lua = 1,
    .status_lua_set = 1,
    .status_fresh = 4,
    .status_fresh_set = 0,
    .closure_proto = 24,
    .proto_n_code = 88,
    .proto_n_lines = 92,
    .proto_n_variables = 100,
    .proto_n_upvalues = 80,
    .proto_n_constants = 84,
    .proto_line = 104,
    .proto_constants = 16,
    .proto_code = 24,
    .proto_lines = 40,
    .proto_variables = 48,
    .proto_upvalues = 56,
    .proto_source = 72,
    .op_bits = 6,
    .op_constant = 1,
    .upvalue_size = 16,
    .op_get_upvalue = 5,
    .op_get_global = 6,
    .op_get_field = 7,
    .op_get_table = 7,
    .op_self = 12,
    .op_call = 29,
    .op_tail_call = 30 },
  { .version = 0x0503,
    .state_global = 24,
    .state_call = 32,
    .state_last = 48,
    .state_stack = 56,
    .state_base = 96,
    .call_previous = 16,
    .call_pc = 40,
    .call_status = 66,
    .call_size = 72,
    .status_lua = 2,
    .status_lua_set = 2,
    .status_fresh = 8,
    .status_fresh_set = 8,
    .closure_proto = 24,
    .proto_n_code = 24,
    .proto_n_lines = 28,
    .proto_n_variables = 36,
    .proto_n_upvalues = 16,
    .proto_n_constants = 20,
    .proto_line = 40,
    .proto_constants = 48,
    .proto_code = 56,
    .proto_lines = 72,
    .proto_variables = 80,
    .proto_upvalues = 88,
    .proto_source = 104,
    .op_bits = 6,
    .op_constant = 1,
    .upvalue_size = 16,
    .op_get_upvalue = 5,
    .op_get_global = 6,
    .op_get_field = 7,
    .op_get_table = 7,
    .op_self = 12,
    .op_call = 36,
    .op_tail_call = 37 },
#define LUA_54(base)                                                           \
  {                                                                            \
    .version = 0x0504, .state_global = 24, .state_call = 32, .state_last = 40, \
    .state_stack = 48, .state_base = base, .call_previous = 16, .call_pc = 32, \
    .call_status = 62, .call_size = 64, .status_lua = 2, .status_lua_set = 0,  \
    .status_fresh = 4, .status_fresh_set = 4, .closure_proto = 24,             \
    .proto_n_code = 24, .proto_n_lines = 28, .proto_n_bases = 40,              \
    .proto_n_variables = 36, .proto_n_upvalues = 16, .proto_n_constants = 20,  \
    .proto_line = 44, .proto_constants = 56, .proto_code = 64,                 \
    .proto_lines = 88, .proto_bases = 96, .proto_variables = 104,              \
    .proto_upvalues = 80, .proto_source = 112, .op_bits = 7, .op_constant = 3, \
    .upvalue_size = 16, .op_get_upvalue = 9, .op_get_global = 11,              \
    .op_get_field = 14, .op_get_table = 12, .op_self = 20, .op_call = 68,      \
    .op_tail_call = 69                                                         \
  }
  LUA_54 (96),
  LUA_54 (88), /* to 5.4.2 */
#undef LUA_54
};

const FlamLuaLayout *
flam_lua_layout (guint32 version, guint patch)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (layouts) && layouts[i].version != version)
    i++;
  if (i == G_N_ELEMENTS (layouts))
    return NULL;
  return &layouts[i + (version == 0x0504 && patch < 3)];
}

/* --- the file ------------------------------------------------------------ */

/* Programs with Lua in them have any name. */
static gboolean
has_text (const FlamElf *elf, const void *text, gsize size)
{
  FlamElfSection names;

  return flam_elf_get_section (elf, ".dynstr", &names) && names.data != NULL &&
         memmem (names.data, names.size, text, size) != NULL;
}

static gboolean
find_loop (const FlamElf *elf, FlamRuntimeFile *file, FlamRuntimeRange *loop)
{
  g_autoptr (FlamCodeRanges) ranges = NULL;
  FlamCodeRange found;
  guint64 vaddr, size;

  if (!flam_runtime_file_add_evaluator (file, elf, "luaV_execute"))
    {
      if (!flam_elf_find_symbol (elf, "lua_callk", &vaddr, &size) &&
          !flam_elf_find_symbol (elf, "lua_call", &vaddr, &size))
        return FALSE;
      ranges = flam_code_ranges_new (elf);
      if (!flam_code_ranges_largest_callee (ranges, vaddr, 3, &found))
        return FALSE;
      file->evaluators[file->n_evaluators++] =
          (FlamRuntimeRange){ found.start, found.end };
    }
  *loop = file->evaluators[0];
  return TRUE;
}

gboolean
flam_lua_find (const FlamElf *elf,
               int fd,
               const char *path,
               FlamRuntimeFile *file)
{
  const FlamLuaLayout *layout;
  FlamRuntimeRange loop;
  FlamLuaFile *lua;
  guint64 vaddr, size;
  char ident[64] = "";
  const char *at;
  guint major = 0, minor = 0, patch = 0;
  static const char mark[] = "\0lua_ident";

  (void)path;
  if (flam_elf_get_machine (elf) != EM_X86_64)
    return FALSE;
  if (!has_text (elf, mark, sizeof mark) ||
      !flam_elf_find_symbol (elf, "lua_ident", &vaddr, &size) ||
      flam_runtime_file_read (elf, fd, vaddr, ident, sizeof ident - 1) == 0)
    return FALSE;
  at = strstr (ident, "Lua 5.");
  if (at == NULL || sscanf (at, "Lua %u.%u.%u", &major, &minor, &patch) < 2)
    return FALSE;
  g_snprintf (
      file->version, sizeof file->version, "%u.%u.%u", major, minor, patch);
  layout = flam_lua_layout (major << 8 | (minor & 255), patch);
  if (layout == NULL)
    {
      file->why = N_ ("this version is not supported: 5.1 to 5.4 are");
      return TRUE;
    }
  if (!find_loop (elf, file, &loop))
    {
      file->why = N_ ("the function that runs them was not found in the file");
      return TRUE;
    }
  file->facts = lua = g_new0 (FlamLuaFile, 1);
  lua->layout = *layout;
  lua->loop = loop;
  return TRUE;
}

/* --- names by calls ------------------------------------------------------ */

#define NAME_SIZE 64

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

/* The bytes of a string, truncated. */
static bool
read_text (const FlamLuaLayout *layout,
           const FlamRuntimeMemory *memory,
           guint64 string,
           char text[NAME_SIZE])
{
  guint8 head[STRING_BYTES];
  guint64 length;

  if (string == 0 || string % 8 != 0 ||
      !flam_runtime_read (memory, string, head, sizeof head) ||
      (head[OBJECT_TYPE] & 15) != TYPE_STRING)
    return false;
  length = layout->version >= 0x0503 && head[OBJECT_TYPE] == TYPE_STRING
               ? head[STRING_SHORT_LENGTH]
               : flam_runtime_u64 (head, STRING_LENGTH);
  length = MIN (length, NAME_SIZE - 1);
  text[length] = '\0';
  return flam_runtime_read (memory, string + STRING_BYTES, text, length);
}

/* An instruction's fields. */
typedef struct
{
  guint op, a, b, c;
  guint32 bx;
  bool is_constant; /* c: if its highest bit is set; in 5.4 by the opcode */
} Fields;

static Fields
fields_of (const FlamLuaLayout *layout, guint32 instruction)
{
  guint32 rest = instruction >> layout->op_bits;
  Fields fields = { .op = instruction & ((1u << layout->op_bits) - 1),
                    .a = rest & 255,
                    .bx = rest >> 8 };

  rest >>= 8;
  if (layout->op_bits == 7)
    {
      fields.b = rest >> 1 & 255;
      fields.c = rest >> 9 & 255;
      fields.is_constant = fields.op == layout->op_get_global ||
                           fields.op == layout->op_get_field ||
                           (fields.op == layout->op_self && rest % 2 != 0);
    }
  else
    {
      fields.c = rest & 255;
      fields.is_constant = (rest & 256) != 0;
      fields.b = rest >> 9 & 511;
    }
  return fields;
}

static bool
constant_text (const FlamLuaLayout *layout,
               const FlamRuntimeMemory *memory,
               const guint8 *proto,
               guint i,
               char text[NAME_SIZE])
{
  guint8 value[VALUE_SIZE];

  return i < flam_runtime_u32 (proto, layout->proto_n_constants) &&
         flam_runtime_read (memory,
                            flam_runtime_u64 (proto, layout->proto_constants) +
                                VALUE_SIZE * (guint64)i,
                            value,
                            sizeof value) &&
         (value[8] & 15) == TYPE_STRING &&
         read_text (layout, memory, flam_runtime_u64 (value, 0), text);
}

static bool
upvalue_text (const FlamLuaLayout *layout,
              const FlamRuntimeMemory *memory,
              const guint8 *proto,
              guint i,
              char text[NAME_SIZE])
{
  guint64 string;

  return i < flam_runtime_u32 (proto, layout->proto_n_upvalues) &&
         flam_runtime_read_u64 (
             memory,
             flam_runtime_u64 (proto, layout->proto_upvalues) +
                 layout->upvalue_size * (guint64)i,
             &string) &&
         read_text (layout, memory, string, text);
}

/* The variable in a register: register N holds the Nth variable whose scope
 * contains the pc. */
static bool
variable_text (const FlamLuaLayout *layout,
               const FlamRuntimeMemory *memory,
               const guint8 *proto,
               guint reg,
               guint32 pc,
               char text[NAME_SIZE])
{
  guint32 n = MIN (flam_runtime_u32 (proto, layout->proto_n_variables), 512u);

  for (guint32 i = 0; i < n; i++)
    {
      guint8 variable[VARIABLE_SIZE];

      if (!flam_runtime_read (
              memory,
              flam_runtime_u64 (proto, layout->proto_variables) +
                  VARIABLE_SIZE * i,
              variable,
              sizeof variable) ||
          flam_runtime_u32 (variable, 8) > pc)
        return false;
      if (pc < flam_runtime_u32 (variable, 12) && reg-- == 0)
        return read_text (layout, memory, flam_runtime_u64 (variable, 0), text);
    }
  return false;
}

/* The constant by which an instruction indexes a table, which in a function
 * with many constants was put in a register before. `code` are the instructions
 * that precede it. */
static bool
key_text (const FlamLuaLayout *layout,
          const FlamRuntimeMemory *memory,
          const guint8 *proto,
          const Fields *load,
          const guint32 *code,
          guint32 n,
          char text[NAME_SIZE])
{
  if (load->is_constant)
    return constant_text (layout, memory, proto, load->c, text);
  while (n-- > 0)
    {
      Fields fields = fields_of (layout, code[n]);

      if (fields.a == load->c)
        return fields.op == layout->op_constant &&
               constant_text (layout, memory, proto, fields.bx, text);
    }
  return false;
}

/* The name of a function by the instruction that loaded it for the call at
 * `pc`: the last one before that wrote the register. */
static bool
name_of_call (const FlamLuaLayout *layout,
              const FlamRuntimeMemory *memory,
              const guint8 *proto,
              guint32 pc,
              char text[NAME_SIZE])
{
  guint32 first = pc > CALLED_FROM_MAX ? pc - CALLED_FROM_MAX : 0;
  guint32 code[CALLED_FROM_MAX + 1];
  Fields call;

  if (pc >= flam_runtime_u32 (proto, layout->proto_n_code) ||
      !flam_runtime_read (memory,
                          flam_runtime_u64 (proto, layout->proto_code) +
                              INSTRUCTION * (guint64)first,
                          code,
                          INSTRUCTION * (pc - first + 1)))
    return false;
  call = fields_of (layout, code[pc - first]);
  if (call.op != layout->op_call && call.op != layout->op_tail_call)
    return false;
  for (guint32 i = pc; i-- > first;)
    {
      Fields load = fields_of (layout, code[i - first]);

      if (load.a != call.a)
        continue;
      if (load.op == 0) /* MOVE */
        return variable_text (layout, memory, proto, load.b, i, text);
      if (load.op == layout->op_get_upvalue)
        return upvalue_text (layout, memory, proto, load.b, text);
      if (load.op == layout->op_get_global && layout->version == 0x0501)
        return constant_text (layout, memory, proto, load.bx, text);
      if (load.op == layout->op_get_global || load.op == layout->op_get_field ||
          load.op == layout->op_get_table || load.op == layout->op_self)
        return key_text (layout, memory, proto, &load, code, i - first, text);
    }
  return false;
}

/* --- the chain ----------------------------------------------------------- */

typedef struct
{
  const FlamLuaFile *lua;
  const FlamLuaLayout *layout;
  const FlamRuntimeMemory *memory;
  const FlamRuntimeRegs *regs;
  guint64 base;
  FlamRuntimeEntry *entries;
  gsize limit;
  gsize n;
  bool broken; /* the caller of the last entry was not found */
} Walk;

/* A call of the chain. */
typedef struct
{
  bool lua;
  bool fresh;
  guint64 at;       /* its CallInfo */
  guint64 previous; /* 0: none */
  bool base;        /* of its state: it has no function */
  guint64 function; /* Proto, or C function with KEY_C */
  guint64 cookie;
  guint64 pc; /* index of the instruction; of a caller, its call */
  guint8 proto[PROTO_READ];
} Call;

static bool
is_state (const FlamLuaLayout *layout,
          const FlamRuntimeMemory *memory,
          guint64 state,
          guint8 bytes[STATE_READ])
{
  guint64 stack, last, call, function, previous;

  if (!flam_runtime_read (memory, state, bytes, STATE_READ) ||
      bytes[OBJECT_TYPE] != TYPE_THREAD)
    return false;
  stack = flam_runtime_u64 (bytes, layout->state_stack);
  last = flam_runtime_u64 (bytes, layout->state_last);
  call = flam_runtime_u64 (bytes, layout->state_call);
  if (stack == 0 || stack % 8 != 0 || last <= stack ||
      last - stack > STACK_MAX || call == 0 || call % 8 != 0 ||
      flam_runtime_u64 (bytes, layout->state_global) % 8 != 0 ||
      !flam_runtime_read_u64 (
          memory, call + layout->call_function, &function) ||
      function < stack || function >= last)
    return false;
  if (layout->call_previous == 0)
    return call >= flam_runtime_u64 (bytes, layout->state_base);
  return flam_runtime_read_u64 (memory,
                                state + layout->state_base +
                                    layout->call_previous,
                                &previous) &&
         previous == 0;
}

static bool
is_main (const FlamLuaLayout *layout, guint64 state, const guint8 *bytes)
{
  guint64 distance = flam_runtime_u64 (bytes, layout->state_global) - state;

  return distance > 0 && distance <= MAIN_DISTANCE;
}

/* Identifies a function, as its address may be used again. */
static guint64
proto_cookie (const FlamLuaLayout *layout, const guint8 *proto)
{
  guint64 cookie = mix (0, flam_runtime_u64 (proto, layout->proto_code));

  cookie = mix (cookie, flam_runtime_u64 (proto, layout->proto_source));
  cookie = mix (cookie, flam_runtime_u64 (proto, layout->proto_lines));
  cookie = mix (cookie, flam_runtime_u32 (proto, layout->proto_n_code));
  return mix (cookie, flam_runtime_u32 (proto, layout->proto_line)) | 1;
}

static bool
read_function (const Walk *walk, guint64 value, guint64 pc, Call *call)
{
  const FlamLuaLayout *layout = walk->layout;
  guint8 bytes[VALUE_SIZE], closure[40];
  guint tag;

  if (!flam_runtime_read (walk->memory, value, bytes, sizeof bytes))
    return false;
  tag = bytes[8] & TAG_MASK;
  if (tag == TAG_C && layout->version != 0x0501)
    {
      call->function = flam_runtime_u64 (bytes, 0) | KEY_C;
      call->cookie = 1;
      return true;
    }
  if (!flam_runtime_read (
          walk->memory, flam_runtime_u64 (bytes, 0), closure, sizeof closure))
    return false;
  if (tag == TAG_C_CLOSURE ||
      (layout->version == 0x0501 && closure[CLOSURE_IS_C] != 0))
    {
      call->function =
          flam_runtime_u64 (closure, layout->closure_proto) | KEY_C;
      call->cookie = 1;
      return true;
    }
  if (tag != TAG_LUA)
    return false;
  call->lua = true;
  call->function = flam_runtime_u64 (closure, layout->closure_proto);
  if (call->function == 0 || call->function % 8 != 0 ||
      !flam_runtime_read (
          walk->memory, call->function, call->proto, PROTO_READ))
    return false;
  call->cookie = proto_cookie (layout, call->proto);
  pc = (pc - flam_runtime_u64 (call->proto, layout->proto_code)) / INSTRUCTION;
  call->pc = pc > 0 ? pc - 1 : 0;
  if (call->pc >= flam_runtime_u32 (call->proto, layout->proto_n_code))
    call->pc = 0;
  return true;
}

/* A Lua function runs in the run of its caller if that is a Lua function and
 * its last instruction is a call. That is all there is in 5.1, and in 5.2
 * before a new call has its status. */
static bool
is_called_from_c (const Walk *walk, guint64 previous)
{
  const FlamLuaLayout *layout = walk->layout;
  guint8 bytes[CALL_READ];
  Call caller = { 0 };
  guint32 instruction;
  guint op;

  if (previous == 0 ||
      !flam_runtime_read (walk->memory, previous, bytes, layout->call_size) ||
      !read_function (walk,
                      flam_runtime_u64 (bytes, layout->call_function),
                      flam_runtime_u64 (bytes, layout->call_pc),
                      &caller) ||
      !caller.lua ||
      !flam_runtime_read_u32 (
          walk->memory,
          flam_runtime_u64 (caller.proto, layout->proto_code) +
              INSTRUCTION * caller.pc,
          &instruction))
    return true;
  op = fields_of (layout, instruction).op;
  return op != layout->op_call && op != layout->op_tail_call;
}

static bool
read_call (
    const Walk *walk, const guint8 *state, guint64 at, bool top, Call *call)
{
  const FlamLuaLayout *layout = walk->layout;
  guint8 bytes[CALL_READ];
  guint64 pc;
  guint16 status;

  *call = (Call){ .at = at };
  if (!flam_runtime_read (walk->memory, at, bytes, layout->call_size))
    return false;
  pc = flam_runtime_u64 (bytes, layout->call_pc);
  if (top && layout->state_pc != 0)
    pc = flam_runtime_u64 (state, layout->state_pc);
  if (layout->call_previous != 0)
    call->previous = flam_runtime_u64 (bytes, layout->call_previous);
  else if (at > flam_runtime_u64 (state, layout->state_base))
    call->previous = at - layout->call_size;
  call->base = call->previous == 0;
  if (!read_function (
          walk, flam_runtime_u64 (bytes, layout->call_function), pc, call))
    return false;
  if (layout->call_status == 0)
    {
      call->fresh = call->lua && is_called_from_c (walk, call->previous);
      return true;
    }
  memcpy (&status, bytes + layout->call_status, sizeof status);
  if (layout->version == 0x0502)
    status &= 255;
  call->fresh =
      call->lua && (status & layout->status_fresh) == layout->status_fresh_set;
  if (top && call->fresh && layout->version == 0x0502)
    call->fresh = is_called_from_c (walk, call->previous);
  /* A call that is being set up has its function, but not its status yet. */
  return call->lua == ((status & layout->status_lua) == layout->status_lua_set);
}

/* The innermost function's savedpc is that of its last instruction that could
 * fail; while luaV_execute() itself runs, the current one is in the only
 * register that points to the function's code. */
static void
improve_pc (const Walk *walk, Call *call)
{
  const FlamRuntimeRange *loop = &walk->lua->loop;
  guint64 code = flam_runtime_u64 (call->proto, walk->layout->proto_code);
  guint64 n = flam_runtime_u32 (call->proto, walk->layout->proto_n_code);
  guint64 found = 0;

  if (!walk->regs->leaf || walk->regs->pc < walk->base + loop->start ||
      walk->regs->pc >= walk->base + loop->end)
    return;
  for (guint i = 0; i < FLAM_RUNTIME_N_REGS; i++)
    {
      guint64 pc = walk->regs->general[i] - code;

      if (!flam_runtime_knows (walk->regs, i) || pc % INSTRUCTION != 0 ||
          pc / INSTRUCTION == 0 || pc / INSTRUCTION > n)
        continue;
      if (found != 0 && found != pc)
        return;
      found = pc;
    }
  if (found != 0)
    call->pc = found / INSTRUCTION - 1;
}

static void
take_calls (Walk *walk, const guint8 *state)
{
  guint64 mark = 0;
  gsize steps = 0, mark_at = 8;
  Call call, caller;
  bool more = read_call (walk,
                         state,
                         flam_runtime_u64 (state, walk->layout->state_call),
                         true,
                         &call);

  if (!more)
    more = call.previous != 0 &&
           read_call (walk, state, call.previous, false, &call);
  else if (call.lua)
    improve_pc (walk, &call);
  while (more && call.at != mark && call.previous != 0 && walk->n < walk->limit)
    {
      more = read_call (walk, state, call.previous, false, &caller);
      walk->entries[walk->n++] = (FlamRuntimeEntry){ .function = call.function,
                                                     .at = call.pc,
                                                     .cookie = call.cookie };
      if (call.fresh && walk->n < walk->limit)
        walk->entries[walk->n++] = (FlamRuntimeEntry){ 0 };
      /* A repeated call: Brent's algorithm. */
      if (++steps == mark_at)
        {
          mark = call.at;
          mark_at *= 2;
        }
      else if (steps > walk->limit)
        break;
      call = caller;
    }
  walk->broken = !call.base;
}

/* --- the states ---------------------------------------------------------- */

typedef struct
{
  Walk *walk;
  guint64 found[STATES_MAX];
  guint n;
  guint tries;
  guint64 known; /* of the last walk */
  bool done;     /* the main one was found */
  bool given_up;
} Search;

static void
try_word (Search *search, guint64 value)
{
  guint8 state[STATE_READ];
  guint8 type;
  guint64 sp = search->walk->regs->general[FLAM_RUNTIME_RSP];

  if (value % 8 != 0 || value < 4096 || value >> 47 != 0 ||
      value - sp < SEARCH_MAX || search->n == STATES_MAX)
    return;
  for (guint i = search->n; i-- > 0;)
    if (search->found[i] == value)
      return;
  if (value != search->known && search->tries++ >= TRIES_MAX)
    {
      search->given_up = true;
      return;
    }
  if (!flam_runtime_read_u8 (
          search->walk->memory, value + OBJECT_TYPE, &type) ||
      type != TYPE_THREAD ||
      !is_state (search->walk->layout, search->walk->memory, value, state))
    return;
  search->found[search->n++] = value;
  take_calls (search->walk, state);
  search->done = is_main (search->walk->layout, value, state);
  search->given_up = search->walk->broken;
}

static void
search_states (Search *search)
{
  const FlamRuntimeRegs *regs = search->walk->regs;
  guint64 sp = regs->general[FLAM_RUNTIME_RSP];
  guint64 words[SEARCH_PIECE / 8];

  for (guint i = 0;
       i < FLAM_RUNTIME_N_REGS && !search->done && !search->given_up;
       i++)
    if (i != FLAM_RUNTIME_RSP && flam_runtime_knows (regs, i))
      try_word (search, regs->general[i]);
  sp &= ~7ull;
  for (gsize at = 0; at < SEARCH_MAX && !search->done && !search->given_up;
       at += sizeof words)
    {
      if (!flam_runtime_read (
              search->walk->memory, sp + at, words, sizeof words))
        break;
      for (guint i = 0;
           i < G_N_ELEMENTS (words) && !search->done && !search->given_up;
           i++)
        try_word (search, words[i]);
    }
}

gsize
flam_lua_walk (const FlamLuaFile *lua,
               const FlamRuntimeMemory *memory,
               guint64 base,
               const FlamRuntimeRegs *regs,
               gint64 now,
               guint64 kept[FLAM_LUA_KEPT],
               FlamRuntimeEntry *entries,
               gsize limit)
{
  Walk walk = { .lua = lua,
                .layout = &lua->layout,
                .memory = memory,
                .regs = regs,
                .base = base,
                .entries = entries,
                .limit = limit };
  Search search = { .walk = &walk, .known = kept[0] };

  if (kept[1] != 0 && now < (gint64)kept[2])
    return 0;
  search_states (&search);
  /* The functions in C that called the first one in Lua are native frames. */
  while (search.done && walk.n > 0 && entries[walk.n - 1].function != 0)
    walk.n--;
  if (search.n > 0)
    {
      kept[0] = search.found[0];
      kept[1] = 0;
    }
  else
    {
      kept[1] = CLAMP (2 * kept[1], FIRST_PAUSE, LAST_PAUSE);
      kept[2] = (guint64)now + kept[1];
    }
  return walk.n;
}

/* --- names --------------------------------------------------------------- */

static const char *
read_string (const FlamLuaLayout *layout,
             const FlamRuntimeMemory *memory,
             guint64 string,
             FlamRuntimeName *name)
{
  guint8 head[STRING_BYTES];
  guint64 length;

  if (string == 0 || string % 8 != 0 ||
      !flam_runtime_read (memory, string, head, sizeof head) ||
      (head[OBJECT_TYPE] & 15) != TYPE_STRING)
    return NULL;
  length = layout->version >= 0x0503 && head[OBJECT_TYPE] == TYPE_STRING
               ? head[STRING_SHORT_LENGTH]
               : flam_runtime_u64 (head, STRING_LENGTH);
  return flam_runtime_name_read (name, memory, string + STRING_BYTES, length);
}

/* 5.4: the difference to the line before, or -128 for a line in the list of
 * bases. */
static void
read_deltas (const FlamLuaLayout *layout,
             const FlamRuntimeMemory *memory,
             const guint8 *proto,
             guint32 n,
             const guint8 *deltas,
             FlamRuntimeName *name)
{
  guint32 n_bases = MIN (flam_runtime_u32 (proto, layout->proto_n_bases), n);
  g_autofree guint32 *bases = g_new (guint32, 2 * (gsize)n_bases + 1);
  guint32 line = flam_runtime_u32 (proto, layout->proto_line), next = 0;

  if (n_bases > 0 &&
      !flam_runtime_read (memory,
                          flam_runtime_u64 (proto, layout->proto_bases),
                          bases,
                          8 * (gsize)n_bases))
    return;
  for (guint32 i = 0; i < n; i++)
    {
      gint8 delta = (gint8)deltas[i];

      while (next < n_bases && bases[2 * next] < i)
        next++;
      if (delta != -128)
        line += (guint32)(gint32)delta;
      else if (next < n_bases && bases[2 * next] == i)
        line = bases[2 * next + 1];
      if (!flam_runtime_lines_add (name, i, line))
        break;
    }
}

static void
read_lines (const FlamLuaLayout *layout,
            const FlamRuntimeMemory *memory,
            const guint8 *proto,
            FlamRuntimeName *name)
{
  guint32 n = flam_runtime_u32 (proto, layout->proto_n_lines);
  gsize size = layout->proto_bases != 0 ? 1 : 4;
  g_autofree guint8 *lines = NULL;

  if (n == 0 || n > INSTRUCTIONS_MAX)
    return;
  lines = g_malloc (n * size);
  if (!flam_runtime_read (memory,
                          flam_runtime_u64 (proto, layout->proto_lines),
                          lines,
                          n * size))
    return;
  if (layout->proto_bases != 0)
    read_deltas (layout, memory, proto, n, lines, name);
  else
    for (guint32 i = 0; i < n; i++)
      if (!flam_runtime_lines_add (
              name, i, flam_runtime_u32 (lines, 4 * (gsize)i)))
        break;
}

static bool
read_proto (const FlamLuaLayout *layout,
            const FlamRuntimeMemory *memory,
            const FlamRuntimeEntry *entry,
            guint8 proto[PROTO_READ])
{
  return flam_runtime_read (memory, entry->function, proto, PROTO_READ) &&
         proto_cookie (layout, proto) == entry->cookie;
}

/* The name by which the caller, if it is a function in Lua, has called it. */
static const char *
name_of_callee (const FlamLuaLayout *layout,
                const FlamRuntimeMemory *memory,
                const FlamRuntimeEntry *caller,
                FlamRuntimeName *name)
{
  guint8 proto[PROTO_READ];
  char text[NAME_SIZE];

  if (caller->function == 0 || (caller->function & KEY_C) != 0 ||
      !read_proto (layout, memory, caller, proto) ||
      !name_of_call (layout, memory, proto, (guint32)caller->at, text) ||
      !read_proto (layout, memory, caller, proto))
    return "";
  return flam_runtime_name_utf8 (name, text, strnlen (text, sizeof text));
}

gboolean
flam_lua_name (const FlamLuaFile *lua,
               const FlamRuntimeMemory *memory,
               const FlamRuntimeEntry *entry,
               FlamRuntimeName *name)
{
  const FlamLuaLayout *layout = &lua->layout;
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  const char *text = name_of_callee (layout, memory, entry + 1, name);
  guint8 proto[PROTO_READ];
  const char *source;

  if (entry->function & KEY_C)
    {
      named->function = text[0] != '\0' ? text : "(C function)";
      named->hidden = text[0] == '\0'; /* its native frames are enough */
      return TRUE;
    }
  if (!read_proto (layout, memory, entry, proto))
    return FALSE;
  named->first_line = flam_runtime_u32 (proto, layout->proto_line);
  source = read_string (
      layout, memory, flam_runtime_u64 (proto, layout->proto_source), name);
  /* "@file", "=name", or the text of a chunk that was given as a string. */
  if (source == NULL)
    source = "";
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
  return read_proto (layout, memory, entry, proto);
}
