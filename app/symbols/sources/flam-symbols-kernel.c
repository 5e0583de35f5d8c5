/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The kernel's functions, by itself: only if the running kernel is the
 * recorded one, and has the addresses of that boot. */

#include "flam-kallsyms.h"
#include "flam-kernel-names.h"
#include "flam-symbol-source.h"

#include <string.h>

typedef struct
{
  FlamKernelNames *names; /* NULL: see `error` */
  GError *error;
  FlamSymbolFrame frame;
} Kernel;

static gboolean
matches (const FlamSymbolTarget *target)
{
  return g_str_has_prefix (target->name, "[kernel") ||
         g_str_has_prefix (target->path, "[kernel") ||
         (target->addressing == FLAM_ADDRESS_ABSOLUTE &&
          g_str_has_prefix (target->path, "/lib/modules/"));
}

static char *
find_difference (const FlamSymbolContext *context,
                 const FlamSymbolTarget *target)
{
  g_autofree char *own = flam_kernel_build_id ();

  if (*target->build_id && strcmp (target->build_id, own) != 0 &&
      !g_str_has_prefix (target->path, "/lib/modules/"))
    return g_strdup_printf (
        N_ ("build ID differs: recorded %s, the running kernel has %s"),
        target->build_id,
        *own ? own : "none");
  if (flam_symbol_context_is_here (context))
    return NULL;
  return g_strdup (
      context->start_unix_ns > 0
          ? N_ ("recorded before a reboot: kernel addresses have changed")
          : N_ ("the capture may be from before a reboot, which changes kernel "
                "addresses"));
}

static void
kernel_free (gpointer data)
{
  Kernel *kernel = data;

  flam_kernel_names_free (kernel->names);
  g_clear_error (&kernel->error);
  g_free (kernel);
}

/* The kernel's own modules are modules of the capture, too: one for all. */
static Kernel *
get_kernel (FlamSymbolContext *context)
{
  Kernel *kernel = g_datalist_get_data (&context->kept, "kernel");

  if (kernel)
    return kernel;
  kernel = g_new0 (Kernel, 1);
  kernel->names = flam_kernel_names_new (&kernel->error);
  g_datalist_set_data_full (&context->kept, "kernel", kernel, kernel_free);
  return kernel;
}

static gpointer
open_kernel (FlamSymbolContext *context,
             const FlamSymbolTarget *target,
             GError **error)
{
  g_autofree char *why = find_difference (context, target);
  Kernel *kernel = why ? NULL : get_kernel (context);

  if (kernel && kernel->names)
    return kernel;
  if (kernel)
    g_propagate_error (error, g_error_copy (kernel->error));
  else
    flam_error_set (error, FLAM_ERROR_UNSUPPORTED, "%s", why);
  return NULL;
}

static gboolean
look_up (gpointer opened, guint64 address, guint64 time, FlamSymbolChain *chain)
{
  Kernel *kernel = opened;
  const char *name = flam_kernel_names_find (kernel->names, address);

  if (!name)
    return FALSE;
  kernel->frame =
      (FlamSymbolFrame){ .name = name, .system_name = name, .file = "" };
  *chain = (FlamSymbolChain){ .n = 1,
                              .frames = &kernel->frame,
                              .state = FLAM_SYMBOLS_SYMTAB,
                              .kind = FLAM_KIND_KERNEL };
  return TRUE;
}

const FlamSymbolSource flam_symbols_kernel = {
  .name = "kernel",
  .matches = matches,
  .open = open_kernel,
  .look_up = look_up,
};
