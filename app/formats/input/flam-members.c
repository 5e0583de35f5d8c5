/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-members.h"

#include "flam-json-run.h"

/* Limit of the levels with paths, and of the elements of one array. */
#define MAX_DEPTH 6
#define MAX_ELEMENTS 4
/* A document with more members at these levels is in no known format. */
#define MAX_PATHS 4096
#define MAX_NAME 64

struct _FlamMembers
{
  GHashTable *paths; /* path -> its first text, or NULL */
};

typedef struct
{
  FlamMembers *members;
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

/* Skips bytes up to a quote or a bracket, which affect nesting. */
static inline const guint8 *
find_mark (const guint8 *p, const guint8 *end)
{
#ifdef __SSE2__
  const __m128i fold = _mm_set1_epi8 (0x20), quote = _mm_set1_epi8 ('"');
  const __m128i open = _mm_set1_epi8 ('{'), close = _mm_set1_epi8 ('}');

  for (; end - p >= 16; p += 16)
    {
      __m128i bytes = _mm_loadu_si128 ((const __m128i *)p);
      /* '[' and ']' differ from '{' and '}' in one bit only. */
      __m128i folded = _mm_or_si128 (bytes, fold);
      guint mask = (guint)_mm_movemask_epi8 (
          _mm_or_si128 (_mm_cmpeq_epi8 (bytes, quote),
                        _mm_or_si128 (_mm_cmpeq_epi8 (folded, open),
                                      _mm_cmpeq_epi8 (folded, close))));

      if (mask != 0)
        return p + __builtin_ctz (mask);
    }
#endif
  while (p < end && *p != '"' && (*p | 0x20) != '{' && (*p | 0x20) != '}')
    p++;
  return p;
}

/* Moves past the container whose bracket is at `at`. */
static void
skip_container (Walk *walk)
{
  guint depth = 0;

  while (walk->at < walk->end)
    {
      walk->at = find_mark (walk->at, walk->end);
      if (walk->at == walk->end)
        return;
      if (*walk->at == '"')
        {
          skip_string (walk);
          continue;
        }
      depth += (*walk->at | 0x20) == '{' ? 1 : -1;
      walk->at++;
      if (depth == 0)
        return;
    }
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

static void
note (Walk *walk)
{
  GHashTable *paths = walk->members->paths;
  const guint8 *text = walk->at;
  char *first = NULL;

  if (g_hash_table_size (paths) >= MAX_PATHS ||
      g_hash_table_contains (paths, walk->path->str))
    return;
  if (text < walk->end && *text == '"')
    first = g_strndup ((const char *)text + 1,
                       MIN (walk->end - text - 1, MAX_NAME));
  g_hash_table_insert (paths, g_strdup (walk->path->str), first);
}

static void walk_value (Walk *walk, guint depth);

static void
walk_array (Walk *walk, guint depth)
{
  gsize length = walk->path->len;
  guint n = 0;

  g_string_append (walk->path, "[]");
  for (walk->at++; walk->at < walk->end; n++)
    {
      skip_space (walk);
      if (walk->at == walk->end || *walk->at == ']')
        break;
      if (n < MAX_ELEMENTS)
        {
          note (walk);
          walk_value (walk, depth + 1);
        }
      else
        skip_value (walk);
      skip_space (walk);
      if (walk->at == walk->end || *walk->at != ',')
        break;
      walk->at++;
    }
  walk->at += walk->at < walk->end;
  g_string_truncate (walk->path, length);
}

static void
walk_object (Walk *walk, guint depth)
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
      note (walk);
      walk_value (walk, depth + 1);
      g_string_truncate (walk->path, length);
      skip_space (walk);
      if (walk->at == walk->end || *walk->at != ',')
        break;
      walk->at++;
    }
  walk->at += walk->at < walk->end;
}

static void
walk_value (Walk *walk, guint depth)
{
  if (walk->at == walk->end || depth >= MAX_DEPTH)
    skip_value (walk);
  else if (*walk->at == '{')
    walk_object (walk, depth);
  else if (*walk->at == '[')
    walk_array (walk, depth);
  else
    skip_value (walk);
}

FlamMembers *
flam_members_new (const guint8 *data, gsize size, gsize most)
{
  g_autoptr (GString) path = g_string_new (NULL);
  FlamMembers *members;
  Walk walk = { NULL, data, data + MIN (size, most), path };

  skip_space (&walk);
  if (walk.at == walk.end || (*walk.at != '{' && *walk.at != '['))
    return NULL;
  walk.members = members = g_new0 (FlamMembers, 1);
  members->paths =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  walk_value (&walk, 0);
  return members;
}

void
flam_members_free (FlamMembers *members)
{
  if (members == NULL)
    return;
  g_hash_table_unref (members->paths);
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
          members->paths, key != NULL ? key : path, NULL, &first))
    return FALSE;
  return wanted == NULL ||
         (first != NULL && g_str_has_prefix (first, wanted + 1));
}
