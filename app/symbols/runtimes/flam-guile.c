/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-guile.h"

#include <string.h>

#include "flam-call-site.h"
#include "flam-code-ranges.h"
#include "flam-symbol-table.h"

#define WORDS 16 /* from rsp to the return address */

/* A thread, and its struct scm_vm. */
#define THREAD_IP 8
#define THREAD_FP 24
#define THREAD_TOP 96
#define THREAD_SIZE 104

/* Words of a frame; its first local is below it. */
#define FRAME_RETURN 8
#define FRAME_LINK 16
#define FRAME_SIZE 24
#define STACK_MAX (1ull << 32) /* bytes */

/* A function object: tag, address of its code. */
#define TYPE_MASK 0x7fu
#define TYPE_FUNCTION 0x45u

/* Subtracted from a return address, this leads into the call instruction. */
#define INSTRUCTION 4

#define CODE_MAX 1024 /* bytes of scm_call_n() */

/* The word at `vaddr` once the file is loaded. */
static guint64
relocated_word (const FlamElf *elf, guint64 vaddr)
{
  Elf *handle = flam_elf_get_handle (elf);

  for (Elf_Scn *section = elf_nextscn (handle, NULL); section != NULL;
       section = elf_nextscn (handle, section))
    {
      GElf_Shdr header;
      Elf_Data *data;
      GElf_Rela rela;

      if (!gelf_getshdr (section, &header) || header.sh_type != SHT_RELA ||
          !(header.sh_flags & SHF_ALLOC) ||
          (data = elf_getdata (section, NULL)) == NULL)
        continue;
      for (int i = 0; gelf_getrela (data, i, &rela); i++)
        if (rela.r_offset == vaddr &&
            GELF_R_TYPE (rela.r_info) == R_X86_64_RELATIVE)
          return (guint64)rela.r_addend;
    }
  return 0;
}

static void
add_part (FlamRuntimeFile *file, const FlamCodeRange *found)
{
  if (file->n_parts < FLAM_RUNTIME_RANGES_MAX)
    file->parts[file->n_parts++] =
        (FlamRuntimeRange){ found->start, found->end };
}

/* The engines that scm_call_n() calls by a table run frames for it. */
static void
add_engines (const FlamElf *elf,
             const FlamCodeRanges *ranges,
             guint64 table,
             FlamRuntimeFile *file)
{
  FlamCodeRange found;

  for (guint i = 0; i < 2; i++)
    if (flam_code_ranges_find (
            ranges, relocated_word (elf, table + 8 * i), &found))
      add_part (file, &found);
}

/* The call that enters compiled code, by an address in a variable:
 *
 *   ff 15 x   call *x(%rip), which does not call another library */
static void
add_entrance (const FlamElf *elf,
              const FlamCodeRanges *ranges,
              guint64 function,
              FlamRuntimeFile *file)
{
  FlamElfSection got;
  FlamCodeRange found;
  const guint8 *code;
  gsize n;

  if (!flam_code_ranges_find (ranges, function, &found) ||
      found.start != function ||
      (code = flam_elf_bytes (elf, function, &n)) == NULL ||
      !flam_elf_get_section (elf, ".got", &got))
    return;
  n = MIN (MIN (n, found.end - found.start), CODE_MAX);
  for (gsize i = 0; i + 6 <= n; i++)
    {
      gint32 x;

      memcpy (&x, code + i + 2, sizeof x);
      if (code[i] == 0xff && code[i + 1] == 0x15 &&
          function + i + 6 + (guint64)(gint64)x - got.vaddr >= got.size)
        {
          add_part (file, &found);
          return;
        }
    }
}

/* scm_call_n() loads the address of the boot code, whose instruction is 0
 * ("halt"), and that of the table of engines; it also enters compiled code:
 *
 *   48 8d 05 x   lea x(%rip), %rax
 *   e8 x         call x */
