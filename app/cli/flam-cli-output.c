/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-output.h"

#include <string.h>

/* The sink keeps its first error until the end. */
static ssize_t
write_sink (void *sink, const char *text, size_t n)
{
  flam_sink_put_len (sink, text, n);
  return (ssize_t)n;
}

gboolean
flam_cli_output_begin (FlamCliOutput *output)
{
  cookie_io_functions_t functions = { .write = write_sink };

  if (g_strcmp0 (output->path, "-") == 0)
    g_clear_pointer (&output->path, g_free);
  output->sink = flam_cli_open_output (output->path, output->force);
  if (output->sink == NULL || output->path == NULL)
    return output->sink != NULL;
  output->real = stdout;
  stdout = fopencookie (output->sink, "w", functions);
  return TRUE;
}

static void
restore (FlamCliOutput *output)
{
  if (output->real == NULL)
    return;
  fclose (stdout);
  stdout = g_steal_pointer (&output->real);
}

gboolean
flam_cli_output_end (FlamCliOutput *output)
{
  restore (output);
  return flam_cli_finish (g_steal_pointer (&output->sink), output->path);
}

void
flam_cli_output_clear (FlamCliOutput *output)
{
  restore (output);
  g_clear_pointer (&output->sink, flam_sink_free);
  g_clear_pointer (&output->path, g_free);
}
