/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-bytes.h"
#include "flam-core-query.h"
#include "flam-cpu-labels.h"
#include "flam-formats.h"
#include "flam-ranges.h"
#include "flam-sysprof-counters.h"

#include <string.h>

/* Sysprof's captures (.syscap), of CPU samples and of memory:
 *
 *    0   u32 0xFDCA975E          then frames, each a multiple of 8 bytes:
 *    4   u8 version, 1            0   u16 length   2 i16 CPU   4 i32 pid
 *    5   bit 0: little-endian     8   i64 time (ns, as the header's)
 *    8   capture time, text[64]  16   u8 type     17 padding to 24
 *    72  i64 time, i64 end time  24   by type:
 *    256 frames
 *
 *    2 sample       u16 n, u16, i32 tid, u64 addresses[n], leaf first
 *    3 map          u64 start, end, offset, inode, text path
 *    4 process      text command line
 *    5 fork         i32 child's pid
 *    7 jit map      u32 n, then n times u64 address, text name
 *    8, 9           counters: flam-sysprof-counters.h
 *    10 mark        i64 duration, text group[24], name[40], message
 *    12 log         u16 severity (GLogLevelFlags), 6 bytes, text domain[32],
 *                   message
 *    14 allocation  u64 address, i64 size (0: released), i32 tid, u16 n, u16,
 *                   u64 addresses[n]
 *
 * The addresses contain marks of the kind of those that follow, as in perf:
 * -128 kernel, -512 user. Return addresses are one more than the call. All else
 * in a capture (files, traces, D-Bus) is skipped and counted, and so are frames
 * that are too short. Source of facts:
 * Sysprof 50, sysprof-capture-types.h. */

#define MAGIC "\x5e\x97\xca\xfd"
#define HEADER 256
#define FRAME 24
#define MAX_COPIED 4000000
#define CONTEXTS (G_MAXUINT64 - 4095)
#define CONTEXT_KERNEL ((guint64)-128)
#define CONTEXT_USER ((guint64)-512)

enum
{
  TIMESTAMP = 1,
  SAMPLE = 2,
  MAP = 3,
  PROCESS = 4,
  FORK = 5,
  EXIT = 6,
  JITMAP = 7,
  DEFINE = 8,
  SET = 9,
  MARK = 10,
  LOG = 12,
  ALLOCATION = 14,
  TRACE = 16,
  DBUS = 17,
};

typedef struct
{
  guint type;
  gint32 cpu; /* -1: unknown */
  gint32 pid;
  gint64 time;
  const guint8 *body; /* after the frame's head */
  gsize length;
} Frame;

typedef struct
{
  FlamProcessId process;
  FlamRanges *maps;
} Process;

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  FlamLedger *ledger;
  FlamCpuLabels *cpus;
  const guint8 *at, *end;
  gboolean short_read;
  GHashTable *processes; /* pid -> Process */
  GHashTable *jit;       /* guint64 -> function + 1 */
  FlamId kernel;         /* module, or FLAM_NONE */
  gint64 start;
  guint64 samples, allocations, unknown_releases;
  FlamSysprofCounters counters;
  guint64 messages, calls,
      others;      /* skipped frames: of D-Bus, of functions, and all others */
  guint64 damaged; /* frames too short for their content */
  guint64 copied;  /* ranges, from parents to children */
} Reader;

/* --- bytes --------------------------------------------------------------- */

static gboolean
next_frame (Reader *reader, Frame *frame)
{
  const guint8 *p = reader->at;
  gsize left = reader->end - p;
  gsize length = left >= FRAME ? flam_bytes_get (p, 2) : 0;

  if (left == 0)
    return FALSE;
  if (length < FRAME || length > left)
    {
      reader->short_read = TRUE;
      return FALSE;
    }
  *frame = (Frame){ .type = p[16],
                    .cpu = (gint16)flam_bytes_get (p + 2, 2),
                    .pid = (gint32)flam_bytes_get (p + 4, 4),
                    .time = (gint64)flam_bytes_get (p + 8, 8),
                    .body = p + FRAME,
                    .length = length - FRAME };
  reader->at = p + length;
  return TRUE;
}

