/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_H
#define FLAM_RUNTIME_H

/* A runtime of a language: the row of the table in flam-runtime-table.c.
 *
 *   file      find   ──▶ FlamRuntimeFile: all that the file tells, or why it
 *                        cannot be read                        (sampler)
 *   process   open   ──▶ FlamRuntimeProcess: addresses, layout (sampler)
 *   stop      walk   ──▶ entries, innermost first              (tracer)
 *   resumed   pieces ──▶ what shows that a function is still the same, and
 *             name   ──▶ its names                             (tracer)
 *   sample    step   ──▶ one managed frame, the caller's registers
 *             name   ──▶ its names                             (sampler)
 *
 * There are two kinds of runtime, and a row may be both, or give labels alone:
 *
 * - A chain (CPython, Ruby, PHP, Perl, Lua; V8): `walk` reads the frames in the
 *   stop, and its entries tell which native frames they replace
 *   (flam-runtime-memory.h). Frames whose code has no CFI but a frame pointer,
 *   as V8's, need no `step`: the unwinder follows the frame pointers, and each
 *   frame is closed by an entry with an address in it.
 * - Native (HotSpot, BEAM): the managed frames lie on the native stack and have
 *   no CFI. Where the unwinder comes to a pc in a mapping that the runtime
 *   `claims`, `step` gives the frame and the caller's registers, and the walk
 *   goes on: with `step` as long as the pc is claimed, with CFI otherwise. It
 *   runs in the sampler, later than the stop, while the process goes on: it may
 *   rely on the copied stack and on memory that does not change.
 *
 * A row that is both (LuaJIT, PHP) may leave to `walk` what `step` cannot find:
 * the addresses of the chain's entries are kept with the copied stack.
 *
 * The time of `walk` is time for which the thread is stopped. It may take some
 * 10 µs: what is large, or the same for all samples, belongs in `open`.
 *
 * How to add a runtime: a reader in app/symbols/runtimes, which is pure and has
 * tests with memory that lies; a file here with the row, which adapts it; a
 * line in flam-runtime-table.c; a program in tests/record/targets that measures
 * the CPU time of its own functions. */

#include "flam-core-profile.h"
#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"

#include <sys/types.h>

typedef struct _FlamRuntime FlamRuntime;

/* A runtime in a process. Constant after `open`, but for `cache`; it lives as
 * long as the process is recorded. */
typedef struct _FlamRuntimeProcess
{
  const FlamRuntime *runtime;
  const FlamRuntimeFile *file;
  /* The one of an earlier mapping of the same file in this process, which is
   * opened before this one; or NULL. */
  const struct _FlamRuntimeProcess *first;
  guint64 base; /* address in the process = base + address in the file */
  pid_t pid;
  const char *path; /* of the file */
  gpointer layout;  /* open's; read by tracer and sampler */
  gpointer cache;   /* open's; only for step, and for name in the sampler */
} FlamRuntimeProcess;

#define FLAM_RUNTIME_OWN_WORDS 8

/* A thread of such a process; zeroed when the process or its program is new.
 * The tracer's. */
typedef struct
{
  pid_t tid;
  guint64 id; /* its number in the innermost pid namespace, as it sees itself */
  gint64 now; /* ns since the recording began, at this stop */
  guint64 own[FLAM_RUNTIME_OWN_WORDS]; /* the row's */
} FlamRuntimeThread;

typedef enum
{
  FLAM_RUNTIME_OPENED,
  FLAM_RUNTIME_NOT_YET, /* not initialized: it is tried again later */
  FLAM_RUNTIME_UNREADABLE,
} FlamRuntimeOpened;

typedef enum
{
  FLAM_RUNTIME_STEPPED,
  FLAM_RUNTIME_STEP_ROOT, /* the frame is the outermost of the thread; its
                           * caller's rsp, if known, is where it ends */
  FLAM_RUNTIME_STEP_LOST, /* the caller cannot be found: the stack ends here,
                           * and is counted as truncated; the frame is valid */
} FlamRuntimeStepped;

#define FLAM_RUNTIME_THREAD_SIZE 64

/* Takes the name of a thread and its number as the process sees it. */
typedef void (*FlamRuntimeTakeThread) (gpointer data,
                                       guint32 tid,
                                       const char *name);

/* When `name` is called. */
typedef enum
{
  /* By the tracer, right after the thread was resumed, or by the sampler for
   * frames of `step`: the functions do not move. A function that is new, or
   * whose cookie or pieces differ from the known ones, is read; it gets no name
   * if they changed since the stop. */
  FLAM_RUNTIME_NAME_RESUMED,
  /* By the tracer in the stop, for a new key, cookie or position: the functions
   * may move or end as soon as the thread runs on. */
  FLAM_RUNTIME_NAME_STOPPED,
} FlamRuntimeNaming;

/* Bytes of the process's memory that identify a function: see `pieces`. */
typedef struct
{
  guint64 address;
  guint32 size;
} FlamRuntimePiece;

#define FLAM_RUNTIME_PIECES_MAX 2
#define FLAM_RUNTIME_PIECES_SIZE 128 /* all pieces of a function together */

struct _FlamRuntime
{
  const char *id;    /* for options and documents: "python" */
  const char *label; /* for people: "Python" */

  /* It compiles functions, at some time: all of them are of FLAM_KIND_JIT,
   * since a function is the same whether it is compiled at the moment. */
  gboolean compiles;

  /* Its entries are sets of labels of the sample, not frames, and the functions
   * of a name are the labels: `file` is the key, `function` the value. */
  gboolean labels;

  FlamRuntimeFind find;

