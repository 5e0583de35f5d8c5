/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-named-color.h"

#include "flam-regex.h"

#include <stdio.h>
#include <string.h>

/* --- a name as numbers ---------------------------------------------------- */

/* drand48()'s first number after srand48 (seed). */
static double
first_random (guint32 seed)
{
  guint64 state = ((guint64)seed << 16) + 0x330e;

  state = (state * G_GUINT64_CONSTANT (0x5deece66d) + 0xb) &
          ((G_GUINT64_CONSTANT (1) << 48) - 1);
  return (double)state / (double)(G_GUINT64_CONSTANT (1) << 48);
}

static guint32
sum_of_characters (const char *name)
{
  guint32 sum = 0;

  for (; *name != '\0'; name = g_utf8_next_char (name))
    sum += g_utf8_get_char (name);
  return sum;
}

/* The part after the module of "module`function", with a character before the
 * "`". */
static const char *
behind_module (const char *name)
{
  const char *tick =
      *name != '\0' ? strchr (g_utf8_next_char (name), '`') : NULL;

  return tick != NULL ? tick + 1 : name;
}

/* A number from three characters; the first ones weigh the most. */
static double
weigh_head (const char *name)
{
  double vector = 0, weight = 1, max = 1;
  guint modulus = 10;

  name = behind_module (name);
  for (; *name != '\0' && modulus <= 12; name = g_utf8_next_char (name))
    {
      guint i = g_utf8_get_char (name) % modulus;

      vector += (double)i / (modulus - 1) * weight;
      max += weight;
      weight *= 0.70;
      modulus++;
    }
  return 1 - vector / max;
}

/* --- palettes ------------------------------------------------------------- */

static gboolean
is_java (const char *name)
{
  static const char *const packages[] = { "java/", "javax/", "jdk/", "net/",
                                          "org/",  "com/",   "io/",  "sun/" };
  const char *inner = *name == 'L' ? name + 1 : name;

  for (guint i = 0; i < G_N_ELEMENTS (packages); i++)
    if (g_str_has_prefix (name, packages[i]) ||
        g_str_has_prefix (inner, packages[i]))
      return TRUE;
  return strstr (name, ":::") != NULL;
}

static FlamPaletteMode
java_hue (const char *name)
{
  if (g_str_has_suffix (name, "_[j]"))
    return FLAM_PALETTE_GREEN;
  if (g_str_has_suffix (name, "_[i]"))
    return FLAM_PALETTE_AQUA;
  if (is_java (name))
    return FLAM_PALETTE_GREEN;
  if (strstr (name, "::") != NULL)
    return FLAM_PALETTE_YELLOW;
  return g_str_has_suffix (name, "_[k]") ? FLAM_PALETTE_ORANGE
                                         : FLAM_PALETTE_RED;
}

static FlamPaletteMode
perl_hue (const char *name)
{
  if (strstr (name, "::") != NULL)
    return FLAM_PALETTE_YELLOW;
  if (strstr (name, "Perl") != NULL || strstr (name, ".pl") != NULL)
    return FLAM_PALETTE_GREEN;
  return g_str_has_suffix (name, "_[k]") ? FLAM_PALETTE_ORANGE
                                         : FLAM_PALETTE_RED;
}

static FlamPaletteMode
js_hue (const char *name)
{
  const char *slash = strchr (name, '/');

  if (g_str_has_suffix (name, "_[j]"))
    return slash != NULL ? FLAM_PALETTE_GREEN : FLAM_PALETTE_AQUA;
  if (strstr (name, "::") != NULL)
    return FLAM_PALETTE_YELLOW;
  if (slash != NULL && strstr (slash, ".js") != NULL)
    return FLAM_PALETTE_GREEN;
  if (strchr (name, ':') != NULL)
    return FLAM_PALETTE_AQUA;
  if (strcmp (name, " ") == 0)
    return FLAM_PALETTE_GREEN;
  return strstr (name, "_[k]") != NULL ? FLAM_PALETTE_ORANGE : FLAM_PALETTE_RED;
}

