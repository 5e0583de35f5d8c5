/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-terminal-stream.h"

#include "flam-core-picture.h"

#include <errno.h>
#include <stdio.h>

/* Longer lines are cut to bound the memory. */
#define LINE_MAX_SIZE (1 << 20)

struct _FlamTerminalStream
{
  GOutputStream parent_instance;
  GString *line;
};

G_DEFINE_FINAL_TYPE (FlamTerminalStream,
                     flam_terminal_stream,
                     G_TYPE_OUTPUT_STREAM)

static void
put_line (FlamTerminalStream *self)
{
  gsize from = 0;

  /* A NUL would end the text; tabs are kept. */
  for (gsize i = 0; i <= self->line->len; i++)
    {
      char end = self->line->str[i];
      g_autofree char *shown = NULL;

      if (i < self->line->len && end != '\0' && end != '\t')
        continue;
      self->line->str[i] = '\0';
      shown = flam_format_visible (self->line->str + from);
      fputs (shown, stdout);
      if (i < self->line->len)
        fputs (end == '\t' ? "\t" : "\\x00", stdout);
      from = i + 1;
    }
  g_string_truncate (self->line, 0);
}

static gssize
write_text (GOutputStream *stream,
            const void *bytes,
            gsize size,
            GCancellable *cancellable,
            GError **error)
{
  FlamTerminalStream *self = FLAM_TERMINAL_STREAM (stream);
  const char *text = bytes;

  for (gsize i = 0; i < size; i++)
    if (text[i] == '\n')
      {
        /* CSV ends its lines with "\r\n". */
        if (self->line->len > 0 && self->line->str[self->line->len - 1] == '\r')
          g_string_truncate (self->line, self->line->len - 1);
        put_line (self);
        fputc ('\n', stdout);
      }
    else
      {
        /* Do not split a character. */
        if (self->line->len >= LINE_MAX_SIZE &&
            ((guchar)text[i] & 0xc0) != 0x80)
          put_line (self);
        g_string_append_c (self->line, text[i]);
      }
  return (gssize)size;
}

static gboolean
flush (GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  put_line (FLAM_TERMINAL_STREAM (stream));
  if (fflush (stdout) == 0 && !ferror (stdout))
    return TRUE;
  g_set_error_literal (
      error, G_IO_ERROR, g_io_error_from_errno (errno), g_strerror (errno));
  return FALSE;
}

static void
flam_terminal_stream_finalize (GObject *object)
{
  g_string_free (FLAM_TERMINAL_STREAM (object)->line, TRUE);
  G_OBJECT_CLASS (flam_terminal_stream_parent_class)->finalize (object);
}

static void
flam_terminal_stream_class_init (FlamTerminalStreamClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_terminal_stream_finalize;
  G_OUTPUT_STREAM_CLASS (klass)->write_fn = write_text;
  G_OUTPUT_STREAM_CLASS (klass)->flush = flush;
}

static void
flam_terminal_stream_init (FlamTerminalStream *self)
{
  self->line = g_string_new (NULL);
}

GOutputStream *
flam_terminal_stream_new (void)
{
  return g_object_new (FLAM_TYPE_TERMINAL_STREAM, NULL);
}
