/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tables that all threads of a Firefox profile share: frames, functions,
 * stacks, texts. */

#include "flam-export-common.h"
#include "flam-formats.h"
#include "flam-part.h"

typedef struct
{
  const FlamPart *part;
  FlamSink *out;
  GHashTable *index; /* text -> index */
  GPtrArray *texts;
  guint32 *code; /* one per frame: a row of `codes` */
  GArray *codes; /* FlamId: frames, one for each function and file */
} FlamGeckoWriter;

void flam_gecko_writer_init (FlamGeckoWriter *writer, FlamExport *export);

/* The index of a text, which must outlive the writer. */
guint flam_gecko_intern (FlamGeckoWriter *writer, const char *text);

static inline guint
flam_gecko_intern_id (FlamGeckoWriter *writer, FlamId string)
{
  return flam_gecko_intern (
      writer, flam_profile_string (writer->part->profile, string));
}

static inline void
flam_gecko_put_null (FlamGeckoWriter *writer, guint i)
{
  flam_sink_put (writer->out, "null");
}

static inline void
flam_gecko_put_zero (FlamGeckoWriter *writer, guint i)
{
  flam_sink_put_c (writer->out, '0');
}

static inline void
flam_gecko_put_index (FlamGeckoWriter *writer, guint i)
{
  flam_sink_put_int (writer->out, i);
}

static inline void
flam_gecko_put_id (FlamGeckoWriter *writer, FlamId id)
{
  if (id == FLAM_NONE)
    flam_gecko_put_null (writer, id);
  else
    flam_gecko_put_index (writer, id);
}

static inline void
flam_gecko_put_table (FlamGeckoWriter *writer, const char *name, guint length)
{
  flam_sink_printf (writer->out, "\"%s\":{\"length\":%u", name, length);
}

/* "shared":{…}, after all code that interns texts. */
void flam_gecko_put_shared (FlamGeckoWriter *writer);
