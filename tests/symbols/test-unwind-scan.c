/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rows derived from the instructions of functions without CFI. The oracles are
 * objdump for the lengths of instructions, capstone for the registers that
 * they write, and the CFI of functions that have it for their effect on the
 * stack. */

#include "flam-symbol-table.h"
#include "flam-unwind-decode.h"
#include "flam-unwind-scan.h"

#include <capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

/* Functions made by hand. Labels mark the examined instructions. */
__asm__(".text\n"
        ".balign 16\n"
        "flam_scan_begin:\n"
        "flam_scan_leaf: add %edi, %esi\n"
        " mov %esi, %eax\n"
        " ret\n"
        ".balign 16, 0x90\n"
        "flam_scan_saves: push %rbp\n"
        " push %r12\n"
        " push %rbx\n"
        " sub $64, %rsp\n"
        "flam_scan_deep: test %edi, %edi\n"
        " je 2f\n"
        " add $64, %rsp\n"
        " pop %rbx\n"
        "flam_scan_popped: pop %r12\n"
        " pop %rbp\n"
        " ret\n"
        "2: inc %edi\n"
        "flam_scan_branch: jmp flam_scan_deep\n"
        ".balign 16, 0xcc\n"
        "flam_scan_stores: lea -40(%rsp), %rsp\n"
        " mov %rbp, 24(%rsp)\n"
        "flam_scan_stored: xor %ebp, %ebp\n"
        " vpxor %ymm1, %ymm2, %ymm3\n"
        " lea 40(%rsp), %rsp\n"
        " ret\n"
        ".nops 9\n"
        ".balign 16\n"
        "flam_scan_framed: push %rbp\n"
        " mov %rsp, %rbp\n"
        "flam_scan_frame: sub $32, %rsp\n"
        " leave\n"
        "flam_scan_left: ret\n"
        ".balign 16\n"
        "flam_scan_aligns: mov %rsp, %rax\n"
        " and $-64, %rsp\n"
        "flam_scan_aligned: mov %rax, %rsp\n"
        " ret\n"
        ".balign 16\n"
        "flam_scan_overwritten: mov %rsp, %rax\n"
        " push %rbx\n"
        " sub $-8, %rax\n"
        " mov %rax, %rsp\n"
        "flam_scan_unknown: ret\n"
        ".balign 16, 0x06\n"
        "flam_scan_bad: .byte 0x06, 0x06\n"
        ".balign 16, 0x06\n"
        "flam_scan_end: ret\n");

extern const guint8 flam_scan_begin[], flam_scan_leaf[], flam_scan_saves[],
    flam_scan_deep[], flam_scan_popped[], flam_scan_branch[],
    flam_scan_stores[], flam_scan_stored[], flam_scan_frame[], flam_scan_left[],
    flam_scan_aligned[], flam_scan_unknown[], flam_scan_bad[], flam_scan_end[];

static void
add_row (gpointer data, FlamUnwindRow row, const FlamUnwindRule *rule)
{
  g_array_append_val ((GArray *)data, row);
}

/* The last row at or before `pc`. */
static FlamUnwindRow
find_row (const GArray *rows, guint32 pc)
{
  FlamUnwindRow found = { 0 };

  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, FlamUnwindRow, i).pc <= pc)
      found = g_array_index (rows, FlamUnwindRow, i);
  return found;
}

static GArray *
scan (
    const guint8 *code, gsize size, guint32 from, guint32 to, gboolean compiled)
{
  FlamUnwindSegment segment = { .size = size, .code = code };
  FlamUnwindSections sections = { .segments = &segment, .n_segments = 1 };
  FlamUnwindStarts starts = { 0 };
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FlamUnwindRow));

  if (compiled)
    flam_unwind_starts_init (&starts, &sections);
  flam_unwind_scan (
      &sections, from, to, compiled ? &starts : NULL, add_row, rows);
  flam_unwind_starts_clear (&starts);
  return rows;
}

