/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gecko-arrays.h"

#include "flam-parts.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Most arrays are shorter than this; of a longer one, a core reads this much at
 * a time. */
#define FIRST_WINDOW (1 << 20)
#define WINDOW (4 << 20)
/* The limit of the search for the start of an element. */
#define MAX_LOOK (64 << 10)

/* --- cells ---------------------------------------------------------------- */

void
flam_gecko_cells_init (FlamGeckoCells *cells, guint size, guint32 scale)
{
  *cells = (FlamGeckoCells){ .size = size, .scale = scale };
  flam_column_init (&cells->chunks, sizeof (gpointer));
}

void
flam_gecko_cells_clear (FlamGeckoCells *cells)
{
  for (gsize i = 0; i < cells->chunks.n; i++)
    g_free (flam_column_at (&cells->chunks, gpointer, i));
  flam_column_clear (&cells->chunks);
  cells->n = cells->room = 0;
}

/* The first chunk grows up to the full size: most columns are short. */
void
flam_gecko_cells_grow (FlamGeckoCells *cells)
{
  gpointer *first = cells->chunks.data;

  if (cells->room == 0 || cells->room >= FLAM_GECKO_CHUNK)
    {
      gsize n = cells->room == 0 ? 64 : FLAM_GECKO_CHUNK;

      flam_column_append (
          &cells->chunks, gpointer, g_malloc_n (n, cells->size));
      cells->room += n;
      return;
    }
  cells->room *= 2;
  *first = g_realloc_n (*first, cells->room, cells->size);
}

/* Returned to the system at once, since the heap would keep the pages while the
 * samples need as many. */
static void
leave_chunk (gpointer chunk, gsize size)
{
  gsize page = (gsize)sysconf (_SC_PAGESIZE);
  gsize start = ((gsize)chunk + page - 1) / page * page;
  gsize end = ((gsize)chunk + size) / page * page;

  if (end > start)
    madvise ((gpointer)start, end - start, MADV_DONTNEED);
  g_free (chunk);
}

void
flam_gecko_cells_leave (FlamGeckoCells *cells, gsize chunk)
{
  gpointer *chunks = cells->chunks.data;

  /* A short column's only chunk is smaller. */
  if ((chunk + 1) * FLAM_GECKO_CHUNK <= cells->room)
    leave_chunk (g_steal_pointer (&chunks[chunk]),
                 FLAM_GECKO_CHUNK * cells->size);
}

/* `from` was filled in parallel. */
static void
append_all (FlamGeckoCells *cells, const FlamGeckoCells *from)
{
  for (gsize i = 0, n; i < from->n; i += n)
    {
      if (cells->n == cells->room)
        flam_gecko_cells_grow (cells);
      n = MIN (from->n - i, cells->room - cells->n);
      n = MIN (n, FLAM_GECKO_CHUNK - i % FLAM_GECKO_CHUNK);
      memcpy (flam_gecko_cells_at (cells, cells->n),
              flam_gecko_cells_at (from, i),
              n * cells->size);
      cells->n += n;
    }
}

/* --- elements ------------------------------------------------------------- */

typedef struct
{
  FlamJson *json;
  guint depth;
  gboolean flat;
  const FlamGeckoSchema *schema;
  guint32 scales[FLAM_GECKO_MAX_PLACES]; /* by place */
  FlamGeckoCells *columns;
  const guint8 *until; /* start of the next part; NULL: this is the last */
  gboolean arrived;
  FlamJson own_json; /* for all parts but the first */
  FlamGeckoCells own[FLAM_GECKO_MAX_PLACES];
} Part;

static gint64
get_value (FlamJson *json, guint32 scale)
{
  if (json->token == FLAM_JSON_NUMBER)
    return flam_json_get_scaled (json, scale);
  if (json->token == FLAM_JSON_TRUE || json->token == FLAM_JSON_FALSE)
    return json->token == FLAM_JSON_TRUE;
  return FLAM_GECKO_NOTHING;
}

static void
put (const Part *part, guint place, gint64 value)
{
  if (place < part->schema->n && part->schema->column[place] >= 0)
    flam_gecko_cells_append (&part->columns[part->schema->column[place]],
                             value);
}

static void
read_row (const Part *part)
{
  FlamJson *json = part->json;
  guint inner = flam_json_enter (json);
  gint64 values[FLAM_GECKO_MAX_PLACES];
  guint place = 0;

  if (inner != 0)
    place = flam_json_take_numbers (
        json, part->scales, part->schema->n, NULL, FLAM_GECKO_NOTHING, values);
  for (guint i = 0; i < place; i++)
    put (part, i, values[i]);
  for (; flam_json_element (json, inner); place++)
    put (
        part,
        place,
        get_value (json, part->scales[MIN (place, FLAM_GECKO_MAX_PLACES - 1)]));
  for (; place < part->schema->n; place++)
    put (part, place, FLAM_GECKO_NOTHING);
}

static void
read_values (const Part *part)
{
  gint64 values[FLAM_GECKO_MAX_PLACES];
  guint n;

  put (part, 0, get_value (part->json, part->scales[0]));
  if (part->json->depth != part->depth)
    return;
  while ((n = flam_json_take_numbers (part->json,
                                      part->scales,
                                      FLAM_GECKO_MAX_PLACES,
                                      part->until,
                                      FLAM_GECKO_NOTHING,
                                      values)) > 0)
    for (guint i = 0; i < n; i++)
      put (part, 0, values[i]);
}

