/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-look.h"

#include <math.h>
#include <string.h>

/* --- the table ------------------------------------------------------------ */

typedef gboolean (*Take) (FlamCliLook *look, guint option, const char *word);

static gboolean take_text (FlamCliLook *look, guint option, const char *word);
static gboolean take_number (FlamCliLook *look, guint option, const char *word);
static gboolean take_least (FlamCliLook *look, guint option, const char *word);
static gboolean
take_direction (FlamCliLook *look, guint option, const char *word);
static gboolean take_shape (FlamCliLook *look, guint option, const char *word);
static gboolean take_order (FlamCliLook *look, guint option, const char *word);
static gboolean
take_palette (FlamCliLook *look, guint option, const char *word);
static gboolean take_map (FlamCliLook *look, guint option, const char *word);

#define PALETTES                                                               \
  N_ ("auto, module, state, memory, safe, hot, mem, io, wakeup, chain, java, " \
      "js, perl, red, green, blue, aqua, yellow, purple or orange")

static const struct
{
  const char *name;
  guint part;
  Take take;
  gsize member; /* of FlamLook: a text or a number */
  double least, most;
  const char *expected;
  const char *what;
  const char *argument;
} options[FLAM_CLI_N_LOOKS] = {
  { "title",
    FLAM_LOOK_TITLE,
    take_text,
    G_STRUCT_OFFSET (FlamLook, title),
    .what = N_ ("Of the picture (default: the file's name)"),
    .argument = "TEXT" },
  { "subtitle",
    FLAM_LOOK_SUBTITLE,
    take_text,
    G_STRUCT_OFFSET (FlamLook, subtitle),
    .what = N_ ("Below the title (default: none)"),
    .argument = "TEXT" },
  { "notes",
    FLAM_LOOK_NOTES,
    take_text,
    G_STRUCT_OFFSET (FlamLook, notes),
    .what = N_ ("In the document, unseen: svg, pdf (default: none)"),
    .argument = "TEXT" },
  { "count-name",
    FLAM_LOOK_COUNT_NAME,
    take_text,
    G_STRUCT_OFFSET (FlamLook, count_name),
    .what = N_ ("What plain numbers count (default: samples)"),
    .argument = "TEXT" },
  { "width",
    FLAM_LOOK_WIDTH,
    take_number,
    G_STRUCT_OFFSET (FlamLook, width),
    100,
    32000,
    "100 to 32000",
    N_ ("Of a picture, in pixels (default 1200)"),
    "N" },
  { "row-height",
    FLAM_LOOK_ROW_HEIGHT,
    take_number,
    G_STRUCT_OFFSET (FlamLook, row_height),
    1,
    200,
    "1 to 200",
    N_ ("In pixels (default 16; png, pdf: what the font needs)"),
    "N" },
  { "min-width",
    FLAM_LOOK_MIN_WIDTH,
    take_least,
    G_STRUCT_OFFSET (FlamLook, min_width),
    0,
    10000,
    N_ ("pixels or a percentage"),
    N_ ("Narrower boxes are left out (default 0.1; png, pdf 0.5)"),
    "N|N%" },
  { "font-size",
    FLAM_LOOK_FONT_SIZE,
    take_number,
    G_STRUCT_OFFSET (FlamLook, font_size),
    2,
    100,
    "2 to 100",
    N_ ("In pixels (default 12)"),
    "N" },
  { "shape",
    FLAM_LOOK_SHAPE,
    take_shape,
    .expected = N_ ("flame, sunburst or treemap"),
    .what = N_ ("flame (default), sunburst or treemap: svg, png, pdf"),
    .argument = "SHAPE" },
  { "direction",
    FLAM_LOOK_DIRECTION,
    take_direction,
    .expected = N_ ("flame or icicle"),
    .what = N_ ("flame or icicle (default: flame; inverted and html: icicle)"),
    .argument = "HOW" },
  { "order",
    FLAM_LOOK_ORDER,
    take_order,
    .expected = N_ ("weight, name or time"),
    .what = N_ ("weight, name or time (default weight)"),
    .argument = "BY" },
  { "palette",
    FLAM_LOOK_COLORS,
    take_palette,
    .expected = PALETTES,
    .what = N_ ("auto (default), module, state, memory, safe, hot, mem, io, …"),
    .argument = "PALETTE" },
  { "color",
    FLAM_LOOK_COLORS,
    take_palette,
    .expected = PALETTES,
    .what = N_ ("Another name of --palette"),
    .argument = "PALETTE" },
  { "palette-map",
    FLAM_LOOK_COLORS,
    take_map,
    .what = N_ ("Colors of functions: read; the others are added to it"),
    .argument = "FILE" },
};

/* --- words ---------------------------------------------------------------- */

static gboolean
take_text (FlamCliLook *look, guint option, const char *word)
{
  G_STRUCT_MEMBER (const char *, &look->look, options[option].member) = word;
  return TRUE;
}

