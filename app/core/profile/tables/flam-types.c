/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-types.h"

G_DEFINE_QUARK (flam - error - quark, flam_error)

gboolean
flam_error_set (GError **error, FlamError code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error,
                     g_error_new_valist (FLAM_ERROR, code, format, args));
  va_end (args);
  return FALSE;
}

gpointer
flam_error_null (GError **error, FlamError code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error,
                     g_error_new_valist (FLAM_ERROR, code, format, args));
  va_end (args);
  return NULL;
}

gboolean
flam_progress_step (const FlamProgress *progress,
                    double fraction,
                    GError **error)
{
  if (progress == NULL || progress->report (progress->data, fraction))
    return TRUE;
  return flam_error_set (error, FLAM_ERROR_CANCELLED, "Cancelled");
}

const char *
flam_unit_to_string (FlamUnit unit)
{
  static const char *const names[] = { "count", "ns", "bytes" };
  return names[unit];
}

const char *
flam_measure_kind_to_string (FlamMeasureKind kind)
{
  return kind == FLAM_MEASURE_ALLOC ? "alloc" : "cpu";
}

const char *
flam_function_kind_to_string (FlamFunctionKind kind)
{
  static const char *const names[FLAM_N_KINDS] = {
    "native", "unresolved", "kernel", "jit", "interpreted", "root", "waker",
  };
  return names[kind];
}

const char *
flam_state_to_string (FlamState state)
{
  static const char *const names[FLAM_N_STATES] = {
    "running", "lock", "io", "sleep", "blocked", "runnable", "mpi",
  };
  return names[state];
}

const char *
flam_state_to_title (FlamState state)
{
  static const char *const titles[FLAM_N_STATES] = {
    N_ ("Running"),
    N_ ("Waiting for a lock"),
    N_ ("Waiting for I/O"),
    N_ ("Sleeping"),
    N_ ("Blocked"),
    N_ ("Waiting for a CPU"),
    N_ ("Waiting for other ranks"),
  };
  return titles[state];
}

const char *
flam_symbol_state_to_string (FlamSymbolState state)
{
  static const char *const names[] = {
    "untried", "none", "symtab", "dwarf", "capture", "dynsym",
  };
  return names[state];
}

const char *
flam_status_to_string (guint bit)
{
  static const char *const names[FLAM_N_STATUSES] = {
    "dispatch", "gc", "repl", "compilation", "task",
  };
  return names[bit];
}

const char *
flam_status_to_title (guint bit)
{
  static const char *const titles[FLAM_N_STATUSES] = {
    N_ ("Runtime dispatch"),
    N_ ("Garbage collection"),
    N_ ("REPL"),
    N_ ("Compilation"),
    N_ ("Task"),
  };
  return titles[bit];
}

char *
flam_status_to_text (guint status)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    if (status & 1u << i)
      g_string_append_printf (
          text, "%s%s", text->len > 0 ? "," : "", flam_status_to_string (i));
  return g_string_free (text, FALSE);
}
