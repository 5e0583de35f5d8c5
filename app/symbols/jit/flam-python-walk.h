/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PYTHON_WALK_H
#define FLAM_PYTHON_WALK_H

/* flam_python_walk() for callers that read memory directly and a million times
 * a second: with a `look` that the compiler can inline, it becomes a few loads
 * per frame. */

#include "flam-python-frames.h"

#include <string.h>

/* No frame of any version is smaller. */
#define FLAM_PYTHON_FRAME_SIZE 80

/* enum _frameowner: from this value on not a function's frame. */
#define FLAM_PYTHON_OWNER_ENTRY 3

static inline uint64_t
flam_python_word (const uint8_t *bytes, size_t offset)
{
  uint64_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

/* A number of bytes of the interpreter's memory: in place, or copied to `room`.
 * NULL: not readable. */
typedef const uint8_t *(*FlamPythonLook) (const FlamRuntimeMemory *memory,
                                          uint64_t address,
                                          uint8_t *room,
                                          size_t size);

__attribute__ ((always_inline)) static inline bool
flam_python_look_word (FlamPythonLook look,
                       const FlamRuntimeMemory *memory,
                       uint64_t address,
                       uint64_t *value)
{
  uint8_t room[8];
  const uint8_t *bytes = look (memory, address, room, sizeof room);

  if (bytes == NULL)
    return false;
  *value = flam_python_word (bytes, 0);
  return true;
}

/* Up to 3.12 a thread state points to a _PyCFrame, and that to the frame. */
static inline bool
flam_python_has_cframe (const FlamPythonLayout *layout)
{
  return layout->version < 0x030d0000;
}

/* In 3.11 a frame that ends a run is marked in the byte before its owner, and
 * the _PyCFrame of the run points to that of the run before. */
static inline bool
flam_python_has_entry_flag (const FlamPythonLayout *layout)
{
  return layout->version < 0x030c0000;
}

__attribute__ ((always_inline)) static inline size_t
flam_python_walk_inline (const FlamPythonLayout *layout,
                         FlamPythonLook look,
                         const FlamRuntimeMemory *memory,
                         uint64_t thread,
                         FlamPythonFrame *frames,
                         size_t limit)
{
  uint64_t frame = 0, mark = 0, cframe = 0;
  size_t n = 0, steps = 0, mark_at = 8;

  if (!flam_python_look_word (
          look, memory, thread + layout->thread_frame, &frame))
    return 0;
  if (flam_python_has_cframe (layout))
    {
      cframe = frame;
      if (!flam_python_look_word (
              look, memory, cframe + layout->cframe_frame, &frame))
        return 0;
    }
  while (frame != 0 && frame != mark && n < limit)
    {
      uint8_t room[FLAM_PYTHON_FRAME_SIZE];
      const uint8_t *bytes = look (memory, frame, room, sizeof room);
      uint64_t code;
      uint8_t owner;

      if (bytes == NULL)
        break;
      /* The low bits of 3.14's references are tags. */
      code = flam_python_word (bytes, layout->frame_code) & ~7ull;
      owner = bytes[layout->frame_owner];
      if (owner >= FLAM_PYTHON_OWNER_ENTRY || code == 0)
        frames[n++] = (FlamPythonFrame){ 0, frame };
      else
        frames[n++] = (FlamPythonFrame){
          code, flam_python_word (bytes, layout->frame_instruction)
        };
      if (flam_python_has_entry_flag (layout) &&
          bytes[layout->frame_owner - 1] != 0)
        {
          if (n == limit)
            break;
          frames[n++] = (FlamPythonFrame){ 0, cframe };
          if (!flam_python_look_word (
                  look, memory, cframe + layout->cframe_frame + 8, &cframe))
            break;
        }
      /* A repeated frame: invalid memory. Detected by Brent's algorithm. */
      if (++steps == mark_at)
        {
          mark = frame;
          mark_at *= 2;
        }
      frame = flam_python_word (bytes, layout->frame_previous);
    }
  return n;
}

#endif
