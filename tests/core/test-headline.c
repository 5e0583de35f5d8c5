/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The sentence on what stands out: profiles from text, and literal sentences.
 *
 * A line is a stack and its weight; a frame is NAME[@FILE:LINE][!MODULE], and
 * "name?" has no name. Before the stack there may be a state, "lock: ". */

#include "flam-core-picture.h"

#include <stdlib.h>
#include <string.h>

static FlamId
add_frame (FlamBuilder *builder, FlamId stack, const char *text)
{
  g_autofree char *name = g_strndup (text, strcspn (text, "@!"));
  const char *at = strchr (text, '@');
  const char *mark = strchr (text, '!');
  FlamFunction function = { .kind = FLAM_KIND_NATIVE, .module = FLAM_NONE };
  FlamId id;
  guint32 line = 0;

  if (mark != NULL)
    function.module =
        flam_builder_module (builder, mark + 1, "", FLAM_ADDRESS_VADDR);
  if (at != NULL)
    {
      const char *colon = strchr (at, ':');

      function.file = flam_builder_string (builder, at + 1, colon - at - 1);
      line = (guint32)atoi (colon + 1);
    }
  if (strchr (name, '?') != NULL)
    id = flam_builder_function_unresolved (builder, function.module);
  else
    {
      function.name = flam_builder_string (builder, name, -1);
      id = flam_builder_function (builder, &function);
    }
  return flam_builder_stack (
      builder, stack, flam_builder_frame (builder, id, 0, line, 0));
}

static FlamState
state_of (const char *line)
{
  return g_str_has_prefix (line, "lock: ")    ? FLAM_STATE_LOCK
         : g_str_has_prefix (line, "io: ")    ? FLAM_STATE_IO
         : g_str_has_prefix (line, "sleep: ") ? FLAM_STATE_SLEEP
         : g_str_has_prefix (line, "off: ")   ? FLAM_STATE_BLOCKED
                                              : FLAM_STATE_RUNNING;
}

static FlamProfile *
profile_of (const char *text, gboolean time)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  FlamId process = flam_builder_process (builder, 1, 0);
  FlamId thread = flam_builder_thread (builder, process, 1, 0);
  int column = (int)flam_builder_add_column (builder);

  flam_builder_add_measure (builder,
                            time ? "wall-time" : "samples",
                            time ? "Wall time" : "Samples",
                            time ? FLAM_UNIT_NS : FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            column,
                            FLAM_NONE);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      const char *space = strrchr (lines[i], ' ');
      FlamState state = state_of (lines[i]);
      const char *begin =
          state == FLAM_STATE_RUNNING ? lines[i] : strchr (lines[i], ' ') + 1;
      g_autofree char *path = g_strndup (begin, space - begin);
      g_auto (GStrv) names = g_strsplit (path, ";", -1);
      FlamSample sample = { .thread = thread,
                            .stack = FLAM_NONE,
                            .state = (guint8)state };
      gint64 weight = g_ascii_strtoll (space + 1, NULL, 10);

      for (guint k = 0; names[k] != NULL; k++)
        sample.stack = add_frame (builder, sample.stack, names[k]);
      flam_builder_add_sample (builder, &sample, &weight);
    }
  return flam_builder_finish (builder, NULL);
}

static char *
sentence_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamHeadline) headline = flam_headline_new (
      profile, selection != NULL ? selection : all, NULL, NULL);
  g_autofree char *text = flam_headline_to_english (headline);

  /* The figures' spaces are of the kind that does not break. */
  g_auto (GStrv) pieces = g_strsplit (text, "\u00a0", -1);

  return g_strjoinv (" ", pieces);
}

typedef struct
{
  const char *name;
  gboolean time;
  const char *profile;
  const char *expected;
} Case;

