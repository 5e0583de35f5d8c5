/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A flame graph as a picture: the SVG of flamegraph.pl, inferno and Flambeau,
 * also in a page. The title of a box is its name and weight, and its place
 * gives its caller:
 *
 *    <title>main (1,234 samples, 12.34%)</title>
 *    <rect x="10.0" y="109" width="82.6" height="15.0" …/>
 *
 *    y   109   main                x from x to x + width
 *         93   parse   | read      each is on its caller
 *
 * Old files have it as onmouseover="s('main (31 samples, 0.01%)')" of the rect;
 * inferno's repeat the weight as fg:w="31", and Flambeau's as data-weight="31";
 * inferno's have percentages for x and width. Places are rounded to a tenth of
 * a pixel, so a narrow box at an edge may touch two callers: then its caller is
 * the one with weight left. Weights may have decimals, of which six are kept.
 *
 * Boxes that were too narrow to draw are missing: their weight counts as their
 * caller's self. */

#include "flam-formats.h"

#include "flam-amount.h"
#include "flam-markup.h"
#include "flam-text.h"

#include <math.h>
#include <stdlib.h>

#define MAX_BOXES (8 << 20)
/* Tolerance of positions, in the picture's own units. */
#define ROUNDING 0.11

typedef struct
{
  double x, y, width;
  gint64 weight; /* at first without its decimals */
  guint32 millionths;
  gint64 in_callees;
  double growth;  /* %: of the whole, of its own weight */
  guint32 caller; /* FLAM_NONE: a root */
  FlamFrameId frame;
  FlamStackId stack;
} Box;

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  GArray *boxes;  /* Box */
  GString *name;  /* scratch */
  FlamSlice said; /* of the next box; text NULL: none */
  FlamUnit unit;  /* of the first box */
  gint64 denominator;
  gboolean icicle;
  gboolean difference; /* shows the growth of each box */
  gboolean of_both;    /* describes the former value in words */
  guint64 excess;      /* boxes with more weight than their caller */
  guint64 unread;      /* boxes without a weight or a place, or too many */
} Picture;

static gboolean
attribute_number (const FlamTag *tag, const char *name, double *value)
{
  FlamSlice text;
  char buffer[64];
  char *end;

  if (!flam_tag_attribute (tag, name, &text) || text.length == 0 ||
      text.length >= sizeof buffer)
    return FALSE;
  memcpy (buffer, text.text, text.length);
  buffer[text.length] = '\0';
  *value = g_ascii_strtod (buffer, &end);
  return end != buffer && isfinite (*value);
}

#define MILLION 1000000

/* A number at *p, which moves past it. FALSE: there is none. */
static gboolean
read_weight (Box *box, const char **p, const char *end)
{
  gint64 value;

  if (flam_amount_number (p, end, MILLION, &value))
    {
      box->weight = value / MILLION;
      box->millionths = (guint32)(value % MILLION);
      return TRUE;
    }
  box->millionths = 0;
  return flam_amount_number (p, end, 1, &box->weight);
}

static void
read_exact_weight (Box *box, const FlamTag *tag)
{
  static const char *const names[] = { "fg:w", "data-weight" };
  FlamSlice text;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (flam_tag_attribute (tag, names[i], &text))
      {
        Box exact = *box;
        const char *p = text.text, *end = text.text + text.length;

        if (read_weight (&exact, &p, end) && p == end)
          *box = exact;
      }
}

/* The start of " (1,234 samples, 12.34%"; the name itself may contain
 * parentheses with numbers. */
static gsize
find_weight (const char *text, gsize length)
{
  gsize found = length;

  for (gsize i = 0; i + 2 < length; i++)
    if (text[i] == ' ' && text[i + 1] == '(' &&
        flam_text_is_digit (text[i + 2]) &&
        memchr (text + i, '%', length - i) != NULL)
      found = i;
  return found;
}

/* In a difference: the growth of the function's own weight as a share of the
 * total, "12.34%; +1.20%)". Flambeau's own pictures state the former value in
 * words. */
static void
read_growth (Picture *picture, Box *box, const char *words)
{
  const char *at = strstr (words, "%; ");
  char *end;
  double growth;

  picture->of_both |= strstr (words, "before ") != NULL;
  if (at == NULL)
    return;
  growth = g_ascii_strtod (at + 3, &end);
  if (end == at + 3 || *end != '%' || !isfinite (growth))
    return;
  picture->difference = TRUE;
  box->growth = CLAMP (growth, -100, 100);
}

