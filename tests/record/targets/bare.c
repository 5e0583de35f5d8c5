/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A main without call frame information and without a frame pointer, as rustc
 * makes it with panic=abort: what it calls reaches its root all the same. */

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
__asm__(".text\n"
        ".p2align 4\n"
        ".globl main\n"
        ".type main, @function\n"
        "main:\n"
        "  push %rax\n"
        "  call spin\n"
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
