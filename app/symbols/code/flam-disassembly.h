/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DISASSEMBLY_H
#define FLAM_DISASSEMBLY_H

/* One function's machine code, one row per instruction, with its cost and its
 * source line:
 *
 *   profile's frame: module + address
 *      │ FlamBinaries: finds the file
 *      ▼
 *   FlamSymbolTable: [start, end) of the function linked there
 *      │ bytes of the file
 *      ▼
 *   libcapstone: address, size, text, target      ◀── rows of
 *   FlamSymbolModule: file, line, inlined functions    flam_addresses_new()
 *
 * A caller's frame has the address of its return - 1, which is inside the call:
 * the cost of an address is added to the instruction whose bytes contain it.
 * Constant after creation. */

#include "flam-core-query.h"

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
  guint64 target;       /* of a direct jump or call; 0: unknown */
  guint32 jump;         /* the row of its target, FLAM_NONE: outside */
  const char *callee;   /* name of the function at a call's target, or NULL */
  const char *file;     /* of the line, or "" */
  guint32 line;         /* 0: unknown */
  const char *function; /* innermost, inlined ones too */
  gint64 self;
  gint64 total;
  FlamJumpCount jumps; /* taken, to any target; { 0, -1 }: none are counted */
} FlamInstruction;

typedef struct
{
  char *path;           /* of the file on this machine */
  const char *function; /* as linked and shown */
  guint64 start, end;   /* vaddr */
  FlamSyntax syntax;
  guint n;
  FlamInstruction *instructions;
  gint64 self;           /* of all instructions; */
  gint64 total;          /* stacks through any, each once */
  gboolean counts_jumps; /* some are counted */
  GStringChunk *strings;
} FlamDisassembly;

typedef struct
{
  FlamSyntax syntax;
  const char *const *binaries; /* see FlamSymbolOptions */
  const char *root;
} FlamDisassemblyOptions;

/* The function that contains `frame` of the profile: the linked function if the
 * frame's own was inlined. FLAM_ERROR_UNSUPPORTED: the frame has no address,
 * its code is in no file, or the machine is not supported; FLAM_ERROR_SYSTEM:
 * the file was not found, with the reason. */
FlamDisassembly *flam_disassembly_new (const FlamWeights *weights,
                                       const FlamSelection *selection,
                                       FlamFrameId frame,
                                       const FlamDisassemblyOptions *options,
                                       const FlamProgress *progress,
                                       GError **error);
void flam_disassembly_free (FlamDisassembly *disassembly);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDisassembly, flam_disassembly_free)

/* Whether a heading with the line precedes this row: its source line differs
 * from that of the row before. */
gboolean flam_disassembly_is_new_line (const FlamDisassembly *disassembly,
                                       guint row);

/* Jumps within the function as arrows in lanes, the innermost in lane 0: one
 * bit per lane for the arrows through the upper and the lower half of each row,
 * and for those that begin and end in it. Where more arrows overlap than there
 * are lanes, the longest are not drawn.
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

/* One for each row; g_free. */
FlamArrows *flam_disassembly_arrows (const FlamDisassembly *disassembly);

#endif
