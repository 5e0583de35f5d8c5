/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A chunk's metadata: its classes and their fields, which are known by their
 * names. */

#include "flam-jfr-chunk.h"

/* FALSE, and the chunk says what the problem is. */
gboolean flam_jfr_read_metadata (FlamJfrChunk *chunk,
                                 const FlamJfrEvent *event);
