/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dotnet-unwind.h"

#include "flam-call-site.h"

#define CHAINED_MAX 8
#define FRAME_MAX (64u << 20)
#define EPILOGUE_MAX 48

enum
{
  PUSH,
  ALLOC_LARGE,
  ALLOC_SMALL,
  SET_FRAME,
  SAVE,
  SAVE_FAR,
  EPILOGUE,
  SPARE,
  SAVE_XMM,
  SAVE_XMM_FAR,
  MACHINE_FRAME,
  SET_FRAME_LARGE, /* on Unix */
};

#define HAS_CHAINED 4 /* flag */

/* The numbers of registers in machine code and in unwind information. */
static const uint8_t registers[] = {
  FLAM_RUNTIME_RAX, FLAM_RUNTIME_RCX, FLAM_RUNTIME_RDX, FLAM_RUNTIME_RBX,
  FLAM_RUNTIME_RSP, FLAM_RUNTIME_RBP, FLAM_RUNTIME_RSI, FLAM_RUNTIME_RDI,
  FLAM_RUNTIME_R8,  FLAM_RUNTIME_R9,  FLAM_RUNTIME_R10, FLAM_RUNTIME_R11,
  FLAM_RUNTIME_R12, FLAM_RUNTIME_R13, FLAM_RUNTIME_R14, FLAM_RUNTIME_R15,
};

static bool
load (const FlamRuntimeMemory *memory,
      FlamRuntimeRegs *regs,
      unsigned number,
      uint64_t address)
{
  unsigned reg = registers[number];

  if (!flam_runtime_read_u64 (memory, address, &regs->general[reg]))
    return false;
  regs->known |= 1u << reg;
  return true;
}

static bool
pop (const FlamRuntimeMemory *memory, FlamRuntimeRegs *regs, unsigned number)
{
  uint64_t sp = regs->general[FLAM_RUNTIME_RSP];

  if (registers[number] == FLAM_RUNTIME_RSP || !load (memory, regs, number, sp))
    return false;
  regs->general[FLAM_RUNTIME_RSP] = sp + 8;
  return true;
}

/* Takes the return address at rsp. */
static bool
leave (const FlamRuntimeMemory *memory,
       FlamRuntimeRegs *frame,
       FlamRuntimeRegs *regs)
{
  uint64_t sp = frame->general[FLAM_RUNTIME_RSP];

  if (sp % 8 != 0 || sp - regs->general[FLAM_RUNTIME_RSP] > FRAME_MAX ||
      !flam_runtime_read_u64 (memory, sp, &frame->pc) || frame->pc < 0x1000)
    return false;
  frame->general[FLAM_RUNTIME_RSP] = sp + 8;
  frame->leaf = false;
  *regs = *frame;
  return true;
}

/* --- epilogues ----------------------------------------------------------- */

/* The size of an instruction that frees the frame, and its effect; 0: another
 * instruction. */
static size_t
free_frame (const uint8_t *code, FlamRuntimeRegs *frame)
{
  uint64_t *sp = &frame->general[FLAM_RUNTIME_RSP];
  uint64_t bp = frame->general[FLAM_RUNTIME_RBP];
  bool from_bp = flam_runtime_knows (frame, FLAM_RUNTIME_RBP);

  if (code[0] == 0xc5 && code[1] == 0xf8 && code[2] == 0x77)
    return 3; /* vzeroupper */
  if (code[0] != 0x48)
    return 0;
  if (code[1] == 0x83 && code[2] == 0xc4)
    *sp += (uint64_t)(int8_t)code[3];
  else if (code[1] == 0x81 && code[2] == 0xc4)
    *sp += (uint64_t)(int32_t)flam_runtime_u32 (code, 3);
  else if (from_bp && code[1] == 0x8d && code[2] == 0x65)
    *sp = bp + (uint64_t)(int8_t)code[3];
  else if (from_bp && code[1] == 0x8d && code[2] == 0xa5)
    *sp = bp + (uint64_t)(int32_t)flam_runtime_u32 (code, 3);
  else if (from_bp && ((code[1] == 0x8b && code[2] == 0xe5) ||
                       (code[1] == 0x89 && code[2] == 0xec)))
    {
      *sp = bp;
      return 3;
    }
  else
    return 0;
  return code[2] == 0xc4 || code[2] == 0x65 ? (code[1] == 0x81 ? 7 : 4) : 7;
}

