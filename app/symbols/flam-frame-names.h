/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FRAME_NAMES_H
#define FLAM_FRAME_NAMES_H

/* Names for the frames of a growing recording: frames added since the last call
 * get rows in SYMBOLS, like those a recorder writes at its end. The opened
 * modules stay open. */

#include "flam-core-profile.h"
#include "flam-symbol-module.h"

typedef struct _FlamFrameNames FlamFrameNames;

/* `binaries` as in FlamSymbolOptions. */
FlamFrameNames *flam_frame_names_new (const char *const *binaries);
void flam_frame_names_free (FlamFrameNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFrameNames, flam_frame_names_free)

const char *const *flam_frame_names_binaries (const FlamFrameNames *names);
void flam_frame_names_add (FlamFrameNames *names, FlamBuilder *builder);

#endif