static void
rewind_frames (Reader *reader)
{
  reader->at = reader->load->source->data + HEADER;
  reader->short_read = FALSE;
}

/* The text at `offset`; "" if it is out of range. */
static char *
get_text (const Frame *frame, gsize offset, gsize most)
{
  if (offset >= frame->length)
    return g_strdup ("");
  return g_strndup ((const char *)frame->body + offset,
                    MIN (frame->length - offset, most));
}

/* --- processes ----------------------------------------------------------- */

static void
process_free (gpointer data)
{
  Process *process = data;

  flam_ranges_free (process->maps);
  g_free (process);
}

static Process *
find_process (Reader *reader, gint32 pid)
{
  Process *process =
      g_hash_table_lookup (reader->processes, GINT_TO_POINTER (pid));

  if (process != NULL)
    return process;
  process = g_new0 (Process, 1);
  process->process = flam_builder_process (reader->builder, pid, 0);
  process->maps = flam_ranges_new ();
  g_hash_table_insert (reader->processes, GINT_TO_POINTER (pid), process);
  return process;
}

static void
read_map (Reader *reader, const Frame *frame)
{
  FlamRange range = { 0 };
  g_autofree char *path = get_text (frame, 32, G_MAXSIZE);

  reader->damaged += frame->length < 32;
  if (frame->length < 32 || *path == '\0')
    return;
  range.start = flam_bytes_get (frame->body, 8);
  range.end = flam_bytes_get (frame->body + 8, 8);
  range.offset = flam_bytes_get (frame->body + 16, 8);
  range.value =
      flam_builder_module (reader->builder, path, "", FLAM_ADDRESS_FILE_OFFSET);
  flam_ranges_add (find_process (reader, frame->pid)->maps, &range);
}

/* The command line is the name, without the program's folder. */
static void
read_process (Reader *reader, const Frame *frame)
{
  g_autofree char *command = get_text (frame, 0, G_MAXSIZE);
  gsize program = strcspn (command, " ");
  const char *slash = memrchr (command, '/', program);

  flam_builder_set_process_name (reader->builder,
                                 find_process (reader, frame->pid)->process,
                                 slash != NULL ? slash + 1 : command);
}

static void
read_fork (Reader *reader, const Frame *frame)
{
  Process *parent, *child;

  reader->damaged += frame->length < 4;
  if (frame->length < 4)
    return;
  parent = find_process (reader, frame->pid);
  child = find_process (reader, (gint32)flam_bytes_get (frame->body, 4));
  if (parent == child)
    return;
  flam_builder_set_process_parent (
      reader->builder, child->process, parent->process);
  reader->copied += flam_ranges_get_n (parent->maps);
  if (reader->copied <= MAX_COPIED)
    flam_ranges_copy (child->maps, parent->maps);
  else
    flam_builder_warn (
        reader->builder,
        N_ ("too many forks to track the mappings of all child processes"));
}

static void
read_jit_map (Reader *reader, const Frame *frame)
{
  const guint8 *p = frame->body + 4, *end = frame->body + frame->length;
  guint64 n = frame->length >= 4 ? flam_bytes_get (frame->body, 4) : 0;

  for (; n > 0 && end - p > 8; n--)
    {
      guint64 address = flam_bytes_get (p, 8);
      const guint8 *nul = memchr (p + 8, 0, end - p - 8);
      FlamFunctionId function;

      if (nul == NULL)
        {
          reader->damaged++;
          return;
        }
      function = flam_builder_function_named (
          reader->builder,
          flam_builder_string (
              reader->builder, (const char *)p + 8, nul - p - 8),
          FLAM_KIND_JIT);
      g_hash_table_insert (reader->jit,
                           g_memdup2 (&address, sizeof address),
                           GUINT_TO_POINTER (function + 1));
      p = nul + 1;
    }
}

/* --- stacks -------------------------------------------------------------- */

static FlamFrameId
kernel_frame (Reader *reader, guint64 address)
{
  FlamFunction function = { .kind = FLAM_KIND_UNRESOLVED };

  if (reader->kernel == FLAM_NONE)
    reader->kernel = flam_builder_module (
        reader->builder, "[kernel.kallsyms]", "", FLAM_ADDRESS_ABSOLUTE);
  function.module = reader->kernel;
  return flam_builder_frame_of (reader->builder,
                                &(FlamFunction){ .module = function.module },
                                address,
                                0,
                                0);
}

