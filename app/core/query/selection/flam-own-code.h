/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_OWN_CODE_H
#define FLAM_OWN_CODE_H

/* Which code of a capture is the user's own, rather than the system's, a
 * language's or a package's: that is where a reader can change something. It is
 * decided by source path, then by module, then by name. */

#include "flam-profile.h"

G_BEGIN_DECLS

/* What a capture shows of where its system and its user's code are:
 *
 *    a module  /srv/r/usr/lib/x86_64-linux-gnu/libc.so.6
 *              so /srv/r/usr/lib/libz.so is the system's
 *    command   /opt/shop/bin/serve
 *              so /opt/shop is the user's
 */
typedef struct _FlamOwnCode FlamOwnCode;

FlamOwnCode *flam_own_code_new (const FlamProfile *profile);
void flam_own_code_free (FlamOwnCode *code);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamOwnCode, flam_own_code_free)

/* Not /usr/include/c++/12/bits/stl_sort.h, /home/me/.cargo/registry/…,
 * node_modules/…, <frozen importlib>; not "". */
gboolean flam_own_code_has_path (const FlamOwnCode *code, const char *recorded);

/* Whether a function's name is that of code: not "[jit]", "(idle)", "0x4f2". */
gboolean flam_own_code_is_name (const char *name);

/* Whether it is a function in which a C library starts a thread. */
gboolean flam_own_code_is_start (const char *name);

/* 1 for each function of the user's own code, otherwise 0; g_free. Code with
 * only a name counts as own, unless its name is that of a standard library. */
guint8 *flam_own_code_functions (const FlamProfile *profile);

G_END_DECLS

#endif