/* "name (1,234 samples, 12.34%; +1.2%)" */
static gboolean
read_words (Picture *picture, Box *box, FlamUnit *unit)
{
  FlamPrintedAmount amount;
  gsize at;
  const char *p, *end, *number;

  flam_markup_unescape (picture->name, picture->said);
  at = find_weight (picture->name->str, picture->name->len);
  if (at == picture->name->len)
    return FALSE;
  number = p = picture->name->str + at + 2;
  end = picture->name->str + picture->name->len;
  read_growth (picture, box, p);
  if (!flam_amount_parse (&p, end, &amount))
    return FALSE;
  box->weight = amount.value;
  if (!amount.has_unit)
    read_weight (box, &number, end);
  *unit = amount.unit;
  g_string_truncate (picture->name, at);
  return TRUE;
}

static FlamFrameId
make_frame (Picture *picture)
{
  FlamFunction function = { .module = FLAM_NONE };

  if (strcmp (picture->name->str, "[unknown]") == 0)
    function.kind = FLAM_KIND_UNRESOLVED;
  function.name = flam_builder_string (
      picture->builder, picture->name->str, picture->name->len);
  return flam_builder_frame_of (picture->builder, &function, 0, 0, 0);
}

static void
add_box (Picture *picture, const FlamTag *tag)
{
  Box box = { .caller = FLAM_NONE, .stack = FLAM_NONE, .frame = FLAM_NONE };
  FlamUnit unit;

  if (picture->boxes->len < MAX_BOXES && read_words (picture, &box, &unit) &&
      attribute_number (tag, "x", &box.x) &&
      attribute_number (tag, "y", &box.y) &&
      attribute_number (tag, "width", &box.width) && box.width >= 0)
    {
      read_exact_weight (&box, tag);
      if (picture->boxes->len == 0)
        picture->unit = unit;
      box.frame = make_frame (picture);
      g_array_append_val (picture->boxes, box);
    }
  else /* The title of the page has no share. */
    picture->unread +=
        memchr (picture->said.text, '%', picture->said.length) != NULL;
  picture->said.text = NULL;
}

/* onmouseover="s('main (31 samples, 0.01%)')" */
static void
read_hover (Picture *picture, const FlamTag *tag)
{
  static const char open[] = "s('";
  FlamSlice text;

  if (!flam_tag_attribute (tag, "onmouseover", &text) ||
      text.length < strlen ("s('')") ||
      memcmp (text.text, open, strlen (open)) != 0)
    return;
  picture->said.text = text.text + strlen (open);
  picture->said.length = text.length - strlen ("s('')");
}

static gboolean
read_boxes (Picture *picture, GError **error)
{
  FlamMarkup markup;
  FlamTag tag;
  FlamSlice direction;
  guint64 n = 0;

  flam_markup_init (&markup, picture->load->source);
  while (flam_markup_next (&markup, &tag))
    {
      if ((n++ & 0xfff) == 0 &&
          !flam_progress_step (picture->load->options->progress,
                               flam_markup_fraction (&markup),
                               error))
        return FALSE;
      if (flam_tag_is (&tag, "title"))
        picture->said = flam_markup_text (&markup);
      else if (flam_tag_is (&tag, "rect"))
        {
          read_hover (picture, &tag);
          if (picture->said.text != NULL)
            add_box (picture, &tag);
        }
      else if (flam_tag_is (&tag, "g"))
        read_hover (picture, &tag);
      else if (flam_tag_is (&tag, "svg") &&
               flam_tag_attribute (&tag, "data-direction", &direction))
        {
          picture->icicle = flam_slice_is (direction, "icicle");
          if (flam_slice_is (direction, "chart"))
            return flam_source_invalid (
                picture->load->source,
                error,
                N_ ("this is a picture of a flame chart: its boxes are calls "
                    "in time, not stacks"));
        }
      else if (flam_tag_is (&tag, "/svg") && picture->boxes->len > 0)
        break;
    }
  return TRUE;
}

/* --- decimals ------------------------------------------------------------ */

/* With as many decimals as the weights have. Those that do not fit are rounded
 * off. */
static void
scale_weights (Picture *picture)
{
  Box *boxes = (Box *)(gpointer)picture->boxes->data;
  gint64 most = 0, step = MILLION;

  for (guint32 i = 0; i < picture->boxes->len; i++)
    {
      most = MAX (most, boxes[i].weight);
      while (boxes[i].millionths % step != 0)
        step /= 10;
    }
  while (step < MILLION && most >= G_MAXINT64 / (MILLION / step))
    step *= 10;
  picture->denominator = MILLION / step;
  for (guint32 i = 0; i < picture->boxes->len; i++)
    boxes[i].weight = boxes[i].weight * picture->denominator +
                      (boxes[i].millionths + step / 2) / step;
}

