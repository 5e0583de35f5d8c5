/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Functions without CFI that align rsp, run instruction by instruction. The
 * oracle is the processor: at a function's first instruction the CFA is rsp +
 * 8, and from each of its instructions, and from each of a function that it
 * calls, the walk must come to just that CFA, with the caller's registers. */

#include "flam-unwind-rows.h"

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each calls steps_callee, which overwrites all registers that a function may,
 * except if the old rsp is in one of them. */
__asm__(".text\n"
        ".balign 64\n"
        "steps_begin:\n"
        "steps_callee: push %rbp\n"
        " xor %ebp, %ebp\n"
        " sub $16, %rsp\n"
        " xor %eax, %eax\n"
        " xor %r10d, %r10d\n"
        " xor %r11d, %r11d\n"
        " add $16, %rsp\n"
        " pop %rbp\n"
        " ret\n"
        /* To 16 bytes: the size is known. */
        ".balign 16\n"
        "steps_sixteen: push %rbx\n"
        " mov %rsp, %rcx\n"
        " and $-16, %rsp\n"
        " sub $0x30, %rsp\n"
        " lea 8(%rsp), %rdx\n"
        " call steps_callee\n"
        " sub $0x20, %rsp\n"
        " call steps_callee\n"
        " mov %rcx, %rsp\n"
        " pop %rbx\n"
        " ret\n"
        ".balign 16\n"
        "steps_eight: push %rbx\n"
        " and $-8, %rsp\n"
        " call steps_callee\n"
        " pop %rbx\n"
        " ret\n"
        /* x264: the old rsp stays in a register. */
        ".balign 16\n"
        "steps_register: mov %rsp, %rax\n"
        " and $-32, %rsp\n"
        " sub $0x240, %rsp\n"
        " pxor %xmm0, %xmm0\n"
        " movdqa %xmm0, 0x220(%rsp)\n"
        " lea 0x20(%rsp), %rdi\n"
        " mov %rdi, 8(%rsp)\n"
        " xor %edx, %edx\n"
        " mov %rax, %rsp\n"
        " ret\n"
        /* The callee does not overwrite it. */
        ".balign 16\n"
        "steps_unsaved: push %rbp\n"
        " mov %rsp, %rcx\n"
        " and $-32, %rsp\n"
        " sub $0x60, %rsp\n"
        " xor %ebp, %ebp\n"
        " call steps_callee\n"
        " sub $0x40, %rsp\n"
        " call steps_callee\n"
        " mov %rcx, %rsp\n"
        " pop %rbp\n"
        " ret\n"
        /* x264: it is stored after the frame. */
        ".balign 16\n"
        "steps_stored: push %rbx\n"
        " push %rbp\n"
        " mov %rsp, %r11\n"
        " sub $0x60, %rsp\n"
        " and $-64, %rsp\n"
        " mov %r11, 0x58(%rsp)\n"
        " xor %ebp, %ebp\n"
        " xor %ebx, %ebx\n"
        " xor %r11d, %r11d\n"
        " call steps_callee\n"
        " sub $8, %rsp\n"
        " pushq $1\n"
        " call steps_callee\n"
        " add $16, %rsp\n"
        " mov 0x58(%rsp), %rsp\n"
        " pop %rbp\n"
        " pop %rbx\n"
        " ret\n"
        /* OpenSSL: registers are restored through it. */
        ".balign 16\n"
        "steps_through: mov %rsp, %rax\n"
        " push %rbx\n"
        " push %rbp\n"
        " push %r12\n"
        " sub $0x90, %rsp\n"
        " and $-64, %rsp\n"
        " mov %rax, 0x80(%rsp)\n"
        " mov $5, %ebp\n"
        " mov $6, %ebx\n"
        " call steps_callee\n"
        " mov 0x80(%rsp), %rsi\n"
        " mov -24(%rsi), %r12\n"
        " mov -16(%rsi), %rbp\n"
        " mov -8(%rsi), %rbx\n"
        " lea (%rsi), %rsp\n"
        " ret\n"
        /* gcc: r10 is the CFA, and is pushed. */
        ".balign 16\n"
        "steps_pushed: lea 8(%rsp), %r10\n"
        " and $-32, %rsp\n"
        " push -8(%r10)\n"
        " push %rbp\n"
        " mov %rsp, %rbp\n"
        " push %r12\n"
        " push %r10\n"
        " push %rbx\n"
        " sub $0x28, %rsp\n"
        " call steps_callee\n"
        " add $0x28, %rsp\n"
        " pop %rbx\n"
        " pop %r10\n"
        " pop %r12\n"
        " pop %rbp\n"
        " lea -8(%r10), %rsp\n"
        " ret\n"
        ".balign 16\n"
        "steps_left: lea 8(%rsp), %r10\n"
        " and $-64, %rsp\n"
        " push -8(%r10)\n"
        " push %rbp\n"
        " mov %rsp, %rbp\n"
        " push %r12\n"
        " push %r10\n"
        " sub $0x30, %rsp\n"
        " call steps_callee\n"
        " mov -8(%rbp), %r12\n"
        " mov -16(%rbp), %r10\n"
        " leave\n"
        " lea -8(%r10), %rsp\n"
        " ret\n"
        /* rbp is the old rsp, but the frame does not have the usual form. */
        ".balign 16\n"
        "steps_frame: push %rbp\n"
        " push %rbx\n"
        " mov %rsp, %rbp\n"
        " and $-128, %rsp\n"
        " sub $0x40, %rsp\n"
        " xor %ebx, %ebx\n"
        " call steps_callee\n"
        " mov %rbp, %rsp\n"
        " pop %rbx\n"
        " pop %rbp\n"
        " ret\n"
        ".balign 16\n"
        "steps_usual: push %rbp\n"
        " mov %rsp, %rbp\n"
        " and $-64, %rsp\n"
        " sub $0x40, %rsp\n"
        " call steps_callee\n"
        " leave\n"
        " ret\n"
        /* Two ends. */
        ".balign 16\n"
        "steps_branch: mov %rsp, %rdx\n"
        " sub $0x48, %rsp\n"
        " and $-32, %rsp\n"
        " mov %rdx, 0x40(%rsp)\n"
        " xor %edx, %edx\n"
        " test %edi, %edi\n"
        " jne 1f\n"
        " mov 0x40(%rsp), %rsp\n"
        " ret\n"
        "1: call steps_callee\n"
        " mov 0x40(%rsp), %rsp\n"
        " ret\n"
        ".balign 16\n"
        "steps_end: nop\n"
        /* steps_call (function, argument, pad): pad bytes below a multiple of
         * 128, with known values in rbx and rbp. */
        ".globl steps_call\n"
        "steps_call: push %rbp\n"
        " mov %rsp, %rbp\n"
        " push %rbx\n"
        " and $-128, %rsp\n"
        " sub %rdx, %rsp\n"
        " mov %rdi, %rax\n"
        " mov %rsi, %rdi\n"
        " mov $0x1234567, %ebx\n"
        " call *%rax\n"
        " mov -8(%rbp), %rbx\n"
        " leave\n"
        " ret\n");

