/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-export-options.h"

#include <math.h>
#include <string.h>

#define OF(member) G_STRUCT_OFFSET (FlamExportOptions, member)

static const FlamOptionWord shapes[] = {
  { "flame", N_ ("Flame graph"), FLAM_SHAPE_FLAME },
  { "sunburst", N_ ("Sunburst"), FLAM_SHAPE_SUNBURST },
  { "treemap", N_ ("Treemap"), FLAM_SHAPE_TREEMAP },
  { NULL, NULL, 0 },
};

static const FlamOptionWord directions[] = {
  { "flame", N_ ("At the bottom (flame)"), FLAM_DIRECTION_FLAME },
  { "icicle", N_ ("At the top (icicle)"), FLAM_DIRECTION_ICICLE },
  { NULL, NULL, 0 },
};

static const FlamOptionWord orders[] = {
  { "weight", N_ ("Heaviest first"), FLAM_ORDER_TOTAL },
  { "name", N_ ("By name"), FLAM_ORDER_NAME },
  { "time", N_ ("By time"), FLAM_ORDER_TIME },
  { NULL, NULL, 0 },
};

static const FlamOptionWord palettes[] = {
  { "auto", N_ ("Automatic"), FLAM_PALETTE_AUTO },
  { "module", N_ ("By module"), FLAM_PALETTE_CODE },
  { "state", N_ ("By state of threads"), FLAM_PALETTE_STATE },
  { "memory", N_ ("Green, as for memory"), FLAM_PALETTE_MEMORY },
  { "language", N_ ("By language"), FLAM_PALETTE_LANGUAGE },
  { "self", N_ ("By self cost"), FLAM_PALETTE_SELF },
  { "name", N_ ("By function"), FLAM_PALETTE_NAME },
  { "safe", N_ ("Safe for color blindness"), FLAM_PALETTE_SAFE },
  { "julia", N_ ("By status, as in Julia’s viewers"), FLAM_PALETTE_JULIA },
  { "hot", NULL, FLAM_PALETTE_HOT },
  { "mem", NULL, FLAM_PALETTE_MEM },
  { "io", NULL, FLAM_PALETTE_IO },
  { "wakeup", NULL, FLAM_PALETTE_WAKEUP },
  { "chain", NULL, FLAM_PALETTE_CHAIN },
  { "java", NULL, FLAM_PALETTE_JAVA },
  { "js", NULL, FLAM_PALETTE_JS },
  { "perl", NULL, FLAM_PALETTE_PERL },
  { "red", NULL, FLAM_PALETTE_RED },
  { "green", NULL, FLAM_PALETTE_GREEN },
  { "blue", NULL, FLAM_PALETTE_BLUE },
  { "aqua", NULL, FLAM_PALETTE_AQUA },
  { "yellow", NULL, FLAM_PALETTE_YELLOW },
  { "purple", NULL, FLAM_PALETTE_PURPLE },
  { "orange", NULL, FLAM_PALETTE_ORANGE },
  { NULL, NULL, 0 },
};

static const FlamOptionWord roots[] = {
  { "comm", N_ ("Thread’s name"), FLAM_ROOT_COMM },
  { "pid", N_ ("Name and process"), FLAM_ROOT_PID },
  { "tid", N_ ("Name, process and thread"), FLAM_ROOT_TID },
  { NULL, NULL, 0 },
};

#define PALETTES                                                               \
  N_ ("auto, module, state, memory, language, self, name, safe, julia, hot, "  \
      "mem, io, "                                                              \
      "wakeup, chain, java, js, perl, red, green, blue, aqua, yellow, purple " \
      "or orange")

/* A width comes before a percentage of it, and a shape before the options that
 * have no effect with it. */
