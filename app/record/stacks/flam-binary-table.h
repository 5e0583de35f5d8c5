/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BINARY_TABLE_H
#define FLAM_BINARY_TABLE_H

/* The programs and libraries of a recording, each once however many processes
 * map it. The file of a module is opened when it is first mapped and kept open,
 * so that its symbols can be read at the end although it was deleted or
 * replaced meanwhile; its unwind table is compiled when a stack first runs
 * through it. */

#include "flam-core-profile.h"
#include "flam-mapping.h"
#include "flam-record-options.h"
#include "flam-runtime-processes.h"
#include "flam-unwind-space.h"

#include <sys/types.h>

typedef enum
{
  FLAM_BINARY_FILE,
  FLAM_BINARY_VDSO,
  FLAM_BINARY_ANONYMOUS, /* generated code: absolute addresses */
  FLAM_BINARY_KERNEL,    /* the running one, and its modules: likewise */
} FlamBinaryKind;

typedef struct
{
  char *path; /* as /proc/PID/maps shows it, without " (deleted)" */
  FlamBinaryKind kind;
  FlamId id; /* the row in the capture */
  char *build_id;
  int fd;             /* -1: could not be opened */
  gboolean same_path; /* the recorder opens the same file by `path` */
  /* The root folder of its process, if that is another one, and the file in
   * it: a container's. Valid as long as the table. NULL: none. */
  const char *root;
  char *in_root;
  gboolean deleted;
  guint8 *image; /* copied from the target, if there is no file */
  gsize image_size;
  FlamUnwindTable *table;
  gboolean table_tried;
  guint64 code_bias;   /* address in the file - file offset, of its code */
  GPtrArray *runtimes; /* FlamRuntimeBinary of those in it, or NULL */
} FlamBinary;

typedef struct _FlamBinaryTable FlamBinaryTable;

/* By its options it finds runtimes, and warns if one cannot be read. */
FlamBinaryTable *flam_binary_table_new (FlamBuilder *builder,
                                        const FlamRecordOptions *options);
void flam_binary_table_free (FlamBinaryTable *binaries);
/* The binary of a mapping of process `pid`. `tid` is a thread of it that should
 * be alive (the leader may have ended). Never NULL. */
FlamBinary *flam_binary_table_get (FlamBinaryTable *binaries,
                                   pid_t pid,
                                   pid_t tid,
                                   const FlamMapping *mapping);
/* The frame of an address in the kernel. */
FlamFrameId flam_binary_table_kernel_frame (FlamBinaryTable *binaries,
                                            guint64 address);
/* Warns that frames of a runtime cannot be read: a FlamRuntimeRefused. */
void flam_binary_table_refuse (gpointer binaries,
                               const FlamRuntime *runtime,
                               const char *path,
                               const FlamRuntimeFile *file,
                               const char *why,
                               const char *help);
/* NULL if it has none. */
const FlamUnwindTable *flam_binary_get_unwind_table (FlamBinary *binary);
guint flam_binary_table_n (const FlamBinaryTable *binaries);
FlamBinary *flam_binary_table_at (const FlamBinaryTable *binaries, guint i);

#endif
