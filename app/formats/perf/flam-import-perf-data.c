/* SPDX-License-Identifier: GPL-3.0-or-later */

/* perf.data -> profile: records in order of time update the address maps, and
 * samples are added to the builder.
 *
 *   file ──▶ reader ──▶ queue (by time) ──┬─▶ MMAP COMM FORK ──▶ processes
 *                                         └─▶ SAMPLE ──▶ stacks ──▶ builder
 *
 * Every event is a separate measure, weighted by period, which counts the
 * events since the sample before: a sample is a moment. The weight of samples
 * without one is the event's fixed period, or 1. Allocations of the kernel
 * (kmem:kmalloc and the like) weigh their bytes.
 *
 * The time that a thread is off its CPU is a measure of the stack at which it
 * left, and its state is the reason. With -e sched:sched_switch, a sample has
 * that stack and the thread that comes; with --switch-events, the kernel
 * records the thread's return, too:
 *
 *    SAMPLE sched_switch   SWITCH out  · · · · ·  SWITCH in
 *    the stack             |------- its weight -------|
 *
 * Without the records it returns where it is the one that comes, and without
 * the samples its stack is unknown. Hotspot and perf sched timehist define the
 * time alike. */

#include "flam-core-query.h"
#include "flam-cpu-labels.h"
#include "flam-formats.h"
#include "flam-perf-processes.h"
#include "flam-perf-stacks.h"

#define STEP 128 /* records between two reports of progress */

typedef struct
{
  const FlamLoad *load;
  FlamPerfFile *file;
  FlamPerfReader *reader;
  FlamPerfModules *modules;
  FlamPerfProcesses *processes;
  FlamPerfStacks *stacks;
  FlamBuilder *builder;
  GHashTable *counted; /* id of an event in a group -> its last value */
  GHashTable *leaving; /* tid -> Leaving; NULL: no event or record of it */
  gboolean records;    /* of switches */
  gboolean bare;       /* without the stacks of sched_switch */
  FlamId clock;        /* the first event of time, beside `leaving`, or NONE */
  FlamCpuLabels *cpus;
  guint64 n_samples;
  guint64 n_bad;
  guint64 n_throttled;
  guint64 n_endless;  /* waits */
  gint64 first, last; /* the range of all records with a time; 0: none */
} Import;

/* A thread's last sample of sched_switch, until the thread is back. */
typedef struct
{
  FlamSample row;
  guint64 count;
  guint64 left;   /* when it left its CPU; 0: not yet */
  gboolean known; /* `row.state` is the kernel's */
} Leaving;

static guint
probe (const FlamSource *source)
{
  return flam_perf_file_probe (source) ? 100 : 0;
}

/* --- measures ------------------------------------------------------------ */

/* The counts of cpu-clock and task-clock are nanoseconds. */
static FlamUnit
unit_of (const FlamPerfEvent *event)
{
  if (event->bytes_at > 0)
    return FLAM_UNIT_BYTES;
  return event->type == 1 && event->config <= 1 ? FLAM_UNIT_NS
                                                : FLAM_UNIT_COUNT;
}

static gboolean
is_switch (const FlamPerfEvent *event)
{
  return event->next_at > 0 || g_str_equal (event->name, "sched:sched_switch");
}

static void
find_switches (Import *import, FlamLoad *load)
{
  gboolean stacks = FALSE, comes = FALSE;

  import->clock = FLAM_NONE;
  for (guint i = import->file->events->len; i-- > 0;)
    {
      const FlamPerfEvent *event = g_ptr_array_index (import->file->events, i);

      stacks |= is_switch (event);
      comes |= event->next_at > 0;
      import->records |= (event->flags & FLAM_PERF_FLAG_SWITCHES) != 0;
      if (unit_of (event) == FLAM_UNIT_NS)
        import->clock = i;
    }
  import->bare = import->records && !stacks;
  if (import->records || comes)
    import->leaving = flam_arena_table (load, FLAM_KEY_DIRECT, g_free);
  else
    import->clock = FLAM_NONE;
}

/* "cycles:u" -> "cycles-u"; equal names get numbers. */
static char *
measure_id (const FlamPerfFile *file, guint event)
{
  const FlamPerfEvent *this = g_ptr_array_index (file->events, event);
  guint same = 1;

  for (guint i = 0; i < event; i++)
    {
      const FlamPerfEvent *other = g_ptr_array_index (file->events, i);
      same += g_str_equal (other->name, this->name);
    }
  return same > 1 ? g_strdup_printf ("%s-%u", this->name, same)
                  : g_strdup (this->name);
}