/* Compiled for size, without padding between two functions: each begins with
 * its return address on top, even after a function with a frame and a
 * switch. */
static void
test_packed (void)
{
  static const guint8 saves[] = { 0x53, 0x48, 0x83, 0xec, 0x20, 0x48,
                                  0x83, 0xc4, 0x20, 0x5b, 0xc3 };
  static const guint8 jumps[] = { 0x53, 0xff, 0xe0, 0x90, 0x5b, 0xc3 };
  enum
  {
    N = 100
  };
  g_autofree guint8 *code = g_malloc (N * sizeof saves + 16);
  g_autoptr (GArray) rows = NULL;
  guint32 at = 0;

  for (guint i = 0; i < N; i++, at += sizeof saves)
    memcpy (code + at, saves, sizeof saves);
  memset (code + at, 0x90, 16);
  memcpy (code + at, jumps, sizeof jumps);
  rows = scan (code, at + 16, 0, at + 16, TRUE);
  for (guint i = 0; i < N; i++)
    {
      guint32 begin = i * (guint32)sizeof saves;

      g_assert_cmpuint (find_row (rows, begin).cfa, ==, 1);
      g_assert_cmpuint (find_row (rows, begin + 1).cfa, ==, 2);
      g_assert_cmpuint (find_row (rows, begin + 5).cfa, ==, 6);
      g_assert_cmpuint (find_row (rows, begin + 10).cfa, ==, 1);
    }
  /* The targets of a switch table still belong to its function. */
  g_assert_cmpuint (find_row (rows, at + 3).cfa, ==, 2);
}

static guint
kind_at (const GArray *rows, guint32 pc)
{
  return find_row (rows, pc).how & 7;
}

/* What musl begins a program with, and the code to which its signal handlers
 * return. */
static void
test_outermost (void)
{
  static const guint8 start[] = {
    0x48, 0x31, 0xed,       /* xor %rbp, %rbp */
    0x48, 0x89, 0xe7,       /* mov %rsp, %rdi */
    0x48, 0x83, 0xe4, 0xf0, /* and $-16, %rsp */
    0xe8, 0x01, 0x00, 0x00, /* call */
    0x00, 0x90,             /* nop */
  };
  static const guint8 returns[] = {
    0x90,                                     /* nop */
    0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, /* mov $15, %rax */
    0x0f, 0x05,                               /* syscall */
    0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00,       /* padding */
  };
  static const guint8 saves[] = { 0x53, 0x48, 0x83, 0xec, 0x20, 0x48,
                                  0x83, 0xc4, 0x20, 0x5b, 0xc3 };
  guint8 code[64] = { 0 };
  g_autoptr (GArray) rows = NULL;

  memcpy (code, start, sizeof start);
  memcpy (code + 16, returns, sizeof returns);
  memset (code + 26, 0x90, 6);
  memcpy (code + 32, saves, sizeof saves);
  rows = scan (code, sizeof code, 0, sizeof code, TRUE);
  g_assert_cmpuint (kind_at (rows, 0), ==, FLAM_UNWIND_KIND_END);
  g_assert_cmpuint (kind_at (rows, 14), ==, FLAM_UNWIND_KIND_END);
  g_assert_cmpuint (kind_at (rows, 16), ==, FLAM_UNWIND_KIND_RULE);
  g_assert_cmpuint (kind_at (rows, 25), ==, FLAM_UNWIND_KIND_RULE);
  g_assert_cmpuint (find_row (rows, 32).cfa, ==, 1);
  g_assert_cmpuint (find_row (rows, 33).cfa, ==, 2);
  g_assert_cmpuint (find_row (rows, 42).cfa, ==, 1);
}

/* A function that ends with a call that does not return: musl's
 * libc_start_main_stage2(), and __libc_start_main(), which jumps. Another call
 * ends at a multiple of 16 as well, but the rest of its function follows. */
