/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NAME_ATTRIBUTES_H
#define FLAM_NAME_ATTRIBUTES_H

/* Additional attributes of the elements of functions, from a file as for
 * flamegraph.pl's --nameattr, one function per line, with tabs between them:
 *
 *    main	href=https://example.org/main.c	class=own	id=start
 *
 * A link opens its address, or zooms with Ctrl. */

#include "flam-core-profile.h"

typedef struct _FlamNameAttributes FlamNameAttributes;

typedef enum
{
  FLAM_ATTRIBUTE_ID,
  FLAM_ATTRIBUTE_CLASS,
  FLAM_ATTRIBUTE_HREF,
  FLAM_ATTRIBUTE_TARGET,
  FLAM_N_ATTRIBUTES
} FlamAttribute;

/* NULL with FLAM_ERROR_INVALID: "line 2: …". */
FlamNameAttributes *flam_name_attributes_parse (const char *text,
                                                GError **error);
void flam_name_attributes_free (FlamNameAttributes *attributes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamNameAttributes, flam_name_attributes_free)

/* FLAM_N_ATTRIBUTES values, each NULL if it is not given; NULL: nothing is
 * given for this function. `attributes` may be NULL. */
char **flam_name_attributes_find (const FlamNameAttributes *attributes,
                                  const char *name);

#endif
