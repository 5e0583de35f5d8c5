/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-lines.h"

#include <string.h>

typedef struct
{
  guint32 at;
  guint32 line;
} Pair;

gboolean
flam_runtime_lines_add (FlamRuntimeName *name, guint32 at, guint32 line)
{
  Pair pair = { at, line }, last;

  if (name->n_lines >= sizeof pair)
    {
      memcpy (&last, name->lines + name->n_lines - sizeof last, sizeof last);
      if (last.line == line)
        return TRUE;
    }
  if (sizeof name->lines - name->n_lines < sizeof pair)
    return FALSE;
  memcpy (name->lines + name->n_lines, &pair, sizeof pair);
  name->n_lines += sizeof pair;
  return TRUE;
}

guint32
flam_runtime_lines_find (guint32 version,
                         const guint8 *lines,
                         gsize n_lines,
                         guint64 at,
                         guint32 first_line)
{
  gsize low = 0, high = n_lines / sizeof (Pair);
  guint32 line = 0;

  (void)version;
  (void)first_line;
  while (low < high)
    {
      gsize middle = low + (high - low) / 2;
      Pair pair;

      memcpy (&pair, lines + middle * sizeof pair, sizeof pair);
      if (pair.at > at)
        high = middle;
      else
        {
          line = pair.line;
          low = middle + 1;
        }
    }
  return line;
}
