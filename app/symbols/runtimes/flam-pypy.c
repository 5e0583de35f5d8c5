/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pypy.h"

#include "flam-call-site.h"
#include "flam-code-ranges.h"

#include <string.h>

#define FRAME_WORDS 23
#define SAVED_BP 12
#define SAVED_BX 13
#define MORE_WORDS 16
#define CODE_MAX (1ull << 28) /* bytes */

/* An element of a thread's list. */
#define CALL_VALUE 8
#define CALL_KIND 16
#define CALL_SIZE 24
#define KIND_INTERPRETED 1
#define KIND_COMPILED 3
#define KIND_MAX 5
#define CALLS_MAX 4096
#define JUST_BELOW 128 /* bytes that compiled code pushes */

/* A node of the map. */
#define NODE_DATA 8
#define NODE_NEXT 16
#define NODE_LEVELS 8
#define STEPS_MAX 512
#define CODE_ENTRY 32 /* bytes */
#define CODE_ENTRIES_MAX 4096
#define INLINED_MAX 64

/* Objects: a tag whose lower half is the type, and fields. */
#define ARRAY_LENGTH 8
#define ARRAY_ITEMS 16
#define REFERENCE_TO 8
#define STRING_LENGTH 16
#define STRING_CHARS 24
#define CODE_NAME 8
#define LINES_MAX (1u << 24)
#define LIST_MIN 256
#define LIST_MAX (1u << 16)
#define LIST_PROBES 64
#define LIST_CODES_MIN 8
#define DATA_MAX (64u << 20)
#define BSS_MAX (1u << 20)
#define OUTSIDE_MAX (1u << 16) /* reads */
#define CHUNK 512              /* words */

/* The function that calls the interpreter for a function makes an element of
 * the thread's list:
 *
 *   bf 18 0 0 0      mov $24, %edi
 *   4c 8b 70 N       mov N(%rax), %r14      the function's number
 *   e8 x             call malloc
 *   ...
 *   48 c7 45 10 1 .. movq $1, 16(%rbp)      the kind
 *   ...
 *   48 89 68 T       mov %rbp, T(%rax)      the thread's list */
static gboolean
read_call (const guint8 *code, gsize n, guint *number, guint *calls)
{
  static const guint8 size[] = { 0xbf, CALL_SIZE, 0, 0, 0 };
  static const guint8 kind[] = { CALL_KIND, KIND_INTERPRETED, 0, 0, 0 };
  const gsize near = 64;

  if (n < 3 * near || memcmp (code, size, sizeof size) != 0 ||
      (code[5] & 0xf8) != 0x48 || code[6] != 0x8b || code[7] >> 6 != 1 ||
      code[9] != 0xe8)
    return FALSE;
  *number = code[8];
  for (gsize i = 14; i < 14 + near; i++)
    if ((code[i] & 0xfe) == 0x48 && code[i + 1] == 0xc7 &&
        code[i + 2] >> 3 == 8 && memcmp (code + i + 3, kind, sizeof kind) == 0)
      for (gsize k = i + 8; k < i + near; k++)
        if ((code[k] & 0xfb) == 0x48 && code[k + 1] == 0x89 &&
            (code[k + 2] & 0xc7) == 0x40)
          {
            *calls = code[k + 3];
            return TRUE;
          }
  return FALSE;
}

static void
find_call (const FlamElf *elf,
           const FlamElfSection *text,
           FlamPyPyFile *facts,
           FlamRuntimeFile *file)
{
  guint number, calls;

  for (gsize i = 0; text->data != NULL && i < text->size; i++)
    {
      const guint8 *at = memchr (text->data + i, 0xbf, (gsize)text->size - i);

      if (at == NULL)
        return;
      i = (gsize)(at - text->data);
      if (read_call (at, (gsize)text->size - i, &number, &calls))
        {
          g_autoptr (FlamCodeRanges) ranges = flam_code_ranges_new (elf);
          FlamCodeRange found;

          if (!flam_code_ranges_find (ranges, text->vaddr + i, &found) ||
              !flam_thread_variable_local (elf, calls, &facts->calls))
            return;
          facts->number = number;
          file->evaluators[file->n_evaluators++] =
              (FlamRuntimeRange){ found.start, found.end };
          return;
        }
    }
}

