/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-luajit.h"

#include <string.h>

#include "flam-code-ranges.h"
#include "flam-luajit-names.h"
#include "flam-symbol-table.h"

const FlamLuajitLayout flam_luajit_64 = {
  .reference = 8,
  .type = 9,
  .state_size = 96,
  .state_global = 16,
  .state_base = 32,
  .state_limit = 48,
  .state_stack = 56,
  .state_frame = 80,
  .frame_results = 8,
  .frame_state = 16,
  .frame_pc = 24,
  .frame_slots = 2,
  .closure_size = 48,
  .closure_kind = 10,
  .closure_code = 32,
  .closure_c = 40,
  .proto_size = 104,
  .proto_n_code = 12,
  .proto_constants = 32,
  .proto_n_constants = 48,
  .proto_all = 56,
  .proto_n_upvalues = 60,
  .proto_file = 64,
  .proto_line = 72,
  .proto_n_lines = 76,
  .proto_lines = 80,
  .proto_upvalues = 88,
  .proto_variables = 96,
  .string_bytes = 24,
  .string_bytes_before = 24,
  .trace_n_snapshots = 10,
  .trace_ir = 32,
  .trace_snapshots = 48,
  .trace_map = 56,
  .trace_code_size = 84,
  .trace_code = 88,
  .trace_number = 104,
  .trace_size = 112,
};
const FlamLuajitLayout flam_luajit_32 = {
  .reference = 4,
  .type = 5,
  .state_size = 64,
  .state_global = 8,
  .state_base = 16,
  .state_limit = 32,
  .state_stack = 36,
  .state_frame = 48,
  .frame_results = 16,
  .frame_state = 24,
  .frame_pc = 28,
  .frame_slots = 1,
  .closure_size = 32,
  .closure_kind = 6,
  .closure_code = 16,
  .closure_c = 24,
  .proto_size = 64,
  .proto_n_code = 8,
  .proto_constants = 16,
  .proto_n_constants = 24,
  .proto_all = 32,
  .proto_n_upvalues = 36,
  .proto_file = 40,
  .proto_line = 44,
  .proto_n_lines = 48,
  .proto_lines = 52,
  .proto_upvalues = 56,
  .proto_variables = 60,
  .string_bytes = 20,
  .string_bytes_before = 16,
  .trace_n_snapshots = 6,
  .trace_ir = 16,
  .trace_snapshots = 32,
  .trace_map = 40,
  .trace_code_size = 60,
  .trace_code = 64,
  .trace_number = 80,
  .trace_size = 88,
};

/* The main lua_State lies right before global_State. OpenResty's has one or two
 * more words at its end. */
#define STATE_MORE_MAX 16
#define STACK_MAX (1u << 20)

/* The interpreter's frame on the native stack, from its rsp on, whose `results`
 * are negative as long as it has no frame of Lua, from this slot on. */
#define FRAME_PREVIOUS 32
#define FRAME_SIZE 80
#define FRAME_FLAGS 3u

/* A frame of Lua: the slot with its kind, or the caller's pc; before it the
 * function. With 32-bit references, both are in one slot. */
#define SLOT 8
#define KIND_MASK 7u
#define KIND_LUA_MASK 3u
#define KIND_C 1u
#define KIND_CONTINUATION 2u
#define KIND_VARIABLE 3u
#define KIND_PROTECTED_C 5u
#define CALLBACK 1u /* the continuation of a call from C through the FFI */
#define REFERENCE_MASK 0x7fffffffffffull

#define TRACES_MAX 65536
#define CODE_MAX (1u << 20)

/* A snapshot, and its entries: the slot in the highest 8 bits, then flags, then
 * a reference; after them the pc and the base. With 32-bit references, the pc
 * alone, then for each frame from the innermost one its kind, and after that of
 * a continuation its pc. */
#define SNAPSHOT_SIZE 12
#define SNAPSHOT_MAP 0
#define SNAPSHOT_CODE 6
#define SNAPSHOT_N 10
#define SNAPSHOT_FRAME 0x10000u
#define SNAPSHOT_CONTINUATION 0x20000u
#define SNAPSHOT_MAX 256
#define SNAPSHOT_REFERENCE 0xffffu
#define IR_SIZE 8
#define IR_BIAS 0x8000u /* constants are below */

/* Words of the native stack between the interpreter's frame and the leaf. */
#define NATIVE_MAX 2048
#define SEARCH_MAX (64u << 10)
#define SEARCH_PIECE 512
#define TRIES_MAX 256
#define STATES_MAX 64
#define CHECKED 16       /* frames of a chain that may be stale */
#define SKIPPED 64       /* frames of the interpreter without one of Lua */
#define REACH (1u << 20) /* from rsp to an interpreter's frame */

/* A thread without a state: the pause until the next search, ns. */
#define FIRST_PAUSE 1000000
#define LAST_PAUSE 64000000

/* --- the file ------------------------------------------------------------ */

static gboolean
is_luajit (const FlamElf *elf)
{
  static const char mark[] = "\0luaJIT_setmode";
  FlamElfSection names;
  guint64 vaddr, size;

  return flam_elf_get_section (elf, ".dynstr", &names) && names.data != NULL &&
         memmem (names.data, names.size, mark, sizeof mark) != NULL &&
         flam_elf_find_symbol (elf, mark + 1, &vaddr, &size);
}