/* Palettes of several hues -> the hue of a name. */
static FlamPaletteMode
hue_of (FlamPaletteMode mode, const char *name)
{
  switch (mode)
    {
    case FLAM_PALETTE_JAVA:
      return java_hue (name);
    case FLAM_PALETTE_PERL:
      return perl_hue (name);
    case FLAM_PALETTE_JS:
      return js_hue (name);
    case FLAM_PALETTE_WAKEUP:
      return FLAM_PALETTE_AQUA;
    case FLAM_PALETTE_CHAIN:
      return strstr (name, "_[w]") != NULL ? FLAM_PALETTE_AQUA
                                           : FLAM_PALETTE_BLUE;
    default:
      return mode;
    }
}

/* For each channel: its lowest value, its range, and which of the three numbers
 * is used. */
typedef struct
{
  struct
  {
    guint8 base, span, by;
  } channel[3];
} Ramp;

static const Ramp ramps[FLAM_N_PALETTES] = {
  [FLAM_PALETTE_HOT] = { { { 205, 50, 2 }, { 0, 230, 0 }, { 0, 55, 1 } } },
  [FLAM_PALETTE_MEM] = { { { 0, 0, 0 }, { 190, 50, 1 }, { 0, 210, 0 } } },
  [FLAM_PALETTE_IO] = { { { 80, 60, 0 }, { 80, 60, 0 }, { 190, 55, 1 } } },
  [FLAM_PALETTE_RED] = { { { 200, 55, 0 }, { 50, 80, 0 }, { 50, 80, 0 } } },
  [FLAM_PALETTE_GREEN] = { { { 50, 60, 0 }, { 200, 55, 0 }, { 50, 60, 0 } } },
  [FLAM_PALETTE_BLUE] = { { { 80, 60, 0 }, { 80, 60, 0 }, { 205, 50, 0 } } },
  [FLAM_PALETTE_YELLOW] = { { { 175, 55, 0 }, { 175, 55, 0 }, { 50, 20, 0 } } },
  [FLAM_PALETTE_PURPLE] = { { { 190, 65, 0 }, { 80, 60, 0 }, { 190, 65, 0 } } },
  [FLAM_PALETTE_AQUA] = { { { 50, 60, 0 }, { 165, 55, 0 }, { 165, 55, 0 } } },
  [FLAM_PALETTE_ORANGE] = { { { 190, 65, 0 }, { 90, 65, 0 }, { 0, 0, 0 } } },
};

FlamColor
flam_named_color (FlamPaletteMode mode, gboolean hash, const char *name)
{
  const Ramp *ramp = &ramps[hue_of (mode, name)];
  FlamColor color = 0;
  double v[3];

  if (strcmp (name, "--") == 0)
    return 0xa0a0a0;
  if (strcmp (name, "-") == 0)
    return 0xc8c8c8;
  if (hash)
    {
      g_autofree char *backward = g_utf8_strreverse (name, -1);

      v[0] = weigh_head (name);
      v[1] = v[2] = weigh_head (backward);
    }
  else
    v[0] = v[1] = v[2] = first_random (sum_of_characters (name));
  for (guint i = 0; i < 3; i++)
    color =
        color << 8 | (ramp->channel[i].base +
                      (guint)(ramp->channel[i].span * v[ramp->channel[i].by]));
  return color;
}

gboolean
flam_named_color_parse (const char *text, FlamColor *color)
{
  unsigned r, g, b;
  int end = 0;

  if ((sscanf (text, "rgb(%3u,%3u,%3u)%n", &r, &g, &b, &end) != 3 ||
       end == 0) &&
      (strspn (text + (*text == '#'), "0123456789abcdefABCDEF") != 6 ||
       sscanf (text, "#%2x%2x%2x%n", &r, &g, &b, &end) != 3))
    return FALSE;
  *color = r << 16 | g << 8 | b;
  return text[end] == '\0' && r <= 255 && g <= 255 && b <= 255;
}

/* --- palette files -------------------------------------------------------- */

struct _FlamColorMap
{
  GHashTable *colors; /* name -> color */
};

FlamColorMap *
flam_color_map_new (void)
{
  FlamColorMap *map = g_new0 (FlamColorMap, 1);

  map->colors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return map;
}

void
flam_color_map_free (FlamColorMap *map)
{
  g_hash_table_unref (map->colors);
  g_free (map);
}

