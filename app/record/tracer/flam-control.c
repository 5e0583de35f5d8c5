/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 65536

void
flam_control_init (FlamControl *control, int fd)
{
  control->fd = fd;
  control->input = g_string_new (NULL);
  control->closed = FALSE;
  if (fd < 0)
    return;
  fcntl (fd, F_SETFD, FD_CLOEXEC);
  fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) | O_NONBLOCK);
}

void
flam_control_clear (FlamControl *control)
{
  g_string_free (control->input, TRUE);
  if (control->fd >= 0)
    close (control->fd);
}

void
flam_control_read (FlamControl *control)
{
  char buffer[4096];
  ssize_t n;

  if (control->fd < 0 || control->closed)
    return;
  for (;;)
    {
      n = read (control->fd, buffer, sizeof buffer);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        break;
      g_string_append_len (control->input, buffer, n);
    }
  if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK) ||
      control->input->len > LINE_MAX_BYTES)
    control->closed = TRUE;
}

/* The first line of the input, without its line break; g_free; NULL: no
 * line. */
static char *
take_line (FlamControl *control)
{
  char *end = strchr (control->input->str, '\n');
  char *line;

  if (end == NULL)
    return NULL;
  line = g_strndup (control->input->str, (gsize)(end - control->input->str));
  g_string_erase (control->input, 0, end + 1 - control->input->str);
  return line;
}

FlamCommand
flam_control_next (FlamControl *control, char **text)
{
  static const char *const names[] = { "",         "stop", "pause",
                                       "resume",   "mark", "terminate",
                                       "interrupt" };
  char *line;

  *text = NULL;
  while ((line = take_line (control)) != NULL)
    {
      g_autofree char *owned = line;
      gsize name = strcspn (line, " ");
      for (guint i = FLAM_COMMAND_STOP; i < G_N_ELEMENTS (names); i++)
        if (strlen (names[i]) == name && strncmp (line, names[i], name) == 0)
          {
            *text = g_strdup (line[name] != '\0' ? line + name + 1 : "");
            return i;
          }
      flam_control_say (control, "error there is no command \"%s\"", owned);
    }
  return FLAM_COMMAND_NONE;
}

void
flam_control_say (FlamControl *control, const char *format, ...)
{
  g_autofree char *text = NULL;
  g_autofree char *line = NULL;
  va_list arguments;
  gsize size, done = 0;

  if (control->fd < 0)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_strdelimit (text, "\r\n", ' ');
  line = g_strconcat (text, "\n", NULL);
  size = strlen (line);
  while (done < size)
    {
      ssize_t n = write (control->fd, line + done, size - done);
      if (n > 0)
        done += (gsize)n;
      else if (n < 0 && errno == EINTR)
        continue;
      else if (n < 0 && errno == EAGAIN && done > 0)
        g_usleep (1000);
      else
        break;
    }
}
