/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8-threads.h"

#include <inttypes.h>
#include <stdio.h>

/* Between the start of a stack and the struct pthread are the data of the
 * thread in all libraries. */
#define DATA_MAX 0x8000
#define PIECE 0x400
/* The size of a struct pthread is 0x900 in glibc 2.36. */
#define DESCRIPTOR_MAX 0xa00
#define SELF 16 /* in it */
/* Bytes of code from the call to the store of its result. */
#define STORE_MAX 64
/* A std::string: the address of its text, and its length. */
#define NAME_AT 16 /* from the number */
#define GIVEN_MAX 40
/* The name of a Worker that was given none, from node 24 on. */
#define NAMELESS "WorkerThread"

/* --- code ----------------------------------------------------------------- */

#define CALL 0xe8

/* "mov [reg + disp32], rax". */
static bool
is_store (const uint8_t *code)
{
  return (code[0] & 0xfe) == 0x48 && code[1] == 0x89 &&
         (code[2] & 0xf8) == 0x80 && code[2] != 0x84;
}

uint32_t
flam_v8_threads_find_number (const uint8_t *code,
                             size_t size,
                             uint64_t address,
                             uint64_t allocate)
{
  for (size_t i = 0; i + 5 + STORE_MAX <= size; i++)
    {
      int32_t there = (int32_t)flam_runtime_u32 (code, i + 1);

      if (code[i] != CALL ||
          address + i + 5 + (uint64_t)(int64_t)there != allocate)
        continue;
      for (size_t k = i + 5; k < i + 5 + STORE_MAX - 7; k++)
        if (is_store (code + k))
          return flam_runtime_u32 (code, k + 3) < 0x1000
                     ? flam_runtime_u32 (code, k + 3)
                     : 0;
      return 0;
    }
  return 0;
}

/* --- threads -------------------------------------------------------------- */

/* The thread's struct pthread above `top`; 0: none. */
static uint64_t
find_descriptor (const FlamRuntimeMemory *memory, uint64_t top)
{
  uint64_t words[PIECE / 8];
  uint64_t self;

  top &= ~UINT64_C (63);
  for (uint64_t at = top; at < top + DATA_MAX; at += PIECE)
    {
      if (!flam_runtime_read (memory, at, words, sizeof words))
        return 0;
      for (size_t i = 0; i < PIECE / 8; i++)
        if (words[i] == at + 8 * i &&
            flam_runtime_read_u64 (memory, at + 8 * i + SELF, &self) &&
            self == at + 8 * i)
          return self;
    }
  return 0;
}

/* `argument`: of the start. */
static bool
find_start (const FlamV8Threads *threads,
            uint64_t base,
            const FlamRuntimeMemory *memory,
            uint64_t descriptor,
            FlamV8Start *start,
            uint64_t *argument)
{
  uint64_t words[8];

  for (uint64_t at = 0; at < DESCRIPTOR_MAX; at += sizeof words)
    {
      if (!flam_runtime_read (memory, descriptor + at, words, sizeof words))
        return false;
      for (size_t i = 0; i < 8; i++)
        for (unsigned s = 0; s < FLAM_V8_N_STARTS; s++)
          if (threads->starts[s] != 0 && words[i] == base + threads->starts[s])
            {
              *start = (FlamV8Start)s;
              return flam_runtime_read_u64 (
                  memory, descriptor + at + 8 * (i + 1), argument);
            }
    }
  return false;
}

/* The name of a Worker, if it was given one. */
static bool
read_given (const FlamRuntimeMemory *memory, uint64_t at, char name[GIVEN_MAX])
{
  uint64_t text, length;

  if (!flam_runtime_read_u64 (memory, at, &text) ||
      !flam_runtime_read_u64 (memory, at + 8, &length) || length == 0 ||
      length >= GIVEN_MAX || !flam_runtime_read (memory, text, name, length))
    return false;
  name[length] = '\0';
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)name[i] < ' ' || (unsigned char)name[i] > '~')
      return false;
  return strcmp (name, NAMELESS) != 0;
}

static void
name_worker (const FlamV8Threads *threads,
             const FlamRuntimeMemory *memory,
             uint64_t worker,
             char name[FLAM_V8_THREAD_NAME_SIZE])
{
  char given[GIVEN_MAX];
  uint64_t number;

  if (threads->number == 0 ||
      !flam_runtime_read_u64 (memory, worker + threads->number, &number) ||
      number > UINT32_MAX)
    snprintf (name, FLAM_V8_THREAD_NAME_SIZE, "Worker");
  else if (read_given (memory, worker + threads->number + NAME_AT, given))
    snprintf (name,
              FLAM_V8_THREAD_NAME_SIZE,
              "Worker %" PRIu64 ": %s",
              number,
              given);
  else
    snprintf (name, FLAM_V8_THREAD_NAME_SIZE, "Worker %" PRIu64, number);
}

bool
flam_v8_threads_name (const FlamV8Threads *threads,
                      uint64_t base,
                      const FlamRuntimeMemory *memory,
                      uint64_t top,
                      char name[FLAM_V8_THREAD_NAME_SIZE])
{
  static const char *const names[FLAM_V8_N_STARTS] = {
    [FLAM_V8_START_PLATFORM] = "V8Worker",
    [FLAM_V8_START_DELAYED] = "DelayedTaskScheduler",
    [FLAM_V8_START_INSPECTOR] = "SignalInspector",
    [FLAM_V8_START_POOL] = "libuv-worker",
  };
  uint64_t descriptor = find_descriptor (memory, top);
  FlamV8Start start;
  uint64_t argument;

  if (descriptor == 0 ||
      !find_start (threads, base, memory, descriptor, &start, &argument))
    return false;
  if (start == FLAM_V8_START_WORKER)
    name_worker (threads, memory, argument, name);
  else
    snprintf (name, FLAM_V8_THREAD_NAME_SIZE, "%s", names[start]);
  return true;
}
