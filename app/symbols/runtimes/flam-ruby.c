/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ruby.h"

#include <stdio.h>
#include <string.h>

#include "flam-code-ranges.h"
#include "flam-runtime-lines.h"
#include "flam-symbol-table.h"

/* A control frame: pc 0, sp 8, iseq 16, self 24, ep 32. */
#define FRAME_PC 0
#define FRAME_ISEQ 16
#define FRAME_EP 32
#define FRAME_READ 40

/* An execution context: vm_stack 0, its size in words 8, cfp 16, thread 48. */
#define CONTEXT_READ 56
#define CONTEXT_THREAD 48
#define STACK_MAX (64u << 20)

/* pthread_t is somewhere in a thread object's first bytes. */
#define THREAD_READ 1024

/* Flags of an environment: vm_core.h, VM_FRAME_MAGIC_, VM_FRAME_FLAG_. */
#define KIND_MASK 0x7fff0001u
#define KIND_CFUNC 0x55550001u
#define FLAG_FINISH 0x20u
#define FLAG_LOCAL 0x2u
#define ENVIRONMENTS_MAX 10

/* An object: flags 0, class 8. */
#define TYPE_MASK 31u
#define TYPE_STRING 5u
#define TYPE_ARRAY 7u
#define TYPE_IMEMO 26u
#define IMEMO_SVAR 2u
#define IMEMO_METHOD 6u
#define NOEMBED (1u << 13) /* of strings; of arrays, the opposite */
#define EMBEDDED_LENGTH_SHIFT 14
#define EMBEDDED_LENGTH_MASK 31u

/* A method entry: class 8, definition 16, owner 32. A definition: original_id
 * 32. */
#define METHOD_OWNER 32

/* A class: extension 24; an object's flag that it is a singleton class. A table
 * of variables: number of entries 32 to 40, entries 48: hash, key, value. */
#define CLASS_EXTENSION 24
#define SINGLETON (1u << 12)
#define TYPE_CLASS 2u
#define TYPE_MODULE 3u
#define TABLE_READ 56
#define VARIABLES_MAX 64u

/* An iseq: body 16. A body: type 0, iseq_size 4, encoded 8, location 64. */
#define ISEQ_BODY 16
#define BODY_READ 176
#define BODY_SIZE 4
#define BODY_ENCODED 8
#define BODY_PATH 64
#define BODY_BASE_LABEL 72
#define BODY_LABEL 80
#define BODY_FIRST_LINE 88

/* iseq.c: 6 words of ranks for the first 54 positions, then blocks for 512. */
#define IMMEDIATE 54
#define IMMEDIATE_SIZE 48
#define BLOCK_BITS 512
#define BLOCK_SIZE 80
#define POSITIONS_MAX (1u << 16)

/* symbol.c: ID_SCOPE_SHIFT, ID_ENTRY_UNIT; the table's last_id 0, ids 16. */
#define ID_SHIFT 4
#define ID_UNIT 512
#define SYMBOLS_IDS 16

/* Marks the key of a function written in C, whose key is its method entry. */
#define KEY_CFUNC 1u

