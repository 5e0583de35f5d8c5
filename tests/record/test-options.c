/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-environment.h"
#include "flam-record-options.h"

static FlamRecordOptions *
parse (const char *line, GError **error)
{
  g_auto (GStrv) argv = g_strsplit (line, " ", -1);

  return flam_record_options_parse ((int)g_strv_length (argv), argv, error);
}

/* Written options are parsed to the same ones. */
static void
test_round_trip (void)
{
  static const char *const lines[] = {
    "it -- true",
    "it --pid=7,8 --pid 9 --process a --process b --unit u --cgroup /c "
    "--container d --no-children",
    "it --wait-for x",
    "it -o o -f -- program -f -o p",
    "it --host me@there --pid 7",
    "it --host podman:a --remove-recorder",
    "it --mode both --rate 49.5 --duration 1.25 --delay 2 --sample-bytes 1 "
    "--no-follow "
    "--no-runtimes --no-python --python-malloc --cwd /x --env A=1 --env B= "
    "--output o "
    "--force --control-fd 3 -- program --mode -- x",
    "it --mode alloc --sample-bytes 7 --exact --runtimes --python --follow -- "
    "true",
    "it --mode faults --exact -- true",
    "it --mode resources -- true",
    "it --engine perf --events instructions,page-faults -- true",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamRecordOptions) options = parse (lines[i], &error);
      g_auto (GStrv) arguments = flam_record_options_to_arguments (options);
      g_autofree char *text = g_strjoinv (" ", arguments);
      g_autofree char *line = g_strconcat ("it ", text, NULL);
      g_autoptr (FlamRecordOptions) again = parse (line, &error);
      g_auto (GStrv) written = flam_record_options_to_arguments (again);

      g_assert_no_error (error);
      g_assert_true (g_strv_equal ((const char *const *)arguments,
                                   (const char *const *)written));
      g_assert_cmpstr (options->mode, ==, again->mode);
      g_assert_cmpuint (options->what, ==, again->what);
      g_assert_true (options->rate == again->rate);
      g_assert_true (options->duration == again->duration);
      g_assert_true (options->delay == again->delay);
      g_assert_cmpint (options->sample_bytes, ==, again->sample_bytes);
      g_assert_cmpint (options->follow, ==, again->follow);
      g_assert_cmpint (options->runtimes, ==, again->runtimes);
      g_assert_cmpint (options->python, ==, again->python);
      g_assert_cmpint (options->python_malloc, ==, again->python_malloc);
      g_assert_cmpint (options->force, ==, again->force);
      g_assert_cmpint (options->control_fd, ==, again->control_fd);
      g_assert_cmpstr (options->wait_for, ==, again->wait_for);
      g_assert_cmpstr (options->host, ==, again->host);
      g_assert_cmpint (options->remove, ==, again->remove);
      g_assert_cmpstr (options->output, ==, again->output);
      g_assert_cmpstr (options->events, ==, again->events);
      g_assert_cmpstr (options->directory, ==, again->directory);
      g_assert_cmpuint (
          g_strv_length (options->argv), ==, g_strv_length (again->argv));
    }
}

static void
test_values (void)
{
  g_autoptr (FlamRecordOptions) usual = parse ("it -- true", NULL);
  g_autoptr (FlamRecordOptions) all = parse (
      "it --mode wall --no-follow --follow --no-python --exact --env A=1 --env "
      "B=2 -- a b",
      NULL);
  g_autoptr (FlamRecordOptions) help = parse ("it --help", NULL);

  g_assert_cmpuint (usual->what, ==, FLAM_RECORD_CPU);
  g_assert_true (usual->rate == 997);
  g_assert_cmpint (usual->sample_bytes, ==, 524288);
  g_assert_true (usual->follow && usual->python && !usual->python_malloc);
  g_assert_cmpint (usual->control_fd, ==, -1);
  g_assert_cmpuint (all->what, ==, FLAM_RECORD_CPU | FLAM_RECORD_WALL);
  g_assert_true (all->follow && all->runtimes && !all->python);
  g_assert_cmpint (all->sample_bytes, ==, 0);
  g_assert_cmpstr (all->environment[1], ==, "B=2");
  g_assert_cmpstr (all->argv[1], ==, "b");
  g_assert_true (help->help);
}

