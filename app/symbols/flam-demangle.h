/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DEMANGLE_H
#define FLAM_DEMANGLE_H

/* Linker names -> readable names, through libiberty:
 *
 *   _ZN3fmt9Formatter3pad17h0123456789abcdefE     Rust   fmt::Formatter::pad
 *   _RNvC6_123foo3bar                             Rust   123foo::bar
 *   _$LT$F$GT$::run::h0123456789abcdef            Rust   <F>::run
 *   _ZSt4sortIPiEvT_S1_                           C++    std::sort<int*>
 *   _D3std5stdio7writelnFZv                       D      std.stdio.writeln
 *
 * The third is a Rust name that was demangled as C++.
 *
 * The format is that of perf: with template arguments, without parameters,
 * return types and Rust's hash. Names come from untrusted files, and a few
 * bytes of a mangled name can expand to gigabytes: a name that is too long in
 * either form stays mangled. */

#include <glib.h>

#define FLAM_MANGLED_MAX 32768
#define FLAM_DEMANGLED_MAX 65536

/* The name of code that GHC compiled, from its z-encoded form:
 *
 *   base_GHCziList_zdwreverse_info   GHC.List.$wreverse
 *
 * Without the name of the package. NULL if it is not of this form; a C name may
 * look the same. */
char *flam_demangle_haskell (const char *name);

/* NULL if `name` is not mangled, or invalid. May be called in any thread. */
char *flam_demangle (const char *name);
/* A C++ name with its parameters, without a return type; otherwise NULL. */
char *flam_demangle_whole (const char *name);

#endif
