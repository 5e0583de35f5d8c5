/* SPDX-License-Identifier: GPL-3.0-or-later */

/* SQLite databases of Nsight Systems, from `nsys export --type sqlite`:
 *
 *    StringIds                id, value: all names
 *    CUPTI_ACTIVITY_KIND_…    start, end, deviceId, streamId: work of a GPU
 *    NVTX_EVENTS, MPI_…,      start, end, globalTid: calls and ranges of a
 *    OSRT_API, …              thread, which may call one another
 *
 * The work of each stream is a lane, as are the calls of each thread. A
 * globalTid is 8 bits hardware, 8 bits virtual machine, 24 bits process, 24
 * bits thread. Source: the SQLite schema reference in the manual of Nsight
 * Systems. */

#include "flam-formats.h"
#include "flam-sqlite.h"
#include "flam-text.h"
#include "flam-trace-spans.h"

#define LIMIT (G_MAXINT64 / 4)

typedef enum
{
  ON_THREAD,
  ON_STREAM,
  AS_NVTX,
} Where;

enum
{
  START,
  END,
  OWNER, /* globalTid or globalPid */
  NAME,  /* in StringIds */
  TEXT,
  TYPE,
  DEVICE,
  STREAM,
};

/* Types of NVTX events. */
enum
{
  NVTX_MARK = 34,
  NVTX_PUSH_POP = 59,
  NVTX_START_END = 60,
};

static const struct
{
  const char *table;
  Where where;
  const char *columns; /* START to STREAM */
} tables[] = {
  { "CUPTI_ACTIVITY_KIND_KERNEL",
    ON_STREAM,
    "start, end, globalPid, demangledName, NULL, 0, deviceId, streamId" },
  { "CUPTI_ACTIVITY_KIND_MEMCPY",
    ON_STREAM,
    "start, end, globalPid, NULL, 'memcpy', copyKind, deviceId, streamId" },
  { "CUPTI_ACTIVITY_KIND_MEMSET",
    ON_STREAM,
    "start, end, globalPid, NULL, 'memset', 0, deviceId, streamId" },
  { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    ON_STREAM,
    "start, end, globalPid, NULL, 'CUDA graph', 0, deviceId, streamId" },
  { "CUPTI_ACTIVITY_KIND_RUNTIME",
    ON_THREAD,
    "start, end, globalTid, nameId, NULL, 0" },
  { "CUPTI_ACTIVITY_KIND_DRIVER",
    ON_THREAD,
    "start, end, globalTid, nameId, NULL, 0" },
  { "NVTX_EVENTS", AS_NVTX, "start, end, globalTid, textId, text, eventType" },
  { "MPI_P2P_EVENTS", ON_THREAD, "start, end, globalTid, textId, NULL, 0" },
  { "MPI_START_WAIT_EVENTS",
    ON_THREAD,
    "start, end, globalTid, textId, NULL, 0" },
  { "MPI_COLLECTIVES_EVENTS",
    ON_THREAD,
    "start, end, globalTid, textId, NULL, 0" },
  { "MPI_OTHER_EVENTS", ON_THREAD, "start, end, globalTid, textId, NULL, 0" },
  { "OSRT_API", ON_THREAD, "start, end, globalTid, nameId, NULL, 0" },
  { "CUBLAS_EVENTS", ON_THREAD, "start, end, globalTid, nameId, NULL, 0" },
  { "CUDNN_EVENTS", ON_THREAD, "start, end, globalTid, nameId, NULL, 0" },
};

/* The first of CUPTI's kinds of copies. */
static const char *const copies[] = {
  "memcpy",
  "memcpy host to device",
  "memcpy device to host",
  "memcpy host to array",
  "memcpy array to host",
  "memcpy array to array",
  "memcpy array to device",
  "memcpy device to array",
  "memcpy device to device",
  "memcpy host to host",
  "memcpy peer to peer",
};

typedef struct
{
  FlamBuilder *builder;
  FlamSqlite *base;
  FlamTraceSpans spans;
  GHashTable *names; /* of StringIds -> string + 1 */
  Where where;       /* of the table that is read */
  guint64 samples;
  guint64 marks;
} Nsight;

/* --- who ----------------------------------------------------------------- */

