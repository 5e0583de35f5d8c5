/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Functions without call frame information and without a frame pointer: a main
 * like rustc's with panic=abort, and one in assembler, as in video codecs, that
 * uses rbp for something else. Their stacks reach their root nevertheless. */

#include <stdint.h>

static volatile uint64_t sink;

void spin (void);

void
spin (void)
{
  uint64_t x = 1;

  for (uint64_t i = 0; i < 200000000; i++)
    x = x * 6364136223846793005ull + (x >> 7);
  sink = x;
}

#ifdef __x86_64__
void mix (uint64_t rounds);
void stir (void);

void
stir (void)
{
  mix (60000000);
  sink++;
}

__asm__(".text\n"
        ".p2align 4\n"
        ".globl mix\n"
        ".type mix, @function\n"
        "mix:\n"
        "  push %rbp\n"
        "  push %rbx\n"
        "  sub $40, %rsp\n"
        "  xor %ebp, %ebp\n"
        "  mov $1, %ebx\n"
        "1: imul %rbx, %rbp\n"
        "  lea 3(%rbp, %rbx), %rbp\n"
        "  dec %rdi\n"
        "  jnz 1b\n"
        "  add $40, %rsp\n"
        "  pop %rbx\n"
        "  pop %rbp\n"
        "  ret\n"
        ".size mix, . - mix\n"
        ".p2align 4, 0xcc\n"
        ".globl main\n"
        ".type main, @function\n"
        "main:\n"
        "  push %rax\n"
        "  call spin\n"
        "  call stir\n"
        "  xor %eax, %eax\n"
        "  pop %rcx\n"
        "  ret\n"
        ".size main, . - main\n"
        ".p2align 4, 0xcc\n");
#else
int
main (void)
{
  spin ();
  return 0;
}
#endif
