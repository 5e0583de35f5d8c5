/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-members.h"

#include "flam-json-run.h"

/* Elements of an array that are walked. */
#define MAX_ELEMENTS 4
/* Longer names are not looked for. */
#define MAX_NAME 64
/* Bytes that are looked at together when a value is skipped. */
#define BLOCK 64

struct _FlamMembers
{
  GHashTable *found; /* path -> its first text, or NULL */
};

typedef struct
{
  FlamMembers *members;
  FlamMemberPaths *paths;
  const guint8 *at, *end;
  GString *path; /* of the open container */
} Walk;

static void
skip_space (Walk *walk)
{
  while (walk->at < walk->end && g_ascii_isspace (*walk->at))
    walk->at++;
}

/* Moves past the closing quote; the opening one is at `at`. FALSE: the data
 * ends first. */
static gboolean
skip_string (Walk *walk)
{
  const guint8 *p = walk->at + 1;

  while ((p = flam_json_run (p, walk->end)) < walk->end && *p != '"')
    p += *p == '\\' ? 2 : 1;
  walk->at = MIN (p + 1, walk->end);
  return p < walk->end;
}

/* The bytes of a block that affect nesting, a bit each. */
typedef struct
{
  guint64 quote, slash, open, close;
} Marks;

static inline void
find_marks (const guint8 *p, Marks *marks)
{
  *marks = (Marks){ 0 };
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8 ('"'), slash = _mm_set1_epi8 ('\\');
  const __m128i fold = _mm_set1_epi8 (0x20);
  const __m128i open = _mm_set1_epi8 ('{'), close = _mm_set1_epi8 ('}');

  for (guint i = 0; i < BLOCK; i += 16)
    {
      __m128i bytes = _mm_loadu_si128 ((const __m128i *)(p + i));
      /* '[' and ']' differ from '{' and '}' in one bit only. */
      __m128i folded = _mm_or_si128 (bytes, fold);
#define BITS(a, b)                                                             \
  ((guint64)(guint)_mm_movemask_epi8 (_mm_cmpeq_epi8 (a, b)) << i)
      marks->quote |= BITS (bytes, quote);
      marks->slash |= BITS (bytes, slash);
      marks->open |= BITS (folded, open);
      marks->close |= BITS (folded, close);
#undef BITS
    }
#else
  for (guint i = 0; i < BLOCK; i++)
    {
      marks->quote |= (guint64)(p[i] == '"') << i;
      marks->slash |= (guint64)(p[i] == '\\') << i;
      marks->open |= (guint64)((p[i] | 0x20) == '{') << i;
      marks->close |= (guint64)((p[i] | 0x20) == '}') << i;
    }
#endif
}

/* The bytes after an odd number of backslashes; `*carry`: the block before
 * ended with such a number, and then this one. */
static inline guint64
find_escaped (guint64 slash, guint64 *carry)
{
  const guint64 even = 0x5555555555555555;
  guint64 after, starts, ends;

  if (slash == 0)
    {
      after = *carry;
      *carry = 0;
      return after;
    }
  slash &= ~*carry;
  after = slash << 1 | *carry;
  /* Adding the start of a run to it carries through to its end. */
  starts = slash & ~even & ~after;
  *carry = __builtin_add_overflow (starts, slash, &ends);
  return (even ^ ends << 1) & after;
}

/* Each bit becomes the parity of itself and the bits below it: within a
 * string. */
static inline guint64
parity_below (guint64 bits)
{
  for (guint shift = 1; shift < 64; shift *= 2)
    bits ^= bits << shift;
  return bits;
}

/* Moves behind the bracket that closes the container in which `at` is, outside
 * of its strings:
 *
 *    { " a \\ " ] " : [ 2 ] }
 *      1       . 1              quotes that no backslash precedes
 *      1 1 1 1 1 1              the parity of these: within a string
 *                      +   - -  brackets outside, and where the depth becomes 0
 */
static void
skip_rest (Walk *walk)
{
  guint64 depth = 1, carry = 0, within = 0;
  const guint8 *p = walk->at;
  guint8 last[BLOCK];

  for (; p < walk->end; p += BLOCK)
    {
      gboolean whole = walk->end - p >= BLOCK;
      Marks marks;
      guint64 string, both;

      if (!whole)
        {
          memset (last, 0, sizeof last);
          memcpy (last, p, walk->end - p);
        }
      find_marks (whole ? p : last, &marks);
      marks.quote &= ~find_escaped (marks.slash, &carry);
      string = parity_below (marks.quote) ^ within;
      within = string >> 63 != 0 ? G_MAXUINT64 : 0;
      marks.open &= ~string;
      marks.close &= ~string;
      both = marks.open | marks.close;
      if (depth > BLOCK)
        {
          depth += __builtin_popcountll (marks.open);
          depth -= __builtin_popcountll (marks.close);
          continue;
        }
      for (; both != 0; both &= both - 1)
        {
          guint bit = (guint)__builtin_ctzll (both);

          depth += (marks.open >> bit & 1) != 0 ? 1 : -1;
          if (depth == 0)
            {
              walk->at = p + bit + 1;
              return;
            }
        }
    }
  walk->at = walk->end;
}

