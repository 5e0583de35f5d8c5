/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MEMBERS_H
#define FLAM_MEMBERS_H

/* The structure of a JSON document, for probes: which members it has, wherever
 * they are in it.
 *
 *    {"meta":{"version":24},           meta  meta.version
 *     "threads":[{"samples":{…}},…]}   threads  threads[]  threads[].samples  …
 *
 * Members come in any order, and megabytes of tables may precede those that
 * identify a document, so it is walked to its end or to a bound. Only members
 * on the way to those that are looked for matter, and the first few elements of
 * each array; everything else is skipped at memory speed and not checked. */

#include <glib.h>

G_BEGIN_DECLS

/* Bytes to walk: a first piece, which suffices for nearly all documents, and
 * the maximum. */
#define FLAM_MEMBERS_FIRST ((gsize)64 << 10)
#define FLAM_MEMBERS_MOST ((gsize)64 << 20)

/* Set of the paths that are looked for: "a.b", "a[].b" or "[].b". If the last
 * part has an "=", the member must be a string that begins with the text after
 * it: "$schema=https://www.speedscope". */
typedef GHashTable FlamMemberPaths;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamMemberPaths, g_hash_table_unref)

FlamMemberPaths *flam_member_paths_new (void);
void flam_member_paths_add (FlamMemberPaths *paths, const char *path);

typedef struct _FlamMembers FlamMembers;

/* The members in the first `most` bytes that are in `paths`, which must outlive
 * them. NULL: the document does not begin with an object or an array. */
FlamMembers *flam_members_new (const guint8 *data,
                               gsize size,
                               gsize most,
                               FlamMemberPaths *paths);
void flam_members_free (FlamMembers *members);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamMembers, flam_members_free)

/* Only for a path that was looked for. */
gboolean flam_members_has (const FlamMembers *members, const char *path);

G_END_DECLS

#endif
