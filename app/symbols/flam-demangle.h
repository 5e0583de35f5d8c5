/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Linker names -> names for people, through libiberty:
 *
 *   _ZN4core3fmt9Formatter3pad17h0123456789abcdefE  Rust
 * core::fmt::Formatter::pad _RNvC6_123foo3bar Rust   123foo::bar
 *   _ZSt4sortIPiEvT_S1_                             C++    std::sort<int*>
 *   _D3std5stdio7writelnFZv                         D      std.stdio.writeln
 *
 * As perf shows them: template arguments yes, parameters and return types no,
 * Rust's hash no. Names come out of untrusted files, and a few bytes
 * of mangled name can stand for gigabytes: what is too long on either side
 * stays mangled. */

#include <glib.h>

#define FLAM_MANGLED_MAX 32768
#define FLAM_DEMANGLED_MAX 65536

/* NULL when `name` is not mangled, or not well. Any thread. */
char *flam_demangle (const char *name);
