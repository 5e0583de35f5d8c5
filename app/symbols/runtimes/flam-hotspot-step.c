/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-hotspot-private.h"

/* Further apart than any frame is large. */
#define FRAME_MAX (1u << 20)
/* Code may push this many words more than its frame has. */
#define EXTRA_WORDS 6
/* How far above the stack pointer a leaf's return address may be. */
#define SAVED_WORDS 32
/* Words of arguments on the stack, and of alignment. */
#define ARGUMENTS_MAX 64

/* In an interpreted frame, below rbp. */
#define SENDER_SP 8
#define METHOD 24

enum
{
  INTERPRETER = 1,
  COMPILED,
  WRAPPER,
  DISPATCH,     /* vtable and itable stubs */
  CONTINUATION, /* stubs of virtual threads */
  ADAPTER,
  OTHER,
};

/* Bytes of code around a pc. */
#define BEFORE 48
#define AFTER 16

typedef struct
{
  uint8_t bytes[BEFORE + AFTER];
  const uint8_t *at; /* that of the pc */
} Code;

typedef struct
{
  FlamHotspot *hotspot;
  const FlamRuntimeMemory *memory;
  FlamHotspotFrame *frame;
  uint64_t pc, sp, bp;
  bool leaf, knows_bp;     /* without that, bp is 0 */
  const uint64_t *general; /* if all are known, else NULL */
  Blob blob;
  struct
  {
    uint64_t pc, sp, bp;
    bool knows_bp;
  } caller;
} Step;

static uint8_t
kind_of_name (const char *name)
{
  static const struct
  {
    const char *begin;
    uint8_t kind;
  } kinds[] = {
    { "Interpreter", INTERPRETER },
    { "nmethod", COMPILED },
    { "native nmethod", WRAPPER },
    { "vtable", DISPATCH },
    { "itable", DISPATCH },
    { "I2C/C2I", ADAPTER },
    { "StubRoutines (cont", CONTINUATION },
  };

  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strncmp (name, kinds[i].begin, strlen (kinds[i].begin)) == 0)
      return kinds[i].kind;
  return OTHER;
}

/* The names of blobs are few, and constants of the library. 0: not readable. */
static uint8_t
kind_of (Step *step)
{
  FlamHotspot *hotspot = step->hotspot;
  uint64_t name = step->blob.name;
  unsigned slot = (unsigned)(name / 8) % FLAM_HOTSPOT_KINDS;
  char text[32];

  if (hotspot->kinds[slot].kind != 0 && hotspot->kinds[slot].name == name)
    return hotspot->kinds[slot].kind;
  if (!flam_hotspot_text (step->memory, name, text, sizeof text))
    return 0;
  hotspot->kinds[slot].name = name;
  return hotspot->kinds[slot].kind = kind_of_name (text);
}

/* --- callers ------------------------------------------------------------- */

static bool
go (Step *step, uint64_t pc, uint64_t sp, uint64_t bp)
{
  step->caller.pc = pc;
  step->caller.sp = sp;
  step->caller.bp = bp;
  step->caller.knows_bp = step->knows_bp || bp != 0;
  return true;
}

/* Whether `sp` can be the caller's, with a return address to generated code
 * below it. */
static bool
is_caller (const Step *step, uint64_t sp, uint64_t *pc)
{
  return sp > step->sp && sp - step->sp <= FRAME_MAX &&
         read_word (step->memory, sp - 8, pc) &&
         flam_hotspot_is_code (step->hotspot, *pc);
}

/* Only a return address, at the stack pointer. */
static bool
pop_one (Step *step)
{
  uint64_t pc;

  return is_caller (step, step->sp + 8, &pc) &&
         go (step, pc, step->sp + 8, step->bp);
}

/* Below the return address is the caller's rbp. */
static bool
pop_two (Step *step, uint64_t sp)
{
  uint64_t pc, bp;

  return is_caller (step, sp, &pc) && read_word (step->memory, sp - 16, &bp) &&
         go (step, pc, sp, bp);
}