static FlamFrameId
user_frame (Reader *reader,
            const Process *process,
            guint64 address,
            gboolean call)
{
  FlamId jit = GPOINTER_TO_UINT (g_hash_table_lookup (reader->jit, &address));
  const FlamRange *range;

  if (jit != 0)
    return flam_builder_frame (reader->builder, jit - 1, 0, 0, 0);
  address -= call;
  range = flam_ranges_find (process->maps, address);
  return flam_builder_frame_of (
      reader->builder,
      &(FlamFunction){ .module = range != NULL ? range->value : FLAM_NONE },
      range != NULL ? address - range->start + range->offset : address,
      0,
      0);
}

/* Outermost first means from the end; the mark that precedes an address is
 * found in one forward pass. */
static FlamStackId
read_stack (Reader *reader,
            const Process *process,
            const guint8 *addresses,
            guint n,
            gboolean leaf_is_call)
{
  FlamStackId stack = FLAM_NONE;
  guint first_user = n;

  for (guint i = 0; i < n && first_user == n; i++)
    {
      guint64 address = flam_bytes_get (addresses + 8 * i, 8);
      if (address == CONTEXT_USER || (address < CONTEXTS && address >> 63 == 0))
        first_user = i;
    }
  for (guint i = n; i-- > 0;)
    {
      guint64 address = flam_bytes_get (addresses + 8 * i, 8);
      gboolean leaf =
          i == 0 || flam_bytes_get (addresses + 8 * (i - 1), 8) >= CONTEXTS;
      gboolean call = leaf_is_call || !leaf;
      FlamFrameId frame;

      if (address >= CONTEXTS || address == 0)
        continue;
      frame = i < first_user ? kernel_frame (reader, address - call)
                             : user_frame (reader, process, address, call);
      stack = flam_builder_stack (reader->builder, stack, frame);
    }
  return stack;
}

/* --- weights ------------------------------------------------------------- */

static void
read_sample (Reader *reader, const Frame *frame)
{
  guint n = frame->length >= 8 ? flam_bytes_get (frame->body, 2) : 0;
  const Process *process = find_process (reader, frame->pid);
  FlamSample sample = { .time = frame->time };

  if (frame->length < 8 || n > (frame->length - 8) / 8)
    {
      reader->damaged++;
      return;
    }
  if (frame->cpu >= 0)
    sample.labels = flam_cpu_labels_get (reader->cpus, (guint32)frame->cpu);
  sample.thread =
      flam_builder_thread (reader->builder,
                           process->process,
                           (gint32)flam_bytes_get (frame->body + 4, 4),
                           0);
  sample.stack = read_stack (reader, process, frame->body + 8, n, FALSE);
  flam_builder_add_sample (reader->builder, &sample, NULL);
}

static void
read_allocation (Reader *reader, const Frame *frame)
{
  const Process *process = find_process (reader, frame->pid);
  guint64 address;
  FlamSiteKey key;
  gint64 size;
  guint n;
  FlamThreadId thread;

  n = frame->length < 24 ? 0 : flam_bytes_get (frame->body + 20, 2);
  if (frame->length < 24 || n > (frame->length - 24) / 8)
    {
      reader->damaged++;
      return;
    }
  address = flam_bytes_get (frame->body, 8);
  size = (gint64)flam_bytes_get (frame->body + 8, 8);
  flam_ledger_set_time (reader->ledger, frame->time);
  /* blocks of two processes may have the same address */
  address ^= (guint64)(guint32)frame->pid << 40;
  if (size <= 0)
    {
      if (flam_ledger_release_at (reader->ledger, address, -1) == FLAM_NONE)
        reader->unknown_releases++;
      return;
    }
  thread = flam_builder_thread (reader->builder,
                                process->process,
                                (gint32)flam_bytes_get (frame->body + 16, 4),
                                0);
  key = (FlamSiteKey){ size, FLAM_NONE, thread, 1, FLAM_ALLOCATOR_MALLOC };
  key.stack = read_stack (reader, process, frame->body + 24, n, TRUE);
  flam_ledger_allocate_at (
      reader->ledger, flam_ledger_find_site (reader->ledger, &key), address);
}