static const FlamRubyLayout layouts[] = {
  { .version = 0x0206,
    .frame_size = 56,
    .body_lines = 120,
    .body_n_lines = 136,
    .body_index = 144,
    .line_size = 8,
    .string_embedded = 16,
    .first_line_is_object = true,
    .last_operator = 164 },
  { .version = 0x0207,
    .frame_size = 56,
    .body_lines = 120,
    .body_n_lines = 136,
    .body_index = 144,
    .line_size = 8,
    .string_embedded = 16,
    .first_line_is_object = true,
    .last_operator = 168 },
  { .version = 0x0300,
    .frame_size = 56,
    .body_lines = 120,
    .body_n_lines = 136,
    .body_index = 144,
    .line_size = 8,
    .string_embedded = 16,
    .ractor_context = 0x208,
    .first_line_is_object = true,
    .last_operator = 168 },
  { .version = 0x0301,
    .frame_size = 64,
    .body_lines = 120,
    .body_n_lines = 136,
    .body_index = 144,
    .line_size = 12,
    .string_embedded = 16,
    .class_variables = 8,
    .ractor_context = 0x208,
    .first_line_is_object = true,
    .last_operator = 169 },
  { .version = 0x0302,
    .frame_size = 64,
    .body_lines = 112,
    .body_n_lines = 128,
    .body_index = 136,
    .line_size = 12,
    .string_embedded = 24,
    .ractor_context = 0x208,
    .last_operator = 169 },
  { .version = 0x0303,
    .frame_size = 56,
    .body_lines = 112,
    .body_n_lines = 128,
    .body_index = 136,
    .line_size = 12,
    .string_embedded = 24,
    .ractor_context = 0x180,
    .last_operator = 169,
    .class_path = 152,
    .class_attached = 128 },
  { .version = 0x0304,
    .frame_size = 56,
    .body_lines = 112,
    .body_n_lines = 128,
    .body_index = 136,
    .line_size = 12,
    .string_embedded = 24,
    .ractor_context = 0x180,
    .last_operator = 170,
    .class_path = 152,
    .class_attached = 128 },
};

const FlamRubyLayout *
flam_ruby_layout (guint32 version)
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

  return g_str_has_prefix (name, "libruby") || g_str_has_prefix (name, "ruby");
}

static gboolean
is_in (const FlamElf *elf, const char *name, guint64 vaddr)
{
  FlamElfSection section;

  return flam_elf_get_section (elf, name, &section) &&
         vaddr - section.vaddr < section.size;
}

/* rb_sym_all_symbols() loads the second word of the table of symbols: the last
 * load of a variable in it. */
static guint64
find_symbols (const FlamElf *elf)
{
  guint64 vaddr, size, found = 0;
  const guint8 *code;
  gsize n;

  if (flam_elf_find_symbol (elf, "ruby_global_symbols", &vaddr, &size))
    return vaddr;
  if (!flam_elf_find_symbol (elf, "rb_sym_all_symbols", &vaddr, &size) ||
      (code = flam_elf_bytes (elf, vaddr, &n)) == NULL)
    return 0;
  n = MIN (n, size);
  for (gsize i = 0; i + 7 <= n; i++)
    {
      gint32 x;
      guint64 target;

      /* mov x(%rip), %r64 */
      if (code[i] != 0x48 || code[i + 1] != 0x8b || (code[i + 2] & 0xc7) != 5)
        continue;
      memcpy (&x, code + i + 3, sizeof x);
      target = vaddr + i + 7 + (guint64)(gint64)x;
      if (target % 8 == 0 &&
          (is_in (elf, ".data", target) || is_in (elf, ".bss", target)))
        found = target - 8;
    }
  return found;
}

/* Since 3.3 most of this is hidden in a library without debug information. Then
 * rb_errinfo(), which the API guarantees, loads ruby_current_ec. */
static gboolean
find_context_variable (const FlamElf *elf, FlamRubyFile *ruby)
{
  guint64 size;

  return flam_thread_variable_find (elf,
                                    "ruby_current_ec",
                                    "rb_current_ec_noinline",
                                    &ruby->context) ||
         flam_elf_find_symbol (elf,
                               "ruby_current_execution_context_ptr",
                               &ruby->global_context,
                               &size) ||
         (ruby->layout.ractor_context != 0 &&
          (flam_elf_find_symbol (
               elf, "ruby_single_main_ractor", &ruby->main_ractor, &size) ||
           flam_thread_variable_find (
               elf, "ruby_current_ec", "rb_errinfo", &ruby->context)));
}

/* rb_vm_exec(), and as a part of it vm_exec_core(), unless the compiler made
 * these one function. Without a symbol, vm_exec_core() is the function with
 * most computed jumps: rb_vm_exec() calls it with and without its JIT. */