/* Each one is an interval that begins at its time. */
static void
add_off_cpu (Import *import)
{
  guint measure =
      flam_builder_add_measure (import->builder,
                                "off-cpu",
                                N_ ("Off-CPU time"),
                                FLAM_UNIT_NS,
                                FLAM_MEASURE_CPU,
                                flam_builder_add_column (import->builder),
                                FLAM_NONE);

  flam_builder_set_spans (import->builder, measure, FLAM_SPANS_SAMPLES);
}

/* The first event is the default measure, or the time between switches if these
 * are; then the rest, and the number of samples. "dummy" only carries records
 * of mappings. */
static void
add_measures (Import *import)
{
  const FlamPerfFile *file = import->file;
  guint n = file->events->len;
  gboolean first = import->leaving != NULL &&
                   is_switch (g_ptr_array_index (file->events, 0));

  flam_builder_add_column (import->builder);
  if (first)
    add_off_cpu (import);
  for (guint i = 0; i < n; i++)
    {
      const FlamPerfEvent *event = g_ptr_array_index (file->events, i);
      g_autofree char *id = measure_id (file, i);

      if (n > 1 && event->type == 1 && event->config == 9)
        continue;
      flam_builder_add_measure (import->builder,
                                id,
                                event->name,
                                unit_of (event),
                                event->bytes_at > 0 ? FLAM_MEASURE_ALLOC
                                                    : FLAM_MEASURE_CPU,
                                0,
                                n > 1 || import->bare ? i : FLAM_NONE);
    }
  if (import->leaving != NULL && !first)
    add_off_cpu (import);
  if (import->clock != FLAM_NONE)
    flam_builder_add_standard_measure (
        import->builder,
        FLAM_STANDARD_WALL_TIME,
        flam_builder_add_column (import->builder),
        FLAM_NONE);
  flam_builder_add_standard_measure (
      import->builder,
      FLAM_STANDARD_SAMPLES,
      import->bare ? (int)flam_builder_add_column (import->builder) : -1,
      FLAM_NONE);
}

/* --- records ------------------------------------------------------------- */

/* The weights of add_measures(), in its order. */
static void
add_row (Import *import, const FlamSample *row, guint64 period, guint64 off_cpu)
{
  gboolean is_sample = row->event < import->file->events->len;
  gint64 weights[4] = { flam_builder_limit (
      import->builder, period, 0, G_MAXINT64, NULL) };
  guint n = 1;

  if (import->leaving != NULL)
    weights[n++] = (gint64)MIN (off_cpu, (guint64)G_MAXINT64);
  if (import->clock != FLAM_NONE)
    weights[n++] = row->event == import->clock ? weights[0] : weights[1];
  if (import->bare)
    weights[n++] = is_sample;
  flam_builder_add_sample (import->builder, row, weights);
  import->n_samples += is_sample;
}

static int
compare_tids (gconstpointer a, gconstpointer b)
{
  int x = GPOINTER_TO_INT (a), y = GPOINTER_TO_INT (b);

  return x < y ? -1 : x > y;
}

/* `back`: when the thread was on a CPU again. */
static void
add_leaving (Import *import, Leaving *leaving, guint64 back)
{
  guint64 left = leaving->left;

  add_row (import,
           &leaving->row,
           leaving->count,
           left > 0 && back > left ? back - left : 0);
}

static Leaving *
find_leaving (const Import *import, gint32 tid)
{
  return import->leaving != NULL
             ? g_hash_table_lookup (import->leaving, GINT_TO_POINTER (tid))
             : NULL;
}

/* Takes the place of an earlier one that had no end. */
static void
note_leaving (Import *import, gint32 tid, const Leaving *now)
{
  Leaving *leaving = find_leaving (import, tid);

  if (leaving == NULL)
    g_hash_table_insert (
        import->leaving, GINT_TO_POINTER (tid), leaving = g_new (Leaving, 1));
  else
    {
      import->n_endless++;
      add_leaving (import, leaving, 0);
    }
  *leaving = *now;
}

static void
note_return (Import *import, gint32 tid, guint64 time)
{
  Leaving *leaving = find_leaving (import, tid);

  if (leaving == NULL)
    return;
  add_leaving (import, leaving, time);
  g_hash_table_remove (import->leaving, GINT_TO_POINTER (tid));
}

