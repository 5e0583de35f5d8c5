/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_MODULES_H
#define FLAM_PERF_MODULES_H

/* The files of the mappings of a perf.data file, each once; with their unwind
 * tables, which are made on first use. */

#include "flam-binaries.h"
#include "flam-load.h"
#include "flam-jit.h"
#include "flam-perf-file.h"
#include "flam-unwind-rows.h"

typedef enum
{
  FLAM_PERF_MODULE_FILE,
  FLAM_PERF_MODULE_VDSO,
  FLAM_PERF_MODULE_MEMORY, /* anonymous: JIT */
  FLAM_PERF_MODULE_KERNEL,
} FlamPerfModuleKind;

typedef struct
{
  FlamPerfModuleKind kind;
  char *path;
  char *build_id;
  FlamId id; /* in the builder; FLAM_NONE until a frame needs it */
  FlamFunctionId function; /* the function that represents its addresses */
  gboolean tried;
  FlamUnwindTable *table;
  char *why;     /* there is no table */
  char *jitdump; /* of generated code: the mapping of its names, or NULL */
  FlamJit *jit;  /* its content */
  gboolean jit_tried;
} FlamPerfModule;

typedef struct _FlamPerfModules FlamPerfModules;

FlamPerfModules *flam_perf_modules_new (const FlamPerfFile *file,
                                        FlamLoad *load,
                                        const char *const *binaries);

/* `build_id` "": the one in the file's header, if any. */
FlamPerfModule *flam_perf_modules_get (FlamPerfModules *modules,
                                       const char *path,
                                       gsize length,
                                       const char *build_id);
FlamPerfModule *flam_perf_modules_kernel (FlamPerfModules *modules);
/* The kernel's text, and the recorded address of one of its symbols. `build_id`
 * "": the one in the file's header, if any. */
void flam_perf_modules_set_kernel (FlamPerfModules *modules,
                                   const char *symbol,
                                   const char *build_id,
                                   guint64 address,
                                   guint64 start,
                                   guint64 size);
/* NULL with `why`. */
const FlamUnwindTable *flam_perf_modules_table (FlamPerfModules *modules,
                                                FlamPerfModule *module);
/* The code that a process generated. `jitdump`: the path of the file of its
 * names, or NULL. */
FlamPerfModule *flam_perf_modules_generated (FlamPerfModules *modules,
                                             gint32 pid,
                                             const char *jitdump);
/* The frame of an address in the module's terms: a file offset or absolute.
 * With a jitdump it depends on the time: G_MAXUINT64 if times are not
 * CLOCK_MONOTONIC's. */
FlamFrameId flam_perf_modules_frame (FlamPerfModules *modules,
                                     FlamPerfModule *module,
                                     guint64 address,
                                     guint64 time);
/* Adds a warning for each needed module that had no table, and the reason if
 * the kernel has no names. */
void flam_perf_modules_warn (const FlamPerfModules *modules);

#endif