static gboolean
find_evaluator (const FlamElf *elf, FlamRuntimeFile *file)
{
  g_autoptr (FlamCodeRanges) ranges = flam_code_ranges_new (elf);
  FlamCodeRange loop, caller;

  if (flam_runtime_file_add_evaluator (file, elf, "rb_vm_exec"))
    {
      const FlamRuntimeRange *own = &file->evaluators[0];

      if (!flam_code_ranges_largest_callee (ranges, own->start, 1, &loop) ||
          loop.end - loop.start <= own->end - own->start)
        return TRUE;
    }
  else if (flam_code_ranges_dispatcher (ranges, &loop) &&
           flam_code_ranges_caller (ranges, loop.start, &caller))
    file->evaluators[file->n_evaluators++] =
        (FlamRuntimeRange){ caller.start, caller.end };
  else
    return FALSE;
  file->parts[file->n_parts++] = (FlamRuntimeRange){ loop.start, loop.end };
  return TRUE;
}

gboolean
flam_ruby_find (const FlamElf *elf,
                int fd,
                const char *path,
                FlamRuntimeFile *file)
{
  const FlamRubyLayout *layout;
  FlamRubyFile *ruby;
  guint64 vaddr, size;
  guint major, minor;

  if (!has_name (path) || flam_elf_get_machine (elf) != EM_X86_64 ||
      !flam_elf_find_symbol (elf, "ruby_version", &vaddr, &size) ||
      flam_runtime_file_read (
          elf, fd, vaddr, file->version, sizeof file->version - 1) == 0)
    return FALSE;
  file->version[sizeof file->version - 1] = '\0';
  if (sscanf (file->version, "%u.%u", &major, &minor) != 2 || minor > 255)
    {
      file->version[0] = '\0';
      return FALSE;
    }
  layout = flam_ruby_layout (major << 8 | minor);
  if (layout == NULL)
    {
      file->why = N_ ("this version is not supported: 2.6 to 3.4 are");
      return TRUE;
    }
  file->facts = ruby = g_new0 (FlamRubyFile, 1);
  ruby->layout = *layout;
  if (!find_context_variable (elf, ruby))
    {
      file->why = N_ ("the symbols that lead to its frames are missing");
      return TRUE;
    }
  ruby->symbols = find_symbols (elf);
  if (!find_evaluator (elf, file))
    file->why = N_ ("the symbol of the function that runs them is missing");
  return TRUE;
}

/* --- the chain ----------------------------------------------------------- */

/* Whether an execution context is that of the thread: only the one that holds
 * the lock has its context in a variable of the whole process. */
static bool
is_own (const FlamRuntimeMemory *memory, guint64 thread, guint64 fs_base)
{
  guint8 bytes[THREAD_READ];

  if (fs_base == 0 || !flam_runtime_read (memory, thread, bytes, sizeof bytes))
    return false;
  for (gsize i = 0; i < sizeof bytes; i += 8)
    if (flam_runtime_u64 (bytes, i) == fs_base)
      return true;
  return false;
}

static bool
find_context (const FlamRubyFile *ruby,
              const FlamRuntimeMemory *memory,
              guint64 base,
              guint64 fs_base,
              guint8 context[CONTEXT_READ])
{
  guint64 at, ractor;

  if (ruby->context.kind != FLAM_THREAD_VARIABLE_NONE)
    return flam_thread_variable_address (
               &ruby->context, memory, base, fs_base, &at) &&
           flam_runtime_read_u64 (memory, at, &at) && at != 0 &&
           flam_runtime_read (memory, at, context, CONTEXT_READ);
  if (ruby->global_context != 0)
    at = base + ruby->global_context;
  else if (!flam_runtime_read_u64 (memory, base + ruby->main_ractor, &ractor) ||
           ractor == 0)
    return false;
  else
    at = ractor + ruby->layout.ractor_context;
  return flam_runtime_read_u64 (memory, at, &at) && at != 0 &&
         flam_runtime_read (memory, at, context, CONTEXT_READ) &&
         is_own (memory, flam_runtime_u64 (context, CONTEXT_THREAD), fs_base);
}

