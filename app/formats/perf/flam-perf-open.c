/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a perf.data file. A pipe has no header: the descriptions are in records
 * among the others, so its file is read once before. */
#include "flam-perf-records.h"

#define STEP 4096 /* records between two reports of progress */

static gboolean
read_pipe (FlamPerfFile *file, const FlamProgress *progress, GError **error)
{
  g_autoptr (FlamPerfReader) reader = flam_perf_reader_new (file, FALSE);
  FlamPerfRecord record;
  guint n = 0;

  while (flam_perf_reader_next (reader, &record))
    {
      if (++n % STEP == 0 && !flam_progress_step (progress, 0, error))
        return FALSE;
      flam_perf_file_note (file,
                           record.type,
                           record.misc,
                           record.type == FLAM_PERF_TRACING_DATA
                               ? flam_perf_reader_payload (reader)
                               : record.body);
    }
  return TRUE;
}

FlamPerfFile *
flam_perf_file_open (const FlamSource *source,
                     const FlamProgress *progress,
                     GError **error)
{
  g_autoptr (FlamPerfFile) file = flam_perf_file_new (source, progress, error);

  if (file == NULL || (file->pipe && !read_pipe (file, progress, error)))
    return NULL;
  if (file->events->len == 0)
    {
      flam_source_error (file->source,
                         error,
                         FLAM_ERROR_INVALID,
                         file->data_offset,
                         N_ ("the file has no events"));
      return NULL;
    }
  return g_steal_pointer (&file);
}
