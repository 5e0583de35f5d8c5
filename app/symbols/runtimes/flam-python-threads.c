/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-threads.h"

#include "flam-python-objects.h"

#define INTERPRETERS_MAX 64
#define READS_MAX 200000
#define NAME_MAX_SIZE 256
#define V3_8 0x03080000

/* Where a thread's control block has its number (x86-64). */
#define GLIBC_TID 720
#define MUSL_TID 48

typedef struct
{
  const FlamPythonReader *reader;
  FlamRuntimeName *scratch;
  void (*take) (void *data, uint32_t tid, const char *name);
  void *data;
} Taking;

/* The number of a thread by its pthread_t, which is the address of its control
 * block: glibc's has its own address as the third word, too, musl's as the
 * first alone. */
static uint32_t
number_of (const FlamPythonReader *reader, uint64_t block)
{
  uint64_t words[3];
  uint32_t number;

  if (block == 0 || block % 8 != 0 ||
      !flam_runtime_read (reader->memory, block, words, sizeof words) ||
      words[0] != block ||
      !flam_runtime_read_u32 (reader->memory,
                              block +
                                  (words[2] == block ? GLIBC_TID : MUSL_TID),
                              &number))
    return 0;
  return number;
}

static uint32_t
read_thread (const FlamPythonReader *reader,
             uint64_t thread,
             char *name,
             size_t size)
{
  FlamPythonItems items = flam_python_attributes (reader, thread);
  uint64_t text = flam_python_find_item (reader, items, "_name");
  bool old = reader->layout->version < V3_8;
  uint64_t number =
      flam_python_find_item (reader, items, old ? "_ident" : "_native_id");

  if (text == 0 || number == 0 ||
      !flam_python_text (reader->layout, reader->memory, text, name, size))
    return 0;
  number = flam_python_number (reader, number);
  return old ? number_of (reader, number) : (uint32_t)number;
}

/* It is read twice: it may change meanwhile. */
static bool
take_thread (void *data, uint64_t key, uint64_t thread)
{
  Taking *taking = data;
  char name[NAME_MAX_SIZE], again[NAME_MAX_SIZE];
  uint32_t tid = read_thread (taking->reader, thread, name, sizeof name);

  (void)key;
  if (tid == 0 || strcmp (name, "MainThread") == 0 ||
      read_thread (taking->reader, thread, again, sizeof again) != tid ||
      strcmp (name, again) != 0)
    return true;
  flam_runtime_name_clear (taking->scratch);
  taking->take (taking->data,
                tid,
                flam_runtime_name_utf8 (taking->scratch, name, sizeof name));
  return true;
}

void
flam_python_name_threads (const FlamPythonLayout *layout,
                          const FlamRuntimeMemory *memory,
                          uint64_t runtime,
                          FlamRuntimeName *scratch,
                          void (*take) (void *data,
                                        uint32_t tid,
                                        const char *name),
                          void *data)
{
  FlamPythonLimit limited = { memory, READS_MAX };
  FlamRuntimeMemory once = { flam_python_read_limited, &limited };
  FlamPythonReader reader = { layout, &once };
  Taking taking = { &reader, scratch, take, data };
  uint64_t interpreter = 0;
  unsigned n = 0;

  if (layout->interpreter_modules == 0)
    return;
  while (n++ < INTERPRETERS_MAX && (interpreter = flam_python_next_interpreter (
                                        &reader, runtime, interpreter)) != 0)
    {
      uint64_t active = flam_python_find_item (
          &reader,
          flam_python_module (&reader, interpreter, "threading"),
          "_active");

      if (active != 0)
        flam_python_for_each (
            &reader, flam_python_dict (&reader, active), take_thread, &taking);
    }
}