static void
test_no_return (void)
{
  static const guint8 code[64] = {
    0x41, 0x55, 0x41, 0x54, 0x55, 0x53,       /* push r13, r12, rbp, rbx */
    0x48, 0x83, 0xec, 0x08,                   /* sub $8, %rsp */
    0x90, 0xe8, 0x30, 0x00, 0x00, 0x00,       /* nop, call */
    0x89, 0xef, 0xff, 0xd3, 0x89, 0xc7,       /* mov, call *%rbx, mov */
    0x90, 0x90, 0xe8, 0x30, 0x00, 0x00, 0x00, /* call */
    0x0f, 0x1f, 0x00,                         /* padding */
    0x55, 0x90, 0xe8, 0x20, 0x00, 0x00, 0x00, /* push rbp, call */
    0x5d, 0xff, 0xe0,                         /* pop rbp, jmp *%rax */
  };
  g_autoptr (GArray) rows = scan (code, sizeof code, 0, sizeof code, TRUE);

  g_assert_cmpuint (find_row (rows, 16).cfa, ==, 6);
  g_assert_cmpuint (find_row (rows, 28).cfa, ==, 6);
  g_assert_cmpuint (find_row (rows, 32).cfa, ==, 1);
  g_assert_cmpuint (find_row (rows, 33).cfa, ==, 2);
}

/* Such a function before strlen() of musl 1.2.5, which jumps without a frame.
 * Its endbr64 marks it as a function; behind a call that returns twice, without
 * padding, it does not. */
static void
test_no_return_landing (void)
{
  static const guint8 code[48] = {
    0x53, 0x48, 0x83, 0xec, 0x10,                   /* push rbx, sub $16 */
    0x66, 0x90, 0x66, 0x90,                         /* nops */
    0xe8, 0x30, 0x00, 0x00, 0x00, 0x66, 0x90,       /* call, padding */
    0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xf8,       /* endbr64, mov */
    0xeb, 0x02, 0x66, 0x90, 0x48, 0x29, 0xf8, 0xc3, /* jmp, ..., sub, ret */
  };
  guint8 twice[48];
  g_autoptr (GArray) rows = scan (code, sizeof code, 0, sizeof code, TRUE);
  g_autoptr (GArray) others = NULL;

  g_assert_cmpuint (find_row (rows, 14).cfa, ==, 4);
  g_assert_cmpuint (find_row (rows, 16).cfa, ==, 1);
  memcpy (twice, code, sizeof code);
  memmove (twice + 11, twice + 9, 5);
  memcpy (twice + 9, "\x66\x90", 2);
  others = scan (twice, sizeof twice, 0, sizeof twice, TRUE);
  g_assert_cmpuint (find_row (others, 16).cfa, ==, 4);
}

/* musl's allocator stops the program where its heap is damaged, and its
 * compiler goes on behind that. */
static void
test_trap (void)
{
  static const guint8 code[48] = {
    0x53, 0x48, 0x83, 0xec, 0x10,                   /* push rbx, sub $16 */
    0xe8, 0x30, 0x00, 0x00, 0x00,                   /* call */
    0x66, 0x90, 0x66, 0x90, 0x66, 0x90,             /* padding */
    0x53, 0x48, 0x83, 0xec, 0x20,                   /* push rbx, sub $32 */
    0xf4, 0x48, 0x83, 0xc4, 0x20, 0x5b, 0xc3, 0x90, /* hlt, add, pop, ret */
  };
  g_autoptr (GArray) rows = scan (code, sizeof code, 0, sizeof code, TRUE);

  g_assert_cmpuint (find_row (rows, 10).cfa, ==, 4);
  g_assert_cmpuint (find_row (rows, 16).cfa, ==, 1);
  g_assert_cmpuint (find_row (rows, 22).cfa, ==, 6);
  g_assert_cmpuint (find_row (rows, 27).cfa, ==, 1);
}