/* Machine code: a byte, or any number of 4 bytes that is returned. */
#define NUMBER (-1)
#define END (-2)

typedef struct
{
  const FlamLuajitLayout *layout;
  short leave[24]; /* a trace's exit */
  short start[16]; /* of a trace */
  short add[12];
} Codes;

static const Codes codes[] = {
  { .layout = &flam_luajit_64,
    .leave = { 0x49,
               0x8b,
               0xae,
               NUMBER, /* mov rbp, [r14 + cur_L] */
               0x49,
               0x8b,
               0x96,
               NUMBER, /* mov rdx, [r14 + jit_base] */
               0x49,
               0x89,
               0xae,
               NUMBER, /* mov [r14 + J.L], rbp */
               0x48,
               0x89,
               0x55,
               32, /* mov [rbp + base], rdx */
               END },
    .start = { 0x49,
               0x8b,
               0x8e,
               NUMBER, /* mov rcx, [r14 + J.trace] */
               0x48,
               0x8b,
               0x04,
               0xc1, /* mov rax, [rcx + rax * 8] */
               0x48,
               0x8b,
               0x40,
               88, /* mov rax, [rax + code] */
               END },
    .add = { 0x49,
             0x81,
             0xc6,
             NUMBER, /* add r14, table */
             0x48,
             0x89,
             0x65,
             80, /* mov [rbp + cframe], rsp */
             END } },
  { .layout = &flam_luajit_32,
    .leave = { 0x41,
               0x8b,
               0xae,
               NUMBER, /* mov ebp, [r14 + cur_L] */
               0x41,
               0x8b,
               0x96,
               NUMBER, /* mov edx, [r14 + jit_base] */
               0x49,
               0x89,
               0xae,
               NUMBER, /* mov [r14 + J.L], rbp */
               0x89,
               0x55,
               16, /* mov [rbp + base], edx */
               END },
    .start = { 0x41,
               0x8b,
               0x8e,
               NUMBER, /* mov ecx, [r14 + J.trace] */
               0x8b,
               0x04,
               0x81, /* mov eax, [rcx + rax * 4] */
               0x48,
               0x8b,
               0x40,
               64, /* mov rax, [rax + code] */
               END },
    .add = { 0x41,
             0x81,
             0xc6,
             NUMBER, /* add r14d, table */
             0x48,
             0x89,
             0x65,
             48, /* mov [rbp + cframe], rsp */
             END } },
};
static const short call_code[] = {
  0x41, 0xc7, 0x86, NUMBER, /* mov dword [r14 + vmstate], -2 */
  0xfe, 0xff, 0xff, 0xff,   END,
};

static gboolean
fits (const guint8 *code, gsize n, const short *wanted, gint32 numbers[3])
{
  gsize at = 0;
  guint found = 0;

  for (; *wanted != END; wanted++)
    if (*wanted == NUMBER)
      {
        if (n - at < 4 || found == 3)
          return FALSE;
        memcpy (&numbers[found++], code + at, 4);
        at += 4;
      }
    else if (at >= n || code[at++] != *wanted)
      return FALSE;
  return TRUE;
}

/* The first place of such code; NULL: none. */
static const guint8 *
find_code (const guint8 *code, gsize n, const short *wanted, gint32 numbers[3])
{
  const guint8 *at = code;

  while ((at = memchr (at, wanted[0], n - (gsize)(at - code))) != NULL)
    {
      if (fits (at, n - (gsize)(at - code), wanted, numbers))
        return at;
      at++;
    }
  return NULL;
}

/* The code with the interpreter in it. */
static gboolean
decode (const FlamElf *elf, const Codes *wanted, FlamLuajitFile *file)
{
  guint n_segments;
  const FlamElfSegment *segments = flam_elf_get_segments (elf, &n_segments);
  g_autoptr (FlamCodeRanges) ranges = NULL;
  gint32 numbers[3];
  guint64 leave = 0;
  FlamCodeRange vm;
  const guint8 *code;
  gsize n;

  for (guint i = 0; i < n_segments && leave == 0; i++)
    {
      const guint8 *found;

      code = flam_elf_bytes (elf, segments[i].vaddr, &n);
      if (code == NULL ||
          (found = find_code (code, n, wanted->leave, numbers)) == NULL)
        continue;
      leave = segments[i].vaddr + (guint64)(found - code);
      file->current = numbers[0];
      file->base = numbers[1];
    }
  if (leave == 0)
    return FALSE;
  file->layout = wanted->layout;
  ranges = flam_code_ranges_new (elf);
  if (!flam_code_ranges_find (ranges, leave, &vm) ||
      (code = flam_elf_bytes (elf, vm.start, &n)) == NULL)
    return FALSE;
  n = MIN (n, vm.end - vm.start);
  file->vm = (FlamRuntimeRange){ vm.start, vm.end };
  if (find_code (code, n, wanted->add, numbers) == NULL)
    return FALSE;
  file->table = numbers[0];
  if (find_code (code, n, wanted->start, numbers) == NULL)
    return FALSE;
  file->traces = numbers[0] + file->table;
  if (find_code (code, n, call_code, numbers) == NULL)
    return FALSE;
  file->state = numbers[0] + file->table;
  file->current += file->table;
  file->base += file->table;
  return TRUE;
}

