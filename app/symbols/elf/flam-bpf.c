/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-bpf.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- instructions -------------------------------------------------------- */

void
flam_bpf_put (FlamBpf *program,
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

void
flam_bpf_set (FlamBpf *program, guint8 dst, guint8 src)
{
  flam_bpf_put (program, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

void
flam_bpf_set_value (FlamBpf *program, guint8 dst, gint32 value)
{
  flam_bpf_put (program, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

void
flam_bpf_add_value (FlamBpf *program, guint8 dst, gint32 value)
{
  flam_bpf_put (program, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}

void
flam_bpf_load (FlamBpf *program, guint8 dst, guint8 src, gint16 offset)
{
  flam_bpf_put (program, BPF_LDX | BPF_MEM | BPF_DW, dst, src, offset, 0);
}

void
flam_bpf_store (
    FlamBpf *program, guint8 size, guint8 dst, gint16 offset, guint8 src)
{
  flam_bpf_put (program, BPF_STX | BPF_MEM | size, dst, src, offset, 0);
}

void
flam_bpf_store_zero (FlamBpf *program, guint8 dst, gint16 offset)
{
  flam_bpf_put (program, BPF_ST | BPF_MEM | BPF_DW, dst, 0, offset, 0);
}

void
flam_bpf_call (FlamBpf *program, gint32 helper)
{
  flam_bpf_put (program, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void
set_of_map (FlamBpf *program, guint8 dst, guint8 what, int map)
{
  flam_bpf_put (program, BPF_LD | BPF_IMM | BPF_DW, dst, what, 0, (gint32)map);
  flam_bpf_put (program, 0, 0, 0, 0, 0);
}

void
flam_bpf_set_map (FlamBpf *program, guint8 dst, int map)
{
  set_of_map (program, dst, BPF_PSEUDO_MAP_FD, map);
}

void
flam_bpf_set_value_of (FlamBpf *program, guint8 dst, int map)
{
  set_of_map (program, dst, BPF_PSEUDO_MAP_VALUE, map);
}

void
flam_bpf_look_up (FlamBpf *program, int map, gint16 key)
{
  flam_bpf_set_map (program, BPF_REG_1, map);
  flam_bpf_set (program, BPF_REG_2, BPF_REG_10);
  flam_bpf_add_value (program, BPF_REG_2, key);
  flam_bpf_call (program, BPF_FUNC_map_lookup_elem);
}

void
flam_bpf_leave (FlamBpf *program, gint32 result)
{
  flam_bpf_set_value (program, BPF_REG_0, result);
  flam_bpf_put (program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* --- the kernel ---------------------------------------------------------- */

static int
bpf (enum bpf_cmd command, union bpf_attr *attr)
{
  return (int)syscall (SYS_bpf, command, attr, sizeof *attr);
}

static int
make_map (
    enum bpf_map_type type, guint key, guint value, guint n, guint32 flags)
{
  union bpf_attr attr;

  memset (&attr, 0, sizeof attr);
  attr.map_type = type;
  attr.key_size = key;
  attr.value_size = value;
  attr.max_entries = n;
  attr.map_flags = flags;
  return bpf (BPF_MAP_CREATE, &attr);
}

int
flam_bpf_make_map (enum bpf_map_type type, guint key, guint value, guint n)
{
  return make_map (type, key, value, n, 0);
}

int
flam_bpf_make_constant (gconstpointer value, guint size)
{
  int map = make_map (BPF_MAP_TYPE_ARRAY, 4, size, 1, BPF_F_RDONLY_PROG);
  union bpf_attr attr;

  if (map < 0)
    return -1;
  memset (&attr, 0, sizeof attr);
  attr.map_fd = (guint32)map;
  if (flam_bpf_set_element (map, &(guint32){ 0 }, value) &&
      bpf (BPF_MAP_FREEZE, &attr) == 0)
    return map;
  close (map);
  return -1;
}

int
flam_bpf_load_program (const FlamBpf *program, enum bpf_prog_type type)
{
  union bpf_attr attr;

  memset (&attr, 0, sizeof attr);
  attr.prog_type = type;
  attr.insns = GPOINTER_TO_SIZE (program->code);
  attr.insn_cnt = program->n;
  attr.license = GPOINTER_TO_SIZE ("GPL");
  return bpf (BPF_PROG_LOAD, &attr);
}

static int
with_element (enum bpf_cmd command,
              int map,
              gconstpointer key,
              gconstpointer value)
{
  union bpf_attr attr;

  memset (&attr, 0, sizeof attr);
  attr.map_fd = (guint32)map;
  attr.key = GPOINTER_TO_SIZE (key);
  attr.value = GPOINTER_TO_SIZE (value);
  return bpf (command, &attr);
}

gboolean
flam_bpf_set_element (int map, gconstpointer key, gconstpointer value)
{
  return with_element (BPF_MAP_UPDATE_ELEM, map, key, value) == 0;
}

gboolean
flam_bpf_get_element (int map, gconstpointer key, gpointer value)
{
  return with_element (BPF_MAP_LOOKUP_ELEM, map, key, value) == 0;
}

void
flam_bpf_delete_element (int map, gconstpointer key)
{
  with_element (BPF_MAP_DELETE_ELEM, map, key, NULL);
}

gboolean
flam_bpf_run (int program, gconstpointer arguments, guint size)
{
  union bpf_attr attr;

  memset (&attr, 0, sizeof attr);
  attr.test.prog_fd = (guint32)program;
  attr.test.ctx_in = GPOINTER_TO_SIZE (arguments);
  attr.test.ctx_size_in = size;
  return bpf (BPF_PROG_TEST_RUN, &attr) == 0;
}
