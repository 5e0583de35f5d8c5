/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-python-walk.h"

#include <string.h>

/* Marks a text for translation (flam-types.h); there is no GLib here. */
#define N_(String) (String)

#define INTERPRETERS_MAX 64
#define THREADS_MAX 4096

#define OBJECT_SIZE 16 /* of a var object: its length and its data follow */

/* --- layouts ------------------------------------------------------------- */

static const FlamPythonLayout fixed[] = {
  { .version = 0x030b0000,
    .runtime_interpreters = 40,
    .interpreter_next = 0,
    .interpreter_threads = 16,
    .interpreter_modules = 888,
    .type_keys = 872,
    .thread_next = 8,
    .thread_native_id = 160,
    .thread_frame = 56,
    .cframe_frame = 8,
    .frame_code = 32,
    .frame_previous = 48,
    .frame_instruction = 56,
    .frame_owner = 69,
    .code_first_line = 72,
    .code_file = 112,
    .code_name = 128,
    .code_lines = 136,
    .code_instructions = 184,
    .text_ascii = 48,
    .text_compact = 72 },
  { .version = 0x030c0000,
    .runtime_interpreters = 40,
    .interpreter_next = 0,
    .interpreter_threads = 72,
    .interpreter_modules = 944,
    .type_keys = 880,
    .thread_next = 8,
    .thread_native_id = 144,
    .thread_frame = 56,
    .cframe_frame = 0,
    .frame_code = 0,
    .frame_previous = 8,
    .frame_instruction = 56,
    .frame_owner = 70,
    .code_first_line = 68,
    .code_file = 112,
    .code_name = 128,
    .code_lines = 136,
    .code_instructions = 192,
    .text_ascii = 40,
    .text_compact = 56 },
};

/* Word positions in _Py_DebugOffsets, counted within a group; the start of the
 * groups differs between versions. */
typedef struct
{
  uint16_t runtime;
  uint16_t interpreter;
  uint16_t thread;
  uint16_t frame;
  uint16_t code;
  uint16_t text;
} Groups;

static uint16_t
entry (const uint8_t *offsets, uint16_t group, unsigned i, bool *ok)
{
  uint64_t value = flam_python_word (offsets, group + 8 * i);

  *ok = *ok && value < UINT16_MAX;
  return (uint16_t)value;
}

/* Whether the bytes read at once of a frame and of a code object suffice. */
static bool
is_sane (const FlamPythonLayout *layout)
{
  const uint16_t code[] = { layout->code_file,
                            layout->code_name,
                            layout->code_lines };

  for (unsigned i = 0; i < sizeof code / sizeof *code; i++)
    if (code[i] < layout->code_first_line ||
        code[i] + 8 > layout->code_first_line + FLAM_PYTHON_CODE_SIZE)
      return false;
  return layout->frame_code + 8 <= FLAM_PYTHON_FRAME_SIZE &&
         layout->frame_previous + 8 <= FLAM_PYTHON_FRAME_SIZE &&
         layout->frame_instruction + 8 <= FLAM_PYTHON_FRAME_SIZE &&
         layout->frame_owner > 0 &&
         layout->frame_owner < FLAM_PYTHON_FRAME_SIZE &&
         layout->text_ascii >= 32 && layout->text_ascii <= 64;
}

static const char *
layout_from_offsets (FlamPythonLayout *layout, const uint8_t *offsets)
{
  static const Groups groups[] = { { 24, 48, 152, 224, 272, 536 },
                                   { 24, 48, 176, 248, 312, 616 } };
  uint32_t version = (uint32_t)flam_python_word (offsets, 8);
  const Groups *g;
  bool ok = true;

  if (version < 0x030d0000 || version >= 0x030f0000)
    return N_ ("this version is not supported: 3.6 to 3.14 are");
  if (flam_python_word (offsets, 16) != 0)
    return N_ ("it is a free-threaded build");
  g = &groups[version >= 0x030e0000];
  *layout = (FlamPythonLayout){
    .version = version,
    .runtime_interpreters = entry (offsets, g->runtime, 2, &ok),
    .interpreter_next = entry (offsets, g->interpreter, 2, &ok),
    .interpreter_threads = entry (offsets, g->interpreter, 3, &ok),
    .interpreter_modules =
        version < 0x030e0000 ? entry (offsets, g->interpreter, 5, &ok) : 0,
    .type_keys = 880,
    .thread_next = entry (offsets, g->thread, 2, &ok),
    .thread_frame = entry (offsets, g->thread, 4, &ok),
    .thread_native_id = entry (offsets, g->thread, 6, &ok),
    .frame_previous = entry (offsets, g->frame, 1, &ok),
    .frame_code = entry (offsets, g->frame, 2, &ok),
    .frame_instruction = entry (offsets, g->frame, 3, &ok),
    .frame_owner = entry (offsets, g->frame, 5, &ok),
    .code_file = entry (offsets, g->code, 1, &ok),
    .code_name = entry (offsets, g->code, 3, &ok),
    .code_lines = entry (offsets, g->code, 4, &ok),
    .code_first_line = entry (offsets, g->code, 5, &ok),
    .code_instructions = entry (offsets, g->code, 9, &ok),
    .text_ascii = entry (offsets, g->text, 3, &ok),
  };
  layout->text_compact = layout->text_ascii + 16;
  return ok && is_sane (layout) ? NULL
                                : N_ ("its description of itself is invalid");
}

const char *
flam_python_layout_init (FlamPythonLayout *layout,
                         uint32_t version,
                         const void *offsets,
                         size_t size)
{
  if (offsets != NULL && size >= FLAM_PYTHON_DEBUG_OFFSETS_SIZE &&
      memcmp (offsets, "xdebugpy", 8) == 0)
    return layout_from_offsets (layout, offsets);
  for (unsigned i = 0; i < sizeof fixed / sizeof *fixed; i++)
    if (version >> 16 == fixed[i].version >> 16)
      {
        *layout = fixed[i];
        return NULL;
      }
  return N_ ("this version is not supported: 3.6 to 3.14 are");
}