static gboolean
parse_number (guint option, const char *word, const char *rest, double *number)
{
  char *end;

  *number = g_ascii_strtod (word, &end);
  return end != word && strcmp (end, rest) == 0 && isfinite (*number) &&
         *number >= options[option].least && *number <= options[option].most;
}

static gboolean
take_number (FlamCliLook *look, guint option, const char *word)
{
  double number;

  if (!parse_number (option, word, "", &number))
    return FALSE;
  G_STRUCT_MEMBER (double, &look->look, options[option].member) = number;
  return TRUE;
}

#define NOTHING 1e-9 /* where 0 is the default */
#define WIDTH 1200

/* Its percentage is of the width, which stands before it in the table. */
static gboolean
take_least (FlamCliLook *look, guint option, const char *word)
{
  double number;
  double width = look->look.width > 0 ? look->look.width : WIDTH;

  if (parse_number (option, word, "%", &number) && number <= 100)
    number *= width / 100;
  else if (!parse_number (option, word, "", &number))
    return FALSE;
  look->look.min_width = MAX (number, NOTHING);
  return TRUE;
}

static gboolean
take_direction (FlamCliLook *look, guint option, const char *word)
{
  look->look.direction = strcmp (word, "icicle") == 0 ? FLAM_DIRECTION_ICICLE
                                                      : FLAM_DIRECTION_FLAME;
  return look->look.direction == FLAM_DIRECTION_ICICLE ||
         strcmp (word, "flame") == 0;
}

static gboolean
take_shape (FlamCliLook *look, guint option, const char *word)
{
  return flam_shape_from_string (word, &look->look.shape);
}

static gboolean
take_order (FlamCliLook *look, guint option, const char *word)
{
  static const char *const orders[] = { [FLAM_ORDER_TOTAL] = "weight",
                                        [FLAM_ORDER_NAME] = "name",
                                        [FLAM_ORDER_TIME] = "time" };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    if (strcmp (word, orders[i]) == 0)
      {
        look->look.order = i;
        return TRUE;
      }
  return FALSE;
}

static gboolean
take_palette (FlamCliLook *look, guint option, const char *word)
{
  return flam_palette_mode_from_string (word, &look->look.colors.mode);
}

/* Read when all else is known to be right. */
static gboolean
take_map (FlamCliLook *look, guint option, const char *word)
{
  look->map = flam_color_map_new ();
  look->look.colors.map = look->map;
  return TRUE;
}

static const char *
map_path (const FlamCliLook *look)
{
  for (guint i = 0; i < FLAM_CLI_N_LOOKS; i++)
    if (options[i].take == take_map)
      return look->typed[i];
  return NULL;
}

static gboolean
read_map (FlamCliLook *look)
{
  const char *path = map_path (look);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (path == NULL || !g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!g_file_get_contents (path, &text, NULL, &error))
    flam_cli_error ("%s", error->message);
  else if (!flam_color_map_parse (look->map, text, &error))
    flam_cli_error ("%s: %s", path, error->message);
  return error == NULL;
}

/* REGEX=COLOR, parted by the last "=". */
static gboolean
take_rules (FlamCliLook *look, const char *verb)
{
  look->color_rules = flam_color_rules_new ();
  for (guint i = 0; look->rules != NULL && look->rules[i] != NULL; i++)
    {
      const char *equals = strrchr (look->rules[i], '=');
      g_autofree char *pattern =
          equals != NULL ? g_strndup (look->rules[i], equals - look->rules[i])
                         : NULL;
      g_autoptr (GError) error = NULL;

      if (pattern == NULL)
        flam_cli_usage (_ ("%s: --color-rule %s: expected REGEX=COLOR"),
                        verb,
                        look->rules[i]);
      else if (!flam_color_rules_add (
                   look->color_rules, pattern, equals + 1, &error))
        flam_cli_usage (_ ("%s: --color-rule %s: %s"),
                        verb,
                        look->rules[i],
                        error->message);
      if (pattern == NULL || error != NULL)
        return FALSE;
    }
  if (look->rules != NULL)
    look->look.colors.rules = look->color_rules;
  return TRUE;
}

/* --- entries -------------------------------------------------------------- */

void
flam_cli_look_clear (FlamCliLook *look)
{
  for (guint i = 0; i < FLAM_CLI_N_LOOKS; i++)
    g_free (look->typed[i]);
  g_strfreev (look->rules);
  g_clear_pointer (&look->map, flam_color_map_free);
  g_clear_pointer (&look->color_rules, flam_color_rules_free);
}

