/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-user-colors.h"

#include <string.h>

struct _FlamUserColors
{
  GObject parent_instance;

  GPtrArray *lines; /* char*: all lines of the file */
  GArray *rules;    /* guint: which of them are rules */
  FlamColorRules *used;
  GHashTable
      *slow; /* char* pattern to char* name, for rules that are left out */
  guint look_idle;
};

G_DEFINE_FINAL_TYPE (FlamUserColors, flam_user_colors, G_TYPE_OBJECT)

static guint changed_signal, used_signal;

static char *
file_path (void)
{
  return g_build_filename (
      g_get_user_config_dir (), "flambeau", "color-rules", NULL);
}

static gboolean
is_rule (const char *line)
{
  return *line != '\0' && *line != '#';
}

static void
use_line (FlamUserColors *self, const char *line)
{
  const char *equals = strrchr (line, '=');
  g_autofree char *pattern =
      equals != NULL ? g_strndup (line, (gsize)(equals - line)) : NULL;

  if (pattern != NULL && !g_hash_table_contains (self->slow, pattern))
    flam_color_rules_add_line (self->used, line, NULL);
}

/* Rules that are invalid or too slow are left out; the rows of the preferences
 * show why. */
static void
use (FlamUserColors *self)
{
  g_clear_pointer (&self->used, flam_color_rules_unref);
  self->used = flam_color_rules_new ();
  g_array_set_size (self->rules, 0);
  for (guint i = 0; i < self->lines->len; i++)
    if (is_rule (self->lines->pdata[i]))
      {
        g_array_append_val (self->rules, i);
        use_line (self, self->lines->pdata[i]);
      }
  g_signal_emit (self, used_signal, 0);
}

static void
read_file (FlamUserColors *self)
{
  g_autofree char *path = file_path ();
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return;
  lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    g_ptr_array_add (self->lines,
                     g_utf8_make_valid (g_strchomp (lines[i]), -1));
}

static gboolean
write_file (FlamUserColors *self, GError **error)
{
  g_autofree char *path = file_path ();
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < self->lines->len; i++)
    g_string_append_printf (text, "%s\n", (char *)self->lines->pdata[i]);
  use (self);
  g_signal_emit (self, changed_signal, 0);
  g_mkdir_with_parents (folder, 0700);
  return g_file_set_contents (path, text->str, (gssize)text->len, error);
}

/* --- rules ---------------------------------------------------------------- */

FlamColorRules *
flam_user_colors_get_rules (FlamUserColors *self)
{
  g_return_val_if_fail (FLAM_IS_USER_COLORS (self), NULL);
  return flam_color_rules_get_n (self->used) > 0 ? self->used : NULL;
}

guint
flam_user_colors_get_n (FlamUserColors *self)
{
  g_return_val_if_fail (FLAM_IS_USER_COLORS (self), 0);
  return self->rules->len;
}

static char **
line_of (FlamUserColors *self, guint rule)
{
  guint line = g_array_index (self->rules, guint, rule);

  return (char **)&self->lines->pdata[line];
}

const char *
flam_user_colors_get_line (FlamUserColors *self, guint rule)
{
  g_return_val_if_fail (rule < flam_user_colors_get_n (self), NULL);
  return *line_of (self, rule);
}

gboolean
flam_user_colors_set_line (FlamUserColors *self,
                           guint rule,
                           const char *text,
                           GError **error)
{
  char *line = g_strdup (text);

  g_return_val_if_fail (rule <= flam_user_colors_get_n (self), FALSE);
  if (rule == self->rules->len)
    g_ptr_array_add (self->lines, line);
  else
    {
      char **place = line_of (self, rule);

      g_free (*place);
      *place = line;
    }
  return write_file (self, error);
}

gboolean
flam_user_colors_remove (FlamUserColors *self, guint rule, GError **error)
{
  g_return_val_if_fail (rule < flam_user_colors_get_n (self), FALSE);
  g_ptr_array_remove_index (self->lines,
                            g_array_index (self->rules, guint, rule));
  return write_file (self, error);
}

