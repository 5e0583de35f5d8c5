/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_HOTSPOT_H
#define FLAM_HOTSPOT_H

/* Java's frames, read from outside: HotSpot of JDK 8 to 25 on x86-64.
 *
 * The memory of the process is only read through the
 * caller's `read`; with any content of that memory, a call terminates and stays
 * within its buffers.
 *
 *   libjvm.so exports tables of its own structures, for debuggers:
 *
 *   gHotSpotVMStructs ─▶ { "CodeBlob", "_name", offset 96 } ...
 *   gHotSpotVMTypes   ─▶ { "nmethod", size 344 } ...
 *
 *   code heap: segments of 128 bytes
 *   ┌────────┬───────┬──────┬───────┬────────┬───────┬──────┬────────
 *   │ header │ blob  │ code │ data  │ header │ blob  │ code │ ...
 *   └────────┴───────┴──────┴───────┴────────┴───────┴──────┴────────
 *   segment map: 0 1 2 3 4 5 6 7 0 1 2 3 ...  steps back to the header
 *
 *   pc ─▶ segment ─▶ header ─▶ CodeBlob: kind by its name, size of the frame
 *
 * Java's frames lie on the native stack, but the code has no unwind tables: the
 * native walk stops at a pc in a code heap, flam_hotspot_step() goes on from
 * there to the caller, and so on until a caller lies outside the heaps.
 *
 *   frame                 where the caller is
 *   interpreted           rbp: [fp-24] Method, [fp-8] caller's sp, [fp] rbp
 *   compiled, wrapper     sp + size: [-8] return address, [-16] rbp
 *   deoptimized           likewise; its own pc is at sp + _orig_pc_offset
 *   stub, call stub       rbp, or the return address at sp in a leaf
 *
 * Methods and compiled code do not move, so that names can be read later, by
 * flam_hotspot_name(): compiled code has a list of scopes for each call, which
 * gives the inlined methods.
 *
 * Sources: OpenJDK's src/hotspot/share/runtime/vmStructs.cpp,
 * code/codeBlob.hpp, code/nmethod.hpp, code/pcDesc.hpp, code/scopeDesc.cpp,
 * memory/heap.cpp, oops/constMethod.hpp, oops/symbol.hpp,
 * code/compressedStream.cpp, utilities/unsigned5.hpp, cpu/x86/frame_x86.hpp of
 * these versions. */

#include "flam-runtime-name.h"

/* The symbols of libjvm.so that are needed. */
#define FLAM_HOTSPOT_SYMBOLS 11
extern const char *const flam_hotspot_symbols[FLAM_HOTSPOT_SYMBOLS];

#define FLAM_HOTSPOT_HEAPS 8
#define FLAM_HOTSPOT_STUBS 320
#define FLAM_HOTSPOT_STUB_NAME 48
#define FLAM_HOTSPOT_KINDS 16
#define FLAM_HOTSPOT_FIELDS 64

typedef struct
{
  uint64_t start; /* reserved; it grows within that */
  uint64_t end;
  uint64_t segment_map;
  uint8_t shift; /* log2 of a segment's size */
} FlamHotspotHeap;

typedef struct
{
  uint64_t entry;
  char name[FLAM_HOTSPOT_STUB_NAME];
} FlamHotspotStub;

/* A process's HotSpot. About 20 KiB. */
typedef struct
{
  uint32_t version; /* 8, 11, 17 ... */
  uint32_t fields[FLAM_HOTSPOT_FIELDS];
  FlamHotspotHeap heaps[FLAM_HOTSPOT_HEAPS];
  uint32_t n_heaps;
  FlamHotspotStub stubs[FLAM_HOTSPOT_STUBS]; /* ascending by entry */
  uint32_t n_stubs;
  uint64_t call_stub; /* return address into it */
  /* Address of the variable with the return address into enterSpecial, which is
   * made when it is first called; 0 up to 20. */
  uint64_t continuation;
  /* Addresses of variables, 0: there is none: the list of threads, two classes,
   * and how references are compressed. */
  uint64_t threads, thread_class, string_class;
  uint64_t object_base, object_shift, class_base, class_shift;
  uint32_t header_size; /* of a blob, as far as it is read */
  struct
  {
    uint64_t name;
    uint8_t kind;
  } kinds[FLAM_HOTSPOT_KINDS]; /* of blobs by the address of their name */
} FlamHotspot;

