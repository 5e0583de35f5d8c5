/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYTHON_CHAIN_H
#define FLAM_PYTHON_CHAIN_H

/* The frames of CPython 3.6 to 3.10, read from outside. (Newer versions:
 * flam-python-frames.h.)
 *
 *   pthread_getspecific (key) ─▶ PyThreadState ─▶ frame ─▶ f_back ─▶ ...
 *
 * Each call of a Python function runs the evaluation loop once, so each frame
 * is followed by an entry, whose native frame is found by its pc: the innermost
 * frame runs in the innermost run of the loop.
 *
 * A function's key is the address of its code object, a position the value of
 * f_lasti.
 *
 * Sources, of these versions: CPython's Include/pystate.h, frameobject.h,
 * code.h, unicodeobject.h and internal/pycore_runtime.h, and Python/pystate.c,
 * where PyGILState_GetThisThreadState() has the key. */

#include "flam-python-frames.h"
#include "flam-runtime-file.h"
#include "flam-runtime-name.h"

typedef struct
{
  guint32 version; /* PY_VERSION_HEX without its lower half */
  guint64 key;     /* address in the file, of the key and whether it is valid */
  gboolean has_flag;
  guint64 runtime;    /* address in the file, of _PyRuntime; 0: none */
  guint16 thread_id;  /* in the thread state: its pthread_t */
  guint16 frame_last; /* f_lasti */
  guint16 first_line; /* in the code object */
  guint16 file;
  guint16 name;
  guint16 lines;
} FlamPythonChain;

#define FLAM_PYTHON_CHAIN_PIECE 88 /* at most */

/* Whether a file is of one of these versions, by its name. */
gboolean flam_python_chain_is_named (const char *path);
/* A FlamRuntimeFind; `facts` is a FlamPythonChain. */
gboolean flam_python_chain_find (const FlamElf *elf,
                                 int fd,
                                 const char *path,
                                 FlamRuntimeFile *file);
/* The frames of a thread, innermost first; `base` as in FlamRuntimeProcess. */
gsize flam_python_chain_walk (const FlamPythonChain *chain,
                              const FlamRuntimeMemory *memory,
                              guint64 base,
                              guint64 fs_base,
                              FlamRuntimeEntry *entries,
                              gsize limit);
/* The bytes that identify a code object, and the address of its name's hash in
 * `piece`, the content of those bytes. */
guint64 flam_python_chain_piece (const FlamPythonChain *chain, guint64 code);
guint32 flam_python_chain_piece_size (const FlamPythonChain *chain);
guint64 flam_python_chain_hash (const FlamPythonChain *chain,
                                const guint8 piece[FLAM_PYTHON_CHAIN_PIECE]);
/* By the content of those bytes. FALSE: not a code object. */
gboolean flam_python_chain_name (const FlamPythonChain *chain,
                                 const guint8 piece[FLAM_PYTHON_CHAIN_PIECE],
                                 const FlamRuntimeMemory *memory,
                                 FlamRuntimeName *name);
/* As far as objects and modules need it. FALSE: they cannot be read, for
 * example in versions whose threads do not have the system's number. */
gboolean flam_python_chain_layout (const FlamPythonChain *chain,
                                   FlamPythonLayout *layout);
/* The names of its threads: flam-python-threads.h. */
void flam_python_chain_name_threads (const FlamPythonChain *chain,
                                     const FlamRuntimeMemory *memory,
                                     guint64 base,
                                     FlamRuntimeName *scratch,
                                     void (*take) (gpointer data,
                                                   guint32 tid,
                                                   const char *name),
                                     gpointer data);

#endif