/* --- threads ------------------------------------------------------------- */

static bool
read_word (const FlamRuntimeMemory *memory, uint64_t address, uint64_t *value)
{
  return memory->read (memory->data, address, value, sizeof *value);
}

bool
flam_python_is_thread (const FlamPythonLayout *layout,
                       const FlamRuntimeMemory *memory,
                       uint64_t thread,
                       uint64_t tid)
{
  uint64_t id;

  return read_word (memory, thread + layout->thread_native_id, &id) &&
         id == tid;
}

size_t
flam_python_find_threads (const FlamPythonLayout *layout,
                          const FlamRuntimeMemory *memory,
                          uint64_t runtime,
                          uint64_t tid,
                          uint64_t *threads,
                          size_t limit)
{
  uint64_t interpreter = 0, thread = 0;
  unsigned n_interpreters = 0, n_threads = 0;
  size_t n = 0;

  read_word (memory, runtime + layout->runtime_interpreters, &interpreter);
  for (; interpreter != 0 && n_interpreters++ < INTERPRETERS_MAX;)
    {
      thread = 0;
      read_word (memory, interpreter + layout->interpreter_threads, &thread);
      while (thread != 0 && n_threads++ < THREADS_MAX)
        {
          if (flam_python_is_thread (layout, memory, thread, tid))
            {
              if (n < limit)
                threads[n++] = thread;
              break;
            }
          if (!read_word (memory, thread + layout->thread_next, &thread))
            break;
        }
      if (!read_word (
              memory, interpreter + layout->interpreter_next, &interpreter))
        break;
    }
  return n;
}

/* --- frames -------------------------------------------------------------- */

static inline const uint8_t *
read_into (const FlamRuntimeMemory *memory,
           uint64_t address,
           uint8_t *room,
           size_t size)
{
  return memory->read (memory->data, address, room, size) ? room : NULL;
}

size_t
flam_python_walk (const FlamPythonLayout *layout,
                  const FlamRuntimeMemory *memory,
                  uint64_t thread,
                  FlamPythonFrame *frames,
                  size_t limit)
{
  return flam_python_walk_inline (
      layout, read_into, memory, thread, frames, limit);
}

/* --- code objects -------------------------------------------------------- */

void
flam_python_code_parts (const FlamPythonLayout *layout,
                        const uint8_t piece[FLAM_PYTHON_CODE_SIZE],
                        FlamPythonCodeParts *parts)
{
  size_t base = layout->code_first_line;

  memcpy (&parts->first_line, piece, sizeof parts->first_line);
  parts->file = flam_python_word (piece, layout->code_file - base);
  parts->name = flam_python_word (piece, layout->code_name - base);
  parts->lines = flam_python_word (piece, layout->code_lines - base);
}

static size_t
encode (uint32_t c, char *out)
{
  if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000) || c == 0)
    c = 0xfffd;
  if (c < 0x80)
    {
      out[0] = (char)c;
      return 1;
    }
  if (c < 0x800)
    {
      out[0] = (char)(0xc0 | c >> 6);
      out[1] = (char)(0x80 | (c & 63));
      return 2;
    }
  if (c < 0x10000)
    {
      out[0] = (char)(0xe0 | c >> 12);
      out[1] = (char)(0x80 | (c >> 6 & 63));
      out[2] = (char)(0x80 | (c & 63));
      return 3;
    }
  out[0] = (char)(0xf0 | c >> 18);
  out[1] = (char)(0x80 | (c >> 12 & 63));
  out[2] = (char)(0x80 | (c >> 6 & 63));
  out[3] = (char)(0x80 | (c & 63));
  return 4;
}

/* Length at 16; from byte 32 a bit field: interned 2 bits, kind 3, compact 1,
 * ascii 1. */
bool
flam_python_text (const FlamPythonLayout *layout,
                  const FlamRuntimeMemory *memory,
                  uint64_t object,
                  char *text,
                  size_t size)
{
  uint8_t head[36];
  uint32_t state, width;
  uint64_t length, data;
  size_t n = 0;

  text[0] = '\0';
  if (object == 0 || !memory->read (memory->data, object, head, sizeof head))
    return false;
  length = flam_python_word (head, OBJECT_SIZE);
  memcpy (&state, head + 32, sizeof state);
  width = state >> 2 & 7;
  if ((width != 1 && width != 2 && width != 4) || !(state & 32))
    return false;
  data = object + (state & 64 ? layout->text_ascii : layout->text_compact);
  while (length > 0 && n + 5 <= size)
    {
      uint8_t piece[256];
      size_t left =
          sizeof piece / width < length ? sizeof piece / width : (size_t)length;

      if (left > size - n)
        left = size - n;
      if (!memory->read (memory->data, data, piece, left * width))
        return false;
      for (size_t i = 0; i < left && n + 5 <= size; i++)
        {
          uint32_t c = 0;

          memcpy (&c, piece + i * width, width);
          n += encode (c, text + n);
        }
      length -= left;
      data += left * width;
    }
  text[n] = '\0';
  return true;
}

size_t
flam_python_bytes (const FlamRuntimeMemory *memory,
                   uint64_t object,
                   uint8_t *bytes,
                   size_t size)
{
  uint64_t length;

  if (object == 0 || !read_word (memory, object + OBJECT_SIZE, &length) ||
      length > size ||
      !memory->read (
          memory->data, object + 2 * OBJECT_SIZE, bytes, (size_t)length))
    return 0;
  return (size_t)length;
}