void steps_call (const guint8 *function, guint64 argument, guint64 pad);

extern const guint8 steps_begin[], steps_end[], steps_sixteen[], steps_eight[],
    steps_register[], steps_unsaved[], steps_stored[], steps_through[],
    steps_pushed[], steps_left[], steps_frame[], steps_usual[], steps_branch[];

#define MOST_STEPS 100000

static bool
peek (gpointer data, guint64 address, guint64 *value)
{
  errno = 0;
  *value = (guint64)ptrace (
      PTRACE_PEEKDATA, GPOINTER_TO_INT (data), (void *)address, NULL);
  return errno == 0;
}

static gboolean
is_inside (guint64 pc)
{
  return pc >= (guint64)steps_begin && pc < (guint64)steps_end;
}

static void
to_dwarf (const struct user_regs_struct *regs, guint64 all[FLAM_UNWIND_N_REGS])
{
  const guint64 values[FLAM_UNWIND_N_REGS] = {
    regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi,
    regs->rbp, regs->rsp, regs->r8,  regs->r9,  regs->r10, regs->r11,
    regs->r12, regs->r13, regs->r14, regs->r15, regs->rip,
  };

  memcpy (all, values, sizeof values);
}

/* From `now` to the frame that is outside of the functions. */
static void
check_walk (const FlamUnwindTable *table,
            pid_t pid,
            const struct user_regs_struct *now,
            const struct user_regs_struct *entry)
{
  guint64 all[FLAM_UNWIND_N_REGS], address, bx;
  FlamUnwindMemory memory = { .read = peek, .data = GINT_TO_POINTER (pid) };
  FlamUnwindRegs regs = {
    .pc = now->rip, .sp = now->rsp, .bp = now->rbp, .all = all, .leaf = all
  };

  to_dwarf (now, all);
  while (is_inside (regs.pc - regs.caller))
    {
      guint64 at = regs.pc - regs.caller - (guint64)steps_begin;
      const FlamUnwindRow *row = flam_unwind_table_find (table, at);

      g_assert_nonnull (row);
      g_assert_cmpint (
          flam_unwind_step (
              row, flam_unwind_table_rules (table), &memory, &regs),
          ==,
          FLAM_UNWIND_OK);
    }
  g_assert_true (peek (memory.data, entry->rsp, &address));
  g_assert_cmphex (regs.pc, ==, address);
  g_assert_cmphex (regs.sp, ==, entry->rsp + 8);
  g_assert_false (regs.bp_unknown);
  g_assert_cmphex (regs.bp, ==, entry->rbp);
  if (regs.bx_state == 2)
    g_assert_true (peek (memory.data, regs.bx, &bx));
  else
    bx = regs.bx;
  if (regs.bx_state != 0)
    g_assert_cmphex (bx, ==, entry->rbx);
}

