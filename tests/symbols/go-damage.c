/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "go-damage.h"

#include "flam-go-table.h"
#include "flam-unwind-rows.h"

#include <string.h>

void
read_all_of_go (const char *bytes, gsize size)
{
  g_autoptr (FlamElf) elf =
      flam_elf_new_from_data ("damaged", bytes, size, NULL);
  g_autoptr (FlamGoTable) table = elf != NULL ? flam_go_table_new (elf) : NULL;
  guint32 n = 0;
  const char *why;
  FlamUnwindTable *unwind = flam_unwind_table_new_file (bytes, size, &why);
  const FlamGoFunction *functions =
      table != NULL ? flam_go_table_get (table, &n) : NULL;

  for (guint32 f = 0; f < n; f++)
    for (guint64 at = functions[f].start; at < functions[f].end;
         at += 1 + (functions[f].end - functions[f].start) / 4)
      {
        FlamGoFrame frames[FLAM_GO_FRAMES_MAX];
        guint n_frames = flam_go_table_look_up (table, at, frames);

        g_assert_cmpuint (strlen (functions[f].name), >, 0);
        for (guint k = 0; k < n_frames; k++)
          g_assert_cmpuint (
              strlen (frames[k].name) * strlen (frames[k].line_file), >, 0);
      }
  flam_unwind_table_free (unwind);
}
