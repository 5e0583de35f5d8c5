/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The programs and libraries that a recording met, each once however many
 * processes map it. A module's file is opened when it is first mapped and kept
 * open, so that its symbols can be read at the end although it was deleted or
 * replaced meanwhile; its unwind table is compiled when a stack first runs
 * through it. */

#include "flam-capture-writer.h"
#include "flam-mapping.h"
#include "flam-python.h"
#include "flam-unwind-space.h"

#include <sys/types.h>

G_BEGIN_DECLS

typedef enum
{
  FLAM_CODE_FILE,
  FLAM_CODE_VDSO,
  FLAM_CODE_ANONYMOUS, /* generated code: absolute addresses */
} FlamCodeKind;

typedef struct
{
  char *path; /* as /proc/PID/maps shows it, without " (deleted)" */
  FlamCodeKind kind;
  FlamId id; /* the capture's */
  char *build_id;
  int fd;             /* -1: could not be opened */
  gboolean same_path; /* `path` opens the same file from here */
  gboolean deleted;
  guint8 *image; /* copied from the target, where there is no file */
  gsize image_size;
  guint64 image_offset; /* file offset of its first byte */
  FlamUnwindTable *table;
  gboolean table_tried;
  FlamPythonElf *python; /* the interpreter in it, or NULL */
} FlamCode;

typedef struct _FlamCodes FlamCodes;

/* `python`: look for interpreters, and warn of those that cannot be read. */
FlamCodes *flam_codes_new (FlamCaptureWriter *writer, gboolean python);
void flam_codes_free (FlamCodes *codes);
/* What is mapped there in process `pid`, of which thread `tid` should still be
 * alive (the leader may have ended). Never NULL. */
FlamCode *flam_codes_get (FlamCodes *codes,
                          pid_t pid,
                          pid_t tid,
                          const FlamMapping *mapping);
/* NULL when it has none. */
const FlamUnwindTable *flam_code_get_table (FlamCode *code);
guint flam_codes_n (const FlamCodes *codes);
FlamCode *flam_codes_at (const FlamCodes *codes, guint i);

G_END_DECLS
