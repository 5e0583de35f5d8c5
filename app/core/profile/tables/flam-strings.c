/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-strings.h"

typedef struct
{
  const char *text;
  gsize length;
} Key;

static gboolean
string_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamStrings *strings = table;
  const Key *wanted = key;
  const guint64 *offsets = strings->offsets.data;
  guint64 end =
      row + 1 < strings->offsets.n ? offsets[row + 1] : strings->blob.n;

  return end - offsets[row] - 1 == wanted->length &&
         memcmp ((const char *)strings->blob.data + offsets[row],
                 wanted->text,
                 wanted->length) == 0;
}

void
flam_strings_init (FlamStrings *strings)
{
  flam_column_init (&strings->blob, 1);
  flam_column_init (&strings->offsets, sizeof (guint64));
  flam_interner_init (&strings->interner);
  flam_strings_intern (strings, "", 0);
}

void
flam_strings_init_copy (FlamStrings *strings, const FlamStrings *from)
{
  flam_column_init_copy (&strings->blob, &from->blob);
  flam_column_init_copy (&strings->offsets, &from->offsets);
  flam_interner_init_copy (&strings->interner, &from->interner);
}

void
flam_strings_clear (FlamStrings *strings)
{
  flam_column_clear (&strings->blob);
  flam_column_clear (&strings->offsets);
  flam_interner_clear (&strings->interner);
}

static FlamSlot *
find_slot (FlamStrings *strings, const Key *key, guint32 *hash)
{
  *hash = flam_hash_bytes (key->text, key->length);
  return flam_interner_find (
      &strings->interner, *hash, string_equal, strings, key);
}

static FlamId
append (FlamStrings *strings, FlamSlot *slot, guint32 hash, const Key *key)
{
  FlamId id = strings->offsets.n;
  guint64 offset = strings->blob.n;

  g_assert (id < FLAM_NONE);
  flam_column_reserve (&strings->blob, offset + key->length + 1);
  memcpy ((char *)strings->blob.data + offset, key->text, key->length);
  ((char *)strings->blob.data)[offset + key->length] = 0;
  strings->blob.n = offset + key->length + 1;
  flam_column_append (&strings->offsets, guint64, offset);
  *slot = (FlamSlot){ hash, id };
  strings->interner.used++;
  return id;
}

static gboolean
is_clean (const Key *key)
{
  guint8 high = 0;

  for (gsize i = 0; i < key->length; i++)
    high |= (guint8)key->text[i] | (key->text[i] == 0 ? 0x80 : 0);
  return high < 0x80 || g_utf8_validate_len (key->text, key->length, NULL);
}

static char *
cut_at_character (const char *text)
{
  gsize end = FLAM_STRING_MAX - 3;

  while (end > 0 && ((guint8)text[end] & 0xc0) == 0x80)
    end--;
  return g_strdup_printf ("%.*s…", (int)end, text);
}

FlamId
flam_strings_intern (FlamStrings *strings, const char *text, gssize length)
{
  Key key = { text ? text : "", 0 };
  g_autofree char *valid = NULL;
  g_autofree char *cut = NULL;
  FlamSlot *slot;
  guint32 hash;

  key.length = text == NULL ? 0 : length < 0 ? strlen (text) : (gsize)length;
  slot = find_slot (strings, &key, &hash);
  if (slot->id != FLAM_NONE)
    return slot->id;

  if (is_clean (&key) && key.length <= FLAM_STRING_MAX)
    return append (strings, slot, hash, &key);

  valid = g_utf8_make_valid (key.text, MIN (key.length, 2 * FLAM_STRING_MAX));
  if (strlen (valid) > FLAM_STRING_MAX)
    cut = cut_at_character (valid);
  key.text = cut ? cut : valid;
  key.length = strlen (key.text);
  slot = find_slot (strings, &key, &hash);
  return slot->id != FLAM_NONE ? slot->id : append (strings, slot, hash, &key);
}
