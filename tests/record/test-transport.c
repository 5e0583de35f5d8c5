/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-profile.h"
#include "flam-process-line.h"
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
    { "adb:a", "adb|-s|a|shell|-T|exec /bin/sh -c 'echo $HOME'" },
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

/* A capture arrives in pieces of some hundred bytes; each has a head. */
static void
test_heads (void)
{
  static const guint sizes[][2] = {
    { 0, 2 }, { 127, 2 }, { 128, 3 }, { 16383, 3 }, { 16384, 4 }, { 65536, 4 },
  };
  g_autofree char *sent = g_malloc0 (FLAM_WIRE_MAX);
  FlamWireMessage message;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      Loop loop;

      open_loop (&loop);
      flam_wire_put (&loop.wire, FLAM_WIRE_CAPTURE, sent, sizes[i][0]);
      g_assert_cmpuint (loop.wire.kept->len, ==, sizes[i][0] + sizes[i][1]);
      /* Byte by byte, as a slow line brings it. */
      for (guint at = 0; at < loop.wire.kept->len; at++)
        {
          g_assert_false (flam_wire_next (&loop.wire, &message, NULL));
          g_byte_array_append (loop.wire.unread, loop.wire.kept->data + at, 1);
        }
      g_assert_true (flam_wire_next (&loop.wire, &message, NULL));
      g_assert_cmpuint (message.size, ==, sizes[i][0]);
      close_loop (&loop);
    }
}

static void
test_refused_messages (void)
{
  /* No kind; 65,537 bytes; no kind; a size of more than 3 bytes. */
  static const char *const texts[] = {
    "Q\1ab", "D\201\200\4", "\0\1ab", "D\200\200\200"
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      FlamWireMessage message;
      Loop loop;

      open_loop (&loop);
      g_assert_cmpint (write (loop.ends[1], texts[i], 4), ==, 4);
      g_assert_true (flam_wire_receive (&loop.wire));
      g_assert_false (flam_wire_next (&loop.wire, &message, &error));
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
      close_loop (&loop);
    }
}

/* --- a line that broke --------------------------------------------------- */

#define LETTERS 3000000

typedef struct
{
  FlamWire here, there;
  int ends[4]; /* here's in, there's out; there's in, here's out */
} Pair;

