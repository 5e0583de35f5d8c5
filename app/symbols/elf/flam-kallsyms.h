/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_KALLSYMS_H
#define FLAM_KALLSYMS_H

/* The running kernel's names, from /proc/kallsyms:
 *
 *   ffffffff81000000 T _text
 *   ffffffffc0a11000 t nft_do_chain	[nf_tables]
 *
 * Without privileges the kernel shows every address as 0, which is treated as
 * no table. Addresses change at every boot: use it only for captures of this
 * boot. Source: kernel/kallsyms.c, proc(5). */

#include "flam-core-profile.h"

typedef struct _FlamKallsyms FlamKallsyms;

/* "/proc/kallsyms" if `path` is NULL. FLAM_ERROR_SYSTEM if it cannot be read or
 * its addresses are hidden. */
FlamKallsyms *flam_kallsyms_open (const char *path, GError **error);
/* Of a copy of that file, which need not end with a NUL; NULL: it has no
 * names. */
FlamKallsyms *flam_kallsyms_new (const char *text, gsize size);
void flam_kallsyms_free (FlamKallsyms *kallsyms);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamKallsyms, flam_kallsyms_free)

/* NULL if `address` is before the first name, or too far after the last. */
const char *flam_kallsyms_find (const FlamKallsyms *kallsyms, guint64 address);

/* TRUE if a capture that began then (ns since 1970) is of this boot. */
gboolean flam_kernel_is_same_boot (gint64 start_unix_ns);
/* The running kernel's build id in hex, or "" . Free it. */
char *flam_kernel_build_id (void);

#endif