static bool
is_imemo (guint64 flags, guint kind)
{
  return (flags & TYPE_MASK) == TYPE_IMEMO && (flags >> 12 & 15) == kind;
}

/* The method entry in a slot of an environment, or 0. */
static guint64
method_in (const FlamRuntimeMemory *memory, guint64 object)
{
  guint64 head[2];

  if (object == 0 || object % 8 != 0 ||
      !flam_runtime_read (memory, object, head, sizeof head))
    return 0;
  if (is_imemo (head[0], IMEMO_SVAR))
    {
      object = head[1];
      if (object == 0 || object % 8 != 0 ||
          !flam_runtime_read (memory, object, head, sizeof head))
        return 0;
    }
  return is_imemo (head[0], IMEMO_METHOD) ? object : 0;
}

/* The method that an environment belongs to; 0: none. */
static guint64
method_of (const FlamRuntimeMemory *memory, guint64 ep)
{
  for (guint i = 0; i < ENVIRONMENTS_MAX; i++)
    {
      guint64 slots[3], method; /* method or class reference, outer, flags */

      if (ep < 16 || !flam_runtime_read (memory, ep - 16, slots, sizeof slots))
        return 0;
      method = method_in (memory, slots[0]);
      if (method != 0 || slots[2] & FLAG_LOCAL)
        return method;
      ep = slots[1] & ~3ull;
    }
  return 0;
}

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

/* Identifies a body, as its address may be used again: the addresses of its
 * code, its texts and its lines. */
static guint64
body_cookie (const FlamRubyLayout *layout, const guint8 body[BODY_READ])
{
  guint64 cookie = mix (0, flam_runtime_u64 (body, BODY_ENCODED));

  cookie = mix (cookie, flam_runtime_u64 (body, BODY_PATH));
  cookie = mix (cookie, flam_runtime_u64 (body, BODY_LABEL));
  cookie = mix (cookie, flam_runtime_u64 (body, layout->body_lines));
  cookie = mix (cookie, flam_runtime_u32 (body, BODY_SIZE));
  return cookie | 1;
}

#define OWNERS_MAX 8192

typedef struct
{
  guint64 function;
  guint64 cookie;
  guint64 owner; /* a class; 0: of no method */
} Owned;

struct _FlamRubyOwners
{
  Owned owned[OWNERS_MAX]; /* by a hash of the function */
};

FlamRubyOwners *
flam_ruby_owners_new (void)
{
  return g_new0 (FlamRubyOwners, 1);
}

static Owned *
owned_of (const FlamRubyOwners *owners, guint64 function)
{
  return (Owned *)&owners->owned[mix (0, function) % OWNERS_MAX];
}

static void
remember_owner (FlamRubyOwners *owners,
                const FlamRuntimeMemory *memory,
                const FlamRuntimeEntry *entry,
                guint64 ep)
{
  Owned *owned = owned_of (owners, entry->function);
  guint64 method;

  if (owned->function == entry->function && owned->cookie == entry->cookie)
    return;
  *owned = (Owned){ entry->function, entry->cookie, 0 };
  method = method_of (memory, ep);
  if (method == 0 ||
      !flam_runtime_read_u64 (memory, method + METHOD_OWNER, &owned->owner))
    owned->owner = 0;
}

