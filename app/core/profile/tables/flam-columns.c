/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-columns.h"

#include <malloc.h>
#include <sys/mman.h>

#define FIRST_ROWS 64
#define LARGE_PAGE ((gsize)2 << 20)
#define FIRST_SLOTS 256
#define KEPT 32 /* the arrays of a picture, and those for making it */

gpointer
flam_cells_resize (
    gpointer cells, gsize had, gsize n, guint size, gboolean shared)
{
  gpointer grown;

  if (!shared)
    return g_realloc_n (cells, n, size);
  g_assert (n <= G_MAXSIZE / 2 / size);
  grown = g_atomic_rc_box_alloc (MAX (n * size, 1));
  if (cells != NULL)
    memcpy (grown, cells, MIN (had, n) * size);
  flam_cells_free (cells, TRUE);
  return grown;
}

void
flam_cells_free (gpointer cells, gboolean shared)
{
  if (!shared)
    g_free (cells);
  else if (cells != NULL)
    g_atomic_rc_box_release (cells);
}

/* If the kernel has no huge pages, the pages stay as they are. */
static gpointer
in_large_pages (gpointer cells, gsize size)
{
  gsize start = ((gsize)cells + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
  gsize end = ((gsize)cells + size) & ~(LARGE_PAGE - 1);

  if (end > start)
    madvise ((gpointer)start, end - start, MADV_HUGEPAGE);
  return cells;
}

static gpointer kept[KEPT];
static guint oldest;
static gboolean keeps_none;

/* The address sanitizer would not notice the use of a kept block after it was
 * dropped. */
static gboolean
can_keep (gsize size)
{
#ifdef __SANITIZE_ADDRESS__
  return FALSE;
#else
  return size >= LARGE_PAGE && !keeps_none;
#endif
}

/* FALSE: all places are taken. */
static gboolean
put_back (gpointer block)
{
  for (guint i = 0; i < KEPT; i++)
    if (g_atomic_pointer_compare_and_exchange (&kept[i], NULL, block))
      return TRUE;
  return FALSE;
}

/* NULL: no free block has about that size. A block that another thread examines
 * at this moment is overlooked. */
static gpointer
take_kept (gsize size)
{
  if (!can_keep (size))
    return NULL;
  for (guint i = 0; i < KEPT; i++)
    {
      gpointer block = g_atomic_pointer_exchange (&kept[i], NULL);
      gsize has = block != NULL ? malloc_usable_size (block) : 0;

      if (has >= size && has - size <= size / 2)
        return block;
      if (block != NULL && !put_back (block))
        g_free (block);
    }
  return NULL;
}

/* The kernel may take these pages as long as nothing is written to them. */
static void
lend_pages (gpointer block, gsize size)
{
  gsize start = ((gsize)block + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
  gsize end = ((gsize)block + size) & ~(LARGE_PAGE - 1);

  if (end > start)
    madvise ((gpointer)start, end - start, MADV_FREE);
}

void
flam_cells_drop (gpointer cells)
{
  gsize size = cells != NULL ? malloc_usable_size (cells) : 0;

  if (!can_keep (size))
    {
      g_free (cells);
      return;
    }
  lend_pages (cells, size);
  if (!put_back (cells))
    g_free (g_atomic_pointer_exchange (
        &kept[(guint)g_atomic_int_add (&oldest, 1) % KEPT], cells));
}

void
flam_cells_trim (void)
{
  for (guint i = 0; i < KEPT; i++)
    g_free (g_atomic_pointer_exchange (&kept[i], NULL));
}

void
flam_cells_keep_none (void)
{
  keeps_none = TRUE;
  flam_cells_trim ();
}

gpointer
flam_cells_new (gsize n, guint size)
{
  gpointer cells = take_kept (n * size);

  return cells != NULL ? cells
                       : in_large_pages (g_malloc_n (n, size), n * size);
}

gpointer
flam_cells_new0 (gsize n, guint size)
{
  gpointer cells = take_kept (n * size);

  return cells != NULL ? memset (cells, 0, n * size)
                       : in_large_pages (g_malloc0_n (n, size), n * size);
}

void
flam_column_init (FlamColumn *column, guint element_size)
{
  *column = (FlamColumn){ .element_size = element_size };
}

void
flam_column_init_copy (FlamColumn *column, const FlamColumn *from)
{
  *column = *from;
  column->data = g_memdup2 (from->data, from->n * from->element_size);
  column->allocated = from->n;
  column->shared = FALSE;
}

void
flam_column_share (FlamColumn *column)
{
  gpointer own = column->data;

  if (column->shared)
    return;
  column->shared = TRUE;
  column->data =
      g_atomic_rc_box_alloc (MAX (column->allocated * column->element_size, 1));
  if (own != NULL)
    memcpy (column->data, own, column->n * column->element_size);
  g_free (own);
}

void
flam_column_init_lent (FlamColumn *column, const FlamColumn *from)
{
  g_assert (from->shared);
  *column = *from;
  column->allocated = from->n;
  g_atomic_rc_box_acquire (column->data);
}

void
flam_column_clear (FlamColumn *column)
{
  flam_cells_free (column->data, column->shared);
  flam_column_init (column, column->element_size);
}

void
flam_column_reserve (FlamColumn *column, gsize n)
{
  gsize wanted;

  if (n <= column->allocated)
    return;
  wanted = MAX (column->allocated * 2, FIRST_ROWS);
  wanted = MAX (wanted, n);
  column->data = flam_cells_resize (
      column->data, column->n, wanted, column->element_size, column->shared);
  column->allocated = wanted;
}

void
flam_column_backfill (FlamColumn *column, gsize n)
{
  if (column->n >= n)
    return;
  flam_column_reserve (column, n);
  memset ((char *)column->data + column->n * column->element_size,
          0,
          (n - column->n) * column->element_size);
  column->n = n;
}

void *
flam_column_steal (FlamColumn *column)
{
  void *data = NULL;

  g_assert (!column->shared);
  if (column->n > 0)
    data = g_realloc_n (column->data, column->n, column->element_size);
  else
    g_free (column->data);
  flam_column_init (column, column->element_size);
  return data;
}

static FlamSlot *
empty_slots (guint32 n)
{
  FlamSlot *slots = g_new (FlamSlot, n);

  /* All ones: id FLAM_NONE. */
  memset (slots, 0xff, (gsize)n * sizeof *slots);
  return slots;
}

void
flam_interner_init (FlamInterner *interner)
{
  interner->slots = empty_slots (FIRST_SLOTS);
  interner->mask = FIRST_SLOTS - 1;
  interner->used = 0;
}

void
flam_interner_init_copy (FlamInterner *interner, const FlamInterner *from)
{
  gsize n = (gsize)from->mask + 1;

  *interner = *from;
  interner->slots = g_memdup2 (from->slots, n * sizeof *from->slots);
}

void
flam_interner_clear (FlamInterner *interner)
{
  g_clear_pointer (&interner->slots, g_free);
  interner->mask = 0;
  interner->used = 0;
}

void
flam_interner_empty (FlamInterner *interner)
{
  memset (
      interner->slots, 0xff, ((gsize)interner->mask + 1) * sizeof (FlamSlot));
  interner->used = 0;
}

void
flam_interner_grow (FlamInterner *interner)
{
  guint32 old_n = interner->mask + 1;
  guint32 n = old_n * 2;
  g_autofree FlamSlot *old = interner->slots;

  g_assert (n > old_n);
  interner->slots = empty_slots (n);
  interner->mask = n - 1;
  for (guint32 i = 0; i < old_n; i++)
    {
      guint32 at = old[i].hash & interner->mask;

      if (old[i].id == FLAM_NONE)
        continue;
      while (interner->slots[at].id != FLAM_NONE)
        at = (at + 1) & interner->mask;
      interner->slots[at] = old[i];
    }
}

void
flam_interner_reserve (FlamInterner *interner, gsize n)
{
  while (interner->used + n >= interner->mask / 4 * 3)
    flam_interner_grow (interner);
}
