/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LOCATION_H
#define FLAM_LOCATION_H

/* The place of a capture, or its destination, as the user types it: a URL. The
 * word before the + is the kind of server. After the ? come words that this
 * kind has, or labels that samples must have:
 *
 *   http://HOST/debug/pprof/profile?seconds=10
 *   pyroscope+https://HOST/?service=shop&region=eu&type=cpu&from=-1h&to=now
 *   parca+http://HOST:7070/?query=...&from=-1h
 *   otlp+http://HOST:4318/
 *   clickhouse://USER@HOST:8123/DATABASE?service=shop&from=-7d
 *
 * Times are seconds since 1970, dates (2026-11-27, 2026-11-27T10:30), or
 * distances from now (-90s, -5m, -1h, -7d, now-1h). */

#include "flam-core-profile.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  FLAM_LOCATION_FILE, /* one document, by GET */
  FLAM_LOCATION_PYROSCOPE,
  FLAM_LOCATION_PARCA,
  FLAM_LOCATION_OTLP,
  FLAM_LOCATION_CLICKHOUSE,
} FlamLocationKind;

typedef struct
{
  FlamLocationKind kind;
  char *text;  /* as typed, without the password: for messages */
  char *base;  /* "http://HOST:PORT/PATH": no user, no query; no / at its end */
  char *query; /* as typed, encoded; or NULL */
  char *server;          /* "HOST" or "HOST:PORT" */
  char *database;        /* ClickHouse's */
  char *user, *password; /* or NULL */
  gboolean safe;         /* nobody can listen: TLS, or this machine */
  GPtrArray *words;      /* char *: key, value, key, value ...: decoded */
  gint64 from, to;       /* ms since 1970: the range, by default an hour */
  gboolean has_range;    /* one is given */
  guint seconds;         /* that the server takes to record */
  char *name;            /* "profile", "shop": for titles and files */
} FlamLocation;

/* Whether a name on the command line is one of these, and not a file. */
gboolean flam_location_is (const char *text);
/* NULL with an error: "TEXT: what is wrong". */
FlamLocation *flam_location_new (const char *text, GError **error);
void flam_location_free (FlamLocation *location);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamLocation, flam_location_free)

/* The value of a word; NULL: it is not there. */
const char *flam_location_word (const FlamLocation *location, const char *key);
/* In place of one with this key. */
void flam_location_set_word (FlamLocation *location,
                             const char *key,
                             const char *value);
/* Whether this word is a label, not one of a kind's own. */
gboolean flam_location_is_label (const char *key);
/* `{service_name="shop",region="eu"}`: the selector of the labels, with the
 * name that this kind of server has for the service. */
GString *flam_location_selector (const FlamLocation *location);

/* Sets "TEXT: message"; returns FALSE. */
gboolean flam_location_error (const FlamLocation *location,
                              GError **error,
                              const char *format,
                              ...) G_GNUC_PRINTF (3, 4);

G_END_DECLS

#endif