gboolean
flam_luajit_find (const FlamElf *elf,
                  int fd,
                  const char *path,
                  FlamRuntimeFile *file)
{
  FlamLuajitFile facts = { 0 };
  guint i = 0;

  (void)fd;
  (void)path;
  if (flam_elf_get_machine (elf) != EM_X86_64 || !is_luajit (elf))
    return FALSE;
  g_strlcpy (file->version, "2.1", sizeof file->version);
  while (i < G_N_ELEMENTS (codes) && !decode (elf, &codes[i], &facts))
    i++;
  if (i == G_N_ELEMENTS (codes))
    {
      file->version[0] = '\0';
      file->why = N_ ("only LuaJIT 2.1 is supported");
      file->help = N_ ("use LuaJIT 2.1");
      return TRUE;
    }
  file->stepped = facts.vm;
  file->facts = g_memdup2 (&facts, sizeof facts);
  return TRUE;
}

/* --- the chain ----------------------------------------------------------- */

typedef struct
{
  const FlamLuajitFile *file;
  const FlamLuajitLayout *layout;
  FlamLuajit *luajit;
  const FlamRuntimeMemory *memory;
  const FlamRuntimeRegs *regs;
  guint64 sp;
  guint64 vm; /* the interpreter's code, */
  guint64 vm_end;
  guint64 global;
  guint64 main; /* the state next to it */
  FlamRuntimeEntry *entries;
  gsize limit;
  gsize n;
} Walk;

static bool
read_reference (const Walk *walk, guint64 address, guint64 *value)
{
  return flam_luajit_read_reference (
      walk->layout, walk->memory, address, value);
}

static guint64
reference (const Walk *walk, const guint8 *bytes, gsize offset)
{
  return flam_luajit_reference (walk->layout, bytes, offset);
}

static bool
read_state (const Walk *walk,
            guint64 state,
            guint8 bytes[FLAM_LUAJIT_STATE_SIZE])
{
  guint64 stack, limit;

  if (state % 8 != 0 || state < 4096 ||
      !flam_runtime_read (
          walk->memory, state, bytes, walk->layout->state_size) ||
      bytes[walk->layout->type] != FLAM_LUAJIT_THREAD)
    return false;
  stack = reference (walk, bytes, walk->layout->state_stack);
  limit = reference (walk, bytes, walk->layout->state_limit);
  return stack != 0 && stack % 8 == 0 && limit > stack &&
         limit - stack <= STACK_MAX;
}

/* global_State is next to the main state, which leads back to it. */
static bool
find_main (Walk *walk, guint64 global)
{
  guint8 main[FLAM_LUAJIT_STATE_SIZE];

  if (global <= FLAM_LUAJIT_STATE_SIZE + STATE_MORE_MAX)
    return false;
  for (guint64 more = 0; more <= STATE_MORE_MAX; more += 8)
    {
      walk->main = global - walk->layout->state_size - more;
      if (read_state (walk, walk->main, main) &&
          reference (walk, main, walk->layout->state_global) == global)
        return true;
    }
  return false;
}

static guint64
native_frame (const Walk *walk, const guint8 *state)
{
  return flam_runtime_u64 (state, walk->layout->state_frame) &
         ~(guint64)FRAME_FLAGS;
}

/* Whether the state runs on this stack, not below `from`. */
static bool
read_active (const Walk *walk,
             guint64 state,
             guint64 from,
             guint8 bytes[FLAM_LUAJIT_STATE_SIZE])
{
  guint64 frame, own;

  if (!read_state (walk, state, bytes) ||
      reference (walk, bytes, walk->layout->state_global) != walk->global)
    return false;
  frame = native_frame (walk, bytes);
  return frame >= from && frame - from <= REACH && frame % 8 == 0 &&
         read_reference (walk, frame + walk->layout->frame_state, &own) &&
         own == state;
}

static bool
is_full (const Walk *walk)
{
  return walk->n >= walk->limit;
}

static void
take_entry (Walk *walk, guint64 frame)
{
  if (!is_full (walk))
    walk->entries[walk->n++] = (FlamRuntimeEntry){ .at = frame };
}

static void
take_function (Walk *walk, const FlamLuajitFunction *function)
{
  if (!is_full (walk))
    walk->entries[walk->n++] =
        (FlamRuntimeEntry){ .function = function->key,
                            .at = function->lua ? function->pc : 0,
                            .cookie = function->cookie };
}

/* --- a trace ------------------------------------------------------------- */