/* The kernel's state of a thread that leaves its CPU: 0 it could go on, 2 it
 * cannot be interrupted, as perf sched timehist reads it. */
static FlamState
state_of (guint64 prev_state)
{
  if ((prev_state & 0xff) == 0)
    return FLAM_STATE_RUNNABLE;
  return prev_state & 2 ? FLAM_STATE_IO : FLAM_STATE_BLOCKED;
}

/* A sample of sched_switch. */
static void
add_switch (Import *import,
            const FlamPerfEvent *event,
            FlamSample *row,
            const FlamPerfSample *sample)
{
  Leaving leaving = { .count = sample->period };
  gint32 next;

  row->state = sample->tid > 0 ? FLAM_STATE_BLOCKED : FLAM_STATE_RUNNING;
  if (sample->tid > 0 && event->state_at > 0 &&
      event->state_at + 8 <= sample->raw_size)
    {
      leaving.known = TRUE;
      row->state = state_of (
          flam_perf_u64 (sample->raw + event->state_at, sample->swap));
    }
  leaving.row = *row;
  if (!import->records && event->next_at > 0 &&
      event->next_at + 4 <= sample->raw_size)
    {
      leaving.left = sample->time;
      next = (gint32)flam_perf_u32 (sample->raw + event->next_at, sample->swap);
      if (next > 0)
        note_return (import, next, sample->time);
    }
  /* 0: each CPU has an idle thread of that id. */
  if (sample->tid > 0)
    note_leaving (import, sample->tid, &leaving);
  else
    add_row (import, &leaving.row, leaving.count, 0);
}

/* A switch without a sample of its stack. */
static void
add_bare_switch (Import *import,
                 const FlamPerfRecord *record,
                 gint32 pid,
                 gint32 tid)
{
  Leaving leaving = {
    .row = { .thread = flam_perf_processes_thread (import->processes, pid, tid),
             .stack = FLAM_NONE,
             .time = (gint64)MIN (record->time, (guint64)G_MAXINT64),
             .event = (guint16)import->file->events->len,
             .state = FLAM_STATE_BLOCKED },
  };

  note_leaving (import, tid, &leaving);
}

static void
note_switch (Import *import, const FlamPerfRecord *record)
{
  gint32 pid, tid;
  Leaving *leaving;

  if (import->leaving == NULL || record->time == 0 ||
      !flam_perf_reader_thread (import->reader, record, &pid, &tid) || tid <= 0)
    return;
  if (!(record->misc & FLAM_PERF_MISC_OUT))
    {
      note_return (import, tid, record->time);
      return;
    }
  if (import->bare)
    add_bare_switch (import, record, pid, tid);
  leaving = find_leaving (import, tid);
  if (leaving == NULL)
    return;
  leaving->left = record->time;
  if (!leaving->known && (record->misc & FLAM_PERF_MISC_PREEMPT))
    leaving->row.state = FLAM_STATE_RUNNABLE;
}

/* Threads that have not returned when the recording ends. */
static void
add_left (Import *import)
{
  g_autoptr (GList) tids = NULL;

  if (import->leaving == NULL)
    return;
  tids = g_list_sort (g_hash_table_get_keys (import->leaving), compare_tids);
  for (const GList *l = tids; l != NULL; l = l->next)
    add_leaving (import, g_hash_table_lookup (import->leaving, l->data), 0);
}

/* A sample of a group's leader contains the counts of all its events so far:
 * adds a sample for each event whose count has grown. */
static void
add_group (Import *import, FlamSample *row, const FlamPerfSample *sample)
{
  for (guint64 i = 0; i < sample->n_group; i++)
    {
      const guint8 *at = sample->group + i * sample->group_size;
      guint64 value_and_id[] = { flam_perf_u64 (at, sample->swap),
                                 flam_perf_u64 (at + 8, sample->swap) };
      guint64 *before, increase;
      int event;

      event = flam_perf_file_find_event (import->file, value_and_id[1]);
      before = g_hash_table_lookup (import->counted, &value_and_id[1]);
      increase = value_and_id[0] - (before ? *before : 0);
      if (event < 0 || increase == 0)
        continue;
      if (before)
        *before = value_and_id[0];
      else
        g_hash_table_insert (import->counted,
                             g_memdup2 (&value_and_id[1], 8),
                             g_memdup2 (&value_and_id[0], 8));
      row->event = event;
      add_row (import, row, increase, 0);
    }
}