static gboolean
is_at (const FlamJson *json, const guint8 *at)
{
  return json->token == FLAM_JSON_ARRAY    ? json->at - 1 == at
         : json->token == FLAM_JSON_NUMBER ? json->string.text == (char *)at
                                           : FALSE;
}

/* Reads from the current token, an element, up to the one at `until`, which
 * then becomes current, or to the array's end. */
static void
read_part (Part *part)
{
  do
    {
      if (part->flat)
        read_values (part);
      else
        read_row (part);
      if (!flam_json_element (part->json, part->depth))
        return;
    }
  while (!is_at (part->json, part->until));
  part->arrived = TRUE;
}

/* --- windows ---------------------------------------------------------------
 */

static const guint8 *
skip_spaces_back (const guint8 *p, const guint8 *from)
{
  while (p > from && flam_json_is_space (p[-1]))
    p--;
  return p;
}

/* After "],": a row. After ",": a number. */
static const guint8 *
find_element (const guint8 *at, const guint8 *end, gboolean flat)
{
  const guint8 *stop = end - at > MAX_LOOK ? at + MAX_LOOK : end;

  for (const guint8 *p = at + 1; p < stop; p++)
    {
      const guint8 *before;

      if (flat ? !g_ascii_isdigit (*p) && *p != '-' : *p != '[')
        continue;
      before = skip_spaces_back (p, at);
      if (before == at || before[-1] != ',')
        continue;
      before = skip_spaces_back (before - 1, at);
      if (flat || (before > at && before[-1] == ']'))
        return p;
    }
  return NULL;
}

static void
begin_part (Part *part, const Part *first, const guint8 *at)
{
  *part = *first;
  part->until = NULL;
  part->json = &part->own_json;
  flam_json_init_inside (part->json, first->json, at);
  part->json->depth = part->depth;
  for (guint i = 0; i < part->schema->n; i++)
    {
      int column = part->schema->column[i];
      if (column >= 0)
        flam_gecko_cells_init (&part->own[column],
                               first->columns[column].size,
                               first->columns[column].scale);
    }
  part->columns = part->own;
}

static void
end_part (Part *part)
{
  flam_json_clear (&part->own_json);
  for (guint i = 0; i < part->schema->n; i++)
    if (part->schema->column[i] >= 0)
      flam_gecko_cells_clear (&part->own[part->schema->column[i]]);
}

/* The first part begins at the current element of the document's reader. */
static guint
cut (Part *parts, guint wanted, gsize window)
{
  const guint8 *first = parts[0].json->at, *end = parts[0].json->end;
  const guint8 *last = first;
  guint n = 1;

  parts[0].until = NULL;
  parts[0].arrived = FALSE;
  for (guint i = 1; i <= wanted; i++)
    {
      const guint8 *at;

      if ((gsize)(end - first) <= window * i || last + 1 >= end)
        break;
      at =
          find_element (MAX (first + window * i, last + 1), end, parts[0].flat);
      if (at == NULL)
        continue;
      parts[n - 1].until = last = at;
      if (i < wanted)
        begin_part (&parts[n++], &parts[0], at);
    }
  return n;
}

static gboolean
read_one (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  Part *part = (Part *)data + i;

  if (i == 0 || flam_json_element (part->json, part->depth))
    read_part (part);
  return TRUE;
}

/* Appends a part whose start the one before has reached. */
static void
take_part (Part *first, Part *part)
{
  FlamJson *json = first->json, read = *json;

  for (guint i = 0; i < part->schema->n; i++)
    {
      int column = part->schema->column[i];
      if (column >= 0 && part->own[column].n > 0)
        {
          append_all (&first->columns[column], &part->own[column]);
          flam_gecko_cells_clear (&part->own[column]);
        }
    }
  *json = part->own_json;
  part->own_json = read;
}

/* FALSE: the array ends. */
static gboolean
read_window (Part *parts, guint wanted, gsize window)
{
  guint n = cut (parts, wanted, window), good = 1;
  gboolean arrived;

  flam_parts_read (n, read_one, parts, NULL, NULL);
  while (good < n && parts[good - 1].arrived)
    take_part (&parts[0], &parts[good++]);
  arrived = parts[good - 1].arrived;
  for (guint i = 1; i < n; i++)
    end_part (&parts[i]);
  return arrived;
}

void
flam_gecko_array_read (FlamGeckoCells *columns,
                       FlamJson *json,
                       const FlamGeckoSchema *schema,
                       gboolean flat,
                       const FlamSource *source,
                       const FlamLoadOptions *options)
{
  guint wanted =
      flam_parts_count (source, (gsize)(json->end - json->at), options);
  gsize least = options->least_part;
  g_autofree Part *parts = NULL;
  const guint8 *left = json->at;
  gboolean more;

  parts = g_new0 (Part, MAX (wanted, 1));
  parts[0] = (Part){ .json = json,
                     .depth = flam_json_enter (json),
                     .flat = flat,
                     .schema = schema,
                     .columns = columns };
  for (guint i = 0; i < FLAM_GECKO_MAX_PLACES; i++)
    {
      int column = flat            ? schema->column[0]
                   : i < schema->n ? schema->column[i]
                                   : -1;
      parts[0].scales[i] = column >= 0 ? columns[column].scale : 1;
    }
  if (!flam_json_element (json, parts[0].depth))
    return;
  more = read_window (parts, 1, least > 0 ? least : FIRST_WINDOW);
  while (more)
    {
      more = read_window (parts, wanted, least > 0 ? least : WINDOW);
      flam_source_leave_part (source, left, json->at);
      left = json->at;
    }
}