static bool
read_trace (const Walk *walk,
            guint32 number,
            guint8 bytes[FLAM_LUAJIT_TRACE_SIZE])
{
  guint64 list, trace;
  guint32 size;

  if (number == 0 || number >= TRACES_MAX ||
      !flam_runtime_read_u64 (
          walk->memory, walk->global + (guint64)walk->file->traces, &list) ||
      !read_reference (
          walk, list + walk->layout->reference * (guint64)number, &trace) ||
      !flam_runtime_read (
          walk->memory, trace, bytes, walk->layout->trace_size) ||
      bytes[walk->layout->type] != FLAM_LUAJIT_TRACE)
    return false;
  size = flam_runtime_u32 (bytes, walk->layout->trace_code_size);
  return (flam_runtime_u32 (bytes, walk->layout->trace_number) & 0xffff) ==
             number &&
         size > 0 && size < CODE_MAX;
}

static bool
is_in_trace (const Walk *walk, const guint8 *trace, guint64 pc, guint32 *offset)
{
  guint64 at = pc - flam_runtime_u64 (trace, walk->layout->trace_code);

  *offset = (guint32)at;
  return at < flam_runtime_u32 (trace, walk->layout->trace_code_size);
}

/* The code that called C, by the words between rsp and the interpreter's frame:
 * the first that is an address in the trace. */
static bool
find_return (const Walk *walk,
             guint64 frame,
             const guint8 *trace,
             guint32 *offset)
{
  guint64 words[SEARCH_PIECE / 8];
  guint64 sp = walk->sp & ~7ull;

  for (guint64 at = sp; at < frame && (at - sp) / 8 < NATIVE_MAX;
       at += sizeof words)
    {
      gsize n = MIN (sizeof words, frame - at);

      if (!flam_runtime_read (walk->memory, at, words, n))
        return false;
      for (gsize i = 0; i < n / 8; i++)
        if (is_in_trace (walk, trace, words[i] - 1, offset))
          return true;
    }
  return false;
}

/* While a trace collects garbage, vmstate is not its number. The number is then
 * that of the trace which was seen before in the code that C returns to. */
static bool
find_trace (const Walk *walk,
            guint64 frame,
            guint8 trace[FLAM_LUAJIT_TRACE_SIZE],
            guint32 *offset)
{
  guint64 words[SEARCH_PIECE / 8];
  guint64 sp = walk->sp & ~7ull;

  for (guint64 at = sp; at < frame && (at - sp) / 8 < NATIVE_MAX;
       at += sizeof words)
    {
      gsize n = MIN (sizeof words, frame - at);

      if (!flam_runtime_read (walk->memory, at, words, n))
        return false;
      for (gsize i = 0; i < n / 8; i++)
        {
          guint32 number = flam_luajit_find_trace (walk->luajit, words[i] - 1);

          if (number != 0 && read_trace (walk, number, trace) &&
              is_in_trace (walk, trace, words[i] - 1, offset))
            return true;
        }
    }
  return false;
}

/* The number of the last snapshot that begins at or before the code. */
static bool
find_snapshot (const Walk *walk,
               const guint8 *trace,
               guint32 offset,
               guint8 snapshot[SNAPSHOT_SIZE])
{
  guint64 list = flam_runtime_u64 (trace, walk->layout->trace_snapshots);
  guint32 low = 0, high;
  guint16 n, at;

  memcpy (&n, trace + walk->layout->trace_n_snapshots, sizeof n);
  for (high = n; low < high;)
    {
      guint32 middle = low + (high - low) / 2;

      if (!flam_runtime_read_u16 (walk->memory,
                                  list + SNAPSHOT_SIZE * (guint64)middle +
                                      SNAPSHOT_CODE,
                                  &at))
        return false;
      if (at <= offset)
        low = middle + 1;
      else
        high = middle;
    }
  return low > 0 &&
         flam_runtime_read (walk->memory,
                            list + SNAPSHOT_SIZE * (guint64)(low - 1),
                            snapshot,
                            SNAPSHOT_SIZE);
}

/* A snapshot's entries, the pc after them, and with 32-bit references the kinds
 * of its frames. */
typedef struct
{
  guint32 entries[SNAPSHOT_MAX + 2];
  guint n;
  guint64 pc;
  guint64 ir;
  guint32 kinds[SNAPSHOT_MAX];
  guint n_kinds;
} Snapshot;

static bool
is_link (guint32 entry)
{
  return (entry & (SNAPSHOT_FRAME | SNAPSHOT_CONTINUATION)) != 0 &&
         entry >> 24 != 0;
}

static bool
read_kinds (const Walk *walk, guint64 at, Snapshot *snapshot)
{
  snapshot->n_kinds = 0;
  for (guint i = 0; i < snapshot->n; i++)
    snapshot->n_kinds += is_link (snapshot->entries[i]);
  snapshot->pc = snapshot->entries[snapshot->n];
  return snapshot->n_kinds == 0 ||
         flam_runtime_read (
             walk->memory, at, snapshot->kinds, 4 * (gsize)snapshot->n_kinds);
}