  /* Completes `process`, whose `layout` and `cache` are NULL; the runtime's
   * file has just been seen in the mappings of the process, which runs on. It
   * is called again, at growing intervals, while it returns NOT_YET. For
   * UNREADABLE it sets `why` and `help`, as in FlamRuntimeFile, but not if
   * these mappings do not contain a runtime; for OPENED, if the stacks can be
   * followed, but the functions cannot be named. NULL: there is nothing to do.
   */
  FlamRuntimeOpened (*open) (FlamRuntimeProcess *process,
                             const FlamRuntimeMemory *memory,
                             const char **why,
                             const char **help);
  /* Frees layout and cache. NULL: g_free() for both. */
  void (*close) (FlamRuntimeProcess *process);

  /* The frames of a thread that is stopped (or sleeps: then few registers are
   * known), at most `limit`; 0 for a thread without any. NULL: native only. */
  gsize (*walk) (const FlamRuntimeProcess *process,
                 FlamRuntimeThread *thread,
                 const FlamRuntimeRegs *regs,
                 const FlamRuntimeMemory *memory,
                 FlamRuntimeEntry *entries,
                 gsize limit);
  /* `walk` finds the frames on the thread's stack, so that they can be read
   * from a copy of it while the thread runs on. */
  gboolean on_stack;
  /* `walk` needs fs_base, which is known once a thread has stopped: one that
   * sleeps and never did is stopped for it. */
  gboolean needs_regs;

  FlamRuntimeNaming naming;
  /* The names depend on FlamRuntimeEntry.at, because functions are inlined in
   * it, so `name` is called for each position. Otherwise it is called once for
   * a function, and `line` gives the line. */
  gboolean by_position;
  /* The bytes that identify `function`, at most FLAM_RUNTIME_PIECES_MAX pieces;
   * returns how many. The glue reads them in one call for all functions, and
   * compares them with the known ones. A piece whose address is in another one
   * is left out until `first`, the bytes of the first piece, is given. NULL:
   * the cookie is enough. */
  guint (*pieces) (const FlamRuntimeProcess *process,
                   guint64 function,
                   const guint8 *first,
                   FlamRuntimePiece *pieces);
  /* NULL: the functions are addresses of code in files, which is shown as
   * native code is, and needs nothing of what follows up to `fits`. Fills the
   * cleared `name`. `entry[1]` is the next entry of the chain, or has no
   * function: in some languages the caller gives a function its name. `first`
   * is the current content of the first piece, NULL without `pieces`. FALSE:
   * unreadable, or no longer the function with this cookie; it is tried again
   * at the next sample. */
  gboolean (*name) (const FlamRuntimeProcess *process,
                    const FlamRuntimeEntry *entry,
                    const guint8 *first,
                    const FlamRuntimeMemory *memory,
                    FlamRuntimeName *name);
  /* The line of a position in a function, by FlamRuntimeName.lines; 0: unknown.
   * NULL: `at` is the line. Not used with `by_position`. */
  guint32 (*line) (guint32 version,
                   const guint8 *lines,
                   gsize n_lines,
                   guint64 at,
                   guint32 first_line);
  /* FlamFunctionFlags of a function. NULL: plain. */
  guint (*flags) (const FlamRuntimeNamed *named);
  /* Between class and function: "." or "::" or "#". */
  const char *joint;
  /* Whether an entry with the address `at` belongs to the native frame at `pc`,
   * which contains it and ends at `caller_sp`. An entry that does not belong
   * to it is left over in unused memory, and is dropped with its frames. NULL:
   * every entry belongs to its frame. */
  gboolean (*fits) (const FlamRuntimeProcess *process,
                    guint64 pc,
                    guint64 caller_sp,
                    guint64 at);

  /* Whether an executable mapping of the process contains managed code. `path`
   * is "" for an anonymous one. NULL: none does. FlamRuntimeFile.stepped is
   * claimed, too. */
  gboolean (*claims) (const FlamRuntimeProcess *process,
                      guint64 start,
                      guint64 end,
                      const char *path);
  /* It only claims code without call frame information: its own, and C code in
   * the same file. */
  gboolean claims_uncovered;
  /* The frame at regs->pc, which is claimed, and its caller's pc and rsp, and
   * other registers as far as they are known. `memory` is the copied stack, and
   * the current memory of the process elsewhere. entry->function 0: a stub that
   * is not to be shown. NULL: by the frame pointer, and no entry. */
  FlamRuntimeStepped (*step) (const FlamRuntimeProcess *process,
                              const FlamRuntimeRegs *regs,
                              const FlamRuntimeMemory *memory,
                              FlamRuntimeEntry *entry,
                              FlamRuntimeRegs *caller);

  /* Gives the language's names of all threads to `take`. The sampler calls it
   * now and then, while the process runs. `scratch` may be overwritten. NULL:
   * threads have the system's names. */
  void (*threads) (const FlamRuntimeProcess *process,
                   const FlamRuntimeMemory *memory,
                   FlamRuntimeName *scratch,
                   FlamRuntimeTakeThread take,
                   gpointer data);
  /* Gives the language's name of one thread, whose stack begins at `top`.
   * FALSE: it has none. The sampler calls it once for each thread. NULL: as
   * above. */
  gboolean (*thread) (const FlamRuntimeProcess *process,
                      const FlamRuntimeMemory *memory,
                      guint64 top,
                      char name[FLAM_RUNTIME_THREAD_SIZE]);
};

/* `claims` of a runtime whose compiled code is in anonymous memory, where no
 * other code of the process is. */
static inline gboolean
flam_runtime_claims_anonymous (const FlamRuntimeProcess *process,
                               guint64 start,
                               guint64 end,
                               const char *path)
{
  (void)process;
  (void)start;
  (void)end;
  return path[0] == '\0';
}

#endif
