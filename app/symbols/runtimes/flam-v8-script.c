/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8-script.h"

#include <stdlib.h>
#include <string.h>

#define SHARED_SIZE 64
#define SCRIPT_SIZE 72
#define ARRAY_LENGTH 8
#define ARRAY_DATA 16

#define SCRIPTS_MAX 64
#define SOURCE_MAX (64u << 20) /* bytes of a source that are searched */
#define LINES_MAX (4u << 20)   /* of all kept scripts together */
#define SOURCE_PIECE (64u << 10)

#define UNITS_MAX 1024

#define SCOPE_LOCALS_MAX (1u << 16)
/* With as many variables or more, their names are in a table of their own. */
#define SCOPE_INLINE_MAX 75

typedef struct
{
  uint64_t script; /* with the source, the key */
  FlamV8Text source;
  uint32_t *ends; /* ascending: of the characters that end lines */
  uint32_t n;
  uint64_t used; /* the look-up that needed it last */
} Lines;

struct _FlamV8Scripts
{
  Lines scripts[SCRIPTS_MAX];
  uint32_t n_lines;
  uint64_t look_ups;
  uint8_t piece[SOURCE_PIECE];
};

static uint64_t
word (const uint8_t *bytes, size_t offset)
{
  uint64_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

FlamV8Scripts *
flam_v8_scripts_new (void)
{
  return calloc (1, sizeof (FlamV8Scripts));
}

void
flam_v8_scripts_free (FlamV8Scripts *scripts)
{
  for (unsigned i = 0; scripts != NULL && i < SCRIPTS_MAX; i++)
    free (scripts->scripts[i].ends);
  free (scripts);
}

static void
forget (FlamV8Scripts *scripts, Lines *lines)
{
  scripts->n_lines -= lines->n;
  free (lines->ends);
  *lines = (Lines){ 0 };
}

static bool
add_end (FlamV8Scripts *scripts, Lines *lines, uint32_t end)
{
  if ((lines->n & (lines->n - 1)) == 0)
    {
      size_t room = lines->n > 0 ? 2 * (size_t)lines->n : 64;
      uint32_t *ends;

      if (lines->n > 0 && lines->n < 64)
        room = 0;
      ends =
          room > 0 ? realloc (lines->ends, room * sizeof *ends) : lines->ends;
      if (ends == NULL)
        return false;
      lines->ends = ends;
    }
  if (scripts->n_lines == LINES_MAX)
    return false;
  lines->ends[lines->n++] = end;
  scripts->n_lines++;
  return true;
}

static uint32_t
character (const uint8_t *bytes, bool wide, size_t i)
{
  uint16_t unit;

  if (!wide)
    return bytes[i];
  memcpy (&unit, bytes + 2 * i, sizeof unit);
  return unit;
}

/* A line ends at "\n", at "\r" without a "\n" after it, and at the separators
 * of lines and paragraphs. */
static bool
count_lines (FlamV8Scripts *scripts,
             const FlamRuntimeMemory *memory,
             Lines *lines)
{
  const FlamV8Text *source = &lines->source;
  bool after_return = false;

  if ((uint64_t)source->length << source->wide > SOURCE_MAX)
    return false;
  for (uint32_t at = 0; at < source->length;)
    {
      uint32_t n = SOURCE_PIECE >> source->wide;

      if (n > source->length - at)
        n = source->length - at;
      if (!flam_runtime_read (memory,
                              source->address + ((uint64_t)at << source->wide),
                              scripts->piece,
                              (size_t)n << source->wide))
        return false;
      for (uint32_t i = 0; i < n; i++)
        {
          uint32_t c = character (scripts->piece, source->wide, i);

          if (after_return && c != '\n' &&
              !add_end (scripts, lines, at + i - 1))
            return false;
          after_return = c == '\r';
          if ((c == '\n' || c == 0x2028 || c == 0x2029) &&
              !add_end (scripts, lines, at + i))
            return false;
        }
      at += n;
    }
  return !after_return || add_end (scripts, lines, source->length - 1);
}

static const Lines *
lines_of (FlamV8Scripts *scripts,
          const FlamRuntimeMemory *memory,
          uint64_t script,
          const FlamV8Text *source)
{
  Lines *oldest = &scripts->scripts[0];

  scripts->look_ups++;
  for (unsigned i = 0; i < SCRIPTS_MAX; i++)
    {
      Lines *lines = &scripts->scripts[i];

      if (lines->script == script && lines->source.address == source->address &&
          lines->source.length == source->length)
        {
          lines->used = scripts->look_ups;
          return lines;
        }
      if (lines->used < oldest->used)
        oldest = lines;
    }
  forget (scripts, oldest);
  oldest->script = script;
  oldest->source = *source;
  oldest->used = scripts->look_ups;
  if (count_lines (scripts, memory, oldest))
    return oldest;
  forget (scripts, oldest);
  return NULL;
}

/* The number of line ends before `offset` in V8's own list, a FixedArray of
 * `n` small integers. */
static bool
search_list (const FlamRuntimeMemory *memory,
             uint64_t list,
             uint32_t n,
             uint32_t offset,
             uint32_t *line)
{
  uint32_t low = 0, high = n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;
      uint64_t end;

      if (!flam_runtime_read_u64 (
              memory, list - 1 + ARRAY_DATA + 8ull * middle, &end) ||
          !flam_v8_is_small (end))
        return false;
      if ((uint32_t)flam_v8_small (end) < offset)
        low = middle + 1;
      else
        high = middle;
    }
  *line = low;
  return true;
}