static bool
read_snapshot (const Walk *walk,
               const guint8 *trace,
               guint32 offset,
               Snapshot *snapshot)
{
  guint8 head[SNAPSHOT_SIZE];
  guint after = walk->layout->reference / 4;
  guint64 map;

  if (!find_snapshot (walk, trace, offset, head))
    return false;
  map = flam_runtime_u64 (trace, walk->layout->trace_map) +
        4 * (guint64)flam_runtime_u32 (head, SNAPSHOT_MAP);
  snapshot->n = head[SNAPSHOT_N];
  if (!flam_runtime_read (walk->memory,
                          map,
                          snapshot->entries,
                          4 * ((gsize)snapshot->n + after)))
    return false;
  snapshot->ir = flam_runtime_u64 (trace, walk->layout->trace_ir);
  if (after == 1)
    return read_kinds (walk, map + 4 * ((guint64)snapshot->n + 1), snapshot);
  memcpy (&snapshot->pc, snapshot->entries + snapshot->n, sizeof snapshot->pc);
  snapshot->pc >>= 8;
  return true;
}

/* The constant that an entry refers to. */
static bool
read_constant (const Walk *walk,
               const Snapshot *snapshot,
               guint32 entry,
               guint64 *value)
{
  guint32 reference = entry & SNAPSHOT_REFERENCE;

  return reference + 1 < IR_BIAS &&
         flam_runtime_read_u64 (
             walk->memory, snapshot->ir + IR_SIZE * (reference + 1), value);
}

static bool
read_slot (const Walk *walk,
           const Snapshot *snapshot,
           guint slot,
           guint64 *value)
{
  for (guint i = 0; i < snapshot->n; i++)
    if (snapshot->entries[i] >> 24 == slot)
      return read_constant (walk, snapshot, snapshot->entries[i], value);
  return false;
}

/* The pc in a function's caller, by the slot with its kind; 0: it has none.
 * `next` is the kind after it. */
static guint64
caller_pc (const Walk *walk,
           const Snapshot *snapshot,
           guint slot,
           guint64 kind,
           guint32 next)
{
  guint64 pc;

  if ((kind & KIND_LUA_MASK) == 0)
    return kind;
  if ((kind & KIND_MASK) != KIND_CONTINUATION)
    return 0;
  if (walk->layout->reference == 4)
    return next;
  return slot >= 2 && read_slot (walk, snapshot, slot - 2, &pc) ? pc : 0;
}

/* The functions that are inlined in the trace; the remainder is the pc in the
 * function at its base, 0: unknown. `again`: it was taken already. */
static guint64
take_inlined (Walk *walk, const Snapshot *snapshot, bool *again)
{
  guint64 pc = snapshot->pc;
  bool calls = false; /* the pc is that after a call */
  guint link = 0;

  *again = false;
  for (guint i = snapshot->n; i-- > 0 && !is_full (walk);)
    {
      guint32 entry = snapshot->entries[i], next = 0;
      guint at = link;
      FlamLuajitFunction function;
      guint64 kind;

      link += is_link (entry);
      if ((entry & SNAPSHOT_FRAME) == 0 ||
          entry >> 24 < walk->layout->frame_slots)
        continue;
      if (!*again && pc != 0 &&
          flam_luajit_function_at (
              walk->layout, walk->memory, pc - 4 * calls, &function))
        take_function (walk, &function);
      if (walk->layout->reference == 4)
        {
          kind = snapshot->kinds[at];
          next = link < snapshot->n_kinds ? snapshot->kinds[link] : 0;
        }
      else if (!read_constant (walk, snapshot, entry, &kind))
        return 0;
      *again = (kind & KIND_MASK) == KIND_VARIABLE;
      if (*again)
        continue;
      pc = caller_pc (walk, snapshot, entry >> 24, kind, next);
      calls = true;
    }
  return pc - (pc != 0 && calls ? 4 : 0);
}

/* The frames of the trace that runs; returns as take_inlined(). */
static guint64
take_trace (Walk *walk, guint64 frame, bool *again)
{
  guint8 trace[FLAM_LUAJIT_TRACE_SIZE];
  guint32 number, offset;
  Snapshot snapshot;

  *again = false;
  if (!flam_runtime_read_u32 (
          walk->memory, walk->global + (guint64)walk->file->state, &number))
    return 0;
  if ((gint32)number <= 0)
    {
      if (!find_trace (walk, frame, trace, &offset))
        return 0;
    }
  else if (!read_trace (walk, number, trace))
    return 0;
  else
    {
      flam_luajit_note_trace (
          walk->luajit,
          number,
          flam_runtime_u64 (trace, walk->layout->trace_code),
          flam_runtime_u32 (trace, walk->layout->trace_code_size));
      if (!is_in_trace (walk, trace, walk->regs->pc, &offset) &&
          !find_return (walk, frame, trace, &offset))
        offset = 0;
    }
  if (!read_snapshot (walk, trace, offset, &snapshot))
    return 0;
  return take_inlined (walk, &snapshot, again);
}

/* --- the frames of a state ----------------------------------------------- */

typedef struct
{
  guint64 function;
  guint64 kind;
} Frame;

typedef struct
{
  guint64 state;
  guint64 stack;
  guint64 limit;
  guint64 native; /* the interpreter's frame that runs the current frame */
} Stack;

/* The slot with the kind of the outermost frame, which has no function. */
static guint64
bottom (const Walk *walk, const Stack *stack)
{
  return stack->stack + SLOT * (walk->layout->frame_slots - 1u);
}