/* A wrapper that only jumps, behind a call that does not return, looks like the
 * rest of the function before it. It is called elsewhere, or is a symbol. */
static void
test_known_start (void)
{
  static const guint8 code[48] = {
    0x53, 0xe8, 0x30, 0x00, 0x00, 0x00,             /* push rbx, call */
    0x66, 0x90, 0x66, 0x90, 0x66, 0x90, 0x66, 0x90, /* padding */
    0x66, 0x90, 0x45, 0x31, 0xc0,                   /* xor %r8d, %r8d */
    0xe9, 0x00, 0x01, 0x00, 0x00,                   /* jmp */
    0x66, 0x90, 0x66, 0x90, 0x66, 0x90, 0x66, 0x90, /* padding */
    0x53, 0xe8, 0xea, 0xff, 0xff, 0xff, 0x5b, 0xc3, /* push, call, pop, ret */
  };
  Elf64_Sym symbols[2] = { 0 };
  FlamUnwindSegment segment = { .size = 32, .code = code };
  FlamUnwindSections sections = { .segments = &segment, .n_segments = 1 };
  FlamUnwindStarts starts;
  g_autoptr (GArray) rows = scan (code, sizeof code, 0, sizeof code, TRUE);
  g_autoptr (GArray) alone = scan (code, 32, 0, 32, TRUE);

  g_assert_cmpuint (find_row (rows, 6).cfa, ==, 2);
  g_assert_cmpuint (find_row (rows, 16).cfa, ==, 1);
  g_assert_cmpuint (find_row (rows, 33).cfa, ==, 2);
  g_assert_cmpuint (find_row (alone, 16).cfa, ==, 2);
  symbols[1].st_info = ELF64_ST_INFO (STB_GLOBAL, STT_FUNC);
  symbols[1].st_shndx = 1;
  symbols[1].st_value = 16;
  sections.symbols.data = symbols;
  sections.symbols.size = sizeof symbols;
  flam_unwind_starts_init (&starts, &sections);
  g_assert_cmpuint (starts.n, ==, 1);
  g_assert_true (flam_unwind_starts_has (&starts, 16));
  g_assert_false (flam_unwind_starts_has (&starts, 15));
  flam_unwind_starts_clear (&starts);
}

/* The two entries of GMP's mpn_mul_1(). The code behind the other jump is not
 * one: it has the frame that it removes. */
static void
test_second_entry (void)
{
  static const guint8 code[32] = {
    0x53, 0x4d, 0x89, 0xc2, 0xeb, 0x04,             /* push rbx, mov, jmp */
    0x53, 0x4d, 0x31, 0xd2,                         /* push rbx, xor */
    0x48, 0x8b, 0x06, 0x74, 0x05,                   /* mov, je */
    0x48, 0x89, 0x07, 0xeb, 0x03, 0x48, 0x89, 0xd0, /* mov, jmp, mov */
    0x5b, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, /* pop rbx, ret */
  };
  g_autoptr (GArray) rows = scan (code, sizeof code, 0, sizeof code, FALSE);

  g_assert_cmpuint (find_row (rows, 1).cfa, ==, 2);
  g_assert_cmpuint (find_row (rows, 6).cfa, ==, 1);
  g_assert_cmpuint (find_row (rows, 7).cfa, ==, 2);
  g_assert_cmpuint (find_row (rows, 10).cfa, ==, 2);
  g_assert_cmpuint (find_row (rows, 20).cfa, ==, 2);
  g_assert_cmpuint (find_row (rows, 24).cfa, ==, 1);
}

/* GMP's mpn_sqr_basecase(), shortened: it makes its frame and then saves
 * registers in it, jumps through a table, and jumps into a loop, which begins
 * at a multiple of 16, with a long jump. */
