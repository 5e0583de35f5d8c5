/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The programs and libraries that a recording met, each once however many
 * processes map it. A module's file is opened when it is first mapped and kept
 * open, so that its symbols can be read at the end although it was deleted or
 * replaced meanwhile; its unwind table is compiled when a stack first runs
 * through it. */

#include "flam-builder.h"
#include "flam-mapping.h"
#include "flam-python.h"
#include "flam-unwind-space.h"

#include <sys/types.h>

typedef enum
{
  FLAM_BINARY_FILE,
  FLAM_BINARY_VDSO,
  FLAM_BINARY_ANONYMOUS, /* generated code: absolute addresses */
} FlamBinaryKind;

typedef struct
{
  char *path; /* as /proc/PID/maps shows it, without " (deleted)" */
  FlamBinaryKind kind;
  FlamId id; /* the capture's */
  char *build_id;
  int fd;             /* -1: could not be opened */
  gboolean same_path; /* `path` opens the same file from here */
  gboolean deleted;
  guint8 *image; /* copied from the target, where there is no file */
  gsize image_size;
  FlamUnwindTable *table;
  gboolean table_tried;
  FlamPythonElf *python; /* the interpreter in it, or NULL */
} FlamBinary;

typedef struct _FlamBinaryTable FlamBinaryTable;

/* `python`: look for interpreters, and warn of those that cannot be read. */
FlamBinaryTable *flam_binary_table_new (FlamBuilder *builder, gboolean python);
void flam_binary_table_free (FlamBinaryTable *binaries);
/* What is mapped there in process `pid`, of which thread `tid` should still be
 * alive (the leader may have ended). Never NULL. */
FlamBinary *flam_binary_table_get (FlamBinaryTable *binaries,
                                   pid_t pid,
                                   pid_t tid,
                                   const FlamMapping *mapping);
/* NULL when it has none. */
const FlamUnwindTable *flam_binary_get_unwind_table (FlamBinary *binary);
guint flam_binary_table_n (const FlamBinaryTable *binaries);
FlamBinary *flam_binary_table_at (const FlamBinaryTable *binaries, guint i);
