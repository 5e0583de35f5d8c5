/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-decode.h"

#include <string.h>

enum
{
  RAX = 0,
  RCX = 1,
  RDX = 2,
  RBX = 3,
  RSP = 4,
  RBP = 5,
  RSI = 6,
  RDI = 7,
};

enum
{
  REX_B = 1,
  REX_R = 4,
  REX_W = 8,
};

#define LONGEST 15

/* The bytes that follow each one-byte opcode:
 *
 *   .  nothing         m  ModRM              p  a prefix, 0F or VEX: not here
 *   i  8 bits          b  ModRM, 8 bits      -  not valid in 64-bit mode
 *   w  16 or 32 bits   z  ModRM, 16 or 32
 *   j  32 bits         t  ModRM; 8 bits or (odd opcode) 16 or 32 if reg < 2
 *   h  16 bits         e  24 bits
 *   q  16, 32 or 64    o  an address */
static const char one_byte[] = "mmmmiw--mmmmiw-p"
                               "mmmmiw--mmmmiw--"
                               "mmmmiwp-mmmmiwp-"
                               "mmmmiwp-mmmmiwp-"
                               "pppppppppppppppp"
                               "................"
                               "--pmppppwzib...."
                               "iiiiiiiiiiiiiiii"
                               "bz-bmmmmmmmmmmmm"
                               "..........-....."
                               "oooo....iw......"
                               "iiiiiiiiqqqqqqqq"
                               "bbh.ppbze.h..i-."
                               "mmmm---.mmmmmmmm"
                               "iiiiiiiijj-i...."
                               "p.pp..tt......mm";

/* The same for the opcodes after 0F; all others are followed only by a
 * ModRM. */
static const char two_bytes[] = "mmmm-.....-.-m.b"
                                "mmmmmmmmmmmmmmmm"
                                "mmmm----mmmmmmmm"
                                "......-.p-p-----"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "bbbbmmm.mmmmmmmm"
                                "jjjjjjjjjjjjjjjj"
                                "mmmmmmmmmmmmmmmm"
                                "...mbmmm...mbmmm"
                                "mmmmmmmmmmbmmmmm"
                                "mmbmbbbm........"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm"
                                "mmmmmmmmmmmmmmmm";

/* An instruction being decoded. */
typedef struct
{
  const uint8_t *p; /* end of the decoded part */
  uint8_t rex;
  bool narrow; /* operands have 16 bits */
  bool short_address;
  uint8_t opcode;
  /* Fields of the ModRM byte. */
  uint8_t mod;
  uint8_t reg;
  uint8_t rm;
  uint8_t base; /* from a SIB byte without an index: base; otherwise 255 */
  int32_t displacement;
} Parts;

static int32_t
read_i32 (const uint8_t *p)
{
  int32_t value;

  memcpy (&value, p, 4);
  return value;
}

static void
read_modrm (Parts *parts)
{
  uint8_t modrm = *parts->p++;
  uint8_t rm = modrm & 7;
  bool wide;

  parts->mod = modrm >> 6;
  parts->reg = (uint8_t)((modrm >> 3 & 7) | (parts->rex & REX_R ? 8 : 0));
  parts->rm = (uint8_t)(rm | (parts->rex & REX_B ? 8 : 0));
  parts->base = FLAM_UNWIND_NO_REG;
  parts->displacement = 0;
  if (parts->mod == 3)
    return;
  wide = parts->mod == 2 || (parts->mod == 0 && rm == 5);
  if (rm == 4)
    {
      uint8_t sib = *parts->p++;

      wide |= parts->mod == 0 && (sib & 7) == 5;
      if ((sib >> 3 & 7) == 4)
        parts->base = (uint8_t)((sib & 7) | (parts->rex & REX_B ? 8 : 0));
    }
  else if (parts->mod != 0 || rm != 5)
    parts->base = parts->rm;
  if (wide)
    {
      parts->displacement = read_i32 (parts->p);
      parts->p += 4;
    }
  else if (parts->mod == 1)
    parts->displacement = (int8_t)*parts->p++;
}

/* Skips the bytes after the opcode. False: not valid. */
static bool
read_operands (Parts *parts, char form)
{
  unsigned word = parts->narrow ? 2 : 4;

  if (form == 'm' || form == 'b' || form == 'z' || form == 't')
    read_modrm (parts);
  switch (form)
    {
    case '.':
    case 'm':
      return true;
    case 'i':
    case 'b':
      parts->p += 1;
      return true;
    case 'w':
    case 'z':
      parts->p += word;
      return true;
    case 'j':
      parts->p += 4;
      return true;
    case 'h':
      parts->p += 2;
      return true;
    case 'e':
      parts->p += 3;
      return true;
    case 'q':
      parts->p += parts->rex & REX_W ? 8 : word;
      return true;
    case 'o':
      parts->p += parts->short_address ? 4 : 8;
      return true;
    case 't':
      if ((parts->reg & 7) < 2)
        parts->p += parts->opcode & 1 ? word : 1;
      return true;
    default:
      return false;
    }
}