static void
test_switch (void)
{
  static const guint8 code[64] = {
    0x48, 0x83, 0xc4, 0xe8,       /* add $-24, %rsp */
    0x48, 0x89, 0x5c, 0x24, 0x10, /* mov %rbx, 16(%rsp) */
    0x48, 0x89, 0x6c, 0x24, 0x08, /* mov %rbp, 8(%rsp) */
    0x89, 0xc9, 0xff, 0xe0,       /* mov, jmp *%rax */
    0x48, 0x83, 0xc4, 0x18, 0xc3, /* add $24, %rsp, ret */
    0x31, 0xed, 0x31, 0xdb,       /* xor %ebp, xor %ebx */
    0xe9, 0x03, 0x00, 0x00, 0x00, /* jmp */
    0x48, 0x01, 0xc5, 0x01, 0xd3, /* add, add */
    0x48, 0x89, 0xd0, 0x78, 0xf6, /* mov, js */
    0x58, 0x5d, 0x5b, 0xc3,       /* pop rax, rbp, rbx, ret */
  };
  g_autoptr (GArray) rows = scan (code, sizeof code, 0, sizeof code, FALSE);
  FlamUnwindRow in_case = find_row (rows, 27), in_loop = find_row (rows, 32);

  g_assert_cmpuint (in_case.cfa, ==, 4);
  g_assert_cmpuint (in_case.bp, ==, 3);
  g_assert_cmpuint (in_case.how >> 3, ==, 2);
  g_assert_cmpuint (in_loop.cfa, ==, 4);
  g_assert_cmpuint (in_loop.bp, ==, 3);
  g_assert_cmpuint (in_loop.how >> 3, ==, 2);
  g_assert_cmpuint (find_row (rows, 45).cfa, ==, 1);
}

static void
test_by_hand (void)
{
  static const struct
  {
    const guint8 *at;
    FlamUnwindKind kind;
    guint cfa;
    guint bp;
    guint bx;
  } wanted[] = {
    { flam_scan_leaf, FLAM_UNWIND_KIND_SCAN, 1, 0, 0 },
    { flam_scan_saves, FLAM_UNWIND_KIND_SCAN, 1, 0, 0 },
    { flam_scan_deep, FLAM_UNWIND_KIND_SCAN, 12, 2, 4 },
    { flam_scan_popped, FLAM_UNWIND_KIND_SCAN, 3, 2, 0 },
    { flam_scan_branch, FLAM_UNWIND_KIND_SCAN, 12, 2, 4 },
    { flam_scan_stores, FLAM_UNWIND_KIND_SCAN, 1, 0, 0 },
    { flam_scan_stored, FLAM_UNWIND_KIND_SCAN, 6, 3, 0 },
    { flam_scan_frame, FLAM_UNWIND_KIND_NONE, 0, 0, 0 },
    { flam_scan_left, FLAM_UNWIND_KIND_SCAN, 1, 0, 0 },
    { flam_scan_aligned, FLAM_UNWIND_KIND_RULE, 0, 0, 0 },
    { flam_scan_unknown, FLAM_UNWIND_KIND_NONE, 0, 0, 0 },
    { flam_scan_bad, FLAM_UNWIND_KIND_NONE, 0, 0, 0 },
  };
  gsize size = (gsize)(flam_scan_end - flam_scan_begin);
  /* As in a file: functions begin at multiples of 16. */
  g_autoptr (GArray) rows =
      scan (flam_scan_begin, size, 0, (guint32)size, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      FlamUnwindRow row =
          find_row (rows, (guint32)(wanted[i].at - flam_scan_begin));

      g_test_message ("row %u", i);
      g_assert_cmpuint (row.how & 7, ==, wanted[i].kind);
      g_assert_cmpuint (row.cfa, ==, wanted[i].cfa);
      g_assert_cmpuint (row.bp, ==, wanted[i].bp);
      g_assert_cmpuint (row.how >> 3, ==, wanted[i].bx);
    }
}