static bool
add_iseq (const FlamRubyFile *ruby,
          FlamRubyOwners *owners,
          const FlamRuntimeMemory *memory,
          guint64 ep,
          guint64 iseq,
          guint64 pc,
          FlamRuntimeEntry *entry)
{
  guint8 bytes[BODY_READ];
  guint64 body, at;

  if (!flam_runtime_read_u64 (memory, iseq + ISEQ_BODY, &body) || body == 0 ||
      body % 8 != 0 || !flam_runtime_read (memory, body, bytes, sizeof bytes))
    return false;
  /* The pc is that of the next instruction. */
  at = (pc - flam_runtime_u64 (bytes, BODY_ENCODED)) / 8;
  if (pc < flam_runtime_u64 (bytes, BODY_ENCODED) ||
      at > flam_runtime_u32 (bytes, BODY_SIZE))
    return false;
  *entry = (FlamRuntimeEntry){
    .function = body,
    .at = at > 0 ? at - 1 : 0,
    .cookie = body_cookie (&ruby->layout, bytes),
  };
  remember_owner (owners, memory, entry, ep);
  return true;
}

static bool
add_cfunc (const FlamRuntimeMemory *memory, guint64 ep, FlamRuntimeEntry *entry)
{
  guint64 method = method_of (memory, ep);
  guint64 words[3]; /* flags, class, definition */

  if (method == 0 || !flam_runtime_read (memory, method, words, sizeof words))
    return false;
  *entry = (FlamRuntimeEntry){ .function = method | KEY_CFUNC,
                               .cookie = mix (words[1], words[2]) | 1 };
  return true;
}

gsize
flam_ruby_walk (const FlamRubyFile *ruby,
                FlamRubyOwners *owners,
                const FlamRuntimeMemory *memory,
                guint64 base,
                guint64 fs_base,
                FlamRuntimeEntry *entries,
                gsize limit)
{
  const FlamRubyLayout *layout = &ruby->layout;
  guint8 context[CONTEXT_READ];
  guint64 low, high, frame;
  gsize n = 0;

  if (!find_context (ruby, memory, base, fs_base, context))
    return 0;
  low = flam_runtime_u64 (context, 0);
  high = flam_runtime_u64 (context, 8);
  frame = flam_runtime_u64 (context, 16);
  if (low == 0 || high > STACK_MAX / 8)
    return 0;
  high = low + 8 * high;
  if (high < low || frame < low || frame >= high)
    return 0;
  /* The outermost frame has no code. */
  high -= layout->frame_size;
  for (; frame < high && n < limit; frame += layout->frame_size)
    {
      guint8 bytes[FRAME_READ];
      guint64 flags, ep, iseq, pc;

      if (!flam_runtime_read (memory, frame, bytes, sizeof bytes))
        break;
      ep = flam_runtime_u64 (bytes, FRAME_EP);
      iseq = flam_runtime_u64 (bytes, FRAME_ISEQ);
      pc = flam_runtime_u64 (bytes, FRAME_PC);
      if (!flam_runtime_read_u64 (memory, ep, &flags))
        break;
      if ((flags & KIND_MASK) == KIND_CFUNC)
        n += add_cfunc (memory, ep, &entries[n]);
      else if (iseq != 0 && pc != 0)
        n += add_iseq (ruby, owners, memory, ep, iseq, pc, &entries[n]);
      if (flags & FLAG_FINISH && n < limit)
        entries[n++] = (FlamRuntimeEntry){ 0 };
    }
  /* Methods in C with which a fiber began are native frames. */
  while (frame >= high && n > 0 && entries[n - 1].function != 0)
    n--;
  return n;
}

/* --- names --------------------------------------------------------------- */

static const char *
read_string (const FlamRubyLayout *layout,
             const FlamRuntimeMemory *memory,
             guint64 object,
             FlamRuntimeName *name)
{
  guint64 words[4]; /* flags, class, then as they are stored */
  guint64 length;

  if (object == 0 || object % 8 != 0 ||
      !flam_runtime_read (memory, object, words, sizeof words) ||
      (words[0] & TYPE_MASK) != TYPE_STRING)
    return NULL;
  if (words[0] & NOEMBED)
    return flam_runtime_name_read (name, memory, words[3], words[2]);
  length = layout->string_embedded == 16
               ? words[0] >> EMBEDDED_LENGTH_SHIFT & EMBEDDED_LENGTH_MASK
               : words[2];
  return flam_runtime_name_read (
      name, memory, object + layout->string_embedded, length);
}

