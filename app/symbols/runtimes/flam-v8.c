/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8.h"

#include <stdlib.h>
#include <string.h>

#include "flam-v8-code.h"
#include "flam-v8-regexp.h"
#include "flam-v8-script.h"
#include "flam-v8-tables.h"

#define STACK_MAX (2u << 20) /* bytes that are searched for frames */
#define STACK_PIECE 4096
#define FRAME_MAX (1u << 20)
#define FUNCTION_SIZE 64
#define SHARED_SIZE 64
#define BYTECODE_SIZE 40
#define ARRAY_LENGTH 8
#define ARRAY_DATA 16
#define TABLE_ENTRY 16
#define MARKERS_MAX 256
#define INLINED_MAX 64
#define INLINING_SIZE 16 /* of an inlining position */
/* Words below a frame in which the return address into it is looked for. */
#define RETURN_WORDS 512

#define MEMO 256

enum
{
  KIND_FUNCTION, /* nothing but the function is known */
  KIND_BYTECODE,
  KIND_BASELINE,
  KIND_OPTIMIZED,
  KIND_REGEXP, /* `object` is its source */
};

typedef struct
{
  uint64_t shared;
  uint64_t object;   /* the Code or BytecodeArray; 0: unknown */
  uint64_t bytecode; /* of baseline code */
  uint64_t offset;   /* in it */
  uint64_t cookie;
  uint8_t kind;
} Frame;

/* A JSFunction, read at this stop. */
typedef struct
{
  uint64_t function;
  uint64_t round;
  bool ok;
  uint64_t shared;
  uint64_t data; /* of the SharedFunctionInfo: bytecodes or code */
  uint64_t cookie;
  FlamV8Code code;     /* the current one */
  FlamV8Code baseline; /* the SharedFunctionInfo's, if it differs */
} Function;

struct _FlamV8
{
  const FlamV8File *file;
  const FlamV8Layout *layout;
  uint64_t base;
  uint64_t round;
  uint64_t table;    /* the dispatch table; 0: not found yet */
  FlamV8Code sample; /* code with a header */
  uint64_t copy;     /* as `base`, of a copy of the builtins; 0: none; atomic */
  Frame *frames;
  size_t n_frames;
  size_t room;
  Function memo[MEMO];
  FlamV8Codes codes;
  FlamV8RegExp regexp;
  FlamV8Scripts *scripts;
  /* The stack, from `sp` on. */
  uint64_t sp;
  size_t n_words;
  uint64_t words[STACK_MAX / 8];
};

bool
flam_v8_is_loaded (const FlamV8File *file,
                   uint64_t base,
                   const FlamRuntimeMemory *memory)
{
  uint32_t major;

  return flam_runtime_read_u32 (memory, base + file->major, &major) &&
         major == file->layout.version >> 24;
}

FlamV8 *
flam_v8_new (const FlamV8File *file, uint64_t base)
{
  FlamV8 *v8 = calloc (1, sizeof *v8);

  if (v8 == NULL)
    return NULL;
  v8->file = file;
  v8->layout = &file->layout;
  v8->base = base;
  v8->scripts = flam_v8_scripts_new ();
  if (v8->scripts == NULL)
    {
      free (v8);
      return NULL;
    }
  return v8;
}

void
flam_v8_free (FlamV8 *v8)
{
  if (v8 == NULL)
    return;
  flam_v8_scripts_free (v8->scripts);
  free (v8->frames);
  free (v8);
}

void
flam_v8_set_copy (FlamV8 *v8, uint64_t base)
{
  __atomic_store_n (&v8->copy, base, __ATOMIC_RELAXED);
}