void
flam_color_map_add (FlamColorMap *map, const char *name, FlamColor color)
{
  /* A whole line is one name. */
  g_hash_table_replace (map->colors,
                        g_strdelimit (g_strdup (name), "\r\n", ' '),
                        GUINT_TO_POINTER (color));
}

gboolean
flam_color_map_find (const FlamColorMap *map,
                     const char *name,
                     FlamColor *color)
{
  gpointer found;
  g_autofree char *line = strpbrk (name, "\r\n")
                              ? g_strdelimit (g_strdup (name), "\r\n", ' ')
                              : NULL;

  if (!g_hash_table_lookup_extended (
          map->colors, line != NULL ? line : name, NULL, &found))
    return FALSE;
  *color = GPOINTER_TO_UINT (found);
  return TRUE;
}

/* The last "->" of a line separates it, since "operator->" contains one. */
static gboolean
parse_line (FlamColorMap *map, char *line)
{
  char *arrow = g_strrstr (line, "->");
  FlamColor color;

  if (*line == '\0')
    return TRUE;
  if (arrow == NULL || !flam_named_color_parse (arrow + 2, &color) ||
      !g_utf8_validate (line, arrow - line, NULL))
    return FALSE;
  *arrow = '\0';
  flam_color_map_add (map, line, color);
  return TRUE;
}

gboolean
flam_color_map_parse (FlamColorMap *map, const char *text, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (!parse_line (map, g_strchomp (lines[i])))
      return flam_error_set (
          error,
          FLAM_ERROR_INVALID,
          N_ ("line %u: expected FUNCTION->rgb(RED,GREEN,BLUE)"),
          i + 1);
  return TRUE;
}

char *
flam_color_map_text (const FlamColorMap *map)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GList) names = g_hash_table_get_keys (map->colors);

  names = g_list_sort (names, (GCompareFunc)strcmp);
  for (GList *at = names; at != NULL; at = at->next)
    {
      FlamColor color =
          GPOINTER_TO_UINT (g_hash_table_lookup (map->colors, at->data));

      g_string_append_printf (text,
                              "%s->rgb(%u,%u,%u)\n",
                              (const char *)at->data,
                              color >> 16 & 255,
                              color >> 8 & 255,
                              color & 255);
    }
  return g_string_free (text, FALSE);
}

/* --- rules ---------------------------------------------------------------- */

/* The target of a rule. */
enum
{
  OF_NAME,
  OF_MODULE,
  OF_FILE,
  OF_KIND,
  N_OF
};

typedef struct
{
  guint of;
  char *pattern; /* as written */
  FlamRegex *regex;
  FlamColor color;
} Rule;

struct _FlamColorRules
{
  GArray *rules; /* Rule */
};

static void
rule_clear (gpointer data)
{
  Rule *rule = data;

  flam_regex_unref (rule->regex);
  g_free (rule->pattern);
}

FlamColorRules *
flam_color_rules_new (void)
{
  FlamColorRules *rules = g_atomic_rc_box_new0 (FlamColorRules);

  rules->rules = g_array_new (FALSE, FALSE, sizeof (Rule));
  g_array_set_clear_func (rules->rules, rule_clear);
  return rules;
}

FlamColorRules *
flam_color_rules_ref (FlamColorRules *rules)
{
  return g_atomic_rc_box_acquire (rules);
}

static void
rules_clear (gpointer data)
{
  g_array_unref (((FlamColorRules *)data)->rules);
}

void
flam_color_rules_unref (FlamColorRules *rules)
{
  g_atomic_rc_box_release_full (rules, rules_clear);
}

guint
flam_color_rules_get_n (const FlamColorRules *rules)
{
  return rules->rules->len;
}

gboolean
flam_color_rules_add (FlamColorRules *rules,
                      const char *pattern,
                      const char *color,
                      GError **error)
{
  static const char *const prefixes[N_OF] = {
    [OF_NAME] = "",
    [OF_MODULE] = "module:",
    [OF_FILE] = "file:",
    [OF_KIND] = "kind:",
  };
  const char *expression = pattern;
  Rule rule = { .of = OF_NAME };

  for (guint of = OF_NAME + 1; of < N_OF; of++)
    if (g_str_has_prefix (pattern, prefixes[of]))
      {
        rule.of = of;
        expression = pattern + strlen (prefixes[of]);
      }
  if (!flam_named_color_parse (color, &rule.color))
    return flam_error_set (
        error,
        FLAM_ERROR_INVALID,
        N_ ("“%s” is not a color: expected #RRGGBB or rgb(R,G,B)"),
        color);
  rule.regex = flam_regex_new (expression, G_REGEX_OPTIMIZE, error);
  if (rule.regex == NULL)
    return FALSE;
  rule.pattern = g_strdup (pattern);
  g_array_append_val (rules->rules, rule);
  return TRUE;
}

