/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_CODE_H
#define FLAM_V8_CODE_H

/* V8's Code objects, by the address of one or by a pc within its machine code.
 *
 *   Code ──▶ machine code, behind a header that leads back to the Code
 *
 * (In V8 before 11 the machine code is in the Code itself.) A function has only
 * one Code. The code that runs may be another one: the loop of a function that
 * was called once runs in code made for this loop (on-stack replacement), and a
 * function that was compiled again may still run its old code. Such code is
 * found from its pc: by its header, which lies below it at a multiple of 8. */

#include "flam-v8-strings.h"

typedef struct
{
  uint64_t object; /* 0: none */
  uint64_t start;
  uint32_t size;
  uint8_t kind;
  uint64_t deopt;
  uint64_t positions;
} FlamV8Code;

static inline bool
flam_v8_code_contains (const FlamV8Code *code, uint64_t pc)
{
  return code->object != 0 && pc >= code->start &&
         pc - code->start < code->size;
}

bool flam_v8_code_read (const FlamV8Layout *layout,
                        const FlamRuntimeMemory *memory,
                        uint64_t object,
                        FlamV8Code *code);

/* The function from which machine code was compiled, as a tagged word; 0:
 * unknown, or baseline code, which does not contain it. */
uint64_t flam_v8_code_shared (const FlamV8Layout *layout,
                              const FlamRuntimeMemory *memory,
                              const FlamV8Code *code);

#define FLAM_V8_HEADERS_MAX 16
#define FLAM_V8_CODES_MAX 4096
#define FLAM_V8_MISSES 64

/* Code that was found by its pc. Zeroed to begin with. */
typedef struct
{
  /* The first word and the size of headers of machine code. */
  struct
  {
    uint64_t word;
    uint32_t size;
  } headers[FLAM_V8_HEADERS_MAX];
  unsigned n_headers;
  /* Ascending by address. */
  struct
  {
    uint64_t start;
    uint64_t object;
    uint32_t size;
  } codes[FLAM_V8_CODES_MAX];
  unsigned n_codes;
  uint64_t misses[FLAM_V8_MISSES]; /* pcs at which there was none */
  unsigned searches;
  unsigned n_guesses; /* of the form of headers */
} FlamV8Codes;

/* Learns the form of headers from a Code whose machine code has one. */
void flam_v8_codes_learn (FlamV8Codes *codes,
                          const FlamV8Layout *layout,
                          const FlamRuntimeMemory *memory,
                          const FlamV8Code *code);
bool flam_v8_codes_find (FlamV8Codes *codes,
                         const FlamV8Layout *layout,
                         const FlamRuntimeMemory *memory,
                         uint64_t pc,
                         FlamV8Code *code);

#endif