const FlamExportOption flam_export_options[FLAM_N_EXPORT_OPTIONS] = {
  { .name = "title",
    .title = N_ ("Title"),
    .what = N_ ("Title of the picture (default: the file's name)"),
    .argument = "TEXT",
    .part = FLAM_PICTURE_STYLE_TITLE,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.title) },
  { .name = "subtitle",
    .title = N_ ("Subtitle"),
    .what = N_ ("Text below the title (default: none)"),
    .argument = "TEXT",
    .part = FLAM_PICTURE_STYLE_SUBTITLE,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.subtitle) },
  { .name = "notes",
    .title = N_ ("Notes"),
    .what = N_ ("Hidden text in the document: svg, pdf (default: none)"),
    .argument = "TEXT",
    .part = FLAM_PICTURE_STYLE_NOTES,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.notes) },
  { .name = "count-name",
    .title = N_ ("Name of What Is Counted"),
    .what = N_ ("What plain numbers count (default: samples)"),
    .argument = "TEXT",
    .part = FLAM_PICTURE_STYLE_COUNT_NAME,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.count_name) },
  { .name = "width",
    .title = N_ ("Width"),
    .what = N_ ("Width of the picture in pixels (default 1200; png: 2400)"),
    .argument = "N",
    .expected = "100 to 32000",
    .part = FLAM_PICTURE_STYLE_WIDTH,
    .kind = FLAM_OPTION_NUMBER,
    .member = OF (look.width),
    .least = 100,
    .most = 32000,
    .step = 100 },
  { .name = "row-height",
    .title = N_ ("Row Height"),
    .what = N_ ("Pixels (default 16; png, pdf: as the font needs)"),
    .argument = "N",
    .expected = "1 to 200",
    .part = FLAM_PICTURE_STYLE_ROW_HEIGHT,
    .kind = FLAM_OPTION_NUMBER,
    .member = OF (look.row_height),
    .least = 1,
    .most = 200,
    .step = 1 },
  { .name = "min-width",
    .title = N_ ("Narrowest Box"),
    .what = N_ ("Omit narrower boxes (default 0.1; png, pdf 0.5)"),
    .argument = "N|N%",
    .expected = N_ ("pixels or a percentage"),
    .part = FLAM_PICTURE_STYLE_MIN_WIDTH,
    .kind = FLAM_OPTION_LEAST,
    .member = OF (look.min_width),
    .least = 0,
    .most = 10000,
    .step = 0.1 },
  { .name = "font-size",
    .title = N_ ("Font Size"),
    .what = N_ ("Font size in pixels (default 12)"),
    .argument = "N",
    .expected = "2 to 100",
    .part = FLAM_PICTURE_STYLE_FONT_SIZE,
    .kind = FLAM_OPTION_NUMBER,
    .member = OF (look.font_size),
    .least = 2,
    .most = 100,
    .step = 1 },
  { .name = "shape",
    .title = N_ ("Shape of the Graph"),
    .what = N_ ("flame (default), sunburst or treemap: svg, png, pdf"),
    .argument = "SHAPE",
    .expected = N_ ("flame, sunburst or treemap"),
    .part = FLAM_PICTURE_STYLE_SHAPE,
    .kind = FLAM_OPTION_CHOICE,
    .member = OF (look.shape),
    .words = shapes },
  { .name = "direction",
    .title = N_ ("Root of the Flame Graph"),
    .what = N_ ("flame or icicle (default flame; inverted or html: icicle)"),
    .argument = "HOW",
    .expected = N_ ("flame or icicle"),
    .part = FLAM_PICTURE_STYLE_DIRECTION,
    .kind = FLAM_OPTION_CHOICE,
    .member = OF (look.direction),
    .words = directions,
    .unset = N_ ("Automatic") },
  { .name = "order",
    .title = N_ ("Sibling Order"),
    .what = N_ ("weight, name or time (default weight)"),
    .argument = "BY",
    .expected = N_ ("weight, name or time"),
    .part = FLAM_PICTURE_STYLE_ORDER,
    .kind = FLAM_OPTION_CHOICE,
    .member = OF (look.order),
    .words = orders },
  { .name = "palette",
    .title = N_ ("Palette"),
    .what = N_ ("auto (default), module, state, memory, safe, hot, mem, io, …"),
    .argument = "PALETTE",
    .expected = PALETTES,
    .part = FLAM_PICTURE_STYLE_COLORS,
    .kind = FLAM_OPTION_CHOICE,
    .member = OF (look.colors.mode),
    .words = palettes },
  { .name = "color",
    .what = N_ ("Another name for --palette"),
    .argument = "PALETTE",
    .expected = PALETTES,
    .part = FLAM_PICTURE_STYLE_COLORS,
    .kind = FLAM_OPTION_CHOICE,
    .member = OF (look.colors.mode),
    .words = palettes },
  { .name = "palette-colors",
    .what = N_ ("julia: colors of plain code in each row, in turn"),
    .argument = "N",
    .expected = "1 to 16",
    .part = FLAM_PICTURE_STYLE_COLORS,
    .kind = FLAM_OPTION_NUMBER,
    .member = OF (look.colors.per_row),
    .least = 1,
    .most = 16,
    .step = 1 },
  { .name = "palette-map",
    .what = N_ ("File of function colors; missing ones are added"),
    .argument = "FILE",
    .part = FLAM_PICTURE_STYLE_COLORS,
    .kind = FLAM_OPTION_FILE },
  { .name = "hash",
    .title = N_ ("Similar Names, Similar Colors"),
    .what = N_ ("flamegraph.pl's palettes: similar names, similar colors"),
    .part = FLAM_PART_HASH,
    .kind = FLAM_OPTION_SWITCH,
    .member = OF (look.colors.hash) },
  { .name = "chart",
    .title = N_ ("Chart"),
    .what = "svg, png, pdf, html, tags: calls in time, one lane per thread",
    .part = FLAM_PICTURE_STYLE_CHART,
    .kind = FLAM_OPTION_SWITCH,
    .member = OF (look.chart) },
  { .name = "bgcolors",
    .what = N_ ("svg: yellow, blue, green, grey or #rrggbb"),
    .argument = "COLOR",
    .part = FLAM_PICTURE_STYLE_PAPER,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.background) },
  { .name = "fonttype",
    .what = N_ ("svg: family of the font (default Verdana)"),
    .argument = "FONT",
    .part = FLAM_PICTURE_STYLE_PAPER,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.font) },
  { .name = "fontwidth",
    .what =
        N_ ("svg: character width relative to the font size (default 0.63)"),
    .argument = "N",
    .expected = "0.1 to 2",
    .part = FLAM_PICTURE_STYLE_PAPER,
    .kind = FLAM_OPTION_NUMBER,
    .member = OF (look.font_width),
    .least = 0.1,
    .most = 2,
    .step = 0.01 },
  { .name = "encoding",
    .what = N_ ("svg: encoding of the document (default UTF-8)"),
    .argument = "NAME",
    .part = FLAM_PICTURE_STYLE_PAPER,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.encoding) },
  { .name = "nametype",
    .what = N_ ("svg: text before names in the details: “Function:”"),
    .argument = "TEXT",
    .part = FLAM_PICTURE_STYLE_PAPER,
    .kind = FLAM_OPTION_TEXT,
    .member = OF (look.name_type) },
  { .name = "factor",
    .what = N_ ("svg: multiply all amounts by N"),
    .argument = "N",
    .expected = N_ ("a number above 0"),
    .part = FLAM_PICTURE_STYLE_BOXES,
    .kind = FLAM_OPTION_NUMBER,
    .member = OF (look.factor),
    .least = 1e-9,
    .most = 1e9,
    .step = 1 },
  { .name = "total",
    .what = N_ ("svg: amount that the whole width stands for, if larger"),
    .argument = "N",
    .expected = N_ ("a number above 0"),
    .part = FLAM_PICTURE_STYLE_BOXES,
    .kind = FLAM_OPTION_NUMBER,
    .member = OF (look.total),
    .least = 1e-9,
    .most = 1e18,
    .step = 1 },
  { .name = "nameattr",
    .what = N_ ("svg: file of links, IDs and classes of functions"),
    .argument = "FILE",
    .part = FLAM_PICTURE_STYLE_BOXES,
    .kind = FLAM_OPTION_FILE },
  { .name = "annotate",
    .title = N_ ("Kinds of Code Behind Names"),
    .what = "Folded: _[k], _[i], _[j], _[w] behind names",
    .part = FLAM_PART_FOLDED,
    .kind = FLAM_OPTION_SWITCH,
    .member = OF (annotate) },
  { .name = "root",
    .title = N_ ("First Frame of Stacks"),
    .what = N_ ("Folded: stacks begin with comm, pid or tid (default: "
                "functions)"),
    .argument = "WHAT",
    .expected = N_ ("comm, pid or tid"),
    .part = FLAM_PART_FOLDED,
    .kind = FLAM_OPTION_CHOICE,
    .member = OF (root),
    .words = roots,
    .unset = N_ ("Functions") },
};

