/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pypy.h"

#include "flam-call-site.h"

#define FRAME_WORDS 23
#define SAVED_BP 12
#define SAVED_BX 13
#define MORE_WORDS 16
#define CODE_MAX (1ull << 28) /* bytes */

gboolean
flam_pypy_find (const FlamElf *elf,
                int fd,
                const char *path,
                FlamRuntimeFile *file)
{
  g_autofree char *base = g_path_get_basename (path);
  FlamPyPyFile facts = { 0 };
  FlamElfSection text;

  (void)fd;
  if (!g_str_has_prefix (base, "libpypy") ||
      flam_elf_get_machine (elf) != EM_X86_64 ||
      !flam_elf_get_section (elf, ".text", &text))
    return FALSE;
  facts.text = (FlamRuntimeRange){ text.vaddr, text.vaddr + text.size };
  file->facts = g_memdup2 (&facts, sizeof facts);
  return TRUE;
}

static void
restore (const FlamRuntimeMemory *memory,
         FlamRuntimeRegs *caller,
         guint reg,
         guint64 at)
{
  if (flam_runtime_read_u64 (memory, at, &caller->general[reg]))
    caller->known |= 1u << reg;
}

/* Whether the address follows a call and is in the library, which may also jump
 * to compiled code from a function that was called, or in compiled code, all of
 * which is close together. */
static gboolean
returns_to (const FlamPyPyFile *file,
            const FlamRuntimeMemory *memory,
            guint64 base,
            guint64 pc,
            guint64 address)
{
  gboolean in_library =
      address - base - file->text.start < file->text.end - file->text.start;

  return (in_library || address - pc + CODE_MAX < 2 * CODE_MAX) &&
         flam_call_site_kind (memory, address) != FLAM_CALL_NONE;
}

gboolean
flam_pypy_step (const FlamPyPyFile *file,
                const FlamRuntimeMemory *memory,
                guint64 base,
                const FlamRuntimeRegs *regs,
                FlamRuntimeRegs *caller)
{
  guint64 frame = regs->general[FLAM_RUNTIME_RSP];

  for (guint i = 0; i < MORE_WORDS; i++, frame += 8)
    {
      guint64 pc;

      if (!flam_runtime_read_u64 (memory, frame + 8 * FRAME_WORDS, &pc))
        return FALSE;
      if (!returns_to (file, memory, base, regs->pc, pc))
        continue;
      *caller = (FlamRuntimeRegs){ .pc = pc };
      caller->general[FLAM_RUNTIME_RSP] = frame + 8 * (FRAME_WORDS + 1);
      caller->known = 1u << FLAM_RUNTIME_RSP;
      restore (memory, caller, FLAM_RUNTIME_RBP, frame + 8 * SAVED_BP);
      restore (memory, caller, FLAM_RUNTIME_RBX, frame + 8 * SAVED_BX);
      return TRUE;
    }
  return FALSE;
}
