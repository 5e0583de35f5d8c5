/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JSON_H
#define FLAM_JSON_H

/* A strict, streaming pull reader for JSON (RFC 8259) over bytes in memory.
 *
 * No tree is built: it reads one token at a time and does not copy its text.
 * Strings are unescaped only on request; nesting needs one bit per level and no
 * recursion, so a depth of 30,000 is no problem.
 *
 *    {"nodes":[{"id":1}, ...
 *    ^ OBJECT   ^ OBJECT, key "" (an element)
 *             ^ ARRAY, key "nodes"
 *                   ^ NUMBER, key "id"
 *
 * Known structures are read with a loop over the members of an object or the
 * elements of an array, which skips the values that its body does not read:
 *
 *    flam_json_each (json)
 *      if (flam_json_key_is (json, "nodes"))
 *        read_nodes (json);
 *
 * Trees of unknown depth are read with flam_json_next() and the caller's own
 * stack. After an error every call returns ERROR, FALSE or zero, so the error
 * is checked once, at the end: flam_json_finish().
 *
 * It conforms to JSONTestSuite (Nicolas Seriot) in all that must be accepted or
 * rejected. Where the choice is the parser's: a byte order mark is skipped,
 * numbers beyond range saturate, lone surrogates become U+FFFD, double keys
 * come one after the other, bytes that are not UTF-8 are errors. */

#include "flam-load.h"

#include <string.h>

G_BEGIN_DECLS

/* The greatest depth; each level takes a bit. */
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
  guint depth;         /* open containers, including an OBJECT or ARRAY token's
                          own */
  FlamJsonText key;    /* of the current value; length 0 in arrays */
  FlamJsonText string; /* STRING; NUMBER: its digits */
  guint64 mantissa;    /* NUMBER: up to 19 digits, */
  gint64 exponent;     /* times ten to this */
  gboolean negative;

  const char *problem; /* ERROR: its message */
  gsize problem_at;
  gboolean truncated; /* the bytes ended too early */

  const FlamProgress *progress; /* NULL: progress is not reported */
  const guint8 *tell_at;        /* flam_json_step() does nothing before */
  GError *cancelled;            /* the loops end as if the data did */
  guint32 *objects;             /* a bit per level: it is an object */
  guint n_levels;               /* allocated size of `objects` */
  gboolean comma;               /* a value was read in this container */
  GString *scratch;
  GString *key_scratch;
} FlamJson;

/* `data` stays the caller's and must outlive the reader. */
void flam_json_init (FlamJson *json, const void *data, gsize size);
void flam_json_clear (FlamJson *json);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamJson, flam_json_clear)

/* A reader of the same document, inside a container that `outer` has entered:
 * one of the container's values begins at `at`. */
void
flam_json_init_inside (FlamJson *json, const FlamJson *outer, const guint8 *at);
/* Like flam_json_init(), and reads the first token; returns its depth. */
guint flam_json_open (FlamJson *json, const void *data, gsize size);
/* Opens the capture from `at` on (NULL: all of it); ends with the load. Reports
 * progress, and when cancelled, all loops end. */
FlamJson *flam_json_load (FlamLoad *load, const guint8 *at);

FlamJsonToken flam_json_next (FlamJson *json);

static inline gboolean
flam_json_is_space (guint8 c)
{
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* If the current token is an OBJECT or ARRAY: the depth for the loop below. For
 * any other value: a depth with which the loop ends at once. */
guint flam_json_enter (FlamJson *json);
/* Moves to the next element or member: its key and the first token of its value
 * become current. */
gboolean flam_json_element (FlamJson *json, guint depth);
/* Loops over the elements or members of the current token. */
#define flam_json_each(json)                                                   \
  for (guint G_PASTE (depth_, __LINE__) = flam_json_enter (json);              \
       flam_json_element (json, G_PASTE (depth_, __LINE__));)
/* Skips to the end of the value that begins with the current token; its last
 * token becomes current. */
void flam_json_skip (FlamJson *json);
/* The same for an object or array, which can be opened later: members may have
 * any order. Does nothing for any other value. */
FlamJsonText flam_json_take (FlamJson *json);

/* Unescapes a text, NUL-terminated; `*scratch` may be NULL at first. */
const char *
flam_json_unescape (const FlamJsonText *text, GString **scratch, gsize *length);
gboolean flam_json_text_is (const FlamJsonText *text,
                            GString **scratch,
                            const char *wanted);

/* Compares the text in place, which is cheap with a literal. */
static inline gboolean
flam_json_key_is (FlamJson *json, const char *name)
{
  if (G_UNLIKELY (json->key.escaped))
    return flam_json_text_is (&json->key, &json->key_scratch, name);
  return json->key.length == strlen (name) &&
         memcmp (json->key.text, name, strlen (name)) == 0;
}

/* Unescaped; valid until the next such call; NUL-terminated, but it may contain
 * other NULs (\u0000), hence the length (may be NULL). */
const char *flam_json_get_key (FlamJson *json, gsize *length);
/* "" if the value is not a string. */
const char *flam_json_get_string (FlamJson *json, gsize *length);
/* The same without a copy, unless it contains escapes: not NUL-terminated. */
const char *flam_json_get_bytes (FlamJson *json, gsize *length);
/* Adds it as a string of the builder. */
FlamId flam_json_intern (FlamJson *json, FlamBuilder *builder);
gboolean flam_json_string_is (FlamJson *json, const char *text);
/* 0 if the value is not a number (TRUE is 1). Saturates; fractions are
 * truncated. */
gint64 flam_json_get_int (FlamJson *json);
/* The number times `scale`, rounded, without the precision loss of a double:
 * microseconds with three decimals -> nanoseconds. */
gint64 flam_json_get_scaled (FlamJson *json, guint32 scale);
/* The same within limits (flam_builder_limit()). A number that does not fit 64
 * bits is beyond any. */
gint64 flam_json_get_limited (FlamJson *json,
                              FlamBuilder *builder,
                              guint32 scale,
                              gint64 least,
                              gint64 most);

/* Reads consecutive numbers and nulls in the array that is entered, up to `max`
 * of them and to the first that begins at or after `stop` (NULL: no limit):
 * into[i] is the number times scales[i], or `null`. Other values, and all
 * errors, are left to flam_json_element(). */
guint flam_json_take_numbers (FlamJson *json,
                              const guint32 *scales,
                              guint max,
                              const guint8 *stop,
                              gint64 null,
                              gint64 *into);
/* Appends an array's elements to gint64s. */
void flam_json_get_ints (FlamJson *json, GArray *into);

/* From here on `progress` is called; NULL: no callback. */
void flam_json_report (FlamJson *json, const FlamProgress *progress);
void flam_json_tell (FlamJson *json);

/* For trees that are read with flam_json_next(); flam_json_element() calls it
 * itself. */
static inline void
flam_json_step (FlamJson *json)
{
  if (G_UNLIKELY (json->at >= json->tell_at))
    flam_json_tell (json);
}

/* Warns about data after a document that is the whole file, not part of a page:
 * usually another document. */
void flam_json_warn_rest (const FlamJson *json, const FlamLoad *load);

/* TRUE if there was no error so far. Else sets `error` to the message and its
 * place in `source`. */
gboolean
flam_json_finish (FlamJson *json, const FlamSource *source, GError **error);
/* The same if data before the error is usable: if there is `any`, the profile
 * becomes a partial one, with a warning. */
gboolean flam_json_end (FlamJson *json,
                        const FlamLoad *load,
                        gboolean any,
                        GError **error);

G_END_DECLS

#endif
