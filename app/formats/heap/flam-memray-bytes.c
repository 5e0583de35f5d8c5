/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-bytes.h"
#include "flam-core-profile.h"
#include "flam-memray.h"

#include <string.h>

guint64
flam_memray_fixed (FlamMemray *reader, guint size)
{
  guint64 value;

  if ((gsize)(reader->end - reader->at) < size)
    {
      reader->short_read = TRUE;
      reader->at = reader->end;
      return 0;
    }
  value = flam_bytes_get (reader->at, size);
  reader->at += size;
  return value;
}

guint64
flam_memray_varint (FlamMemray *reader)
{
  guint64 value;

  if (flam_varint_get (&reader->at, reader->end, &value))
    return value;
  reader->short_read = TRUE;
  return 0;
}

gint64
flam_memray_signed (FlamMemray *reader)
{
  return flam_varint_unzigzag (flam_memray_varint (reader));
}

guint64
flam_memray_delta (FlamMemray *reader, guint64 *last)
{
  return *last += (guint64)flam_memray_signed (reader);
}

const char *
flam_memray_text (FlamMemray *reader)
{
  const char *text = (const char *)reader->at;
  const guint8 *nul = memchr (reader->at, 0, reader->end - reader->at);

  if (nul == NULL)
    {
      reader->short_read = TRUE;
      reader->at = reader->end;
      return "";
    }
  reader->at = nul + 1;
  return text;
}

void
flam_memray_skip (FlamMemray *reader, guint64 n)
{
  if (n > (gsize)(reader->end - reader->at))
    {
      reader->short_read = TRUE;
      n = reader->end - reader->at;
    }
  reader->at += n;
}
