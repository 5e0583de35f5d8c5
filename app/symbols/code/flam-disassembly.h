/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One function's machine code, an instruction a row, with what each cost and
 * where in the source it comes from:
 *
 *   profile's frame: module + address
 *      │ FlamBinaries: where is the file?
 *      ▼
 *   FlamSymbolTable: [start, end) of the function that is linked there
 *      │ bytes of the file
 *      ▼
 *   libcapstone: address, size, text, target      ◀── rows of
 *   FlamSymbolModule: file, line, what was inlined     flam_addresses_new()
 *
 * A caller's frame has the address of its return - 1, which lies inside the
 * call: an instruction has what its bytes have, wherever in them. Immutable
 * once made. */

#include "flam-lines.h"

typedef enum
{
  FLAM_SYNTAX_INTEL,
  FLAM_SYNTAX_ATT,
} FlamSyntax;

typedef enum
{
  FLAM_INSTRUCTION_PLAIN,
  FLAM_INSTRUCTION_JUMP,
  FLAM_INSTRUCTION_CALL,
  FLAM_INSTRUCTION_RETURN,
} FlamInstructionKind;

typedef struct
{
  guint64 address; /* the file's own (vaddr) */
  guint size;
  const char *mnemonic;
  const char *operands;
  FlamInstructionKind kind;
  guint64 target;       /* of a direct jump or call; 0: not known */
  guint32 jump;         /* the row that it jumps to, FLAM_NONE: none here */
  const char *callee;   /* name of the function at a call's target, or NULL */
  const char *file;     /* of the line, or "" */
  guint32 line;         /* 0 unknown */
  const char *function; /* innermost, inlined ones too */
  gint64 self;
  gint64 total;
} FlamInstruction;

typedef struct
{
  char *path;           /* of the file here */
  const char *function; /* as linked and shown */
  guint64 start, end;   /* vaddr */
  FlamSyntax syntax;
  guint n;
  FlamInstruction *instructions;
  gint64 self;  /* of all instructions; */
  gint64 total; /* stacks through any, each once */
  GStringChunk *strings;
} FlamDisassembly;

typedef struct
{
  FlamSyntax syntax;
  const char *const *binaries; /* see FlamSymbolOptions */
  const char *root;
} FlamDisassemblyOptions;

/* The function that holds `frame` of the profile: the one that is linked,
 * where the frame's own was inlined. FLAM_ERROR_UNSUPPORTED: the frame has no
 * address, its code lies in no file, or the machine is not supported;
 * FLAM_ERROR_SYSTEM: the file is not here, and why. */
FlamDisassembly *flam_disassembly_new (const FlamWeights *weights,
                                       const FlamSelection *selection,
                                       FlamId frame,
                                       const FlamDisassemblyOptions *options,
                                       const FlamProgress *progress,
                                       GError **error);
void flam_disassembly_free (FlamDisassembly *disassembly);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDisassembly, flam_disassembly_free)

/* Whether a heading with the line stands before this row: its place is
 * another than the row's before. */
gboolean flam_disassembly_is_new_line (const FlamDisassembly *disassembly,
                                       guint row);

/* Jumps within the function as arrows in lanes, the innermost in lane 0: bit
 * per lane of what passes the upper and the lower half of each row, what
 * begins in it and what ends. Of jumps that more than the lanes would cross,
 * the longest are not drawn.
 *
 *   lane 1 0
 *    +-+---  je 3    from 0b01   below 0b01   (+: and passed by lane 1)
 *    | |
 *    | +-->  3:      to 0b01     above 0b01 */
#define FLAM_ARROW_LANES 6

typedef struct
{
  guint8 above, below, from, to;
} FlamArrows;

/* One a row; g_free. */
FlamArrows *flam_disassembly_arrows (const FlamDisassembly *disassembly);
