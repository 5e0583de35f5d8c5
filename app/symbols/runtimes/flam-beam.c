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

/* The registers are at the top of a scheduler's stack. */
#define TOP_MAX (64u << 10)
/* Of a scheduler by default; more is other memory, such as the stack of a
 * process. */
#define STACK_MAX (1u << 20)
#define REGISTERS_ALIGN 64u
#define REGISTERS_USED 128u  /* rbx is up to this far above their start */
#define LEARN_MAX 256u       /* frames of a stack that is recognized */
#define SCHEDULER_WORDS 128u /* of a scheduler that are searched */
#define SCHEDULERS_MAX 1024u
#define SCHEDULER_SIZE (64u << 10) /* at most; 41.7 KiB in OTP 25 */
#define PAUSE (10u * 1000 * 1000)  /* ns, doubled each time */
#define CALL_SIZE 6u
#define AFTER_CALL 64u /* bytes in which rsp is set again */

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
  if (!find_symbol (elf, "erts_aligned_scheduler_data", &beam.schedulers) ||
      !find_symbol (elf, "erts_no_schedulers", &beam.n_schedulers) ||
      !find_symbol (elf, "erts_schedule", &beam.schedule))
    beam.schedulers = 0;
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

/* The next address to return to on a process's stack, and the stack pointer
 * after that. 0: none. */
static guint64
find_return (const FlamBeam *beam,
             const FlamRuntimeMemory *memory,
             guint64 base,
             guint64 bottom,
             guint64 *sp)
{
  for (guint i = 0; i < FRAME_WORDS; i++)
    {
      guint64 word;

      if (!flam_runtime_read_u64 (memory, *sp, &word))
        return 0;
      *sp += 8;
      if (word != 0 && (word & TAG_MASK) == 0 &&
          (word == bottom || find_module (beam, memory, base, word - 1) != 0))
        return word;
    }
  return 0;
}

/* From C: the functions are the chain's. What remains of the stack is nothing
 * but the process's first frame. */
static FlamBeamStep
leave_c (const FlamRuntimeRegs *regs,
         guint64 bottom,
         FlamRuntimeEntry *entry,
         FlamRuntimeRegs *caller)
{
  if (regs->leaf || regs->entry == 0 ||
      regs->entry != regs->general[FLAM_RUNTIME_RSP])
    return FLAM_BEAM_LOST;
  *entry = (FlamRuntimeEntry){ 0 };
  *caller = (FlamRuntimeRegs){ .pc = bottom };
  caller->general[FLAM_RUNTIME_RSP] = regs->entry + 8;
  caller->known = 1u << FLAM_RUNTIME_RSP;
  return FLAM_BEAM_STEPPED;
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
  if (!flam_runtime_read_u64 (memory, base + beam->bottom, &bottom))
    return FLAM_BEAM_LOST;
  if (!regs->leaf && regs->pc == bottom)
    return FLAM_BEAM_LAST;
  if (!is_process_stack (mark, regs, header))
    return leave_c (regs, bottom, entry, caller);
  word = find_return (beam, memory, base, bottom, &sp);
  if (word == 0)
    return FLAM_BEAM_LOST;
  *caller = (FlamRuntimeRegs){ .pc = word };
  caller->general[FLAM_RUNTIME_RSP] = sp;
  caller->known = 1u << FLAM_RUNTIME_RSP;
  if (word == bottom)
    return FLAM_BEAM_LAST;
  caller->general[FLAM_RUNTIME_RBP] = mark;
  caller->known |= 1u << FLAM_RUNTIME_RBP;
  return FLAM_BEAM_STEPPED;
}

/* --- the process that has called C --------------------------------------- */

/* A scheduler begins with the address of its registers, which are just below
 * the thread's own data. 0: not found, as for a thread that is not a scheduler.
 */
static guint64
find_scheduler (const FlamRuntimeMemory *memory,
                guint64 schedulers,
                guint64 n,
                guint64 fs_base,
                FlamBeamProcess *process,
                guint64 *registers)
{
  guint64 step = process->stride != 0 ? process->stride : REGISTERS_ALIGN;
  guint64 end = n * (process->stride != 0 ? process->stride : SCHEDULER_SIZE);

  for (guint64 at = 0; at < end; at += step)
    {
      if (!flam_runtime_read_u64 (memory, schedulers + at, registers))
        return 0;
      if (fs_base - *registers - 1 >= TOP_MAX ||
          *registers % REGISTERS_ALIGN != 0)
        continue;
      if (at > 0 && at < SCHEDULER_SIZE)
        process->stride = at;
      return schedulers + at;
    }
  return 0;
}

/* kept: the scheduler, its registers, when to look again, and how long to wait
 * then. */
static gboolean
is_scheduler (const FlamBeam *beam,
              FlamBeamProcess *process,
              const FlamRuntimeMemory *memory,
              guint64 base,
              guint64 fs_base,
              gint64 now,
              guint64 *kept)
{
  guint64 schedulers, n;

  if (kept[0] != 0)
    return TRUE;
  if (beam->schedulers == 0 || fs_base == 0 || now < (gint64)kept[2])
    return FALSE;
  if (!flam_runtime_read_u64 (memory, base + beam->schedulers, &schedulers) ||
      !flam_runtime_read_u64 (memory, base + beam->n_schedulers, &n) ||
      schedulers == 0)
    return FALSE;
  kept[3] = CLAMP (2 * kept[3], PAUSE, 1024 * (guint64)PAUSE);
  kept[2] = (guint64)now + kept[3];
  kept[0] = find_scheduler (
      memory, schedulers, MIN (n, SCHEDULERS_MAX), fs_base, process, &kept[1]);
  return kept[0] != 0;
}

