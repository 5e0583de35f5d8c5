/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The structure of a JSON document, for probes: which members it has, wherever
 * they are in it.
 *
 *    {"meta":{"version":24},           meta  meta.version
 *     "threads":[{"samples":{…}},…]}   threads  threads[]  threads[].samples  …
 *
 * Members come in any order, and megabytes of tables may precede those that
 * identify a document, so it is walked to its end or to a bound. Only the
 * outermost levels and the first few elements of each array matter; anything
 * deeper is skipped at memory speed and not checked. */

#include <glib.h>

G_BEGIN_DECLS

/* Bytes to walk: a first piece, which suffices for nearly all documents, and
 * the maximum. */
#define FLAM_MEMBERS_FIRST ((gsize)64 << 10)
#define FLAM_MEMBERS_MOST ((gsize)64 << 20)

typedef struct _FlamMembers FlamMembers;

/* The members in the first `most` bytes. NULL: the document does not begin with
 * an object or an array. */
FlamMembers *flam_members_new (const guint8 *data, gsize size, gsize most);
void flam_members_free (FlamMembers *members);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamMembers, flam_members_free)

/* `path`: "a.b", "a[].b" or "[].b". If its last part has an "=", the member
 * must be a string that begins with the text after it:
 * "$schema=https://www.speedscope". */
gboolean flam_members_has (const FlamMembers *members, const char *path);

G_END_DECLS
