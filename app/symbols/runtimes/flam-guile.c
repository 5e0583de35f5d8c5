/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-guile.h"

#include <string.h>

#define WORDS 16 /* from rsp to the return address */

gboolean
flam_guile_find (const FlamElf *elf,
                 int fd,
                 const char *path,
                 FlamRuntimeFile *file)
{
  g_autofree char *base = g_path_get_basename (path);
  FlamGuileFile facts = { 0 };
  FlamElfSection text;

  (void)fd;
  if (!g_str_has_prefix (base, "libguile-3.") ||
      flam_elf_get_machine (elf) != EM_X86_64 ||
      !flam_elf_get_section (elf, ".text", &text))
    return FALSE;
  facts.text = (FlamRuntimeRange){ text.vaddr, text.vaddr + text.size };
  file->facts = g_memdup2 (&facts, sizeof facts);
  g_strlcpy (file->version, "3", sizeof file->version);
  return TRUE;
}

/* Whether the library calls code by an address right before this one. */
static bool
follows_call (const FlamGuileFile *file,
              const FlamRuntimeMemory *memory,
              guint64 base,
              guint64 address)
{
  guint64 at = address - base - file->text.start;
  guint8 code[6];

  if (at < sizeof code || at >= file->text.end - file->text.start ||
      !flam_runtime_read (memory, address - sizeof code, code, sizeof code))
    return false;
  /* call [rip + n]; call [register + n]; call register, or [register]. */
  return (code[0] == 0xff && (code[1] == 0x15 || (code[1] & 0xf8) == 0x90)) ||
         (code[3] == 0xff && (code[4] & 0xf8) == 0x50) ||
         (code[4] == 0xff &&
          ((code[5] & 0xf8) == 0xd0 || (code[5] & 0xf8) == 0x10));
}

gboolean
flam_guile_step (const FlamGuileFile *file,
                 const FlamRuntimeMemory *memory,
                 guint64 base,
                 const FlamRuntimeRegs *regs,
                 FlamRuntimeRegs *caller)
{
  guint64 sp = regs->general[FLAM_RUNTIME_RSP], word;

  for (guint i = 0; i < WORDS; i++)
    {
      if (!flam_runtime_read_u64 (memory, sp + 8 * i, &word))
        return FALSE;
      if (!follows_call (file, memory, base, word))
        continue;
      *caller = (FlamRuntimeRegs){ .pc = word };
      caller->general[FLAM_RUNTIME_RSP] = sp + 8 * (i + 1);
      caller->known = 1u << FLAM_RUNTIME_RSP;
      return TRUE;
    }
  return FALSE;
}
