/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-profile.h"
#include "flam-ssh-hosts.h"
#include "flam-transport.h"
#include "flam-wire.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* --- commands ------------------------------------------------------------ */

static void
test_commands (void)
{
  static const struct
  {
    const char *host, *words;
  } cases[] = {
    { "me@there",
      "ssh|-T|-o|ServerAliveInterval=15|-o|ServerAliveCountMax=3|--|me@there|"
      "exec /bin/sh -c 'echo $HOME'" },
    { "ssh://me@there:22",
      "ssh|-T|-o|ServerAliveInterval=15|-o|ServerAliveCountMax=3|--|"
      "ssh://me@there:22|exec /bin/sh -c 'echo $HOME'" },
    { "podman:a", "podman|exec|-i|a|/bin/sh|-c|echo $HOME" },
    { "docker:a", "docker|exec|-i|a|/bin/sh|-c|echo $HOME" },
    { "machine:a",
      "systemd-run|--machine=a|--pipe|--wait|--quiet|--collect|--|/bin/sh|-c|"
      "echo $$HOME" },
    { "pod/a", "kubectl|exec|--stdin|pod/a|--|/bin/sh|-c|echo $HOME" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) command =
          flam_transport_command (cases[i].host, "echo $HOME");
      g_autofree char *words = g_strjoinv ("|", command);

      g_assert_true (flam_transport_check (cases[i].host, NULL));
      g_assert_cmpstr (words, ==, cases[i].words);
      g_assert_cmpint (flam_transport_prompts (cases[i].host), ==, i < 2);
    }
}

/* --- messages ------------------------------------------------------------ */

typedef struct
{
  FlamWire wire; /* reads its messages */
  int ends[2];
} Loop;

static void
open_loop (Loop *loop)
{
  g_assert_cmpint (pipe2 (loop->ends, O_CLOEXEC), ==, 0);
  flam_wire_init (&loop->wire, loop->ends[0], loop->ends[1]);
}

static void
close_loop (Loop *loop)
{
  flam_wire_clear (&loop->wire);
  close (loop->ends[0]);
  if (loop->ends[1] >= 0)
    close (loop->ends[1]);
}

/* A message larger than one, and than the pipe, arrives whole and in order. */
static void
test_messages (void)
{
  g_autofree char *sent = g_malloc (200000);
  g_autoptr (GString) arrived = g_string_new (NULL);
  FlamWireMessage message;
  Loop loop;
  guint n = 0;

  for (guint i = 0; i < 200000; i++)
    sent[i] = (char)(i * 7 >> 3);
  open_loop (&loop);
  flam_wire_put (&loop.wire, FLAM_WIRE_CAPTURE, sent, 200000);
  flam_wire_put_number (&loop.wire, FLAM_WIRE_ROOM, 0x12345678);
  for (guint i = 0; i < 100 && n < 5; i++)
    {
      g_assert_true (flam_wire_send (&loop.wire));
      g_assert_true (flam_wire_receive (&loop.wire));
      for (; flam_wire_next (&loop.wire, &message, NULL); n++)
        if (message.kind == FLAM_WIRE_CAPTURE)
          g_string_append_len (
              arrived, (const char *)message.data, (gssize)message.size);
        else
          g_assert_cmpuint (flam_wire_number (&message), ==, 0x12345678);
    }
  g_assert_cmpuint (n, ==, 5);
  g_assert_cmpmem (arrived->str, arrived->len, sent, 200000);
  close (loop.ends[1]);
  loop.ends[1] = -1;
  g_assert_false (flam_wire_receive (&loop.wire));
  close_loop (&loop);
}

static void
test_refused_messages (void)
{
  static const char *const texts[] = { "Q\1\0\0\0a",
                                       "D\1\0\1\0a",
                                       "\0\1\0\0\0a" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      FlamWireMessage message;
      Loop loop;

      open_loop (&loop);
      g_assert_cmpint (write (loop.ends[1], texts[i], 6), ==, 6);
      g_assert_true (flam_wire_receive (&loop.wire));
      g_assert_false (flam_wire_next (&loop.wire, &message, &error));
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
      close_loop (&loop);
    }
}

/* --- names of hosts ------------------------------------------------------ */

static void
test_hosts (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-hosts-XXXXXX", NULL);
  g_autofree char *config = g_build_filename (folder, "config", NULL);
  g_autofree char *more = g_build_filename (folder, "more", NULL);
  g_autofree char *none = g_build_filename (folder, "none", NULL);
  g_auto (GStrv) empty = flam_ssh_hosts (none);
  g_autofree char *text = NULL;

  g_assert_cmpuint (g_strv_length (empty), ==, 0);
  /* A file that includes itself ends. */
  g_assert_true (g_file_set_contents (config,
                                      "# Host no\nHost one two *.three !four\n"
                                      "  HostName far.example\nhost=\"five\"\n"
                                      "Include more\nInclude config\n"
                                      "Host one -six\nMatch host seven\n",
                                      -1,
                                      NULL));
  g_assert_true (g_file_set_contents (more, "Host eight\n", -1, NULL));
  {
    g_auto (GStrv) hosts = flam_ssh_hosts (config);

    text = g_strjoinv (" ", hosts);
  }
  g_assert_cmpstr (text, ==, "one two five eight");
  g_unlink (config);
  g_unlink (more);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/transport/commands", test_commands);
  g_test_add_func ("/transport/messages", test_messages);
  g_test_add_func ("/transport/refused-messages", test_refused_messages);
  g_test_add_func ("/transport/hosts", test_hosts);
  return g_test_run ();
}
