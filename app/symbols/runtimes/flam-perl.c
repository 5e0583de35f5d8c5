/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perl.h"

#include <string.h>

#include "flam-symbol-table.h"
#include "flam-thread-data.h"

#define V(minor) (0x0500u | (minor))

/* An interpreter, in builds with threads: 5.34 removed two words before. */
#define STATEMENT(v) ((v) >= V (34) ? 0xd0u : 0xe0u)
#define STACK(v) ((v) >= V (34) ? 0xe0u : 0xf0u)
#define INTERPRETER_MAX 0x2000

/* PERL_SI: cxstack 8, prev 0x10, cxix 0x20; 5.32 added a word before type. */
#define STACK_READ 48
#define STACK_CONTEXTS 8
#define STACK_PREVIOUS 0x10
#define STACK_LAST 0x20
#define STACK_TYPE(v) ((v) >= V (32) ? 0x2cu : 0x28u)
#define STACK_MAIN 1u
#define STACKS_MAX 256
#define CONTEXTS_MAX (1 << 20)

/* PERL_CONTEXT: type 0, oldcop 0x10, retop 0x30 (subs and evals). */
#define CONTEXT_READ 0x68
#define CONTEXT_SIZE(v) ((v) >= V (32) ? 0x68u : 0x60u)
#define CONTEXT_STATEMENT 0x10
#define CONTEXT_RETURN 0x30
#define CONTEXT_CODE(v) ((v) >= V (32) ? 0x48u : 0x40u)
#define CONTEXT_MASK 15u
#define CONTEXT_SUB 9u
#define CONTEXT_FORMAT 10u
#define CONTEXT_EVAL 11u
#define CONTEXT_SUBST 12u
#define SUB_IN_REGEX 0x80u /* CXp_SUB_RE_FAKE: seen twice */
#define EVAL_BLOCK 0x40u

/* COP: line 0x24, file 0x30. */
#define COP_READ 0x38
#define COP_LINE 0x24
#define COP_FILE 0x30

/* SV: body 0, flags 0xc, a pointer 0x10. */
#define SV_READ 24
#define SV_FLAGS 0xc
#define SV_POINTER 0x10
#define SV_TYPE_MASK 31u
#define SV_GV 9u
#define SV_HV 12u
#define SV_CV 13u
#define SV_HAS_GP 0x8000u

/* XPVCV: stash 0x20, gv or name 0x38, flags 0x5c. */
#define CODE_READ 0x60
#define CODE_STASH 0x20
#define CODE_GV 0x38
#define CODE_FLAGS 0x5c
#define CODE_NAMED 0x8000u

/* XPVGV: name 0x20, stash 0x28. GP: egv 0x38. */
#define GLOB_NAME 0x20
#define GP_EGV 0x38

/* XPVHV: max 0x18, from 5.36 on the rest at 0x20; before, after the array.
 * The rest: names 0, their number 0x1c. */
#define HASH_MAX 0x18
#define HASH_REST 0x20
#define REST_NAMES 0
#define REST_COUNT 0x1c
#define BUCKETS_MAX (1ull << 32)

/* HEK: length 4, bytes 8. */
#define HEK_LENGTH 4
#define HEK_BYTES 8

/* Keys other than functions, which are aligned. */
enum
{
  KEY_MAIN = 1,
  KEY_EVAL = 2,
};

/* --- the file ------------------------------------------------------------ */

static gboolean
has_name (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  return g_str_has_prefix (name, "perl") || g_str_has_prefix (name, "libperl");
}

static gboolean
find_version (const FlamElf *elf, int fd, guint8 version[3])
{
  static const char *const names[] = { "PL_revision",
                                       "PL_version",
                                       "PL_subversion" };
  guint64 vaddr, size;

  for (guint i = 0; i < 3; i++)
    if (!flam_elf_find_symbol (elf, names[i], &vaddr, &size) ||
        flam_runtime_file_read (elf, fd, vaddr, &version[i], 1) != 1)
      return FALSE;
  return TRUE;
}

