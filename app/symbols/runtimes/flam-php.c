/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-php.h"

#include <stdio.h>
#include <string.h>

#include "flam-code-ranges.h"
#include "flam-symbol-table.h"

/* zend_executor_globals.current_execute_data */
#define CURRENT 488

/* zend_execute_data: opline 0, func 24, This.type_info 40, prev 48. */
#define DATA_READ 56
#define DATA_FUNCTION 24
#define DATA_INFO 40
#define DATA_PREVIOUS 48
#define CALL_CODE (1u << 16)
#define CALL_TOP (1u << 17)

/* zend_function: type 0, function_name 8, scope 16. */
#define FUNCTION_READ 184
#define FUNCTION_NAME 8
#define FUNCTION_CLASS 16
#define TYPE_INTERNAL 1u
#define TYPE_USER 2u
#define TYPE_EVAL 4u

/* zend_class_entry.name; zend_string: length 16, bytes 24. */
#define CLASS_NAME 8
#define STRING_LENGTH 16
#define STRING_BYTES 24

/* zend_op: 32 bytes, its line at 24. */
#define OP_SIZE 32
#define OP_LINE 24

/* The part of a binary's .rodata in which its version is searched for. */
#define PROLOGUE_MAX 128

#define VERSION_MARK "X-Powered-By: PHP/"

static const FlamPhpLayout layouts[] = {
  { .version = 0x0704, .file = 136, .opcodes = 64, .n_opcodes = 60 },
  { .version = 0x0800, .file = 144, .opcodes = 72, .n_opcodes = 68 },
  { .version = 0x0801, .file = 144, .opcodes = 72, .n_opcodes = 68 },
  { .version = 0x0802, .file = 152, .opcodes = 88, .n_opcodes = 80 },
  { .version = 0x0803, .file = 144, .opcodes = 80, .n_opcodes = 76 },
  { .version = 0x0804, .file = 168, .opcodes = 104, .n_opcodes = 96 },
};

const FlamPhpLayout *
flam_php_layout (guint32 version)
{
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    if (layouts[i].version == version)
      return &layouts[i];
  return NULL;
}

/* --- the file ------------------------------------------------------------ */

static gboolean
has_name (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  return g_str_has_prefix (name, "php") || g_str_has_prefix (name, "libphp") ||
         g_str_has_prefix (name, "mod_php");
}

static gboolean
find_version (const FlamElf *elf, FlamRuntimeFile *file)
{
  FlamElfSection section;
  const char *mark;
  gsize left;

  if (!flam_elf_get_section (elf, ".rodata", &section) || section.data == NULL)
    return FALSE;
  mark = memmem (
      section.data, section.size, VERSION_MARK, sizeof VERSION_MARK - 1);
  if (mark == NULL)
    return FALSE;
  mark += sizeof VERSION_MARK - 1;
  left = (gsize)((const char *)section.data + section.size - mark);
  g_strlcpy (file->version, mark, MIN (sizeof file->version, left));
  return TRUE;
}

/* The generated loop is of the kind that jumps from one instruction's code to
 * that of the next, by a register: zend_vm_kind() returns ZEND_VM_KIND_HYBRID.
 *
 *   b8 04 00 00 00   mov $4, %eax; ret
 *   41 ff 27         jmp *(%r15): the first one is in the prologue */
static guint64
find_compiled (const FlamElf *elf, const FlamRuntimeRange *loop)
{
  static const guint8 hybrid[] = { 0xb8, 4, 0, 0, 0, 0xc3 };
  static const guint8 jump[] = { 0x41, 0xff, 0x27 };
  guint64 kind, size;
  const guint8 *code;
  gsize n;

  if (!flam_elf_find_symbol (elf, "zend_vm_kind", &kind, &size) ||
      (code = flam_elf_bytes (elf, kind, &n)) == NULL ||
      memmem (code, MIN (n, MIN (size, 16)), hybrid, sizeof hybrid) == NULL ||
      (code = flam_elf_bytes (elf, loop->start, &n)) == NULL)
    return 0;
  n = MIN (n, MIN (loop->end - loop->start, PROLOGUE_MAX));
  for (gsize i = 0; i + sizeof jump <= n; i++)
    if (memcmp (code + i, jump, sizeof jump) == 0)
      return loop->start + i + sizeof jump;
  return 0;
}

