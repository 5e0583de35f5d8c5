/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The structure of a JSON document, for probes: which members it has, wherever
 * they are in it.
 *
 *    {"meta":{"version":24},           meta  meta.version
 *     "threads":[{"samples":{…}},…]}   threads  threads[]  threads[].samples  …
 *
 * Writers put members in any order, and tables of megabytes before those that
 * tell what a document is: so it is walked to its end, or to a bound. Only the
 * outermost levels matter, and the first few elements of each array; what lies
 * deeper is skipped over at the speed of memory, and not checked. */

#include <glib.h>

G_BEGIN_DECLS

/* The bytes that are walked: a first piece, which suffices for nearly all
 * documents, and the most. */
#define FLAM_MEMBERS_FIRST ((gsize)64 << 10)
#define FLAM_MEMBERS_MOST ((gsize)64 << 20)

typedef struct _FlamMembers FlamMembers;

/* Of the first `most` bytes; a document that goes on has what is there. NULL:
 * it does not begin as an object or an array. */
FlamMembers *flam_members_new (const guint8 *data, gsize size, gsize most);
void flam_members_free (FlamMembers *members);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamMembers, flam_members_free)

/* `path`: "a.b", "a[].b", "[].b"; a last part ending in "=" has to be a string
 * that begins with what follows: "$schema=https://www.speedscope". */
gboolean flam_members_has (const FlamMembers *members, const char *path);

G_END_DECLS
