/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FRAME_TRAITS_H
#define FLAM_FRAME_TRAITS_H

/* The kinds of frames in a capture. A choice that hides one of them is only
 * offered where there are some. */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_HAS_NATIVE = 1 << 0,      /* beside interpreted code */
  FLAM_HAS_INTERPRETED = 1 << 1, /* JIT-compiled code, too */
  FLAM_HAS_INLINES = 1 << 2,
  FLAM_HAS_IRRELEVANT = 1 << 3, /* FLAM_FUNCTION_IRRELEVANT */
  FLAM_HAS_IMPORTS = 1 << 4,    /* FLAM_FUNCTION_IMPORT */
  FLAM_HAS_STATUS = 1 << 5,     /* FlamStatus */
  FLAM_HAS_REPL = 1 << 6,       /* FLAM_STATUS_REPL */
} FlamFrameTraits;

FlamFrameTraits flam_frame_traits_of (const FlamProfile *profile);

/* Whether the capture is of an interpreted program with the machine code of its
 * interpreter: most samples or, without samples, allocations have interpreted
 * code on their stacks, and there is native code of modules. Built-in functions
 * that a language's own profiler lists are of no module. */
gboolean flam_frames_are_interpreted (const FlamProfile *profile);

G_END_DECLS

#endif