/* A mark and a message have a process, but no thread. */
static FlamThreadId
main_thread (Reader *reader, const Frame *frame)
{
  if (frame->pid <= 0)
    return FLAM_NONE;
  return flam_builder_thread (reader->builder,
                              find_process (reader, frame->pid)->process,
                              frame->pid,
                              0);
}

static void
read_mark (Reader *reader, const Frame *frame)
{
  g_autofree char *group = get_text (frame, 8, 24);
  g_autofree char *name = get_text (frame, 32, 40);
  g_autofree char *message = get_text (frame, 72, G_MAXSIZE);
  g_autofree char *whole =
      g_strdup_printf ("%s%s%s%s%s",
                       group,
                       *group != '\0' && *name != '\0' ? ": " : "",
                       name,
                       *g_strchomp (message) != '\0' ? ": " : "",
                       message);

  reader->damaged += frame->length < 72;
  if (frame->length >= 72)
    flam_builder_add_mark (reader->builder,
                           frame->time,
                           (gint64)flam_bytes_get (frame->body, 8),
                           main_thread (reader, frame),
                           whole);
}

/* As GLib prints it: "Gtk-WARNING", "Gtk" of a plain message. */
static const char *
severity_text (guint severity)
{
  return severity & G_LOG_LEVEL_ERROR      ? "-ERROR"
         : severity & G_LOG_LEVEL_CRITICAL ? "-CRITICAL"
         : severity & G_LOG_LEVEL_WARNING  ? "-WARNING"
         : severity & G_LOG_LEVEL_INFO     ? "-INFO"
         : severity & G_LOG_LEVEL_DEBUG    ? "-DEBUG"
                                           : "";
}

static void
read_log (Reader *reader, const Frame *frame)
{
  g_autofree char *domain = get_text (frame, 8, 32);
  g_autofree char *message = get_text (frame, 40, G_MAXSIZE);
  const char *severity =
      frame->length >= 40
          ? severity_text ((guint)flam_bytes_get (frame->body, 2))
          : "";
  g_autofree char *whole =
      g_strdup_printf ("%s%s%s%s",
                       domain,
                       severity,
                       *domain != '\0' || *severity != '\0' ? ": " : "",
                       g_strchomp (message));

  reader->damaged += frame->length < 40;
  if (frame->length >= 40)
    flam_builder_add_mark (
        reader->builder, frame->time, 0, main_thread (reader, frame), whole);
}

static void
read_definition (Reader *reader, const Frame *frame)
{
  flam_sysprof_counters_define (
      &reader->counters, frame->time, frame->body, frame->length);
}

static void
read_values (Reader *reader, const Frame *frame)
{
  flam_sysprof_counters_set (
      &reader->counters, frame->time, frame->body, frame->length);
}

/* --- the two passes ------------------------------------------------------ */

static void
read_header (Reader *reader)
{
  g_autofree char *when =
      g_strndup ((const char *)reader->load->source->data + 8, 64);
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) date = g_date_time_new_from_iso8601 (when, utc);
  const gint64 second = 1000000000;
  gint64 seconds = 0;

  reader->start = (gint64)flam_bytes_get (reader->load->source->data + 72, 8);
  if (date != NULL)
    seconds = g_date_time_to_unix (date);
  if (seconds > 0 && seconds < G_MAXINT64 / second)
    flam_builder_facts (reader->builder)->start_unix_ns = seconds * second;
  flam_builder_set_has_times (reader->builder);
  flam_builder_set_origin (reader->builder, reader->start);
}

/* Reads the measures and the names of compiled code, which may follow its
 * samples. */