gboolean
flam_perl_find (const FlamElf *elf,
                int fd,
                const char *path,
                FlamRuntimeFile *file)
{
  FlamPerlFile *perl;
  guint8 version[3];
  guint64 size;

  if (!has_name (path) || flam_elf_get_machine (elf) != EM_X86_64 ||
      !find_version (elf, fd, version))
    return FALSE;
  g_snprintf (file->version,
              sizeof file->version,
              "%u.%u.%u",
              version[0],
              version[1],
              version[2]);
  if (version[0] != 5 || version[1] < 28 || version[1] > 43)
    {
      file->why = N_ ("this version is not supported: 5.28 to 5.42 are");
      return TRUE;
    }
  file->facts = perl = g_new0 (FlamPerlFile, 1);
  perl->version = V (version[1]);
  if ((!flam_elf_find_symbol (elf, "PL_thr_key", &perl->key, &size) &&
       (!flam_elf_find_symbol (elf, "PL_curcop", &perl->statement, &size) ||
        !flam_elf_find_symbol (elf, "PL_curstackinfo", &perl->stack, &size))) ||
      !flam_runtime_file_add_evaluator (file, elf, "Perl_runops_standard"))
    {
      file->why = N_ ("the symbols that lead to its frames are missing");
      return TRUE;
    }
  flam_runtime_file_add_evaluator (file, elf, "Perl_runops_debug");
  return TRUE;
}

/* --- the chain ----------------------------------------------------------- */

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

/* The name of a function: a glob, or for functions without one the name itself
 * and its package. `second` is 0 for a glob. */
typedef struct
{
  guint64 first;
  guint64 second;
} Naming;

static bool
find_naming (const FlamRuntimeMemory *memory, guint64 code, Naming *naming)
{
  guint8 sv[SV_READ], body[CODE_READ];
  guint64 glob, egv;

  if (code == 0 || code % 8 != 0 ||
      !flam_runtime_read (memory, code, sv, sizeof sv) ||
      (flam_runtime_u32 (sv, SV_FLAGS) & SV_TYPE_MASK) != SV_CV ||
      !flam_runtime_read (memory, flam_runtime_u64 (sv, 0), body, sizeof body))
    return false;
  *naming = (Naming){ flam_runtime_u64 (body, CODE_GV), 0 };
  if (flam_runtime_u32 (body, CODE_FLAGS) & CODE_NAMED)
    {
      naming->second = flam_runtime_u64 (body, CODE_STASH);
      return naming->first != 0;
    }
  glob = naming->first;
  if (glob == 0 || !flam_runtime_read (memory, glob, sv, sizeof sv) ||
      (flam_runtime_u32 (sv, SV_FLAGS) & SV_TYPE_MASK) != SV_GV)
    return false;
  /* The glob under whose name it was defined. */
  if (flam_runtime_u32 (sv, SV_FLAGS) & SV_HAS_GP &&
      flam_runtime_read_u64 (
          memory, flam_runtime_u64 (sv, SV_POINTER) + GP_EGV, &egv) &&
      egv != 0)
    naming->first = egv;
  return true;
}

static guint64
cookie_of (const FlamRuntimeMemory *memory,
           const Naming *naming,
           guint64 statement)
{
  guint8 cop[COP_READ] = { 0 };
  guint64 cookie = mix (naming->first, naming->second);

  flam_runtime_read (memory, statement, cop, sizeof cop);
  cookie = mix (cookie, flam_runtime_u32 (cop, COP_LINE));
  return mix (cookie, flam_runtime_u64 (cop, COP_FILE)) | 1;
}

static bool
add_frame (const FlamRuntimeMemory *memory,
           guint64 function,
           guint64 statement,
           FlamRuntimeEntry *entry)
{
  Naming naming = { 0 };

  if (function > KEY_EVAL && !find_naming (memory, function, &naming))
    return false;
  *entry =
      (FlamRuntimeEntry){ .function = function,
                          .at = statement,
                          .cookie = cookie_of (memory, &naming, statement) };
  return true;
}

typedef struct
{
  const FlamPerlFile *perl;
  const FlamRuntimeMemory *memory;
  FlamRuntimeEntry *entries;
  gsize limit;
  gsize n;
  guint64 statement;
  bool closed; /* the frames so far end with an entry */
} Walk;

static void
put_entry (Walk *walk)
{
  if (walk->n < walk->limit)
    walk->entries[walk->n++] = (FlamRuntimeEntry){ 0 };
  walk->closed = true;
}

