/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "flam-core-profile.h"
#include "flam-unwind-rows.h"

/* perf_event_mlock_kb is 516 by default, per CPU, for users without
 * CAP_IPC_LOCK: a ring, and the page before it. */
#define RING_SIZE (512u << 10)
#define RING_SIZE_MIN (64u << 10)
#define RING_SIZE_PRIVILEGED (4u << 20)
#define SAMPLE_TYPE                                                            \
  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |               \
   PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |        \
   PERF_SAMPLE_STACK_USER)
#define RAW_SAMPLE_TYPE                                                        \
  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |               \
   PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)
/* pid, tid; time; id: at the end of each record except samples. */
#define TRAILER 24
/* The copies for a sample are written right before it. */
#define COPIED_BEFORE (1000 * 1000ll) /* ns */
#define RECORD_MAX 65536

typedef struct
{
  int cpu;
  int fd; /* of the event that the ring belongs to; -1: none */
  struct perf_event_mmap_page *page;
  gsize size; /* bytes of records */
  guint64 head, tail;
  guint64 pending; /* the size of `next`; 0: none was parsed */
  FlamPerfRecord next;
  int copier; /* the event by which copies are written to it; -1: none */
  FlamPerfCopied *copied; /* the last ones; NULL: nothing was written */
  pid_t copied_tid;
  gint64 copied_at;
  guint64 joined[RECORD_MAX / 8]; /* a record that wraps around */
} Ring;

struct _FlamPerfRings
{
  FlamPerfOptions options;
  FlamPerfEvent *events;
  GPtrArray *rings;
  GArray *fds;       /* int, all */
  GArray *events_of; /* guint: the event of each of them */
  GArray *wake;      /* int, one per ring */
  GHashTable *by_id; /* the kernel's id -> index of the event + 1 */
  gint64 until;      /* younger records are not read yet */
  Ring *read;        /* the ring of the last record */
};

/* --- opening ------------------------------------------------------------- */

