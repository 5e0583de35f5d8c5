/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LANGUAGE_H
#define FLAM_LANGUAGE_H

/* The programming language in which a function was written, as far as a capture
 * shows it: by the mangling of the linker's name, then by the suffix of the
 * source file's name. A C++ function in a header that C may include too has a
 * mangled name, so names are checked first. */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_LANGUAGE_UNKNOWN, /* neither a mangled name nor a file */
  FLAM_LANGUAGE_C,
  FLAM_LANGUAGE_CPP,
  FLAM_LANGUAGE_RUST,
  FLAM_LANGUAGE_GO,
  FLAM_LANGUAGE_PYTHON,
  FLAM_LANGUAGE_JAVASCRIPT, /* TypeScript, too */
  FLAM_LANGUAGE_JAVA,
  FLAM_LANGUAGE_KOTLIN,
  FLAM_LANGUAGE_SCALA,
  FLAM_LANGUAGE_DOTNET, /* C#, F#, Visual Basic */
  FLAM_LANGUAGE_JULIA,
  FLAM_LANGUAGE_RUBY,
  FLAM_LANGUAGE_PHP,
  FLAM_LANGUAGE_PERL,
  FLAM_LANGUAGE_LUA,
  FLAM_LANGUAGE_SWIFT,
  FLAM_LANGUAGE_OBJECTIVE_C,
  FLAM_LANGUAGE_D,
  FLAM_LANGUAGE_ZIG,
  FLAM_LANGUAGE_HASKELL,
  FLAM_LANGUAGE_OCAML,
  FLAM_LANGUAGE_FORTRAN,
  FLAM_LANGUAGE_ADA,
  FLAM_LANGUAGE_ASSEMBLER,
  FLAM_N_LANGUAGES
} FlamLanguage;

/* "C++", "Rust": names that are not translated. */
const char *flam_language_name (FlamLanguage language);
FlamLanguage flam_language_of_function (const FlamProfile *profile,
                                        FlamFunctionId function);

G_END_DECLS

#endif