static void
open_pipes (Pair *pair)
{
  g_assert_cmpint (pipe2 (pair->ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint (pipe2 (pair->ends + 2, O_CLOEXEC), ==, 0);
}

static void
close_pipes (Pair *pair)
{
  for (guint i = 0; i < 4; i++)
    close (pair->ends[i]);
}

/* What is in the pipes is lost, the end of a message with it. */
static void
break_and_join (Pair *pair)
{
  close_pipes (pair);
  open_pipes (pair);
  g_assert_true (flam_wire_rejoin (
      &pair->here, pair->ends[0], pair->ends[3], pair->there.received));
  g_assert_true (flam_wire_rejoin (
      &pair->there, pair->ends[2], pair->ends[1], pair->here.received));
}

static void
take (FlamWire *wire, GByteArray *arrived)
{
  g_autoptr (GError) error = NULL;
  FlamWireMessage message;

  g_assert_true (flam_wire_receive (wire));
  while (flam_wire_next (wire, &message, &error))
    {
      g_assert_cmpint (message.kind, ==, FLAM_WIRE_CAPTURE);
      g_byte_array_append (arrived, message.data, (guint)message.size);
    }
  g_assert_no_error (error);
}

static void
test_rejoined (void)
{
  g_autofree guint8 *sent = g_malloc (LETTERS);
  g_autoptr (GByteArray) to_here = g_byte_array_new ();
  g_autoptr (GByteArray) to_there = g_byte_array_new ();
  gsize at = 0;
  Pair pair;

  for (guint i = 0; i < LETTERS; i++)
    sent[i] = (guint8)(i * 7 >> 3);
  open_pipes (&pair);
  flam_wire_init (&pair.here, pair.ends[0], pair.ends[3]);
  flam_wire_init (&pair.there, pair.ends[2], pair.ends[1]);
  for (guint i = 0; to_here->len < LETTERS || to_there->len < LETTERS; i++)
    {
      gsize n = MIN (LETTERS - at, 20011);

      g_assert_cmpuint (i, <, 10000);
      if (n > 0 && !flam_wire_is_full (&pair.here) &&
          !flam_wire_is_full (&pair.there))
        {
          flam_wire_put (&pair.here, FLAM_WIRE_CAPTURE, sent + at, n);
          flam_wire_put (&pair.there, FLAM_WIRE_CAPTURE, sent + at, n);
          at += n;
        }
      g_assert_true (flam_wire_send (&pair.here));
      g_assert_true (flam_wire_send (&pair.there));
      if (i % 5 == 4)
        break_and_join (&pair);
      take (&pair.there, to_there);
      if (i % 3 == 2)
        take (&pair.here, to_here);
    }
  g_assert_cmpmem (to_here->data, to_here->len, sent, LETTERS);
  g_assert_cmpmem (to_there->data, to_there->len, sent, LETTERS);
  /* What was never sent cannot have arrived. */
  g_assert_false (flam_wire_rejoin (
      &pair.here, pair.ends[0], pair.ends[3], pair.there.received + 1));
  g_assert_false (flam_wire_rejoin (&pair.here, pair.ends[0], pair.ends[3], 0));
  flam_wire_clear (&pair.here);
  flam_wire_clear (&pair.there);
  close_pipes (&pair);
}

static void
test_refused_confirmation (void)
{
  static const char text[] = "Y\10\1\0\0\0\0\0\0\0";
  g_autoptr (GError) error = NULL;
  FlamWireMessage message;
  Loop loop;

  open_loop (&loop);
  g_assert_cmpint (write (loop.ends[1], text, 10), ==, 10);
  g_assert_true (flam_wire_receive (&loop.wire));
  g_assert_false (flam_wire_next (&loop.wire, &message, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  close_loop (&loop);
}

/* --- lists of processes -------------------------------------------------- */

static void
test_process_lines (void)
{
  static const char *const refused[] = {
    "",
    "1\t2\t3\t4\t5\ta\tb",
    "0\t2\t3\t4\t5\ta\tb\tc",
    "1\t-2\t3\t4\t5\ta\tb\tc",
    "1\t2\t3\t4\t5\ta\tb\tc\td",
    "4294967297\t2\t3\t4\t5\ta\tb\tc",
  };
  FlamProcessLine sent = { .pid = 7,
                           .parent = 1,
                           .session = 5,
                           .began = 1234567890123,
                           .cpu = 0.251,
                           .name = (char *)"a\tb",
                           .command = (char *)"x \033[2Jy\xff",
                           .obstacle = (char *)"" };
  g_autofree char *text = flam_process_line_to_text (&sent);
  FlamProcessLine line;

  g_assert_cmpstr (
      text, ==, "7\t1\t5\t1234567890123\t25.1\ta b\tx  [2Jy\xef\xbf\xbd\t");
  g_assert_true (flam_process_line_parse (text, &line));
  g_assert_cmpint (line.pid, ==, 7);
  g_assert_cmpint (line.began, ==, 1234567890123);
  g_assert_cmpfloat_with_epsilon (line.cpu, 0.251, 1e-9);
  g_assert_cmpstr (line.name, ==, "a b");
  flam_process_line_clear (&line);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_assert_false (flam_process_line_parse (refused[i], &line));
      g_assert_null (line.name);
    }
  g_assert_true (flam_process_line_parse ("1\t2\t3\t4\tnan\ta\tb\tc", &line));
  g_assert_cmpfloat (line.cpu, ==, 0);
  flam_process_line_clear (&line);
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
  g_assert_true (
      g_file_set_contents (config,
                           "# Host no\nHost one two *.three !four\n"
                           "  HostName far.example\nhost=\"five\"\n"
                           "Include more\nInclude config\n"
                           "Host one -six\nMatch host seven\n"
                           "Host \"two words\" nine # ten\r\n"
                           "Host -oa=eleven \033[2J\r\nHost \"open\n",
                           -1,
                           NULL));
  g_assert_true (g_file_set_contents (more, "Host eight\n", -1, NULL));
  {
    g_auto (GStrv) hosts = flam_ssh_hosts (config);

    text = g_strjoinv (" ", hosts);
  }
  g_assert_cmpstr (text, ==, "one two five nine eight");
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
  g_test_add_func ("/transport/heads", test_heads);
  g_test_add_func ("/transport/refused-messages", test_refused_messages);
  g_test_add_func ("/transport/rejoined", test_rejoined);
  g_test_add_func ("/transport/refused-confirmation",
                   test_refused_confirmation);
  g_test_add_func ("/transport/process-lines", test_process_lines);
  g_test_add_func ("/transport/hosts", test_hosts);
  return g_test_run ();
}
