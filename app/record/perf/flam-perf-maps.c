/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-maps.h"

#include <string.h>

#include "flam-mapping.h"

typedef struct
{
  guint64 start, end, offset, device, inode;
  char *path;
} Mapped;

/* Sorted, and disjoint. */
struct _FlamPerfMaps
{
  GArray *list;
};

static void
clear_mapped (gpointer data)
{
  g_free (((Mapped *)data)->path);
}

FlamPerfMaps *
flam_perf_maps_new (void)
{
  FlamPerfMaps *maps = g_new0 (FlamPerfMaps, 1);

  maps->list = g_array_new (FALSE, FALSE, sizeof (Mapped));
  g_array_set_clear_func (maps->list, clear_mapped);
  return maps;
}

void
flam_perf_maps_free (FlamPerfMaps *maps)
{
  g_array_unref (maps->list);
  g_free (maps);
}

FlamPerfMaps *
flam_perf_maps_copy (const FlamPerfMaps *maps)
{
  FlamPerfMaps *copy = flam_perf_maps_new ();

  for (guint i = 0; i < maps->list->len; i++)
    {
      Mapped one = g_array_index (maps->list, Mapped, i);

      one.path = g_strdup (one.path);
      g_array_append_val (copy->list, one);
    }
  return copy;
}

void
flam_perf_maps_clear (FlamPerfMaps *maps)
{
  g_array_set_size (maps->list, 0);
}

/* Cuts [start, end) out of the list; returns where it would be. */
static guint
cut_out (FlamPerfMaps *maps, guint64 start, guint64 end)
{
  guint i = 0;

  while (i < maps->list->len)
    {
      Mapped *one = &g_array_index (maps->list, Mapped, i);

      if (one->end <= start)
        i++;
      else if (one->start >= end)
        break;
      else if (one->start < start)
        {
          if (one->end > end)
            {
              Mapped rest = { .start = end,
                              .end = one->end,
                              .offset = one->offset + (end - one->start),
                              .device = one->device,
                              .inode = one->inode,
                              .path = g_strdup (one->path) };

              one->end = start;
              g_array_insert_val (maps->list, i + 1, rest);
              return i + 1;
            }
          one->end = start;
          i++;
        }
      else if (one->end > end)
        {
          one->offset += end - one->start;
          one->start = end;
          break;
        }
      else
        g_array_remove_index (maps->list, i);
    }
  return i;
}

static void
insert (FlamPerfMaps *maps, Mapped one)
{
  g_array_insert_val (maps->list, cut_out (maps, one.start, one.end), one);
}

void
flam_perf_maps_set (FlamPerfMaps *maps, const char *text)
{
  const char *at = text, *end = text + strlen (text);
  FlamMapping mapping;

  flam_perf_maps_clear (maps);
  while (flam_mapping_next (&at, end, &mapping))
    if (mapping.executable)
      insert (maps,
              (Mapped){ mapping.start,
                        mapping.end,
                        mapping.offset,
                        mapping.device,
                        mapping.inode,
                        g_strndup (mapping.path, mapping.length) });
}

/* "//anon" and other names that are not paths: perf_event_mmap_event() in
 * kernel/events/core.c. */
void
flam_perf_maps_add (FlamPerfMaps *maps, const FlamPerfRecord *record)
{
  const char *path = g_str_has_prefix (record->text, "//") ? "" : record->text;

  if (record->end <= record->start)
    return;
  if (record->executable)
    insert (maps,
            (Mapped){ record->start,
                      record->end,
                      record->offset,
                      record->device,
                      record->inode,
                      g_strdup (path) });
  else
    cut_out (maps, record->start, record->end);
}

char *
flam_perf_maps_text (const FlamPerfMaps *maps)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < maps->list->len; i++)
    {
      const Mapped *one = &g_array_index (maps->list, Mapped, i);
      g_autofree char *path = g_strescape (one->path, NULL);

      g_string_append_printf (
          text,
          "%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER
          "x r-xp %" G_GINT64_MODIFIER "x %02x:%02x %" G_GUINT64_FORMAT " %s\n",
          one->start,
          one->end,
          one->offset,
          (guint)(one->device >> 32),
          (guint)(guint32)one->device,
          one->inode,
          strchr (one->path, '\n') != NULL ? path : one->path);
    }
  return g_string_free (text, FALSE);
}