typedef enum
{
  FLAM_HOTSPOT_READY,
  FLAM_HOTSPOT_EARLY,      /* it has not made its code heaps yet: try later */
  FLAM_HOTSPOT_UNREADABLE, /* for the reason in `why` */
} FlamHotspotState;

/* `addresses` are those of flam_hotspot_symbols in the process, 0: none.
 * `why` is a static text. */
FlamHotspotState
flam_hotspot_open (FlamHotspot *hotspot,
                   const FlamRuntimeMemory *memory,
                   const uint64_t addresses[FLAM_HOTSPOT_SYMBOLS],
                   const char **why);

/* The name of the stub whose entry is in the variable with this symbol of
 * libjvm.so: "_ZN12StubRoutines5_dsinE" -> "dsin". False: it is none. */
bool flam_hotspot_stub_name (const char *symbol,
                             char name[FLAM_HOTSPOT_STUB_NAME]);
/* Adds the stub whose entry is in the variable at `address`, unless it is
 * known: from JDK 22 on the tables for debuggers leave out nearly all. */
void flam_hotspot_add_stub (FlamHotspot *hotspot,
                            const FlamRuntimeMemory *memory,
                            uint64_t address,
                            const char *name);

/* Whether that is an address in a code heap. */
bool flam_hotspot_is_code (const FlamHotspot *hotspot, uint64_t pc);
/* Whether any address from `start` up to `end` is. */
bool flam_hotspot_has_code (const FlamHotspot *hotspot,
                            uint64_t start,
                            uint64_t end);

typedef enum
{
  FLAM_HOTSPOT_INTERPRETED, /* `function` is a Method, `at` a bytecode */
  FLAM_HOTSPOT_COMPILED,    /* an nmethod, and a pc from its code's start */
  FLAM_HOTSPOT_NATIVE,      /* likewise: the wrapper of a native method */
  FLAM_HOTSPOT_STUB,        /* a blob, and a pc from its code's start */
} FlamHotspotKind;

#define FLAM_HOTSPOT_NO_BYTECODE UINT32_MAX

typedef struct
{
  uint64_t function;
  uint64_t cookie; /* differs if another has taken its place */
  uint32_t at;
  uint8_t kind; /* FlamHotspotKind */
} FlamHotspotFrame;

typedef enum
{
  FLAM_HOTSPOT_STEPPED, /* the registers are the caller's */
  FLAM_HOTSPOT_LAST,    /* a frame whose caller is unknown */
  FLAM_HOTSPOT_LOST,    /* no frame */
} FlamHotspotStep;

/* From a frame with its pc in a code heap to its caller, of which only rsp and
 * rbp are known. `memory` includes the stack. */
FlamHotspotStep flam_hotspot_step (FlamHotspot *hotspot,
                                   const FlamRuntimeMemory *memory,
                                   FlamRuntimeRegs *regs,
                                   FlamHotspotFrame *frame);

/* Adds the methods of a frame to `name`, innermost first: type
 * "java.util.HashMap", function "get", file "java/util/HashMap.java". FALSE: it
 * has been replaced, or cannot be read. */
bool flam_hotspot_name (const FlamHotspot *hotspot,
                        const FlamRuntimeMemory *memory,
                        const FlamHotspotFrame *frame,
                        FlamRuntimeName *name);

/* Passes the number of each Java thread, as the process sees it, and its name
 * to `take`. The names are objects, which are moved while the process runs:
 * each is read twice, and left out unless it is the same. `scratch` is
 * overwritten. From JDK 10 on. */
void flam_hotspot_name_threads (const FlamHotspot *hotspot,
                                const FlamRuntimeMemory *memory,
                                FlamRuntimeName *scratch,
                                void (*take) (void *data,
                                              uint32_t tid,
                                              const char *name),
                                void *data);

#endif
