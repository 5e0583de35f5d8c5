/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-copies.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "flam-bpf.h"

#define THREADS_MAX 4096 /* with blocks, at a time */

/* Descriptors; -1: none. The program that copies takes the kernel 20 ms to
 * check: it is loaded on request, and the others jump to it. */
struct _FlamPerfCopies
{
  guint n_cpus;
  int output;     /* map: CPU -> event */
  int silent;     /* map: 0 -> whether threads' own events take no sample */
  int next;       /* map: 0 -> the program that copies */
  int of_threads; /* programs for events of threads, and of CPUs */
  int of_cpus;
  int wanted;  /* map: thread -> FlamPerfWanted */
  int scratch; /* map: CPU -> FlamPerfCopied */
  int copier;
  gboolean begun;
};

/* As in `wanted`. */
typedef struct
{
  guint64 n;
  guint64 addresses[FLAM_PERF_BLOCKS_MAX];
} Wanted;

/* --- the program --------------------------------------------------------- */

typedef struct
{
  FlamBpf code;
  guint n_ends;
  guint ends[FLAM_PERF_BLOCKS_MAX + 2]; /* jumps to the end of the copies */
} Program;

enum
{
  CONTEXT = BPF_REG_6,
  COUNT = BPF_REG_7,
  COPIED = BPF_REG_8,
  WANTED = BPF_REG_9,
};

#define THREAD (-4) /* slots of its stack */
#define CPU (-8)
#define FIRST (-12) /* 0 */

static void
end_if (Program *program, guint8 condition, guint8 reg, gint32 value)
{
  program->ends[program->n_ends++] = program->code.n;
  flam_bpf_put (&program->code, BPF_JMP | condition | BPF_K, reg, 0, 0, value);
}

/* Its address is 0 if it cannot be read. */
static void
copy_block (Program *program, guint i)
{
  FlamBpf *code = &program->code;
  gint32 at = (gint32)(G_STRUCT_OFFSET (FlamPerfCopied, blocks) +
                       i * sizeof (FlamPerfBlock));

  end_if (program, BPF_JLE, COUNT, (gint32)i);
  flam_bpf_load (code,
                 BPF_REG_3,
                 WANTED,
                 (gint16)(G_STRUCT_OFFSET (Wanted, addresses) + 8 * i));
  flam_bpf_set (code, BPF_REG_1, COPIED);
  flam_bpf_add_value (code, BPF_REG_1, at);
  flam_bpf_store (code, BPF_DW, BPF_REG_1, 0, BPF_REG_3);
  flam_bpf_add_value (code, BPF_REG_1, G_STRUCT_OFFSET (FlamPerfBlock, bytes));
  flam_bpf_set_value (code, BPF_REG_2, FLAM_PERF_BLOCK);
  flam_bpf_call (code, BPF_FUNC_probe_read_user);
  flam_bpf_put (code, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 3, 0);
  flam_bpf_set (code, BPF_REG_1, COPIED);
  flam_bpf_add_value (code, BPF_REG_1, at);
  flam_bpf_store_zero (code, BPF_REG_1, 0);
}

/* Ends it without a sample if the clock of CPUs is used instead. */
static void
leave_if_silent (FlamBpf *code, const FlamPerfCopies *copies)
{
  flam_bpf_put (code, BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, FIRST, 0);
  flam_bpf_look_up (code, copies->silent, FIRST);
  flam_bpf_put (code, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 4, 0);
  flam_bpf_load (code, BPF_REG_1, BPF_REG_0, 0);
  flam_bpf_put (code, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_1, 0, 2, 0);
  flam_bpf_leave (code, 0);
}