static void
put_frame (Walk *walk, guint64 function)
{
  if (walk->n < walk->limit)
    walk->n += add_frame (
        walk->memory, function, walk->statement, &walk->entries[walk->n]);
  walk->closed = false;
}

static void
take_context (Walk *walk, const guint8 *context)
{
  guint type = context[0];

  switch (type & CONTEXT_MASK)
    {
    case CONTEXT_SUB:
    case CONTEXT_FORMAT:
      if (type & SUB_IN_REGEX)
        return;
      put_frame (
          walk, flam_runtime_u64 (context, CONTEXT_CODE (walk->perl->version)));
      break;
    case CONTEXT_EVAL:
      if (type & EVAL_BLOCK)
        return;
      put_frame (walk, KEY_EVAL);
      break;
    default:
      return;
    }
  walk->statement = flam_runtime_u64 (context, CONTEXT_STATEMENT);
  if (flam_runtime_u64 (context, CONTEXT_RETURN) == 0)
    put_entry (walk);
}

/* The contexts of a stack. The last one may be half-written. */
static bool
take_stack (Walk *walk, const guint8 stack[STACK_READ])
{
  guint size = CONTEXT_SIZE (walk->perl->version);
  guint64 contexts = flam_runtime_u64 (stack, STACK_CONTEXTS);
  gint32 last = (gint32)flam_runtime_u32 (stack, STACK_LAST);

  if (last > CONTEXTS_MAX)
    return false;
  for (gint32 i = last; i >= 0 && walk->n < walk->limit; i--)
    {
      guint8 context[CONTEXT_READ];

      if (flam_runtime_read (
              walk->memory, contexts + (guint64)i * size, context, size))
        take_context (walk, context);
      else if (i < last)
        return false;
    }
  return walk->n < walk->limit;
}

static bool
find_interpreter (const FlamPerlFile *perl,
                  const FlamRuntimeMemory *memory,
                  guint64 base,
                  guint64 fs_base,
                  guint64 *statement,
                  guint64 *stack,
                  guint64 *interpreter)
{
  guint32 key;

  *interpreter = 0;
  if (perl->key == 0)
    return flam_runtime_read_u64 (memory, base + perl->statement, statement) &&
           flam_runtime_read_u64 (memory, base + perl->stack, stack);
  return flam_runtime_read_u32 (memory, base + perl->key, &key) &&
         flam_thread_value (memory, fs_base, key, interpreter) &&
         *interpreter != 0 &&
         flam_runtime_read_u64 (
             memory, *interpreter + STATEMENT (perl->version), statement) &&
         flam_runtime_read_u64 (
             memory, *interpreter + STACK (perl->version), stack);
}

gsize
flam_perl_walk (const FlamPerlFile *perl,
                const FlamRuntimeMemory *memory,
                guint64 base,
                guint64 fs_base,
                bool first,
                FlamRuntimeEntry *entries,
                gsize limit)
{
  Walk walk = {
    .perl = perl, .memory = memory, .entries = entries, .limit = limit
  };
  guint64 at, interpreter;

  if (!find_interpreter (
          perl, memory, base, fs_base, &walk.statement, &at, &interpreter))
    return 0;
  for (guint i = 0; i < STACKS_MAX && at != 0; i++)
    {
      guint8 stack[STACK_READ];

      walk.closed = false;
      if (!flam_runtime_read (memory, at, stack, sizeof stack) ||
          !take_stack (&walk, stack))
        break;
      if (flam_runtime_u32 (stack, STACK_TYPE (perl->version)) == STACK_MAIN)
        {
          /* While the program is being compiled, the statement is a part of
           * the interpreter, and no run is the program's. */
          if (first && walk.statement != 0 &&
              (interpreter == 0 ||
               walk.statement - interpreter >= INTERPRETER_MAX))
            {
              put_frame (&walk, KEY_MAIN);
              put_entry (&walk);
            }
          break;
        }
      /* A block of sort, a MULTICALL: they run without a context of a sub. */
      if (!walk.closed)
        put_entry (&walk);
      at = flam_runtime_u64 (stack, STACK_PREVIOUS);
    }
  return walk.n;
}

/* --- names --------------------------------------------------------------- */