/* --- words ---------------------------------------------------------------- */

static gboolean
parse_number (const FlamExportOption *option,
              const char *word,
              const char *rest,
              double *number)
{
  char *end;

  *number = g_ascii_strtod (word, &end);
  return end != word && strcmp (end, rest) == 0 && isfinite (*number) &&
         *number >= option->least && *number <= option->most;
}

#define NOTHING 1e-9 /* for numbers whose default is 0 */
#define WIDTH 1200

static gboolean
set_least (const FlamExportOption *option,
           const char *word,
           FlamExportOptions *options)
{
  double width = options->look.width > 0 ? options->look.width : WIDTH;
  double number;

  if (parse_number (option, word, "%", &number) && number <= 100)
    number *= width / 100;
  else if (!parse_number (option, word, "", &number))
    return FALSE;
  G_STRUCT_MEMBER (double, options, option->member) = MAX (number, NOTHING);
  return TRUE;
}

static gboolean
set_choice (const FlamExportOption *option,
            const char *word,
            FlamExportOptions *options)
{
  for (const FlamOptionWord *one = option->words; one->word != NULL; one++)
    if (strcmp (word, one->word) == 0)
      {
        G_STRUCT_MEMBER (guint, options, option->member) = one->value;
        return TRUE;
      }
  return FALSE;
}

