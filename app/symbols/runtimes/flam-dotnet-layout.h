/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DOTNET_LAYOUT_H
#define FLAM_DOTNET_LAYOUT_H

/* Where the members of .NET's own structures are: by version up to 8, and by
 * the descriptor that the runtime has in itself from 9 on, a JSON document:
 *
 *   {"types":{"Module":{"Base":224, "Path":200, ...}, "RangeSection":{...}},
 *    "globals":{"MethodDescTokenRemainderBitCount":["0xc","uint8"], ...},
 *    "contracts":{"ExecutionManager":2, ...}}
 *
 * That of 9 has only the types of some parts of the runtime. Sources:
 * dotnet/runtime's docs/design/datacontracts, dotnet/coreclr v3.1.2's
 * src/vm/codeman.h, method.hpp, methodtable.h, ceeload.h; for 6 to 9 the tables
 * of the OpenTelemetry eBPF profiler. */

#include "flam-runtime-memory.h"

#include <glib.h>

/* Offsets in bytes. */
typedef struct
{
  guint32 version; /* 3 (.NET Core 3.1), 6 to 10 */
  bool offsets;    /* pointers in g_dacTable are offsets from the library */
  bool tree;       /* of ranges; else a list */
  bool far_starts; /* of code: the map of a heap also has addresses in it */
  guint16 section_next;
  guint16 section_flags;
  guint16 section_module;
  guint16 section_heap;
  guint16 heap_base;
  guint16 heap_map;
  guint16 header_debug; /* how instructions were compiled */
  guint16 header_method;
  guint16 header_count; /* of unwind information, which follows */
  guint16 header_infos;
  guint16 token_bits;
  guint16 chunk_size;
  guint16 chunk_range;
  guint16 table_module;
  guint16 module_name;
  guint16 module_base; /* 0: not known */
  guint16 dynamic_name;
} FlamDotnetLayout;

#define FLAM_DOTNET_DESCRIPTOR_MAX (64u << 10)

/* FALSE: not one of these versions. */
gboolean flam_dotnet_layout_init (FlamDotnetLayout *layout, guint32 version);
/* Takes what the descriptor has. FALSE: something is missing or impossible. */
gboolean flam_dotnet_layout_describe (FlamDotnetLayout *layout,
                                      const char *json,
                                      gsize size);

#endif