/* From a function that no sanitizer replaces. */
static char *
libc_path (void)
{
  Dl_info info;

  g_assert_true (dladdr (dlsym (RTLD_DEFAULT, "gnu_get_libc_version"), &info));
  return g_canonicalize_filename (info.dli_fname, NULL);
}

typedef struct
{
  guint same;
  guint other;
  guint unknown;
} Agreement;

static gboolean
is_nop (const guint8 *code)
{
  while (*code == 0x66 || *code == 0x2e)
    code++;
  return *code == 0x90 || (code[0] == 0x0f && code[1] == 0x1f);
}

/* At the instructions of [start, end) where both have a frame of fixed size. */
static void
compare_rows (const FlamUnwindTable *table,
              const GArray *rows,
              const guint8 *code,
              guint32 start,
              guint32 end,
              Agreement *agreement)
{
  FlamInstruction instruction = { 0 };

  for (guint32 pc = start, at = 0; pc < end; pc += instruction.length)
    {
      const FlamUnwindRow *theirs = flam_unwind_table_find (table, pc);
      const FlamUnwindRow *ours;

      if (!flam_unwind_decode (code + pc, end - pc, &instruction))
        return;
      while (at + 1 < rows->len &&
             g_array_index (rows, FlamUnwindRow, at + 1).pc <= pc)
        at++;
      ours = &g_array_index (rows, FlamUnwindRow, at);
      if (theirs == NULL || (theirs->how & 7) != FLAM_UNWIND_KIND_SP ||
          is_nop (code + pc))
        continue;
      if ((ours->how & 7) != FLAM_UNWIND_KIND_SCAN)
        agreement->unknown++;
      else if (ours->cfa == theirs->cfa)
        agreement->same++;
      else
        agreement->other++;
    }
}

/* Each function of the C library, treated as if it had no CFI. */
static void
test_cfi (void)
{
  g_autofree char *path = libc_path ();
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamSymbolTable) symbols = flam_symbol_table_new (elf, NULL);
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, NULL);
  const guint8 *bytes = (const guint8 *)g_mapped_file_get_contents (file);
  gsize size = g_mapped_file_get_length (file);
  const char *why;
  FlamUnwindTable *table = flam_unwind_table_new_file (bytes, size, &why);
  Agreement agreement = { 0 };
  const FlamSymbol *all;
  guint32 n;

  all = flam_symbol_table_get (symbols, &n);
  for (guint32 i = 0; i < n; i++)
    {
      guint64 from, to;
      g_autoptr (GArray) rows = NULL;

      if (all[i].start % 16 != 0 || g_str_has_suffix (all[i].name, "@plt") ||
          !flam_elf_vaddr_to_offset (elf, all[i].start, &from))
        continue;
      to = from + (all[i].end - all[i].start);
      if (to > size)
        continue;
      rows = scan (bytes, size, (guint32)from, (guint32)to, FALSE);
      if (rows->len > 0)
        compare_rows (
            table, rows, bytes, (guint32)from, (guint32)to, &agreement);
    }
  g_test_message ("%u instructions with the same frame, %u with another, "
                  "%u unknown",
                  agreement.same,
                  agreement.other,
                  agreement.unknown);
  g_assert_cmpuint (agreement.same, >, 30000);
  g_assert_cmpuint (agreement.other, <, agreement.same / 100);
  g_assert_cmpuint (agreement.unknown, <, agreement.same / 20);
  flam_unwind_table_free (table);
}

/* A line of objdump: " 1234:\t55 48 89 e5 \tpush %rbp". Its length; 0: not an
 * instruction. */