static void
read_call (const FlamElf *elf, FlamRuntimeFile *file, FlamGuileFile *facts)
{
  g_autoptr (FlamCodeRanges) ranges = flam_code_ranges_new (elf);
  const FlamRuntimeRange call = file->evaluators[0];
  FlamElfSection constants;
  gsize n, n_word;
  const guint8 *code = flam_elf_bytes (elf, call.start, &n);

  if (code == NULL || !flam_elf_get_section (elf, ".rodata", &constants))
    return;
  n = MIN (MIN (n, call.end - call.start), CODE_MAX);
  for (gsize i = 0; i + 7 <= n; i++)
    {
      gint32 x;
      guint64 at;
      const guint8 *word;

      if (code[i] == 0xe8)
        {
          memcpy (&x, code + i + 1, sizeof x);
          add_entrance (
              elf, ranges, call.start + i + 5 + (guint64)(gint64)x, file);
        }
      if (memcmp (code + i, "\x48\x8d\x05", 3) != 0)
        continue;
      memcpy (&x, code + i + 3, sizeof x);
      at = call.start + i + 7 + (guint64)(gint64)x;
      word = flam_elf_bytes (elf, at, &n_word);
      if (at - constants.vaddr >= constants.size)
        add_engines (elf, ranges, at, file);
      else if (word != NULL && n_word >= 4 && flam_runtime_u32 (word, 0) == 0)
        facts->boot = at;
    }
}

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
  if (flam_thread_variable_find (
          elf, "scm_i_current_thread", "scm_current_thread", &facts.thread) &&
      flam_runtime_file_add_evaluator (file, elf, "scm_call_n"))
    read_call (elf, file, &facts);
  file->facts = g_memdup2 (&facts, sizeof facts);
  g_strlcpy (file->version, "3", sizeof file->version);
  return TRUE;
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
      if (word - base - file->text.start >= file->text.end - file->text.start ||
          flam_call_site_kind (memory, word) != FLAM_CALL_POINTER)
        continue;
      *caller = (FlamRuntimeRegs){ .pc = word };
      caller->general[FLAM_RUNTIME_RSP] = sp + 8 * (i + 1);
      caller->known = 1u << FLAM_RUNTIME_RSP;
      return TRUE;
    }
  return FALSE;
}

/* --- the chain ----------------------------------------------------------- */

/* The code of the function in a frame's first local. */
static guint64
code_of (const FlamRuntimeMemory *memory, guint64 fp)
{
  guint64 object, words[2];

  if (!flam_runtime_read_u64 (memory, fp - 8, &object) || object % 8 != 0 ||
      !flam_runtime_read (memory, object, words, sizeof words) ||
      (words[0] & TYPE_MASK) != TYPE_FUNCTION || words[1] % 4 != 0)
    return 0;
  return words[1];
}

/* Frames between a call from C and the next one: the innermost one of all has
 * no address to return to in it, and the thread's ip may be an older one while
 * it runs compiled code. */
gsize
flam_guile_walk (const FlamGuileFile *file,
                 const FlamRuntimeMemory *memory,
                 guint64 base,
                 guint64 fs_base,
                 FlamRuntimeEntry *entries,
                 gsize limit)
{
  guint8 state[THREAD_SIZE];
  guint64 variable, thread, fp, top, code;
  gsize n = 0;

  if (file->boot == 0 ||
      !flam_thread_variable_address (
          &file->thread, memory, base, fs_base, &variable) ||
      !flam_runtime_read_u64 (memory, variable, &thread) ||
      !flam_runtime_read (memory, thread, state, sizeof state))
    return 0;
  fp = flam_runtime_u64 (state, THREAD_FP);
  top = flam_runtime_u64 (state, THREAD_TOP);
  if (fp % 8 != 0 || top % 8 != 0 || fp > top || top - fp > STACK_MAX)
    return 0;
  code = code_of (memory, fp);
  if (code == 0)
    code = flam_runtime_u64 (state, THREAD_IP);
  while (n + 1 < limit && fp < top)
    {
      guint8 frame[FRAME_SIZE];
      guint64 link, back;

      if (!flam_runtime_read (memory, fp, frame, sizeof frame))
        break;
      back = flam_runtime_u64 (frame, FRAME_RETURN);
      link = flam_runtime_u64 (frame, FRAME_LINK);
      if (code - base != file->boot)
        entries[n++] = (FlamRuntimeEntry){ .function = code };
      else if (n > 0)
        entries[n++] = (FlamRuntimeEntry){ 0 };
      if (link == 0 || link > (top - fp) / 8)
        break;
      fp += 8 * link;
      code = back - base == file->boot ? back : back - INSTRUCTION;
    }
  return n;
}