static bool
skip_prefixes (Parts *parts, const uint8_t *end)
{
  for (; parts->p < end; parts->p++)
    switch (*parts->p)
      {
      case 0x66:
        parts->narrow = true;
        break;
      case 0x67:
        parts->short_address = true;
        break;
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x64:
      case 0x65:
      case 0xf0:
      case 0xf2:
      case 0xf3:
        break;
      default:
        if ((*parts->p & 0xf0) == 0x40)
          parts->rex = *parts->p++;
        return true;
      }
  return false;
}

/* --- effect on the stack -------------------------------------------------- */

static void
lose_if (FlamInstruction *out, bool lost)
{
  if (lost)
    out->effect = FLAM_STACK_LOST;
}

static void
set (FlamInstruction *out, FlamStackEffect effect, int32_t delta, uint8_t reg)
{
  out->effect = (uint8_t)effect;
  out->delta = delta;
  out->reg = reg;
}

/* 89, 8B, 8D: mov and lea. */
static void
judge_move (const Parts *parts, FlamInstruction *out)
{
  bool wide = parts->rex & REX_W;
  bool to_reg = parts->opcode != 0x89;
  uint8_t to = to_reg ? parts->reg : parts->rm;
  uint8_t from = to_reg ? parts->rm : parts->reg;

  if (parts->opcode == 0x8d)
    {
      if (parts->reg == RSP && wide && parts->base == RSP)
        set (out, FLAM_STACK_MOVE, parts->displacement, FLAM_UNWIND_NO_REG);
      else if (parts->reg == RSP && wide && parts->base == RBP)
        set (out, FLAM_STACK_FROM_FRAME, parts->displacement, RBP);
      else if (parts->reg == RSP && wide && parts->base != FLAM_UNWIND_NO_REG)
        set (out, FLAM_STACK_RESTORE, parts->displacement, parts->base);
      else if (wide && parts->base == RSP)
        set (out,
             parts->reg == RBP ? FLAM_STACK_FRAME : FLAM_STACK_COPY,
             parts->displacement,
             parts->reg);
      else
        lose_if (out, parts->reg == RSP);
    }
  else if (parts->mod != 3)
    {
      out->by_frame = parts->base == RBP;
      if (wide && (parts->base == RSP || parts->base == RBP))
        set (out,
             to_reg ? FLAM_STACK_LOAD : FLAM_STACK_STORE,
             parts->displacement,
             parts->reg);
      else
        lose_if (out, to_reg && parts->reg == RSP);
    }
  else if (wide && to == RBP && from == RSP)
    set (out, FLAM_STACK_FRAME, 0, RBP);
  else if (wide && to == RSP && from == RBP)
    set (out, FLAM_STACK_FROM_FRAME, 0, RBP);
  else if (wide && to == RSP && from != RSP)
    set (out, FLAM_STACK_RESTORE, 0, from);
  else if (wide && from == RSP && to != RSP)
    set (out, FLAM_STACK_COPY, 0, to);
  else
    lose_if (out, to == RSP);
}

/* 81 and 83: add, or, adc, sbb, and, sub, xor, cmp of a constant. */
static void
judge_constant (const Parts *parts, FlamInstruction *out)
{
  int32_t value =
      parts->opcode == 0x81 ? read_i32 (parts->p - 4) : (int8_t)parts->p[-1];
  unsigned what = parts->reg & 7;

  if (parts->mod != 3 || parts->rm != RSP || what == 7)
    return;
  if (!(parts->rex & REX_W) || value == INT32_MIN)
    out->effect = FLAM_STACK_LOST;
  else if (what == 4 && value < 0 && (-value & (-value - 1)) == 0)
    set (out, FLAM_STACK_ALIGN, -value, FLAM_UNWIND_NO_REG);
  else if (what != 0 && what != 5)
    out->effect = FLAM_STACK_LOST;
  else
    set (out, FLAM_STACK_MOVE, what == 0 ? value : -value, FLAM_UNWIND_NO_REG);
}

static void
judge_indirect (const Parts *parts, FlamInstruction *out)
{
  switch (parts->reg & 7)
    {
    case 2:
    case 3:
      out->calls = true;
      break;
    case 4:
    case 5:
      out->ends = out->indirect = true;
      break;
    case 6:
      out->effect = FLAM_STACK_PUSH;
      break;
    default:
      lose_if (out,
               parts->mod == 3 && parts->rm == RSP && (parts->reg & 7) < 2);
      break;
    }
}