gboolean
flam_user_colors_move_up (FlamUserColors *self, guint rule, GError **error)
{
  char **a, **b, *line;

  g_return_val_if_fail (rule > 0 && rule < flam_user_colors_get_n (self),
                        FALSE);
  a = line_of (self, rule - 1);
  b = line_of (self, rule);
  line = *a;
  *a = *b;
  *b = line;
  return write_file (self, error);
}

/* --- rules that take too long ----------------------------------------------
 */

static gboolean
is_any_slow (FlamUserColors *self)
{
  for (guint i = 0; i < flam_color_rules_get_n (self->used); i++)
    if (flam_color_rules_get_slow (self->used, i) != NULL)
      return TRUE;
  return FALSE;
}

static gboolean
leave_out_slow (gpointer data)
{
  FlamUserColors *self = data;

  self->look_idle = 0;
  for (guint i = 0; i < flam_color_rules_get_n (self->used); i++)
    {
      const char *name = flam_color_rules_get_slow (self->used, i);

      if (name != NULL)
        g_hash_table_replace (
            self->slow,
            g_strdup (flam_color_rules_get_pattern (self->used, i)),
            g_strdup (name));
    }
  use (self);
  return G_SOURCE_REMOVE;
}

void
flam_user_colors_look (FlamUserColors *self)
{
  g_return_if_fail (FLAM_IS_USER_COLORS (self));
  if (self->look_idle == 0 && is_any_slow (self))
    self->look_idle = g_idle_add (leave_out_slow, self);
}

const char *
flam_user_colors_get_slow (FlamUserColors *self, const char *pattern)
{
  g_return_val_if_fail (FLAM_IS_USER_COLORS (self), NULL);
  return g_hash_table_lookup (self->slow, pattern);
}

/* --- graphs --------------------------------------------------------------- */

static void
color_graph (FlamFlameGraph *graph)
{
  flam_flame_graph_set_rules (
      graph, flam_user_colors_get_rules (flam_user_colors_get ()));
}

void
flam_user_colors_follow (FlamFlameGraph *graph)
{
  g_signal_connect_object (flam_user_colors_get (),
                           "used",
                           G_CALLBACK (color_graph),
                           graph,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (graph,
                           "rules-tried",
                           G_CALLBACK (flam_user_colors_look),
                           flam_user_colors_get (),
                           G_CONNECT_SWAPPED);
  color_graph (graph);
}

/* --- object --------------------------------------------------------------- */

static void
flam_user_colors_finalize (GObject *object)
{
  FlamUserColors *self = FLAM_USER_COLORS (object);

  g_clear_handle_id (&self->look_idle, g_source_remove);
  g_hash_table_unref (self->slow);
  g_ptr_array_unref (self->lines);
  g_array_unref (self->rules);
  flam_color_rules_unref (self->used);
  G_OBJECT_CLASS (flam_user_colors_parent_class)->finalize (object);
}

static guint
new_signal (const char *name)
{
  return g_signal_new (name,
                       FLAM_TYPE_USER_COLORS,
                       G_SIGNAL_RUN_LAST,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       G_TYPE_NONE,
                       0);
}

static void
flam_user_colors_class_init (FlamUserColorsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_user_colors_finalize;
  changed_signal = new_signal ("changed");
  used_signal = new_signal ("used");
}

static void
flam_user_colors_init (FlamUserColors *self)
{
  self->lines = g_ptr_array_new_with_free_func (g_free);
  self->rules = g_array_new (FALSE, FALSE, sizeof (guint));
  self->slow = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  read_file (self);
  use (self);
}

FlamUserColors *
flam_user_colors_get (void)
{
  static FlamUserColors *colors;

  if (colors == NULL)
    colors = g_object_new (FLAM_TYPE_USER_COLORS, NULL);
  return colors;
}