static FlamRuntimeRange
range_of (const FlamElf *elf, const char *name, guint64 max)
{
  FlamElfSection section;

  return flam_elf_get_section (elf, name, &section)
             ? (FlamRuntimeRange){ section.vaddr,
                                   section.vaddr + MIN (section.size, max) }
             : (FlamRuntimeRange){ 0 };
}

gboolean
flam_pypy_find (const FlamElf *elf,
                int fd,
                const char *path,
                FlamRuntimeFile *file)
{
  g_autofree char *base = g_path_get_basename (path);
  FlamPyPyFile facts = { 0 };
  FlamElfSection text;

  (void)fd;
  if (!g_str_has_prefix (base, "libpypy") ||
      flam_elf_get_machine (elf) != EM_X86_64 ||
      !flam_elf_get_section (elf, ".text", &text))
    return FALSE;
  facts.text = (FlamRuntimeRange){ text.vaddr, text.vaddr + text.size };
  facts.data = range_of (elf, ".data", DATA_MAX);
  facts.bss = range_of (elf, ".bss", BSS_MAX);
  find_call (elf, &text, &facts, file);
  file->facts = g_memdup2 (&facts, sizeof facts);
  return TRUE;
}

static void
restore (const FlamRuntimeMemory *memory,
         FlamRuntimeRegs *caller,
         guint reg,
         guint64 at)
{
  if (flam_runtime_read_u64 (memory, at, &caller->general[reg]))
    caller->known |= 1u << reg;
}

/* Whether the address follows a call and is in the library, which may also jump
 * to compiled code from a function that was called, or in compiled code, all of
 * which is close together. */
static gboolean
returns_to (const FlamPyPyFile *file,
            const FlamRuntimeMemory *memory,
            guint64 base,
            guint64 pc,
            guint64 address)
{
  gboolean in_library =
      address - base - file->text.start < file->text.end - file->text.start;

  return (in_library || address - pc + CODE_MAX < 2 * CODE_MAX) &&
         flam_call_site_kind (memory, address) != FLAM_CALL_NONE;
}

gboolean
flam_pypy_step (const FlamPyPyFile *file,
                const FlamRuntimeMemory *memory,
                guint64 base,
                const FlamRuntimeRegs *regs,
                FlamRuntimeRegs *caller)
{
  guint64 frame = regs->general[FLAM_RUNTIME_RSP];

  for (guint i = 0; i < MORE_WORDS; i++, frame += 8)
    {
      guint64 pc;

      if (!flam_runtime_read_u64 (memory, frame + 8 * FRAME_WORDS, &pc))
        return FALSE;
      if (!returns_to (file, memory, base, regs->pc, pc))
        continue;
      *caller = (FlamRuntimeRegs){ .pc = pc };
      caller->general[FLAM_RUNTIME_RSP] = frame + 8 * (FRAME_WORDS + 1);
      caller->known = 1u << FLAM_RUNTIME_RSP;
      restore (memory, caller, FLAM_RUNTIME_RBP, frame + 8 * SAVED_BP);
      restore (memory, caller, FLAM_RUNTIME_RBX, frame + 8 * SAVED_BX);
      return TRUE;
    }
  return FALSE;
}

/* --- the list of all functions ------------------------------------------- */

/* A text, whose type is returned. */
static gboolean
is_string (const FlamRuntimeMemory *memory,
           guint64 address,
           guint32 *type,
           guint64 *length)
{
  guint8 bytes[STRING_CHARS];

  if (address == 0 || !flam_runtime_read (memory, address, bytes, sizeof bytes))
    return FALSE;
  *type = flam_runtime_u32 (bytes, 0);
  *length = flam_runtime_u64 (bytes, STRING_LENGTH);
  return *length <= FLAM_RUNTIME_TEXT_MAX;
}

/* A function: a name, a number that is a multiple of 4, and a file's name that
 * a line follows. */
