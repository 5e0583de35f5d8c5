/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_CFI_H
#define FLAM_UNWIND_CFI_H

/* Call frame information, only for flam-unwind-build.c: the entries of its
 * sections, and the interpreter, which runs the program of an FDE and emits one
 * row for each change. */

#include "flam-unwind-rows.h"

typedef struct
{
  const uint8_t *p;
  const uint8_t *end;
  bool bad; /* read past the end: all later values are 0 */
} FlamUnwindBytes;

uint8_t flam_unwind_read_u8 (FlamUnwindBytes *bytes);
uint16_t flam_unwind_read_u16 (FlamUnwindBytes *bytes);
uint32_t flam_unwind_read_u32 (FlamUnwindBytes *bytes);
uint64_t flam_unwind_read_u64 (FlamUnwindBytes *bytes);
uint64_t flam_unwind_read_uleb (FlamUnwindBytes *bytes);
int64_t flam_unwind_read_sleb (FlamUnwindBytes *bytes);
/* A view of the next `size` bytes, which are skipped. */
FlamUnwindBytes flam_unwind_read_view (FlamUnwindBytes *bytes, uint64_t size);

/* The location of a register's value, as defined by a program. */
typedef enum
{
  FLAM_CFI_UNSET, /* undefined: same value */
  FLAM_CFI_SAME,
  FLAM_CFI_UNDEFINED,
  FLAM_CFI_OFFSET,     /* at CFA + offset */
  FLAM_CFI_VALUE,      /* is CFA + offset */
  FLAM_CFI_REGISTER,   /* is in register `offset` */
  FLAM_CFI_EXPRESSION, /* at the expression's address */
  FLAM_CFI_VALUE_EXPRESSION,
} FlamCfiKind;

typedef struct
{
  FlamCfiKind kind;
  int64_t offset;
  FlamUnwindBytes expression;
} FlamCfiRule;

/* The supported columns: CFA, return address, frame pointer, and on
 * x86-64 rbx. */
typedef struct
{
  bool cfa_is_expression;
  uint64_t cfa_reg;
  int64_t cfa_offset;
  FlamUnwindBytes cfa_expression;
  FlamCfiRule ra;
  FlamCfiRule bp;
  FlamCfiRule bx;
} FlamCfiState;

typedef struct
{
  uint64_t offset; /* in its section; the key */
  uint64_t code_align;
  int64_t data_align;
  uint64_t ra_reg;
  uint8_t fde_encoding;
  bool has_augmentation; /* 'z': FDEs have augmentation data */
  bool signal_frame;     /* 'S' */
  bool valid;
  FlamCfiState initial;
} FlamCfiCie;

/* `state` is valid from `pc` on. False: stop. */
typedef bool (*FlamCfiEmit) (void *data,
                             uint64_t pc,
                             const FlamCfiState *state);

/* Runs `program` from `state`, pc from `*pc`. `initial` is NULL for a CIE's
 * program, which cannot move the pc. `budget` is reduced by every instruction.
 * False: not supported, or bad. */
bool flam_cfi_run (const FlamCfiCie *cie,
                   const FlamCfiState *initial,
                   FlamUnwindBytes program,
                   uint64_t pc,
                   FlamCfiState *state,
                   uint64_t *budget,
                   FlamCfiEmit emit,
                   void *data);

/* State -> row (all but pc) and, if `row->how` refers to one, rule. */
void flam_cfi_compress (const FlamCfiState *state,
                        bool signal_frame,
                        FlamUnwindRow *row,
                        FlamUnwindRule *rule);

/* --- flam-unwind-entries.c ------------------------------------------------ */

#define FLAM_CFI_CIES 64 /* kept at a time; linkers merge equal entries */

/* Iterates over the FDEs of a section. */
typedef struct
{
  const FlamUnwindSections *sections;
  const FlamUnwindSection *section; /* one of these */
  bool is_debug_frame;
  FlamUnwindBytes in;
  uint64_t budget;       /* number of instructions that may still be run */
  const FlamCfiCie *cie; /* of the FDE; NULL: not supported */
  FlamCfiCie cies[FLAM_CFI_CIES];
} FlamCfiReader;

void flam_cfi_reader_init (FlamCfiReader *reader,
                           const FlamUnwindSections *sections,
                           const FlamUnwindSection *section);
/* The FDE's bytes behind the id; false at the end of the section. */
bool flam_cfi_next_fde (FlamCfiReader *reader, FlamUnwindBytes *body);
/* The first pc of the FDE; the rest of `in` is its program. */
uint64_t flam_cfi_read_range (const FlamCfiReader *reader,
                              FlamUnwindBytes *in,
                              uint64_t *size);

#endif
