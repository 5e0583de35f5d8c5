/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-kallsyms.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The last symbol has no size; no function in the kernel is longer. */
#define LAST_REACH ((guint64)1 << 21)

typedef struct
{
  guint64 address;
  guint32 name; /* offset into text */
  gboolean global;
} Row;

struct _FlamKallsyms
{
  char *text; /* the file, with names terminated in place */
  GArray *rows;
};

static int
compare (gconstpointer a, gconstpointer b)
{
  const Row *x = a;
  const Row *y = b;

  if (x->address != y->address)
    return x->address < y->address ? -1 : 1;
  if (x->global != y->global)
    return x->global ? -1 : 1;
  return x->name < y->name ? -1 : x->name > y->name;
}

static void
add_line (FlamKallsyms *kallsyms, char *line)
{
  char *end;
  guint64 address = g_ascii_strtoull (line, &end, 16);
  Row row = { .address = address };
  char type;

  if (address == 0 || end[0] != ' ' || !end[1] || end[2] != ' ')
    return;
  type = end[1];
  if (!strchr ("tTwW", type))
    return;
  row.global = type == 'T';
  row.name = (guint32)(end + 3 - kallsyms->text);
  end += 3;
  end += strcspn (end, " \t");
  *end = '\0';
  g_array_append_val (kallsyms->rows, row);
}

static void
parse (FlamKallsyms *kallsyms, gsize size)
{
  GArray *rows = kallsyms->rows;
  const char *end = kallsyms->text + size;
  guint out = 0;

  for (char *line = kallsyms->text; line;)
    {
      char *next = memchr (line, '\n', (gsize)(end - line));

      if (next)
        *next++ = '\0';
      add_line (kallsyms, line);
      line = next;
    }
  if (rows->len > 1)
    qsort (rows->data, rows->len, sizeof (Row), compare);
  for (guint i = 0; i < rows->len; i++)
    if (i == 0 || g_array_index (rows, Row, i).address !=
                      g_array_index (rows, Row, out - 1).address)
      g_array_index (rows, Row, out++) = g_array_index (rows, Row, i);
  g_array_set_size (rows, out);
}

FlamKallsyms *
flam_kallsyms_new (const char *text, gsize size)
{
  g_autoptr (FlamKallsyms) kallsyms = g_new0 (FlamKallsyms, 1);

  kallsyms->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  if (size >= G_MAXUINT32)
    return NULL;
  kallsyms->text = g_malloc (size + 1);
  memcpy (kallsyms->text, text, size);
  kallsyms->text[size] = '\0';
  parse (kallsyms, size);
  return kallsyms->rows->len > 0 ? g_steal_pointer (&kallsyms) : NULL;
}

FlamKallsyms *
flam_kallsyms_open (const char *path, GError **error)
{
  g_autoptr (FlamKallsyms) kallsyms = g_new0 (FlamKallsyms, 1);
  const char *file = path ? path : "/proc/kallsyms";
  g_autoptr (GError) local = NULL;
  gsize size = 0;

  kallsyms->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  if (!g_file_get_contents (file, &kallsyms->text, &size, &local) ||
      size >= G_MAXUINT32)
    return flam_error_null (error,
                            FLAM_ERROR_SYSTEM,
                            "%s: %s",
                            file,
                            local ? local->message : N_ ("too large"));
  parse (kallsyms, size);
  if (kallsyms->rows->len == 0)
    return flam_error_null (
        error,
        FLAM_ERROR_SYSTEM,
        N_ ("%s: the kernel hides its addresses (see kernel.kptr_restrict)"),
        file);
  return g_steal_pointer (&kallsyms);
}

void
flam_kallsyms_free (FlamKallsyms *kallsyms)
{
  if (!kallsyms)
    return;
  g_free (kallsyms->text);
  g_array_free (kallsyms->rows, TRUE);
  g_free (kallsyms);
}

const char *
flam_kallsyms_find (const FlamKallsyms *kallsyms, guint64 address)
{
  const Row *rows = (const Row *)kallsyms->rows->data;
  guint low = 0;
  guint high = kallsyms->rows->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (rows[middle].address <= address)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0 || (low == kallsyms->rows->len &&
                   address - rows[low - 1].address >= LAST_REACH))
    return NULL;
  return kallsyms->text + rows[low - 1].name;
}

gboolean
flam_kernel_is_same_boot (gint64 start_unix_ns)
{
  struct timespec now, up;

  if (start_unix_ns <= 0 || clock_gettime (CLOCK_REALTIME, &now) != 0 ||
      clock_gettime (CLOCK_BOOTTIME, &up) != 0)
    return FALSE;
  return start_unix_ns / G_GINT64_CONSTANT (1000000000) >=
             now.tv_sec - up.tv_sec &&
         start_unix_ns / G_GINT64_CONSTANT (1000000000) <= now.tv_sec;
}

char *
flam_kernel_build_id (void)
{
  g_autofree char *notes = NULL;
  GString *hex = g_string_new (NULL);
  gsize size = 0;
  gsize at = 0;

  if (!g_file_get_contents ("/sys/kernel/notes", &notes, &size, NULL))
    return g_string_free (hex, FALSE);
  while (hex->len == 0 && size - at >= sizeof (GElf_Nhdr))
    {
      GElf_Nhdr note;
      gsize name, bits;

      memcpy (&note, notes + at, sizeof note);
      name = at + sizeof note;
      bits = name + (((gsize)note.n_namesz + 3) & ~(gsize)3);
      at = bits + (((gsize)note.n_descsz + 3) & ~(gsize)3);
      if (at > size)
        break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          memcmp (notes + name, "GNU", 4) == 0)
        for (gsize i = 0; i < note.n_descsz; i++)
          g_string_append_printf (hex, "%02x", (guint8)notes[bits + i]);
    }
  return g_string_free (hex, FALSE);
}