static void
judge (const Parts *parts, FlamInstruction *out)
{
  uint8_t op = parts->opcode;
  uint8_t low = (uint8_t)((op & 7) | (parts->rex & REX_B ? 8 : 0));
  bool to_rm = parts->mod == 3 && parts->rm == RSP;

  if (op >= 0x50 && op <= 0x57)
    set (out, FLAM_STACK_PUSH, 0, low);
  else if (op >= 0x58 && op <= 0x5f)
    set (out, low == RSP ? FLAM_STACK_LOST : FLAM_STACK_POP, 0, low);
  else if (op == 0x68 || op == 0x6a || op == 0x9c)
    out->effect = FLAM_STACK_PUSH;
  else if (op == 0x9d || op == 0x8f)
    out->effect = FLAM_STACK_POP;
  else if (op < 0x38 && ((op & 7) == 1 || (op & 7) == 3)) /* add ... xor */
    lose_if (out, op & 2 ? parts->reg == RSP : to_rm);
  else if (op == 0x81 || op == 0x83)
    judge_constant (parts, out);
  else if (op == 0x89 || op == 0x8b || op == 0x8d)
    judge_move (parts, out);
  else if (op == 0x87)
    lose_if (out, parts->reg == RSP || to_rm);
  else if (op >= 0x91 && op <= 0x97)
    lose_if (out, low == RSP);
  else if (op >= 0xb8 && op <= 0xbf)
    lose_if (out, low == RSP);
  else if (op == 0x63 || op == 0x69 || op == 0x6b)
    lose_if (out, parts->reg == RSP);
  else if (op == 0xc7 || op == 0xc1 || op == 0xd1 || op == 0xd3)
    lose_if (out, to_rm);
  else if (op == 0xc9)
    out->effect = FLAM_STACK_LEAVE;
  else if (op == 0xc8)
    out->effect = FLAM_STACK_LOST;
  else if (op == 0xff)
    judge_indirect (parts, out);
  if (parts->narrow &&
      (out->effect == FLAM_STACK_PUSH || out->effect == FLAM_STACK_POP))
    out->effect = FLAM_STACK_LOST;
}

/* The registers that each one-byte opcode writes. The results of pops and of
 * copies of rsp are in the effect instead:
 *
 *   .  nothing                        m  rm, if it is a register
 *   r  reg                            x  both
 *   l  the one in the opcode          X  that and rax
 *   a  rax      d  rdx                s  rcx, rsi, rdi: strings
 *   c  rm, but not as a comparison    g  by reg: nothing, rm or rax and rdx
 *   i  rm if reg < 2 */
static const char written_by[] = "mmrraa..mmrraa.."
                                 "mmrraa..mmrraa.."
                                 "mmrraa..mmrraa.."
                                 "mmrraa.........."
                                 "................"
                                 "................"
                                 "...r.....r.r...."
                                 "................"
                                 "cc.c..xxmmrrmr.m"
                                 ".XXXXXXXad......"
                                 "aa..ssss..ssss.."
                                 "llllllllllllllll"
                                 "mm....mm........"
                                 "mmmm............"
                                 "................"
                                 "......gg......ii";

/* Without REX, the registers 4 to 7 of a byte are ah, ch, dh and bh. */
static unsigned
bit_of (const Parts *parts, unsigned reg, bool is_byte)
{
  return 1u << (is_byte && parts->rex == 0 && reg >= 4 ? reg - 4 : reg);
}

static unsigned
written (const Parts *parts)
{
  uint8_t op = parts->opcode;
  bool is_byte = op % 2 == 0 && (op < 0x90 || op >= 0xb0) && op >> 3 != 0x17;
  unsigned low =
      bit_of (parts, (op & 7) | (parts->rex & REX_B ? 8 : 0), is_byte);
  unsigned reg = bit_of (parts, parts->reg, is_byte);
  unsigned rm = parts->mod == 3 ? bit_of (parts, parts->rm, is_byte) : 0;
  unsigned what = parts->reg & 7;

  switch (written_by[op])
    {
    case 'm':
      return rm;
    case 'r':
      return reg;
    case 'x':
      return reg | rm;
    case 'l':
      return low;
    case 'X':
      return low | 1 << RAX;
    case 'a':
      return 1 << RAX;
    case 'd':
      return 1 << RDX;
    case 's':
      return 1 << RCX | 1 << RSI | 1 << RDI;
    case 'c':
      return what != 7 ? rm : 0;
    case 'g':
      return what < 2 ? 0 : what < 4 ? rm : 1 << RAX | 1 << RDX;
    case 'i':
      return what < 2 ? rm : 0;
    default:
      return 0;
    }
}