/* A frame of the blob's size. */
static bool
pop_frame (Step *step)
{
  uint64_t size = step->blob.frame_size;

  if (size < 16 || size > FRAME_MAX)
    return false;
  for (unsigned i = 0; i <= EXTRA_WORDS; i++)
    if (pop_two (step, step->sp + size + 8 * i))
      return true;
  return false;
}

static bool
is_base (const Step *step)
{
  return step->bp >= step->sp && step->bp - step->sp <= FRAME_MAX &&
         step->bp % 8 == 0;
}

/* A frame with rbp; the caller may be in native code, too. The stub that checks
 * compiled code at its entry has pushed -1 above it. */
static bool
pop_base (Step *step)
{
  uint64_t pc, bp, sp = step->bp + 16;

  if (!is_base (step) || !read_word (step->memory, sp - 8, &pc) ||
      !read_word (step->memory, step->bp, &bp))
    return false;
  if (pc == UINT64_MAX)
    {
      sp += 8;
      return is_caller (step, sp, &pc) && go (step, pc, sp, bp);
    }
  return pc != 0 && go (step, pc, sp, bp);
}

/* The bytes outside the blob are 0. */
static bool
read_code (const Step *step, Code *code)
{
  uint64_t start = step->pc - BEFORE, skipped = 0, left = 0;

  memset (code->bytes, 0, sizeof code->bytes);
  code->at = code->bytes + BEFORE;
  if (start < step->blob.code)
    skipped = step->blob.code - start;
  if (step->pc + AFTER > step->blob.end)
    left = step->pc + AFTER - step->blob.end;
  return skipped <= BEFORE && left <= AFTER &&
         read_bytes (step->memory,
                     start + skipped,
                     code->bytes + skipped,
                     sizeof code->bytes - skipped - left);
}

/* --- interpreted --------------------------------------------------------- */

/* Whether it has constants, which belong to a class. */
static bool
is_method (const Step *step, uint64_t constant)
{
  const uint32_t *fields = step->hotspot->fields;
  uint64_t pool, holder;

  return read_word (step->memory, constant + fields[CONST_CONSTANTS], &pool) &&
         pool != 0 && pool % 8 == 0 &&
         read_word (step->memory, pool + fields[POOL_HOLDER], &holder) &&
         holder != 0 && holder % 8 == 0;
}

/* Sets the frame. False: it is not a method, or `at` is not one of its
 * bytecodes; the latter is accepted with `any`: native methods have no
 * bytecodes, and their frames contain 0 or an address in the stack instead. */
static bool
set_method (Step *step, uint64_t method, uint64_t bytecode, bool any)
{
  const uint32_t *fields = step->hotspot->fields;
  uint64_t constant, start;
  uint16_t size;

  if (method == 0 || method % 8 != 0 ||
      !read_word (step->memory, method + fields[METHOD_CONST], &constant) ||
      constant == 0 || constant % 8 != 0 ||
      !read_bytes (
          step->memory, constant + fields[CONST_CODE_SIZE], &size, sizeof size))
    return false;
  start = constant + fields[CONST_LENGTH];
  step->frame->kind = FLAM_HOTSPOT_INTERPRETED;
  step->frame->function = method;
  step->frame->cookie = constant;
  step->frame->at = FLAM_HOTSPOT_NO_BYTECODE;
  if (bytecode >= start && bytecode - start < size)
    {
      step->frame->at = (uint32_t)(bytecode - start);
      return true;
    }
  return any && is_method (step, constant);
}

/* At the entry of a method, before its frame is complete: the method is in rbx
 * and the caller's sp in r13, where the bytecode will be. */
