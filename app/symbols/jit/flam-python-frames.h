/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PYTHON_FRAMES_H
#define FLAM_PYTHON_FRAMES_H

/* CPython's call stack, read from outside: 3.11 to 3.14.
 *
 * Plain C without GLib. The interpreter's memory is only read through the
 * caller's `read`; with any content of that memory, a call terminates and stays
 * within its buffers.
 *
 *   _PyRuntime ─▶ interpreters ─▶ thread states ─▶ innermost frame
 *
 *   native stack                       Python frames, innermost first
 *   ┌───────────────────────────┐
 *   │ list_append               │      key ◀─┐
 *   │ _PyEval_EvalFrameDefault  │ ◀────────── entry
 *   │ builtin_sorted            │      rank ◀┐
 *   │ _PyEval_EvalFrameDefault  │      main  │
 *   │                           │      <module>
 *   │                           │ ◀────────── entry
 *   │ main                      │
 *   └───────────────────────────┘
 *
 * A Python function called by Python takes no native frame of its own: one run
 * of the evaluation loop carries all frames up to an entry. The entry is marked
 * by a local variable of that run: a _PyCFrame (3.11), or a frame without a
 * function (3.12 on). So its address determines the native frame, without
 * symbols, wherever the compiler put the loop.
 *
 * Sources: CPython's Include/internal/pycore_frame.h, pycore_runtime.h
 * (_Py_DebugOffsets, 3.13 on), cpython/pystate.h, cpython/code.h,
 * cpython/unicodeobject.h of these versions. */

#include "flam-runtime-memory.h"

/* The layout of one build of CPython; offsets in bytes. */
typedef struct
{
  uint32_t version; /* PY_VERSION_HEX */
  uint16_t runtime_interpreters;
  uint16_t interpreter_next;
  uint16_t interpreter_threads;
  uint16_t interpreter_modules; /* sys.modules; 0: not needed */
  uint16_t type_keys;           /* of the dictionaries of a type's instances */
  uint16_t thread_next;
  uint16_t thread_native_id;
  uint16_t thread_frame; /* of the frame's address; up to 3.12 of a _PyCFrame */
  uint16_t cframe_frame; /* in the _PyCFrame, if it exists */
  uint16_t frame_code;
  uint16_t frame_previous;
  uint16_t frame_instruction;
  uint16_t frame_owner;
  uint16_t code_first_line;
  uint16_t code_file;
  uint16_t code_name; /* the qualified name */
  uint16_t code_lines;
  uint16_t code_instructions;
  uint16_t text_ascii;   /* size of a PyASCIIObject */
  uint16_t text_compact; /* of a PyCompactUnicodeObject */
} FlamPythonLayout;

#define FLAM_PYTHON_DEBUG_OFFSETS_SIZE 760

/* `offsets` are the available bytes at _PyRuntime; they are needed from 3.13
 * on, and then `version` is not (0). NULL, or a static message why the frames
 * of this build cannot be read. */
const char *flam_python_layout_init (FlamPythonLayout *layout,
                                     uint32_t version,
                                     const void *offsets,
                                     size_t size);

/* The thread states of a native thread (one for each interpreter it works for),
 * at most `limit`. `tid` is the number in the target's pid namespace. */
size_t flam_python_find_threads (const FlamPythonLayout *layout,
                                 const FlamRuntimeMemory *memory,
                                 uint64_t runtime,
                                 uint64_t tid,
                                 uint64_t *threads,
                                 size_t limit);
/* Whether it is still a thread state of `tid`. */
bool flam_python_is_thread (const FlamPythonLayout *layout,
                            const FlamRuntimeMemory *memory,
                            uint64_t thread,
                            uint64_t tid);

typedef struct
{
  uint64_t code; /* address of the code object; 0: an entry */
  uint64_t pc;   /* of the instruction, or of the marker of the entry */
} FlamPythonFrame;

/* The frames of a stopped thread, innermost first, each run of the evaluation
 * loop closed by an entry. A chain that is invalid or longer than `limit` ends
 * without one. */
size_t flam_python_walk (const FlamPythonLayout *layout,
                         const FlamRuntimeMemory *memory,
                         uint64_t thread,
                         FlamPythonFrame *frames,
                         size_t limit);

/* The content of a code object. */
typedef struct
{
  uint64_t file; /* addresses of objects */
  uint64_t name;
  uint64_t lines;
  uint32_t first_line;
} FlamPythonCodeParts;

/* A code object that replaces another one may have its name, file and lines at
 * the same addresses. So these two pieces are read, and compared with those
 * that were first read: a piece of the code object (from 3.12 on it contains a
 * number that is never reused), and the length and the hash of its name. */
#define FLAM_PYTHON_CODE_SIZE 80
#define FLAM_PYTHON_NAME_SIZE 16

static inline uint64_t
flam_python_code_piece (const FlamPythonLayout *layout, uint64_t code)
{
  return code + layout->code_first_line;
}

static inline uint64_t
flam_python_name_piece (uint64_t name)
{
  return name + 16;
}

void flam_python_code_parts (const FlamPythonLayout *layout,
                             const uint8_t piece[FLAM_PYTHON_CODE_SIZE],
                             FlamPythonCodeParts *parts);

/* A string object as UTF-8, truncated if it is longer than `size`, always
 * terminated. False: not a string. */
bool flam_python_text (const FlamPythonLayout *layout,
                       const FlamRuntimeMemory *memory,
                       uint64_t object,
                       char *text,
                       size_t size);
/* A bytes object; returns its length, 0 if it is none or longer than `size`. */
size_t flam_python_bytes (const FlamRuntimeMemory *memory,
                          uint64_t object,
                          uint8_t *bytes,
                          size_t size);

#endif
