/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Built with LeakSanitizer: looks for leaks at its end, and finds none. */

#include <stdio.h>

int
main (void)
{
  return puts ("no leaks") < 0;
}
