/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-name-attributes.h"

#include <string.h>

struct _FlamNameAttributes
{
  GHashTable *functions; /* name -> char *[FLAM_N_ATTRIBUTES] */
};

static const char *const names[FLAM_N_ATTRIBUTES] = {
  [FLAM_ATTRIBUTE_ID] = "id",
  [FLAM_ATTRIBUTE_CLASS] = "class",
  [FLAM_ATTRIBUTE_HREF] = "href",
  [FLAM_ATTRIBUTE_TARGET] = "target",
};

static void
free_values (gpointer data)
{
  char **values = data;

  for (guint i = 0; i < FLAM_N_ATTRIBUTES; i++)
    g_free (values[i]);
  g_free (values);
}

/* A script is not an address. */
static gboolean
is_address (const char *text)
{
  g_autofree char *scheme = g_uri_parse_scheme (text);

  return scheme == NULL || g_ascii_strcasecmp (scheme, "http") == 0 ||
         g_ascii_strcasecmp (scheme, "https") == 0 ||
         g_ascii_strcasecmp (scheme, "file") == 0;
}

static gboolean
set_value (char **values, const char *pair)
{
  const char *equals = strchr (pair, '=');

  for (guint i = 0; equals != NULL && i < FLAM_N_ATTRIBUTES; i++)
    if (strlen (names[i]) == (gsize)(equals - pair) &&
        strncmp (names[i], pair, equals - pair) == 0 &&
        (i != FLAM_ATTRIBUTE_HREF || is_address (equals + 1)))
      {
        g_free (values[i]);
        values[i] = g_strdup (equals + 1);
        return TRUE;
      }
  return FALSE;
}

static gboolean
parse_line (FlamNameAttributes *attributes, const char *line)
{
  g_auto (GStrv) parts = g_strsplit (line, "\t", -1);
  char **values;

  if (parts[0] == NULL || parts[1] == NULL || !g_utf8_validate (line, -1, NULL))
    return FALSE;
  values = g_new0 (char *, FLAM_N_ATTRIBUTES);
  g_hash_table_replace (attributes->functions, g_strdup (parts[0]), values);
  for (guint i = 1; parts[i] != NULL; i++)
    if (!set_value (values, parts[i]))
      return FALSE;
  return TRUE;
}

FlamNameAttributes *
flam_name_attributes_parse (const char *text, GError **error)
{
  g_autoptr (FlamNameAttributes) attributes = g_new0 (FlamNameAttributes, 1);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  attributes->functions =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_values);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_strchomp (lines[i]);
      if (*lines[i] != '\0' && !parse_line (attributes, lines[i]))
        {
          g_set_error (error,
                       FLAM_ERROR,
                       FLAM_ERROR_INVALID,
                       N_ ("line %u: expected a function, and after tabs id=, "
                           "class=, href= or target="),
                       i + 1);
          return NULL;
        }
    }
  return g_steal_pointer (&attributes);
}

void
flam_name_attributes_free (FlamNameAttributes *attributes)
{
  g_hash_table_unref (attributes->functions);
  g_free (attributes);
}

char **
flam_name_attributes_find (const FlamNameAttributes *attributes,
                           const char *name)
{
  return attributes != NULL ? g_hash_table_lookup (attributes->functions, name)
                            : NULL;
}
