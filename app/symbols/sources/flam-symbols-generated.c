/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Generated code, by the files of its process in /tmp: jitdump, perf map. */

#include "flam-jit.h"
#include "flam-symbol-source.h"

typedef struct
{
  FlamJit *jit;
  FlamSymbolFrame frame;
} Generated;

static gboolean
matches (const FlamSymbolTarget *target)
{
  return flam_jit_module_pid (target->path) > 0;
}

static gpointer
open_generated (FlamSymbolContext *context,
                const FlamSymbolTarget *target,
                GError **error)
{
  gint32 pid = flam_jit_module_pid (target->path);
  Generated *generated;
  FlamJit *jit;

  if (context->start_unix_ns > 0 && !flam_symbol_context_is_here (context))
    return flam_error_null (error,
                            FLAM_ERROR_UNSUPPORTED,
                            N_ ("recorded before a reboot: the process's map "
                                "of its generated code is gone"));
  jit = flam_jit_open_process (
      pid, target->jitdump, context->start_unix_ns, error);
  if (!jit)
    return NULL;
  generated = g_new0 (Generated, 1);
  generated->jit = jit;
  return generated;
}

static gboolean
look_up (gpointer opened, guint64 address, guint64 time, FlamSymbolChain *chain)
{
  Generated *generated = opened;
  FlamJitFrame found;

  if (!flam_jit_find (generated->jit, address, time, &found))
    return FALSE;
  generated->frame = (FlamSymbolFrame){ .name = found.name,
                                        .system_name = found.name,
                                        .file = found.file,
                                        .first_line = found.first_line,
                                        .line = found.line };
  *chain = (FlamSymbolChain){ .n = 1,
                              .frames = &generated->frame,
                              .state = FLAM_SYMBOLS_SYMTAB,
                              .kind = found.kind,
                              .since = found.since };
  return TRUE;
}

static void
close_generated (gpointer opened)
{
  Generated *generated = opened;

  flam_jit_free (generated->jit);
  g_free (generated);
}

const FlamSymbolSource flam_symbols_generated = {
  .name = "generated",
  .matches = matches,
  .open = open_generated,
  .look_up = look_up,
  .close = close_generated,
  .grows = TRUE,
};
