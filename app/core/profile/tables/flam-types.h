/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TYPES_H
#define FLAM_TYPES_H

/* The types that all floors share: ids, units, kinds, errors, progress. */

#include <glib.h>
#include <glib/gi18n.h>
#include <inttypes.h>

G_BEGIN_DECLS

/* Texts for people. Below the window and the command line every text is
 * English, whatever the locale, so that a shared capture, or --json, has the
 * same texts for everybody. N_() and FLAM_PLURAL() mark such texts, before
 * their arguments are put in; flam_message_shown() translates the result where
 * it is shown. _() is for the top floor alone. */
#define FLAM_PLURAL(n, one, many) ((n) == 1 ? (one) : (many))

/* A row number in one of the profile's tables, or FLAM_NONE. The compiler warns
 * when a number of one table is passed, assigned or compared as that of another
 * (-Wenum-conversion, -Wenum-compare); FlamId is for code that works on any
 * table, and converts to and from all of them. Arithmetic gives a guint32. */
typedef guint32 FlamId;
#define FLAM_NONE G_MAXUINT32
#define FLAM_DEFINE_ID(Name, NAME)                                             \
  typedef enum                                                                 \
  {                                                                            \
    FLAM_##NAME##_ID_MAX = FLAM_NONE                                           \
  } Flam##Name##Id
FLAM_DEFINE_ID (String, STRING);
FLAM_DEFINE_ID (Module, MODULE);
FLAM_DEFINE_ID (Function, FUNCTION);
FLAM_DEFINE_ID (Frame, FRAME);
FLAM_DEFINE_ID (Stack, STACK);
FLAM_DEFINE_ID (Process, PROCESS);
FLAM_DEFINE_ID (Thread, THREAD);
FLAM_DEFINE_ID (Node, NODE); /* of a FlamTree */

/* A point in time that never came (a block that was never freed). */
#define FLAM_NEVER G_MAXINT64

typedef enum
{
  FLAM_UNIT_COUNT,
  FLAM_UNIT_NS,
  FLAM_UNIT_BYTES,
  FLAM_UNIT_THOUSANDTHS, /* only of counters: 12500 is 12.5 */
  FLAM_N_UNITS
} FlamUnit;

/* The two sides of the window's toggle. */
typedef enum
{
  FLAM_MEASURE_CPU,
  FLAM_MEASURE_ALLOC,
} FlamMeasureKind;

/* The kind of code of a function. */
typedef enum
{
  FLAM_KIND_NATIVE,     /* compiled code with a known name */
  FLAM_KIND_UNRESOLVED, /* an address without a name: "[module]" */
  FLAM_KIND_KERNEL,
  FLAM_KIND_JIT,
  FLAM_KIND_INTERPRETED, /* Python, interpreted Java, JavaScript source */
  FLAM_KIND_ROOT,        /* not code: a process, a thread, a category */
  FLAM_KIND_WAKER,       /* the stack that woke this one */
  FLAM_N_KINDS
} FlamFunctionKind;

typedef enum
{
  FLAM_FUNCTION_PLAIN = 0,
  FLAM_FUNCTION_IRRELEVANT = 1 << 0, /* the interpreter's own */
  FLAM_FUNCTION_IMPORT = 1 << 1,     /* import machinery */
  FLAM_FUNCTION_INLINED = 1 << 2,    /* marked as inlined in a text format */
} FlamFunctionFlags;

/* The library that the recorder loads into programs, also the name of its
 * functions: its cost has a row of its own and is never added to its caller. */
#define FLAM_RECORDER_LIBRARY "libflambeau-alloc.so"
#define FLAM_RECORDER_NAME "[recorder]"

/* Flags that Julia's profilers record about a frame, or about its hidden
 * callees: one bit each. */
typedef enum
{
  FLAM_STATUS_DISPATCH = 1 << 0, /* the numbers are in files */
  FLAM_STATUS_GC = 1 << 1,
  FLAM_STATUS_REPL = 1 << 2,
  FLAM_STATUS_COMPILATION = 1 << 3,
  FLAM_STATUS_TASK = 1 << 4,
} FlamStatus;
#define FLAM_N_STATUSES 5
#define FLAM_STATUS_ALL ((1u << FLAM_N_STATUSES) - 1)