/* Whether the code there leaves the function. A jump alone may be within it. */
static bool
leaves (const uint8_t *code,
        uint64_t pc,
        const FlamDotnetFunction *function,
        bool popped)
{
  uint64_t target;

  if (code[0] == 0xc3 || code[0] == 0xc2 ||
      (code[0] == 0xf3 && code[1] == 0xc3))
    return true;
  if (code[0] == 0xe9)
    {
      target = pc + 5 + (uint64_t)(int32_t)flam_runtime_u32 (code, 1);
      return target < function->begin || target >= function->end;
    }
  if (code[0] == 0x48)
    code++;
  return popped && code[0] == 0xff && (code[1] & 0x38) == 0x20;
}

static bool
follow_epilogue (const FlamRuntimeMemory *memory,
                 const FlamDotnetFunction *function,
                 FlamRuntimeRegs *regs)
{
  FlamRuntimeRegs frame = *regs;
  uint8_t code[EPILOGUE_MAX + 8] = { 0 };
  uint64_t left = function->end - regs->pc;
  size_t n = left < EPILOGUE_MAX ? (size_t)left : EPILOGUE_MAX;
  size_t at = 0, size;

  if (!flam_runtime_read (memory, regs->pc, code, n))
    return false;
  while (at < n && (size = free_frame (code + at, &frame)) > 0)
    at += size;
  while (at < n)
    if ((code[at] & 0xf8) == 0x58)
      {
        if (!pop (memory, &frame, code[at] & 7))
          return false;
        at += 1;
      }
    else if (code[at] == 0x41 && (code[at + 1] & 0xf8) == 0x58)
      {
        if (!pop (memory, &frame, 8 | (code[at + 1] & 7)))
          return false;
        at += 2;
      }
    else
      break;
  return at < n && leaves (code + at, regs->pc + at, function, at > 0) &&
         leave (memory, &frame, regs);
}

/* --- unwind information -------------------------------------------------- */

typedef struct
{
  uint8_t flags;
  uint8_t prologue;
  uint8_t n_codes;
  uint8_t frame;
  uint8_t codes[2 * 256 + 12];
} Info;

static bool
read_info (const FlamRuntimeMemory *memory, uint64_t address, Info *info)
{
  uint8_t head[4];
  size_t size;

  if (!flam_runtime_read (memory, address, head, sizeof head))
    return false;
  info->flags = head[0] >> 3;
  info->prologue = head[1];
  info->n_codes = head[2];
  info->frame = head[3];
  if ((head[0] & 7) != 1 && (head[0] & 7) != 2)
    return false;
  /* Of an even number; then the function it goes on in, if any. */
  size = ((size_t)info->n_codes + 1) / 2 * 4;
  if ((info->flags & HAS_CHAINED) != 0)
    size += 12;
  return flam_runtime_read (memory, address + 4, info->codes, size);
}

static unsigned
slots (unsigned op, unsigned info)
{
  switch (op)
    {
    case ALLOC_LARGE:
      return info == 0 ? 2 : 3;
    case SAVE:
    case EPILOGUE:
    case SAVE_XMM:
      return 2;
    case SAVE_FAR:
    case SPARE:
    case SAVE_XMM_FAR:
    case SET_FRAME_LARGE:
      return 3;
    default:
      return 1;
    }
}

static uint64_t
slot_u16 (const Info *info, unsigned i)
{
  return info->codes[2 * i] | (unsigned)info->codes[2 * i + 1] << 8;
}

static uint64_t
slot_u32 (const Info *info, unsigned i)
{
  return slot_u16 (info, i) | slot_u16 (info, i + 1) << 16;
}

/* The address from which saved registers are counted: rsp after the prologue,
 * which the frame register gives once it is set. */
static bool
frame_base (const Info *info,
            unsigned offset,
            const FlamRuntimeRegs *frame,
            uint64_t *base)
{
  unsigned reg = registers[info->frame & 15];

  *base = frame->general[FLAM_RUNTIME_RSP];
  for (unsigned i = 0; i < info->n_codes;)
    {
      unsigned op = info->codes[2 * i + 1] & 15;
      unsigned n = slots (op, info->codes[2 * i + 1] >> 4);

      if (i + n > info->n_codes)
        return false;
      if ((op == SET_FRAME || op == SET_FRAME_LARGE) &&
          info->codes[2 * i] <= offset)
        {
          if (!flam_runtime_knows (frame, reg))
            return false;
          *base = frame->general[reg] - (op == SET_FRAME
                                             ? (uint64_t)(info->frame >> 4) * 16
                                             : slot_u32 (info, i + 1) * 16);
          return true;
        }
      i += n;
    }
  return true;
}

