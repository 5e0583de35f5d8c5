/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-spill.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define ACCESS (PROT_READ | PROT_WRITE)

/* A part of the file. */
typedef struct
{
  gpointer data; /* NULL: it is not in use */
  gsize size;
  gint64 offset;
} Part;

struct _FlamSpill
{
  int fd;
  gsize bound;
  gsize ordinary; /* bytes that are not in the file */
  GArray *parts;  /* Part, the newest last */
  gint64 size;    /* of the file */
};

#define part_at(spill, i) (&g_array_index ((spill)->parts, Part, i))

FlamSpill *
flam_spill_new (int fd, gsize bound)
{
  FlamSpill *spill = g_new0 (FlamSpill, 1);

  spill->fd = fd;
  spill->bound = bound;
  spill->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  return spill;
}

void
flam_spill_free (FlamSpill *spill)
{
  if (spill->fd >= 0)
    close (spill->fd);
  g_array_unref (spill->parts);
  g_free (spill);
}

/* One that is not in use, or a new one at the end of the file. */
static Part
find_part (FlamSpill *spill, gsize size)
{
  Part part = { NULL, size, spill->size };

  for (guint i = 0; i < spill->parts->len; i++)
    if (part_at (spill, i)->data == NULL && part_at (spill, i)->size == size)
      {
        part = *part_at (spill, i);
        g_array_remove_index (spill->parts, i);
        break;
      }
  return part;
}

/* The space is reserved first: without it, writing to the memory would end the
 * process. NULL: there is none. */
static gpointer
take_part (FlamSpill *spill, gsize size)
{
  Part part = find_part (spill, size);

  if (posix_fallocate (spill->fd, part.offset, (off_t)size) == 0)
    part.data =
        mmap (NULL, size, ACCESS, MAP_SHARED, spill->fd, (off_t)part.offset);
  if (part.data == MAP_FAILED)
    part.data = NULL;
  if (part.offset < spill->size || part.data != NULL)
    {
      spill->size = MAX (spill->size, part.offset + (gint64)size);
      g_array_append_val (spill->parts, part);
    }
  return part.data;
}

gpointer
flam_spill_take (FlamSpill *spill, gsize size)
{
  gpointer data = NULL;

  if (spill != NULL && spill->fd >= 0 && spill->ordinary + size > spill->bound)
    data = take_part (spill, size);
  if (data != NULL)
    return data;
  data = mmap (
      NULL, size, ACCESS, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    g_error (N_ ("not enough memory for the table of blocks"));
  if (spill != NULL)
    spill->ordinary += size;
  return data;
}

/* A part that cannot be zeroed is not used again. */
static void
empty_part (const FlamSpill *spill, guint number)
{
  Part *part = part_at (spill, number);

  part->data = NULL;
  if (fallocate (spill->fd,
                 FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                 (off_t)part->offset,
                 (off_t)part->size) != 0)
    g_array_remove_index (spill->parts, number);
}

void
flam_spill_give_back (FlamSpill *spill, gpointer data, gsize size)
{
  munmap (data, size);
  if (spill == NULL)
    return;
  for (guint i = 0; i < spill->parts->len; i++)
    if (part_at (spill, i)->data == data)
      {
        empty_part (spill, i);
        return;
      }
  spill->ordinary -= size;
}

/* Their content stays in the file. */
void
flam_spill_trim (FlamSpill *spill)
{
  gsize newer = 0;

  for (guint i = spill->parts->len; i-- > 0;)
    {
      const Part *part = part_at (spill, i);

      if (part->data == NULL)
        continue;
      newer += part->size;
      if (newer > spill->bound)
        madvise (part->data, part->size, MADV_DONTNEED);
    }
}