static gboolean
is_code (const FlamPyPyFile *file,
         const FlamRuntimeMemory *memory,
         guint64 code,
         guint *file_offset)
{
  guint64 name, number, length;
  guint32 type, other;

  if (!flam_runtime_read_u64 (memory, code + CODE_NAME, &name) ||
      !is_string (memory, name, &type, &length) || length == 0 ||
      !flam_runtime_read_u64 (memory, code + file->number, &number) ||
      number % 4 != 0 || number > G_MAXUINT32)
    return FALSE;
  for (guint offset = file->number + 40; offset <= file->number + 64;
       offset += 8)
    {
      guint64 words[2];

      if (flam_runtime_read (memory, code + offset, words, sizeof words) &&
          words[1] < LINES_MAX &&
          is_string (memory, words[0], &other, &length) && other == type)
        {
          *file_offset = offset;
          return TRUE;
        }
    }
  return FALSE;
}

/* The function at an index of the list; 0: none, or freed. */
static gboolean
read_code (const FlamRuntimeMemory *memory, guint64 reference, guint64 *code)
{
  return reference != 0 && reference % 8 == 0 &&
         flam_runtime_read_u64 (memory, reference + REFERENCE_TO, code);
}

static gboolean
is_list (const FlamPyPyFile *file,
         const FlamRuntimeMemory *memory,
         guint64 list,
         guint64 n,
         guint *file_offset)
{
  guint n_codes = 0;

  for (guint i = 0; i < LIST_PROBES; i++)
    {
      guint64 at = list + ARRAY_ITEMS + 8 * (i * (n - 1) / (LIST_PROBES - 1));
      guint64 reference, code;
      guint offset;

      if (!flam_runtime_read_u64 (memory, at, &reference) ||
          !read_code (memory, reference, &code))
        return FALSE;
      if (code == 0)
        continue;
      if (!is_code (file, memory, code, &offset) ||
          (n_codes > 0 && offset != *file_offset))
        return FALSE;
      *file_offset = offset;
      n_codes++;
    }
  return n_codes >= LIST_CODES_MIN;
}

/* The list begins with 4 elements and is doubled when it is full. */
static gboolean
may_be_length (guint64 n)
{
  return n >= LIST_MIN && n <= LIST_MAX && (n & (n - 1)) == 0;
}

FlamPyPyOpened
flam_pypy_open (const FlamPyPyFile *file,
                const FlamRuntimeMemory *memory,
                guint64 base,
                FlamPyPyLayout *layout)
{
  const guint64 start = base + file->data.start;
  const gsize n = (gsize)((file->data.end - file->data.start) / 8);
  g_autofree guint64 *words = g_new0 (guint64, n + 2);
  guint outside = 0;
  gboolean relocated = FALSE;

  if (file->number == 0 || start % 8 != 0)
    return FLAM_PYPY_UNKNOWN;
  for (gsize i = 0; i < n; i += CHUNK)
    if (!flam_runtime_read (
            memory, start + 8 * i, words + i, 8 * MIN (CHUNK, n - i)))
      return FLAM_PYPY_NOT_YET;
  for (gsize i = 0; i < n; i++)
    {
      guint64 at = (words[i] - start) / 8, length;

      if (words[i] == 0 || words[i] % 8 != 0)
        continue;
      if (at < n)
        {
          /* The relocations are made in the order of their places. */
          relocated |= i > n / 2;
          length = words[at + 1];
        }
      else if (words[i] - base < file->bss.end || words[i] < CODE_MAX ||
               words[i] >> 47 != 0 || outside >= OUTSIDE_MAX)
        continue;
      else
        {
          outside++;
          if (!flam_runtime_read_u64 (memory, words[i] + ARRAY_LENGTH, &length))
            continue;
        }
      if (may_be_length (length) &&
          is_list (file, memory, words[i], length, &layout->file))
        {
          layout->codes = start + 8 * i;
          return FLAM_PYPY_OPENED;
        }
    }
  return relocated ? FLAM_PYPY_UNKNOWN : FLAM_PYPY_NOT_YET;
}

