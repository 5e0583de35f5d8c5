/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Runtimes that keep their language's objects in a heap of their own, not in
 * malloc blocks: of such a program only the runtime's own allocations are
 * recorded. */

#include <glib.h>

/* For a mapped file: a message that names a tool for that heap, or NULL. Go
 * programs are recognized by a section of the file, others by its name. */
const char *flam_alloc_runtime (const char *path);