/* --- callers ------------------------------------------------------------- */

static int
compare_boxes (gconstpointer a, gconstpointer b)
{
  const Box *x = a;
  const Box *y = b;

  if (x->y != y->y)
    return x->y < y->y ? -1 : 1;
  return x->x < y->x ? -1 : x->x > y->x;
}

static Box *
get_box (Picture *picture, guint32 index)
{
  return &g_array_index (picture->boxes, Box, index);
}

/* The end of the row that begins at `index`. */
static guint32
row_end (Picture *picture, guint32 index)
{
  double y = get_box (picture, index)->y;

  while (index < picture->boxes->len && get_box (picture, index)->y == y)
    index++;
  return index;
}

/* The root is in the row with a single box, as wide as the picture; in a flame
 * graph that is the lowest, with the largest y. */
static void
turn (Picture *picture)
{
  Box *boxes = (Box *)(gpointer)picture->boxes->data;
  guint32 n = picture->boxes->len;
  gboolean down = picture->icicle;

  g_array_sort (picture->boxes, compare_boxes);
  if (n > 1 && !down)
    {
      gboolean top = row_end (picture, 0) == 1;
      gboolean bottom = boxes[n - 1].y != boxes[n - 2].y;
      down = top && (!bottom || boxes[0].width > boxes[n - 1].width + ROUNDING);
    }
  if (down)
    return;
  for (guint32 i = 0; i < n; i++)
    boxes[i].y = -boxes[i].y;
  g_array_sort (picture->boxes, compare_boxes);
}

static gboolean
holds (const Box *caller, const Box *box, double slack)
{
  double middle = box->x + box->width / 2;

  return caller->x - slack <= middle &&
         middle <= caller->x + caller->width + slack;
}

/* Both rows are sorted by x; `*at` is the caller of the previous box. */
static guint32
find_caller (Picture *picture, const Box *box, guint32 *at, guint32 end)
{
  guint32 fitting = FLAM_NONE;

  while (*at + 1 < end &&
         get_box (picture, *at)->x + get_box (picture, *at)->width + ROUNDING <
             box->x + box->width / 2)
    ++*at;
  for (guint32 i = *at; i < end; i++)
    {
      const Box *caller = get_box (picture, i);
      if (!holds (caller, box, ROUNDING))
        break;
      if (caller->weight - caller->in_callees >= box->weight)
        return i;
      if (fitting == FLAM_NONE || holds (caller, box, 0))
        fitting = i;
    }
  return fitting;
}

static void
find_callers (Picture *picture)
{
  guint32 above = 0, row = row_end (picture, 0);

  while (row < picture->boxes->len)
    {
      guint32 end = row_end (picture, row);
      guint32 at = above;

      for (guint32 i = row; i < end; i++)
        {
          Box *box = get_box (picture, i);
          Box *caller;

          box->caller = find_caller (picture, box, &at, row);
          if (box->caller == FLAM_NONE)
            continue;
          caller = get_box (picture, box->caller);
          if (__builtin_add_overflow (
                  caller->in_callees, box->weight, &caller->in_callees))
            caller->in_callees = G_MAXINT64;
        }
      above = row;
      row = end;
    }
}

/* --- into the builder ---------------------------------------------------- */

/* "all" and the like are the whole picture, not code. */
static gboolean
is_frame (Picture *picture, guint32 index, FlamId all)
{
  return index > 0 || get_box (picture, 0)->frame != all ||
         row_end (picture, 0) > 1;
}

static gint64
whole_of (Picture *picture)
{
  gint64 whole = 0;

  for (guint32 i = 0; i < picture->boxes->len; i++)
    if (get_box (picture, i)->caller == FLAM_NONE &&
        __builtin_add_overflow (whole, get_box (picture, i)->weight, &whole))
      return G_MAXINT64 / 4;
  return whole;
}

/* Hundredths of a percent are exact for totals up to ten thousand. */
static gint64
weight_before (const Picture *picture,
               const Box *box,
               gint64 self,
               gint64 whole)
{
  double before = (double)MAX (self, 0) - box->growth * (double)whole / 100;
  double unit = (double)picture->denominator;

  return (gint64)(MAX (floor (before / unit + 0.5), 0) * unit);
}