static gboolean
name_code (const FlamPyPyFile *file,
           const FlamPyPyLayout *layout,
           const FlamRuntimeMemory *memory,
           guint64 code,
           guint64 number,
           FlamRuntimeName *name)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  guint64 texts[2], words[2], lengths[2], now;
  guint32 type;

  if (!flam_runtime_read_u64 (memory, code + CODE_NAME, &texts[0]) ||
      !flam_runtime_read (memory, code + layout->file, words, sizeof words))
    return FALSE;
  texts[1] = words[0];
  for (guint i = 0; i < 2; i++)
    if (!is_string (memory, texts[i], &type, &lengths[i]))
      return FALSE;
  named->function = flam_runtime_name_read (
      name, memory, texts[0] + STRING_CHARS, lengths[0]);
  named->file = flam_runtime_name_read (
      name, memory, texts[1] + STRING_CHARS, lengths[1]);
  named->first_line = words[1] < LINES_MAX ? (guint32)words[1] : 0;
  named->type = "";
  /* It may have moved meanwhile. */
  return named->function != NULL && named->file != NULL &&
         flam_runtime_read_u64 (memory, code + file->number, &now) &&
         now == number;
}

gboolean
flam_pypy_name (const FlamPyPyFile *file,
                const FlamPyPyLayout *layout,
                const FlamRuntimeMemory *memory,
                guint64 number,
                FlamRuntimeName *name)
{
  guint64 references[CHUNK], list, n;

  if (!flam_runtime_read_u64 (memory, layout->codes, &list) ||
      !flam_runtime_read_u64 (memory, list + ARRAY_LENGTH, &n) || n > LIST_MAX)
    return FALSE;
  /* The latest functions are in the second half, from its end on. */
  for (guint64 end = n; end > 0; end -= MIN (end, CHUNK))
    {
      guint64 from = end - MIN (end, CHUNK);

      if (!flam_runtime_read (memory,
                              list + ARRAY_ITEMS + 8 * from,
                              references,
                              (gsize)(8 * (end - from))))
        return FALSE;
      for (guint64 i = end - from; i-- > 0;)
        {
          guint64 code, found;

          if (read_code (memory, references[i], &code) && code != 0 &&
              flam_runtime_read_u64 (memory, code + file->number, &found) &&
              found == number)
            return name_code (file, layout, memory, code, number, name);
        }
    }
  return FALSE;
}

/* --- the map of compiled code -------------------------------------------- */

/* The head has the address 0 and no data. The data of a node follow it. */
static gboolean
is_node (const FlamRuntimeMemory *memory, guint64 node)
{
  guint64 data;
  guint32 size;

  return node != 0 && node % 8 == 0 &&
         flam_runtime_read_u64 (memory, node + NODE_DATA, &data) &&
         data - node > NODE_NEXT &&
         data - node <= NODE_NEXT + 8 * NODE_LEVELS &&
         flam_runtime_read_u32 (memory, data, &size) && size > 0;
}

gboolean
flam_pypy_find_map (const FlamPyPyFile *file,
                    const FlamRuntimeMemory *memory,
                    guint64 base,
                    guint64 *map)
{
  guint64 words[CHUNK];
  guint64 end = base + file->bss.end;

  /* Chunks overlap by the two words that precede the first of a head. */
  for (guint64 at = base + file->bss.start; at + 24 <= end;
       at += 8 * (CHUNK - 2))
    {
      gsize n = (gsize)MIN (CHUNK, (end - at) / 8);

      if (!flam_runtime_read (memory, at, words, 8 * n))
        return FALSE;
      for (gsize i = 0; i + 2 < n; i++)
        if (words[i] == 0 && words[i + 1] == 0 &&
            is_node (memory, words[i + 2]))
          {
            *map = at + 8 * i;
            return TRUE;
          }
    }
  return FALSE;
}

