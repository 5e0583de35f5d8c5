/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-haskell.h"

#include <string.h>

#include "flam-code-ranges.h"
#include "flam-symbol-table.h"

/* An info table, right before its code: the layout, the type. */
#define INFO_SIZE 16
#define INFO_TYPE 8

/* The types of frames, counted from that of the last frame. */
#define STOP_TO_BCO 7
#define STOP_TO_BIG 5
#define STOP_TO_FUNCTION 4
#define STOP_TO_UPDATE 3
#define STOP_TO_UNDERFLOW 1
#define STOP_TO_LAST 10 /* the types of transactions follow */

#define BITMAP_SIZE_MASK 63u
#define BCO_BITMAP 40
#define STACK_SP 16 /* of the object that is a part of a stack */
#define FRAME_MAX (1u << 20)

/* In StgRun's frame, below the return address. */
#define SAVED_SIZE 48

#define SEARCH_MAX (48u << 10)
#define SEARCH_PIECE 512
#define NEAR (64u << 20) /* from StgRun to its caller */
#define FIRST_CODE 0x10000u
#define TRIES_MAX 1024
#define C_MAX 8192 /* stack of functions in C, for a kept anchor */
#define CHECKED 4  /* frames by which a stack is recognized */
#define SKIPPED 64 /* words above the first frame: arguments */
#define FRAMES_MAX (1u << 20)

/* --- the file ------------------------------------------------------------ */

/* StgRun: sub rsp, 48; mov rax, rsp; sub rsp, N; mov [rax], rbx; mov [rax + 8],
 * rbp. */
static gboolean
decode (const FlamElf *elf, FlamHaskellFile *haskell)
{
  static const guint8 begin[] = { 0x48, 0x83, 0xec, SAVED_SIZE, 0x48,
                                  0x89, 0xe0, 0x48, 0x81,       0xec };
  static const guint8 end[] = { 0x48, 0x89, 0x18, 0x48, 0x89, 0x68, 0x08 };
  gsize n;
  const guint8 *code = flam_elf_bytes (elf, haskell->run.start, &n);

  if (code == NULL || n < sizeof begin + 4 + sizeof end ||
      memcmp (code, begin, sizeof begin) != 0 ||
      memcmp (code + sizeof begin + 4, end, sizeof end) != 0)
    return FALSE;
  haskell->frame = flam_runtime_u32 (code, sizeof begin) + SAVED_SIZE;
  return haskell->frame < SEARCH_MAX / 2;
}

static void
read_version (const FlamElf *elf, FlamRuntimeFile *file)
{
  static const char mark[] = "GHC ";
  FlamElfSection comment;
  const char *at;

  if (!flam_elf_get_section (elf, ".comment", &comment) ||
      comment.data == NULL ||
      (at = memmem (comment.data, comment.size, mark, strlen (mark))) == NULL)
    return;
  at += strlen (mark);
  for (gsize i = 0; i + 1 < sizeof file->version &&
                    at + i < (const char *)comment.data + comment.size &&
                    (g_ascii_isdigit (at[i]) || at[i] == '.');
       i++)
    file->version[i] = at[i];
}

/* A program has a section of the linker; a shared runtime has a name. */
static gboolean
is_haskell (const FlamElf *elf, const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  FlamElfSection section;

  return flam_elf_get_machine (elf) == EM_X86_64 &&
         (g_str_has_prefix (base, "libHSrts") ||
          flam_elf_get_section (elf, ".debug-ghc-link-info", &section));
}

gboolean
flam_haskell_find (const FlamElf *elf,
                   int fd,
                   const char *path,
                   FlamRuntimeFile *file)
{
  g_autoptr (FlamCodeRanges) ranges = NULL;
  FlamHaskellFile haskell = { 0 };
  guint64 leave, stop, size;
  guint8 info[INFO_SIZE];
  FlamCodeRange run;

  if (!is_haskell (elf, path) ||
      !flam_elf_find_symbol (elf, "StgReturn", &leave, &size))
    return FALSE;
  read_version (elf, file);
  ranges = flam_code_ranges_new (elf);
  if (flam_code_ranges_find (ranges, leave, &run))
    haskell.run = (FlamRuntimeRange){ run.start, run.end };
  if (haskell.run.end == 0 || !decode (elf, &haskell) ||
      !flam_elf_find_symbol (elf, "stg_stop_thread_info", &stop, &size) ||
      flam_runtime_file_read (elf, fd, stop - sizeof info, info, sizeof info) !=
          sizeof info)
    {
      file->why = N_ ("the function that runs them was not found in the file");
      return TRUE;
    }
  haskell.stop = flam_runtime_u32 (info, INFO_TYPE);
  file->facts = g_memdup2 (&haskell, sizeof haskell);
  return TRUE;
}

/* --- the native stack ---------------------------------------------------- */

