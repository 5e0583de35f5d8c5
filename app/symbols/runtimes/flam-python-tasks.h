/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYTHON_TASKS_H
#define FLAM_PYTHON_TASKS_H

/* The asyncio task that a thread of CPython runs: 3.8 to 3.13.
 *
 *   sys.modules ─▶ _asyncio ─▶ _current_tasks ─▶ loop ─▶ its thread
 *                                            └─▶ task ─▶ name, coroutine
 *
 * Sources, of these versions: CPython's Modules/_asynciomodule.c,
 * Include/cpython/genobject.h and Lib/asyncio/base_events.py. */

#include "flam-python-objects.h"
#include "flam-runtime-name.h"

/* The address of _current_tasks; 0: asyncio is not in use yet. `runtime`: that
 * of _PyRuntime. */
uint64_t flam_python_find_tasks (const FlamPythonLayout *layout,
                                 const FlamRuntimeMemory *memory,
                                 uint64_t runtime);

/* Of a thread: its loop. */
typedef struct
{
  uint64_t loop;    /* 0: none is known */
  int64_t check_at; /* when it may have become another one's */
  int64_t look_at;  /* when it may have got another one */
} FlamPythonLoop;

/* The task of the thread with this pthread_t, at the time `now` in ns;
 * `cookie`: differs if another task has taken its place. FALSE: it runs none.
 */
bool flam_python_current_task (const FlamPythonLayout *layout,
                               const FlamRuntimeMemory *memory,
                               uint64_t tasks,
                               uint64_t thread,
                               int64_t now,
                               FlamPythonLoop *loop,
                               uint64_t *task,
                               uint64_t *cookie);
/* Its labels: "task", its name, and "coroutine", the name of its coroutine.
 * FALSE: unreadable, or another task. */
bool flam_python_name_task (const FlamPythonLayout *layout,
                            const FlamRuntimeMemory *memory,
                            uint64_t task,
                            uint64_t cookie,
                            FlamRuntimeName *name);

#endif
