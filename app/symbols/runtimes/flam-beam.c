/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-beam.h"

#include <string.h>

#include "flam-symbol-table.h"

#define CODE_MAX 64 /* bytes of a function that are decoded */
#define RANGE_SIZE 32
#define MODULE_SIZE 16
#define MODULES_MAX (1u << 20)
#define FUNCTIONS_MAX (1u << 20)
#define LINES_MAX (1u << 24)
/* Words of a frame: at most 1024 values and the return address. */
#define FRAME_WORDS 1025
#define CODE_LINES 72 /* of the header of a module's code */
#define INFO_NAME                                                              \
  16 /* of a function's description: module, function, arity                   \
      */
#define ATOM_SEGMENTS 120
#define ATOM_LENGTH 24
#define ATOM_NAME 32
#define BINARY_DATA 16 /* of a binary in the heap */
#define TEXT_MAX 255   /* characters of a file's name */

#define TAG_MASK 3u
#define TAG_LIST 1u
#define NIL 0x3bu

/* --- the file ------------------------------------------------------------ */

static const struct
{
  guint release;
  guint16 functions;
} versions[] = { { 25, 96 }, { 27, 136 }, { 28, 152 } };

/* The target of the first instruction with an operand relative to the program
 * counter: with the opcode `opcode` after a REX prefix, or a call (0xe8). 0:
 * none. */
static guint64
decode (const FlamElf *elf, int fd, guint64 vaddr, guint8 opcode)
{
  guint8 code[CODE_MAX];
  gsize n = flam_runtime_file_read (elf, fd, vaddr, code, sizeof code);

  for (gsize i = 0; i + 8 <= n; i++)
    {
      gboolean calls = opcode == 0xe8 && code[i] == opcode;
      gsize at = calls ? i + 1 : i + 3;
      gint32 distance;

      if (!calls && ((code[i] & 0xf8) != 0x48 || code[i + 1] != opcode ||
                     (code[i + 2] & 0xc7) != 5))
        continue;
      memcpy (&distance, code + at, sizeof distance);
      return vaddr + at + sizeof distance + (guint64)(gint64)distance;
    }
  return 0;
}

static guint
release_of (const FlamElf *elf, int fd)
{
  char text[8] = "";
  guint64 vaddr, size;

  if (!flam_elf_find_symbol (elf, "etp_otp_release", &vaddr, &size) ||
      flam_runtime_file_read (
          elf, fd, vaddr, text, MIN (size, sizeof text - 1)) == 0)
    return 0;
  return (guint)g_ascii_strtoull (text, NULL, 10);
}

static gboolean
find_symbol (const FlamElf *elf, const char *name, guint64 *vaddr)
{
  guint64 size;

  return flam_elf_find_symbol (elf, name, vaddr, &size);
}

gboolean
flam_beam_find (const FlamElf *elf,
                int fd,
                const char *path,
                FlamRuntimeFile *file)
{
  g_autofree char *base = g_path_get_basename (path);
  FlamBeam beam = { 0 };
  guint64 look_up = 0;

  if (!g_str_has_prefix (base, "beam."))
    return FALSE;
  beam.release = release_of (elf, fd);
  if (beam.release == 0)
    return FALSE;
  g_snprintf (file->version, sizeof file->version, "%u", beam.release);
  file->help = N_ ("start erl with +JPperf true");
  file->variable = "ERL_FLAGS=+JPperf true";
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    if (versions[i].release == beam.release)
      beam.functions = versions[i].functions;
  if (beam.functions == 0)
    {
      file->why = N_ ("this version is not supported: 25, 27 and 28 are");
      return TRUE;
    }
  if (find_symbol (elf, "erts_lookup_function_info", &look_up))
    look_up = decode (elf, fd, look_up, 0xe8);
  if (look_up != 0)
    beam.ranges = decode (elf, fd, look_up, 0x8d);
  if (beam.ranges == 0 ||
      !find_symbol (elf, "the_active_code_index", &beam.index) ||
      !find_symbol (elf, "erts_atom_table", &beam.atoms) ||
      !find_symbol (elf, "beam_normal_exit", &beam.bottom))
    {
      file->why = N_ ("its table of modules was not found in the file");
      return TRUE;
    }
  file->help = NULL;
  file->facts = g_memdup2 (&beam, sizeof beam);
  return TRUE;
}

/* --- code ---------------------------------------------------------------- */

/* The last of `n` ascending items of `size` bytes whose first word is at or
 * below `value`. FALSE: none, or not readable. */