static const char *
read_hek (const FlamRuntimeMemory *memory, guint64 hek, FlamRuntimeName *name)
{
  guint32 length;

  if (hek == 0 || !flam_runtime_read_u32 (memory, hek + HEK_LENGTH, &length))
    return NULL;
  return flam_runtime_name_read (name, memory, hek + HEK_BYTES, length);
}

/* The name of a package: its hash. */
static const char *
read_package (const FlamPerlFile *perl,
              const FlamRuntimeMemory *memory,
              guint64 hash,
              FlamRuntimeName *name)
{
  guint8 sv[SV_READ];
  guint64 rest, max, hek;
  guint32 count;

  if (hash == 0 || !flam_runtime_read (memory, hash, sv, sizeof sv) ||
      (flam_runtime_u32 (sv, SV_FLAGS) & SV_TYPE_MASK) != SV_HV)
    return NULL;
  rest = flam_runtime_u64 (sv, 0) + HASH_REST;
  if (perl->version < V (36))
    {
      if (!flam_runtime_read_u64 (
              memory, flam_runtime_u64 (sv, 0) + HASH_MAX, &max) ||
          max > BUCKETS_MAX)
        return NULL;
      rest = flam_runtime_u64 (sv, SV_POINTER) + 8 * (max + 1);
    }
  if (!flam_runtime_read_u64 (memory, rest + REST_NAMES, &hek) ||
      !flam_runtime_read_u32 (memory, rest + REST_COUNT, &count))
    return NULL;
  /* Several: the first, which is unset if the count is negative. */
  if (count != 0 &&
      !flam_runtime_read_u64 (memory, hek + ((gint32)count < 0 ? 8 : 0), &hek))
    return NULL;
  return read_hek (memory, hek, name);
}

/* "(eval 123)": each evaluation of a string has its own number. */
static const char *
without_number (const char *file)
{
  return g_str_has_prefix (file, "(eval ") ? "(eval)" : file;
}

static gboolean
read_file (const FlamPerlFile *perl,
           const FlamRuntimeMemory *memory,
           guint64 file,
           FlamRuntimeName *name,
           FlamRuntimeNamed *named)
{
  const char *text;
  guint64 body, hek;

  if (perl->key != 0)
    text = flam_runtime_name_read_string (name, memory, file);
  else if (!flam_runtime_read_u64 (memory, file, &body) ||
           !flam_runtime_read_u64 (memory, body + GLOB_NAME, &hek))
    return FALSE;
  else
    text = read_hek (memory, hek, name);
  if (text == NULL)
    return FALSE;
  named->file = without_number (
      perl->key == 0 && g_str_has_prefix (text, "_<") ? text + 2 : text);
  return TRUE;
}

static gboolean
read_function (const FlamPerlFile *perl,
               const FlamRuntimeMemory *memory,
               const Naming *naming,
               FlamRuntimeName *name,
               FlamRuntimeNamed *named)
{
  guint64 words[2] = { naming->first, naming->second }; /* name, package */
  guint64 body;

  if (naming->second == 0 &&
      (!flam_runtime_read_u64 (memory, naming->first, &body) ||
       !flam_runtime_read (memory, body + GLOB_NAME, words, sizeof words)))
    return FALSE;
  named->function = read_hek (memory, words[0], name);
  named->type = read_package (perl, memory, words[1], name);
  if (named->type == NULL)
    named->type = "";
  return named->function != NULL && named->function[0] != '\0';
}

gboolean
flam_perl_name (const FlamPerlFile *perl,
                const FlamRuntimeMemory *memory,
                const FlamRuntimeEntry *entry,
                FlamRuntimeName *name)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  FlamRuntimeEntry again;
  guint8 cop[COP_READ];
  Naming naming = { 0 };

  if (!flam_runtime_read (memory, entry->at, cop, sizeof cop) ||
      !read_file (perl, memory, flam_runtime_u64 (cop, COP_FILE), name, named))
    return FALSE;
  named->line = flam_runtime_u32 (cop, COP_LINE);
  if (entry->function == KEY_MAIN)
    named->function = "(main)";
  else if (entry->function == KEY_EVAL)
    named->function = "(eval)";
  else if (!find_naming (memory, entry->function, &naming) ||
           !read_function (perl, memory, &naming, name, named))
    return FALSE;
  return add_frame (memory, entry->function, entry->at, &again) &&
         again.cookie == entry->cookie;
}
