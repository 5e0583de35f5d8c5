/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-copies.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 4096 /* with blocks, at a time */
#define INSTRUCTIONS_MAX 4096

struct _FlamPerfCopies
{
  int wanted;  /* map: thread -> FlamPerfWanted */
  int scratch; /* map: CPU -> FlamPerfCopied */
  int output;  /* map: CPU -> event */
  int program;
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
  guint n;
  struct bpf_insn code[INSTRUCTIONS_MAX];
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

static void
put (Program *program,
     guint8 code,
     guint8 dst,
     guint8 src,
     gint16 offset,
     gint32 value)
{
  program->code[program->n++] = (struct bpf_insn){
    .code = code, .dst_reg = dst, .src_reg = src, .off = offset, .imm = value
  };
}

static void
set (Program *program, guint8 dst, guint8 src)
{
  put (program, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void
set_value (Program *program, guint8 dst, gint32 value)
{
  put (program, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

static void
add_value (Program *program, guint8 dst, gint32 value)
{
  put (program, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}

static void
load (Program *program, guint8 dst, guint8 src, gint16 offset)
{
  put (program, BPF_LDX | BPF_MEM | BPF_DW, dst, src, offset, 0);
}

static void
store (Program *program, guint8 size, guint8 dst, gint16 offset, guint8 src)
{
  put (program, BPF_STX | BPF_MEM | size, dst, src, offset, 0);
}

static void
store_zero (Program *program, guint8 dst, gint16 offset)
{
  put (program, BPF_ST | BPF_MEM | BPF_DW, dst, 0, offset, 0);
}

static void
call (Program *program, gint32 helper)
{
  put (program, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void
set_map (Program *program, guint8 dst, int map)
{
  put (program,
       BPF_LD | BPF_IMM | BPF_DW,
       dst,
       BPF_PSEUDO_MAP_FD,
       0,
       (gint32)map);
  put (program, 0, 0, 0, 0, 0);
}

/* r0: the address of a value, or 0. */
static void
look_up (Program *program, int map, gint16 key)
{
  set_map (program, BPF_REG_1, map);
  set (program, BPF_REG_2, BPF_REG_10);
  add_value (program, BPF_REG_2, key);
  call (program, BPF_FUNC_map_lookup_elem);
}

static void
end_if (Program *program, guint8 condition, guint8 reg, gint32 value)
{
  program->ends[program->n_ends++] = program->n;
  put (program, BPF_JMP | condition | BPF_K, reg, 0, 0, value);
}

/* Its address is 0 if it cannot be read. */
static void
copy_block (Program *program, guint i)
{
  gint32 at = (gint32)(G_STRUCT_OFFSET (FlamPerfCopied, blocks) +
                       i * sizeof (FlamPerfBlock));

  end_if (program, BPF_JLE, COUNT, (gint32)i);
  load (program,
        BPF_REG_3,
        WANTED,
        (gint16)(G_STRUCT_OFFSET (Wanted, addresses) + 8 * i));
  set (program, BPF_REG_1, COPIED);
  add_value (program, BPF_REG_1, at);
  store (program, BPF_DW, BPF_REG_1, 0, BPF_REG_3);
  add_value (program, BPF_REG_1, G_STRUCT_OFFSET (FlamPerfBlock, bytes));
  set_value (program, BPF_REG_2, FLAM_PERF_BLOCK);
  call (program, BPF_FUNC_probe_read_user);
  put (program, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 3, 0);
  set (program, BPF_REG_1, COPIED);
  add_value (program, BPF_REG_1, at);
  store_zero (program, BPF_REG_1, 0);
}

/* The kernel's number of the thread is always written: it tells whose blocks to
 * request. */
static void
write_program (Program *program, const FlamPerfCopies *copies)
{
  guint end;

  set (program, CONTEXT, BPF_REG_1);
  call (program, BPF_FUNC_get_current_pid_tgid);
  store (program, BPF_W, BPF_REG_10, THREAD, BPF_REG_0);
  put (program, BPF_ALU | BPF_MOV | BPF_X, COUNT, BPF_REG_0, 0, 0);
  call (program, BPF_FUNC_get_smp_processor_id);
  store (program, BPF_W, BPF_REG_10, CPU, BPF_REG_0);
  look_up (program, copies->scratch, CPU);
  put (program, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 2, 0);
  set_value (program, BPF_REG_0, 1);
  put (program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
  set (program, COPIED, BPF_REG_0);
  store (
      program, BPF_DW, COPIED, G_STRUCT_OFFSET (FlamPerfCopied, thread), COUNT);
  look_up (program, copies->wanted, THREAD);
  set_value (program, COUNT, 0);
  end_if (program, BPF_JEQ, BPF_REG_0, 0);
  set (program, WANTED, BPF_REG_0);
  load (program, COUNT, WANTED, G_STRUCT_OFFSET (Wanted, n));
  put (program, BPF_JMP | BPF_JLE | BPF_K, COUNT, 0, 1, FLAM_PERF_BLOCKS_MAX);
  set_value (program, COUNT, FLAM_PERF_BLOCKS_MAX);
  for (guint i = 0; i < FLAM_PERF_BLOCKS_MAX; i++)
    copy_block (program, i);
  end = program->n;
  for (guint i = 0; i < program->n_ends; i++)
    program->code[program->ends[i]].off = (gint16)(end - program->ends[i] - 1);
  store (program, BPF_DW, COPIED, G_STRUCT_OFFSET (FlamPerfCopied, n), COUNT);
  set (program, BPF_REG_5, COUNT);
  put (program,
       BPF_ALU64 | BPF_MUL | BPF_K,
       BPF_REG_5,
       0,
       0,
       sizeof (FlamPerfBlock));
  add_value (program, BPF_REG_5, G_STRUCT_OFFSET (FlamPerfCopied, blocks));
  set (program, BPF_REG_1, CONTEXT);
  set_map (program, BPF_REG_2, copies->output);
  put (program,
       BPF_ALU | BPF_MOV | BPF_K,
       BPF_REG_3,
       0,
       0,
       (gint32)BPF_F_CURRENT_CPU);
  set (program, BPF_REG_4, COPIED);
  call (program, BPF_FUNC_perf_event_output);
  /* 1: the sample is written, too. */
  set_value (program, BPF_REG_0, 1);
  put (program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* --- the kernel ---------------------------------------------------------- */

static int
bpf (enum bpf_cmd command, union bpf_attr *attr)
{
  return (int)syscall (SYS_bpf, command, attr, sizeof *attr);
}

static int
make_map (enum bpf_map_type type, guint key, guint value, guint n)
{
  union bpf_attr attr;

  memset (&attr, 0, sizeof attr);
  attr.map_type = type;
  attr.key_size = key;
  attr.value_size = value;
  attr.max_entries = n;
  return bpf (BPF_MAP_CREATE, &attr);
}

static gboolean
set_element (int map, gconstpointer key, gconstpointer value)
{
  union bpf_attr attr;

  memset (&attr, 0, sizeof attr);
  attr.map_fd = (guint32)map;
  attr.key = GPOINTER_TO_SIZE (key);
  attr.value = GPOINTER_TO_SIZE (value);
  return bpf (BPF_MAP_UPDATE_ELEM, &attr) == 0;
}

static int
load_program (const FlamPerfCopies *copies)
{
  g_autofree Program *program = g_new0 (Program, 1);
  union bpf_attr attr;

  write_program (program, copies);
  memset (&attr, 0, sizeof attr);
  attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
  attr.insns = GPOINTER_TO_SIZE (program->code);
  attr.insn_cnt = program->n;
  attr.license = GPOINTER_TO_SIZE ("GPL");
  return bpf (BPF_PROG_LOAD, &attr);
}

FlamPerfCopies *
flam_perf_copies_new (guint n_cpus)
{
  FlamPerfCopies *copies = g_new0 (FlamPerfCopies, 1);
  int code;

  copies->wanted =
      make_map (BPF_MAP_TYPE_HASH, 4, sizeof (Wanted), THREADS_MAX);
  copies->scratch =
      make_map (BPF_MAP_TYPE_ARRAY, 4, sizeof (FlamPerfCopied), n_cpus);
  copies->output = make_map (BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, n_cpus);
  copies->program =
      copies->wanted < 0 || copies->scratch < 0 || copies->output < 0
          ? -1
          : load_program (copies);
  if (copies->program >= 0)
    return copies;
  code = errno;
  flam_perf_copies_free (copies);
  errno = code;
  return NULL;
}

void
flam_perf_copies_free (FlamPerfCopies *copies)
{
  if (copies->wanted >= 0)
    close (copies->wanted);
  if (copies->scratch >= 0)
    close (copies->scratch);
  if (copies->output >= 0)
    close (copies->output);
  if (copies->program >= 0)
    close (copies->program);
  g_free (copies);
}

gboolean
flam_perf_copies_watch (const FlamPerfCopies *copies, int event)
{
  return ioctl (event, PERF_EVENT_IOC_SET_BPF, copies->program) == 0;
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
      set_element (copies->output, &cpu, &fd))
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
  set_element (copies->wanted, &key, &wanted);
}

void
flam_perf_copies_forget (const FlamPerfCopies *copies, guint64 thread)
{
  guint32 key = (guint32)thread;
  union bpf_attr attr;

  memset (&attr, 0, sizeof attr);
  attr.map_fd = (guint32)copies->wanted;
  attr.key = GPOINTER_TO_SIZE (&key);
  bpf (BPF_MAP_DELETE_ELEM, &attr);
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
