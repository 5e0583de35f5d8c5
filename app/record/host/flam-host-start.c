/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-host-start.h"

#include "flam-core-profile.h"
#include "flam-parcel.h"
#include "flam-relay-join.h"

#include <string.h>

#define WORD FLAM_RELAY_WORD
#define BANNER_LINES 200

/* A failed command ends the script: its message explains why. `read` takes no
 * byte beyond the line, and head gets nothing beyond the parcel before it has
 * ended. */
static char *
start_script (const char *hash, const char *arguments)
{
  return g_strdup_printf (
      "umask 077; set -e; m=$(uname -m); " FLAM_HOST_CACHE
      "d=\"$c/recorder-%s\"; "
      "if test $m = x86_64; then :; else echo " WORD " machine $m; exit 1; fi; "
      "if test -f \"$d/whole\"; then :; else echo " WORD " send; "
      "mkdir -p \"$c\"; t=$(mktemp -d \"$c/new-XXXXXX\"); read n; "
      "if head -c $n | tar xzf - -C \"$t\"; then :; "
      "else rm -rf \"$t\"; exit 1; fi; "
      "touch \"$t/whole\"; test -d \"$d\" || mv \"$t\" \"$d\"; "
      "rm -rf \"$t\"; fi; echo " WORD " begin; "
      "exec \"$d/" FLAM_PARCEL_LINKER "\" --library-path \"$d\" "
      "\"$d/" FLAM_PARCEL_RECORDER "\" %s",
      hash,
      arguments);
}

static gboolean
send_parcel (FlamConnection *connection,
             const FlamParcel *parcel,
             GError **error)
{
  g_autoptr (GByteArray) packed = flam_parcel_pack (parcel, error);
  g_autofree char *size = NULL;

  if (packed == NULL)
    return FALSE;
  size = g_strdup_printf ("%u\n", packed->len);
  return flam_connection_write (connection, size, strlen (size), error) &&
         flam_connection_write (connection, packed->data, packed->len, error);
}

char *
flam_host_read_word (FlamConnection *connection, GError **error)
{
  for (guint i = 0; i < BANNER_LINES; i++)
    {
      g_autofree char *line = flam_connection_read_line (connection, error);

      if (line == NULL)
        return NULL;
      if (g_str_has_prefix (line, WORD " "))
        return g_utf8_make_valid (line + strlen (WORD " "), -1);
    }
  return flam_error_null (
      error,
      FLAM_ERROR_INVALID,
      N_ ("%s: unexpected output while starting the recorder"),
      connection->host);
}

char *
flam_host_run (FlamConnection *connection,
               const char *host,
               const char *script,
               GError **error)
{
  return flam_connection_open (connection, host, script, error)
             ? flam_host_read_word (connection, error)
             : NULL;
}

gboolean
flam_host_start (FlamConnection *connection,
                 const char *host,
                 const char *arguments,
                 GError **error)
{
  g_autoptr (FlamParcel) parcel = flam_parcel_new (error);
  g_autofree char *script = NULL;
  g_autofree char *word = NULL;

  if (parcel == NULL)
    return FALSE;
  script = start_script (flam_parcel_hash (parcel), arguments);
  word = flam_host_run (connection, host, script, error);
  if (g_strcmp0 (word, "send") == 0)
    {
      g_free (word);
      word = send_parcel (connection, parcel, error)
                 ? flam_host_read_word (connection, error)
                 : NULL;
    }
  if (word == NULL)
    return FALSE;
  if (g_str_has_prefix (word, "machine "))
    return flam_error_set (
        error,
        FLAM_ERROR_UNSUPPORTED,
        N_ ("%s: the machine is %.40s, but the recorder runs only on x86_64"),
        host,
        word + strlen ("machine "));
  return strcmp (word, "begin") == 0 ||
         flam_error_set (
             error,
             FLAM_ERROR_INVALID,
             N_ ("%s: unexpected answer while starting the recorder"),
             host);
}
