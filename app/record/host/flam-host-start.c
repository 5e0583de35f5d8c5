/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-host-start.h"

#include "flam-core-profile.h"
#include "flam-parcel.h"
#include "flam-relay-join.h"

#include <string.h>

#define WORD FLAM_RELAY_WORD
#define BANNER_LINES 200

/* A failed command ends the script: its last line explains why. tar writes
 * one more, without the reason. `read` takes no byte beyond the line, and head
 * gets nothing beyond the parcel before it has ended. The file .whole has the
 * sum of the others; where no cksum is installed, it is empty. */
static char *
start_script (const GPtrArray *parcels, const char *arguments)
{
  g_autoptr (GString) cases = g_string_new (NULL);

  for (guint i = 0; i < parcels->len; i++)
    g_string_append_printf (cases,
                            "%s) d=\"$c/recorder-%s\"; l=%s;; ",
                            flam_parcel_machine (parcels->pdata[i]),
                            flam_parcel_hash (parcels->pdata[i]),
                            flam_parcel_linker (parcels->pdata[i]));
  return g_strdup_printf (
      "umask 077; set -e; m=$(uname -m); " FLAM_HOST_CACHE
      "case $m in %s*) echo " WORD " machine $m; exit 1;; esac; "
      "s() { LC_ALL=C; cd \"$1\"; cat * 2>/dev/null | cksum 2>/dev/null; }; "
      "w() { test -f \"$d/.whole\" && read k <\"$d/.whole\" && "
      "test \"$k\" = \"$(s \"$d\")\"; }; "
      "if w; then :; else echo " WORD " send $m; "
      "mkdir -p \"$c\"; t=$(mktemp -d \"$c/new-XXXXXX\"); mkdir \"$t/new\"; "
      "read n; if e=$(head -c $n | tar xzf - -C \"$t/new\" 2>&1); then :; "
      "else rm -rf \"$t\"; echo \"$e\" | tail -n 2 | head -n 1 >&2; exit 1; "
      "fi; "
      "k=$(s \"$t/new\") || :; echo $k >\"$t/new/.whole\"; "
      "if w; then :; else test -d \"$d\" && mv \"$d\" \"$t/old\"; "
      "mv \"$t/new\" \"$d\"; fi; "
      "rm -rf \"$t\"; fi; echo " WORD " begin; "
      "exec \"$d/$l\" --library-path \"$d\" "
      "\"$d/" FLAM_PARCEL_RECORDER "\" %s",
      cases->str,
      arguments);
}

/* The parcel that a machine wants, by its answer; NULL: none. */
static const FlamParcel *
wanted_parcel (const GPtrArray *parcels, const char *word)
{
  for (guint i = 0; i < parcels->len; i++)
    if (g_str_has_prefix (word, "send ") &&
        strcmp (word + strlen ("send "),
                flam_parcel_machine (parcels->pdata[i])) == 0)
      return parcels->pdata[i];
  return NULL;
}

/* "x86_64, aarch64" */
static char *
name_machines (const GPtrArray *parcels)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < parcels->len; i++)
    g_string_append_printf (text,
                            "%s%s",
                            i > 0 ? ", " : "",
                            flam_parcel_machine (parcels->pdata[i]));
  return g_string_free (text, FALSE);
}

static gboolean
refuse_machine (const char *host,
                const char *machine,
                const GPtrArray *parcels,
                GError **error)
{
  g_autofree char *ours = name_machines (parcels);

  return flam_error_set (
      error,
      FLAM_ERROR_UNSUPPORTED,
      N_ ("%s: the machine is %.40s, and the recorders here are only for %s"),
      host,
      machine,
      ours);
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
  g_autoptr (GPtrArray) parcels = flam_parcels_new (error);
  g_autofree char *script = NULL;
  g_autofree char *word = NULL;
  const FlamParcel *wanted;

  if (parcels == NULL)
    return FALSE;
  script = start_script (parcels, arguments);
  word = flam_host_run (connection, host, script, error);
  wanted = word != NULL ? wanted_parcel (parcels, word) : NULL;
  if (wanted != NULL)
    {
      g_free (word);
      word = send_parcel (connection, wanted, error)
                 ? flam_host_read_word (connection, error)
                 : NULL;
    }
  if (word == NULL)
    return FALSE;
  if (g_str_has_prefix (word, "machine "))
    return refuse_machine (host, word + strlen ("machine "), parcels, error);
  return strcmp (word, "begin") == 0 ||
         flam_error_set (
             error,
             FLAM_ERROR_INVALID,
             N_ ("%s: unexpected answer while starting the recorder"),
             host);
}