static const Case cases[] = {
  { "self",
    FALSE,
    "main@/home/me/mix.c:30;checksum@/home/me/mix.c:16 50\n"
    "main@/home/me/mix.c:30;checksum@/home/me/mix.c:17 33\n"
    "main@/home/me/mix.c:31 17\n",
    "checksum takes 83 % (mix.c:16)" },
  { "no place", FALSE, "main;work 60\nmain 40\n", "work takes 60 %" },
  { "module instead of a line",
    FALSE,
    "main!/home/me/app;work!/home/me/app 60\nmain!/home/me/app 40\n",
    "work takes 60 % (app)" },
  { "cost in a library: the own caller, by total",
    FALSE,
    "main@/home/me/a.c:3;sort_all@/home/me/a.c:9;qsort!/lib/libc.so.6 70\n"
    "main@/home/me/a.c:3;sort_all@/home/me/a.c:8 10\n"
    "main@/home/me/a.c:4 20\n",
    "sort_all takes 80 %, with the functions it calls (a.c:9)" },
  { "nearly half of the cost in a library: the total, not the self",
    FALSE,
    "work@/home/me/b.php:40;heavy@/home/me/b.php:20 44\n"
    "work@/home/me/b.php:40;heavy@/home/me/b.php:20;?!/usr/bin/php8.2 31\n"
    "work@/home/me/b.php:41;light@/home/me/b.php:28 25\n",
    "heavy takes 75 %, with the functions it calls (b.php:20)" },
  { "the same cost, and other own code called: the self is closer",
    FALSE,
    "heavy@/home/me/b.c:20 30\n"
    "heavy@/home/me/b.c:20;sin!/lib/libm.so.6 15\n"
    "heavy@/home/me/b.c:21;light@/home/me/b.c:28 40\n"
    "rest@/home/me/b.c:9 15\n",
    "heavy takes 30 % (b.c:20)" },
  { "a library's cost of less than two percent",
    FALSE,
    "work@/m/q.c:3;sum@/m/q.c:16 83\n"
    "work@/m/q.c:3;sum@/m/q.c:16;free!/lib/libc.so.6 1\n"
    "work@/m/q.c:4 16\n",
    "sum takes 83 % (q.c:16)" },
  { "nearly half of a wait in a library",
    TRUE,
    "lock: work@/m/q.c:3;pop@/m/q.c:40 35\n"
    "lock: work@/m/q.c:3;pop@/m/q.c:40;futex!/lib/libc.so 30\n"
    "work@/m/q.c:4 35\n",
    "65 % of the time waits for a lock in pop (q.c:40)" },
  { "own code before heavier code of others",
    FALSE,
    "start!/usr/lib/x.so;spin!/usr/lib/x.so 85\n"
    "main@/home/me/a.c:3 15\n",
    "main takes 15 % (a.c:3)" },
  { "an interpreter in the user's folder is not the user's own",
    FALSE,
    "main!/home/me/.pyenv/lib/libpython3.11.so;spin@/home/me/a.py:9;"
    "add!/home/me/.pyenv/lib/libpython3.11.so 90\n"
    "main!/home/me/.pyenv/lib/libpython3.11.so 10\n",
    "spin takes 90 %, with the functions it calls (a.py:9)" },
  { "own code that does not count",
    FALSE,
    "start!/usr/lib/x.so;spin!/usr/lib/x.so 95\n"
    "main@/home/me/a.c:3 5\n",
    "spin takes 95 % (x.so)" },
  { "nothing stands out",
    FALSE,
    "a 9\nb 8\nc 8\nd 8\ne 8\nf 8\ng 8\nh 8\ni 8\nj 8\nk 8\nl 8\nm 3\n",
    "No function stands out. The largest is a with 9.0 %" },
  { "no names",
    FALSE,
    "main@/home/me/a.c:3 5\n?!/home/me/app 61\n?!/lib/y.so 34\n",
    "No function names for 95 %, most of it in app" },
  { "a block of Ruby's is a part of its function, in place and figure",
    FALSE,
    "work@/m/b.rb:9;heavy@/m/b.rb:4;times!/usr/lib/libruby.so 30\n"
    "work@/m/b.rb:9;heavy@/m/b.rb:4;times!/usr/lib/libruby.so;"
    "block in heavy@/m/b.rb:5 25\n"
    "work@/m/b.rb:9;heavy@/m/b.rb:4;times!/usr/lib/libruby.so;"
    "block in heavy@/m/b.rb:5;each!/usr/lib/libruby.so;"
    "block (2 levels) in heavy@/m/b.rb:6 10\n"
    "work@/m/b.rb:8;light@/m/b.rb:2 35\n",
    "heavy takes 65 %, with the functions it calls (b.rb:4)" },
  { "a block that another own function calls",
    FALSE,
    "heavy@/m/b.rb:4;each_row@/m/b.rb:9;rescue in block in heavy@/m/b.rb:5 "
    "70\n"
    "heavy@/m/b.rb:4;each_row@/m/b.rb:9 20\n"
    "work@/m/b.rb:8 10\n",
    "heavy takes 90 %, with the functions it calls (b.rb:5)" },
  { "a block whose function has returned stands for itself",
    FALSE,
    "run@/m/b.rb:4;block in heavy@/m/b.rb:5 70\nrun@/m/b.rb:4 30\n",
    "block in heavy takes 70 % (b.rb:5)" },
  { "a comprehension of Python's",
    FALSE,
    "main@/m/a.py:9;Tree.walk@/m/a.py:4 40\n"
    "main@/m/a.py:9;Tree.walk@/m/a.py:4;"
    "Tree.walk.<locals>.<listcomp>@/m/a.py:4 20\n"
    "main@/m/a.py:8;load@/m/a.py:2 40\n",
    "Tree.walk takes 60 %, with the functions it calls (a.py:4)" },
  { "recursion counts once",
    FALSE,
    "f@/m/a.c:1;f@/m/a.c:1;f@/m/a.c:1;read!/lib/libc.so 90\ng@/m/a.c:9 10\n",
    "f takes 90 %, with the functions it calls (a.c:1)" },
  { "nearly all is not all", FALSE, "f 99999\ng 1\n", "f takes > 99.9 %" },
  { "all", FALSE, "f 7\n", "f takes 100 %" },
  { "hostile name",
    FALSE,
    "a\033[31m\u202e<b>%s%n takes 0 % 9\ng 1\n",
    "a\\x1b[31m\\u202e<b>%s%n takes 0 % takes 90 %" },
  { "not code",
    FALSE,
    "[not sampled] 40\n(idle) 30\nmain;f 30\n",
    "f takes 30 %" },
  { "waits for a lock",
    TRUE,
    "lock: work@/m/q.c:3;queue_pop@/m/q.c:40;futex!/lib/libc.so 62\n"
    "work@/m/q.c:4 38\n",
    "62 % of the time waits for a lock in queue_pop (q.c:40)" },
  { "waits for a condition",
    TRUE,
    "lock: work@/m/q.c:3;pop@/m/q.c:40;pthread_cond_wait!/lib/libc.so;"
    "futex!/lib/libc.so 62\n"
    "work@/m/q.c:4 38\n",
    "62 % of the time waits for another thread in pop (q.c:40)" },
  { "a monitor is a lock that waits by a condition",
    TRUE,
    "lock: Q.pop@Q.java:40;ObjectMonitor::enter!/opt/jdk/libjvm.so;"
    "pthread_cond_wait!/lib/libc.so 62\n"
    "Q.work@Q.java:4 38\n",
    "62 % of the time waits for a lock in Q.pop (Q.java:40)" },
  { "a clock is not a lock, and a sleep may be a futex",
    TRUE,
    "lock: Q.nap@Q.java:40;JVM_Sleep!/opt/jdk/libjvm.so;"
    "pthread_cond_clockwait!/lib/libc.so 62\n"
    "Q.work@Q.java:4 38\n",
    "62 % of the time sleeps in Q.nap (Q.java:40)" },
  { "a runtime's threads wait, and the user's own code works",
    TRUE,
    "lock: clone3!/lib/libc.so;Pool::run!/opt/jdk/libjvm.so;"
    "futex!/lib/libc.so 95\n"
    "Q.work@Q.java:4 3\n"
    "lock: Q.pop@Q.java:40;Mutex::lock!/opt/jdk/libjvm.so 2\n",
    "Q.work takes 3.0 % (Q.java:4)" },
  { "a runtime's threads wait, and the user's own code waits",
    TRUE,
    "lock: clone3!/lib/libc.so;Pool::run!/opt/jdk/libjvm.so;"
    "futex!/lib/libc.so 95\n"
    "Q.work@Q.java:4 2\n"
    "lock: Q.pop@Q.java:40;Mutex::lock!/opt/jdk/libjvm.so 3\n",
    "3.0 % of the time waits for a lock in Q.pop (Q.java:40)" },
  { "own code that waits and works in many places",
    TRUE,
    "sleep: a 4\nsleep: b 5\nc 9\nd 8\ne 8\nf 8\ng 8\nh 8\ni 8\nj 8\nk 8\n"
    "l 8\nm 5\nsleep: n 5\n",
    "No function stands out. The largest is c with 9.0 %" },
  { "only a runtime's threads: what they begin with",
    TRUE,
    "lock: clone3!/lib/libc.so;start_thread!/lib/libc.so;"
    "Pool::run!/opt/jdk/libjvm.so;pthread_cond_wait!/lib/libc.so;"
    "futex!/lib/libc.so 95\n"
    "spin!/opt/jdk/libjvm.so 5\n",
    "95 % of the time waits for another thread in Pool::run (libjvm.so)" },
  { "waits less than it runs",
    TRUE,
    "lock: work@/m/q.c:3;queue_pop@/m/q.c:40 38\nwork@/m/q.c:4 62\n",
    "work takes 62 % (q.c:4)" },
  { "sleeps",
    TRUE,
    "sleep: main;nap 90\nmain 10\n",
    "90 % of the time sleeps in nap" },
  { "input or output",
    TRUE,
    "io: main;load@/m/l.c:7;read!/lib/libc.so 90\nmain 10\n",
    "90 % of the time waits for input or output in load (l.c:7)" },
  { "waits for a child process",
    TRUE,
    "main@/m/a.c:9 1\n"
    "off: main@/m/a.c:9;run@/m/a.c:5;__waitpid!/usr/lib/libc.so.6;"
    "wait4!/usr/lib/libc.so.6 9\n",
    "90 % of the time waits for another process in run (a.c:5)" },
  { "off the CPU for another reason, in a function of that name",
    TRUE,
    "main@/m/a.c:9 1\noff: main@/m/a.c:9;wait@/m/a.c:5 9\n",
    "90 % of the time is off the CPU in wait (a.c:5)" },
  { "states of samples that are not time",
    FALSE,
    "sleep: main;nap 90\nmain 10\n",
    "nap takes 90 %" },
  { "the recorder's library is charged to nobody",
    FALSE,
    "main@/m/a.c:4;malloc!/usr/lib/libc.so.6 10\n"
    "main@/m/a.c:4;[recorder]!libflambeau-alloc.so 60\n"
    "main@/m/a.c:4;[recorder]!libflambeau-alloc.so;syscall!/usr/lib/libc.so.6 "
    "15\n"
    "main@/m/a.c:3;small@/m/a.c:2 15\n",
    "small takes 15 % (a.c:2). Recording itself takes 75 %" },
  { "less than a tenth of the recorder's is not worth a sentence",
    FALSE,
    "main;work 91\nmain;work;[recorder]!libflambeau-alloc.so 9\n",
    "work takes 91 %" },
  { "a function of that name elsewhere",
    FALSE,
    "main;work 60\nmain;[recorder]!mine.so 40\n",
    "work takes 60 %" },
  { "empty", FALSE, "", "" },
  { "no weight", FALSE, "main 0\n", "" },
};