/* The number of instructions in the functions. */
static guint
step_through (const FlamUnwindTable *table,
              const guint8 *function,
              guint64 argument,
              guint64 pad)
{
  struct user_regs_struct now, entry = { 0 };
  guint n = 0;
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    {
      ptrace (PTRACE_TRACEME, 0, NULL, NULL);
      raise (SIGSTOP);
      steps_call (function, argument, pad);
      _exit (0);
    }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFSTOPPED (status));
  for (guint i = 0; i < MOST_STEPS; i++)
    {
      g_assert_cmpint (ptrace (PTRACE_SINGLESTEP, pid, NULL, NULL), ==, 0);
      g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
      g_assert_true (WIFSTOPPED (status));
      g_assert_cmpint (ptrace (PTRACE_GETREGS, pid, NULL, &now), ==, 0);
      if (is_inside (now.rip))
        {
          if (n++ == 0)
            entry = now;
          g_test_message ("+%#llx",
                          (unsigned long long)(now.rip - (guint64)steps_begin));
          check_walk (table, pid, &now, &entry);
        }
      else if (n > 0)
        break;
    }
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  return n;
}

static void
test_steps (gconstpointer function)
{
  gsize size = (gsize)(steps_end - steps_begin);
  FlamUnwindSegment segment = { .vaddr = (guint64)steps_begin,
                                .size = size,
                                .code = steps_begin };
  FlamUnwindSections sections = { .segments = &segment, .n_segments = 1 };
  const char *why;
  FlamUnwindTable *table = flam_unwind_table_new (&sections, &why);

  g_assert_nonnull (table);
  for (guint64 pad = 0; pad < 128; pad += 16)
    for (guint64 argument = 0; argument < 2; argument++)
      g_assert_cmpuint (step_through (table, function, argument, pad), >=, 9);
  flam_unwind_table_free (table);
}

/* --- hostile code ----------------------------------------------------------
 */

#define CODE (1 << 20)

/* Functions of stack instructions in random order. */
static void
fill_with_code (GRand *random, guint8 *code, gsize size)
{
  static const struct
  {
    const char *bytes;
    guint operand; /* bytes */
  } pieces[] = {
    { "\x48\x83\xe4", 1 },     /* and $, %rsp */
    { "\x48\x81\xe4", 4 },     /* the same */
    { "\x48\x89\xe0", 0 },     /* mov %rsp, %rax */
    { "\x49\x89\xe2", 0 },     /* mov %rsp, %r10 */
    { "\x48\x8d\x6c\x24", 1 }, /* lea (%rsp), %rbp */
    { "\x4c\x8d\x54\x24", 1 }, /* lea (%rsp), %r10 */
    { "\x48\x83\xec", 1 },     /* sub $, %rsp */
    { "\x48\x89\x44\x24", 1 }, /* mov %rax, (%rsp) */
    { "\x48\x89\x84\x24", 4 }, /* the same */
    { "\x48\x8b\x64\x24", 1 }, /* mov (%rsp), %rsp */
    { "\x48\x8b\xa5", 4 },     /* mov (%rbp), %rsp */
    { "\x4c\x89\x55", 1 },     /* mov %r10, (%rbp) */
    { "\x48\x89\xc4", 0 },     /* mov %rax, %rsp */
    { "\x49\x8d\x62", 1 },     /* lea (%r10), %rsp */
    { "\x41\x52", 0 },         /* push %r10 */
    { "\x41\x5a", 0 },         /* pop %r10 */
    { "\x55", 0 },             /* push %rbp */
    { "\x5b", 0 },             /* pop %rbx */
    { "\xc9", 0 },             /* leave */
    { "\x75", 1 },             /* jne */
    { "\xeb", 1 },             /* jmp */
  };
  /* mov %rsp, %rax; and $-32, %rsp */
  static const char *const begin = "\x48\x89\xe0\x48\x83\xe4\xe0";
  static const guint8 operands[] = { 0,    8,    16,   64,   0x78,
                                     0xf0, 0xe0, 0xc0, 0x80, 0xf8 };

  memset (code, 0xcc, size);
  for (gsize start = 0; start + 64 < size; start += 64)
    for (gsize at = start; at < start + 50;)
      {
        if (at == start)
          {
            memcpy (code + at, begin, strlen (begin));
            at += strlen (begin);
          }
        guint piece = g_rand_int_range (random, 0, G_N_ELEMENTS (pieces));
        gsize n = strlen (pieces[piece].bytes);
        guint operand =
            operands[g_rand_int_range (random, 0, G_N_ELEMENTS (operands))];

        memcpy (code + at, pieces[piece].bytes, n);
        at += n;
        if (g_rand_int_range (random, 0, 50) == 0)
          operand = g_rand_int (random);
        if (operand & 0x80)
          operand |= 0xffffff00;
        memcpy (code + at, &operand, pieces[piece].operand);
        at += pieces[piece].operand;
      }
}

