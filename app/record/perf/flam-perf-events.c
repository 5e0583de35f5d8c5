/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "flam-core-profile.h"
#include "flam-record-events.h"

/* The scheduler and many programs work in steps of 1, 2 or 4 ms. A clock whose
 * period is a multiple of that would always show the same part of a step: in a
 * server with a child for each request, whose children begin with a step, the
 * first function had 5 to 17 % at 100 Hz where 9 % is true. */
#define OUT_OF_STEP (90. / 89.)

/* Each time that a thread leaves its CPU. */
static const FlamPerfEvent switches = { PERF_TYPE_SOFTWARE,
                                        PERF_COUNT_SW_CONTEXT_SWITCHES,
                                        1 };

/* --- waking -------------------------------------------------------------- */

static char *
read_tracepoint (const char *name)
{
  static const char *const folders[] = { "/sys/kernel/tracing",
                                         "/sys/kernel/debug/tracing" };
  char *text = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (folders) && text == NULL; i++)
    {
      g_autofree char *path = g_build_filename (
          folders[i], "events/sched/sched_waking", name, NULL);

      g_file_get_contents (path, &text, NULL, NULL);
    }
  return text;
}

/* "	field:pid_t pid;	offset:24;	size:4;	signed:1;" */
static guint
find_field (const char *format, const char *name)
{
  g_autofree char *word = g_strconcat (" ", name, ";", NULL);
  const char *at = strstr (format, word);

  at = at != NULL ? strstr (at, "offset:") : NULL;
  return at != NULL ? (guint)strtoul (at + strlen ("offset:"), NULL, 10) : 0;
}

static char *
add_waking (FlamPerfEvents *events)
{
  g_autofree char *id = read_tracepoint ("id");
  g_autofree char *format = read_tracepoint ("format");
  FlamPerfEvent waking = { PERF_TYPE_TRACEPOINT, 0, 1, TRUE };
  guint at = format != NULL ? find_field (format, "pid") : 0;

  if (id != NULL && at > 0)
    {
      waking.config = g_ascii_strtoull (id, NULL, 10);
      if (flam_perf_can_sample (&waking))
        {
          events->waking = (gint)events->list->len;
          events->waking_pid = at;
          g_array_append_val (events->list, waking);
          return NULL;
        }
    }
  return g_strdup (
      N_ ("who wakes a thread is not recorded: the system does not permit the "
          "tracepoint sched_waking; record as root or with CAP_PERFMON and "
          "access to /sys/kernel/tracing"));
}

pid_t
flam_perf_events_woken (const FlamPerfEvents *events,
                        const FlamPerfRecord *record)
{
  gint32 pid;

  if (record->n_raw < events->waking_pid + sizeof pid)
    return 0;
  memcpy (&pid, record->raw + events->waking_pid, sizeof pid);
  return (pid_t)pid;
}

/* --- all ----------------------------------------------------------------- */

static gboolean
is_same (const FlamRecordEvent *event, const FlamPerfEvent *other)
{
  return event->type == other->type && event->config == other->config;
}

static gboolean
is_counted (const GPtrArray *counted, const FlamPerfEvent *event)
{
  for (guint i = 0; counted != NULL && i < counted->len; i++)
    if (is_same (g_ptr_array_index (counted, i), event))
      return TRUE;
  return FALSE;
}

static void
add_switches (FlamPerfEvents *events)
{
  events->switches = (gint)events->list->len;
  g_array_append_val (events->list, switches);
}

FlamPerfEvents *
flam_perf_events_new (const FlamRecordOptions *options, char **why)
{
  FlamPerfEvents *events = g_new0 (FlamPerfEvents, 1);
  FlamPerfEvent clock = { PERF_TYPE_SOFTWARE,
                          PERF_COUNT_SW_CPU_CLOCK,
                          (guint64)(1e9 / options->rate * OUT_OF_STEP) };
  g_autoptr (GPtrArray) counted = NULL;
  g_autofree char *unknown = NULL;
  gboolean wall = (options->what & FLAM_RECORD_WALL) != 0;

  *why = NULL;
  events->waking = events->switches = -1;
  events->list = g_array_new (FALSE, FALSE, sizeof (FlamPerfEvent));
  g_array_append_val (events->list, clock);
  if (options->events != NULL)
    counted = flam_record_events_parse (options->events, &unknown);
  if (wall && !is_counted (counted, &switches))
    add_switches (events);
  if (wall)
    *why = add_waking (events);
  events->first_count = events->list->len;
  for (guint i = 0; counted != NULL && i < counted->len; i++)
    {
      const FlamRecordEvent *event = g_ptr_array_index (counted, i);
      FlamPerfEvent one = { event->type, event->config, 0 };

      if (wall && is_same (event, &switches))
        add_switches (events);
      else
        g_array_append_val (events->list, one);
    }
  return events;
}

void
flam_perf_events_free (FlamPerfEvents *events)
{
  g_array_unref (events->list);
  g_free (events);
}

char *
flam_perf_events_limit (FlamRecordOptions *options)
{
  g_autofree char *unknown = NULL;
  g_autoptr (GPtrArray) events =
      options->events != NULL
          ? flam_record_events_parse (options->events, &unknown)
          : NULL;
  g_autoptr (GString) left = g_string_new (NULL);
  g_autoptr (GString) missing = g_string_new (NULL);
  int problem = 0;

  for (guint i = 0; events != NULL && i < events->len; i++)
    {
      const FlamRecordEvent *event = g_ptr_array_index (events, i);
      FlamPerfEvent one = { event->type, event->config, 0 };
      gboolean can = flam_perf_can_sample (&one);
      GString *text = can ? left : missing;

      if (!can)
        problem = errno;
      g_string_append_printf (
          text, "%s%s", text->len > 0 ? "," : "", event->name);
    }
  if (missing->len == 0)
    return NULL;
  g_free (options->events);
  options->events = left->len > 0 ? g_strdup (left->str) : NULL;
  return problem == ENOENT || problem == EOPNOTSUPP
             ? g_strdup_printf (N_ ("%s: this machine cannot count them, like "
                                    "most virtual machines"),
                                missing->str)
             : g_strdup_printf (
                   "%s: %s", missing->str, flam_perf_problem (problem));
}