/* Whether the stack of a process begins there. */
static gboolean
is_stack (const FlamBeam *beam,
          const FlamRuntimeMemory *memory,
          guint64 base,
          guint64 bottom,
          guint64 sp)
{
  guint64 pc = sp != 0 && sp % 8 == 0 ? base : 0;

  for (guint i = 0; i < LEARN_MAX && pc != 0 && pc != bottom; i++)
    pc = find_return (beam, memory, base, bottom, &sp);
  return pc == bottom;
}

/* While it has called C, a scheduler refers to its process, and to no other
 * that has a stack. */
static gboolean
learn_running (const FlamBeam *beam,
               FlamBeamProcess *process,
               const FlamRuntimeMemory *memory,
               guint64 base,
               guint64 bottom,
               guint offset,
               const guint64 *kept)
{
  guint64 words[SCHEDULER_WORDS], sp;

  if (process->running != 0)
    return TRUE;
  if (!flam_runtime_read (memory, kept[0], words, sizeof words))
    return FALSE;
  for (guint i = 1; i < SCHEDULER_WORDS && process->running == 0; i++)
    if (words[i] % 8 == 0 &&
        flam_runtime_read_u64 (memory, words[i] + offset, &sp) &&
        is_stack (beam, memory, base, bottom, sp))
      process->running = 8 * i;
  return process->running != 0;
}

/* The target of the call before `address`:
 *
 *   e8 x       call x
 *   ff 15 x    call *x(%rip)      0: another kind of call */
static guint64
call_target (const FlamRuntimeMemory *memory,
             guint64 address,
             const guint8 *code)
{
  guint64 target;
  gint32 x;

  memcpy (&x, code + 2, sizeof x);
  target = address + (guint64)(gint64)x;
  if (code[1] == 0xe8)
    return target;
  if (code[0] != 0xff || code[1] != 0x15 ||
      !flam_runtime_read_u64 (memory, target, &target))
    return 0;
  return target;
}

/* Where the process keeps rsp during the call, in bytes from its start:
 *
 *   49 8b 65 x    mov x(%r13), %rsp
 *   48 89 ec      mov %rbp, %rsp       0: not in the process */
static guint
kept_rsp (const guint8 *code)
{
  for (guint i = 0; i + 4 <= AFTER_CALL; i++)
    {
      if (memcmp (code + i, "\x49\x8b\x65", 3) == 0 && code[i + 3] < 0x80)
        return code[i + 3];
      if (memcmp (code + i, "\x48\x89\xec", 3) == 0 ||
          memcmp (code + i, "\x48\x8b\xe5", 3) == 0)
        return 0;
    }
  return 0;
}

static FlamRuntimeEntry
entry_of (const FlamBeam *beam,
          const FlamRuntimeMemory *memory,
          guint64 base,
          guint64 pc)
{
  FlamRuntimeEntry entry = { 0 };
  guint64 number;

  entry.function = find_function (
      beam, memory, find_module (beam, memory, base, pc), pc, &number);
  entry.at = pc - entry.function;
  if (entry.function != 0 &&
      !flam_runtime_read_u64 (
          memory, entry.function + INFO_NAME + 8, &entry.cookie))
    entry.function = 0;
  return entry;
}

gsize
flam_beam_walk (const FlamBeam *beam,
                FlamBeamProcess *process,
                const FlamRuntimeMemory *memory,
                guint64 base,
                const FlamRuntimeRegs *regs,
                gint64 now,
                guint64 *kept,
                FlamRuntimeEntry *entries,
                gsize limit)
{
  guint64 sp = regs->general[FLAM_RUNTIME_RSP], pc, running, bottom;
  guint8 code[CALL_SIZE + AFTER_CALL];
  guint offset;
  gsize n = 0;

  if (limit == 0 ||
      !is_scheduler (beam, process, memory, base, regs->fs_base, now, kept))
    return 0;
  if (kept[1] - sp - 1 >= STACK_MAX ||
      !flam_runtime_read_u64 (memory, kept[1] - 8, &pc) ||
      !flam_runtime_read (memory, pc - CALL_SIZE, code, sizeof code) ||
      !flam_runtime_read_u64 (memory, base + beam->bottom, &bottom))
    return 0;
  if (call_target (memory, pc, code) == base + beam->schedule)
    {
      entries[0] = (FlamRuntimeEntry){ .at = kept[1] };
      return 1;
    }
  offset = kept_rsp (code + CALL_SIZE);
  if (offset == 0 ||
      !learn_running (beam, process, memory, base, bottom, offset, kept) ||
      !flam_runtime_read_u64 (memory, kept[0] + process->running, &running) ||
      !flam_runtime_read_u64 (memory, running + offset, &sp))
    return 0;
  while (pc != bottom && n + 1 < limit)
    {
      FlamRuntimeEntry entry = entry_of (beam, memory, base, pc - 1);

      if (entry.function != 0)
        entries[n++] = entry;
      pc = find_return (beam, memory, base, bottom, &sp);
      if (pc == 0)
        return n;
    }
  entries[n++] = (FlamRuntimeEntry){ .at = kept[1] };
  return n;
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