static FlamProcessId
process_of (Nsight *nsight, gint64 owner)
{
  return flam_builder_process (
      nsight->builder, (gint32)(owner >> 24 & 0xffffff), 0);
}

static FlamThreadId
thread_of (Nsight *nsight, gint64 owner)
{
  return flam_builder_thread (nsight->builder,
                              process_of (nsight, owner),
                              (gint32)(owner & 0xffffff),
                              0);
}

static FlamThreadId
named_lane (Nsight *nsight, gint64 owner, const char *name)
{
  FlamThreadId thread = flam_builder_thread_keyed (
      nsight->builder,
      process_of (nsight, owner),
      flam_builder_string (nsight->builder, name, -1));

  flam_builder_set_thread_name (nsight->builder, thread, name);
  return thread;
}

static FlamThreadId
stream_of (Nsight *nsight, sqlite3_stmt *row)
{
  g_autofree char *name = g_strdup_printf ("GPU %d, stream %d",
                                           sqlite3_column_int (row, DEVICE),
                                           sqlite3_column_int (row, STREAM));

  return named_lane (nsight, sqlite3_column_int64 (row, OWNER), name);
}

/* --- rows ---------------------------------------------------------------- */

static void
read_name (sqlite3_stmt *row, gpointer data)
{
  Nsight *nsight = data;
  const char *text = (const char *)sqlite3_column_text (row, 1);

  if (text != NULL)
    g_hash_table_insert (
        nsight->names,
        GSIZE_TO_POINTER ((gsize)sqlite3_column_int64 (row, 0)),
        GUINT_TO_POINTER (1 + flam_builder_string (nsight->builder, text, -1)));
}

static void
read_process (sqlite3_stmt *row, gpointer data)
{
  Nsight *nsight = data;
  const char *name = (const char *)sqlite3_column_text (row, 1);

  if (name != NULL && *name != '\0')
    flam_builder_set_process_name (
        nsight->builder,
        process_of (nsight, sqlite3_column_int64 (row, 0)),
        name);
}

static FlamStringId
find_name (Nsight *nsight, gint64 id)
{
  guint found = GPOINTER_TO_UINT (
      g_hash_table_lookup (nsight->names, GSIZE_TO_POINTER ((gsize)id)));

  return found != 0 ? found - 1 : 0;
}

static void
read_thread_name (sqlite3_stmt *row, gpointer data)
{
  Nsight *nsight = data;
  FlamStringId name = find_name (nsight, sqlite3_column_int64 (row, 0));

  if (name != 0)
    flam_builder_set_thread_name (
        nsight->builder,
        thread_of (nsight, sqlite3_column_int64 (row, 1)),
        flam_builder_get_string (nsight->builder, name));
}

static FlamStringId
name_of (Nsight *nsight, sqlite3_stmt *row)
{
  const char *text = (const char *)sqlite3_column_text (row, TEXT);
  FlamStringId name = find_name (nsight, sqlite3_column_int64 (row, NAME));
  int type = sqlite3_column_int (row, TYPE);

  if (name != 0 && sqlite3_column_type (row, NAME) != SQLITE_NULL)
    return name;
  if (text == NULL)
    text = "[unnamed]";
  else if (strcmp (text, copies[0]) == 0 && type > 0 &&
           type < (int)G_N_ELEMENTS (copies))
    text = copies[type];
  return flam_builder_string (nsight->builder, text, -1);
}

static gint64
time_of (const Nsight *nsight, sqlite3_stmt *row, int column)
{
  return flam_builder_limit (
      nsight->builder, sqlite3_column_int64 (row, column), 0, LIMIT, NULL);
}

static void
read_nvtx (Nsight *nsight, sqlite3_stmt *row)
{
  gint64 owner = sqlite3_column_int64 (row, OWNER);
  gboolean open = sqlite3_column_type (row, END) == SQLITE_NULL;
  FlamThreadId thread;

  switch (sqlite3_column_int (row, TYPE))
    {
    case NVTX_MARK:
      nsight->marks++;
      flam_builder_add_mark (
          nsight->builder,
          time_of (nsight, row, START),
          0,
          thread_of (nsight, owner),
          flam_builder_get_string (nsight->builder, name_of (nsight, row)));
      return;
    case NVTX_PUSH_POP:
      thread = thread_of (nsight, owner);
      break;
    case NVTX_START_END:
      thread = named_lane (nsight, owner, "NVTX ranges");
      break;
    default:
      return;
    }
  flam_trace_spans_add (&nsight->spans,
                        thread,
                        name_of (nsight, row),
                        time_of (nsight, row, START),
                        open ? G_MAXINT64 : time_of (nsight, row, END));
}