gboolean
flam_php_find (const FlamElf *elf,
               int fd,
               const char *path,
               FlamRuntimeFile *file)
{
  const FlamPhpLayout *layout;
  FlamPhpFile *php;
  guint64 globals, size;
  guint major, minor;

  (void)fd;
  if (!has_name (path) || flam_elf_get_machine (elf) != EM_X86_64 ||
      !flam_runtime_file_add_evaluator (file, elf, "execute_ex"))
    return FALSE;
  if (!find_version (elf, file) ||
      sscanf (file->version, "%u.%u", &major, &minor) != 2 || minor > 255)
    {
      file->why = N_ ("its version was not found in the file");
      return TRUE;
    }
  layout = flam_php_layout (major << 8 | minor);
  if (layout == NULL)
    {
      file->why = N_ ("this version is not supported: 7.4 to 8.4 are");
      return TRUE;
    }
  if (!flam_elf_find_symbol (elf, "executor_globals", &globals, &size))
    {
      file->why = N_ ("it is a thread-safe (ZTS) build");
      return TRUE;
    }
  file->facts = php = g_new0 (FlamPhpFile, 1);
  php->layout = *layout;
  php->current = globals + CURRENT;
  php->loop = file->evaluators[0];
  php->compiled = find_compiled (elf, &php->loop);
  return TRUE;
}

/* --- the chain ----------------------------------------------------------- */

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

static bool
has_code (const guint8 *function)
{
  return function[0] == TYPE_USER || function[0] == TYPE_EVAL;
}

static guint64
cookie_of (const FlamPhpLayout *layout, const guint8 function[FUNCTION_READ])
{
  guint64 cookie =
      mix (function[0], flam_runtime_u64 (function, FUNCTION_NAME));

  cookie = mix (cookie, flam_runtime_u64 (function, FUNCTION_CLASS));
  if (has_code (function))
    {
      cookie = mix (cookie, flam_runtime_u64 (function, layout->file));
      cookie = mix (cookie, flam_runtime_u64 (function, layout->file + 8u));
      cookie = mix (cookie, flam_runtime_u64 (function, layout->opcodes));
    }
  return cookie | 1;
}

/* The line of an instruction, if it is one of the function. Machine code of the
 * just-in-time compiler does not keep the pointer up to date. */
static guint32
line_of (const FlamPhpLayout *layout,
         const FlamRuntimeMemory *memory,
         const guint8 function[FUNCTION_READ],
         guint64 op)
{
  guint64 at = op - flam_runtime_u64 (function, layout->opcodes);
  guint64 n = flam_runtime_u32 (function, layout->n_opcodes);
  guint32 line;

  if (at % OP_SIZE != 0 || at / OP_SIZE >= n ||
      !flam_runtime_read_u32 (memory, op + OP_LINE, &line))
    return 0;
  return line;
}