/* A path as given, or an array of that path and the absolute one, which is
 * missing for code made at run time. */
static const char *
read_path (const FlamRubyLayout *layout,
           const FlamRuntimeMemory *memory,
           guint64 object,
           FlamRuntimeName *name)
{
  guint64 words[5], paths[2];
  const char *path;

  if (object == 0 || object % 8 != 0 ||
      !flam_runtime_read (memory, object, words, 8))
    return NULL;
  if ((words[0] & TYPE_MASK) != TYPE_ARRAY)
    return read_string (layout, memory, object, name);
  if (!flam_runtime_read (memory, object, words, sizeof words) ||
      !flam_runtime_read (memory,
                          words[0] & NOEMBED ? object + 16 : words[4],
                          paths,
                          sizeof paths))
    return NULL;
  path = read_string (layout, memory, paths[1], name);
  return path != NULL ? path : read_string (layout, memory, paths[0], name);
}

guint32
flam_ruby_index_rank (const guint8 *index, gsize size, guint32 position)
{
  gsize block, bit, i;
  guint64 ranks;

  if (position < IMMEDIATE)
    return size < IMMEDIATE_SIZE ? 0
                                 : flam_runtime_u64 (index, position / 9 * 8) >>
                                           (position % 9 * 7) &
                                       0x7f;
  block = IMMEDIATE_SIZE + (position - IMMEDIATE) / BLOCK_BITS * BLOCK_SIZE;
  bit = (position - IMMEDIATE) % BLOCK_BITS;
  if (block + BLOCK_SIZE > size)
    return 0;
  i = bit / 64;
  ranks = flam_runtime_u64 (index, block + 8);
  return flam_runtime_u32 (index, block) +
         (i == 0 ? 0 : ranks >> ((i - 1) * 9) & 0x1ff) +
         (guint32)__builtin_popcountll (
             flam_runtime_u64 (index, block + 16 + 8 * i) << (63 - bit % 64));
}

/* Turns the index of a body and its entries into pairs. */
static void
read_lines (const FlamRubyLayout *layout,
            const FlamRuntimeMemory *memory,
            const guint8 body[BODY_READ],
            FlamRuntimeName *name)
{
  guint32 n_positions = flam_runtime_u32 (body, BODY_SIZE);
  guint32 n = flam_runtime_u32 (body, layout->body_n_lines);
  guint64 table = flam_runtime_u64 (body, layout->body_lines);
  g_autofree guint8 *index = NULL, *lines = NULL;
  gsize size = IMMEDIATE_SIZE, n_lines;

  if (n == 0 || n_positions > POSITIONS_MAX || n > n_positions)
    return;
  n_lines = (gsize)n * layout->line_size;
  lines = g_malloc (n_lines);
  if (!flam_runtime_read (memory, table, lines, n_lines))
    return;
  if (n == 1)
    {
      flam_runtime_lines_add (name, 0, flam_runtime_u32 (lines, 0));
      return;
    }
  if (n_positions > IMMEDIATE)
    size +=
        (n_positions - IMMEDIATE + BLOCK_BITS - 1) / BLOCK_BITS * BLOCK_SIZE;
  index = g_malloc (size);
  if (!flam_runtime_read (
          memory, flam_runtime_u64 (body, layout->body_index), index, size))
    return;
  for (guint32 at = 0; at < n_positions; at++)
    {
      guint32 rank = flam_ruby_index_rank (index, size, at);

      if (rank > 0 && rank <= n &&
          !flam_runtime_lines_add (
              name,
              at,
              flam_runtime_u32 (lines, (rank - 1) * (gsize)layout->line_size)))
        break;
    }
}