typedef struct
{
  const FlamHaskellFile *file;
  const FlamRuntimeMemory *memory;
  guint64 run; /* StgRun's address */
} Haskell;

static bool
is_near (const Haskell *haskell, guint64 word)
{
  return word >= FIRST_CODE && word - haskell->run + NEAR < 2 * (guint64)NEAR;
}

/* Whether a word is the address after a call of StgRun. */
static bool
is_anchor (const Haskell *haskell, guint64 word)
{
  guint8 call[5];

  return is_near (haskell, word) &&
         flam_runtime_read (
             haskell->memory, word - sizeof call, call, sizeof call) &&
         call[0] == 0xe8 &&
         word + (guint64)(gint64)(gint32)flam_runtime_u32 (call, 1) ==
             haskell->run;
}

/* The address from which StgRun's caller is called; 0: none. */
static guint64
find_anchor (const Haskell *haskell, guint64 sp)
{
  guint64 words[SEARCH_PIECE / 8];
  guint tries = 0;

  sp = (sp + 7) & ~7ull;
  for (gsize at = 0; at < SEARCH_MAX; at += sizeof words)
    {
      if (!flam_runtime_read (haskell->memory, sp + at, words, sizeof words))
        return 0;
      for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
        {
          if (!is_near (haskell, words[i]))
            continue;
          if (is_anchor (haskell, words[i]))
            return sp + at + 8 * i;
          if (tries++ == TRIES_MAX)
            return 0;
        }
    }
  return 0;
}

gboolean
flam_haskell_step (const FlamHaskellFile *file,
                   const FlamRuntimeMemory *memory,
                   guint64 base,
                   const FlamRuntimeRegs *regs,
                   FlamRuntimeRegs *caller)
{
  Haskell haskell = { file, memory, base + file->run.start };
  guint64 anchor = find_anchor (&haskell, regs->general[FLAM_RUNTIME_RSP]);
  guint64 saved[SAVED_SIZE / 8 + 1];

  if (anchor == 0 ||
      !flam_runtime_read (memory, anchor - SAVED_SIZE, saved, sizeof saved))
    return FALSE;
  *caller = (FlamRuntimeRegs){ .pc = saved[SAVED_SIZE / 8] };
  caller->general[FLAM_RUNTIME_RBX] = saved[0];
  caller->general[FLAM_RUNTIME_RBP] = saved[1];
  caller->general[FLAM_RUNTIME_RSP] = anchor + 8;
  caller->known =
      1u << FLAM_RUNTIME_RBX | 1u << FLAM_RUNTIME_RBP | 1u << FLAM_RUNTIME_RSP;
  return TRUE;
}

/* --- the Haskell stack --------------------------------------------------- */

typedef struct
{
  guint64 info;
  guint32 type;
  guint64 size; /* in words */
} Frame;

static bool
read_size (const Haskell *haskell, guint64 at, guint64 layout, Frame *frame)
{
  guint32 stop = haskell->file->stop;
  guint64 address, n = 0;

  frame->size = 1 + (layout & BITMAP_SIZE_MASK);
  if (frame->type == stop - STOP_TO_FUNCTION)
    {
      if (!flam_runtime_read_u64 (haskell->memory, at + 8, &n))
        return false;
      frame->size = 3 + n;
    }
  else if (frame->type == stop - STOP_TO_BIG)
    {
      if (!flam_runtime_read_u64 (haskell->memory, frame->info + layout, &n))
        return false;
      frame->size = 1 + n;
    }
  else if (frame->type == stop - STOP_TO_BCO)
    {
      if (!flam_runtime_read_u64 (haskell->memory, at + 8, &address) ||
          !flam_runtime_read_u64 (haskell->memory, address + BCO_BITMAP, &n))
        return false;
      frame->size = 2 + n;
    }
  return n < FRAME_MAX;
}

static bool
read_frame (const Haskell *haskell, guint64 at, Frame *frame)
{
  guint32 stop = haskell->file->stop;
  guint8 table[INFO_SIZE];

  if (at % 8 != 0 ||
      !flam_runtime_read_u64 (haskell->memory, at, &frame->info) ||
      frame->info % 8 != 0 || frame->info < 4096 ||
      !flam_runtime_read (
          haskell->memory, frame->info - INFO_SIZE, table, sizeof table))
    return false;
  frame->type = flam_runtime_u32 (table, INFO_TYPE);
  return frame->type >= stop - STOP_TO_BCO &&
         frame->type <= stop + STOP_TO_LAST &&
         read_size (haskell, at, flam_runtime_u64 (table, 0), frame);
}

/* The frame after `at`; 0: none. */
static guint64
next_frame (const Haskell *haskell, guint64 at, const Frame *frame)
{
  guint64 part, sp;

  if (frame->type == haskell->file->stop)
    return 0;
  if (frame->type != haskell->file->stop - STOP_TO_UNDERFLOW)
    return at + 8 * frame->size;
  return flam_runtime_read_u64 (haskell->memory, at + 8, &part) &&
                 flam_runtime_read_u64 (haskell->memory, part + STACK_SP, &sp)
             ? sp
             : 0;
}