/* Ends it without a sample if the CPU runs a process that is not recorded. */
static void
leave_if_stranger (FlamBpf *code, int strangers)
{
  flam_bpf_call (code, BPF_FUNC_get_current_pid_tgid);
  flam_bpf_put (code, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
  flam_bpf_store (code, BPF_W, BPF_REG_10, THREAD, BPF_REG_0);
  flam_bpf_look_up (code, strangers, THREAD);
  flam_bpf_put (code, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0);
  flam_bpf_leave (code, 0);
}

/* What an event runs. `strangers`: of an event of a CPU; -1: of a thread's. */
static void
write_first (FlamBpf *code, const FlamPerfCopies *copies, int strangers)
{
  flam_bpf_set (code, CONTEXT, BPF_REG_1);
  if (strangers >= 0)
    leave_if_stranger (code, strangers);
  else
    leave_if_silent (code, copies);
  flam_bpf_set (code, BPF_REG_1, CONTEXT);
  flam_bpf_set_map (code, BPF_REG_2, copies->next);
  flam_bpf_set_value (code, BPF_REG_3, 0);
  flam_bpf_call (code, BPF_FUNC_tail_call);
  /* It is not loaded. */
  flam_bpf_leave (code, 1);
}

/* The kernel's number of the thread is always written: it tells whose blocks to
 * request. */
static void
write_copier (Program *program, const FlamPerfCopies *copies)
{
  FlamBpf *code = &program->code;
  guint end;

  flam_bpf_set (code, CONTEXT, BPF_REG_1);
  flam_bpf_call (code, BPF_FUNC_get_current_pid_tgid);
  flam_bpf_store (code, BPF_W, BPF_REG_10, THREAD, BPF_REG_0);
  flam_bpf_put (code, BPF_ALU | BPF_MOV | BPF_X, COUNT, BPF_REG_0, 0, 0);
  flam_bpf_call (code, BPF_FUNC_get_smp_processor_id);
  flam_bpf_store (code, BPF_W, BPF_REG_10, CPU, BPF_REG_0);
  flam_bpf_look_up (code, copies->scratch, CPU);
  flam_bpf_put (code, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 2, 0);
  flam_bpf_leave (code, 1);
  flam_bpf_set (code, COPIED, BPF_REG_0);
  flam_bpf_store (
      code, BPF_DW, COPIED, G_STRUCT_OFFSET (FlamPerfCopied, thread), COUNT);
  flam_bpf_look_up (code, copies->wanted, THREAD);
  flam_bpf_set_value (code, COUNT, 0);
  end_if (program, BPF_JEQ, BPF_REG_0, 0);
  flam_bpf_set (code, WANTED, BPF_REG_0);
  flam_bpf_load (code, COUNT, WANTED, G_STRUCT_OFFSET (Wanted, n));
  flam_bpf_put (
      code, BPF_JMP | BPF_JLE | BPF_K, COUNT, 0, 1, FLAM_PERF_BLOCKS_MAX);
  flam_bpf_set_value (code, COUNT, FLAM_PERF_BLOCKS_MAX);
  for (guint i = 0; i < FLAM_PERF_BLOCKS_MAX; i++)
    copy_block (program, i);
  end = code->n;
  for (guint i = 0; i < program->n_ends; i++)
    code->code[program->ends[i]].off = (gint16)(end - program->ends[i] - 1);
  flam_bpf_store (
      code, BPF_DW, COPIED, G_STRUCT_OFFSET (FlamPerfCopied, n), COUNT);
  flam_bpf_set (code, BPF_REG_5, COUNT);
  flam_bpf_put (code,
                BPF_ALU64 | BPF_MUL | BPF_K,
                BPF_REG_5,
                0,
                0,
                sizeof (FlamPerfBlock));
  flam_bpf_add_value (
      code, BPF_REG_5, G_STRUCT_OFFSET (FlamPerfCopied, blocks));
  flam_bpf_set (code, BPF_REG_1, CONTEXT);
  flam_bpf_set_map (code, BPF_REG_2, copies->output);
  flam_bpf_put (code,
                BPF_ALU | BPF_MOV | BPF_K,
                BPF_REG_3,
                0,
                0,
                (gint32)BPF_F_CURRENT_CPU);
  flam_bpf_set (code, BPF_REG_4, COPIED);
  flam_bpf_call (code, BPF_FUNC_perf_event_output);
  /* 1: the sample is written, too. */
  flam_bpf_leave (code, 1);
}

/* --- the kernel ---------------------------------------------------------- */

static int
load_first (const FlamPerfCopies *copies, int strangers)
{
  g_autofree FlamBpf *code = g_new0 (FlamBpf, 1);

  write_first (code, copies, strangers);
  return flam_bpf_load_program (code, BPF_PROG_TYPE_PERF_EVENT);
}

FlamPerfCopies *
flam_perf_copies_new (guint n_cpus)
{
  FlamPerfCopies *copies = g_new (FlamPerfCopies, 1);
  int code;

  *copies = (FlamPerfCopies){ .n_cpus = n_cpus,
                              .of_threads = -1,
                              .of_cpus = -1,
                              .wanted = -1,
                              .scratch = -1,
                              .copier = -1 };
  copies->output =
      flam_bpf_make_map (BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, n_cpus);
  copies->silent = flam_bpf_make_map (BPF_MAP_TYPE_ARRAY, 4, 8, 1);
  copies->next = flam_bpf_make_map (BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 1);
  if (copies->output >= 0 && copies->silent >= 0 && copies->next >= 0)
    copies->of_threads = load_first (copies, -1);
  if (copies->of_threads >= 0)
    return copies;
  code = errno;
  flam_perf_copies_free (copies);
  errno = code;
  return NULL;
}

void
flam_perf_copies_free (FlamPerfCopies *copies)
{
  const int fds[] = { copies->output,     copies->silent,  copies->next,
                      copies->of_threads, copies->of_cpus, copies->wanted,
                      copies->scratch,    copies->copier };

  for (guint i = 0; i < G_N_ELEMENTS (fds); i++)
    if (fds[i] >= 0)
      close (fds[i]);
  g_free (copies);
}

static void
load_copier (FlamPerfCopies *copies)
{
  g_autofree Program *program = g_new0 (Program, 1);

  copies->wanted =
      flam_bpf_make_map (BPF_MAP_TYPE_HASH, 4, sizeof (Wanted), THREADS_MAX);
  copies->scratch = flam_bpf_make_map (
      BPF_MAP_TYPE_ARRAY, 4, sizeof (FlamPerfCopied), copies->n_cpus);
  if (copies->wanted < 0 || copies->scratch < 0)
    return;
  write_copier (program, copies);
  copies->copier =
      flam_bpf_load_program (&program->code, BPF_PROG_TYPE_PERF_EVENT);
}

gboolean
flam_perf_copies_begin (FlamPerfCopies *copies)
{
  if (!copies->begun)
    {
      copies->begun = TRUE;
      load_copier (copies);
      if (copies->copier >= 0)
        flam_bpf_set_element (copies->next, &(guint32){ 0 }, &copies->copier);
    }
  return copies->copier >= 0;
}

gboolean
flam_perf_copies_watch (const FlamPerfCopies *copies, int event)
{
  return ioctl (event, PERF_EVENT_IOC_SET_BPF, copies->of_threads) == 0;
}

gboolean
flam_perf_copies_prepare_cpus (FlamPerfCopies *copies, int strangers)
{
  copies->of_cpus = load_first (copies, strangers);
  return copies->of_cpus >= 0;
}

gboolean
flam_perf_copies_watch_cpu (const FlamPerfCopies *copies, int event)
{
  return ioctl (event, PERF_EVENT_IOC_SET_BPF, copies->of_cpus) == 0;
}

gboolean
flam_perf_copies_silence_threads (const FlamPerfCopies *copies)
{
  return flam_bpf_set_element (
      copies->silent, &(guint32){ 0 }, &(guint64){ 1 });
}

int
flam_perf_copies_open (const FlamPerfCopies *copies, int cpu, int ring_fd)
{
  struct perf_event_attr attr = {
    .size = sizeof attr,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_BPF_OUTPUT,
    .sample_period = 1,
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                   PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
  };
  int fd = (int)syscall (
      SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

  if (fd < 0)
    return -1;
  if (ioctl (fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) == 0 &&
      flam_bpf_set_element (copies->output, &cpu, &fd))
    return fd;
  close (fd);
  return -1;
}

void
flam_perf_copies_want (const FlamPerfCopies *copies,
                       guint64 thread,
                       const guint64 *addresses,
                       guint n)
{
  guint32 key = (guint32)thread;
  Wanted wanted = { .n = n };

  memcpy (wanted.addresses, addresses, n * sizeof *addresses);
  flam_bpf_set_element (copies->wanted, &key, &wanted);
}

void
flam_perf_copies_forget (const FlamPerfCopies *copies, guint64 thread)
{
  guint32 key = (guint32)thread;

  flam_bpf_delete_element (copies->wanted, &key);
}

/* --- a sample's memory --------------------------------------------------- */

#define SLOTS 1024u /* a power of 2 */
#define SLOTS_USED (SLOTS * 3 / 4)

typedef struct
{
  guint64 address; /* 0: free */
  const guint8 *bytes;
  gboolean was_read;
} Slot;

struct _FlamPerfMemory
{
  const guint8 *stack;
  guint64 sp;
  gsize n_stack;
  FlamRuntimeMemory now;
  guint n_slots;
  Slot slots[SLOTS];
  FlamPerfWanted read;
};

FlamPerfMemory *
flam_perf_memory_new (void)
{
  return g_new0 (FlamPerfMemory, 1);
}

void
flam_perf_memory_free (FlamPerfMemory *memory)
{
  g_free (memory);
}

/* The slot of a block; NULL: none is left. */
static Slot *
slot_of (FlamPerfMemory *memory, guint64 address)
{
  guint i = (guint)((address / FLAM_PERF_BLOCK * 0x9e3779b97f4a7c15ull) >> 54);
  Slot *slot = &memory->slots[i];

  while (slot->address != 0 && slot->address != address)
    slot = &memory->slots[++i & (SLOTS - 1)];
  if (slot->address == 0)
    {
      if (address == 0 || memory->n_slots == SLOTS_USED)
        return NULL;
      memory->n_slots++;
      slot->address = address;
    }
  return slot;
}

void
flam_perf_memory_begin (FlamPerfMemory *memory,
                        guint64 sp,
                        const guint8 *stack,
                        gsize n_stack,
                        const FlamPerfCopied *copied,
                        FlamRuntimeMemory now)
{
  memory->sp = sp;
  memory->stack = stack;
  memory->n_stack = n_stack;
  memory->now = now;
  memory->read.n = memory->n_slots = 0;
  memset (memory->slots, 0, sizeof memory->slots);
  for (guint64 i = 0; copied != NULL && i < copied->n; i++)
    {
      Slot *slot = slot_of (memory, copied->blocks[i].address);

      if (slot != NULL)
        slot->bytes = copied->blocks[i].bytes;
    }
}

static Slot *
note (FlamPerfMemory *memory, guint64 address)
{
  Slot *slot = slot_of (memory, address);

  if (slot != NULL && !slot->was_read && memory->read.n < FLAM_PERF_BLOCKS_MAX)
    memory->read.addresses[memory->read.n++] = address;
  if (slot != NULL)
    slot->was_read = TRUE;
  return slot;
}

bool
flam_perf_memory_read (gpointer data, guint64 address, gpointer to, gsize size)
{
  FlamPerfMemory *memory = data;
  guint64 at = address - memory->sp;
  guint8 *out = to;

  if (at < memory->n_stack && size <= memory->n_stack - at)
    {
      memcpy (to, memory->stack + at, size);
      return true;
    }
  while (size > 0)
    {
      gsize within = address % FLAM_PERF_BLOCK;
      gsize n = MIN (size, FLAM_PERF_BLOCK - within);
      const Slot *slot = note (memory, address - within);

      if (slot != NULL && slot->bytes != NULL)
        memcpy (out, slot->bytes + within, n);
      else if (!flam_runtime_read (&memory->now, address, out, n))
        return false;
      out += n;
      address += n;
      size -= n;
    }
  return true;
}

static gboolean
contains (const FlamPerfWanted *wanted, guint64 address)
{
  for (guint i = 0; i < wanted->n; i++)
    if (wanted->addresses[i] == address)
      return TRUE;
  return FALSE;
}

gboolean
flam_perf_memory_end (const FlamPerfMemory *memory, FlamPerfWanted *wanted)
{
  FlamPerfWanted renewed = memory->read;
  gboolean any = FALSE;

  for (guint i = 0; !any && i < renewed.n; i++)
    any = !contains (wanted, renewed.addresses[i]);
  for (guint i = 0; i < wanted->n && renewed.n < FLAM_PERF_BLOCKS_MAX; i++)
    if (!contains (&memory->read, wanted->addresses[i]))
      renewed.addresses[renewed.n++] = wanted->addresses[i];
  *wanted = renewed;
  return any;
}