static gboolean
find_last (const FlamRuntimeMemory *memory,
           guint64 items,
           guint64 n,
           guint64 size,
           guint64 value,
           guint64 *index)
{
  guint64 low = 0, high = n, word;

  while (low < high)
    {
      guint64 middle = low + (high - low) / 2;

      if (!flam_runtime_read_u64 (memory, items + middle * size, &word))
        return FALSE;
      if (word <= value)
        low = middle + 1;
      else
        high = middle;
    }
  *index = low - 1;
  return low > 0;
}

/* The header of the module's code that contains `pc`; 0: none. */
static guint64
find_module (const FlamBeam *beam,
             const FlamRuntimeMemory *memory,
             guint64 base,
             guint64 pc)
{
  guint64 range[2], module[2], index;
  guint32 active;

  if (!flam_runtime_read_u32 (memory, base + beam->index, &active) ||
      active > 2 ||
      !flam_runtime_read (memory,
                          base + beam->ranges + active * RANGE_SIZE,
                          range,
                          sizeof range) ||
      range[1] > MODULES_MAX ||
      !find_last (memory, range[0], range[1], MODULE_SIZE, pc, &index) ||
      !flam_runtime_read (
          memory, range[0] + index * MODULE_SIZE, module, sizeof module))
    return 0;
  return pc < module[1] ? module[0] : 0;
}

/* The function that contains `pc`: its description, which is before its code,
 * and its number. 0: none. */
static guint64
find_function (const FlamBeam *beam,
               const FlamRuntimeMemory *memory,
               guint64 header,
               guint64 pc,
               guint64 *number)
{
  guint64 n, function;

  if (header == 0 || !flam_runtime_read_u64 (memory, header, &n) ||
      n > FUNCTIONS_MAX ||
      !find_last (memory, header + beam->functions, n, 8, pc, number) ||
      !flam_runtime_read_u64 (
          memory, header + beam->functions + 8 * *number, &function))
    return 0;
  return function;
}

/* --- frames -------------------------------------------------------------- */

/* Whether the stack is that of an Erlang process: of the innermost frame if its
 * pc is in a module's code; of a caller if its callee's stack was. Compiled
 * code does not use rbp, so the walk marks that in the caller's rbp. */
static gboolean
is_process_stack (guint64 mark, const FlamRuntimeRegs *regs, guint64 header)
{
  return regs->leaf ? header != 0
                    : flam_runtime_knows (regs, FLAM_RUNTIME_RBP) &&
                          regs->general[FLAM_RUNTIME_RBP] == mark;
}

FlamBeamStep
flam_beam_step (const FlamBeam *beam,
                const FlamRuntimeMemory *memory,
                guint64 base,
                const FlamRuntimeRegs *regs,
                FlamRuntimeEntry *entry,
                FlamRuntimeRegs *caller)
{
  guint64 pc = regs->leaf ? regs->pc : regs->pc - 1;
  guint64 sp = regs->general[FLAM_RUNTIME_RSP];
  guint64 header = find_module (beam, memory, base, pc);
  guint64 mark = base + beam->ranges, number, bottom, word;

  entry->function = find_function (beam, memory, header, pc, &number);
  entry->at = pc - entry->function;
  /* The names in it are atoms, which are never replaced. */
  if (entry->function != 0 &&
      !flam_runtime_read_u64 (
          memory, entry->function + INFO_NAME + 8, &entry->cookie))
    entry->function = 0;
  if (!is_process_stack (mark, regs, header) ||
      !flam_runtime_read_u64 (memory, base + beam->bottom, &bottom))
    return FLAM_BEAM_LOST;
  for (guint i = 0; i < FRAME_WORDS; i++)
    {
      if (!flam_runtime_read_u64 (memory, sp + 8 * i, &word))
        return FLAM_BEAM_LOST;
      if (word == 0 || (word & TAG_MASK) != 0)
        continue;
      if (word != bottom && find_module (beam, memory, base, word - 1) == 0)
        continue;
      *caller = (FlamRuntimeRegs){ .pc = word };
      caller->general[FLAM_RUNTIME_RSP] = sp + 8 * (i + 1);
      caller->known = 1u << FLAM_RUNTIME_RSP;
      if (word == bottom)
        return FLAM_BEAM_LAST;
      caller->general[FLAM_RUNTIME_RBP] = mark;
      caller->known = 1u << FLAM_RUNTIME_RSP | 1u << FLAM_RUNTIME_RBP;
      return FLAM_BEAM_STEPPED;
    }
  return FLAM_BEAM_LOST;
}