static bool
is_stack (const Haskell *haskell, guint64 at)
{
  Frame frame;

  for (guint i = 0; i < CHECKED; i++)
    {
      if (!read_frame (haskell, at, &frame))
        return false;
      at = next_frame (haskell, at, &frame);
      if (at == 0)
        return true;
    }
  return true;
}

/* The first frame of the stack that rbp points to: above it are arguments, or
 * values of an unfinished frame. 0: none. */
static guint64
first_frame (const Haskell *haskell, guint64 sp)
{
  if (sp % 8 != 0 || sp < 4096)
    return 0;
  for (guint i = 0; i < SKIPPED; i++)
    if (is_stack (haskell, sp + 8 * i))
      return sp + 8 * i;
  return 0;
}

/* C keeps rbp, so it is still in the register or saved on the native stack. */
static guint64
search_stack (const Haskell *haskell, const FlamRuntimeRegs *regs, guint64 to)
{
  guint64 sp = regs->general[FLAM_RUNTIME_RSP];
  guint64 words[SEARCH_PIECE / 8];
  guint tries = 0;

  if (flam_runtime_knows (regs, FLAM_RUNTIME_RBP) &&
      is_stack (haskell, regs->general[FLAM_RUNTIME_RBP]))
    return regs->general[FLAM_RUNTIME_RBP];
  sp = (sp + 7) & ~7ull;
  for (guint64 at = sp; at < to && at - sp < SEARCH_MAX; at += sizeof words)
    {
      gsize n = MIN (sizeof words, to - at);

      if (!flam_runtime_read (haskell->memory, at, words, n))
        return 0;
      for (gsize i = 0; i < n / 8; i++)
        {
          if (words[i] % 8 != 0 || words[i] < 4096 || words[i] >> 47 != 0)
            continue;
          if (tries++ == TRIES_MAX)
            return 0;
          if (is_stack (haskell, words[i]))
            return words[i];
        }
    }
  return 0;
}

/* Whether a call ends at this address. */
static bool
follows_call (const Haskell *haskell, guint64 address)
{
  guint8 code[5];

  return address >= 4096 &&
         flam_runtime_read (
             haskell->memory, address - sizeof code, code, sizeof code) &&
         (code[0] == 0xe8 || (code[3] == 0xff && (code[4] & 0xf8) == 0xd0));
}

/* Where Haskell code called C, which is right below StgRun's frame, or below a
 * word that aligns the stack; 0: not found. */
static guint64
calling_code (const Haskell *haskell, guint64 below)
{
  guint64 address;

  for (guint i = 1; i <= 2; i++)
    if (flam_runtime_read_u64 (haskell->memory, below - 8 * i, &address) &&
        follows_call (haskell, address))
      return address - 1;
  return 0;
}

gsize
flam_haskell_walk (const FlamHaskellFile *file,
                   const FlamRuntimeMemory *memory,
                   guint64 base,
                   const FlamRuntimeRegs *regs,
                   guint64 kept[FLAM_HASKELL_KEPT],
                   FlamRuntimeEntry *entries,
                   gsize limit)
{
  Haskell haskell = { file, memory, base + file->run.start };
  guint64 sp = regs->general[FLAM_RUNTIME_RSP], pc = regs->pc;
  guint64 anchor = kept[0], word, at, code;
  gsize n = 0;

  if (pc - haskell.run < file->run.end - file->run.start)
    return 0;
  if (anchor < sp || anchor - sp > file->frame + C_MAX ||
      !flam_runtime_read_u64 (memory, anchor, &word) ||
      !is_anchor (&haskell, word))
    anchor = find_anchor (&haskell, sp);
  if (anchor == 0)
    return 0;
  kept[0] = anchor;
  if (sp >= anchor - file->frame)
    {
      code = flam_runtime_knows (regs, FLAM_RUNTIME_RBP) ? pc : 0;
      at = first_frame (&haskell, regs->general[FLAM_RUNTIME_RBP]);
    }
  else
    {
      code = calling_code (&haskell, anchor - file->frame);
      at = search_stack (&haskell, regs, anchor - file->frame);
    }
  if (code != 0 && n < limit)
    entries[n++] = (FlamRuntimeEntry){ .function = code };
  for (guint i = 0; at != 0 && i < FRAMES_MAX && n < limit; i++)
    {
      Frame frame;

      if (!read_frame (&haskell, at, &frame))
        break;
      if (frame.type < file->stop - STOP_TO_UPDATE)
        entries[n++] = (FlamRuntimeEntry){ .function = frame.info };
      at = next_frame (&haskell, at, &frame);
      if (frame.type == file->stop && n < limit)
        entries[n++] = (FlamRuntimeEntry){ .at = anchor };
    }
  return n;
}