static void
read_event (sqlite3_stmt *row, gpointer data)
{
  Nsight *nsight = data;

  if (nsight->where == AS_NVTX)
    read_nvtx (nsight, row);
  else
    flam_trace_spans_add (
        &nsight->spans,
        nsight->where == ON_STREAM
            ? stream_of (nsight, row)
            : thread_of (nsight, sqlite3_column_int64 (row, OWNER)),
        name_of (nsight, row),
        time_of (nsight, row, START),
        time_of (nsight, row, END));
}

static void
count_samples (sqlite3_stmt *row, gpointer data)
{
  Nsight *nsight = data;

  nsight->samples = (guint64)MAX (sqlite3_column_int64 (row, 0), 0);
}

/* --- all ----------------------------------------------------------------- */

/* FALSE: cancelled. */
static gboolean
read_tables (Nsight *nsight)
{
  FlamSqlite *base = nsight->base;

  if (!flam_sqlite_each (base, "StringIds", "id, value", read_name, nsight) ||
      !flam_sqlite_each (
          base, "PROCESSES", "globalPid, name", read_process, nsight) ||
      !flam_sqlite_each (
          base, "ThreadNames", "nameId, globalTid", read_thread_name, nsight) ||
      !flam_sqlite_each (
          base, "COMPOSITE_EVENTS", "count(*)", count_samples, nsight))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      nsight->where = tables[i].where;
      if (!flam_sqlite_each (
              base, tables[i].table, tables[i].columns, read_event, nsight))
        return FALSE;
    }
  flam_builder_warn_count (nsight->builder,
                           nsight->samples,
                           "%" PRIu64 " CPU sample beside the calls is not "
                           "shown",
                           "%" PRIu64 " CPU samples beside the calls are not "
                           "shown");
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Nsight *nsight = flam_arena_new (load, Nsight);
  FlamBuilder *builder = load->builder;

  nsight->builder = builder;
  nsight->names = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  nsight->base = flam_sqlite_open (load, error);
  if (nsight->base == NULL)
    return FALSE;
  flam_builder_set_has_times (builder);
  flam_builder_set_spans (builder,
                          flam_load_measures (builder,
                                              FLAM_STANDARD_WALL_TIME,
                                              FLAM_STANDARD_CALLS),
                          FLAM_SPANS_CALLS);
  flam_trace_spans_init (&nsight->spans, load);
  if (!read_tables (nsight))
    return flam_sqlite_end (nsight->base, error);
  if (flam_trace_spans_close (&nsight->spans) == 0)
    return flam_source_invalid (
        load->source,
        error,
        N_ ("this database has no kernels, calls or ranges of Nsight "
            "Systems"));
  flam_trace_spans_make_samples (&nsight->spans, TRUE);
  flam_builder_warn_count (
      builder,
      nsight->spans.open,
      "%" PRIu64 " range does not end in the trace: it is shown until the end",
      "%" PRIu64
      " ranges do not end in the trace: they are shown until the end");
  return TRUE;
}

/* One of these, beside the names. */
static const char *const kinds[] = {
  "NVTX_EVENTS",
  "OSRT_API",
  "CUPTI_ACTIVITY_KIND_RUNTIME",
  "MPI_OTHER_EVENTS",
  "CUPTI_ACTIVITY_KIND_KERNEL",
};

static guint
probe (const FlamSource *source)
{
  if (flam_sqlite_is_packed (source))
    return 50;
  if (!flam_sqlite_has_tables (source, FLAM_LIST ("StringIds")))
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (flam_sqlite_has_tables (source, FLAM_LIST (kinds[i])))
      return 95;
  return 0;
}

const FlamImporter flam_import_nsight = {
  .id = "nsight",
  .label = "Nsight Systems",
  .written_by = "nsys export --type sqlite",
  .suffixes = FLAM_LIST (".sqlite", ".db"),
  .mime_types = FLAM_LIST ("application/vnd.sqlite3"),
  .probe = probe,
  .load = load,
};