/* What a thread was doing when it was sampled. */
typedef enum
{
  FLAM_STATE_RUNNING, /* the numbers are in captures: new ones go last */
  FLAM_STATE_LOCK,
  FLAM_STATE_IO,
  FLAM_STATE_SLEEP,
  FLAM_STATE_BLOCKED,  /* off the CPU, reason unknown */
  FLAM_STATE_RUNNABLE, /* could run, but waits for a CPU */
  FLAM_STATE_MPI,      /* in an MPI call that waits for other ranks, on the CPU
                          or not */
  FLAM_N_STATES
} FlamState;

/* The largest rank of a job. */
#define FLAM_RANK_MAX (G_MAXINT32 - 1)

/* Masks with one bit per state. */
#define FLAM_STATES_ALL ((1u << FLAM_N_STATES) - 1)
#define FLAM_STATES_CPU (1u << FLAM_STATE_RUNNING)
#define FLAM_STATES_OFF_CPU (FLAM_STATES_ALL & ~FLAM_STATES_CPU)

/* The origin of a frame's addresses. */
typedef enum
{
  FLAM_ADDRESS_FILE_OFFSET, /* ip - mapping start + mapping offset */
  FLAM_ADDRESS_VADDR,       /* ip - load bias: the ELF file's own addresses */
  FLAM_ADDRESS_ABSOLUTE,    /* kernel, JIT */
} FlamAddressing;

typedef enum
{
  FLAM_SYMBOLS_UNTRIED, /* not looked up yet */
  FLAM_SYMBOLS_NONE,    /* `why` has the reason */
  FLAM_SYMBOLS_SYMTAB,
  FLAM_SYMBOLS_DWARF,
  FLAM_SYMBOLS_CAPTURE, /* names came with the capture */
  FLAM_SYMBOLS_DYNSYM,  /* stripped: only exported functions have names */
  FLAM_N_SYMBOL_STATES,
} FlamSymbolState;

/* Outside data was invalid, or the system returned an error. Messages are
 * complete sentences: "FILE: what is wrong (at byte N | line N)". */
#define FLAM_ERROR (flam_error_quark ())
GQuark flam_error_quark (void);

typedef enum
{
  FLAM_ERROR_UNKNOWN_FORMAT,
  FLAM_ERROR_INVALID,
  FLAM_ERROR_TRUNCATED,
  FLAM_ERROR_UNSUPPORTED,
  FLAM_ERROR_TOO_LARGE,
  FLAM_ERROR_CANCELLED,
  FLAM_ERROR_SYSTEM,
  FLAM_ERROR_EXISTS, /* what is added is there already */
} FlamError;

/* Sets `error`; returns FALSE, for the caller to return. */
gboolean
flam_error_set (GError **error, FlamError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* The same for functions that return a pointer: NULL. */
gpointer
flam_error_null (GError **error, FlamError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* How a slow function reports its progress, and is told to stop. `report` is
 * called on the caller's own thread with 0..1 and returns FALSE to cancel. A
 * slow function calls flam_progress_step() at least every 20 ms of work; a NULL
 * progress is allowed everywhere. */
typedef struct
{
  gboolean (*report) (gpointer data, double fraction);
  gpointer data;
} FlamProgress;

/* FALSE with FLAM_ERROR_CANCELLED set when the caller cancels it. */
gboolean flam_progress_step (const FlamProgress *progress,
                             double fraction,
                             GError **error);

/* Stable text ids: "ns", "dwarf", "kernel" ... */
const char *flam_unit_to_string (FlamUnit unit);
const char *flam_measure_kind_to_string (FlamMeasureKind kind);
const char *flam_function_kind_to_string (FlamFunctionKind kind);
const char *flam_state_to_string (FlamState state);
/* A display text: "Waiting for a lock"; to be translated. */
const char *flam_state_to_title (FlamState state);
const char *flam_symbol_state_to_string (FlamSymbolState state);
/* Of one bit, by its number: "dispatch", and a display text to be
 * translated. */
const char *flam_status_to_string (guint bit);
const char *flam_status_to_title (guint bit);
/* The ids of all bits: "dispatch,gc"; g_free. */
char *flam_status_to_text (guint status);

G_END_DECLS

#endif