/* --- names --------------------------------------------------------------- */

/* NULL: not an atom. */
static const char *
read_atom (const FlamBeam *beam,
           const FlamRuntimeMemory *memory,
           guint64 base,
           guint64 term,
           FlamRuntimeName *name)
{
  guint64 index = term >> 6, segments, segment, atom, text;
  gint16 length;

  if (!flam_runtime_read_u64 (
          memory, base + beam->atoms + ATOM_SEGMENTS, &segments) ||
      index >> 20 != 0 ||
      !flam_runtime_read_u64 (memory, segments + 8 * (index >> 10), &segment) ||
      !flam_runtime_read_u64 (memory, segment + 8 * (index & 1023), &atom) ||
      !flam_runtime_read (memory, atom + ATOM_LENGTH, &length, sizeof length) ||
      !flam_runtime_read_u64 (memory, atom + ATOM_NAME, &text) || length < 0)
    return NULL;
  /* From 28 on it is a term: a binary in the heap. */
  if (beam->release >= 28)
    text = (text & ~(guint64)TAG_MASK) + BINARY_DATA;
  return flam_runtime_name_read (name, memory, text, (guint64)length);
}

/* A list of characters. */
static const char *
read_list (const FlamRuntimeMemory *memory, guint64 list, FlamRuntimeName *name)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < TEXT_MAX && list != NIL; i++)
    {
      guint64 cell[2];

      if ((list & TAG_MASK) != TAG_LIST ||
          !flam_runtime_read (memory, list - TAG_LIST, cell, sizeof cell))
        return "";
      g_string_append_unichar (
          text, cell[0] >> 4 < 0x110000 ? (gunichar)(cell[0] >> 4) : 0xfffd);
      list = cell[1];
    }
  return flam_runtime_name_utf8 (name, text->str, text->len);
}

/* Line 0: unknown. */
static void
read_line (const FlamRuntimeMemory *memory,
           guint64 header,
           guint64 number,
           guint64 pc,
           const char *module,
           FlamRuntimeName *name,
           FlamRuntimeNamed *named)
{
  struct
  {
    guint64 files;
    guint32 size; /* of a location */
    guint32 unused;
    guint64 locations;
    guint64 first; /* addresses of the first function's lines */
  } lines;
  guint64 table, own[2], index, file;
  guint32 location = 0;

  if (!flam_runtime_read_u64 (memory, header + CODE_LINES, &table) ||
      !flam_runtime_read (memory, table, &lines, sizeof lines) ||
      !flam_runtime_read (memory, table + 24 + 8 * number, own, sizeof own) ||
      own[1] < own[0] || own[1] - own[0] > LINES_MAX ||
      !find_last (memory, own[0], (own[1] - own[0]) / 8, 8, pc, &index) ||
      own[0] < lines.first)
    return;
  index += (own[0] - lines.first) / 8;
  if (!flam_runtime_read (memory,
                          lines.locations + index * (lines.size == 2 ? 2 : 4),
                          &location,
                          lines.size == 2 ? 2 : 4) ||
      location == 0)
    return;
  named->line = location & 0xffffff;
  if (location >> 24 == 0)
    named->file = flam_runtime_name_printf (name, "%s.erl", module);
  else if (flam_runtime_read_u64 (
               memory, lines.files + 8 * ((location >> 24) - 1), &file))
    named->file = read_list (memory, file, name);
}

gboolean
flam_beam_name (const FlamBeam *beam,
                const FlamRuntimeMemory *memory,
                guint64 base,
                const FlamRuntimeEntry *entry,
                FlamRuntimeName *name)
{
  guint64 pc = entry->function + entry->at, words[3], number;
  guint64 header = find_module (beam, memory, base, pc);
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  const char *module, *function;

  if (find_function (beam, memory, header, pc, &number) != entry->function ||
      !flam_runtime_read (
          memory, entry->function + INFO_NAME, words, sizeof words) ||
      words[1] != entry->cookie ||
      (module = read_atom (beam, memory, base, words[0], name)) == NULL ||
      (function = read_atom (beam, memory, base, words[1], name)) == NULL)
    return FALSE;
  named->type = module;
  named->function = flam_runtime_name_printf (
      name, "%s/%u", function, (guint)(words[2] & 0xff));
  named->compiled = true;
  read_line (memory, header, number, pc, module, name, named);
  return TRUE;
}
