/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A strict, streaming pull reader for JSON (RFC 8259) over bytes in memory.
 *
 * Nothing is built: a token at a time, its text left where it lies. Strings
 * are unescaped only when asked for; nesting costs one bit a level, no stack
 * of the machine, so 30,000 nested calls are as good as three.
 *
 *    {"nodes":[{"id":1}, ...
 *    ^ OBJECT   ^ OBJECT, key "" (an element)
 *             ^ ARRAY, key "nodes"
 *                   ^ NUMBER, key "id"
 *
 * Known shapes are read with a loop over the members of an object or the
 * elements of an array, which skips by itself whatever its body leaves unread:
 *
 *    flam_json_each (json)
 *      if (flam_json_key_is (json, "nodes"))
 *        read_nodes (json);
 *
 * Trees of unknown depth are read with flam_json_next() and a stack of one's
 * own. After an error every call returns ERROR, FALSE or zero, so the error is
 * looked at once, at the end: flam_json_finish().
 *
 * Held to the rules of JSONTestSuite (Nicolas Seriot): what must be refused
 * is, what must be accepted is. Where a reader may choose: a byte order mark
 * is skipped, numbers beyond range saturate, lone surrogates become U+FFFD,
 * double keys come one after the other, bytes that are not UTF-8 are errors. */

#include "flam-load.h"

#include <string.h>

G_BEGIN_DECLS

/* Levels; a bit each. */
#define FLAM_JSON_MAX_DEPTH (1 << 20)

typedef enum
{
  FLAM_JSON_ERROR,
  FLAM_JSON_END, /* after the document */
  FLAM_JSON_OBJECT,
  FLAM_JSON_OBJECT_END,
  FLAM_JSON_ARRAY,
  FLAM_JSON_ARRAY_END,
  FLAM_JSON_STRING,
  FLAM_JSON_NUMBER,
  FLAM_JSON_TRUE,
  FLAM_JSON_FALSE,
  FLAM_JSON_NULL,
} FlamJsonToken;

typedef struct
{
  const char *text; /* raw bytes between the quotes */
  gsize length;
  gboolean escaped;
} FlamJsonText;

typedef struct
{
  const guint8 *start;
  const guint8 *at; /* after the current token */
  const guint8 *end;

  FlamJsonToken token; /* the current one */
  guint depth;         /* open containers, an OBJECT or ARRAY token's own
                          included */
  FlamJsonText key;    /* of the current value; length 0 in arrays */
  FlamJsonText string; /* STRING; NUMBER: its digits */
  guint64 mantissa;    /* NUMBER: up to 19 digits, */
  gint64 exponent;     /* times ten to this */
  gboolean negative;

  const char *problem; /* ERROR: what was wrong */
  gsize problem_at;
  gboolean truncated; /* the bytes ended too soon */

  const FlamProgress *progress; /* NULL: nobody is told how far it is */
  const guint8 *tell_at;        /* flam_json_step() has nothing to do before */
  GError *cancelled;            /* the rest is as good as cut off */
  guint32 *objects;             /* bit a level: it is an object */
  guint n_levels;               /* room in `objects` */
  gboolean comma;               /* a value was read in this container */
  GString *scratch;
  GString *key_scratch;
} FlamJson;

/* `data` stays the caller's and must live on. */
void flam_json_init (FlamJson *json, const void *data, gsize size);
void flam_json_clear (FlamJson *json);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamJson, flam_json_clear)

/* A reader of the same document, where `outer` has entered a container: at `at`
 * one of the container's values begins. */
void
flam_json_init_inside (FlamJson *json, const FlamJson *outer, const guint8 *at);
/* The same as flam_json_init(), and reads the first token; the depth of it. */
guint flam_json_open (FlamJson *json, const void *data, gsize size);
/* The capture from `at` on (NULL: all of it), opened; ends with the load. Tells
 * how far it is, and when cancelled, all loops end. */
FlamJson *flam_json_load (FlamLoad *load, const guint8 *at);

FlamJsonToken flam_json_next (FlamJson *json);

static inline gboolean
flam_json_is_space (guint8 c)
{
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* With an OBJECT or ARRAY as the current token: the depth for the loop below.
 * For any other value: a depth whose loop ends at once. */
guint flam_json_enter (FlamJson *json);
/* The next element or member: its key and the first token of its value are
 * current. */
gboolean flam_json_element (FlamJson *json, guint depth);
/* A loop over those of the current token. */
#define flam_json_each(json)                                                   \
  for (guint G_PASTE (depth_, __LINE__) = flam_json_enter (json);              \
       flam_json_element (json, G_PASTE (depth_, __LINE__));)
/* To the end of the value that begins with the current token; leaves its last
 * token current. */
void flam_json_skip (FlamJson *json);
/* The same for an object or array, which can be opened later: members come in
 * any order. Nothing for any other value. */
FlamJsonText flam_json_take (FlamJson *json);

/* What a text says, NUL-terminated; `*scratch` may be NULL at first. */
const char *
flam_json_unescape (const FlamJsonText *text, GString **scratch, gsize *length);
gboolean flam_json_text_is (const FlamJsonText *text,
                            GString **scratch,
                            const char *wanted);

/* Compared where it lies, which costs next to nothing with a literal. */
static inline gboolean
flam_json_key_is (FlamJson *json, const char *name)
{
  if (G_UNLIKELY (json->key.escaped))
    return flam_json_text_is (&json->key, &json->key_scratch, name);
  return json->key.length == strlen (name) &&
         memcmp (json->key.text, name, strlen (name)) == 0;
}

/* Unescaped; valid until the next such call; NUL-terminated, and may contain
 * NULs of its own (\u0000), so mind the length (may be NULL). */
const char *flam_json_get_key (FlamJson *json, gsize *length);
/* "" if the value is no string. */
const char *flam_json_get_string (FlamJson *json, gsize *length);
/* The same without a copy, unless it holds escapes: no NUL ends it. */
const char *flam_json_get_bytes (FlamJson *json, gsize *length);
/* It as a string of the builder's. */
FlamId flam_json_intern (FlamJson *json, FlamBuilder *builder);
gboolean flam_json_string_is (FlamJson *json, const char *text);
/* 0 if the value is no number (TRUE is 1). Saturates; fractions are cut. */
gint64 flam_json_get_int (FlamJson *json);
/* The number times `scale`, rounded, without a double's loss on the way:
 * microseconds with three decimals -> nanoseconds. */
gint64 flam_json_get_scaled (FlamJson *json, guint32 scale);

/* Numbers and nulls that come one after the other in the array that is entered,
 * up to `max` of them and to where one begins at `stop` or behind it (NULL:
 * nowhere): into[i] is the number times scales[i], or `null`. What does not
 * look plain is left to flam_json_element(), as are all errors. */
guint flam_json_take_numbers (FlamJson *json,
                              const guint32 *scales,
                              guint max,
                              const guint8 *stop,
                              gint64 null,
                              gint64 *into);
/* An array's elements, appended to gint64s. */
void flam_json_get_ints (FlamJson *json, GArray *into);

/* From here on `progress` is told how far it is; NULL: nobody is. */
void flam_json_report (FlamJson *json, const FlamProgress *progress);
void flam_json_tell (FlamJson *json);

/* For trees read with flam_json_next(); flam_json_element() does it itself. */
static inline void
flam_json_step (FlamJson *json)
{
  if (G_UNLIKELY (json->at >= json->tell_at))
    flam_json_tell (json);
}

/* TRUE if all went well so far. Else sets `error` to what was wrong and where
 * in `source`. */
gboolean
flam_json_finish (FlamJson *json, const FlamSource *source, GError **error);
/* The same where what came before the fault is worth having: if there is `any`
 * of it, the profile becomes a partial one, with a warning. */
gboolean flam_json_end (FlamJson *json,
                        const FlamLoad *load,
                        gboolean any,
                        GError **error);

G_END_DECLS