static void
test_sentences (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (FlamProfile) profile =
          profile_of (cases[i].profile, cases[i].time);
      g_autofree char *text = sentence_of (profile, NULL);

      g_test_message ("%s", cases[i].name);
      g_assert_cmpstr (text, ==, cases[i].expected);
    }
}

/* --- the selection -------------------------------------------------------- */

static void
test_selection (void)
{
  g_autoptr (FlamProfile) profile =
      profile_of ("main;a 60\nmain;b;c 30\nmain 10\n", FALSE);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autofree char *ignored = NULL;
  g_autofree char *hidden = NULL;

  selection->invert = TRUE;
  selection->by = FLAM_BY_MODULE;
  flam_selection_add_transform (selection, FLAM_TRANSFORM_IGNORE, "^a$", NULL);
  ignored = sentence_of (profile, selection);
  g_assert_cmpstr (ignored, ==, "c takes 75 %");
  flam_selection_add_transform (selection, FLAM_TRANSFORM_HIDE, "^c$", NULL);
  hidden = sentence_of (profile, selection);
  g_assert_cmpstr (hidden, ==, "b takes 75 %");
}

/* A recorder's clock takes its samples by chance. */
static void
test_too_few (void)
{
  for (guint n = 9; n <= 10; n++)
    {
      g_autoptr (FlamBuilder) builder = flam_builder_new ();
      g_autoptr (FlamProfile) profile = NULL;
      FlamId process = flam_builder_process (builder, 1, 0);
      FlamSample sample = { .thread =
                                flam_builder_thread (builder, process, 1, 0),
                            .stack = add_frame (builder, FLAM_NONE, "munmap") };
      gint64 weight = 1000000;
      int column = (int)flam_builder_add_column (builder);
      g_autofree char *text = NULL;

      flam_builder_set_fact (builder, "engine", "ptrace");
      flam_builder_add_measure (builder,
                                "cpu-time",
                                "CPU time",
                                FLAM_UNIT_NS,
                                FLAM_MEASURE_CPU,
                                column,
                                FLAM_NONE);
      flam_builder_add_measure (builder,
                                "samples",
                                "Samples",
                                FLAM_UNIT_COUNT,
                                FLAM_MEASURE_CPU,
                                -1,
                                0);
      for (guint i = 0; i < n; i++)
        flam_builder_add_sample (builder, &sample, &weight);
      /* Time measured between samples. */
      sample.event = 1;
      for (guint i = 0; i < 20; i++)
        flam_builder_add_sample (builder, &sample, &weight);
      profile = flam_builder_finish (builder, NULL);
      g_assert_cmpint (flam_profile_count_samples (profile), ==, n);
      text = sentence_of (profile, NULL);
      g_assert_cmpstr (text,
                       ==,
                       n < 10
                           ? "Too few samples (9) to tell what takes the time"
                           : "munmap takes 100 %");
    }
}

