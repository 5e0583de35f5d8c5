/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DISASSEMBLER_H
#define FLAM_DISASSEMBLER_H

/* The interface of libflambeau-disassemble.so: the calls of libcapstone. */

#include "flam-disassembly.h"

#define FLAM_DISASSEMBLER_SYMBOL "flam_disassembler_functions"

typedef struct _FlamDisassembler FlamDisassembler;

typedef struct
{
  const guint8 *bytes; /* the rest of the code; */
  gsize left;
  guint64 address; /* its address */
} FlamCode;

typedef struct
{
  /* `machine` is ELF's; NULL: not supported. */
  FlamDisassembler *(*open) (guint16 machine, FlamSyntax syntax);
  /* Removes the first instruction from the code: address, size, kind, target
   * and text, which is valid until the next call. FALSE: there is none. */
  gboolean (*next) (FlamDisassembler *disassembler,
                    FlamCode *code,
                    FlamInstruction *row);
  void (*free) (FlamDisassembler *disassembler);
} FlamDisassemblerFunctions;

#endif
