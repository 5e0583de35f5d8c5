/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-export-common.h"

#include "flam-dump.h"
#include "flam-format.h"

typedef struct
{
  FlamId id;
  FlamId file; /* of the line */
  guint32 line;
  gboolean is_function; /* threads stand on top of functions */
} Thing;

static guint
hash_thing (gconstpointer data)
{
  const Thing *thing = data;

  return (thing->id * 2 + thing->is_function) * 0x9e3779b1u ^ thing->line;
}

static gboolean
equal_things (gconstpointer a, gconstpointer b)
{
  const Thing *x = a;
  const Thing *y = b;

  return x->id == y->id && x->line == y->line && x->file == y->file &&
         x->is_function == y->is_function;
}

void
flam_things_init (FlamThings *things, const FlamTree *tree)
{
  g_autofree Thing *keys = g_new (Thing, tree->n);
  g_autoptr (GHashTable) table = g_hash_table_new (hash_thing, equal_things);

  things->thing = g_new (FlamId, MAX (tree->n, 1));
  things->first = g_array_new (FALSE, FALSE, sizeof (FlamId));
  for (FlamId i = 0; i < tree->n; i++)
    {
      gpointer number;

      if (i == 0)
        {
          things->thing[i] = FLAM_NONE;
          continue;
        }
      keys[i].id = tree->function[i];
      keys[i].line = tree->line[i];
      keys[i].file =
          tree->line[i] != 0 ? tree->profile->frames.file[tree->frame[i]] : 0;
      keys[i].is_function = flam_tree_function (tree, i) != FLAM_NONE;
      if (!g_hash_table_lookup_extended (table, &keys[i], NULL, &number))
        {
          number = GUINT_TO_POINTER (things->first->len);
          g_hash_table_insert (table, &keys[i], number);
          g_array_append_val (things->first, i);
        }
      things->thing[i] = GPOINTER_TO_UINT (number);
    }
}

void
flam_things_clear (FlamThings *things)
{
  g_clear_pointer (&things->thing, g_free);
  g_clear_pointer (&things->first, g_array_unref);
}

void
flam_export_path (const FlamTree *tree, FlamId node, GArray *path)
{
  guint n = tree->depth[node];

  g_array_set_size (path, n);
  for (; n > 0; node = tree->parent[node])
    g_array_index (path, FlamId, --n) = node;
}

gboolean
flam_export_check_size (const FlamTree *tree, guint width, GError **error)
{
  guint64 size = flam_dump_paths_size (tree, width);

  if (size <= FLAM_EXPORT_MAX)
    return TRUE;
  g_set_error (error,
               FLAM_ERROR,
               FLAM_ERROR_TOO_LARGE,
               "every stack is written whole in this format, which makes "
               "%" G_GUINT64_FORMAT " MiB; the limit is %d MiB. Formats that "
               "hold a tree, json or gecko, have room for it",
               size >> 20,
               (int)(FLAM_EXPORT_MAX >> 20));
  return FALSE;
}

const char *
flam_export_file (const FlamTree *tree, FlamId node, guint32 *line)
{
  FlamId function = flam_tree_function (tree, node);

  *line = 0;
  if (function == FLAM_NONE)
    return "";
  if (tree->line[node] != 0)
    {
      *line = tree->line[node];
      return flam_profile_string (
          tree->profile, tree->profile->frames.file[tree->frame[node]]);
    }
  *line = tree->profile->functions.line[function];
  return flam_profile_string (tree->profile,
                              tree->profile->functions.file[function]);
}

const char *
flam_export_module (const FlamTree *tree, FlamId node)
{
  FlamId function = flam_tree_function (tree, node);

  return function != FLAM_NONE
             ? flam_profile_module_name (tree->profile, function)
             : "";
}

gint64
flam_export_whole (const FlamTree *tree, gint64 weight)
{
  gint64 denominator = tree->profile->measures[tree->measure].denominator;

  return weight / denominator + (weight % denominator * 2 >= denominator);
}

void
flam_export_json_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (; *text != '\0'; text++)
    switch (*text)
      {
      case '"':
      case '\\':
        g_string_append_c (out, '\\');
        g_string_append_c (out, *text);
        break;
      case '\n':
        g_string_append (out, "\\n");
        break;
      case '\t':
        g_string_append (out, "\\t");
        break;
      default:
        if ((guchar)*text < 0x20 || *text == '<' || *text == 0x7f)
          g_string_append_printf (out, "\\u%04x", *text);
        else
          g_string_append_c (out, *text);
      }
  g_string_append_c (out, '"');
}

void
flam_export_json_weight (GString *out, const FlamTree *tree, gint64 weight)
{
  g_autofree char *plain =
      flam_format_plain (&tree->profile->measures[tree->measure], weight);

  g_string_append (out, plain);
}
