/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dates.h"

#define SECOND G_GINT64_CONSTANT (1000000000)
#define DAY 86400.0
#define MARKS_MAX 100

typedef enum
{
  UNIT_SECOND,
  UNIT_MINUTE,
  UNIT_HOUR,
  UNIT_DAY,
  UNIT_MONTH,
  UNIT_YEAR,
} Unit;

typedef struct
{
  Unit unit;
  int count;
  double seconds; /* about */
  const char *format;
} Step;

static const Step steps[] = {
  { UNIT_SECOND, 1, 1, "%H:%M:%S" },
  { UNIT_SECOND, 5, 5, "%H:%M:%S" },
  { UNIT_SECOND, 15, 15, "%H:%M:%S" },
  { UNIT_MINUTE, 1, 60, "%H:%M" },
  { UNIT_MINUTE, 5, 300, "%H:%M" },
  { UNIT_MINUTE, 15, 900, "%H:%M" },
  { UNIT_HOUR, 1, 3600, "%H:%M" },
  { UNIT_HOUR, 3, 10800, "%m-%d %H:%M" },
  { UNIT_HOUR, 6, 21600, "%m-%d %H:%M" },
  { UNIT_HOUR, 12, 43200, "%m-%d %H:%M" },
  { UNIT_DAY, 1, DAY, "%Y-%m-%d" },
  { UNIT_DAY, 2, 2 * DAY, "%Y-%m-%d" },
  { UNIT_DAY, 7, 7 * DAY, "%Y-%m-%d" },
  { UNIT_DAY, 14, 14 * DAY, "%Y-%m-%d" },
  { UNIT_MONTH, 1, 30 * DAY, "%Y-%m" },
  { UNIT_MONTH, 3, 91 * DAY, "%Y-%m" },
  { UNIT_MONTH, 6, 182 * DAY, "%Y-%m" },
  { UNIT_YEAR, 1, 365 * DAY, "%Y" },
  { UNIT_YEAR, 2, 730 * DAY, "%Y" },
  { UNIT_YEAR, 5, 1826 * DAY, "%Y" },
  { UNIT_YEAR, 10, 3652 * DAY, "%Y" },
  { UNIT_YEAR, 50, 18262 * DAY, "%Y" },
};

/* The latest mark that is not after `date`. Days are counted from the first of
 * the month. */
static GDateTime *
floor_to (GDateTime *date, const Step *step, GTimeZone *zone)
{
  int year, month, day;
  int hour = g_date_time_get_hour (date);
  int minute = g_date_time_get_minute (date);
  int second = g_date_time_get_second (date);

  g_date_time_get_ymd (date, &year, &month, &day);
  switch (step->unit)
    {
    case UNIT_YEAR:
      year = MAX (year / step->count * step->count, 1);
      month = 1;
      G_GNUC_FALLTHROUGH;
    case UNIT_MONTH:
      month = (month - 1) / step->count * step->count + 1;
      if (step->unit == UNIT_YEAR)
        month = 1;
      day = 1;
      G_GNUC_FALLTHROUGH;
    case UNIT_DAY:
      if (step->unit == UNIT_DAY)
        day = (day - 1) / step->count * step->count + 1;
      hour = 0;
      G_GNUC_FALLTHROUGH;
    case UNIT_HOUR:
      if (step->unit == UNIT_HOUR)
        hour = hour / step->count * step->count;
      minute = 0;
      G_GNUC_FALLTHROUGH;
    case UNIT_MINUTE:
      if (step->unit == UNIT_MINUTE)
        minute = minute / step->count * step->count;
      second = 0;
      G_GNUC_FALLTHROUGH;
    case UNIT_SECOND:
      if (step->unit == UNIT_SECOND)
        second = second / step->count * step->count;
    }
  return g_date_time_new (zone, year, month, day, hour, minute, second);
}

static GDateTime *
add_step (GDateTime *date, const Step *step)
{
  switch (step->unit)
    {
    case UNIT_SECOND:
      return g_date_time_add_seconds (date, step->count);
    case UNIT_MINUTE:
      return g_date_time_add_minutes (date, step->count);
    case UNIT_HOUR:
      return g_date_time_add_hours (date, step->count);
    case UNIT_DAY:
      return g_date_time_add_days (date, step->count);
    case UNIT_MONTH:
      return g_date_time_add_months (date, step->count);
    case UNIT_YEAR:
      break;
    }
  return g_date_time_add_years (date, step->count);
}

/* The next mark: a step may miss a mark where a month ends or clocks were
 * changed. */
static GDateTime *
next_mark (GDateTime *mark, const Step *step, GTimeZone *zone)
{
  g_autoptr (GDateTime) after = add_step (mark, step);
  GDateTime *next = after != NULL ? floor_to (after, step, zone) : NULL;

  if (next != NULL && g_date_time_compare (next, mark) <= 0)
    {
      g_date_time_unref (next);
      next = g_steal_pointer (&after);
    }
  return next;
}

static GDateTime *
date_in (gint64 date, GTimeZone *zone)
{
  g_autoptr (GDateTime) utc = g_date_time_new_from_unix_utc (date / SECOND);

  return utc != NULL ? g_date_time_to_timezone (utc, zone) : NULL;
}

static void
mark_clear (gpointer mark)
{
  g_free (((FlamDateMark *)mark)->text);
}

GArray *
flam_dates_marks (
    gint64 from, gint64 to, double width, double room, GTimeZone *zone)
{
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (FlamDateMark));
  double wanted = (double)(to - from) / (double)SECOND *
                  MAX (room / MAX (width, 1), 1.0 / (MARKS_MAX - 1));
  g_autoptr (GDateTime) first = date_in (from, zone);
  g_autoptr (GDateTime) mark = NULL;
  guint i = 0;

  g_array_set_clear_func (marks, mark_clear);
  while (i + 1 < G_N_ELEMENTS (steps) && steps[i].seconds < wanted)
    i++;
  if (first != NULL && to > from)
    mark = floor_to (first, &steps[i], zone);
  while (mark != NULL && g_date_time_to_unix (mark) <= to / SECOND &&
         marks->len < MARKS_MAX)
    {
      FlamDateMark one = { g_date_time_to_unix (mark) * SECOND, NULL };
      GDateTime *next = next_mark (mark, &steps[i], zone);

      if (one.date >= from)
        {
          one.text = g_date_time_format (mark, steps[i].format);
          g_array_append_val (marks, one);
        }
      g_date_time_unref (mark);
      mark = next;
    }
  return marks;
}

char *
flam_dates_text (gint64 date, GTimeZone *zone, gboolean with_zone)
{
  g_autoptr (GDateTime) time = date_in (date, zone);

  if (time == NULL)
    return g_strdup ("");
  return g_date_time_format (
      time, with_zone ? "%Y-%m-%d %H:%M %Z" : "%Y-%m-%d %H:%M");
}
