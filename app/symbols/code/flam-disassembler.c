/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-disassembler.h"

#include <capstone.h>
#include <elf.h>
#include <string.h>

struct _FlamDisassembler
{
  csh engine;
  cs_insn *insn;
};

static gboolean
open_engine (guint16 machine, csh *engine)
{
  static const struct
  {
    guint16 machine;
    cs_arch arch;
    cs_mode mode;
  } machines[] = {
    { EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
    { EM_386, CS_ARCH_X86, CS_MODE_32 },
    { EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN },
    { EM_ARM, CS_ARCH_ARM, CS_MODE_ARM },
    { EM_PPC64, CS_ARCH_PPC, CS_MODE_64 },
    { EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (machines); i++)
    if (machines[i].machine == machine &&
        cs_open (machines[i].arch, machines[i].mode, engine) == CS_ERR_OK)
      return TRUE;
  return FALSE;
}

static FlamDisassembler *
disassembler_open (guint16 machine, FlamSyntax syntax)
{
  FlamDisassembler *disassembler;
  csh engine;

  if (!open_engine (machine, &engine))
    return NULL;
  cs_option (engine, CS_OPT_DETAIL, CS_OPT_ON);
  if (syntax == FLAM_SYNTAX_ATT)
    cs_option (engine, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
  disassembler = g_new0 (FlamDisassembler, 1);
  disassembler->engine = engine;
  disassembler->insn = cs_malloc (engine);
  return disassembler;
}

static FlamInstructionKind
kind_of (csh engine, const cs_insn *insn)
{
  if (cs_insn_group (engine, insn, CS_GRP_CALL))
    return FLAM_INSTRUCTION_CALL;
  if (cs_insn_group (engine, insn, CS_GRP_JUMP))
    return FLAM_INSTRUCTION_JUMP;
  if (cs_insn_group (engine, insn, CS_GRP_RET) ||
      cs_insn_group (engine, insn, CS_GRP_IRET))
    return FLAM_INSTRUCTION_RETURN;
  return FLAM_INSTRUCTION_PLAIN;
}

/* The target of a direct branch: the last number among the operands, on all
 * supported machines. */
static guint64
target_of (FlamInstructionKind kind, const char *operands)
{
  const char *number = strrchr (operands, ',');
  guint64 target;
  char *end;

  if (kind != FLAM_INSTRUCTION_JUMP && kind != FLAM_INSTRUCTION_CALL)
    return 0;
  number = number != NULL ? number + 1 : operands;
  number += strspn (number, " #");
  if (!g_str_has_prefix (number, "0x"))
    return 0;
  target = g_ascii_strtoull (number, &end, 16);
  return *end == '\0' ? target : 0;
}

static gboolean
disassembler_next (FlamDisassembler *disassembler,
                   FlamCode *code,
                   FlamInstruction *row)
{
  const cs_insn *insn = disassembler->insn;

  if (!cs_disasm_iter (disassembler->engine,
                       &code->bytes,
                       &code->left,
                       &code->address,
                       disassembler->insn))
    return FALSE;
  row->address = insn->address;
  row->size = insn->size;
  row->mnemonic = insn->mnemonic;
  row->operands = insn->op_str;
  row->kind = kind_of (disassembler->engine, insn);
  row->target = target_of (row->kind, row->operands);
  return TRUE;
}

static void
disassembler_free (FlamDisassembler *disassembler)
{
  cs_free (disassembler->insn, 1);
  cs_close (&disassembler->engine);
  g_free (disassembler);
}

extern const FlamDisassemblerFunctions flam_disassembler_functions;
__attribute__ ((visibility ("default")))
const FlamDisassemblerFunctions flam_disassembler_functions = {
  .open = disassembler_open,
  .next = disassembler_next,
  .free = disassembler_free,
};
