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
 * Systems.
 *
 * Only plain tables are read, and no more rows than fit into the file: views
 * and damaged trees of pages could have any number of them. */

#include "flam-formats.h"
#include "flam-text.h"
#include "flam-trace-spans.h"

#include <sqlite3.h>

#define MAGIC "SQLite format 3\0"
/* The smallest row has a length, an id, a head and a byte. */
#define LEAST_ROW 4
#define STEP 100000
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
  FlamLoad *load;
  FlamBuilder *builder;
  sqlite3 *base;
  FlamTraceSpans spans;
  GHashTable *names; /* of StringIds -> string + 1 */
  guint64 rows;      /* read so far, of `most` */
  guint64 most;
  GError *cancelled;
  guint64 marks;
} Nsight;

/* --- the database -------------------------------------------------------- */

/* In memory, read only, and without the functions that a schema can call. */
static sqlite3 *
open_base (const FlamSource *source)
{
  sqlite3 *base = NULL;

  if (sqlite3_open_v2 (":memory:",
                       &base,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY,
                       NULL) != SQLITE_OK ||
      sqlite3_deserialize (base,
                           "main",
                           (unsigned char *)source->data,
                           (sqlite3_int64)source->size,
                           (sqlite3_int64)source->size,
                           SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    {
      sqlite3_close (base);
      return NULL;
    }
  sqlite3_db_config (base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (base, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (base, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_db_config (base, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit (base, SQLITE_LIMIT_LENGTH, 1 << 24);
  return base;
}

static void
close_base (gpointer base)
{
  sqlite3_close (base);
}

static gboolean
has_table (sqlite3 *base, const char *name)
{
  static const char sql[] =
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 "
      "AND rootpage > 0";
  sqlite3_stmt *statement = NULL;
  gboolean has =
      sqlite3_prepare_v2 (base, sql, -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_bind_text (statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
      sqlite3_step (statement) == SQLITE_ROW;

  sqlite3_finalize (statement);
  return has;
}

static int
tell (gpointer data)
{
  Nsight *nsight = data;

  return !flam_progress_step (nsight->load->options->progress,
                              MIN ((double)nsight->rows / nsight->most, 1.0),
                              &nsight->cancelled);
}

/* Calls read() for each row. FALSE: cancelled. */
static gboolean
each_row (Nsight *nsight,
          const char *table,
          const char *columns,
          void (*read) (Nsight *nsight, sqlite3_stmt *row, gpointer data),
          gpointer data)
{
  g_autofree char *sql = g_strdup_printf ("SELECT %s FROM %s", columns, table);
  sqlite3_stmt *statement = NULL;
  int status;

  if (!has_table (nsight->base, table))
    return TRUE;
  status = sqlite3_prepare_v2 (nsight->base, sql, -1, &statement, NULL);
  while (status == SQLITE_OK || status == SQLITE_ROW)
    {
      status = sqlite3_step (statement);
      if (status != SQLITE_ROW)
        break;
      if (nsight->rows++ >= nsight->most)
        {
          status = SQLITE_CORRUPT;
          break;
        }
      read (nsight, statement, data);
    }
  if (status != SQLITE_DONE && nsight->cancelled == NULL)
    flam_builder_warn (
        nsight->builder,
        N_ ("the table %s cannot be read: %s"),
        table,
        status == SQLITE_CORRUPT ? "damaged" : sqlite3_errmsg (nsight->base));
  sqlite3_finalize (statement);
  return nsight->cancelled == NULL;
}

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
read_name (Nsight *nsight, sqlite3_stmt *row, gpointer data)
{
  const char *text = (const char *)sqlite3_column_text (row, 1);

  if (text != NULL)
    g_hash_table_insert (
        nsight->names,
        GSIZE_TO_POINTER ((gsize)sqlite3_column_int64 (row, 0)),
        GUINT_TO_POINTER (1 + flam_builder_string (nsight->builder, text, -1)));
}

static void
read_process (Nsight *nsight, sqlite3_stmt *row, gpointer data)
{
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
read_thread_name (Nsight *nsight, sqlite3_stmt *row, gpointer data)
{
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
read_event (Nsight *nsight, sqlite3_stmt *row, gpointer data)
{
  Where where = (Where)GPOINTER_TO_UINT (data);

  if (where == AS_NVTX)
    read_nvtx (nsight, row);
  else
    flam_trace_spans_add (
        &nsight->spans,
        where == ON_STREAM
            ? stream_of (nsight, row)
            : thread_of (nsight, sqlite3_column_int64 (row, OWNER)),
        name_of (nsight, row),
        time_of (nsight, row, START),
        time_of (nsight, row, END));
}

static void
count_sample (Nsight *nsight, sqlite3_stmt *row, gpointer data)
{
  *(guint64 *)data = (guint64)MAX (sqlite3_column_int64 (row, 0), 0);
}

/* --- all ----------------------------------------------------------------- */

static gboolean
read_tables (Nsight *nsight)
{
  guint64 samples = 0;

  if (!each_row (nsight, "StringIds", "id, value", read_name, NULL) ||
      !each_row (nsight, "PROCESSES", "globalPid, name", read_process, NULL) ||
      !each_row (
          nsight, "ThreadNames", "nameId, globalTid", read_thread_name, NULL) ||
      !each_row (
          nsight, "COMPOSITE_EVENTS", "count(*)", count_sample, &samples))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    if (!each_row (nsight,
                   tables[i].table,
                   tables[i].columns,
                   read_event,
                   GUINT_TO_POINTER (tables[i].where)))
      return FALSE;
  flam_builder_warn_count (nsight->builder,
                           samples,
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

  nsight->load = load;
  nsight->builder = builder;
  nsight->most = load->source->size / LEAST_ROW + 1;
  nsight->names = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  nsight->base = open_base (load->source);
  if (nsight->base == NULL)
    return flam_source_invalid (
        load->source, error, N_ ("this database cannot be opened"));
  flam_arena_keep (load, nsight->base, close_base);
  sqlite3_progress_handler (nsight->base, STEP, tell, nsight);
  flam_builder_set_has_times (builder);
  flam_builder_set_spans (builder,
                          flam_load_measures (builder,
                                              FLAM_STANDARD_WALL_TIME,
                                              FLAM_STANDARD_CALLS),
                          FLAM_SPANS_CALLS);
  flam_trace_spans_init (&nsight->spans, load);
  if (!read_tables (nsight))
    {
      g_propagate_error (error, nsight->cancelled);
      return FALSE;
    }
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

static guint
probe (const FlamSource *source)
{
  sqlite3 *base;
  gboolean is_nsight;

  if (source->size < 100 || memcmp (source->data, MAGIC, sizeof MAGIC - 1) != 0)
    return 0;
  /* Only its head is unpacked so far. */
  if (source->unpack != NULL)
    return 50;
  base = open_base (source);
  is_nsight =
      base != NULL && has_table (base, "StringIds") &&
      (has_table (base, "NVTX_EVENTS") || has_table (base, "OSRT_API") ||
       has_table (base, "CUPTI_ACTIVITY_KIND_RUNTIME") ||
       has_table (base, "CUPTI_ACTIVITY_KIND_KERNEL") ||
       has_table (base, "MPI_OTHER_EVENTS"));
  sqlite3_close (base);
  return is_nsight ? 95 : 0;
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