static bool
step_entry (Step *step)
{
  uint64_t sp = step->general[FLAM_RUNTIME_R13], pc = 0, bp = step->bp;

  if (is_base (step) && step->bp - step->sp < METHOD)
    {
      if (!read_word (step->memory, step->bp + 8, &pc) ||
          !read_word (step->memory, step->bp, &bp) ||
          (step->sp <= step->bp - SENDER_SP &&
           !read_word (step->memory, step->bp - SENDER_SP, &sp)))
        return false;
    }
  else if (!read_word (step->memory, step->sp, &pc) ||
           !flam_hotspot_is_code (step->hotspot, pc))
    pc = step->general[FLAM_RUNTIME_RAX];
  return flam_hotspot_is_code (step->hotspot, pc) && sp > step->sp &&
         sp - step->sp <= FRAME_MAX &&
         set_method (step, step->general[FLAM_RUNTIME_RBX], 0, true) &&
         go (step, pc, sp, bp);
}

static FlamHotspotStep
step_interpreted (Step *step)
{
  const uint64_t *general = step->general;
  uint64_t below = step->hotspot->version > 8 ? 64 : 56; /* the bytecode */
  uint64_t words[10] = { 0 }, method, sp;
  const uint64_t *base = words + below / 8;
  size_t missing = 0;

  /* Nothing below the stack pointer belongs to this frame. */
  if (is_base (step) && step->bp - step->sp < below)
    missing = (size_t)(below - (step->bp - step->sp)) / 8;
  if (!is_base (step) || step->bp - step->sp < METHOD ||
      !read_bytes (step->memory,
                   step->bp - below + 8 * missing,
                   words + missing,
                   below + 16 - 8 * missing))
    return general != NULL && step_entry (step) ? FLAM_HOTSPOT_STEPPED
                                                : FLAM_HOTSPOT_LOST;
  method = base[-METHOD / 8];
  sp = base[-SENDER_SP / 8];
  /* The code keeps the bytecode's address in r13; at calls it is stored. */
  if (general != NULL &&
      set_method (step, method, general[FLAM_RUNTIME_R13], false))
    ;
  else if (general != NULL &&
           (method != general[FLAM_RUNTIME_RBX] ||
            sp != general[FLAM_RUNTIME_R13]) &&
           step_entry (step))
    return FLAM_HOTSPOT_STEPPED;
  else if (!set_method (step, method, words[0], true))
    return FLAM_HOTSPOT_LOST;
  if (sp <= step->bp || sp - step->bp > FRAME_MAX || base[1] == 0)
    return FLAM_HOTSPOT_LAST;
  go (step, base[1], sp, base[0]);
  return FLAM_HOTSPOT_STEPPED;
}

/* --- compiled ------------------------------------------------------------ */

static uint64_t
deopt_entry (const Step *step, unsigned pointer, unsigned offset)
{
  const uint32_t *fields = step->hotspot->fields;
  const uint8_t *header = step->blob.header;

  if (has (step->hotspot, pointer))
    return flam_runtime_u64 (header, fields[pointer]);
  if (has (step->hotspot, offset))
    return step->blob.address + flam_runtime_u32 (header, fields[offset]);
  return 0;
}

/* A frame that is to be interpreted from now on returns to its deoptimization
 * entry; its own pc is kept in the frame. */
static void
undo_deopt (Step *step)
{
  const Blob *blob = &step->blob;
  uint64_t saved;
  uint32_t offset =
      flam_runtime_u32 (blob->header, step->hotspot->fields[NMETHOD_ORIG_PC]);

  if (step->leaf ||
      (step->pc != deopt_entry (step, NMETHOD_DEOPT_BEGIN, NMETHOD_DEOPT) &&
       step->pc !=
           deopt_entry (step, NMETHOD_DEOPT_MH_BEGIN, NMETHOD_DEOPT_MH)) ||
      offset > blob->frame_size ||
      !read_word (step->memory, step->sp + offset, &saved))
    return;
  if (saved >= blob->code && saved <= blob->end)
    step->pc = saved;
}