/* All parts of the second sentence lead to the program. */
static void
assert_program (const FlamProfile *profile, const char *name)
{
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (profile, all, NULL, NULL);

  g_assert_cmpuint (headline->sentence[1].n_parts, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      const FlamHeadlinePart *part = &headline->sentence[1].part[i];

      g_assert_cmpint (part->kind, ==, FLAM_HEADLINE_PROGRAM);
      g_assert_cmpstr (flam_profile_string (profile, part->what), ==, name);
    }
}

/* Where no function stands out, the program with half of the time does. */
static void
test_programs (void)
{
  static const char *const names[] = { "postgres", "postgres", "nginx", "php" };
  static const gint64 weights[][4] = { { 40, 32, 8, 20 },
                                       { 24, 25, 31, 20 },
                                       { 40, 32, 8, 20 } };

  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    {
      g_autoptr (FlamBuilder) builder = flam_builder_new ();
      g_autoptr (FlamProfile) profile = NULL;
      g_autofree char *text = NULL;

      flam_builder_add_standard_measure (
          builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
      for (guint k = 0; k < G_N_ELEMENTS (names); k++)
        {
          FlamId process = flam_builder_process (builder, 1 + (gint32)k, 0);
          FlamId thread = flam_builder_thread (builder, process, 1, 0);

          flam_builder_set_process_name (builder, process, names[k]);
          for (gint64 n = 0; n < weights[i][k]; n++)
            {
              /* The last time, three sentences. */
              g_autofree char *name =
                  i == 2 && n % 8 == 7
                      ? g_strdup ("[recorder]!libflambeau-alloc.so")
                      : g_strdup_printf ("f%d", (int)(n % 30));
              FlamSample sample = { .thread = thread,
                                    .stack =
                                        add_frame (builder, FLAM_NONE, name) };

              flam_builder_add_sample (builder, &sample, NULL);
            }
        }
      profile = flam_builder_finish (builder, NULL);
      text = sentence_of (profile, NULL);
      g_assert_true (g_str_has_prefix (text, "No function stands out."));
      g_assert_cmpint (strstr (text, "Of the programs") != NULL, ==, i != 1);
      if (i == 2)
        g_assert_true (g_str_has_suffix (
            text, "in 2 processes. Recording itself takes 12 %"));
      if (i == 0)
        {
          g_assert_true (g_str_has_suffix (
              text,
              "Of the programs, postgres takes the most: 72 %, in 2 "
              "processes"));
          assert_program (profile, "postgres");
        }
    }
}

/* The target of a click on each part. */
static void
test_parts (void)
{
  g_autoptr (FlamProfile) profile = profile_of (
      "main@/m/mix.c:3;sum@/m/mix.c:16 9\nmain@/m/mix.c:4 1\n", FALSE);
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (profile, all, NULL, NULL);
  const FlamHeadlinePart *part = headline->sentence[0].part;

  g_assert_cmpuint (headline->n, ==, 1);
  g_assert_cmpuint (headline->sentence[0].n_parts, ==, 3);
  g_assert_cmpint (part[0].kind, ==, FLAM_HEADLINE_FUNCTION);
  g_assert_cmpstr (
      flam_profile_function_name (profile, part[0].function), ==, "sum");
  g_assert_cmpint (part[2].kind, ==, FLAM_HEADLINE_PLACE);
  g_assert_cmpstr (flam_profile_string (profile, part[2].file), ==, "/m/mix.c");
  g_assert_cmpuint (part[2].line, ==, 16);
}

/* What has no names leads to what the capture lacks, and to the module. */
static void
test_parts_unnamed (void)
{
  g_autoptr (FlamProfile) profile =
      profile_of ("?!/m/app 95\nf!/m/b 5\n", FALSE);
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (profile, all, NULL, NULL);
  const FlamHeadlinePart *part = headline->sentence[0].part;

  g_assert_cmpuint (headline->sentence[0].n_parts, ==, 2);
  g_assert_cmpint (part[0].kind, ==, FLAM_HEADLINE_QUALITY);
  g_assert_cmpint (part[1].kind, ==, FLAM_HEADLINE_MODULE);
  g_assert_cmpstr (
      flam_profile_string (profile, profile->modules.name[part[1].what]),
      ==,
      part[1].text);
}

static char *
show_bracketed (const FlamHeadlinePart *part,
                guint sentence,
                guint index,
                gpointer data)
{
  return g_strdup_printf ("[%u.%u %s]", sentence, index, part->text);
}

static void
test_show (void)
{
  g_autoptr (FlamProfile) profile = profile_of ("f 7\n", FALSE);
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamHeadline) headline =
      flam_headline_new (profile, all, NULL, NULL);
  g_autofree char *text = flam_headline_show (headline, show_bracketed, NULL);

  g_assert_cmpstr (text, ==, "[0.0 f] takes [0.1 100\u00a0%]");
}

