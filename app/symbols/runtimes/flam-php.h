/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PHP_H
#define FLAM_PHP_H

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
 * Machine code that was compiled at run time (opcache's JIT) is entered by a
 * jump from execute_ex() and runs in its native frame, so its caller is found
 * as if the instruction after that jump ran.
 *
 * Sources: php-src, Zend/zend_compile.h, zend_globals.h, zend_types.h,
 * zend_vm_gen.php (the registers),
 * ext/opcache/jit/zend_jit_x86.dasc and ext/opcache/shared_alloc_mmap.c of
 * these versions. 8.2 was checked against a running PHP, the other layouts are
 * from the headers. */

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

/* The type of FlamRuntimeFile.facts. Its addresses are those of the ELF file.
 */
typedef struct
{
  FlamPhpLayout layout;
  guint64 current;       /* executor_globals.current_execute_data */
  FlamRuntimeRange loop; /* execute_ex */
  guint64 compiled;      /* the instruction in it at which machine code that was
                          * compiled at run time continues; 0: unknown */
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
/* The native frame of code that was compiled at run time becomes
 * execute_ex()'s. FALSE: that is not known. */
gboolean flam_php_leave_compiled (const FlamPhpFile *php,
                                  guint64 base,
                                  const FlamRuntimeRegs *regs,
                                  FlamRuntimeRegs *caller);
/* Whether a mapping with this path is one for such code. */
gboolean flam_php_is_compiled (const char *path);
gboolean flam_php_name (const FlamPhpFile *php,
                        const FlamRuntimeMemory *memory,
                        const FlamRuntimeEntry *entry,
                        FlamRuntimeName *name);

#endif