static void
test_pids (void)
{
  g_autoptr (FlamRecordOptions) options =
      parse ("it --pid 7,8 --pid 9,7 --no-children", NULL);
  g_autoptr (GArray) pids = flam_record_options_get_pids (options, NULL);

  g_assert_cmpuint (pids->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (g_array_index (pids, pid_t, i), ==, 7 + i);
  g_assert_false (options->follow);
  g_assert_true (flam_record_options_attaches (options));
}

/* The command line of a capture can be pasted into a shell. */
static void
test_command (void)
{
  g_auto (GStrv) argv = g_strsplit ("it,--,cp,a b,it's,$HOME,,c", ",", -1);
  g_autoptr (FlamRecordOptions) options =
      flam_record_options_parse ((int)g_strv_length (argv), argv, NULL);
  g_autofree char *command = flam_record_options_command (options);

  g_assert_cmpstr (command, ==, "cp 'a b' 'it'\\''s' '$HOME' '' c");
}

static void
test_refused (void)
{
  static const char *const lines[] = {
    "it",
    "it --pid 7 -- true",
    "it true",
    "it --mode x -- true",
    "it --events instructions -- true",
    "it --engine perf --events instructions,x -- true",
    "it --engine perf --events= -- true",
    "it --pid 0",
    "it --pid 7,",
    "it --pid 7,x",
    "it --pid 7 --wait-for x",
    "it --wait-for x -- true",
    "it --process x -- true",
    "it --rate 0 -- true",
    "it --rate 20001 -- true",
    "it --duration -1 -- true",
    "it --delay -1 -- true",
    "it --sample-bytes 0 -- true",
    "it --env A -- true",
    "it --host -oX -- true",
    "it --host there",
    "it --remove-recorder",
    "it --nonsense -- true",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (parse (lines[i], &error));
      g_assert_nonnull (error);
    }
}

/* An option is added to those that the variable has; another value replaces it.
 */
static void
test_environment (void)
{
  static const struct
  {
    const char *before, *assignment, *after;
    gboolean has;
  } cases[] = {
    { "A=1", "NODE_OPTIONS=--map", "NODE_OPTIONS=--map", FALSE },
    { "NODE_OPTIONS=", "NODE_OPTIONS=--map", "NODE_OPTIONS=--map", FALSE },
    { "NODE_OPTIONS=--x",
      "NODE_OPTIONS=--map",
      "NODE_OPTIONS=--x --map",
      FALSE },
    { "NODE_OPTIONS=--map-all",
      "NODE_OPTIONS=--map",
      "NODE_OPTIONS=--map-all --map",
      FALSE },
    { "NODE_OPTIONS=--x --map --y",
      "NODE_OPTIONS=--map",
      "NODE_OPTIONS=--x --map --y",
      TRUE },
    { "FLAGS=+S 1 +P true", "FLAGS=+P true", "FLAGS=+S 1 +P true", TRUE },
    { "SUPPORT=0", "SUPPORT=1", "SUPPORT=1", FALSE },
    { "SUPPORT=1", "SUPPORT=1", "SUPPORT=1", TRUE },
    { "SUPPORTED=1", "SUPPORT=1", "SUPPORT=1", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const environment[] = { "SUPPORT=2", cases[i].before, NULL };
      g_autofree char *after =
          flam_environment_add (environment, cases[i].assignment);

      g_assert_cmpstr (after, ==, cases[i].after);
      g_assert_cmpint (flam_environment_has (environment, cases[i].assignment),
                       ==,
                       cases[i].has);
    }
  g_assert_false (flam_environment_has (NULL, "A=1"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/options/round-trip", test_round_trip);
  g_test_add_func ("/options/values", test_values);
  g_test_add_func ("/options/pids", test_pids);
  g_test_add_func ("/options/command", test_command);
  g_test_add_func ("/options/refused", test_refused);
  g_test_add_func ("/options/environment", test_environment);
  return g_test_run ();
}