/* --- memory --------------------------------------------------------------- */

typedef struct
{
  const char *stack;
  gint64 size;
  gint64 time;
  gint64 freed_at;
} Block;

static FlamProfile *
memory_of (const Block *of, guint n, gint64 sample_bytes)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId process = flam_builder_process (builder, 1, 0);
  FlamId thread = flam_builder_thread (builder, process, 1, 0);

  flam_builder_add_allocation_measures (builder);
  for (guint i = 0; i < n; i++)
    {
      g_auto (GStrv) names = g_strsplit (of[i].stack, ";", -1);
      FlamAllocation a = { .time = of[i].time,
                           .freed_at = of[i].freed_at,
                           .thread = thread,
                           .stack = FLAM_NONE,
                           .size = sample_bytes > 0 ? 1000 : of[i].size,
                           .count = sample_bytes > 0 ? of[i].size / 1000 : 1,
                           .at_peak = -1,
                           .distance = G_MAXUINT16 };

      for (guint k = 0; names[k] != NULL; k++)
        a.stack = add_frame (builder, a.stack, names[k]);
      flam_builder_add_allocation (builder, &a);
    }
  flam_builder_facts (builder)->sample_bytes = sample_bytes;
  return flam_builder_finish (builder, NULL);
}

static const Block blocks[] = {
  { "main@/m/a.c:1;load@/m/a.c:5", 6000000, 1, 9 },
  { "main@/m/a.c:1;fill@/m/a.c:7", 4000000, 2, 9 },
  { "main@/m/a.c:1;open_session@/m/s.c:8", 800000, 10, FLAM_NEVER },
};

