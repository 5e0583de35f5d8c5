/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is known by its look and cannot be opened here. */

#include "flam-source.h"

/* What it is and what to do with it, "this is …; …"; NULL: it looks like
 * nothing that is known. */
const char *flam_refused_why (const FlamSource *source);
/* The same of a folder, which a source cannot be. */
const char *flam_refused_folder (const char *path);