/* Moves past the container whose bracket is at `at`. */
static void
skip_container (Walk *walk)
{
  walk->at++;
  skip_rest (walk);
}

static void
skip_value (Walk *walk)
{
  if (walk->at == walk->end)
    return;
  if (*walk->at == '"')
    skip_string (walk);
  else if (*walk->at == '{' || *walk->at == '[')
    skip_container (walk);
  else
    while (walk->at < walk->end && strchr (",]}", *walk->at) == NULL &&
           !g_ascii_isspace (*walk->at))
      walk->at++;
}

static gboolean
is_wanted (const Walk *walk)
{
  return g_hash_table_contains (walk->paths, walk->path->str);
}

static void
note (Walk *walk)
{
  GHashTable *found = walk->members->found;
  const guint8 *text = walk->at;
  char *first = NULL;

  if (g_hash_table_contains (found, walk->path->str))
    return;
  if (text < walk->end && *text == '"')
    first = g_strndup ((const char *)text + 1,
                       MIN (walk->end - text - 1, MAX_NAME));
  g_hash_table_insert (found, g_strdup (walk->path->str), first);
}

static void walk_value (Walk *walk);

static void
walk_array (Walk *walk)
{
  gsize length = walk->path->len;

  g_string_append (walk->path, "[]");
  walk->at++;
  for (guint n = 0; n < MAX_ELEMENTS && is_wanted (walk); n++)
    {
      skip_space (walk);
      if (walk->at == walk->end || *walk->at == ']')
        break;
      note (walk);
      walk_value (walk);
      skip_space (walk);
      if (walk->at == walk->end || *walk->at != ',')
        break;
      walk->at++;
    }
  skip_rest (walk);
  g_string_truncate (walk->path, length);
}

static void
walk_object (Walk *walk)
{
  gsize length = walk->path->len;

  for (walk->at++; walk->at < walk->end;)
    {
      const guint8 *name;

      skip_space (walk);
      name = walk->at + 1;
      if (walk->at == walk->end || *walk->at != '"' || !skip_string (walk))
        break;
      if (length > 0)
        g_string_append_c (walk->path, '.');
      g_string_append_len (
          walk->path, (const char *)name, MIN (walk->at - 1 - name, MAX_NAME));
      skip_space (walk);
      walk->at += walk->at < walk->end && *walk->at == ':';
      skip_space (walk);
      if (is_wanted (walk))
        {
          note (walk);
          walk_value (walk);
        }
      else
        skip_value (walk);
      g_string_truncate (walk->path, length);
      skip_space (walk);
      if (walk->at == walk->end || *walk->at != ',')
        break;
      walk->at++;
    }
  walk->at += walk->at < walk->end;
}

static void
walk_value (Walk *walk)
{
  if (walk->at < walk->end && *walk->at == '{')
    walk_object (walk);
  else if (walk->at < walk->end && *walk->at == '[')
    walk_array (walk);
  else
    skip_value (walk);
}

FlamMemberPaths *
flam_member_paths_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

/* With the paths on the way to it. */
void
flam_member_paths_add (FlamMemberPaths *paths, const char *path)
{
  gsize length = strcspn (path, "=");

  for (gsize i = 1; i <= length; i++)
    if (path[i] == '.' || path[i] == '[' || i == length)
      g_hash_table_add (paths, g_strndup (path, i));
}

FlamMembers *
flam_members_new (const guint8 *data,
                  gsize size,
                  gsize most,
                  FlamMemberPaths *paths)
{
  g_autoptr (GString) path = g_string_new (NULL);
  FlamMembers *members;
  Walk walk = { NULL, paths, data, data + MIN (size, most), path };

  skip_space (&walk);
  if (walk.at == walk.end || (*walk.at != '{' && *walk.at != '['))
    return NULL;
  walk.members = members = g_new0 (FlamMembers, 1);
  members->found =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  walk_value (&walk);
  return members;
}

void
flam_members_free (FlamMembers *members)
{
  if (members == NULL)
    return;
  g_hash_table_unref (members->found);
  g_free (members);
}

gboolean
flam_members_has (const FlamMembers *members, const char *path)
{
  const char *wanted = strchr (path, '=');
  g_autofree char *key =
      wanted != NULL ? g_strndup (path, wanted - path) : NULL;
  gpointer first;

  if (!g_hash_table_lookup_extended (
          members->found, key != NULL ? key : path, NULL, &first))
    return FALSE;
  return wanted == NULL ||
         (first != NULL && g_str_has_prefix (first, wanted + 1));
}
