/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RECORD_EVENTS_H
#define FLAM_RECORD_EVENTS_H

/* The events of --events: what the kernel and the processor count beside CPU
 * time. A measure of each has its name. */

#include <glib.h>

typedef struct
{
  const char *name;
  guint32 type; /* PERF_TYPE_* */
  guint64 config;
} FlamRecordEvent;

/* Of a list of names, separated by commas, each once. NULL and the first name
 * that is unknown, g_free; NULL without one: the list is empty. */
GPtrArray *flam_record_events_parse (const char *list, char **unknown);
/* All names, for people: "a, b, c"; g_free. */
char *flam_record_events_names (void);

#endif
