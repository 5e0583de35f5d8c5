/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BPF_H
#define FLAM_BPF_H

/* bpf(2): maps, and small programs that are written as a list of instructions.
 *
 * Source: bpf(2), bpf-helpers(7), include/uapi/linux/bpf.h. */

#include <glib.h>
#include <linux/bpf.h>

#define FLAM_BPF_MAX 4096 /* instructions */

typedef struct
{
  guint n;
  struct bpf_insn code[FLAM_BPF_MAX];
} FlamBpf;

/* --- instructions -------------------------------------------------------- */

void flam_bpf_put (FlamBpf *program,
                   guint8 code,
                   guint8 dst,
                   guint8 src,
                   gint16 offset,
                   gint32 value);
void flam_bpf_set (FlamBpf *program, guint8 dst, guint8 src);
void flam_bpf_set_value (FlamBpf *program, guint8 dst, gint32 value);
void flam_bpf_add_value (FlamBpf *program, guint8 dst, gint32 value);
/* Of 8 bytes. */
void flam_bpf_load (FlamBpf *program, guint8 dst, guint8 src, gint16 offset);
/* `size`: BPF_DW, 8 bytes, or BPF_W, 4. */
void flam_bpf_store (
    FlamBpf *program, guint8 size, guint8 dst, gint16 offset, guint8 src);
void flam_bpf_store_zero (FlamBpf *program, guint8 dst, gint16 offset);
void flam_bpf_call (FlamBpf *program, gint32 helper);
void flam_bpf_set_map (FlamBpf *program, guint8 dst, int map);
/* The address of the first value of a map. */
void flam_bpf_set_value_of (FlamBpf *program, guint8 dst, int map);
/* r0: the address of the value for the key at `key` of the stack, or 0. */
void flam_bpf_look_up (FlamBpf *program, int map, gint16 key);
/* Ends the program with this result: two instructions. */
void flam_bpf_leave (FlamBpf *program, gint32 result);

/* --- the kernel ---------------------------------------------------------- */

/* They return a descriptor, or -1 with errno set. */
int flam_bpf_make_map (enum bpf_map_type type, guint key, guint value, guint n);
int flam_bpf_load_program (const FlamBpf *program, enum bpf_prog_type type);
gboolean flam_bpf_set_element (int map, gconstpointer key, gconstpointer value);
void flam_bpf_delete_element (int map, gconstpointer key);
gboolean flam_bpf_get_element (int map, gconstpointer key, gpointer value);
/* A map with one value, which nobody changes. */
int flam_bpf_make_constant (gconstpointer value, guint size);
/* Runs a program once; `arguments` is what its first register points to. */
gboolean flam_bpf_run (int program, gconstpointer arguments, guint size);

#endif
