/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A library that is loaded while allocations are recorded. */

#include <stdlib.h>

void allocate_in_library (void);

static void *volatile kept[20];

void
allocate_in_library (void)
{
  for (int i = 0; i < 20; i++)
    kept[i] = malloc (48);
}