/* Undoes what the prologue did up to `offset`. */
static bool
undo (const FlamRuntimeMemory *memory,
      const Info *info,
      unsigned offset,
      FlamRuntimeRegs *frame)
{
  uint64_t *sp = &frame->general[FLAM_RUNTIME_RSP];
  uint64_t base;

  if (!frame_base (info, offset, frame, &base))
    return false;
  for (unsigned i = 0; i < info->n_codes;)
    {
      unsigned op = info->codes[2 * i + 1] & 15;
      unsigned value = info->codes[2 * i + 1] >> 4;
      unsigned n = slots (op, value);

      if (i + n > info->n_codes)
        return false;
      if (info->codes[2 * i] <= offset)
        switch (op)
          {
          case PUSH:
            if (!pop (memory, frame, value))
              return false;
            break;
          case ALLOC_LARGE:
            *sp += value == 0 ? slot_u16 (info, i + 1) * 8
                              : slot_u32 (info, i + 1);
            break;
          case ALLOC_SMALL:
            *sp += value * 8 + 8;
            break;
          case SET_FRAME:
          case SET_FRAME_LARGE:
            *sp = base;
            break;
          case SAVE:
            if (!load (memory, frame, value, base + slot_u16 (info, i + 1) * 8))
              return false;
            break;
          case SAVE_FAR:
            if (!load (memory, frame, value, base + slot_u32 (info, i + 1)))
              return false;
            break;
          case EPILOGUE:
          case SPARE:
          case SAVE_XMM:
          case SAVE_XMM_FAR:
            break;
          default:
            return false;
          }
      i += n;
    }
  return true;
}

bool
flam_dotnet_unwind (const FlamRuntimeMemory *memory,
                    const FlamDotnetFunction *function,
                    FlamRuntimeRegs *regs)
{
  FlamRuntimeRegs frame = *regs;
  uint64_t address = function->info;
  uint64_t offset = regs->pc - function->begin;
  Info info;

  for (unsigned i = 0; i < CHAINED_MAX; i++)
    {
      const uint8_t *chained;

      if (!read_info (memory, address, &info))
        return false;
      if (i == 0 && regs->leaf && offset >= info.prologue &&
          follow_epilogue (memory, function, regs))
        return true;
      if (!undo (memory,
                 &info,
                 i == 0 && offset < 255 ? (unsigned)offset : 255,
                 &frame))
        return false;
      if ((info.flags & HAS_CHAINED) == 0)
        return leave (memory, &frame, regs);
      chained = info.codes + ((size_t)info.n_codes + 1) / 2 * 4;
      address = function->base + flam_runtime_u32 (chained, 8);
    }
  return false;
}

static bool
is_call_site (const FlamRuntimeMemory *memory, uint64_t address)
{
  return flam_call_site_kind (memory, address) != FLAM_CALL_NONE;
}

bool
flam_dotnet_unwind_stub (const FlamRuntimeMemory *memory, FlamRuntimeRegs *regs)
{
  FlamRuntimeRegs frame = *regs;
  uint64_t sp = frame.general[FLAM_RUNTIME_RSP];
  uint64_t bp = frame.general[FLAM_RUNTIME_RBP];
  uint64_t back;

  /* Nearly all are a few instructions and a jump. */
  if (regs->leaf && flam_runtime_read_u64 (memory, sp, &back) &&
      is_call_site (memory, back))
    return leave (memory, &frame, regs);
  if (!flam_runtime_knows (regs, FLAM_RUNTIME_RBP) || bp < sp || bp % 8 != 0 ||
      !flam_runtime_read_u64 (memory, bp + 8, &back) ||
      !is_call_site (memory, back))
    return false;
  frame.general[FLAM_RUNTIME_RSP] = bp + 8;
  return flam_runtime_read_u64 (memory, bp, &frame.general[FLAM_RUNTIME_RBP]) &&
         leave (memory, &frame, regs);
}
