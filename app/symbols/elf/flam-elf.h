/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ELF_H
#define FLAM_ELF_H

/* One ELF file, mapped and untrusted: every offset and size in it is checked
 * (by libelf or here) before a byte at it is read.
 *
 *   file offset                           vaddr (the file's own addresses)
 *   0x0000 ┌─────────────┐ PT_LOAD r--  0x400000 ┌─────────────┐
 *          │ headers ... │ ────────────▶         │             │
 *   0x1000 ├─────────────┤ PT_LOAD r-x  0x401000 ├─────────────┤
 *          │ .text       │ ────────────▶         │             │
 *   0x5000 ├─────────────┤ PT_LOAD rw-  0x407df0 ├─────────────┤
 *          │ .data       │ ────────────▶         │             │
 *          ├─────────────┤                       └─────────────┘
 *          │ .symtab ... │ (not loaded)
 *          └─────────────┘
 *
 * A handle is used by one thread at a time. Returned data lives as long as the
 * handle. Sources: the gABI (System V), chapters 4 and 5; libelf. */

#include "flam-core-profile.h"

#include <gelf.h>

typedef struct _FlamElf FlamElf;

typedef struct
{
  guint64 offset;
  guint64 file_size;
  guint64 vaddr;
  guint64 memory_size;
  gboolean executable;
} FlamElfSegment;

typedef struct
{
  const guint8 *data; /* unpacked; NULL if the file has no bytes for it */
  guint64 size;
  guint64 vaddr;
  gboolean executable;
} FlamElfSection;

/* FLAM_ERROR_SYSTEM if it cannot be read, FLAM_ERROR_INVALID if it is not ELF.
 * Only regular files are opened. */
FlamElf *flam_elf_open (const char *path, GError **error);
/* By a name from an untrusted source (flam-path-access.h). */
FlamElf *flam_elf_open_named (const char *path, GError **error);
/* An image in memory, such as the vdso; copied. `name` is for messages. */
FlamElf *flam_elf_new_from_data (const char *name,
                                 const void *data,
                                 gsize size,
                                 GError **error);
void flam_elf_free (FlamElf *elf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamElf, flam_elf_free)

const char *flam_elf_get_path (const FlamElf *elf);
/* Lower-case hex; "" if the file has none. */
const char *flam_elf_get_build_id (const FlamElf *elf);
/* DT_SONAME or "". */
const char *flam_elf_get_soname (const FlamElf *elf);
guint16 flam_elf_get_machine (const FlamElf *elf);
/* The handle of libelf, for libdw. */
Elf *flam_elf_get_handle (const FlamElf *elf);

/* PT_LOAD, in the file's order. */
const FlamElfSegment *flam_elf_get_segments (const FlamElf *elf, guint *n);
gboolean
flam_elf_offset_to_vaddr (const FlamElf *elf, guint64 offset, guint64 *vaddr);
gboolean
flam_elf_vaddr_to_offset (const FlamElf *elf, guint64 vaddr, guint64 *offset);

/* FALSE if there is no section of this name. Compressed sections are returned
 * unpacked. */
gboolean flam_elf_get_section (const FlamElf *elf,
                               const char *name,
                               FlamElfSection *section);
gboolean flam_elf_has_section (const FlamElf *elf, const char *name);

/* The name and checksum in .gnu_debuglink; NULL if there is none. */
const char *flam_elf_get_debuglink (const FlamElf *elf, guint32 *crc);

#endif