static bool
is_sub_rsp (const uint8_t *at)
{
  return at[0] == 0x48 && (at[1] == 0x81 || at[1] == 0x83) && at[2] == 0xec;
}

/* Before the frame is complete:
 *
 *   mov [rsp - n], eax   touches the end of the stack
 *   push rbp
 *   mov rbp, rsp         in wrappers
 *   sub rsp, n
 *
 * or only sub rsp, n and mov [rsp + n], rbp. */
static bool
step_prologue (Step *step, const Code *code)
{
  const uint8_t *at = code->at;
  bool pushed = false;

  if (step->pc <= step->blob.code || at[0] == 0x55)
    return pop_one (step);
  for (int i = 1; i <= 20 && !pushed; i++)
    pushed = at[-i] == 0x55;
  for (int i = 4; i <= 36; i++)
    if (is_sub_rsp (at - i))
      {
        if (!pop_frame (step))
          return false;
        if (!pushed && i <= 7)
          step->caller.bp = step->bp;
        return true;
      }
  if (at[-1] == 0x55 || (at[-4] == 0x55 && at[-3] == 0x48))
    return pop_two (step, step->sp + 16);
  return pop_one (step);
}

/* Whether the frame was dropped already: from there to the return. */
static bool
is_after_pop (const uint8_t *at)
{
  /* ret; rep ret */
  if (at[0] == 0xc3 || (at[0] == 0xf3 && at[1] == 0xc3))
    return true;
  /* Right after pop rbp or leave: cmp rsp, [r15 + n]; mov r10, [r15 + n]; cmp
   * [r15 + n], 0. */
  if ((at[-1] == 0x5d || at[-1] == 0xc9) &&
      ((at[0] == 0x49 && at[1] == 0x3b && (at[2] == 0x67 || at[2] == 0xa7)) ||
       (at[0] == 0x4d && at[1] == 0x8b && at[2] == 0x97) ||
       (at[0] == 0x49 && (at[1] == 0x83 || at[1] == 0x81))))
    return true;
  /* ja or jne, and ret */
  if (at[0] == 0x0f && (at[1] == 0x87 || at[1] == 0x85) && at[6] == 0xc3)
    return true;
  /* 9 to 16: test [r10], eax, and ret; 8: test [rip + n], eax, and ret */
  return (at[0] == 0x41 && at[1] == 0x85 && at[2] == 0x02 && at[3] == 0xc3) ||
         (at[0] == 0x85 && at[1] == 0x05 && at[6] == 0xc3);
}

static FlamHotspotStep
step_compiled (Step *step, FlamHotspotKind kind)
{
  FlamHotspotFrame *frame = step->frame;
  bool found = false;
  Code code;

  undo_deopt (step);
  frame->kind = (uint8_t)kind;
  frame->function = step->blob.address;
  frame->cookie = flam_runtime_u32 (step->blob.header,
                                    step->hotspot->fields[NMETHOD_COMPILE_ID]);
  frame->at = (uint32_t)(step->pc - step->blob.code);
  if (step->leaf && read_code (step, &code))
    {
      if (step->pc < step->blob.complete)
        found = step_prologue (step, &code);
      else if (is_after_pop (code.at))
        found = pop_one (step);
      else if (code.at[0] == 0x5d)
        found = pop_two (step, step->sp + 16);
    }
  found = found || pop_frame (step) || (step->leaf && pop_one (step));
  return found ? FLAM_HOTSPOT_STEPPED : FLAM_HOTSPOT_LAST;
}

/* --- stubs --------------------------------------------------------------- */

/* The address that the call before `pc` has called; 0: unknown. */
static uint64_t
called_before (const Step *step, uint64_t pc)
{
  uint8_t bytes[16];
  int32_t distance;

  if (!read_bytes (step->memory, pc - sizeof bytes, bytes, sizeof bytes))
    return 0;
  if (bytes[11] == 0xe8)
    {
      memcpy (&distance, bytes + 12, sizeof distance);
      return pc + (uint64_t)(int64_t)distance;
    }
  /* mov r10, address; call r10 */
  if (bytes[3] == 0x49 && bytes[4] == 0xba && bytes[13] == 0x41 &&
      bytes[14] == 0xff && bytes[15] == 0xd2)
    return flam_runtime_u64 (bytes, 5);
  return 0;
}

