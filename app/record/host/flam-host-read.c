/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-host-read.h"

#include "flam-core-picture.h"
#include "flam-core-profile.h"
#include "flam-host-start.h"
#include "flam-process-table.h"
#include "flam-relay-join.h"

#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int
report (const GError *error)
{
  g_autofree char *shown = NULL;

  setlocale (LC_MESSAGES, "");
  shown = flam_message_shown (error->message);
  g_printerr ("%s: %s\n", g_get_prgname (), shown);
  return 1;
}

/* Signals end this process, and with it the client. */
static gboolean
never (gpointer data)
{
  return FALSE;
}

/* --- processes ----------------------------------------------------------- */

/* Tabs remain, and nothing else that controls a terminal. */
static void
print_plain (const char *line)
{
  g_autofree char *valid = g_utf8_make_valid (line, -1);

  for (char *p = valid; *p != '\0'; p++)
    if (((guchar)*p < ' ' && *p != '\t') || *p == 0x7f)
      *p = ' ';
  if (write (STDOUT_FILENO, valid, strlen (valid)) < 0 ||
      write (STDOUT_FILENO, "\n", 1) < 0)
    _exit (0);
}

/* Until the recorder there ends, which leaves the error of its last line. */
static gboolean
print_lines (FlamConnection *connection, GError **error)
{
  gboolean any = FALSE;

  for (;;)
    {
      g_autoptr (GError) end = NULL;
      g_autofree char *line = flam_connection_read_line (connection, &end);

      if (line == NULL && any)
        return TRUE;
      if (line == NULL)
        {
          g_propagate_error (error, g_steal_pointer (&end));
          return FALSE;
        }
      print_plain (line);
      any = TRUE;
    }
}

int
flam_host_list (const FlamRecordOptions *options)
{
  FlamConnection connection = { .is_stopped = never };
  g_autoptr (GError) error = NULL;
  char every[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *arguments = NULL;
  gboolean done;

  if (options->host == NULL)
    return flam_process_table_print (options->every, &error) ? 0
                                                             : report (error);
  signal (SIGPIPE, SIG_IGN);
  g_ascii_dtostr (every, sizeof every, options->every);
  arguments = g_strconcat ("--list --every ", every, NULL);
  done = flam_host_start (&connection, options->host, arguments, &error) &&
         print_lines (&connection, &error);
  flam_connection_close (&connection);
  return done ? 0 : report (error);
}

/* --- a file -------------------------------------------------------------- */

/* Its name is the first line of the input. A link leads to the file. */
#define SCRIPT                                                                 \
  "IFS= read -r p; "                                                           \
  "if test -f \"$p\" && test -r \"$p\"; "                                      \
  "then n=$(wc -c <\"$p\"); echo " FLAM_RELAY_WORD " file $n; "                \
  "exec head -c %u \"$p\"; "                                                   \
  "elif test -e \"$p\"; then echo " FLAM_RELAY_WORD " refused; "               \
  "else echo " FLAM_RELAY_WORD " none; fi"

static gboolean
fail (const FlamRecordOptions *options, const char *why, GError **error)
{
  return flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         "%s: %s: %s",
                         options->host,
                         options->fetch,
                         why);
}

static gboolean
keep (const FlamRecordOptions *options,
      const char *text,
      gsize size,
      GError **error)
{
  g_autofree char *folder = g_path_get_dirname (options->output);

  g_mkdir_with_parents (folder, 0700);
  return g_file_set_contents_full (options->output,
                                   text,
                                   (gssize)size,
                                   G_FILE_SET_CONTENTS_CONSISTENT,
                                   0600,
                                   error);
}

static gboolean
receive (FlamConnection *connection,
         const FlamRecordOptions *options,
         const char *word,
         GError **error)
{
  g_autofree char *text = NULL;
  guint64 size;

  if (strcmp (word, "none") == 0)
    return fail (options, N_ ("no such file"), error);
  if (!g_str_has_prefix (word, "file ") ||
      !g_ascii_string_to_unsigned (
          g_strstrip ((char *)word + 5), 10, 0, G_MAXINT64, &size, NULL))
    return fail (options, N_ ("it is not a file that you may read"), error);
  if (size > FLAM_FETCH_MAX)
    return fail (options, N_ ("it is larger than 16 MiB"), error);
  text = g_malloc (size + 1);
  return flam_connection_read (connection, text, size, error) &&
         keep (options, text, size, error);
}

static gboolean
fetch (FlamConnection *connection,
       const FlamRecordOptions *options,
       GError **error)
{
  g_autofree char *script = g_strdup_printf (SCRIPT, FLAM_FETCH_MAX);
  g_autofree char *name = g_strconcat (options->fetch, "\n", NULL);
  g_autofree char *word = NULL;

  if (!g_path_is_absolute (options->fetch) || strchr (options->fetch, '\n'))
    return fail (options, N_ ("no such file"), error);
  if (!flam_connection_open (connection, options->host, script, error) ||
      !flam_connection_write (connection, name, strlen (name), error))
    return FALSE;
  word = flam_host_read_word (connection, error);
  return word != NULL && receive (connection, options, word, error);
}

int
flam_host_fetch (const FlamRecordOptions *options)
{
  FlamConnection connection = { .is_stopped = never };
  g_autoptr (GError) error = NULL;
  gboolean done;

  signal (SIGPIPE, SIG_IGN);
  done = fetch (&connection, options, &error);
  flam_connection_close (&connection);
  return done ? 0 : report (error);
}
