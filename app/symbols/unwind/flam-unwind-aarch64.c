/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* AArch64 code without call frame information, of which two kinds have frames
 * that are known by their instructions:
 *
 *   the signal trampoline    nop               a handler returns behind this
 *   (the kernel's vdso)      mov  x8, #139     rt_sigreturn
 *                            svc  #0
 *
 *   a stub of the PLT        adrp x16, ...     the caller's address is in x30
 *                            ldr  x17, [x16, ...]
 *                            add  x16, x16, ...
 *                            br   x17
 *
 * Everything else is followed by its frame pointer. */

#include "flam-unwind-scan.h"

#define NOP 0xd503201fu
#define MOV_X8_139 0xd2801168u
#define SVC_0 0xd4000001u
#define BR_X17 0xd61f0220u

static uint32_t
word_at (const uint8_t *code)
{
  uint32_t word;

  memcpy (&word, code, sizeof word);
  return word;
}

/* adrp x16; ldr x17, [x16, #N]; add x16, x16, #N; br x17 */
static bool
is_stub (const uint8_t *code)
{
  return (word_at (code) & 0x9f00001fu) == 0x90000010u &&
         (word_at (code + 4) & 0xffc003ffu) == 0xf9400211u &&
         (word_at (code + 8) & 0xff8003ffu) == 0x91000210u &&
         word_at (code + 12) == BR_X17;
}

static void
add_trampoline (uint32_t at, FlamUnwindAdd add, void *data)
{
  static const FlamUnwindRule rule = {
    .flags = FLAM_UNWIND_RULE_SIGNAL | FLAM_UNWIND_RULE_DEREF,
    .cfa_reg = FLAM_UNWIND_SP,
    .cfa = FLAM_UNWIND_SAVED_SP,
    .ra_where = FLAM_UNWIND_AT_REG,
    .ra_reg = FLAM_UNWIND_SP,
    .ra = FLAM_UNWIND_SAVED_REG (FLAM_UNWIND_PC),
    .bp_where = FLAM_UNWIND_AT_REG,
    .bp_reg = FLAM_UNWIND_SP,
    .bp = FLAM_UNWIND_SAVED_REG (FLAM_UNWIND_FP),
  };

  add (data, (FlamUnwindRow){ .pc = at, .how = FLAM_UNWIND_KIND_RULE }, &rule);
}

static const uint8_t *
code_of (const FlamUnwindSections *sections, uint32_t start, uint32_t end)
{
  for (unsigned i = 0; i < sections->n_segments; i++)
    {
      const FlamUnwindSegment *segment = &sections->segments[i];

      if (segment->code && start >= segment->offset &&
          end - segment->offset <= segment->size)
        return segment->code + (start - segment->offset);
    }
  return NULL;
}

void
flam_unwind_scan (const FlamUnwindSections *sections,
                  uint32_t start,
                  uint32_t end,
                  const FlamUnwindStarts *starts,
                  FlamUnwindAdd add,
                  void *data)
{
  const uint8_t *code = code_of (sections, start, end);
  uint32_t first = start + (-start & 3);

  if (code == NULL)
    return;
  for (uint32_t at = first; at < end && end - at >= 8; at += 4)
    {
      const uint8_t *word = code + (at - start);

      if (word_at (word) == MOV_X8_139 && word_at (word + 4) == SVC_0)
        {
          bool is_behind_nop = at > first && word_at (word - 4) == NOP;

          add_trampoline (is_behind_nop ? at - 4 : at, add, data);
          add (data, (FlamUnwindRow){ .pc = at + 8 }, NULL);
          at += 4;
        }
      else if (end - at >= 16 && is_stub (word))
        {
          add (data,
               (FlamUnwindRow){ .pc = at, .how = FLAM_UNWIND_KIND_SP },
               NULL);
          add (data, (FlamUnwindRow){ .pc = at + 16 }, NULL);
          at += 12;
        }
    }
}