/* A step by any row stays in the memory; one by a rule stays in its bounds,
 * unless it uses the frame pointer. */
static void
check_row (GRand *random, const FlamUnwindTable *table, FlamUnwindRow row)
{
  const FlamUnwindRule *rules = flam_unwind_table_rules (table);
  guint64 stack[64], all[FLAM_UNWIND_N_REGS];
  FlamUnwindMemory memory = { stack, (guint64)stack, sizeof stack };
  FlamUnwindRegs regs = { .sp = (guint64)&stack[8],
                          .bp = (guint64)&stack[16],
                          .leaf = all,
                          .caller = g_rand_boolean (random) };
  guint64 sp = regs.sp, bp = regs.bp;

  for (guint i = 0; i < 64; i++)
    stack[i] = (guint64)stack + 8 * (guint64)g_rand_int_range (random, 0, 80);
  regs.all = regs.caller ? NULL : all;
  for (guint i = 0; i < FLAM_UNWIND_N_REGS; i++)
    all[i] = i & 1 ? stack[i] : g_rand_int (random);
  if (flam_unwind_step (&row, rules, &memory, &regs) != FLAM_UNWIND_OK ||
      (row.how & 7) != FLAM_UNWIND_KIND_RULE || regs.sp == bp + 16)
    return;
  g_assert_cmpuint (row.cfa, <, table->n_rules);
  g_assert_cmpint (regs.sp - sp, >=, rules[row.cfa].least);
  g_assert_cmpint (
      regs.sp - sp, <, rules[row.cfa].least + (1 << rules[row.cfa].align));
}

static void
check_hostile (GRand *random, const guint8 *code, guint least, guint most)
{
  FlamUnwindSegment segment = { .size = CODE, .code = code };
  FlamUnwindSections sections = { .segments = &segment, .n_segments = 1 };
  const char *why;
  FlamUnwindTable *table = flam_unwind_table_new (&sections, &why);

  g_assert_nonnull (table);
  g_test_message ("%u rows, %u rules", table->n_rows, table->n_rules);
  g_assert_cmpuint (table->n_rules, >=, least);
  g_assert_cmpuint (table->n_rules, <=, most);
  for (guint32 i = 0; i < table->n_rows; i++)
    check_row (random, table, flam_unwind_table_rows (table)[i]);
  flam_unwind_table_free (table);
}

static void
test_hostile (void)
{
  GRand *random = g_rand_new_with_seed (7);
  g_autofree guint8 *code = g_malloc (CODE);

  for (guint round = 0; round < 4; round++)
    {
      fill_with_code (random, code, CODE);
      check_hostile (random, code, 100, 4096);
    }
  /* After the beginning, push %rax: a new rule each. */
  memset (code + 7, 0x50, CODE - 7);
  check_hostile (random, code, 4096, 4096);
  g_rand_free (random);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *path;
    const guint8 *function;
  } functions[] = {
    { "/unwind-steps/sixteen", steps_sixteen },
    { "/unwind-steps/eight", steps_eight },
    { "/unwind-steps/register", steps_register },
    { "/unwind-steps/unsaved", steps_unsaved },
    { "/unwind-steps/stored", steps_stored },
    { "/unwind-steps/through", steps_through },
    { "/unwind-steps/pushed", steps_pushed },
    { "/unwind-steps/left", steps_left },
    { "/unwind-steps/frame", steps_frame },
    { "/unwind-steps/usual", steps_usual },
    { "/unwind-steps/branch", steps_branch },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    g_test_add_data_func (functions[i].path, functions[i].function, test_steps);
  g_test_add_func ("/unwind-steps/hostile", test_hostile);
  return g_test_run ();
}
