/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Runtimes that keep the objects of their language in a heap of their own,
 * which is not made of malloc's blocks: what is recorded of their allocations
 * is only what the runtime itself uses. */

#include <glib.h>

/* For a mapped file: a sentence with what shows that heap, or NULL. A program
 * in Go is recognized by a section of its file, others by the file's name. */
const char *flam_alloc_runtime (const char *path);