/* The same for the opcodes after 0F. */
static unsigned
written_two (const Parts *parts)
{
  uint8_t op = parts->opcode;
  unsigned reg = 1u << parts->reg;

  if ((op & 0xf0) == 0x40 || op == 0xaf || (op >= 0xb6 && op <= 0xb8) ||
      (op >= 0xbc && op <= 0xbf))
    return reg;
  if ((op & 0xf0) == 0x90 && parts->mod == 3)
    return bit_of (parts, parts->rm, true);
  if (op == 0xa2)
    return 1 << RAX | 1 << RCX | 1 << RDX | 1 << RBX;
  return op >= 0xc8 && op <= 0xcf
             ? 1u << ((op & 7) | (parts->rex & REX_B ? 8 : 0))
             : 0;
}

static void
follow (const Parts *parts, FlamInstruction *out)
{
  uint8_t op = parts->opcode;

  if (op == 0xc3 || op == 0xc2 || op == 0xcc || op == 0xf4 || op == 0xcb ||
      op == 0xca || op == 0xcf)
    {
      out->ends = true;
      out->traps = op == 0xcc || op == 0xf4;
    }
  else if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3) ||
           op == 0xeb)
    {
      out->branches = true;
      out->ends = op == 0xeb;
      out->target = (int8_t)parts->p[-1];
    }
  else if (op == 0xe8)
    {
      out->calls = true;
      out->target = read_i32 (parts->p - 4);
    }
  else if (op == 0xe9)
    {
      out->branches = out->ends = true;
      out->target = read_i32 (parts->p - 4);
    }
}

/* --- the maps of opcodes ---------------------------------------------------
 */

static bool
decode_two (Parts *parts, FlamInstruction *out)
{
  uint8_t op = parts->opcode = *parts->p++;
  char form = two_bytes[op];

  if (form == 'p') /* 0F 38, 0F 3A */
    {
      parts->p++;
      return read_operands (parts, op == 0x38 ? 'm' : 'b');
    }
  if (!read_operands (parts, form))
    return false;
  if (form == 'j')
    {
      out->branches = true;
      out->target = read_i32 (parts->p - 4);
    }
  out->ends = out->traps = op == 0x0b;
  out->writes = (uint16_t)written_two (parts);
  lose_if (out, (op & 0xf0) == 0x40 && parts->reg == RSP && parts->rex & REX_W);
  return true;
}

/* AMD's vector instructions: separate maps, with a prefix like VEX. */
static bool
decode_xop (Parts *parts)
{
  unsigned map = parts->p[1] & 31;

  parts->p += 4;
  return map <= 10 && read_operands (parts, "bmz"[map - 8]);
}

/* VEX and EVEX use the maps of 0F, 0F 38 and 0F 3A; none of their instructions
 * writes rsp in practice. */
static bool
decode_vector (Parts *parts)
{
  uint8_t first = *parts->p++;
  unsigned map = 1;
  uint8_t op;

  if (first == 0xc5)
    parts->p += 1;
  else
    {
      map = first == 0xc4 ? parts->p[0] & 31 : parts->p[0] & 7;
      parts->p += first == 0xc4 ? 2 : 3;
    }
  op = *parts->p++;
  if (map == 1 && op == 0x77 && first != 0x62) /* vzeroupper */
    return true;
  return map >= 1 && map != 4 && map != 7 && map < 8 &&
         read_operands (
             parts, map == 3 || (map == 1 && two_bytes[op] == 'b') ? 'b' : 'm');
}

bool
flam_unwind_decode (const uint8_t *code,
                    size_t left,
                    FlamInstruction *instruction)
{
  /* The length of the longest instruction, and how far an operand may reach
   * beyond it. */
  uint8_t bytes[LONGEST + 17] = { 0 };
  Parts parts = { .p = bytes };
  FlamInstruction out = { .reg = FLAM_UNWIND_NO_REG };
  size_t length;
  bool good;

  memcpy (bytes, code, left < LONGEST ? left : LONGEST);
  if (!skip_prefixes (&parts, bytes + LONGEST - 1))
    return false;
  if (*parts.p == 0xc4 || *parts.p == 0xc5 || *parts.p == 0x62)
    good = decode_vector (&parts);
  else if (*parts.p == 0x8f && (parts.p[1] & 31) >= 8)
    good = decode_xop (&parts);
  else if (*parts.p == 0x0f)
    {
      parts.p++;
      good = decode_two (&parts, &out);
    }
  else
    {
      parts.opcode = *parts.p++;
      good = read_operands (&parts, one_byte[parts.opcode]);
      if (good)
        {
          judge (&parts, &out);
          out.writes = (uint16_t)written (&parts);
          follow (&parts, &out);
        }
    }
  length = (size_t)(parts.p - bytes);
  if (!good || length > LONGEST || length > left)
    return false;
  out.length = (uint8_t)length;
  *instruction = out;
  return true;
}
