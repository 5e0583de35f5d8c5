/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_GO_H
#define FLAM_UNWIND_GO_H

/* Go's own table of functions as call frame information: it has the distance
 * between rsp and the return address at every instruction, and remains when
 * DWARF is removed. Its layout is described in elf/flam-go-table.h; here it is
 * read without GLib, for Go 1.16 and newer, in programs at a fixed address.
 *
 *   pc          main.f:            depth   CFA = rsp + depth + 8
 *   entry       sub $24, %rsp          0
 *   entry + 4   ...                   24
 *   entry + 90  add $24, %rsp         24
 *   entry + 94  ret                    0
 *
 * A function with a frame keeps the caller's rbp right below the return
 * address. As for Go's own tracebacks, two flags mark functions where this
 * ends: the outermost one of a stack, and one that sets rsp. The second kind
 * (systemstack, mcall, morestack) continues on the scheduler's stack, where the
 * content above it is left over from earlier calls. */

#include "flam-unwind-rows.h"

enum
{
  FLAM_UNWIND_GO_UNKNOWN = -1,
  FLAM_UNWIND_GO_ROOT = -2,
};

typedef struct
{
  /* A function, by virtual addresses. False: skip it. */
  bool (*begin) (void *data, uint64_t start, uint64_t end);
  /* From `vaddr` of this function on; or one of the above. False: stop all. */
  bool (*depth) (void *data, uint64_t vaddr, int32_t depth);
} FlamUnwindGoReader;

/* Hostile bytes cost time in proportion to their number. */
void flam_unwind_go_read (const FlamUnwindSection *section,
                          const FlamUnwindGoReader *reader,
                          void *data);

#endif
