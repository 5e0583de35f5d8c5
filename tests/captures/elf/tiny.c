/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gcc -O1 -g -nostdlib -static -Wl,--build-id=sha1 -Wl,-z,noseparate-code \
     -ffile-prefix-map=$PWD=/src -o tiny tiny.c */
static inline __attribute__ ((always_inline)) int
square (int v)
{
  return v * v;
}

__attribute__ ((noinline)) int
sum (int a, int b)
{
  int t = square (a);
  return t + square (b);
}

void
_start (void)
{
  for (volatile int i = 0; sum (i, 1);)
    ;
}
