/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jitdump.h"

#include "flam-file-map.h"
#include "flam-path-access.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x4A695444u
#define HEADER_SIZE 40
#define RECORD_SIZE 16
#define FLAG_CPU_COUNTER 1u
/* The number of generations of code at one address that a look-up goes back. */
#define GENERATIONS_MAX 4096

enum
{
  RECORD_LOAD,
  RECORD_MOVE,
  RECORD_LINES,
  RECORD_CLOSE,
};

/* A function at an address, for a time. */
typedef struct
{
  guint64 start;
  guint64 end;
  guint64 time;
  guint64 index;
  const char *name;
  guint32 first_line; /* rows of `lines` */
  guint32 n_lines;
  guint64 lines_base; /* the address its lines were written for */
} Load;

typedef struct
{
  guint64 address;
  const char *file;
  guint32 line;
} Line;

struct _FlamJitdump
{
  char *name;
  FlamFileMap *file;
  const guint8 *data;
  gsize size;
  gboolean swapped;
  gboolean has_clock;
  GArray *loads;           /* Load, ascending by start */
  GArray *lines;           /* Line */
  guint64 *reach;          /* greatest end among the loads up to here */
  guint64 pending_address; /* of the lines before their load record */
  guint32 pending_first;
  guint32 pending_n;
};

/* --- reading ------------------------------------------------------------- */

static guint32
get_u32 (const FlamJitdump *jitdump, gsize at)
{
  guint32 value;

  memcpy (&value, jitdump->data + at, 4);
  return jitdump->swapped ? GUINT32_SWAP_LE_BE (value) : value;
}

static guint64
get_u64 (const FlamJitdump *jitdump, gsize at)
{
  guint64 value;

  memcpy (&value, jitdump->data + at, 8);
  return jitdump->swapped ? GUINT64_SWAP_LE_BE (value) : value;
}

/* The text at `at`, if it ends before `end`. */
static const char *
get_text (const FlamJitdump *jitdump, gsize at, gsize end)
{
  const char *text = (const char *)jitdump->data + at;
  return at < end && memchr (text, '\0', end - at) ? text : NULL;
}

static void
add_load (FlamJitdump *jitdump, const Load *load)
{
  if (load->end > load->start)
    g_array_append_vals (jitdump->loads, load, 1);
}

static void
read_load (FlamJitdump *jitdump, gsize at, gsize end)
{
  Load load = { 0 };

  if (end - at < 57)
    return;
  load.time = get_u64 (jitdump, at + 8);
  load.start = get_u64 (jitdump, at + 32);
  load.end = load.start + get_u64 (jitdump, at + 40);
  load.index = get_u64 (jitdump, at + 48);
  load.name = get_text (jitdump, at + 56, end);
  if (!load.name)
    return;
  if (jitdump->pending_n > 0 && jitdump->pending_address == load.start)
    {
      load.first_line = jitdump->pending_first;
      load.n_lines = jitdump->pending_n;
      load.lines_base = load.start;
      jitdump->pending_n = 0;
    }
  add_load (jitdump, &load);
}

/* The moved function is the last one with its index; moves are rare and of
 * recently loaded functions. */
static void
read_move (FlamJitdump *jitdump, gsize at, gsize end)
{
  GArray *loads = jitdump->loads;
  guint64 index;

  if (end - at < 64)
    return;
  index = get_u64 (jitdump, at + 56);
  for (guint i = loads->len, tries = 0; i-- > 0 && tries < GENERATIONS_MAX;
       tries++)
    {
      Load moved = g_array_index (loads, Load, i);

      if (moved.index != index)
        continue;
      moved.time = get_u64 (jitdump, at + 8);
      moved.start = get_u64 (jitdump, at + 40);
      moved.end = moved.start + get_u64 (jitdump, at + 48);
      add_load (jitdump, &moved);
      return;
    }
}

static void
read_lines (FlamJitdump *jitdump, gsize at, gsize end)
{
  guint64 count;
  const char *file = "";
  gsize here = at + 32;

  if (end - at < 32)
    return;
  count = get_u64 (jitdump, at + 24);
  jitdump->pending_address = get_u64 (jitdump, at + 16);
  jitdump->pending_first = jitdump->lines->len;
  for (guint64 i = 0; i < count && here < end && end - here > 16; i++)
    {
      const char *text = get_text (jitdump, here + 16, end);
      Line line = {
        .address = get_u64 (jitdump, here),
        .line = get_u32 (jitdump, here + 8),
      };

      if (!text)
        break;
      here += 16 + strlen (text) + 1;
      if (strcmp (text, "\xff") != 0)
        file = text;
      line.file = file;
      g_array_append_val (jitdump->lines, line);
    }
  jitdump->pending_n = jitdump->lines->len - jitdump->pending_first;
}

static void
read_records (FlamJitdump *jitdump, gsize at)
{
  while (jitdump->size - at >= RECORD_SIZE)
    {
      guint32 id = get_u32 (jitdump, at);
      guint32 size = get_u32 (jitdump, at + 4);

      if (size < RECORD_SIZE || size > jitdump->size - at)
        break;
      if (id == RECORD_LOAD)
        read_load (jitdump, at, at + size);
      else if (id == RECORD_MOVE)
        read_move (jitdump, at, at + size);
      else if (id == RECORD_LINES)
        read_lines (jitdump, at, at + size);
      at += size;
      if (id == RECORD_CLOSE)
        break;
    }
}