static bool
read_frame (const Walk *walk, const Stack *stack, guint64 slot, Frame *frame)
{
  guint64 words[2];
  gsize size = SLOT * walk->layout->frame_slots;

  if (slot % SLOT != 0 || slot < bottom (walk, stack) || slot >= stack->limit ||
      !flam_runtime_read (walk->memory, slot + SLOT - size, words, size))
    return false;
  *frame = walk->layout->frame_slots == 2
               ? (Frame){ words[0] & REFERENCE_MASK, words[1] }
               : (Frame){ (guint32)words[0], words[0] >> 32 };
  return true;
}

/* 0: the chain is broken. */
static guint64
previous_frame (const Walk *walk, guint64 slot, guint64 kind)
{
  guint64 size;
  guint8 a;

  if ((kind & KIND_LUA_MASK) == 0)
    {
      /* The operand A of the call. */
      if (!flam_runtime_read_u8 (walk->memory, kind - 3, &a))
        return 0;
      size = SLOT * (walk->layout->frame_slots + (guint64)a);
    }
  else
    size = kind & ~(guint64)KIND_MASK;
  return size > 0 && size < slot ? slot - size : 0;
}

/* The continuation of the frame, and its pc. */
static bool
read_continuation (const Walk *walk,
                   guint64 slot,
                   guint64 *continuation,
                   guint64 *pc)
{
  guint64 words[2];
  gsize size = SLOT * walk->layout->frame_slots;

  if (!flam_runtime_read (walk->memory, slot + SLOT - 2 * size, words, size))
    return false;
  *continuation = size == SLOT ? (guint32)words[0] : words[0];
  *pc = size == SLOT ? words[0] >> 32 : words[1];
  return true;
}

/* Whether the frame was called by C. */
static bool
is_first (const Walk *walk, guint64 slot, guint64 kind)
{
  guint64 continuation, pc;

  if ((kind & KIND_MASK) == KIND_C || (kind & KIND_MASK) == KIND_PROTECTED_C)
    return true;
  return (kind & KIND_MASK) == KIND_CONTINUATION &&
         read_continuation (walk, slot, &continuation, &pc) &&
         continuation == CALLBACK;
}

/* Whether a function is called in the frame at `slot`, and its callers lead
 * toward the bottom of the stack. */
static bool
is_chain (const Walk *walk, const Stack *stack, guint64 slot, guint64 pc)
{
  Frame frame;

  for (guint i = 0; i < CHECKED; i++)
    {
      FlamLuajitFunction function;

      if (slot == bottom (walk, stack))
        return true;
      if (!read_frame (walk, stack, slot, &frame))
        return false;
      if (frame.function != stack->state &&
          (!flam_luajit_read_function (
               walk->layout, walk->memory, frame.function, &function) ||
           (function.lua && pc != 0 &&
            !flam_luajit_set_pc (walk->layout, &function, pc))))
        return false;
      pc = (frame.kind & KIND_LUA_MASK) == 0 ? frame.kind - 4 : 0;
      slot = previous_frame (walk, slot, frame.kind);
      if (slot == 0)
        return false;
    }
  return true;
}

/* The innermost frame while the interpreter's own code runs: its registers, or
 * those a moment before or after a call. Otherwise what was saved before C was
 * called; some functions of the C library are called without that. */
static guint64
find_top (const Walk *walk, const Stack *stack, guint64 saved, guint64 *pc)
{
  const guint64 *general = walk->regs->general;
  guint64 base = general[FLAM_RUNTIME_RDX];
  guint64 now = general[FLAM_RUNTIME_RBX];
  bool inside =
      walk->regs->leaf && walk->regs->pc - walk->vm < walk->vm_end - walk->vm;
  guint64 more = 1u + walk->layout->frame_slots;
  guint8 a;

  *pc = 0;
  if (inside && now % 4 == 0 && now >= 4096)
    {
      *pc = now - 4;
      if (is_chain (walk, stack, base - SLOT, *pc))
        return base - SLOT;
      if (flam_runtime_read_u8 (walk->memory, now - 3, &a) &&
          is_chain (walk, stack, base - SLOT * (more + a), *pc))
        return base - SLOT * (more + a);
      *pc = 0;
    }
  if (!inside && walk->regs->leaf &&
      is_chain (walk, stack, general[FLAM_RUNTIME_RBP] - SLOT, 0))
    return general[FLAM_RUNTIME_RBP] - SLOT;
  /* C was called at this pc. */
  if (read_reference (walk, stack->native + walk->layout->frame_pc, pc) &&
      *pc % 4 == 0 && *pc >= 4096 &&
      is_chain (walk, stack, saved - SLOT, *pc - 4))
    *pc -= 4;
  else
    *pc = 0;
  return saved - SLOT;
}

/* The interpreter's previous frame that is not C's. */
static void
skip_native (const Walk *walk, Stack *stack, guint64 slot)
{
  for (guint i = 0; i < SKIPPED; i++)
    {
      gint32 results;
      guint64 previous;

      if (!flam_runtime_read_u32 (walk->memory,
                                  stack->native + walk->layout->frame_results,
                                  (guint32 *)&results) ||
          results >= 0 || slot >= stack->stack + (guint64) - (gint64)results ||
          !flam_runtime_read_u64 (
              walk->memory, stack->native + FRAME_PREVIOUS, &previous) ||
          (previous &= ~(guint64)FRAME_FLAGS) <= stack->native)
        return;
      stack->native = previous;
    }
}