static void
add_samples (Picture *picture)
{
  gint64 whole = whole_of (picture);
  FlamSample sample = { 0 };
  FlamId all;

  g_string_assign (picture->name, "all");
  all = make_frame (picture);
  sample.thread = flam_builder_lone_thread (picture->builder);
  for (guint32 i = 0; i < picture->boxes->len; i++)
    {
      Box *box = get_box (picture, i);
      gint64 self = box->weight - box->in_callees;
      gint64 weights[2] = { 0 };

      if (box->caller != FLAM_NONE)
        box->stack = get_box (picture, box->caller)->stack;
      if (is_frame (picture, i, all))
        box->stack =
            flam_builder_stack (picture->builder, box->stack, box->frame);
      sample.stack = box->stack;
      weights[0] = MAX (self, 0);
      if (picture->difference)
        weights[1] = weight_before (picture, box, self, whole);
      if (weights[0] > 0 || weights[1] > 0)
        flam_builder_add_sample (picture->builder, &sample, weights);
      picture->excess += self < 0;
    }
}

static void
add_measure (Picture *picture)
{
  static const FlamMeasureRow rows[] = {
    [FLAM_UNIT_COUNT] = { "samples", N_ ("Samples"), FLAM_OF_COUNT },
    [FLAM_UNIT_NS] = { "time", N_ ("Time"), FLAM_OF_TIME },
    [FLAM_UNIT_BYTES] = { "allocated", N_ ("Allocated"), FLAM_OF_BYTES },
  };

  guint measure = flam_load_measure (picture->builder,
                                     &rows[picture->unit],
                                     flam_builder_add_column (picture->builder),
                                     FLAM_NONE);

  flam_builder_set_denominator (
      picture->builder, measure, picture->denominator);
  if (picture->difference)
    {
      FlamMeasureRow before = { "base",
                                N_ ("Before"),
                                rows[picture->unit].unit,
                                rows[picture->unit].kind };

      measure =
          flam_load_measure (picture->builder,
                             &before,
                             (int)flam_builder_add_column (picture->builder),
                             FLAM_NONE);
      flam_builder_set_denominator (
          picture->builder, measure, picture->denominator);
    }
}

static void
warn (Picture *picture)
{
  flam_builder_warn (
      picture->builder,
      N_ ("this was read from a picture: functions that were too narrow to "
          "draw count as self cost of their callers"));
  if (picture->of_both && !picture->difference)
    flam_builder_warn (picture->builder,
                       N_ ("this picture shows a difference; only its new "
                           "values are read, not the old ones"));
  flam_builder_warn_count (picture->builder,
                           picture->unread,
                           "%" PRIu64 " box of the picture could not be read",
                           "%" PRIu64
                           " boxes of the picture could not be read");
  flam_builder_warn_count (
      picture->builder,
      picture->excess,
      "%" PRIu64 " box of the picture has less weight than the boxes on it",
      "%" PRIu64
      " boxes of the picture have less weight than the boxes on them");
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Picture picture = { .load = load,
                      .builder = load->builder,
                      .boxes = flam_arena_array (load, Box),
                      .name = flam_arena_string (load) };

  if (!read_boxes (&picture, error))
    return FALSE;
  if (picture.boxes->len == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this picture of a flame graph has no boxes"));
  scale_weights (&picture);
  turn (&picture);
  find_callers (&picture);
  add_measure (&picture);
  add_samples (&picture);
  warn (&picture);
  if (memmem (load->source->data, load->source->size, "</svg>", 6) == NULL)
    flam_load_partial (load, NULL, N_ ("the file was cut off"));
  return TRUE;
}

const FlamImporter flam_import_svg = {
  .id = "svg",
  .label = N_ ("SVG flame graph"),
  .written_by = "flamegraph.pl, inferno",
  .suffixes = FLAM_LIST (".svg", ".html"),
  .mime_types = FLAM_LIST ("image/svg+xml", "text/html"),
  .signs = FLAM_SIGNS (
      FLAM_HEAD (70, '<', 32 << 10, "<svg", "class=\"flambeau\""),
      FLAM_HEAD (70, '<', 32 << 10, "<svg", "flame graph stack visualization"),
      FLAM_HEAD (70, '<', 32 << 10, "<svg", "Flame graph stack visualization"),
      FLAM_HEAD (70, '<', 32 << 10, "<svg", "onload=\"init(evt)\"")),
  .load = load,
};
