/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_REFUSED_H
#define FLAM_REFUSED_H

/* Files that are recognized but cannot be opened here. */

#include "flam-source.h"

/* A description of the file and what the user can do, "this is …; …"; NULL: it
 * is not recognized. */
const char *flam_refused_why (const FlamSource *source);
/* The same for a folder, which a source cannot be. */
const char *flam_refused_folder (const char *path);

#endif