static gboolean
set (const FlamExportOption *option,
     const char *word,
     FlamExportOptions *options)
{
  double number;

  switch (option->kind)
    {
    case FLAM_OPTION_SWITCH:
      G_STRUCT_MEMBER (gboolean, options, option->member) = TRUE;
      return TRUE;
    case FLAM_OPTION_TEXT:
      G_STRUCT_MEMBER (const char *, options, option->member) = word;
      return TRUE;
    case FLAM_OPTION_NUMBER:
      if (!parse_number (option, word, "", &number))
        return FALSE;
      G_STRUCT_MEMBER (double, options, option->member) = number;
      return TRUE;
    case FLAM_OPTION_LEAST:
      return set_least (option, word, options);
    case FLAM_OPTION_CHOICE:
      return set_choice (option, word, options);
    case FLAM_OPTION_FILE:
    default:
      return TRUE;
    }
}

/* --- options that apply --------------------------------------------------- */

guint
flam_exporter_parts (const FlamExporter *exporter)
{
  return exporter->look | (exporter->folds ? FLAM_PART_FOLDED : 0);
}

guint
flam_export_options_parts (const FlamExportOptions *options, guint parts)
{
  /* A chart is drawn downwards and in order of time. */
  if (options->look.chart)
    parts &= ~(FLAM_PICTURE_STYLE_SHAPE | FLAM_PICTURE_STYLE_DIRECTION |
               FLAM_PICTURE_STYLE_ORDER | FLAM_PICTURE_STYLE_COUNT_NAME |
               FLAM_PICTURE_STYLE_BOXES);
  if (options->look.shape != FLAM_SHAPE_FLAME)
    parts &= ~(FLAM_PICTURE_STYLE_DIRECTION | FLAM_PICTURE_STYLE_BOXES);
  if (options->look.shape == FLAM_SHAPE_TREEMAP)
    parts &= ~FLAM_PICTURE_STYLE_ORDER;
  if (parts & FLAM_PICTURE_STYLE_COLORS &&
      options->look.colors.mode >= FLAM_PALETTE_HOT)
    parts |= FLAM_PART_HASH;
  return parts;
}

static gboolean
check_part (const FlamExportOption *option,
            const FlamExportOptions *options,
            guint parts,
            const char *kind,
            GError **error)
{
  gboolean is_hash = option->part == FLAM_PART_HASH;
  guint part = is_hash ? FLAM_PICTURE_STYLE_COLORS : option->part;

  if (option->part & flam_export_options_parts (options, parts))
    return TRUE;
  if (is_hash && part & parts)
    g_set_error (error,
                 FLAM_ERROR,
                 FLAM_ERROR_INVALID,
                 N_ ("--hash requires a --palette from hot to orange"));
  else
    g_set_error (error,
                 FLAM_ERROR,
                 FLAM_ERROR_INVALID,
                 N_ ("--%s has no effect on %s"),
                 option->name,
                 !(part & parts) ? kind
                 : options->look.chart
                     ? "--chart"
                     : flam_shape_to_string (options->look.shape));
  return FALSE;
}

gboolean
flam_export_options_take (FlamExportOptions *options,
                          const char *const *words,
                          guint parts,
                          const char *kind,
                          GError **error)
{
  /* Most other options have no effect on a chart, so it comes first. */
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < FLAM_N_EXPORT_OPTIONS; i++)
      {
        const FlamExportOption *option = &flam_export_options[i];

        if (words[i] == NULL ||
            (option->part == FLAM_PICTURE_STYLE_CHART) != (pass == 0))
          continue;
        if (!check_part (option, options, parts, kind, error))
          return FALSE;
        if (!set (option, words[i], options))
          {
            g_set_error (error,
                         FLAM_ERROR,
                         FLAM_ERROR_INVALID,
                         N_ ("--%s %s: expected %s"),
                         option->name,
                         words[i],
                         option->expected);
            return FALSE;
          }
      }
  return TRUE;
}
