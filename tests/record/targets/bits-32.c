/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Ends with status 5. */

void _start (void);

void
_start (void)
{
  __asm__ volatile("int $0x80" : : "a"(1), "b"(5));
  __builtin_unreachable ();
}