/* Whether the word below `sp` is the return address of a call of this stub,
 * which then is the frame's position. */
static bool
is_called_here (Step *step, uint64_t sp)
{
  uint64_t pc, target;

  if (!is_caller (step, sp, &pc))
    return false;
  target = called_before (step, pc);
  if (target < step->blob.code || target >= step->blob.end)
    return false;
  step->frame->at = (uint32_t)(target - step->blob.code);
  return true;
}

static bool
is_entry (const Step *step, uint64_t pc)
{
  for (uint32_t i = 0; i < step->hotspot->n_stubs; i++)
    if (step->hotspot->stubs[i].entry == pc)
      return true;
  return pc == step->blob.code;
}

/* An interrupted stub, where a call of it has left its return address. */
static bool
step_called (Step *step)
{
  uint64_t end = step->sp + step->blob.frame_size;

  if (is_base (step) && is_called_here (step, step->bp + 16))
    return pop_base (step);
  if (is_called_here (step, step->sp + 8))
    return pop_one (step);
  return step->blob.frame_size >= 16 && is_called_here (step, end) &&
         pop_two (step, end);
}

/* An interrupted stub without a size: most have a frame with rbp, but not at
 * their entry and return; some leaf stubs never have one. */
static bool
step_leaf (Step *step)
{
  uint64_t pc = 0;
  Code code;
  bool readable = read_code (step, &code);

  if (readable && (is_entry (step, step->pc) || is_after_pop (code.at)) &&
      pop_one (step))
    return true;
  if (readable && code.at[-1] == 0x55 && is_entry (step, step->pc - 1) &&
      pop_two (step, step->sp + 16))
    return true;
  for (unsigned i = 2; i <= SAVED_WORDS; i++)
    if (is_called_here (step, step->sp + 8 * i))
      return is_caller (step, step->sp + 8 * i, &pc) &&
             go (step, pc, step->sp + 8 * i, step->bp);
  return pop_base (step) || pop_one (step);
}

/* Whether `sp` can be that of a caller at `pc`: if its code is compiled, there
 * is another return address at the end of its frame. */
static bool
fits (const Step *step, uint64_t pc, uint64_t sp)
{
  uint64_t next;
  Blob blob;

  return flam_hotspot_find_blob (step->hotspot, step->memory, pc, &blob) &&
         (blob.frame_size < 16 || blob.frame_size > FRAME_MAX ||
          (read_word (step->memory, sp + blob.frame_size - 8, &next) &&
           flam_hotspot_is_code (step->hotspot, next)));
}

/* Between interpreted and compiled code: the caller's sp is in r13, unless the
 * caller is compiled and the adapter has not put it there yet. */
static bool
step_adapter (Step *step)
{
  uint64_t pc, sp;

  if (step->general == NULL)
    return pop_one (step);
  sp = step->general[FLAM_RUNTIME_R13];
  if (!is_caller (step, step->sp + 8, &pc))
    pc = step->general[FLAM_RUNTIME_RAX];
  else if (!fits (step, pc, sp))
    return pop_one (step);
  return flam_hotspot_is_code (step->hotspot, pc) && sp > step->sp &&
         sp - step->sp <= FRAME_MAX && go (step, pc, sp, step->bp);
}

/* A virtual thread that waited continues with its innermost frames alone. They
 * return to a stub, in place of the frames that are still in the heap. Above
 * them, behind arguments, is the frame of Continuation.enterSpecial(), whose
 * caller is the carrier's; rbp may be left over from the heap. */