/* All frames of a state; returns the outermost frame of the interpreter that
 * runs it. */
static guint64
take_frames (Walk *walk, guint64 state, const guint8 *bytes, bool current)
{
  Stack stack = { state,
                  reference (walk, bytes, walk->layout->state_stack),
                  reference (walk, bytes, walk->layout->state_limit) +
                      REACH / 16,
                  native_frame (walk, bytes) };
  guint64 base = 0, pc = 0, slot;
  bool again = false;
  Frame frame;

  if (current &&
      read_reference (walk, walk->global + (guint64)walk->file->base, &base) &&
      base != 0)
    {
      pc = take_trace (walk, stack.native, &again);
      slot = base - SLOT;
    }
  else
    slot = find_top (
        walk, &stack, flam_runtime_u64 (bytes, walk->layout->state_base), &pc);
  while (!is_full (walk) && slot > bottom (walk, &stack) &&
         read_frame (walk, &stack, slot, &frame))
    {
      FlamLuajitFunction function;
      guint64 previous = previous_frame (walk, slot, frame.kind);
      guint64 continuation;

      if (!again && frame.function != state &&
          flam_luajit_read_function (
              walk->layout, walk->memory, frame.function, &function))
        {
          if (function.lua && pc != 0)
            flam_luajit_set_pc (walk->layout, &function, pc);
          take_function (walk, &function);
        }
      again = (frame.kind & KIND_MASK) == KIND_VARIABLE;
      if (!again)
        pc = 0;
      if ((frame.kind & KIND_LUA_MASK) == 0)
        pc = frame.kind - 4;
      else if (is_first (walk, slot, frame.kind))
        {
          guint64 outer;

          skip_native (walk, &stack, slot);
          take_entry (walk, stack.native);
          if (!flam_runtime_read_u64 (
                  walk->memory, stack.native + FRAME_PREVIOUS, &outer) ||
              (outer &= ~(guint64)FRAME_FLAGS) <= stack.native)
            break;
          stack.native = outer;
          if (!read_reference (
                  walk, stack.native + walk->layout->frame_pc, &pc) ||
              pc < 4096 || pc % 4 != 0)
            pc = 0;
          pc -= pc != 0 ? 4 : 0;
        }
      else if ((frame.kind & KIND_MASK) == KIND_CONTINUATION &&
               read_continuation (walk, slot, &continuation, &pc))
        pc -= pc != 0 ? 4 : 0;
      if (previous == 0)
        break;
      slot = previous;
    }
  return stack.native;
}

/* --- the states ---------------------------------------------------------- */

/* The first word from `from` on that is a state that runs on this stack; with
 * 32-bit references, the lower half of one: in the interpreter's frame, the
 * other half is the pc. */
static guint64
search_stack (const Walk *walk,
              guint64 from,
              guint64 to,
              guint8 bytes[FLAM_LUAJIT_STATE_SIZE])
{
  guint64 words[SEARCH_PIECE / 8];
  guint tries = 0;

  from = (from + 7) & ~7ull;
  for (guint64 at = from; at < to && at - from < SEARCH_MAX; at += sizeof words)
    {
      gsize n = MIN (sizeof words, to - at);

      if (!flam_runtime_read (walk->memory, at, words, n))
        return 0;
      for (gsize i = 0; i < n / 8; i++)
        {
          guint64 value = reference (walk, (const guint8 *)words, 8 * i);

          if (value % 8 != 0 || value < 4096 || value >> 47 != 0 ||
              value - walk->sp < REACH)
            continue;
          if (tries++ == TRIES_MAX)
            return 0;
          if (read_active (walk, value, from, bytes))
            return value;
        }
    }
  return 0;
}

/* From any state among the registers and on the stack. */
static bool
search_global (Walk *walk)
{
  guint64 words[SEARCH_PIECE / 8], sp = walk->sp & ~7ull;
  guint tries = 0;
  guint8 bytes[FLAM_LUAJIT_STATE_SIZE];

  for (guint64 at = 0; at < SEARCH_MAX; at += sizeof words)
    {
      if (!flam_runtime_read (walk->memory, sp + at, words, sizeof words))
        return false;
      for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
        {
          guint64 value = reference (walk, (const guint8 *)words, 8 * i);

          if (value % 8 != 0 || value < 4096 || value >> 47 != 0 ||
              value - walk->sp < REACH)
            continue;
          if (tries++ == TRIES_MAX)
            return false;
          if (!read_state (walk, value, bytes))
            continue;
          walk->global = reference (walk, bytes, walk->layout->state_global);
          if (find_main (walk, walk->global) &&
              read_active (walk, value, walk->sp, bytes))
            return true;
        }
    }
  return true;
}

/* The state that the interpreter and its traces have in a register, or that of
 * the last walk, or the one that a search finds. */
