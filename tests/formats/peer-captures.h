/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PEER_CAPTURES_H
#define FLAM_PEER_CAPTURES_H

/* Captures of other tools, with the figures of those tools: ours in
 * tests/captures/peers ($FLAM_CAPTURES), and "public/..." from other
 * projects, which we cannot distribute: $FLAM_PUBLIC_CAPTURES, if the machine
 * has them. */

#include <glib.h>

#define PUBLIC "public/"

static inline gboolean
peer_capture_is_absent (const char *name)
{
  return g_str_has_prefix (name, PUBLIC) &&
         g_getenv ("FLAM_PUBLIC_CAPTURES") == NULL;
}

/* Its path; g_free. */
static inline char *
peer_capture_path (const char *name)
{
  const char *public = g_getenv ("FLAM_PUBLIC_CAPTURES");

  if (g_str_has_prefix (name, PUBLIC))
    return g_build_filename (
        public != NULL ? public : "", name + strlen (PUBLIC), NULL);
  return g_build_filename (g_getenv ("FLAM_CAPTURES"), name, NULL);
}

#endif
