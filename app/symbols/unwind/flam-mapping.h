/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_MAPPING_H
#define FLAM_MAPPING_H

/* A line of /proc/PID/maps, proc(5). Plain C, since the preload library reads
 * the maps of its own process:
 *
 *   7f1c8a028000-7f1c8a1b0000 r-xp 00028000 fd:01  1835123   /usr/lib/libc.so.6
 *   start        end          │ │  offset   device inode     path
 *                       readable executable
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t offset; /* of `start`, in the file */
  uint64_t device; /* major << 32 | minor */
  uint64_t inode;
  bool readable;
  bool executable;
  const char *path; /* in the text; may end in " (deleted)" */
  size_t length;
} FlamMapping;

/* Parses the line [line, end), without its newline; false: not a mapping. */
bool
flam_mapping_parse (const char *line, const char *end, FlamMapping *mapping);
/* The next mapping of a text, at the position `at`; a last line without a
 * newline is incomplete and is skipped. False: there is none. */
bool flam_mapping_next (const char **at, const char *end, FlamMapping *mapping);

#endif