static bool
step_unmounted (Step *step)
{
  uint64_t pc, caller;
  Blob blob;

  if (step->leaf || step->hotspot->continuation == 0 ||
      called_before (step, step->pc) != 0 ||
      !read_word (step->memory, step->hotspot->continuation, &pc) ||
      !flam_hotspot_find_blob (step->hotspot, step->memory, pc, &blob) ||
      blob.frame_size < 16)
    return false;
  for (unsigned i = 0; i <= ARGUMENTS_MAX; i++)
    {
      uint64_t end = step->sp + 8 * i + blob.frame_size;

      if (is_caller (step, end, &caller) && fits (step, caller, end))
        return pop_two (step, end);
    }
  return false;
}

static FlamHotspotStep
step_stub (Step *step, uint8_t kind)
{
  FlamHotspotFrame *frame = step->frame;
  bool found = false;
  Code code;

  frame->kind = FLAM_HOTSPOT_STUB;
  frame->function = step->blob.address;
  frame->cookie = step->blob.name;
  frame->at = (uint32_t)(step->pc - step->blob.code);
  if (kind == DISPATCH)
    found = pop_one (step);
  else if (kind == ADAPTER)
    found = step_adapter (step);
  else if (kind == CONTINUATION && step_unmounted (step))
    found = true;
  else if (step->leaf && step_called (step))
    found = true;
  else if (step->blob.frame_size == 0 && step->leaf)
    found = step_leaf (step);
  else if (step->leaf && step->pc < step->blob.complete &&
           read_code (step, &code))
    found = step_prologue (step, &code);
  found = found || pop_frame (step) || (step->leaf && step_leaf (step)) ||
          pop_base (step) || pop_one (step) || pop_two (step, step->sp + 16);
  return found ? FLAM_HOTSPOT_STEPPED : FLAM_HOTSPOT_LAST;
}

FlamHotspotStep
flam_hotspot_step (FlamHotspot *hotspot,
                   const FlamRuntimeMemory *memory,
                   FlamRuntimeRegs *regs,
                   FlamHotspotFrame *frame)
{
  const uint32_t needed =
      1 << FLAM_RUNTIME_RAX | 1 << FLAM_RUNTIME_RBX | 1 << FLAM_RUNTIME_R13;
  Step step = {
    .hotspot = hotspot,
    .memory = memory,
    .frame = frame,
    .pc = regs->pc,
    .sp = regs->general[FLAM_RUNTIME_RSP],
    .bp = regs->general[FLAM_RUNTIME_RBP],
    .leaf = regs->leaf,
    .knows_bp = flam_runtime_knows (regs, FLAM_RUNTIME_RBP),
    .general = (regs->known & needed) == needed ? regs->general : NULL,
  };
  FlamHotspotStep result;
  uint8_t kind;

  memset (frame, 0, sizeof *frame);
  if (!flam_hotspot_find_blob (hotspot, memory, regs->pc, &step.blob))
    return FLAM_HOTSPOT_LOST;
  kind = kind_of (&step);
  if (kind == 0)
    return FLAM_HOTSPOT_LOST;
  if (kind == INTERPRETER)
    result = step_interpreted (&step);
  else if (kind == COMPILED || kind == WRAPPER)
    result = step_compiled (
        &step, kind == COMPILED ? FLAM_HOTSPOT_COMPILED : FLAM_HOTSPOT_NATIVE);
  else
    result = step_stub (&step, kind);
  if (result != FLAM_HOTSPOT_STEPPED)
    return result;
  memset (regs->general, 0, sizeof regs->general);
  regs->pc = step.caller.pc;
  regs->general[FLAM_RUNTIME_RSP] = step.caller.sp;
  regs->general[FLAM_RUNTIME_RBP] = step.caller.bp;
  regs->known = 1u << FLAM_RUNTIME_RSP;
  regs->known |= (uint32_t)step.caller.knows_bp << FLAM_RUNTIME_RBP;
  regs->leaf = false;
  return FLAM_HOTSPOT_STEPPED;
}