static uint32_t
search_ends (const Lines *lines, uint32_t offset)
{
  uint32_t low = 0, high = lines->n;

  while (low < high)
    {
      uint32_t middle = low + (high - low) / 2;

      if (lines->ends[middle] < offset)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

uint32_t
flam_v8_script_line (FlamV8Scripts *scripts,
                     const FlamV8Layout *layout,
                     const FlamRuntimeMemory *memory,
                     uint64_t script,
                     uint32_t offset)
{
  uint8_t bytes[SCRIPT_SIZE], head[16];
  uint64_t list, first;
  FlamV8Text source;
  uint32_t line;

  if (!flam_v8_read (memory, &script, bytes, sizeof bytes))
    return 0;
  list = word (bytes, layout->script_line_ends);
  if (flam_v8_read (memory, &list, head, sizeof head) &&
      flam_v8_is_small (word (head, ARRAY_LENGTH)) &&
      flam_v8_small (word (head, ARRAY_LENGTH)) > 0 &&
      flam_v8_type (memory, list) == layout->type_fixed_array)
    {
      if (!search_list (memory,
                        list,
                        (uint32_t)flam_v8_small (word (head, ARRAY_LENGTH)),
                        offset,
                        &line))
        return 0;
    }
  else
    {
      const Lines *lines;

      if (!flam_v8_text (
              layout, memory, word (bytes, layout->script_source), &source) ||
          offset > source.length)
        return 0;
      lines = lines_of (scripts, memory, script, &source);
      if (lines == NULL)
        return 0;
      line = search_ends (lines, offset);
    }
  first = word (bytes, layout->script_line_offset);
  if (flam_v8_is_small (first) && flam_v8_small (first) > 0)
    line += (uint32_t)flam_v8_small (first);
  return line < INT32_MAX ? line + 1 : 0;
}

/* --- functions ----------------------------------------------------------- */

const char *
flam_v8_read_text (const FlamV8Layout *layout,
                   const FlamRuntimeMemory *memory,
                   uint64_t string,
                   FlamRuntimeName *name)
{
  uint16_t units[UNITS_MAX];
  long n = flam_v8_string (layout, memory, string, units, UNITS_MAX);

  return n > 0 ? flam_runtime_name_utf16 (name, units, (size_t)n) : "";
}

/* ScopeFlags, from V8 8.7 on. */
#define RECEIVER_SHIFT 7
#define RECEIVER_UNUSED 3
#define SAVED_CLASS_VARIABLE (1u << 10)
#define FUNCTION_VARIABLE (3u << 12)
#define INFERRED_NAME (1u << 14)
/* Before 8.7: this many words contain everything that is searched for. */
#define OLD_WORDS 8

typedef struct
{
  uint64_t name; /* 0: none; as tagged words */
  uint64_t inferred;
  bool has_start;
  uint32_t start;
} Scope;

typedef struct
{
  const FlamRuntimeMemory *memory;
  uint64_t address;
  uint64_t at;
} Words;

static bool
next_word (Words *words, uint64_t *value)
{
  return flam_runtime_read_u64 (
      words->memory, words->address + 8 * words->at++, value);
}

static void
set_start (Scope *scope, uint64_t value)
{
  scope->has_start = flam_v8_is_small (value) && flam_v8_small (value) >= 0;
  scope->start = (uint32_t)flam_v8_small (value);
}

/* Each only if it exists: the place of a class's variable and of `this`, the
 * function's name and the place of its variable, the inferred name, start and
 * end. */
static void
read_flagged (const FlamV8Layout *layout,
              Words *words,
              uint32_t flags,
              Scope *scope)
{
  uint32_t receiver = flags >> RECEIVER_SHIFT & 3;
  uint64_t value;

  words->at += (flags & SAVED_CLASS_VARIABLE) != 0;
  if (layout->scope_has_receiver && receiver != 0 &&
      receiver != RECEIVER_UNUSED && next_word (words, &value))
    words->at -= !flam_v8_is_small (value);
  if (flags & FUNCTION_VARIABLE)
    {
      next_word (words, &scope->name);
      words->at++;
    }
  if (flags & INFERRED_NAME)
    next_word (words, &scope->inferred);
  if (layout->scope_start == 0 && next_word (words, &value))
    set_start (scope, value);
}

/* The same without flags: start and end are the first two numbers in sequence,
 * and the names the strings before them. */
static void
read_old (const FlamV8Layout *layout, Words *words, Scope *scope)
{
  uint64_t value, last = 1;

  for (unsigned i = 0; i < OLD_WORDS && next_word (words, &value); i++)
    {
      uint16_t type = flam_v8_type (words->memory, value);

      if (flam_v8_is_small (value) && flam_v8_is_small (last) &&
          flam_v8_small (last) >= 0 &&
          flam_v8_small (last) < flam_v8_small (value))
        {
          set_start (scope, last);
          break;
        }
      if (type < layout->first_nonstring)
        *(scope->name == 0 ? &scope->name : &scope->inferred) = value;
      last = value;
    }
}

/* Flags, number of parameters and of variables in the context; in newer
 * versions start and end; names and properties of these variables; then the
 * rest. */
static bool
read_scope (const FlamV8Layout *layout,
            const FlamRuntimeMemory *memory,
            uint64_t object,
            Scope *scope)
{
  uint64_t address = object - 1 + layout->scope_data, flags, n, value;
  Words words = { memory, address, layout->scope_locals };

  *scope = (Scope){ 0 };
  if (!flam_runtime_read_u64 (memory, address, &flags) ||
      !flam_runtime_read_u64 (
          memory, address + 8ull * layout->scope_n_locals, &n) ||
      !flam_v8_is_small (n) || n >> 32 > SCOPE_LOCALS_MAX)
    return false;
  n >>= 32;
  words.at += n + (layout->scope_has_table && n >= SCOPE_INLINE_MAX ? 1 : n);
  if (layout->scope_start != 0 &&
      flam_runtime_read_u64 (
          memory, address + 8ull * layout->scope_start, &value))
    set_start (scope, value);
  if (layout->scope_has_flags)
    read_flagged (layout,
                  &words,
                  (uint32_t)(flam_v8_is_small (flags) ? flags >> 32 : flags),
                  scope);
  else
    read_old (layout, &words, scope);
  return true;
}

static int
hex_of (uint16_t unit)
{
  if (unit >= '0' && unit <= '9')
    return unit - '0';
  unit |= 0x20;
  return unit >= 'a' && unit <= 'f' ? unit - 'a' + 10 : -1;
}

/* A module's name is an URL (RFC 8089), in which bytes that are not ASCII are
 * written as "%C3". */
static const char *
path_of_url (const uint16_t *units, size_t n, FlamRuntimeName *name)
{
  char path[UNITS_MAX];
  size_t length = 0;

  for (size_t i = 0; i < n; i++)
    {
      int high = i + 2 < n ? hex_of (units[i + 1]) : -1;
      int low = i + 2 < n ? hex_of (units[i + 2]) : -1;
      bool coded = units[i] == '%' && high >= 0 && low >= 0;

      path[length++] = coded ? (char)(high << 4 | low)
                             : (char)(units[i] < 128 ? units[i] : '?');
      i += coded ? 2 : 0;
    }
  return flam_runtime_name_utf8 (name, path, length);
}

static const char *
read_file_name (const FlamV8Layout *layout,
                const FlamRuntimeMemory *memory,
                uint64_t string,
                FlamRuntimeName *name)
{
  static const char scheme[] = "file://";
  uint16_t units[UNITS_MAX];
  long n = flam_v8_string (layout, memory, string, units, UNITS_MAX);
  size_t same = 0;

  if (n <= 0)
    return "";
  while (same < sizeof scheme - 1 && same < (size_t)n &&
         units[same] == (uint16_t)scheme[same])
    same++;
  return same == sizeof scheme - 1
             ? path_of_url (units + same, (size_t)n - same, name)
             : flam_runtime_name_utf16 (name, units, (size_t)n);
}

bool
flam_v8_shared_name (FlamV8Scripts *scripts,
                     const FlamV8Layout *layout,
                     const FlamRuntimeMemory *memory,
                     uint64_t shared,
                     FlamRuntimeName *name,
                     FlamRuntimeNamed *named,
                     uint64_t *script)
{
  uint8_t bytes[SHARED_SIZE];
  uint64_t title, file;
  uint16_t type;
  Scope scope = { 0 };

  if (!flam_v8_read (memory, &shared, bytes, sizeof bytes) ||
      flam_v8_type (memory, shared) != layout->type_shared)
    return false;
  title = word (bytes, layout->shared_name);
  *script = word (bytes, layout->shared_script);
  type = flam_v8_type (memory, title);
  if (type == layout->type_scope_info)
    {
      uint8_t head[8];

      if (!flam_v8_read (memory, &title, head, sizeof head) ||
          !read_scope (layout, memory, title, &scope))
        return false;
      named->function = flam_v8_read_text (layout, memory, scope.name, name);
      if (named->function[0] == '\0')
        named->function =
            flam_v8_read_text (layout, memory, scope.inferred, name);
    }
  else if (type < layout->first_nonstring)
    named->function = flam_v8_read_text (layout, memory, title, name);
  if (named->function[0] == '\0')
    named->function = "(anonymous)";
  if (flam_v8_type (memory, *script) != layout->type_script)
    {
      *script = 0;
      return true;
    }
  if (flam_v8_read (memory, script, bytes, sizeof bytes))
    {
      file = word (bytes, layout->script_name);
      named->file = read_file_name (layout, memory, file, name);
    }
  if (scope.has_start)
    named->first_line =
        flam_v8_script_line (scripts, layout, memory, *script, scope.start);
  return true;
}