GOptionEntry *
flam_cli_look_entries (FlamCliLook *look, guint parts, const GOptionEntry *own)
{
  const GOptionEntry flags[] = {
    { "hash",
      0,
      0,
      G_OPTION_ARG_NONE,
      &look->hash,
      N_ ("flamegraph.pl's palettes: names that begin alike look alike"),
      NULL },
    { "color-rule",
      0,
      0,
      G_OPTION_ARG_STRING_ARRAY,
      &look->rules,
      N_ ("A function's color, whatever the palette (repeatable)"),
      "REGEX=COLOR" },
    { "chart",
      0,
      0,
      G_OPTION_ARG_NONE,
      &look->chart,
      "svg, png, pdf, html, tags: calls in time, a lane a thread",
      NULL },
    { "negate",
      0,
      0,
      G_OPTION_ARG_NONE,
      &look->negate,
      N_ ("Blue where it grew, red where it shrank"),
      NULL },
  };
  const guint of_flags[] = {
    FLAM_LOOK_COLORS, FLAM_LOOK_COLORS, FLAM_LOOK_CHART, FLAM_LOOK_NEGATE
  };
  GArray *all = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));

  for (; own->long_name != NULL; own++)
    g_array_append_val (all, *own);
  for (guint i = 0; i < FLAM_CLI_N_LOOKS; i++)
    {
      GOptionEntry entry = {
        options[i].name,
        0,
        0,
        options[i].take == take_map ? G_OPTION_ARG_FILENAME
                                    : G_OPTION_ARG_STRING,
        &look->typed[i],
        options[i].what,
        options[i].argument,
      };

      if (options[i].part & parts)
        g_array_append_val (all, entry);
    }
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    if (of_flags[i] & parts)
      g_array_append_val (all, flags[i]);
  return (GOptionEntry *)(gpointer)g_array_free (all, FALSE);
}

/* --- what was typed ------------------------------------------------------- */

static gboolean
check_flags (const FlamCliLook *look,
             const char *verb,
             const char *kind,
             guint heeds)
{
  const struct
  {
    const char *name;
    gboolean given;
    guint part;
  } flags[] = {
    { "hash", look->hash, FLAM_LOOK_COLORS },
    { "color-rule", look->rules != NULL, FLAM_LOOK_COLORS },
    { "chart", look->chart, FLAM_LOOK_CHART },
    { "negate", look->negate, FLAM_LOOK_NEGATE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    if (flags[i].given && !(flags[i].part & heeds))
      {
        flam_cli_usage (
            _ ("%s: --%s means nothing to %s"), verb, flags[i].name, kind);
        return FALSE;
      }
  return TRUE;
}

static gboolean
take_typed (FlamCliLook *look, const char *verb, const char *kind, guint heeds)
{
  for (guint i = 0; i < FLAM_CLI_N_LOOKS; i++)
    {
      const char *word = look->typed[i];

      if (word == NULL)
        continue;
      if (!(options[i].part & heeds))
        flam_cli_usage (
            _ ("%s: --%s means nothing to %s"), verb, options[i].name, kind);
      else if (!options[i].take (look, i, word))
        flam_cli_usage ("%s: --%s %s: expected %s",
                        verb,
                        options[i].name,
                        word,
                        options[i].expected);
      else
        {
          /* It stands before what it makes meaningless. */
          if (options[i].part == FLAM_LOOK_SHAPE &&
              look->look.shape != FLAM_SHAPE_FLAME)
            {
              heeds &= ~FLAM_LOOK_DIRECTION;
              if (look->look.shape == FLAM_SHAPE_TREEMAP)
                heeds &= ~FLAM_LOOK_ORDER;
              kind = word;
            }
          continue;
        }
      return FALSE;
    }
  return TRUE;
}

FlamExit
flam_cli_look_parse (FlamCliLook *look,
                     const char *verb,
                     const char *kind,
                     guint heeds)
{
  FlamColors *colors = &look->look.colors;

  if (!check_flags (look, verb, kind, heeds))
    return FLAM_EXIT_USAGE;
  /* A chart is drawn downwards and in time. */
  if (look->chart)
    {
      kind = "--chart";
      heeds &= ~(FLAM_LOOK_SHAPE | FLAM_LOOK_DIRECTION | FLAM_LOOK_ORDER |
                 FLAM_LOOK_COUNT_NAME);
    }
  if (!take_typed (look, verb, kind, heeds) || !take_rules (look, verb))
    return FLAM_EXIT_USAGE;
  colors->hash = look->hash;
  colors->negate = look->negate;
  look->look.chart = look->chart;
  if (look->hash && colors->mode < FLAM_PALETTE_HOT)
    return flam_cli_usage (
        _ ("%s: --hash goes with a --palette from hot to orange"), verb);
  return read_map (look) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

gboolean
flam_cli_look_finish (const FlamCliLook *look)
{
  g_autofree char *text =
      look->map != NULL ? flam_color_map_text (look->map) : NULL;
  g_autoptr (GError) error = NULL;

  if (text == NULL || g_file_set_contents_full (map_path (look),
                                                text,
                                                -1,
                                                G_FILE_SET_CONTENTS_CONSISTENT,
                                                0666,
                                                &error))
    return TRUE;
  flam_cli_error ("%s", error->message);
  return FALSE;
}