gboolean
flam_color_rules_add_line (FlamColorRules *rules,
                           const char *line,
                           GError **error)
{
  const char *equals = strrchr (line, '=');
  g_autofree char *pattern =
      equals != NULL ? g_strndup (line, (gsize)(equals - line)) : NULL;

  if (pattern != NULL)
    return flam_color_rules_add (rules, pattern, equals + 1, error);
  g_set_error_literal (
      error, FLAM_ERROR, FLAM_ERROR_INVALID, N_ ("expected REGEX=COLOR"));
  return FALSE;
}

gboolean
flam_color_rules_parse (FlamColorRules *rules, const char *text, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (GError) bad = NULL;

      g_strchomp (lines[i]);
      if (lines[i][0] == '\0' || lines[i][0] == '#' ||
          flam_color_rules_add_line (rules, lines[i], &bad))
        continue;
      g_set_error (error,
                   FLAM_ERROR,
                   FLAM_ERROR_INVALID,
                   N_ ("line %u: %s"),
                   i + 1,
                   bad->message);
      return FALSE;
    }
  return TRUE;
}

/* Without a file, no rule for files matches, not even one that matches any
 * text. */
static gboolean
matches (const Rule *rule, const char *const *texts)
{
  const char *text = texts[rule->of];

  return text != NULL && (rule->of == OF_NAME || *text != '\0') &&
         flam_regex_match (rule->regex, text);
}

static void
texts_of (const FlamTree *tree, FlamNodeId node, const char **texts)
{
  const FlamProfile *profile = tree->profile;
  FlamFunctionId function = flam_tree_function (tree, node);

  texts[OF_NAME] = flam_tree_name (tree, node);
  texts[OF_MODULE] = flam_profile_module_name (profile, function);
  texts[OF_FILE] =
      function != FLAM_NONE
          ? flam_profile_string (profile, profile->functions.file[function])
          : NULL;
  texts[OF_KIND] =
      function != FLAM_NONE
          ? flam_function_kind_to_string (profile->functions.kind[function])
          : NULL;
}

guint
flam_color_rules_find_node (const FlamColorRules *rules,
                            const FlamTree *tree,
                            FlamNodeId node)
{
  const char *texts[N_OF];

  texts_of (tree, node, texts);
  for (guint i = 0; i < rules->rules->len; i++)
    if (matches (&g_array_index (rules->rules, Rule, i), texts))
      return i;
  return FLAM_NONE;
}

/* Every rule, even if an earlier one matches. */
static void
try_node (const FlamColorRules *rules, const FlamTree *tree, FlamNodeId node)
{
  const char *texts[N_OF];

  texts_of (tree, node, texts);
  for (guint i = 0; i < rules->rules->len; i++)
    matches (&g_array_index (rules->rules, Rule, i), texts);
}

void
flam_color_rules_try (const FlamColorRules *rules, const FlamTree *tree)
{
  g_autoptr (GHashTable) tried = g_hash_table_new (NULL, NULL);

  for (FlamId i = 1; rules != NULL && i < tree->n; i++)
    {
      /* A function has the same string wherever it is called. */
      const char *name = flam_tree_name (tree, i);

      if (g_hash_table_add (tried, (gpointer)name))
        try_node (rules, tree, i);
    }
}

const char *
flam_color_rules_get_slow (const FlamColorRules *rules, guint rule)
{
  return flam_regex_get_slow (g_array_index (rules->rules, Rule, rule).regex);
}

const char *
flam_color_rules_get_pattern (const FlamColorRules *rules, guint rule)
{
  return g_array_index (rules->rules, Rule, rule).pattern;
}

FlamColor
flam_color_rules_get_color (const FlamColorRules *rules, guint rule)
{
  return g_array_index (rules->rules, Rule, rule).color;
}