static int
perf_event_open (struct perf_event_attr *attr, pid_t pid, int cpu)
{
  return (int)syscall (
      SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr
attributes_of (const FlamPerfEvent *event)
{
  return (struct perf_event_attr){
    .size = sizeof (struct perf_event_attr),
    .type = event->type,
    .config = event->config,
    .disabled = 1,
  };
}

/* The first event of a thread also records its forks, names, mappings and
 * end. */
static struct perf_event_attr
sampling_attributes (const FlamPerfRings *rings, guint index)
{
  const FlamPerfOptions *options = &rings->options;
  const FlamPerfEvent *event = &rings->events[index];
  struct perf_event_attr attr = attributes_of (event);

  attr.freq = event->period == 0;
  attr.sample_period = attr.freq ? options->frequency : event->period;
  attr.sample_type = event->raw ? RAW_SAMPLE_TYPE : SAMPLE_TYPE;
  attr.disabled = attr.enable_on_exec = options->on_exec;
  attr.inherit = 1;
  attr.inherit_thread = !options->children;
  attr.exclude_hv = 1;
  attr.exclude_kernel = options->user_only;
  attr.exclude_callchain_kernel = options->only_samples;
  attr.exclude_callchain_user = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.sample_regs_user = event->raw ? 0 : FLAM_UNWIND_PERF_MASK;
  attr.sample_stack_user = event->raw ? 0 : options->stack;
  attr.watermark = 1;
  attr.wakeup_watermark =
      options->only_samples ? RING_SIZE_MIN / 2 : MAX (options->stack, 1024);
  if (index == 0 && !options->only_samples)
    {
      attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = 1;
      attr.task = attr.context_switch = 1;
    }
  return attr;
}

static gboolean
can_open (struct perf_event_attr *attr)
{
  int fd = perf_event_open (attr, 0, -1);

  if (fd < 0)
    return FALSE;
  close (fd);
  return TRUE;
}

gboolean
flam_perf_can_sample (const FlamPerfEvent *event)
{
  struct perf_event_attr attr = attributes_of (event);

  attr.sample_period = 1 << 20;
  attr.sample_type = event->raw ? RAW_SAMPLE_TYPE : SAMPLE_TYPE;
  attr.sample_regs_user = event->raw ? 0 : FLAM_UNWIND_PERF_MASK;
  attr.sample_stack_user = event->raw ? 0 : 8;
  return can_open (&attr);
}

const char *
flam_perf_problem (int code)
{
  switch (code)
    {
    case EACCES:
    case EPERM:
      return N_ ("the system does not permit it "
                 "(/proc/sys/kernel/perf_event_paranoid is above 1, or a "
                 "container forbids it): record as root or with CAP_PERFMON, "
                 "or set it to 1");
    case ENOSYS:
      return N_ ("this kernel has no perf_event_open, or a container hides it");
    case EMFILE:
      return N_ ("too many open files: raise the limit (ulimit -n)");
    case ENOMEM:
      return N_ ("too little memory may be locked: raise "
                 "/proc/sys/kernel/perf_event_mlock_kb");
    case EINVAL:
      return N_ ("this kernel is too old for it");
    default:
      return g_strerror (code);
    }
}

const char *
flam_perf_obstacle (void)
{
  static const FlamPerfEvent clock = { PERF_TYPE_SOFTWARE,
                                       PERF_COUNT_SW_CPU_CLOCK,
                                       0 };

  struct perf_event_attr attr = attributes_of (&clock);

  return can_open (&attr) ? NULL : flam_perf_problem (errno);
}

FlamPerfRings *
flam_perf_rings_new (const FlamPerfOptions *options)
{
  FlamPerfRings *rings = g_new0 (FlamPerfRings, 1);
  guint n = (guint)sysconf (_SC_NPROCESSORS_CONF);

  rings->options = *options;
  rings->events =
      g_memdup2 (options->events, options->n_events * sizeof *options->events);
  rings->rings = g_ptr_array_new_with_free_func (g_free);
  rings->fds = g_array_new (FALSE, FALSE, sizeof (int));
  rings->events_of = g_array_new (FALSE, FALSE, sizeof (guint));
  rings->wake = g_array_new (FALSE, FALSE, sizeof (int));
  rings->by_id = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < n; i++)
    {
      Ring *ring = g_new0 (Ring, 1);

      ring->cpu = (int)i;
      ring->fd = ring->copier = -1;
      g_ptr_array_add (rings->rings, ring);
    }
  return rings;
}

void
flam_perf_rings_free (FlamPerfRings *rings)
{
  for (guint i = 0; i < rings->rings->len; i++)
    {
      Ring *ring = g_ptr_array_index (rings->rings, i);

      if (ring->page != NULL)
        munmap (ring->page, ring->size + (gsize)sysconf (_SC_PAGESIZE));
      if (ring->copier >= 0)
        close (ring->copier);
      g_free (ring->copied);
    }
  for (guint i = 0; i < rings->fds->len; i++)
    close (g_array_index (rings->fds, int, i));
  g_ptr_array_unref (rings->rings);
  g_array_unref (rings->fds);
  g_array_unref (rings->events_of);
  g_array_unref (rings->wake);
  g_hash_table_unref (rings->by_id);
  g_free (rings->events);
  g_free (rings);
}

/* The largest ring that may be locked. */
static gboolean
map_ring (FlamPerfRings *rings, Ring *ring, int fd)
{
  gsize page = (gsize)sysconf (_SC_PAGESIZE);
  gsize least = MAX (rings->options.ring_least, RING_SIZE_MIN);
  gpointer at = MAP_FAILED;

  for (gsize size = geteuid () == 0 ? RING_SIZE_PRIVILEGED : RING_SIZE;
       size >= least && at == MAP_FAILED;
       /* Whatever is between would leave no room for the other CPUs. */
       size = size > RING_SIZE ? RING_SIZE : size / 2)
    {
      at = mmap (NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      ring->size = size;
      if (at == MAP_FAILED && errno != EPERM && errno != ENOMEM)
        return FALSE;
    }
  if (at == MAP_FAILED)
    {
      errno = ENOMEM;
      return FALSE;
    }
  ring->page = at;
  ring->fd = fd;
  g_array_append_val (rings->wake, fd);
  return TRUE;
}

static void
note_id (FlamPerfRings *rings, guint64 id, guint index)
{
  g_hash_table_insert (
      rings->by_id, GSIZE_TO_POINTER (id), GUINT_TO_POINTER (index + 1));
}

/* Its number follows those of all others. */
static void
open_copier (FlamPerfRings *rings, Ring *ring)
{
  guint64 id;

  ring->copier =
      flam_perf_copies_open (rings->options.copies, ring->cpu, ring->fd);
  if (ring->copier >= 0 && ioctl (ring->copier, PERF_EVENT_IOC_ID, &id) == 0)
    note_id (rings, id, rings->options.n_events);
}

/* The ring of the event's CPU is mapped for the first one. */
static gboolean
write_to_ring (FlamPerfRings *rings, Ring *ring, int fd)
{
  if (ring->page != NULL)
    return ioctl (fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0;
  if (!map_ring (rings, ring, fd))
    return FALSE;
  if (rings->options.copies != NULL)
    open_copier (rings, ring);
  return TRUE;
}

/* A CPU that is off line has no event. */
static gboolean
add_event (FlamPerfRings *rings, Ring *ring, pid_t tid, guint index)
{
  struct perf_event_attr attr = sampling_attributes (rings, index);
  int fd = perf_event_open (&attr, tid, ring->cpu);
  guint64 id;

  if (fd < 0 && errno == EINVAL && attr.inherit_thread)
    {
      attr.inherit_thread = 0;
      fd = perf_event_open (&attr, tid, ring->cpu);
    }
  if (fd < 0)
    return errno == ENODEV;
  g_array_append_val (rings->fds, fd);
  g_array_append_val (rings->events_of, index);
  if (ioctl (fd, PERF_EVENT_IOC_ID, &id) != 0)
    return FALSE;
  note_id (rings, id, index);
  if (rings->options.copies != NULL && !rings->events[index].raw)
    flam_perf_copies_watch (rings->options.copies, fd);
  return write_to_ring (rings, ring, fd);
}

gboolean
flam_perf_rings_add (FlamPerfRings *rings, pid_t tid)
{
  for (guint i = 0; i < rings->rings->len; i++)
    for (guint j = 0; j < rings->options.n_events; j++)
      if (!add_event (rings, g_ptr_array_index (rings->rings, i), tid, j))
        return FALSE;
  return TRUE;
}

static gboolean
add_cpu (FlamPerfRings *rings, const Ring *ring)
{
  struct perf_event_attr attr = sampling_attributes (rings, 0);
  guint first = 0;
  guint64 id;
  int fd;

  attr.inherit = attr.inherit_thread = 0;
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = 0;
  attr.task = attr.context_switch = 0;
  attr.disabled = 1;
  attr.enable_on_exec = 0;
  attr.exclude_idle = 1;
  fd = perf_event_open (&attr, -1, ring->cpu);
  if (fd < 0)
    return FALSE;
  g_array_append_val (rings->fds, fd);
  g_array_append_val (rings->events_of, first);
  if (ioctl (fd, PERF_EVENT_IOC_ID, &id) != 0)
    return FALSE;
  note_id (rings, id, first);
  return flam_perf_copies_watch_cpu (rings->options.copies, fd) &&
         ioctl (fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0 &&
         ioctl (fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

gboolean
flam_perf_rings_add_cpus (FlamPerfRings *rings)
{
  for (guint i = 0; i < rings->rings->len; i++)
    {
      const Ring *ring = g_ptr_array_index (rings->rings, i);

      if (ring->page != NULL && !add_cpu (rings, ring))
        return FALSE;
    }
  return TRUE;
}

void
flam_perf_rings_stop (FlamPerfRings *rings)
{
  for (guint i = 0; i < rings->fds->len; i++)
    ioctl (g_array_index (rings->fds, int, i), PERF_EVENT_IOC_DISABLE, 0);
}

guint64
flam_perf_rings_period (const FlamPerfRings *rings, guint event)
{
  return rings->events[event].period;
}

guint64
flam_perf_rings_count (const FlamPerfRings *rings, guint event)
{
  guint64 total = 0;

  for (guint i = 0; i < rings->fds->len; i++)
    {
      guint64 count;

      if (g_array_index (rings->events_of, guint, i) == event &&
          read (g_array_index (rings->fds, int, i), &count, sizeof count) ==
              sizeof count)
        total += count;
    }
  return total;
}

gsize
flam_perf_rings_size (const FlamPerfRings *rings)
{
  gsize least = 0;

  for (guint i = 0; i < rings->rings->len; i++)
    {
      const Ring *ring = g_ptr_array_index (rings->rings, i);

      if (ring->page != NULL && (least == 0 || ring->size < least))
        least = ring->size;
    }
  return least;
}

guint
flam_perf_rings_room (const FlamPerfRings *rings)
{
  return (guint)(flam_perf_rings_size (rings) /
                 MAX (rings->options.stack, 1024));
}

const GArray *
flam_perf_rings_fds (const FlamPerfRings *rings)
{
  return rings->wake;
}

void
flam_perf_rings_ignore (FlamPerfRings *rings, int fd)
{
  for (guint i = 0; i < rings->wake->len; i++)
    if (g_array_index (rings->wake, int, i) == fd)
      g_array_remove_index_fast (rings->wake, i--);
}

/* --- records ------------------------------------------------------------- */

/* The part of a record that is not read yet. */
typedef struct
{
  const guint64 *at;
  const guint64 *end;
} Words;

static guint64
next_word (Words *words)
{
  return words->at < words->end ? *words->at++ : 0;
}

static gsize
words_left (const Words *words)
{
  return (gsize)(words->end - words->at);
}

/* The size, which with its 4 bytes is a multiple of 8, and the record. */
static void
parse_raw (const Words *words, FlamPerfRecord *record)
{
  guint32 size;

  if (words_left (words) == 0)
    return;
  memcpy (&size, words->at, sizeof size);
  record->raw = (const guint8 *)words->at + sizeof size;
  record->n_raw = MIN (size, 8 * words_left (words) - sizeof size);
}

/* IDENTIFIER, TID, TIME, PERIOD, then RAW, or CALLCHAIN, REGS_USER,
 * STACK_USER. */
static void
parse_sample (FlamPerfRings *rings, Words *words, FlamPerfRecord *record)
{
  guint64 id = next_word (words), who, n, abi, size, dynamic;

  record->kind = FLAM_PERF_SAMPLED;
  record->event = GPOINTER_TO_UINT (g_hash_table_lookup (
                      rings->by_id, GSIZE_TO_POINTER (id))) -
                  1;
  who = next_word (words);
  record->pid = (pid_t)(guint32)who;
  record->tid = (pid_t)(who >> 32);
  record->time = (gint64)next_word (words);
  record->period = next_word (words);
  if (record->event == rings->options.n_events ||
      (record->event < rings->options.n_events &&
       rings->events[record->event].raw))
    {
      parse_raw (words, record);
      return;
    }
  n = next_word (words);
  n = MIN (n, words_left (words));
  for (guint64 i = 0; i < n; i++, words->at++)
    if (*words->at < PERF_CONTEXT_MAX)
      {
        if (record->n_kernel++ == 0)
          record->kernel = words->at;
      }
  abi = next_word (words);
  record->has_regs = abi == PERF_SAMPLE_REGS_ABI_64;
  record->foreign = abi == PERF_SAMPLE_REGS_ABI_32;
  for (guint i = 0; abi != 0 && i < FLAM_UNWIND_PERF_N; i++)
    if (FLAM_UNWIND_PERF_MASK >> i & 1)
      {
        guint64 value = next_word (words);

        if (flam_unwind_perf_registers[i] >= 0)
          record->regs[flam_unwind_perf_registers[i]] = value;
      }
  size = next_word (words);
  if (size == 0 || size / 8 >= words_left (words))
    return;
  record->stack = words->at;
  words->at += size / 8;
  dynamic = next_word (words);
  record->stack_size = (gsize)MIN (dynamic, size);
}

static void
parse_mapped (const Words *words, guint16 misc, FlamPerfRecord *record)
{
  /* pid, tid; start; length; offset; major, minor; inode; generation;
   * protection, flags; path. */
  if (words_left (words) < 9 || misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
    return;
  record->kind = FLAM_PERF_MAPPED;
  record->start = words->at[1];
  record->end = words->at[1] + words->at[2];
  record->offset = words->at[3];
  record->device = words->at[4] << 32 | words->at[4] >> 32;
  record->inode = words->at[5];
  record->executable = words->at[7] & PROT_EXEC;
  record->text = (const char *)(words->at + 8);
}

static void
parse (FlamPerfRings *rings,
       const struct perf_event_header *header,
       FlamPerfRecord *record)
{
  Words words = { (const guint64 *)(header + 1),
                  (const guint64 *)((const char *)header + header->size) };

  memset (record, 0, sizeof *record);
  if (header->type == PERF_RECORD_SAMPLE)
    {
      parse_sample (rings, &words, record);
      return;
    }
  if (words_left (&words) < TRAILER / 8)
    return;
  words.end -= TRAILER / 8;
  record->pid = (pid_t)(guint32)words.end[0];
  record->tid = (pid_t)(words.end[0] >> 32);
  record->time = (gint64)words.end[1];
  if (header->type == PERF_RECORD_SWITCH)
    {
      record->kind = header->misc & PERF_RECORD_MISC_SWITCH_OUT
                         ? FLAM_PERF_OFF_CPU
                         : FLAM_PERF_ON_CPU;
      record->preempted =
          (header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
      return;
    }
  if (words_left (&words) < 1)
    return;
  if (header->type == PERF_RECORD_LOST_SAMPLES)
    {
      record->kind = FLAM_PERF_LOST;
      record->lost = words.at[0];
      return;
    }
  if (words_left (&words) < 2)
    return;
  switch (header->type)
    {
    case PERF_RECORD_LOST:
      record->kind = FLAM_PERF_LOST;
      record->lost = words.at[1];
      break;
    case PERF_RECORD_COMM:
      record->kind = FLAM_PERF_NAMED;
      record->executed = (header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
      record->pid = (pid_t)(guint32)words.at[0];
      record->tid = (pid_t)(words.at[0] >> 32);
      record->text = (const char *)(words.at + 1);
      break;
    case PERF_RECORD_MMAP2:
      record->pid = (pid_t)(guint32)words.at[0];
      record->tid = (pid_t)(words.at[0] >> 32);
      parse_mapped (&words, header->misc, record);
      break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      record->kind =
          header->type == PERF_RECORD_FORK ? FLAM_PERF_BEGAN : FLAM_PERF_ENDED;
      record->pid = (pid_t)(guint32)words.at[0];
      record->parent = (pid_t)(words.at[0] >> 32);
      record->tid = (pid_t)(guint32)words.at[1];
      break;
    default:
      break;
    }
}

/* --- rings --------------------------------------------------------------- */

/* The record at the tail, whole. */
static const struct perf_event_header *
record_at_tail (Ring *ring)
{
  const char *data = (const char *)ring->page + ring->page->data_offset;
  gsize at = ring->tail & (ring->size - 1);
  const struct perf_event_header *header =
      (const struct perf_event_header *)(data + at);
  gsize size = header->size;

  if (at + size <= ring->size)
    return header;
  memcpy (ring->joined, header, ring->size - at);
  memcpy (
      (char *)ring->joined + (ring->size - at), data, size - (ring->size - at));
  return (const struct perf_event_header *)ring->joined;
}

/* Keeps copied data until its sample is read. */
static void
keep_copies (Ring *ring)
{
  const FlamPerfRecord *record = &ring->next;
  gsize before = G_STRUCT_OFFSET (FlamPerfCopied, blocks);

  if (ring->copied == NULL)
    ring->copied = g_new (FlamPerfCopied, 1);
  ring->copied_tid = 0;
  if (record->n_raw < before)
    return;
  memcpy (ring->copied, record->raw, MIN (record->n_raw, sizeof *ring->copied));
  if (ring->copied->n > FLAM_PERF_BLOCKS_MAX ||
      before + ring->copied->n * sizeof (FlamPerfBlock) > record->n_raw)
    return;
  ring->copied_tid = record->tid;
  ring->copied_at = record->time;
}

static void
add_copies (Ring *ring)
{
  FlamPerfRecord *record = &ring->next;

  if (record->kind != FLAM_PERF_SAMPLED || record->tid != ring->copied_tid)
    return;
  if (record->time - ring->copied_at < COPIED_BEFORE)
    record->copied = ring->copied;
  ring->copied_tid = 0;
}

static void
step_over (Ring *ring, gsize size)
{
  ring->tail += size;
  __atomic_store_n (&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

static gboolean
look_ahead (FlamPerfRings *rings, Ring *ring)
{
  while (ring->pending == 0)
    {
      const struct perf_event_header *header;

      if (ring->page == NULL || ring->tail >= ring->head)
        return FALSE;
      header = record_at_tail (ring);
      if (header->size < sizeof *header)
        {
          ring->tail = ring->head;
          return FALSE;
        }
      parse (rings, header, &ring->next);
      if (ring->next.kind == FLAM_PERF_SAMPLED &&
          ring->next.event == rings->options.n_events)
        {
          keep_copies (ring);
          step_over (ring, header->size);
          continue;
        }
      add_copies (ring);
      ring->pending = header->size;
    }
  return TRUE;
}

void
flam_perf_rings_begin_until (FlamPerfRings *rings, gint64 until)
{
  rings->until = until;
  for (guint i = 0; i < rings->rings->len; i++)
    {
      Ring *ring = g_ptr_array_index (rings->rings, i);

      if (ring->page != NULL)
        ring->head = __atomic_load_n (&ring->page->data_head, __ATOMIC_ACQUIRE);
    }
}

void
flam_perf_rings_begin (FlamPerfRings *rings, gint64 latest)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  flam_perf_rings_begin_until (
      rings, now.tv_sec * 1000000000ll + now.tv_nsec - latest);
}

gint64
flam_perf_rings_until (const FlamPerfRings *rings)
{
  return rings->until;
}

gboolean
flam_perf_rings_next (FlamPerfRings *rings, FlamPerfRecord *record)
{
  Ring *first = NULL;

  if (rings->read != NULL)
    {
      step_over (rings->read, rings->read->pending);
      rings->read->pending = 0;
      rings->read = NULL;
    }
  for (guint i = 0; i < rings->rings->len; i++)
    {
      Ring *ring = g_ptr_array_index (rings->rings, i);

      if (look_ahead (rings, ring) &&
          (first == NULL || ring->next.time < first->next.time))
        first = ring;
    }
  if (first == NULL || first->next.time > rings->until)
    return FALSE;
  *record = first->next;
  rings->read = first;
  return TRUE;
}
