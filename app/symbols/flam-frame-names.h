/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Names for the frames of a recording that grows: those that came since the
 * last time get rows in SYMBOLS, as a recorder notes them at its end. What was
 * opened for them stays open. */

#include "flam-builder.h"

typedef struct _FlamFrameNames FlamFrameNames;

/* `binaries` as in FlamSymbolOptions. */
FlamFrameNames *flam_frame_names_new (const char *const *binaries);
void flam_frame_names_free (FlamFrameNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFrameNames, flam_frame_names_free)

const char *const *flam_frame_names_binaries (const FlamFrameNames *names);
void flam_frame_names_add (FlamFrameNames *names, FlamBuilder *builder);
