/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A Perfetto trace: a series of packets of many writers (sequences).
 *
 *    Trace        1 TracePacket …
 *    TracePacket  8 time   10 sequence   13 state cleared   12 interned data
 *                 66 PerfSample             a stack sampled     -> CPU samples
 *                 54 StreamingProfilePacket stacks of one thread -> the same
 *                 37 ProfilePacket          heapprofd           -> memory
 *                 11 TrackEvent             begin, end, moment  -> spans, marks
 *                 2, 43, 44, 60             names of processes, threads, tracks
 *                 6 ClockSnapshot           what the sequences' clocks mean
 *                 50                        packets, compressed
 *
 * If there are stacks, they are shown and not the spans. heapprofd's dumps
 * count from the beginning, so the last one is used. Source: the comments of
 * perfetto's protos. */

#include "flam-formats.h"

#include "flam-perfetto-events.h"

#include <gio/gio.h>
#include <string.h>

#define PROGRESS_BYTES (1 << 20)
/* The greatest size of all unpacked packets, in bytes and in multiples of the
 * file's size: valid ones grow tenfold. */
#define UNPACKED_FREE (16 << 20)
#define UNPACKED_FACTOR 64

/* --- packets ------------------------------------------------------------- */

static void
read_packet (FlamPerfetto *trace, FlamProto proto)
{
  FlamPerfettoPacket packet = { .clock = FLAM_PERFETTO_DEFAULT_CLOCK };
  FlamProto all = proto;
  gboolean cleared = FALSE;

  while (flam_proto_next (&all))
    switch (all.number)
      {
      case 8:
        packet.time = all.value;
        packet.has_time = TRUE;
        break;
      case 10:
        packet.sequence_id = all.value;
        break;
      case 13:
        cleared = (all.value & 1) != 0;
        break;
      case 41: /* incremental_state_cleared, before it was a flag */
        cleared |= all.value != 0;
        break;
      case 58:
        packet.clock = all.value;
        break;
      default:
        break;
      }
  trace->bad += all.bad;
  flam_perfetto_begin (trace, &packet, cleared, proto);
  while (flam_proto_next (&proto))
    if (proto.wire == 2)
      flam_perfetto_read (
          trace, &packet, proto.number, flam_proto_inner (&proto));
}

static GBytes *
unpack (const guint8 *bytes, gsize length, guint64 most)
{
  g_autoptr (GZlibDecompressor) zlib =
      g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB);
  g_autoptr (GByteArray) out = g_byte_array_new ();
  guint8 buffer[16 << 10];
  gsize at = 0;
  GConverterResult result = G_CONVERTER_CONVERTED;

  while (result == G_CONVERTER_CONVERTED && out->len < most)
    {
      gsize taken = 0, made = 0;

      result = g_converter_convert (G_CONVERTER (zlib),
                                    bytes + at,
                                    length - at,
                                    buffer,
                                    sizeof buffer,
                                    G_CONVERTER_INPUT_AT_END,
                                    &taken,
                                    &made,
                                    NULL);
      at += taken;
      g_byte_array_append (out, buffer, made);
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

/* Packets in a packet: its field 50, which is a Trace again. */
static void
read_compressed (FlamPerfetto *trace, FlamProto packet, guint64 *left)
{
  while (flam_proto_next (&packet))
    if (packet.number == 50 && packet.wire == 2)
      {
        g_autoptr (GBytes) bytes =
            unpack (packet.bytes, packet.length, MIN (*left, G_MAXUINT32 / 2));
        FlamProto inner = flam_proto_init (g_bytes_get_data (bytes, NULL),
                                           g_bytes_get_size (bytes));

        *left -= MIN (*left, g_bytes_get_size (bytes));
        while (flam_proto_next (&inner))
          if (inner.number == 1 && inner.wire == 2)
            read_packet (trace, flam_proto_inner (&inner));
        trace->bad += inner.bad || g_bytes_get_size (bytes) == 0;
      }
}

static gboolean
read_packets (FlamPerfetto *trace, FlamLoad *load, GError **error)
{
  const FlamSource *source = load->source;
  FlamProto all = flam_proto_init (source->data, source->size);
  const guint8 *next_step = source->data;
  guint64 left = UNPACKED_FREE + UNPACKED_FACTOR * (guint64)source->size;

  while (flam_proto_next (&all))
    {
      if (all.at >= next_step)
        {
          next_step = all.at + PROGRESS_BYTES;
          if (!flam_load_step (load, all.at, error))
            return FALSE;
        }
      if (all.number != 1 || all.wire != 2)
        continue;
      read_packet (trace, flam_proto_inner (&all));
      read_compressed (trace, flam_proto_inner (&all), &left);
    }
  if (all.bad)
    flam_load_partial (load,
                       NULL,
                       N_ ("the trace ends within a packet, or its last part "
                           "is not a Perfetto trace"));
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamPerfetto *trace = flam_arena_new (load, FlamPerfetto);

  flam_perfetto_init (trace, load);
  if (!read_packets (trace, load, error))
    return FALSE;
  return flam_perfetto_finish (trace) ||
         flam_source_invalid (
             load->source,
             error,
             N_ ("this Perfetto trace has no stacks and no slices; record call "
                 "stacks (linux.perf), allocations (android.heapprofd) or "
                 "track events"));
}

/* --- probe --------------------------------------------------------------- */

/* A field that packets have, and that other messages lack in that place. */
static gboolean
is_packet (FlamProto packet)
{
  gboolean known = FALSE;

  while (flam_proto_next (&packet))
    {
      known |=
          (packet.number == 36 && packet.wire == 2 && packet.length == 16) ||
          (packet.number == 10 && packet.wire == 0) ||
          (packet.number == 8 && packet.wire == 0) ||
          (packet.number == 60 && packet.wire == 2) ||
          (packet.number == 50 && packet.wire == 2);
      if (packet.number == 0 || packet.number > 2000)
        return FALSE;
    }
  return known && !packet.bad;
}

static guint
probe (const FlamSource *source)
{
  FlamProto all =
      flam_proto_init (source->data, MIN (source->size, (gsize)1 << 20));
  guint packets = 0;

  if (source->size < 4 || source->data[0] != 0x0a)
    return 0;
  while (packets < 4 && flam_proto_next (&all))
    {
      if (all.number != 1 || all.wire != 2 ||
          !is_packet (flam_proto_inner (&all)))
        return 0;
      packets++;
    }
  return packets > 0 ? 75 : 0;
}

const FlamImporter flam_import_perfetto = {
  .id = "perfetto",
  .label = "Perfetto",
  .written_by = "Perfetto, Android's tracing service",
  .suffixes = FLAM_LIST (".perfetto-trace", ".pftrace", ".perfetto"),
  .mime = { .type = "application/x-perfetto",
            .name = "Perfetto trace",
            .globs = FLAM_LIST ("*.perfetto-trace", "*.pftrace") },
  .probe = probe,
  .load = load,
  .grows = TRUE,
};
