/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JFR_METADATA_H
#define FLAM_JFR_METADATA_H

/* A chunk's metadata: its classes and their fields, which are identified by
 * their names. */

#include "flam-jfr-chunk.h"

/* FALSE: `problem` of the chunk is set. */
gboolean flam_jfr_read_metadata (FlamJfrChunk *chunk,
                                 const FlamJfrEvent *event);

#endif