static void
test_memory (void)
{
  g_autoptr (FlamProfile) profile =
      memory_of (blocks, G_N_ELEMENTS (blocks), 0);
  g_autoptr (FlamProfile) freed = memory_of (blocks, 2, 0);
  g_autofree char *text = sentence_of (profile, NULL);
  g_autofree char *without = sentence_of (freed, NULL);

  g_assert_cmpstr (text,
                   ==,
                   "Peak 10.0 MB, 60 % of it in load (a.c:5). 800 kB never "
                   "freed, in open_session (s.c:8)");
  g_assert_cmpstr (without, ==, "Peak 10.0 MB, 60 % of it in load (a.c:5)");
}

/* If allocations are sampled, shares are estimates, and a few samples name no
 * function. */
static void
test_sampled (void)
{
  g_autoptr (FlamProfile) profile =
      memory_of (blocks, G_N_ELEMENTS (blocks), 524288);
  g_autofree char *text = sentence_of (profile, NULL);

  g_assert_cmpstr (text,
                   ==,
                   "Peak 10.0 MB ± 5.60 MB, ≈ 60 % of it in load (a.c:5). "
                   "800 kB (2 samples) never freed");
}

/* --- difference ----------------------------------------------------------- */

static FlamTree *
tree_of (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamWeights) weights = flam_weights_new (profile, all, NULL, NULL);

  return flam_tree_new (weights, all, FLAM_ORDER_TOTAL, NULL, NULL);
}

