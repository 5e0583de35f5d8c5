/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-symbol-source.h"

#include "flam-kallsyms.h"

void
flam_symbol_context_clear (FlamSymbolContext *context)
{
  g_datalist_clear (&context->kept);
  g_clear_pointer (&context->warnings, g_ptr_array_unref);
}

gint64
flam_symbol_context_written (const struct stat *status)
{
  return (gint64)status->st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) +
         status->st_mtim.tv_nsec;
}

gboolean
flam_symbol_context_is_here (const FlamSymbolContext *context)
{
  return context->this_boot ||
         flam_kernel_is_same_boot (context->start_unix_ns);
}