/* The functions at `pc`, outermost first; returns how many. */
static guint
find_compiled (const FlamRuntimeMemory *memory,
               guint64 map,
               guint64 pc,
               guint64 *numbers)
{
  guint64 node = map, start, data, entries;
  guint32 sizes[2];
  guint n = 0, index = 0;
  int level = NODE_LEVELS - 1;

  for (guint i = 0; level >= 0; i++)
    {
      guint64 next, key;

      if (i == STEPS_MAX ||
          !flam_runtime_read_u64 (
              memory, node + NODE_NEXT + 8 * (guint64)level, &next))
        return 0;
      if (next != 0 && flam_runtime_read_u64 (memory, next, &key) && key <= pc)
        node = next;
      else
        level--;
    }
  if (node == map || !flam_runtime_read_u64 (memory, node, &start) ||
      !flam_runtime_read_u64 (memory, node + NODE_DATA, &data) ||
      !flam_runtime_read (memory, data, sizes, sizeof sizes) ||
      !flam_runtime_read_u64 (memory, data + 8, &entries) ||
      pc - start >= sizes[0])
    return 0;
  /* Words: number, from, to, index of the entry after those within it. */
  for (guint i = 0; i < CODE_ENTRIES_MAX && n < INLINED_MAX; i++)
    {
      guint64 words[4];

      if (index + 4 > sizes[1] ||
          !flam_runtime_read (
              memory, entries + 8 * (guint64)index, words, sizeof words) ||
          words[1] > pc - start)
        break;
      if (words[2] > pc - start)
        {
          if (words[0] != 0)
            numbers[n++] = words[0];
          index += 4;
        }
      else if (words[3] <= index || words[3] > sizes[1])
        break;
      else
        index = (guint)words[3];
    }
  return n;
}

/* --- the functions of a thread ------------------------------------------- */

typedef struct
{
  FlamRuntimeEntry *entries;
  gsize n;
  gsize limit;
  guint64 outermost; /* the function that is in both lists; 0: none */
} Walk;

static void
put_functions (Walk *walk, const guint64 *numbers, guint n, guint64 at)
{
  if (n > 0 && numbers[n - 1] == walk->outermost)
    n--;
  if (walk->limit - walk->n < n + 1)
    {
      walk->limit = walk->n;
      return;
    }
  for (guint i = n; i-- > 0;)
    walk->entries[walk->n++] = (FlamRuntimeEntry){ .function = numbers[i] };
  walk->entries[walk->n++] = (FlamRuntimeEntry){ .at = at };
}

static void
put_compiled (Walk *walk,
              const FlamRuntimeMemory *memory,
              guint64 map,
              const FlamRuntimeRegs *regs,
              guint64 rsp)
{
  guint64 numbers[INLINED_MAX], pc;
  guint n = 0;

  if (rsp - regs->general[FLAM_RUNTIME_RSP] <= JUST_BELOW)
    n = find_compiled (memory, map, regs->pc, numbers);
  if (n == 0 && flam_runtime_read_u64 (memory, rsp - 8, &pc))
    n = find_compiled (memory, map, pc, numbers);
  if (n == 0)
    return;
  put_functions (walk, numbers, n, rsp);
  walk->outermost = numbers[0];
}

gsize
flam_pypy_walk (const FlamPyPyFile *file,
                const FlamRuntimeMemory *memory,
                guint64 base,
                guint64 map,
                const FlamRuntimeRegs *regs,
                FlamRuntimeEntry *entries,
                gsize limit)
{
  Walk walk = { .entries = entries, .limit = limit };
  guint64 list, call;

  if (file->number == 0 ||
      !flam_thread_variable_address (
          &file->calls, memory, base, regs->fs_base, &list) ||
      !flam_runtime_read_u64 (memory, list, &call))
    return 0;
  for (guint i = 0; call != 0 && i < CALLS_MAX && walk.n < walk.limit; i++)
    {
      guint64 words[CALL_SIZE / 8];

      if (call % 8 != 0 ||
          !flam_runtime_read (memory, call, words, sizeof words) ||
          words[CALL_KIND / 8] == 0 || words[CALL_KIND / 8] > KIND_MAX)
        break;
      if (words[CALL_KIND / 8] == KIND_COMPILED && map != 0)
        put_compiled (&walk, memory, map, regs, words[CALL_VALUE / 8]);
      else if (words[CALL_KIND / 8] == KIND_INTERPRETED)
        {
          put_functions (
              &walk, &words[CALL_VALUE / 8], words[CALL_VALUE / 8] != 0, 0);
          walk.outermost = 0;
        }
      call = words[0];
    }
  return walk.n;
}