static void
test_difference (void)
{
  static const struct
  {
    const char *base, *fresh, *expected;
    gboolean gone; /* only the base has the function */
  } rows[] = {
    { "main;a@/m/a.c:5 10\nmain;b 20\n",
      "main;a@/m/a.c:5 50\nmain;b 10\n",
      "a: 40 more (a.c:5)" },
    { "main;a 10\nmain;b 20\n", "main;a 12\n", "b: 20 less", TRUE },
    { "main;a 10\n", "main;a 10\n", "" },
    { "m!/usr/lib/x.so 90\nmain;b 20\n", "main;b 80\n", "b: 60 more" },
    { "m!/usr/lib/x.so 900\nmain;b 20\n",
      "main;b 80\n",
      "m: 900 less (x.so)",
      TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamProfile) base = profile_of (rows[i].base, FALSE);
      g_autoptr (FlamProfile) fresh = profile_of (rows[i].fresh, FALSE);
      g_autoptr (FlamTree) before = tree_of (base);
      g_autoptr (FlamTree) now = tree_of (fresh);
      const FlamTree *of = NULL;
      g_autoptr (FlamHeadline) headline =
          flam_headline_new_difference (before, now, FLAM_DIFF_UNSCALED, &of);
      g_autofree char *text = flam_headline_to_english (headline);

      g_assert_cmpstr (text, ==, rows[i].expected);
      g_assert_true (of == (rows[i].gone ? before : now));
    }
}

/* --- own code ------------------------------------------------------------- */

/* Whether a path is the user's own code. */
static void
test_own_paths (void)
{
  static const char *const own[] = { "/home/me/src/a.c",   "src/main.rs",
                                     "/root/app/lib/x.py", "/usr/src/mine/a.c",
                                     "/home/me/cook.jl",   "C:\\me\\cook.jl" };
  static const char *const others[] = {
    "/usr/include/c++/12/bits/stl_algo.h",
    "./malloc/malloc.c",
    "../sysdeps/x86_64/memcpy.S",
    "/rustc/9fc6b4312/library/core/src/iter.rs",
    "/home/me/.cargo/registry/src/x/serde/lib.rs",
    "/home/me/venv/lib/python3.11/site-packages/numpy/core.py",
    "/home/me/app/node_modules/left-pad/index.js",
    "<frozen importlib._bootstrap>",
    "node:internal/timers",
    "int.jl",
    "compiler/typeinfer.jl",
    "",
  };

  g_autoptr (FlamProfile) profile = profile_of ("main 1\n", FALSE);
  g_autoptr (FlamOwnCode) code = flam_own_code_new (profile);

  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    g_assert_true (flam_own_code_has_path (code, own[i]));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_false (flam_own_code_has_path (code, others[i]));
}

/* Whether a function is the user's own in a capture with these other modules,
 * this command, and this working folder. */