static uint64_t
word (const uint8_t *bytes, size_t offset)
{
  uint64_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

static uint64_t
mix (uint64_t hash, uint64_t value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

/* --- code ---------------------------------------------------------------- */

static bool
is_in (const FlamRuntimeRange *range, uint64_t base, uint64_t pc)
{
  return pc - base - range->start < range->end - range->start;
}

static bool
is_native_in (const FlamV8File *file, uint64_t base, uint64_t pc)
{
  return pc < 65536 || pc >> 47 != 0 ||
         (is_in (&file->native, base, pc) &&
          file->builtins.start < file->builtins.end &&
          !is_in (&file->builtins, base, pc));
}

bool
flam_v8_is_frame (const FlamV8File *file,
                  uint64_t base,
                  uint64_t pc,
                  uint64_t caller_sp,
                  uint64_t at)
{
  return at + 16 == caller_sp && !is_native_in (file, base, pc);
}

/* V8's builtins, or their copy. */
static bool
is_builtin (const FlamV8 *v8, uint64_t pc)
{
  uint64_t copy = __atomic_load_n (&v8->copy, __ATOMIC_RELAXED);

  return is_in (&v8->file->builtins, v8->base, pc) ||
         (copy != 0 && is_in (&v8->file->builtins, copy, pc));
}

/* Code of the file that is not V8's builtins. */
static bool
is_native (const FlamV8 *v8, uint64_t pc)
{
  return is_native_in (v8->file, v8->base, pc);
}

/* An index with a mark in its low 8 bits; an entry of the table is an address
 * of machine code and, in the upper 48 bits, that of a Code. */
static uint64_t
code_of_handle (FlamV8 *v8, const FlamRuntimeMemory *memory, uint32_t handle)
{
  uint64_t owner, code;

  if (v8->table == 0 &&
      (v8->file->table_owner == 0 ||
       !flam_runtime_read_u64 (
           memory, v8->base + v8->file->table_owner, &owner) ||
       !flam_runtime_read_u64 (
           memory, owner + v8->file->table_offset, &v8->table)))
    return 0;
  if (!flam_runtime_read_u64 (
          memory, v8->table + (uint64_t)TABLE_ENTRY * (handle >> 8) + 8, &code))
    return 0;
  return code >> 16 | 1;
}

static uint64_t
code_of_function (FlamV8 *v8,
                  const FlamRuntimeMemory *memory,
                  const uint8_t *bytes)
{
  uint64_t value = word (bytes, v8->layout->function_code);

  return v8->layout->function_has_handle
             ? code_of_handle (v8, memory, (uint32_t)value)
             : value;
}

/* --- functions ----------------------------------------------------------- */

static bool
is_between (uint16_t type, uint16_t first, uint16_t last)
{
  return type >= first && type <= last;
}

static void
read_function (FlamV8 *v8, const FlamRuntimeMemory *memory, Function *function)
{
  const FlamV8Layout *layout = v8->layout;
  uint64_t object = function->function;
  uint8_t bytes[FUNCTION_SIZE], shared[SHARED_SIZE];

  function->ok = false;
  function->code = function->baseline = (FlamV8Code){ 0 };
  if (!flam_v8_read (memory, &object, bytes, sizeof bytes) ||
      !is_between (flam_v8_type (memory, object),
                   layout->type_function_first,
                   layout->type_function_last))
    return;
  function->shared = word (bytes, layout->function_shared);
  if (!flam_v8_read (memory, &function->shared, shared, sizeof shared) ||
      flam_v8_type (memory, function->shared) != layout->type_shared)
    return;
  function->ok = true;
  function->data = word (shared, layout->shared_data);
  function->cookie = mix (function->shared, function->data);
  function->cookie = mix (function->cookie, word (shared, layout->shared_name));
  function->cookie =
      mix (function->cookie, word (shared, layout->shared_script));
  flam_v8_code_read (
      layout, memory, code_of_function (v8, memory, bytes), &function->code);
  if (function->data != function->code.object)
    flam_v8_code_read (layout, memory, function->data, &function->baseline);
}

static const Function *
get_function (FlamV8 *v8, const FlamRuntimeMemory *memory, uint64_t object)
{
  Function *function = &v8->memo[(object * 0x9e3779b97f4a7c15ull) >> 56];

  if (function->function != object || function->round != v8->round)
    {
      function->function = object;
      function->round = v8->round;
      read_function (v8, memory, function);
    }
  return function->ok ? function : NULL;
}

/* --- frames -------------------------------------------------------------- */

static bool
add_frame (FlamV8 *v8, const Frame *frame)
{
  if (v8->n_frames == v8->room)
    {
      size_t room = v8->room > 0 ? 2 * v8->room : 64;
      Frame *frames = realloc (v8->frames, room * sizeof *frames);

      if (frames == NULL)
        return false;
      v8->frames = frames;
      v8->room = room;
    }
  v8->frames[v8->n_frames++] = *frame;
  return true;
}

/* The bytecodes of an interpreted frame: the frame contains the number of the
 * current one, counted from the object's address + 1. */
static bool
set_bytecode (FlamV8 *v8,
              const FlamRuntimeMemory *memory,
              const uint64_t *fp,
              Frame *frame)
{
  const FlamV8Layout *layout = v8->layout;
  uint64_t offset = fp[layout->frame_bytecode_offset / 8];

  frame->object = fp[layout->frame_bytecode / 8];
  if (!flam_v8_is_small (offset) ||
      flam_v8_small (offset) < layout->bytecode_data - 1 ||
      flam_v8_type (memory, frame->object) != layout->type_bytecode)
    return false;
  frame->kind = KIND_BYTECODE;
  frame->offset =
      (uint64_t)(flam_v8_small (offset) + 1 - layout->bytecode_data);
  frame->cookie = mix (frame->cookie, frame->object);
  return true;
}

static void
set_code (const FlamV8Layout *layout,
          const FlamV8Code *code,
          uint64_t pc,
          bool is_return,
          Frame *frame)
{
  frame->object = code->object;
  frame->bytecode = code->deopt;
  frame->kind =
      code->kind == layout->code_kind_baseline ? KIND_BASELINE : KIND_OPTIMIZED;
  frame->offset = pc - code->start - (is_return && pc > code->start);
  frame->cookie = mix (frame->cookie, code->object);
  frame->cookie = mix (frame->cookie, code->start);
  frame->cookie = mix (frame->cookie, code->positions);
  frame->cookie = mix (frame->cookie, code->deopt);
}

/* Whether it was compiled from JavaScript, unlike builtins, which are the code
 * of some functions. The kinds after baseline are those of optimized code. */
static bool
is_compiled (const FlamV8 *v8, const FlamV8Code *code)
{
  return code->object != 0 &&
         (v8->layout->code_kind_baseline == FLAM_V8_NO_KIND
              ? !is_in (&v8->file->native, v8->base, code->start)
              : code->kind >= v8->layout->code_kind_baseline);
}

static bool
is_compiled_at (const FlamV8 *v8, const FlamV8Code *code, uint64_t pc)
{
  return flam_v8_code_contains (code, pc) && is_compiled (v8, code);
}

/* Code with a header at `pc`, whatever it was made from. */
static bool
any_code_at (FlamV8 *v8,
             const FlamRuntimeMemory *memory,
             uint64_t pc,
             FlamV8Code *code)
{
  if (is_in (&v8->file->native, v8->base, pc) || is_builtin (v8, pc))
    return false;
  if (!flam_v8_codes_find (&v8->codes, v8->layout, memory, pc, code))
    {
      /* Isolates may differ in the header's first word. */
      unsigned known = v8->codes.n_headers;

      flam_v8_codes_learn (&v8->codes, v8->layout, memory, &v8->sample);
      if (v8->codes.n_headers == known ||
          !flam_v8_codes_find (&v8->codes, v8->layout, memory, pc, code))
        return false;
    }
  return true;
}

/* Compiled code at `pc`, whatever function it belongs to. */
static bool
code_at (FlamV8 *v8,
         const FlamRuntimeMemory *memory,
         uint64_t pc,
         FlamV8Code *code)
{
  return any_code_at (v8, memory, pc, code) && is_compiled (v8, code);
}

static bool
find_code (FlamV8 *v8,
           const FlamRuntimeMemory *memory,
           const Function *function,
           uint64_t pc,
           FlamV8Code *code)
{
  if (is_compiled_at (v8, &function->code, pc))
    *code = function->code;
  else if (is_compiled_at (v8, &function->baseline, pc))
    *code = function->baseline;
  else
    return code_at (v8, memory, pc, code) &&
           (code->kind == v8->layout->code_kind_baseline
                ? code->deopt == function->data
                : flam_v8_code_shared (v8->layout, memory, code) ==
                      function->shared);
  return true;
}

/* Without the pc, because the frame's callee has no frame: the return address
 * is the lowest word in the function's code. */
static uint64_t
find_return (const FlamV8 *v8,
             const Function *function,
             size_t lowest,
             size_t at)
{
  for (size_t i = lowest; i < at && i - lowest < RETURN_WORDS; i++)
    if (is_compiled_at (v8, &function->code, v8->words[i]) ||
        is_compiled_at (v8, &function->baseline, v8->words[i]))
      return v8->words[i];
  return 0;
}

/* A frame and the code that it runs: pc 0 if that is unknown. Code that
 * replaced interpreted code in the middle of a loop runs in the frame of the
 * latter, with the offset of an earlier bytecode in it. */
typedef struct
{
  size_t at; /* among the words of the stack */
  size_t lowest;
  uint64_t pc;
  bool is_return;
} Place;

static bool
set_code_at (FlamV8 *v8,
             const FlamRuntimeMemory *memory,
             const Function *function,
             uint64_t pc,
             bool is_return,
             Frame *frame)
{
  FlamV8Code code;

  if (pc == 0 || is_builtin (v8, pc) ||
      !find_code (v8, memory, function, pc, &code))
    return false;
  set_code (v8->layout, &code, pc, is_return, frame);
  return true;
}

static void
set_position (FlamV8 *v8,
              const FlamRuntimeMemory *memory,
              const Function *function,
              const Place *place,
              Frame *frame)
{
  size_t below = (size_t)(-v8->layout->frame_bytecode_offset / 8);

  if (set_code_at (v8, memory, function, place->pc, place->is_return, frame))
    return;
  /* Builtins that call nothing have no frame. */
  if (!place->is_return &&
      set_code_at (v8,
                   memory,
                   function,
                   find_return (v8, function, place->lowest, place->at),
                   true,
                   frame))
    return;
  if (place->at >= below)
    set_bytecode (v8, memory, v8->words + place->at, frame);
}

/* Whether the words at `at` are the saved frame pointer and the return address
 * of V8's code. */
static bool
is_frame (const FlamV8 *v8, size_t at)
{
  uint64_t fp = v8->sp + 8 * at, saved = v8->words[at];

  return saved > fp && saved - fp < FRAME_MAX && saved % 8 == 0 &&
         !is_native (v8, v8->words[at + 1]);
}

static size_t
put (FlamV8 *v8,
     const Frame *frame,
     uint64_t at,
     FlamRuntimeEntry *entries,
     size_t n,
     size_t limit)
{
  if (n + 2 > limit || !add_frame (v8, frame))
    return n;
  entries[n++] =
      (FlamRuntimeEntry){ frame->shared, frame->offset, frame->cookie };
  entries[n++] = (FlamRuntimeEntry){ 0, at, 0 };
  return n;
}

/* The stack is read until its end, or until no more frame can follow. */
static void
read_stack (FlamV8 *v8, const FlamRuntimeMemory *memory, uint64_t sp)
{
  size_t n = 0;

  v8->sp = sp & ~7ull;
  while (n < STACK_MAX)
    {
      uint64_t at = v8->sp + n;
      size_t size = STACK_PIECE - (size_t)(at % STACK_PIECE);

      if (size > STACK_MAX - n)
        size = STACK_MAX - n;
      if (!flam_runtime_read (memory, at, (uint8_t *)v8->words + n, size))
        break;
      n += size;
    }
  v8->n_words = n / 8;
}

/* The function that has been called and has no frame yet, or no longer, while
 * rbp is its caller's, a `function` or NULL: its code is at `pc`, and it is in
 * rdi if it was called just now. */
static const Frame *
top_frame (FlamV8 *v8,
           const FlamRuntimeRegs *regs,
           const FlamRuntimeMemory *memory,
           const Function *function,
           Frame *frame)
{
  const Function *called;
  FlamV8Code code;

  if (is_builtin (v8, regs->pc) || is_native (v8, regs->pc) ||
      (function != NULL && find_code (v8, memory, function, regs->pc, &code)) ||
      !code_at (v8, memory, regs->pc, &code))
    return NULL;
  *frame = (Frame){ .shared = flam_v8_code_shared (v8->layout, memory, &code) };
  called = flam_runtime_knows (regs, FLAM_RUNTIME_RDI) &&
                   flam_v8_is_object (regs->general[FLAM_RUNTIME_RDI])
               ? get_function (v8, memory, regs->general[FLAM_RUNTIME_RDI])
               : NULL;
  if (frame->shared == 0 && called != NULL &&
      find_code (v8, memory, called, regs->pc, &code))
    frame->shared = called->shared;
  if (frame->shared == 0)
    return NULL;
  frame->cookie = mix (0, frame->shared);
  set_code (v8->layout, &code, regs->pc, false, frame);
  return frame;
}

/* Whether the code at `pc`, whose frame is at a place in the stack, is a
 * regular expression's. */
static bool
regexp_frame (FlamV8 *v8,
              const FlamRuntimeMemory *memory,
              uint64_t pc,
              size_t at,
              Frame *frame)
{
  FlamV8Code code;
  uint64_t source;

  if (v8->layout->type_regexp == 0 || !any_code_at (v8, memory, pc, &code))
    return false;
  source = flam_v8_regexp_find (&v8->regexp,
                                v8->layout,
                                memory,
                                code.object,
                                v8->words + at,
                                v8->n_words - at);
  if (source == 0)
    return false;
  *frame = (Frame){ .shared = source,
                    .object = source,
                    .cookie = mix (code.object, code.start),
                    .kind = KIND_REGEXP };
  return true;
}

/* The function of the frame at a place in the stack, copied to `function`; or
 * NULL. */
static const Function *
function_at (FlamV8 *v8,
             const FlamRuntimeMemory *memory,
             size_t at,
             Function *function)
{
  uint64_t context = v8->words[at - 1], object = v8->words[at - 2];
  const Function *found = flam_v8_is_object (context) &&
                                  flam_v8_is_object (object) &&
                                  is_between (flam_v8_type (memory, context),
                                              v8->layout->type_context_first,
                                              v8->layout->type_context_last)
                              ? get_function (v8, memory, object)
                              : NULL;

  if (found == NULL)
    return NULL;
  *function = *found;
  return function;
}

/* A frame of V8 that is not a function's. */
static bool
is_marked (uint64_t word)
{
  return word % 2 == 0 && word < MARKERS_MAX;
}

size_t
flam_v8_walk (FlamV8 *v8,
              const FlamRuntimeRegs *regs,
              const FlamRuntimeMemory *memory,
              FlamRuntimeEntry *entries,
              size_t limit)
{
  uint64_t caller = flam_runtime_knows (regs, FLAM_RUNTIME_RBP)
                        ? regs->general[FLAM_RUNTIME_RBP]
                        : 0;
  Place next = { .pc = is_native (v8, regs->pc) ? 0 : regs->pc };
  size_t n = 0, first = 2, top;
  Frame regexp;

  v8->round++;
  v8->n_frames = 0;
  read_stack (v8, memory, regs->general[FLAM_RUNTIME_RSP]);
  top = (size_t)(caller - v8->sp) / 8;
  if (next.pc != 0 && !is_builtin (v8, next.pc) && caller >= v8->sp &&
      top + 1 < v8->n_words && regexp_frame (v8, memory, next.pc, top, &regexp))
    {
      n = put (v8, &regexp, caller, entries, n, limit);
      first = top + 2;
      caller = v8->words[top];
      next = (Place){ .pc = v8->words[top + 1],
                      .is_return = true,
                      .lowest = first };
    }
  for (size_t i = first; i + 1 < v8->n_words; i++)
    {
      uint64_t fp = v8->sp + 8 * i;
      Place place = next;
      const Function *function;
      Function read;
      Frame frame;

      if (!is_frame (v8, i))
        continue;
      function = function_at (v8, memory, i, &read);
      if (function == NULL && !is_marked (v8->words[i - 1]))
        continue;
      if (caller != fp)
        place.pc = place.is_return = 0;
      place.at = i;
      if (place.pc != 0 && !place.is_return &&
          top_frame (v8, regs, memory, function, &frame) != NULL)
        {
          n = put (v8, &frame, fp, entries, n, limit);
          place.pc = 0;
        }
      if (function != NULL)
        {
          if (is_compiled (v8, &function->code))
            v8->sample = function->code;
          frame =
              (Frame){ .shared = function->shared, .cookie = function->cookie };
          set_position (v8, memory, function, &place, &frame);
          /* The native frame of a builtin has a better name. */
          if (frame.kind != KIND_FUNCTION ||
              !flam_v8_is_small (function->data) || v8->file->builtins.end == 0)
            n = put (v8, &frame, fp, entries, n, limit);
        }
      caller = v8->words[i];
      next =
          (Place){ .pc = v8->words[i + 1], .is_return = true, .lowest = i + 2 };
    }
  return n;
}

/* --- names --------------------------------------------------------------- */

/* A byte array: its length, and the address of its bytes. */
static bool
find_bytes (const FlamRuntimeMemory *memory,
            uint64_t array,
            uint64_t *bytes,
            uint64_t *size)
{
  uint8_t head[ARRAY_DATA];

  if (!flam_v8_read (memory, &array, head, sizeof head) ||
      !flam_v8_is_small (word (head, ARRAY_LENGTH)) ||
      flam_v8_small (word (head, ARRAY_LENGTH)) < 0)
    return false;
  *bytes = array - 1 + ARRAY_DATA;
  *size = word (head, ARRAY_LENGTH) >> 32;
  return true;
}

static FlamV8Position
position_in_array (const FlamV8 *v8,
                   const FlamRuntimeMemory *memory,
                   uint64_t array,
                   uint64_t offset)
{
  uint64_t bytes, size;

  return find_bytes (memory, array, &bytes, &size)
             ? flam_v8_position_at (memory,
                                    bytes,
                                    size,
                                    v8->layout->positions_have_flags,
                                    offset)
             : (FlamV8Position){ 0 };
}

static FlamV8Position
position_of_bytecode (const FlamV8 *v8,
                      const FlamRuntimeMemory *memory,
                      uint64_t object,
                      uint64_t offset)
{
  uint8_t bytes[BYTECODE_SIZE];

  return flam_v8_read (memory, &object, bytes, sizeof bytes)
             ? position_in_array (v8,
                                  memory,
                                  word (bytes, v8->layout->bytecode_positions),
                                  offset)
             : (FlamV8Position){ 0 };
}

/* Baseline code has its bytecodes, or the data of an interpreted function that
 * begins with them, in place of the data for deoptimization. */
static FlamV8Position
position_of_baseline (const FlamV8 *v8,
                      const FlamRuntimeMemory *memory,
                      const Frame *frame,
                      uint64_t positions)
{
  const FlamV8Layout *layout = v8->layout;
  uint64_t object = frame->bytecode, table, size, offset;
  uint8_t head[16];
  FlamV8Bytecodes bytecodes = { .lengths =
                                    v8->file->bytecode_lengths + v8->base,
                                .n_lengths = v8->file->n_bytecodes };

  if (!flam_v8_read (memory, &object, head, sizeof head))
    return (FlamV8Position){ 0 };
  if (flam_v8_type (memory, object) != layout->type_bytecode)
    object = word (head, 8);
  if (!flam_v8_read (memory, &object, head, sizeof head) ||
      flam_v8_type (memory, object) != layout->type_bytecode ||
      !flam_v8_is_small (word (head, ARRAY_LENGTH)) ||
      !find_bytes (memory, positions, &table, &size))
    return (FlamV8Position){ 0 };
  bytecodes.code = object - 1 + layout->bytecode_data;
  bytecodes.size = word (head, ARRAY_LENGTH) >> 32;
  return flam_v8_baseline_bytecode (
             memory, table, size, &bytecodes, frame->offset, &offset)
             ? position_of_bytecode (v8, memory, object, offset)
             : (FlamV8Position){ 0 };
}

static void
set_line (FlamV8 *v8,
          const FlamRuntimeMemory *memory,
          uint64_t script,
          const FlamV8Position *position,
          FlamRuntimeNamed *named)
{
  if (script != 0 && position->known)
    named->line = flam_v8_script_line (
        v8->scripts, v8->layout, memory, script, position->offset);
  else if (position->before)
    named->line = named->first_line;
}

static bool
add_name (FlamV8 *v8,
          const FlamRuntimeMemory *memory,
          uint64_t shared,
          const FlamV8Position *position,
          bool compiled,
          FlamRuntimeName *name)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  uint64_t script;

  named->compiled = compiled;
  if (!flam_v8_shared_name (
          v8->scripts, v8->layout, memory, shared, name, named, &script))
    return false;
  set_line (v8, memory, script, position, named);
  return true;
}

/* The position of an inlined function's call, and the function, as an index
 * into the literals. -1: the code's own. */
typedef struct
{
  uint64_t position;
  int32_t function;
  int32_t unused;
} Inlining;

typedef struct
{
  uint64_t literals;
  uint64_t n_literals;
  uint64_t inlinings;
  uint64_t n_inlinings;
} Inlined;

/* The data for deoptimization is an array, of which two elements are arrays. */
static bool
find_inlined (const FlamV8 *v8,
              const FlamRuntimeMemory *memory,
              uint64_t deopt,
              Inlined *inlined)
{
  const FlamV8Layout *layout = v8->layout;
  uint64_t elements, n, literals, inlinings, bytes;

  if (!find_bytes (memory, deopt, &elements, &n) ||
      n <= layout->deopt_inlining ||
      !flam_runtime_read_u64 (
          memory, elements + 8ull * layout->deopt_literals, &literals) ||
      !flam_runtime_read_u64 (
          memory, elements + 8ull * layout->deopt_inlining, &inlinings) ||
      !find_bytes (
          memory, literals, &inlined->literals, &inlined->n_literals) ||
      !find_bytes (memory, inlinings, &inlined->inlinings, &bytes))
    return false;
  inlined->n_inlinings = bytes / INLINING_SIZE;
  return true;
}

static bool
add_inlined (FlamV8 *v8,
             const FlamRuntimeMemory *memory,
             const Inlined *inlined,
             const Frame *frame,
             FlamV8Position *position,
             FlamRuntimeName *name)
{
  uint16_t number = position->inlined;
  Inlining inlining;
  uint64_t shared = frame->shared;

  if (number > inlined->n_inlinings ||
      !flam_runtime_read (memory,
                          inlined->inlinings +
                              (uint64_t)INLINING_SIZE * (number - 1u),
                          &inlining,
                          sizeof inlining))
    return false;
  if (inlining.function >= 0)
    {
      if ((uint64_t)inlining.function >= inlined->n_literals ||
          !flam_runtime_read_u64 (memory,
                                  inlined->literals +
                                      8 * (uint64_t)inlining.function,
                                  &shared))
        return false;
      shared &= ~2ull; /* weak */
    }
  if (!add_name (v8, memory, shared, position, true, name))
    return false;
  *position = flam_v8_position (inlining.position);
  /* A function is inlined into an earlier one. */
  return position->inlined < number;
}

static bool
name_optimized (FlamV8 *v8,
                const FlamRuntimeMemory *memory,
                const Frame *frame,
                const FlamV8Code *code,
                FlamRuntimeName *name)
{
  FlamV8Position position =
      position_in_array (v8, memory, code->positions, frame->offset);
  Inlined inlined;

  if (position.inlined > 0 && find_inlined (v8, memory, code->deopt, &inlined))
    for (unsigned i = 0; i < INLINED_MAX && position.inlined > 0; i++)
      if (!add_inlined (v8, memory, &inlined, frame, &position, name))
        break;
  if (position.inlined > 0)
    {
      flam_runtime_name_clear (name);
      position.known = false;
    }
  return add_name (v8, memory, frame->shared, &position, true, name);
}

static const Frame *
frame_of (const FlamV8 *v8, const FlamRuntimeEntry *entry)
{
  for (size_t i = 0; i < v8->n_frames; i++)
    if (v8->frames[i].shared == entry->function &&
        v8->frames[i].cookie == entry->cookie &&
        v8->frames[i].offset == entry->at)
      return &v8->frames[i];
  return NULL;
}

bool
flam_v8_name (FlamV8 *v8,
              const FlamRuntimeEntry *entry,
              const FlamRuntimeMemory *memory,
              FlamRuntimeName *name)
{
  const Frame *frame = frame_of (v8, entry);
  FlamV8Position position = { 0 };
  FlamV8Code code;

  if (frame == NULL)
    return false;
  if (frame->kind == KIND_REGEXP)
    {
      const char *text =
          flam_v8_read_text (v8->layout, memory, frame->object, name);
      FlamRuntimeNamed *named = flam_runtime_name_add (name);

      named->function = flam_runtime_name_printf (name, "RegExp: %s", text);
      named->compiled = true;
      return true;
    }
  if (frame->kind >= KIND_BASELINE &&
      !flam_v8_code_read (v8->layout, memory, frame->object, &code))
    return false;
  if (frame->kind == KIND_OPTIMIZED)
    return name_optimized (v8, memory, frame, &code, name);
  if (frame->kind == KIND_BYTECODE)
    position = position_of_bytecode (v8, memory, frame->object, frame->offset);
  else if (frame->kind == KIND_BASELINE)
    position = position_of_baseline (v8, memory, frame, code.positions);
  return add_name (
      v8, memory, frame->shared, &position, frame->kind == KIND_BASELINE, name);
}