/* The text of an identifier, by its number; that of an operator is its
 * character or is not in the table. */
static const char *
read_id (const FlamRubyFile *ruby,
         const FlamRuntimeMemory *memory,
         guint64 base,
         guint64 id,
         FlamRuntimeName *name)
{
  guint64 serial = id > ruby->layout.last_operator ? id >> ID_SHIFT : id;
  guint64 ids, words[5], part, string;

  if (ruby->symbols == 0 || serial > G_MAXUINT32 ||
      !flam_runtime_read_u64 (
          memory, base + ruby->symbols + SYMBOLS_IDS, &ids) ||
      !flam_runtime_read (memory, ids, words, sizeof words) ||
      (words[0] & TYPE_MASK) != TYPE_ARRAY ||
      !flam_runtime_read_u64 (memory,
                              (words[0] & NOEMBED ? ids + 16 : words[4]) +
                                  8 * (serial / ID_UNIT),
                              &part) ||
      part % 8 != 0 || !flam_runtime_read (memory, part, words, sizeof words) ||
      (words[0] & TYPE_MASK) != TYPE_ARRAY ||
      !flam_runtime_read_u64 (memory,
                              (words[0] & NOEMBED ? part + 16 : words[4]) +
                                  16 * (serial % ID_UNIT),
                              &string))
    return NULL;
  return read_string (&ruby->layout, memory, string, name);
}

/* The value of a class's variable. */
static guint64
variable_of (const FlamRubyFile *ruby,
             const FlamRuntimeMemory *memory,
             guint64 base,
             guint64 class,
             const char *wanted,
             FlamRuntimeName *name)
{
  guint8 table[TABLE_READ];
  guint64 extension, at, first, end;

  if (!flam_runtime_read_u64 (memory, class + CLASS_EXTENSION, &extension) ||
      !flam_runtime_read_u64 (
          memory, extension + ruby->layout.class_variables, &at) ||
      at == 0 || !flam_runtime_read (memory, at, table, sizeof table))
    return 0;
  first = flam_runtime_u64 (table, 32);
  end = flam_runtime_u64 (table, 40);
  for (guint64 i = first; i < end && i - first < VARIABLES_MAX; i++)
    {
      guint64 entry[3]; /* hash, key, value */
      gsize used = name->used;
      const char *text;
      gboolean found;

      if (!flam_runtime_read (memory,
                              flam_runtime_u64 (table, 48) + 24 * i,
                              entry,
                              sizeof entry))
        break;
      text = read_id (ruby, memory, base, entry[1], name);
      found = text != NULL && strcmp (text, wanted) == 0;
      name->used = used;
      if (found)
        return entry[2];
    }
  return 0;
}

/* The name of a class; of a singleton class, that of the class or module that
 * it belongs to. NULL: it has none, or this version's layout of classes is not
 * known. */
static const char *
read_class (const FlamRubyFile *ruby,
            const FlamRuntimeMemory *memory,
            guint64 base,
            guint64 class,
            FlamRuntimeName *name,
            gboolean *singleton)
{
  const FlamRubyLayout *layout = &ruby->layout;
  guint64 flags, path = 0;

  *singleton = FALSE;
  if (class == 0 || class % 8 != 0 ||
      (layout->class_variables == 0 && layout->class_path == 0) ||
      !flam_runtime_read_u64 (memory, class, &flags))
    return NULL;
  *singleton = (flags & TYPE_MASK) == TYPE_CLASS && flags & SINGLETON;
  if (*singleton)
    {
      if (layout->class_variables != 0)
        class = variable_of (ruby, memory, base, class, "__attached__", name);
      else if (!flam_runtime_read_u64 (
                   memory, class + layout->class_attached, &class))
        return NULL;
      if (class == 0 || class % 8 != 0 ||
          !flam_runtime_read_u64 (memory, class, &flags))
        return NULL;
    }
  if ((flags & TYPE_MASK) != TYPE_CLASS && (flags & TYPE_MASK) != TYPE_MODULE)
    return NULL;
  if (layout->class_variables != 0)
    path = variable_of (ruby, memory, base, class, "__classpath__", name);
  else if (!flam_runtime_read_u64 (memory, class + layout->class_path, &path))
    return NULL;
  return read_string (layout, memory, path, name);
}