static void
first_pass (Reader *reader)
{
  Frame frame;

  rewind_frames (reader);
  while (next_frame (reader, &frame))
    {
      reader->samples += frame.type == SAMPLE;
      reader->allocations += frame.type == ALLOCATION;
      if (frame.type == JITMAP)
        read_jit_map (reader, &frame);
    }
  if (reader->samples > 0 || reader->allocations == 0)
    flam_builder_add_standard_measure (
        reader->builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  if (reader->allocations > 0)
    flam_builder_add_allocation_measures (reader->builder);
}

static void
read_frame (Reader *reader, const Frame *frame)
{
  static void (*const read[]) (Reader * reader, const Frame *frame) = {
    [SAMPLE] = read_sample,
    [MAP] = read_map,
    [PROCESS] = read_process,
    [FORK] = read_fork,
    [DEFINE] = read_definition,
    [SET] = read_values,
    [MARK] = read_mark,
    [LOG] = read_log,
    [ALLOCATION] = read_allocation,
  };

  if (frame->type < G_N_ELEMENTS (read) && read[frame->type] != NULL)
    read[frame->type](reader, frame);
  else if (frame->type == DBUS)
    reader->messages++;
  else if (frame->type == TRACE)
    reader->calls++;
  else if (frame->type != TIMESTAMP && frame->type != EXIT &&
           frame->type != JITMAP)
    reader->others++;
}

static gboolean
second_pass (Reader *reader, GError **error)
{
  Frame frame;
  guint n = 0;

  rewind_frames (reader);
  while (next_frame (reader, &frame))
    {
      read_frame (reader, &frame);
      if (++n % 4096 == 0 && !flam_load_step (reader->load, reader->at, error))
        return FALSE;
    }
  if (reader->short_read)
    flam_load_partial (reader->load,
                       reader->at,
                       N_ ("the capture was cut off or damaged after byte %zu"),
                       (gsize)(reader->at - reader->load->source->data));
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  g_autoptr (FlamLedger) ledger = flam_ledger_new (load->builder);
  Reader reader = { .load = load,
                    .builder = load->builder,
                    .ledger = ledger,
                    .end = load->source->data + load->source->size,
                    .processes =
                        flam_arena_table (load, FLAM_KEY_DIRECT, process_free),
                    .jit = flam_arena_table (load, FLAM_KEY_NUMBER, NULL),
                    .kernel = FLAM_NONE };

  if (load->source->size < HEADER || load->source->data[4] != 1 ||
      (load->source->data[5] & 1) == 0)
    return flam_source_error (
        load->source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        FLAM_NO_OFFSET,
        N_ ("not a little-endian Sysprof capture of version 1"));
  reader.cpus = flam_cpu_labels_new (load);
  flam_sysprof_counters_init (&reader.counters, load);
  read_header (&reader);
  first_pass (&reader);
  flam_ledger_begin (ledger, reader.start);
  if (!second_pass (&reader, error))
    return FALSE;
  flam_sysprof_counters_finish (&reader.counters, load->builder);
  flam_builder_warn_count (load->builder,
                           reader.messages,
                           "%" PRIu64 " message of D-Bus is not shown",
                           "%" PRIu64 " messages of D-Bus are not shown");
  flam_builder_warn_count (load->builder,
                           reader.calls,
                           "%" PRIu64 " traced call is not shown",
                           "%" PRIu64 " traced calls are not shown");
  flam_builder_warn_count (
      load->builder,
      reader.others,
      "%" PRIu64 " piece of a file or of other data is not shown",
      "%" PRIu64 " pieces of files or of other data are not shown");
  flam_builder_warn_count (load->builder,
                           reader.damaged,
                           "%" PRIu64 " frame was damaged and left out",
                           "%" PRIu64 " frames were damaged and left out");
  flam_builder_warn_count (
      load->builder,
      reader.unknown_releases,
      "%" PRIu64 " release of a block whose allocation is not "
      "in the file was left out",
      "%" PRIu64 " releases of blocks whose allocation is not "
      "in the file were left out");
  if (!flam_ledger_finish (ledger, reader.start, error))
    return FALSE;
  flam_builder_fold_memory (load->builder);
  return TRUE;
}

const FlamImporter flam_import_sysprof = {
  .id = "sysprof",
  .label = "Sysprof",
  .written_by = "Sysprof",
  .suffixes = FLAM_LIST (".syscap"),
  .mime = { .type = "application/x-sysprof-capture",
            .name = "Sysprof capture",
            .globs = FLAM_LIST ("*.syscap") },
  .signs = FLAM_SIGNS ({ FLAM_MAGIC (MAGIC), .least = HEADER, .score = 100 }),
  .load = load,
  .grows = TRUE,
};
