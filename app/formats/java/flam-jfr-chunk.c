/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jfr-chunk.h"

gboolean
flam_jfr_fail (FlamJfrChunk *chunk, const guint8 *at, const char *problem)
{
  if (chunk->problem == NULL)
    {
      chunk->problem = problem;
      chunk->problem_at = at;
    }
  return FALSE;
}

gboolean
flam_jfr_varint (const guint8 **at, const guint8 *end, guint64 *value)
{
  guint64 result = 0;

  for (guint i = 0; *at < end; i++)
    {
      guint8 byte = *(*at)++;

      if (i == 8)
        {
          *value = result | (guint64)byte << 56;
          return TRUE;
        }
      result |= (guint64)(byte & 0x7f) << (7 * i);
      if (byte < 0x80)
        {
          *value = result;
          return TRUE;
        }
    }
  return FALSE;
}

gboolean
flam_jfr_skip_bytes (const guint8 **at, const guint8 *end, guint64 n)
{
  if ((guint64)(end - *at) < n)
    return FALSE;
  *at += n;
  return TRUE;
}

static gboolean
key_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return ((const FlamJfrConstant *)table)[row].key == *(const guint64 *)key;
}

static FlamSlot *
find_slot (FlamJfrPool *pool, guint64 key, guint32 *hash)
{
  *hash = flam_hash_pair (key, 0);
  return flam_interner_find (
      &pool->index, *hash, key_equal, pool->constants.data, &key);
}

FlamJfrConstant *
flam_jfr_find (FlamJfrChunk *chunk, FlamJfrPoolKind kind, guint64 key)
{
  FlamJfrPool *pool = &chunk->pools[kind];
  guint32 hash;
  FlamSlot *slot = find_slot (pool, key, &hash);

  return slot->id != FLAM_NONE
             ? &flam_column_at (&pool->constants, FlamJfrConstant, slot->id)
             : NULL;
}

void
flam_jfr_add_constant (FlamJfrPool *pool, guint64 key, const guint8 *at)
{
  FlamJfrConstant constant = { .key = key, .at = at, .made = FLAM_NONE };
  guint32 hash;
  FlamSlot *slot = find_slot (pool, key, &hash);

  if (slot->id != FLAM_NONE)
    return;
  *slot = (FlamSlot){ hash, pool->constants.n };
  pool->index.used++;
  flam_column_append (&pool->constants, FlamJfrConstant, constant);
}

/* The first byte is the encoding: 0 none, 1 empty, 2 a key of the constants, 3
 * UTF-8, 4 UTF-16 in varints, 5 Latin-1. */
gboolean
flam_jfr_skip_text (const guint8 **at, const guint8 *end)
{
  guint64 n;
  guint8 form;

  if (*at == end)
    return FALSE;
  form = *(*at)++;
  if (form < 2)
    return TRUE;
  if (form > 5 || !flam_jfr_varint (at, end, &n))
    return FALSE;
  if (form == 3 || form == 5)
    return flam_jfr_skip_bytes (at, end, n);
  if (form == 4)
    for (guint64 unit; n > 0; n--)
      if (!flam_jfr_varint (at, end, &unit))
        return FALSE;
  return TRUE;
}

static char *
utf16_text (const guint8 *at, const guint8 *end, guint64 n)
{
  g_autoptr (GArray) units = g_array_new (FALSE, FALSE, sizeof (gunichar2));
  guint64 value;
  char *text;

  for (; n > 0 && flam_jfr_varint (&at, end, &value); n--)
    {
      gunichar2 unit = (gunichar2)value;
      g_array_append_val (units, unit);
    }
  if (units->len == 0) /* nor an array */
    return g_strdup ("");
  text = g_utf16_to_utf8 (
      (const gunichar2 *)units->data, units->len, NULL, NULL, NULL);
  return text != NULL ? text : g_strdup ("");
}

static char *
latin1_text (const guint8 *at, guint64 n)
{
  GString *text = g_string_sized_new (n);

  for (guint64 i = 0; i < n; i++)
    g_string_append_unichar (text, at[i]);
  return g_string_free (text, FALSE);
}

/* Reads text that flam_jfr_skip_text() has skipped, so it is complete. */
char *
flam_jfr_decode_text (FlamJfrChunk *chunk, const guint8 *at, guint depth)
{
  guint8 form = *at++;
  const FlamJfrConstant *constant;
  guint64 n;

  if (form < 2)
    return form == 1 ? g_strdup ("") : NULL;
  flam_jfr_varint (&at, chunk->end, &n);
  if (form == 3)
    return g_strndup ((const char *)at, n);
  if (form == 4)
    return utf16_text (at, chunk->end, n);
  if (form == 5)
    return latin1_text (at, n);
  constant = depth == 0 ? flam_jfr_find (chunk, FLAM_JFR_STRINGS, n) : NULL;
  return constant != NULL ? flam_jfr_decode_text (chunk, constant->at, 1)
                          : NULL;
}

char *
flam_jfr_text (FlamJfrChunk *chunk, guint64 place)
{
  return place != 0 ? flam_jfr_decode_text (chunk, chunk->start + place, 0)
                    : NULL;
}
