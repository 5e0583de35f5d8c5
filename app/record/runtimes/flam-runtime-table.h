/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_TABLE_H
#define FLAM_RUNTIME_TABLE_H

/* All runtimes whose frames are recorded. */

#include "flam-runtime.h"

extern const FlamRuntime flam_runtime_asyncio;
extern const FlamRuntime flam_runtime_beam;
extern const FlamRuntime flam_runtime_dotnet;
extern const FlamRuntime flam_runtime_go;
extern const FlamRuntime flam_runtime_guile;
extern const FlamRuntime flam_runtime_haskell;
extern const FlamRuntime flam_runtime_java;
extern const FlamRuntime flam_runtime_pypy;
extern const FlamRuntime flam_runtime_python;
extern const FlamRuntime flam_runtime_python_chain;
extern const FlamRuntime flam_runtime_v8;
extern const FlamRuntime flam_runtime_ruby;
extern const FlamRuntime flam_runtime_php;
extern const FlamRuntime flam_runtime_perl;
extern const FlamRuntime flam_runtime_lua;
extern const FlamRuntime flam_runtime_luajit;

/* NULL-terminated. */
const FlamRuntime *const *flam_runtime_table (void);

#endif
