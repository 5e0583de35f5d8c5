/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-perf-stream.h"

#include <inttypes.h>
#include <string.h>

gboolean
flam_perf_stream_read (FlamPerfStream *stream,
                       gsize head,
                       gboolean terminated,
                       FlamPerfStreamRecord record,
                       gpointer reader,
                       GError **error)
{
  const FlamSource *source = stream->load->source;
  const guint8 *at = source->data + head;
  const guint8 *end = source->data + source->size;

  for (guint n = 0; end - at >= 4; n++)
    {
      guint32 size;

      memcpy (&size, at, 4);
      size = GUINT32_FROM_LE (size);
      at += 4;
      if (size == 0 && terminated)
        return TRUE;
      if (size > (gsize)(end - at))
        break;
      if ((n & 0xfff) == 0 && !flam_load_step (stream->load, at, error))
        return FALSE;
      if (size > 0)
        record (reader, at, size);
      at += size;
    }
  stream->cut = terminated || at < end;
  return TRUE;
}

guint
flam_perf_stream_add_event (FlamPerfStream *stream, const char *name)
{
  gboolean time = g_str_has_prefix (name, "cpu-clock") ||
                  g_str_has_prefix (name, "task-clock");

  flam_builder_add_event_measure (stream->builder,
                                  name,
                                  time ? FLAM_UNIT_NS : FLAM_UNIT_COUNT,
                                  0,
                                  stream->n_events);
  return stream->n_events++;
}

FlamModuleId
flam_perf_stream_module (FlamPerfStream *stream,
                         const char *path,
                         const char *build_id)
{
  FlamModuleId module =
      flam_builder_module (stream->builder, path, build_id, FLAM_ADDRESS_VADDR);

  flam_builder_set_module_symbols (
      stream->builder, module, FLAM_SYMBOLS_CAPTURE, "");
  return module;
}

gboolean
flam_perf_stream_check (FlamPerfStream *stream,
                        const char *none,
                        const char *cut,
                        GError **error)
{
  if (stream->samples == 0)
    return flam_source_invalid (stream->load->source, error, "%s", none);
  if (stream->cut)
    flam_load_partial (stream->load, NULL, "%s", cut);
  flam_builder_warn_count (stream->builder,
                           stream->bad,
                           "%" PRIu64 " damaged record was left out",
                           "%" PRIu64 " damaged records were left out");
  return TRUE;
}