/* FALSE: the sample does not reach there. */
static gboolean
read_allocated (const FlamPerfEvent *event, FlamPerfSample *sample)
{
  if (sample->raw == NULL || (guint64)event->bytes_at + 8 > sample->raw_size)
    return FALSE;
  sample->period = flam_perf_u64 (sample->raw + event->bytes_at, sample->swap);
  return TRUE;
}

static void
add_sample (Import *import, const FlamPerfRecord *record)
{
  const FlamPerfEvent *event;
  FlamPerfSample sample;
  FlamSample row = { .event = record->event };

  if (record->event < 0)
    {
      import->n_bad++;
      return;
    }
  event = g_ptr_array_index (import->file->events, record->event);
  if (!flam_perf_sample_parse (event, record, &sample) ||
      (event->bytes_at > 0 && !read_allocated (event, &sample)))
    {
      import->n_bad++;
      return;
    }
  row.thread =
      flam_perf_processes_thread (import->processes, sample.pid, sample.tid);
  row.stack = flam_perf_stacks_get (
      import->stacks,
      flam_perf_processes_space (import->processes, sample.pid),
      event,
      record,
      &sample);
  row.time =
      flam_builder_limit (import->builder, sample.time, 0, G_MAXINT64, NULL);
  if (event->sample_type & FLAM_PERF_CPU)
    row.labels = flam_cpu_labels_get (import->cpus, sample.cpu);
  if (sample.n_group)
    add_group (import, &row, &sample);
  else if (import->leaving != NULL && is_switch (event))
    add_switch (import, event, &row, &sample);
  else
    add_row (import, &row, sample.period, 0);
}

static void
add_lost (Import *import, const FlamPerfRecord *record)
{
  FlamPerfBytes body = record->body;

  if (record->type == FLAM_PERF_LOST)
    flam_perf_read_u64 (&body);
  flam_builder_facts (import->builder)->lost += flam_perf_read_u64 (&body);
}

static void
take (Import *import, const FlamPerfRecord *record)
{
  gint64 time = (gint64)MIN (record->time, (guint64)G_MAXINT64);

  if (time > 0)
    {
      import->first = import->last > 0 ? MIN (import->first, time) : time;
      import->last = MAX (import->last, time);
    }
  switch (record->type)
    {
    case FLAM_PERF_SAMPLE:
      add_sample (import, record);
      break;
    case FLAM_PERF_LOST:
    case FLAM_PERF_LOST_SAMPLES:
      add_lost (import, record);
      break;
    case FLAM_PERF_SWITCH:
    case FLAM_PERF_SWITCH_CPU_WIDE:
      note_switch (import, record);
      break;
    case FLAM_PERF_THROTTLE:
      import->n_throttled++;
      break;
    default:
      flam_perf_processes_note (import->processes, record);
      break;
    }
}

static gboolean
read_records (Import *import, GError **error)
{
  g_autoptr (FlamPerfQueue) queue = flam_perf_queue_new (import->reader);
  FlamPerfRecord record;
  guint n = 0;

  while (flam_perf_queue_next (queue, &record))
    {
      if (n++ % STEP == 0 &&
          !flam_progress_step (
              import->load->options->progress,
              (double)flam_perf_reader_offset (import->reader) /
                  import->file->whole_size,
              error))
        return FALSE;
      take (import, &record);
    }
  add_left (import);
  return TRUE;
}

/* --- facts --------------------------------------------------------------- */

