/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_FUNCTIONS_H
#define FLAM_RUNTIME_FUNCTIONS_H

/* The managed functions of a recording, each once however many processes run
 * it. They live as long as the recording, so that pointers to them are always
 * valid. Their number and size are limited: further ones have no name. */

#include "flam-runtime.h"

typedef struct _FlamRuntimeFunction FlamRuntimeFunction;

struct _FlamRuntimeFunction
{
  /* Constant after creation. */
  const FlamRuntime *runtime;
  char *name; /* with its class */
  char *file;
  guint32 first_line;
  guint32 line; /* of a function inlined at a position, or by_position */
  guint32 lines_version;
  GBytes *lines;               /* never written to a file */
  FlamRuntimeFunction *caller; /* the one it is inlined in; NULL: none */
  gboolean hidden;
  gboolean unreadable;

  /* Of the thread that writes the capture. */
  FlamFunctionId function;
  guint32 labels; /* FlamSample.labels, 0: not made yet */
  GArray *frames; /* FlamId by position, FLAM_NONE: not made yet */
};

typedef struct _FlamRuntimeFunctions FlamRuntimeFunctions;

FlamRuntimeFunctions *flam_runtime_functions_new (void);
void flam_runtime_functions_free (FlamRuntimeFunctions *functions);
/* The innermost function of `name`, whose `caller`s are the others. */
FlamRuntimeFunction *
flam_runtime_functions_get (FlamRuntimeFunctions *functions,
                            const FlamRuntime *runtime,
                            const FlamRuntimeName *name);
/* A single function, with a line table. */
FlamRuntimeFunction *
flam_runtime_functions_add (FlamRuntimeFunctions *functions,
                            const FlamRuntime *runtime,
                            const FlamRuntimeNamed *named,
                            FlamRuntimeFunction *caller,
                            guint32 lines_version,
                            const guint8 *lines,
                            gsize n_lines);
/* The function that stands for all functions without a name. */
FlamRuntimeFunction *
flam_runtime_functions_unreadable (FlamRuntimeFunctions *functions,
                                   const FlamRuntime *runtime);
/* On the thread that writes the capture: the set of labels that a function of
 * such a runtime is, and the frame at position `at`. */
guint32 flam_runtime_function_labels (FlamRuntimeFunction *function,
                                      FlamBuilder *builder);
FlamFrameId flam_runtime_function_frame (FlamRuntimeFunction *function,
                                         FlamBuilder *builder,
                                         guint64 at);

#endif