/* "A#f", "A.f" for a method of A itself, "block in A#f"; as it is in programs'
 * own methods, which are Object's, and in code outside methods, "<main>". */
static const char *
with_class (const FlamRubyFile *ruby,
            const FlamRuntimeMemory *memory,
            guint64 base,
            guint64 class,
            const char *label,
            const char *method,
            FlamRuntimeName *name)
{
  gboolean singleton;
  const char *text;

  if (method == NULL || method[0] == '<' || !g_str_has_suffix (label, method))
    return label;
  text = read_class (ruby, memory, base, class, name, &singleton);
  if (text == NULL || text[0] == '\0' ||
      (!singleton && strcmp (text, "Object") == 0))
    return label;
  return flam_runtime_name_printf (name,
                                   "%.*s%s%s%s",
                                   (int)(strlen (label) - strlen (method)),
                                   label,
                                   text,
                                   singleton ? "." : "#",
                                   method);
}

static gboolean
name_cfunc (const FlamRubyFile *ruby,
            const FlamRuntimeMemory *memory,
            guint64 base,
            const FlamRuntimeEntry *entry,
            FlamRuntimeName *name,
            FlamRuntimeNamed *named)
{
  guint64 method = entry->function & ~(guint64)KEY_CFUNC;
  guint64 words[5], id; /* flags, class, definition, called id, owner */
  const char *text;

  if (!flam_runtime_read (memory, method, words, sizeof words) ||
      (mix (words[1], words[2]) | 1) != entry->cookie ||
      !flam_runtime_read_u64 (memory, words[2] + 32, &id))
    return FALSE;
  text = read_id (ruby, memory, base, id, name);
  named->function =
      text == NULL || text[0] == '\0'
          ? "(C function)"
          : with_class (ruby, memory, base, words[4], text, text, name);
  return TRUE;
}

gboolean
flam_ruby_name (const FlamRubyFile *ruby,
                const FlamRubyOwners *owners,
                const FlamRuntimeMemory *memory,
                guint64 base,
                const FlamRuntimeEntry *entry,
                FlamRuntimeName *name)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  guint8 body[BODY_READ], again[BODY_READ];
  const Owned *owned;

  if (entry->function & KEY_CFUNC)
    return name_cfunc (ruby, memory, base, entry, name, named);
  if (!flam_runtime_read (memory, entry->function, body, sizeof body) ||
      body_cookie (&ruby->layout, body) != entry->cookie)
    return FALSE;
  named->function = read_string (
      &ruby->layout, memory, flam_runtime_u64 (body, BODY_LABEL), name);
  named->file = read_path (
      &ruby->layout, memory, flam_runtime_u64 (body, BODY_PATH), name);
  if (named->function == NULL || named->file == NULL)
    return FALSE;
  owned = owned_of (owners, entry->function);
  if (owned->function == entry->function && owned->cookie == entry->cookie)
    named->function =
        with_class (ruby,
                    memory,
                    base,
                    owned->owner,
                    named->function,
                    read_string (&ruby->layout,
                                 memory,
                                 flam_runtime_u64 (body, BODY_BASE_LABEL),
                                 name),
                    name);
  if (ruby->layout.first_line_is_object)
    named->first_line = flam_runtime_u32 (body, BODY_FIRST_LINE) >> 1;
  read_lines (&ruby->layout, memory, body, name);
  return flam_runtime_read (memory, entry->function, again, sizeof again) &&
         memcmp (body, again, sizeof body) == 0;
}