static void
say_what_is_missing (Import *import)
{
  const char *trouble = flam_perf_reader_trouble (import->reader);
  guint64 offset = flam_perf_reader_offset (import->reader);

  if (import->file->interrupted && !trouble)
    trouble = N_ ("the recorder did not finish the file");
  if (trouble)
    {
      g_autofree char *why =
          g_strdup_printf (N_ ("%s (at byte %" PRIu64 ")"), trouble, offset);

      flam_builder_set_partial (
          import->builder, (double)offset / import->file->whole_size, why);
    }
  if (import->file->parts_missing)
    flam_builder_warn (import->builder,
                       N_ ("the samples are in data.0, data.1 and so on, which "
                           "are not beside this file; open its folder"));
  flam_builder_warn_count (import->builder,
                           import->n_bad,
                           "%" PRIu64 " sample was damaged and left out",
                           "%" PRIu64 " samples were damaged and left out");
  flam_builder_warn_count (
      import->builder,
      import->n_endless,
      "%" PRIu64 " wait has no end in the file and is not counted",
      "%" PRIu64 " waits have no end in the file and are not counted");
  flam_builder_warn_count (
      import->builder,
      flam_perf_stacks_n_foreign (import->stacks),
      "%" PRIu64 " copied stack was not unwound, which is possible only for "
      "x86-64",
      "%" PRIu64 " copied stacks were not unwound, which is possible only for "
      "x86-64");
  flam_builder_warn_count (import->builder,
                           import->n_throttled,
                           "the kernel throttled the recorder %" PRIu64
                           " time: samples are missing there",
                           "the kernel throttled the recorder %" PRIu64
                           " times: samples are missing there");
  if (flam_perf_processes_too_many (import->processes))
    flam_builder_warn (import->builder,
                       N_ ("the file holds more mappings than any process can "
                           "have; some were left out"));
  flam_builder_facts (import->builder)->truncated_stacks +=
      flam_perf_stacks_n_truncated (import->stacks);
  flam_perf_modules_warn (import->modules);
}

static void
set_facts (Import *import)
{
  const FlamPerfFile *file = import->file;
  const FlamPerfEvent *first = g_ptr_array_index (file->events, 0);

  if (file->host)
    flam_builder_set_fact (import->builder, FLAM_FACT_HOST, file->host);
  if (file->command)
    flam_builder_set_command (import->builder, file->command);
  if (first->sample_type & FLAM_PERF_TIME)
    flam_builder_set_has_times (import->builder);
}

static gboolean
finish (Import *import, GError **error)
{
  const FlamPerfFile *file = import->file;
  const char *trouble = flam_perf_reader_trouble (import->reader);

  for (guint i = 0; i < file->parts->len; i++)
    if (!flam_source_is_whole (g_ptr_array_index (file->parts, i), error))
      return FALSE;
  if (import->n_samples == 0 && (trouble || import->n_bad))
    return flam_source_error (import->load->source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              flam_perf_reader_offset (import->reader),
                              N_ ("%s, before any sample"),
                              trouble ? trouble
                                      : N_ ("all samples are damaged"));
  if (import->last > import->first)
    {
      flam_builder_set_origin (import->builder, import->first);
      flam_builder_facts (import->builder)->duration_ns =
          import->last - import->first;
    }
  if (file->wall_clock && (guint64)import->first >= file->clock)
    flam_builder_facts (import->builder)->start_unix_ns =
        file->wall_clock + import->first - file->clock;
  say_what_is_missing (import);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  FlamPerfFile *file =
      flam_perf_file_open (load->source, load->options->progress, error);
  Import import = { .load = load, .builder = builder, .file = file };

  if (!file)
    return FALSE;
  flam_arena_keep (load, file, flam_perf_file_free);
  if (file->counts)
    return flam_source_invalid (
        load->source,
        error,
        N_ ("this is a recording of perf stat, which has counts but no stacks; "
            "record with “perf record -g” and open the perf.data"));
  import.reader = flam_arena_keep (
      load, flam_perf_reader_new (file, TRUE), flam_perf_reader_free);
  import.modules = flam_perf_modules_new (file, load, load->options->binaries);
  import.processes = flam_perf_processes_new (load, import.modules);
  import.stacks = flam_perf_stacks_new (file, load, import.modules);
  import.counted = flam_arena_table (load, FLAM_KEY_NUMBER, g_free);
  import.cpus = flam_cpu_labels_new (load);
  find_switches (&import, load);
  add_measures (&import);
  set_facts (&import);
  return read_records (&import, error) && finish (&import, error);
}

const FlamImporter flam_import_perf_data = {
  .id = "perf-data",
  .label = "Linux perf",
  .written_by = "perf record",
  .suffixes = FLAM_LIST ("perf.data", ".perfdata"),
  .mime = { .type = "application/x-perf-data",
            .name = "Linux perf capture",
            .globs = FLAM_LIST ("perf.data", "*.perf.data"),
            .magics = FLAM_MAGICS (FLAM_BYTES (0, "PERFILE2"),
                                   FLAM_BYTES (0, "2ELIFREP")) },
  .probe = probe,
  .load = load,
  .grows = TRUE,
  .base_lines = TRUE,
};