static gsize
read_bytes (const char *line, guint8 bytes[16])
{
  const char *p = strchr (line, '\t');
  const char *name = p != NULL ? strchr (p + 1, '\t') : NULL;
  gsize n = 0;

  if (name == NULL || strstr (name, "(bad)") != NULL ||
      g_str_has_prefix (name + 1, "rex"))
    return 0;
  for (p++; n < 16 && g_ascii_isxdigit (p[0]) && g_ascii_isxdigit (p[1]);
       p += 3)
    bytes[n++] = (guint8)(g_ascii_xdigit_value (p[0]) * 16 +
                          g_ascii_xdigit_value (p[1]));
  return n;
}

static void
test_lengths (void)
{
  g_autofree char *path = libc_path ();
  const char *const argv[] = { "objdump",         "-d", "--insn-width=16",
                               "--section=.text", path, NULL };
  g_autofree char *line = NULL;
  gsize room = 0;
  guint n = 0;
  FILE *output;
  int fd;

  if (!g_spawn_async_with_pipes (NULL,
                                 (char **)argv,
                                 NULL,
                                 G_SPAWN_SEARCH_PATH,
                                 NULL,
                                 NULL,
                                 NULL,
                                 NULL,
                                 &fd,
                                 NULL,
                                 NULL))
    {
      g_test_skip ("objdump is not installed");
      return;
    }
  output = fdopen (fd, "r");
  /* Line by line: ASan looks for the end of a string at every call. */
  while (getline (&line, &room, output) >= 0)
    {
      guint8 bytes[32] = { 0 };
      FlamInstruction instruction = { 0 };
      gsize length = read_bytes (line, bytes);

      if (length == 0 || bytes[0] == 0x9b) /* fwait is a separate instruction */
        continue;
      n++;
      if (!flam_unwind_decode (bytes, sizeof bytes, &instruction) ||
          instruction.length != length)
        g_error ("%u bytes: %s", instruction.length, line);
      g_assert_false (flam_unwind_decode (bytes, length - 1, &instruction) &&
                      instruction.length >= length);
    }
  fclose (output);
  g_test_message ("%u instructions", n);
  g_assert_cmpuint (n, >, 100000);
}

/* --- the registers that instructions write -------------------------------- */

/* The number of the register that contains `reg`; 16: another kind. */
static guint
number_of (csh engine, guint reg)
{
  static const char *const names[16][5] = {
    { "rax", "eax", "ax", "al", "ah" },
    { "rcx", "ecx", "cx", "cl", "ch" },
    { "rdx", "edx", "dx", "dl", "dh" },
    { "rbx", "ebx", "bx", "bl", "bh" },
    { "rsp", "esp", "sp", "spl", "" },
    { "rbp", "ebp", "bp", "bpl", "" },
    { "rsi", "esi", "si", "sil", "" },
    { "rdi", "edi", "di", "dil", "" },
    { "r8", "r8d", "r8w", "r8b", "" },
    { "r9", "r9d", "r9w", "r9b", "" },
    { "r10", "r10d", "r10w", "r10b", "" },
    { "r11", "r11d", "r11w", "r11b", "" },
    { "r12", "r12d", "r12w", "r12b", "" },
    { "r13", "r13d", "r13w", "r13b", "" },
    { "r14", "r14d", "r14w", "r14b", "" },
    { "r15", "r15d", "r15w", "r15b", "" },
  };
  const char *name = cs_reg_name (engine, reg);

  for (guint i = 0; i < 16; i++)
    for (guint k = 0; k < 5; k++)
      if (g_strcmp0 (name, names[i][k]) == 0)
        return i;
  return 16;
}

static guint
written_by_capstone (csh engine, const cs_insn *found)
{
  cs_regs read, written;
  guint8 n_read, n_written;
  guint set = 0;

  g_assert_cmpint (
      cs_regs_access (engine, found, read, &n_read, written, &n_written),
      ==,
      CS_ERR_OK);
  for (guint i = 0; i < n_written; i++)
    set |= 1u << number_of (engine, written[i]);
  return set;
}