static void
test_own_places (void)
{
  static const struct
  {
    const char *command, *folder, *libc; /* "": none */
    const char *module, *file;
    gboolean own;
  } rows[] = {
    { "chroot /srv/r /work/a",
      "",
      "/srv/r/usr/lib/x86_64-linux-gnu/libc.so.6",
      "/srv/r/usr/lib/x86_64-linux-gnu/libc.so.6",
      "",
      FALSE },
    { "",
      "",
      "/srv/r/usr/lib/x86_64-linux-gnu/libc.so.6",
      "/srv/r/usr/lib/x86_64-linux-gnu/libz.so.1",
      "",
      FALSE },
    { "",
      "",
      "/srv/r/usr/lib/x86_64-linux-gnu/libc.so.6",
      "/srv/r/usr/bin/sort",
      "",
      FALSE },
    { "",
      "",
      "/srv/r/usr/lib/x86_64-linux-gnu/libc.so.6",
      "/srv/r/work/a",
      "",
      TRUE },
    { "",
      "",
      "/srv/r/usr/lib/x86_64-linux-gnu/libc.so.6",
      "/srv/root/usr/lib/b.so",
      "",
      TRUE },
    { "",
      "",
      "/srv/a/lib/ld-musl-x86_64.so.1",
      "/srv/a/bin/busybox",
      "",
      FALSE },
    { "",
      "",
      "/srv/a/lib/ld-musl-x86_64.so.1",
      "/srv/a/lib/libz.so.1",
      "",
      FALSE },
    { "", "", "", "/home/me/glibc/build/libc.so.6", "", FALSE },
    { "",
      "",
      "",
      "/home/me/glibc/build/libc.so.6",
      "/home/me/glibc/malloc/malloc.c",
      TRUE },
    { "", "", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/home/me/a", "", TRUE },
    { "/home/me/a", "", "", "/opt/shop/bin/serve", "", FALSE },
    { "/opt/shop/bin/serve --port 80",
      "",
      "",
      "/opt/shop/bin/serve",
      "",
      TRUE },
    { "/opt/shop/bin/serve", "", "", "/opt/shop/lib/cart.so", "", TRUE },
    { "/opt/shop/bin/serve",
      "",
      "",
      "/opt/shop/lib/cart.so",
      "/opt/shop/src/cart.c",
      TRUE },
    { "/opt/shop/bin/serve", "", "", "/opt/shopping/lib/cart.so", "", FALSE },
    { "/home/me/a", "", "", "/home/me/a", "/opt/gcc/include/x.h", FALSE },
    { "bin/serve", "/opt/shop", "", "/opt/shop/bin/serve", "", TRUE },
    { "./a 1; '/opt/shop/serve' 2", "", "", "/opt/shop/serve", "", TRUE },
    { "java -jar /opt/shop/shop.jar",
      "/",
      "",
      "/opt/jdk/lib/server/libjvm.so",
      "",
      FALSE },
    { "/opt/jdk/bin/java Main",
      "/home/me",
      "",
      "/opt/jdk/lib/libzip.so",
      "",
      FALSE },
    { "python3 app.py", "/opt/shop", "", "", "/opt/shop/app.py", TRUE },
    { "python3 app.py",
      "/opt/shop",
      "",
      "",
      "/opt/shop/env/lib/python3.11/site-packages/x.py",
      FALSE },
    { "/usr/local/bin/tool -v", "", "", "/usr/local/bin/tool", "", TRUE },
    { "/home/me/a", "", "", "/usr/local/bin/tool", "", FALSE },
    { "/usr/local/bin/tool", "", "", "/usr/local/lib/libx.so", "", FALSE },
    { "/usr/bin/tool", "", "", "/usr/bin/tool", "", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *libc = *rows[i].libc != '\0'
                                  ? g_strdup_printf ("c!%s;", rows[i].libc)
                                  : g_strdup ("");
      g_autofree char *text =
          g_strdup_printf ("%swork%s%s%s%s%s 1\n",
                           libc,
                           *rows[i].file != '\0' ? "@" : "",
                           rows[i].file,
                           *rows[i].file != '\0' ? ":1" : "",
                           *rows[i].module != '\0' ? "!" : "",
                           rows[i].module);
      g_autoptr (FlamProfile) plain = profile_of (text, FALSE);
      g_autoptr (FlamBuilder) builder = flam_builder_new_copy (plain);
      g_autoptr (FlamProfile) profile = NULL;
      g_autofree guint8 *own = NULL;

      flam_builder_set_command (builder, rows[i].command);
      if (*rows[i].folder != '\0')
        flam_builder_add_working_folder (builder, 0, rows[i].folder);
      profile = flam_builder_finish (builder, NULL);
      own = flam_own_code_functions (profile);
      for (FlamId f = 0; f < profile->functions.n; f++)
        if (strcmp (flam_profile_function_name (profile, f), "work") == 0 &&
            own[f] != rows[i].own)
          g_error ("row %u, %s: %d", i, text, own[f]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/headline/sentences", test_sentences);
  g_test_add_func ("/headline/selection", test_selection);
  g_test_add_func ("/headline/too-few", test_too_few);
  g_test_add_func ("/headline/programs", test_programs);
  g_test_add_func ("/headline/parts-unnamed", test_parts_unnamed);
  g_test_add_func ("/headline/parts", test_parts);
  g_test_add_func ("/headline/show", test_show);
  g_test_add_func ("/headline/memory", test_memory);
  g_test_add_func ("/headline/sampled", test_sampled);
  g_test_add_func ("/headline/difference", test_difference);
  g_test_add_func ("/headline/own-paths", test_own_paths);
  g_test_add_func ("/headline/own-places", test_own_places);
  return g_test_run ();
}
