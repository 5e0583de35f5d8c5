/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dump-private.h"

#include "flam-format.h"

FlamDump
flam_dump_new (const FlamProfile *profile)
{
  return (FlamDump){ g_string_new (NULL), profile, g_string_chunk_new (256) };
}

char *
flam_dump_end (FlamDump *dump)
{
  g_string_chunk_free (dump->escaped);
  return g_string_free (dump->out, FALSE);
}

const char *
flam_dump_visible (const FlamDump *dump, const char *text)
{
  g_autofree char *shown = NULL;
  const guchar *p = (const guchar *)text;

  while (*p >= 0x20 && *p < 0x7f)
    p++;
  if (*p == '\0')
    return text;
  shown = flam_format_visible (text);
  return g_string_chunk_insert_const (dump->escaped, shown);
}

const char *
flam_dump_string (const FlamDump *dump, FlamId id)
{
  return flam_dump_visible (dump, flam_profile_string (dump->profile, id));
}
