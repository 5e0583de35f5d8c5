/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* PHP's call stack (7.4 to 8.4, not thread-safe builds), read from outside.
 *
 *   executor_globals.current_execute_data ─▶ zend_execute_data
 *
 *      opline ─▶ zend_op: the line
 *      func   ─▶ zend_function: name, class, file, opcodes
 *      This.type_info: CALL_TOP, the frame with which a run of execute_ex()
 *                      began
 *      prev   ─▶ the caller
 *
 * The opline in the innermost frame is that of the last instruction that could
 * fail; the current one is in r15 while execute_ex() itself runs.
 *
 * Sources: php-src, Zend/zend_compile.h, zend_globals.h, zend_types.h,
 * zend_vm_gen.php (the registers) of these versions. 8.2 was checked against a
 * running PHP, the other layouts are from the headers. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"

/* Offsets in bytes. */
typedef struct
{
  guint32 version; /* 0x0802 for 8.2 */
  guint16 file;    /* zend_op_array.filename; line_start and line_end follow */
  guint16 opcodes; /* zend_op_array.opcodes, .last */
  guint16 n_opcodes;
} FlamPhpLayout;

/* FlamRuntimeFile.facts. Addresses as in the file. */
typedef struct
{
  FlamPhpLayout layout;
  guint64 current;       /* executor_globals.current_execute_data */
  FlamRuntimeRange loop; /* execute_ex */
} FlamPhpFile;

gboolean flam_php_find (const FlamElf *elf,
                        int fd,
                        const char *path,
                        FlamRuntimeFile *file);
/* NULL: this version is not supported. */
const FlamPhpLayout *flam_php_layout (guint32 version);

/* The frames, innermost first, each run closed by an entry without an address.
 * `at` is the line. */
gsize flam_php_walk (const FlamPhpFile *php,
                     const FlamRuntimeMemory *memory,
                     guint64 base,
                     const FlamRuntimeRegs *regs,
                     FlamRuntimeEntry *entries,
                     gsize limit);
gboolean flam_php_name (const FlamPhpFile *php,
                        const FlamRuntimeMemory *memory,
                        const FlamRuntimeEntry *entry,
                        FlamRuntimeName *name);