static guint
written_by_us (const FlamInstruction *instruction)
{
  guint set = instruction->writes;

  switch ((FlamStackEffect)instruction->effect)
    {
    case FLAM_STACK_POP:
    case FLAM_STACK_COPY:
    case FLAM_STACK_LOAD:
      return instruction->reg < 16 ? set | 1u << instruction->reg : set;
    case FLAM_STACK_FRAME:
    case FLAM_STACK_LEAVE:
      return set | 1u << 5;
    default:
      return set;
    }
}

/* All instructions of a function except calls. */
static void
compare_writes (csh engine,
                cs_insn *found,
                const guint8 *code,
                gsize size,
                Agreement *agreement)
{
  const guint8 *at = code;
  guint64 address = 0;

  while (cs_disasm_iter (engine, &at, &size, &address, found))
    {
      const guint8 *start = at - found->size;
      FlamInstruction instruction;
      guint theirs, ours;

      if (cs_insn_group (engine, found, X86_GRP_CALL) ||
          cs_insn_group (engine, found, X86_GRP_INT) ||
          !flam_unwind_decode (start, found->size, &instruction))
        continue;
      theirs = written_by_capstone (engine, found) & 0xffef; /* but rsp */
      ours = written_by_us (&instruction) & 0xffef;
      if (ours == theirs)
        agreement->same++;
      else if (theirs & ~ours)
        agreement->unknown++;
      else
        agreement->other++;
      if (ours != theirs)
        g_test_message ("%s %s: %#x, not %#x",
                        found->mnemonic,
                        found->op_str,
                        ours,
                        theirs);
    }
}

/* Against capstone, in the functions of the C library. */
static void
test_writes (void)
{
  g_autofree char *path = libc_path ();
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamSymbolTable) symbols = flam_symbol_table_new (elf, NULL);
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, NULL);
  const guint8 *bytes = (const guint8 *)g_mapped_file_get_contents (file);
  Agreement agreement = { 0 };
  const FlamSymbol *all;
  cs_insn *found;
  csh engine;
  guint32 n;

  g_assert_cmpint (cs_open (CS_ARCH_X86, CS_MODE_64, &engine), ==, CS_ERR_OK);
  cs_option (engine, CS_OPT_DETAIL, CS_OPT_ON);
  found = cs_malloc (engine);
  all = flam_symbol_table_get (symbols, &n);
  for (guint32 i = 0; i < n; i++)
    {
      guint64 size = all[i].end - all[i].start, from;

      if (flam_elf_vaddr_to_offset (elf, all[i].start, &from) &&
          from + size <= g_mapped_file_get_length (file))
        compare_writes (engine, found, bytes + from, size, &agreement);
    }
  cs_free (found, 1);
  cs_close (&engine);
  g_test_message ("%u instructions write the same, %u more, %u less",
                  agreement.same,
                  agreement.other,
                  agreement.unknown);
  g_assert_cmpuint (agreement.same, >, 10000);
  /* According to capstone, test writes al and cdq eax. */
  g_assert_cmpuint (agreement.other * 100, <, agreement.same);
  g_assert_cmpuint (agreement.unknown * 100, <, agreement.same);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwind-scan/by-hand", test_by_hand);
  g_test_add_func ("/unwind-scan/packed", test_packed);
  g_test_add_func ("/unwind-scan/outermost", test_outermost);
  g_test_add_func ("/unwind-scan/no-return", test_no_return);
  g_test_add_func ("/unwind-scan/no-return-landing", test_no_return_landing);
  g_test_add_func ("/unwind-scan/trap", test_trap);
  g_test_add_func ("/unwind-scan/known-start", test_known_start);
  g_test_add_func ("/unwind-scan/second-entry", test_second_entry);
  g_test_add_func ("/unwind-scan/switch", test_switch);
  g_test_add_func ("/unwind-scan/cfi", test_cfi);
  g_test_add_func ("/unwind-scan/lengths", test_lengths);
  g_test_add_func ("/unwind-scan/writes", test_writes);
  return g_test_run ();
}
