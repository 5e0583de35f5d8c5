/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_IDENTITY_H
#define FLAM_IDENTITY_H

/* The owner of the captures and the computer: home folders and names of users
 * and hosts, as they occur in texts. */

#include "flam-strings.h"

G_BEGIN_DECLS

typedef struct _FlamIdentity FlamIdentity;

/* Collects the homes that occur in the texts ("/home/ann"), and adds those
 * given; both may be NULL, `words` ends with NULL. */
FlamIdentity *flam_identity_new (const FlamStrings *strings,
                                 const char *home,
                                 const char *const *words);
void flam_identity_free (FlamIdentity *identity);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamIdentity, flam_identity_free)

/* Homes become "~", those of others "~2" and so on; with `words`, names of
 * users and hosts become "user". `counted` is increased by the number of
 * replacements. g_free. */
char *flam_identity_shorten (const FlamIdentity *identity,
                             const char *text,
                             gboolean words,
                             guint *counted);

G_END_DECLS

#endif