gsize
flam_php_walk (const FlamPhpFile *php,
               const FlamRuntimeMemory *memory,
               guint64 base,
               const FlamRuntimeRegs *regs,
               FlamRuntimeEntry *entries,
               gsize limit)
{
  guint64 data = 0, mark = 0;
  gsize n = 0, steps = 0, mark_at = 8;
  bool runs = regs->leaf && regs->pc >= base + php->loop.start &&
              regs->pc < base + php->loop.end &&
              flam_runtime_knows (regs, FLAM_RUNTIME_R15);

  flam_runtime_read_u64 (memory, base + php->current, &data);
  while (data != 0 && data != mark && n < limit)
    {
      guint8 bytes[DATA_READ], function[FUNCTION_READ];
      guint64 at;
      guint32 info, line = 0;

      if (!flam_runtime_read (memory, data, bytes, sizeof bytes))
        break;
      at = flam_runtime_u64 (bytes, DATA_FUNCTION);
      info = flam_runtime_u32 (bytes, DATA_INFO);
      if (at != 0 && flam_runtime_read (memory, at, function, sizeof function))
        {
          if (has_code (function) && runs)
            line = line_of (&php->layout,
                            memory,
                            function,
                            regs->general[FLAM_RUNTIME_R15]);
          if (has_code (function) && line == 0)
            line = line_of (
                &php->layout, memory, function, flam_runtime_u64 (bytes, 0));
          entries[n++] = (FlamRuntimeEntry){ .function = at,
                                             .at = line,
                                             .cookie = cookie_of (&php->layout,
                                                                  function) };
          runs = false;
          if (has_code (function) && info & CALL_TOP && n < limit)
            entries[n++] = (FlamRuntimeEntry){ 0 };
        }
      /* A repeated frame: Brent's algorithm. */
      if (++steps == mark_at)
        {
          mark = data;
          mark_at *= 2;
        }
      else if (steps > 2 * limit)
        break;
      data = flam_runtime_u64 (bytes, DATA_PREVIOUS);
    }
  /* Functions in C that were called without a run of the loop are native
   * frames. */
  while (data == 0 && n > 0 && entries[n - 1].function != 0)
    n--;
  return n;
}

/* --- compiled code ------------------------------------------------------- */

/* Shared memory without a file. */
gboolean
flam_php_is_compiled (const char *path)
{
  return g_str_has_prefix (path, "/dev/zero");
}

gboolean
flam_php_leave_compiled (const FlamPhpFile *php,
                         guint64 base,
                         const FlamRuntimeRegs *regs,
                         FlamRuntimeRegs *caller)
{
  if (php->compiled == 0)
    return FALSE;
  *caller = *regs;
  caller->pc = base + php->compiled;
  caller->leaf = false;
  return TRUE;
}

/* --- names --------------------------------------------------------------- */

static const char *
read_string (const FlamRuntimeMemory *memory,
             guint64 string,
             FlamRuntimeName *name)
{
  guint64 length;

  if (string == 0 ||
      !flam_runtime_read_u64 (memory, string + STRING_LENGTH, &length))
    return NULL;
  return flam_runtime_name_read (name, memory, string + STRING_BYTES, length);
}

gboolean
flam_php_name (const FlamPhpFile *php,
               const FlamRuntimeMemory *memory,
               const FlamRuntimeEntry *entry,
               FlamRuntimeName *name)
{
  const FlamPhpLayout *layout = &php->layout;
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  guint8 function[FUNCTION_READ], again[FUNCTION_READ];
  guint64 text, class;

  if (!flam_runtime_read (memory, entry->function, function, sizeof function) ||
      cookie_of (layout, function) != entry->cookie)
    return FALSE;
  text = flam_runtime_u64 (function, FUNCTION_NAME);
  class = flam_runtime_u64 (function, FUNCTION_CLASS);
  /* Code outside functions: of the program, of included files. */
  named->function = text == 0 ? "{main}" : read_string (memory, text, name);
  if (named->function == NULL)
    return FALSE;
  if (text != 0 && class != 0 &&
      flam_runtime_read_u64 (memory, class + CLASS_NAME, &text))
    named->type = read_string (memory, text, name);
  if (named->type == NULL)
    named->type = "";
  if (has_code (function))
    {
      named->file =
          read_string (memory, flam_runtime_u64 (function, layout->file), name);
      if (named->file == NULL)
        return FALSE;
      named->first_line = flam_runtime_u32 (function, layout->file + 8u);
    }
  return flam_runtime_read (memory, entry->function, again, sizeof again) &&
         cookie_of (layout, again) == entry->cookie;
}