static bool
find_global (Walk *walk, gint64 now, guint64 kept[FLAM_LUAJIT_KEPT])
{
  walk->global =
      walk->regs->general[FLAM_RUNTIME_R14] - (guint64)walk->file->table;
  if (flam_runtime_knows (walk->regs, FLAM_RUNTIME_R14) &&
      find_main (walk, walk->global))
    return true;
  walk->global = kept[0];
  if (kept[0] != 0 && find_main (walk, kept[0]))
    return true;
  if (kept[1] != 0 && now < (gint64)kept[2])
    return false;
  if (search_global (walk))
    return true;
  kept[1] = CLAMP (2 * kept[1], FIRST_PAUSE, LAST_PAUSE);
  kept[2] = (guint64)now + kept[1];
  return false;
}

/* The state that resumed the one whose outermost frame is at `frame`; 0:
 * none. */
static guint64
find_outer (const Walk *walk,
            guint64 state,
            guint64 frame,
            guint8 bytes[FLAM_LUAJIT_STATE_SIZE])
{
  guint64 from = frame + FRAME_SIZE;
  guint64 pc, outer;

  if (state == walk->main)
    return 0;
  /* By the interpreter itself, whose frame is the next one. */
  if (flam_runtime_read_u64 (walk->memory, from - 8, &pc) &&
      pc - walk->vm < walk->vm_end - walk->vm &&
      read_reference (walk, from + walk->layout->frame_state, &outer) &&
      read_active (walk, outer, from, bytes))
    return outer;
  if (!read_active (walk, walk->main, from, bytes))
    return 0;
  outer = search_stack (walk, from, native_frame (walk, bytes), bytes);
  if (outer != 0)
    return outer;
  return read_active (walk, walk->main, from, bytes) ? walk->main : 0;
}

static void
take_states (Walk *walk)
{
  guint64 current, state, frame;
  guint8 bytes[FLAM_LUAJIT_STATE_SIZE];

  if (!read_reference (
          walk, walk->global + (guint64)walk->file->current, &current))
    return;
  state = current;
  if (!read_active (walk, state, walk->sp, bytes))
    {
      state = search_stack (walk, walk->sp, G_MAXUINT64, bytes);
      if (state == 0)
        return;
    }
  for (guint i = 0; i < STATES_MAX && state != 0 && !is_full (walk); i++)
    {
      frame = take_frames (walk, state, bytes, state == current);
      state = find_outer (walk, state, frame, bytes);
    }
}

gsize
flam_luajit_walk (const FlamLuajitFile *file,
                  FlamLuajit *luajit,
                  const FlamRuntimeMemory *memory,
                  guint64 base,
                  const FlamRuntimeRegs *regs,
                  gint64 now,
                  guint64 kept[FLAM_LUAJIT_KEPT],
                  FlamRuntimeEntry *entries,
                  gsize limit)
{
  Walk walk = { .file = file,
                .layout = file->layout,
                .luajit = luajit,
                .memory = memory,
                .regs = regs,
                .sp = regs->general[FLAM_RUNTIME_RSP],
                .vm = base + file->vm.start,
                .vm_end = base + file->vm.end,
                .entries = entries,
                .limit = limit };

  if (find_global (&walk, now, kept))
    {
      kept[0] = walk.global;
      kept[1] = 0;
      take_states (&walk);
    }
  return walk.n;
}

/* Whether the interpreter's frame is at rsp, that is, leads to a state. It is
 * not there in the entry from C and in a trace's exit. */
static bool
is_native_frame (const FlamLuajitLayout *layout,
                 const FlamRuntimeMemory *memory,
                 guint64 frame)
{
  guint64 state;
  guint8 type;

  return flam_luajit_read_reference (
             layout, memory, frame + layout->frame_state, &state) &&
         state % 8 == 0 && state >= 4096 &&
         flam_runtime_read_u8 (memory, state + layout->type, &type) &&
         type == FLAM_LUAJIT_THREAD;
}

gboolean
flam_luajit_step (const FlamLuajitFile *file,
                  const FlamRuntimeMemory *memory,
                  guint64 base,
                  const FlamRuntimeRegs *regs,
                  FlamRuntimeRegs *caller)
{
  guint64 saved[4]; /* r15, rbx, rbp, the return address */
  guint64 pc = regs->pc - base - file->vm.start, frame = regs->entry;

  if (pc <= file->vm.end - file->vm.start &&
      is_native_frame (file->layout, memory, regs->general[FLAM_RUNTIME_RSP]))
    frame = regs->general[FLAM_RUNTIME_RSP];
  if (frame == 0 ||
      !flam_runtime_read (
          memory, frame + FRAME_SIZE - sizeof saved, saved, sizeof saved))
    return FALSE;
  *caller = (FlamRuntimeRegs){ .pc = saved[3] };
  caller->general[FLAM_RUNTIME_RBX] = saved[1];
  caller->general[FLAM_RUNTIME_RBP] = saved[2];
  caller->general[FLAM_RUNTIME_RSP] = frame + FRAME_SIZE;
  caller->known =
      1u << FLAM_RUNTIME_RBX | 1u << FLAM_RUNTIME_RBP | 1u << FLAM_RUNTIME_RSP;
  return TRUE;
}