static int
compare_loads (gconstpointer a, gconstpointer b)
{
  const Load *x = a;
  const Load *y = b;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return x->time < y->time ? -1 : x->time > y->time;
}

static void
build (FlamJitdump *jitdump)
{
  GArray *loads = jitdump->loads;
  guint64 reach = 0;

  if (loads->len > 1)
    qsort (loads->data, loads->len, sizeof (Load), compare_loads);
  jitdump->reach = g_new (guint64, MAX (loads->len, 1));
  for (guint i = 0; i < loads->len; i++)
    {
      reach = MAX (reach, g_array_index (loads, Load, i).end);
      jitdump->reach[i] = reach;
    }
}

static gboolean
read_header (FlamJitdump *jitdump, gsize *records)
{
  guint32 size;

  if (jitdump->size < HEADER_SIZE)
    return FALSE;
  if (get_u32 (jitdump, 0) != MAGIC)
    {
      jitdump->swapped = TRUE;
      if (get_u32 (jitdump, 0) != MAGIC)
        return FALSE;
    }
  size = get_u32 (jitdump, 8);
  if (get_u32 (jitdump, 4) != 1 || size < HEADER_SIZE || size > jitdump->size)
    return FALSE;
  jitdump->has_clock = !(get_u64 (jitdump, 32) & FLAG_CPU_COUNTER);
  *records = size;
  return TRUE;
}

FlamJitdump *
flam_jitdump_new_from_data (const char *name,
                            const void *data,
                            gsize size,
                            GError **error)
{
  g_autoptr (FlamJitdump) jitdump = g_new0 (FlamJitdump, 1);
  gsize records = 0;

  jitdump->name = g_strdup (name);
  jitdump->data = data;
  jitdump->size = size;
  jitdump->loads = g_array_new (FALSE, FALSE, sizeof (Load));
  jitdump->lines = g_array_new (FALSE, FALSE, sizeof (Line));
  if (!read_header (jitdump, &records))
    return flam_error_null (error,
                            FLAM_ERROR_INVALID,
                            N_ ("%s: not a jitdump of version 1 (at byte 0)"),
                            name);
  read_records (jitdump, records);
  build (jitdump);
  return g_steal_pointer (&jitdump);
}

FlamJitdump *
flam_jitdump_open (const char *path, GError **error)
{
  struct stat info;
  int fd = flam_path_access_open (path, &info, error);
  g_autoptr (FlamFileMap) file = NULL;
  FlamJitdump *jitdump;

  if (fd < 0)
    return NULL;
  file = flam_file_map_new (fd, (gsize)info.st_size);
  close (fd);
  if (!file)
    return flam_error_null (
        error, FLAM_ERROR_SYSTEM, N_ ("%s: cannot be mapped"), path);
  jitdump = flam_jitdump_new_from_data (path, file->data, file->size, error);
  if (jitdump)
    jitdump->file = g_steal_pointer (&file);
  return jitdump;
}

void
flam_jitdump_free (FlamJitdump *jitdump)
{
  if (!jitdump)
    return;
  g_array_free (jitdump->loads, TRUE);
  g_array_free (jitdump->lines, TRUE);
  g_free (jitdump->reach);
  g_free (jitdump->name);
  g_clear_pointer (&jitdump->file, flam_file_map_free);
  g_free (jitdump);
}

/* --- look-up ------------------------------------------------------------- */

/* The file is that of the function's first line; lines of functions inlined
 * from other files are unknown. */
static void
find_line (const FlamJitdump *jitdump,
           const Load *load,
           guint64 address,
           FlamJitSymbol *symbol)
{
  guint64 as_written = address - load->start + load->lines_base;
  const Line *lines = (const Line *)jitdump->lines->data + load->first_line;

  for (guint32 i = 0; i < load->n_lines; i++)
    {
      if (i > 0 && lines[i].address > as_written)
        break;
      if (i == 0)
        symbol->file = lines[i].file;
      symbol->line =
          g_str_equal (symbol->file, lines[i].file) ? lines[i].line : 0;
    }
}

/* The last load that starts at or before `address`: row + 1, 0 for none. */
static guint
upper_bound (const FlamJitdump *jitdump, guint64 address)
{
  guint low = 0;
  guint high = jitdump->loads->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (jitdump->loads, Load, middle).start <= address)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

gboolean
flam_jitdump_find (const FlamJitdump *jitdump,
                   guint64 address,
                   guint64 time,
                   FlamJitSymbol *symbol)
{
  const Load *best = NULL;
  guint tries = 0;

  if (!jitdump->has_clock)
    time = G_MAXUINT64;
  for (guint i = upper_bound (jitdump, address);
       i-- > 0 && jitdump->reach[i] > address && tries < GENERATIONS_MAX;
       tries++)
    {
      const Load *load = &g_array_index (jitdump->loads, Load, i);

      if (load->end > address && load->time <= time &&
          (!best || load->time > best->time))
        best = load;
    }
  if (!best)
    return FALSE;
  *symbol = (FlamJitSymbol){
    .name = best->name,
    .file = "",
    .start = best->start,
    .size = best->end - best->start,
    .since = jitdump->has_clock ? best->time : 0,
  };
  find_line (jitdump, best, address, symbol);
  return TRUE;
}
