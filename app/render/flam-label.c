/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-label.h"

#include <string.h>

#include "flam-core-picture.h"

#define FIRST_ASCII 32
#define LAST_ASCII 126
#define MAX_FORMS 6
#define MAX_GLYPHS 512  /* per form: more than any screen shows */
#define MAX_NAMES 20000 /* limit at which the cache is emptied */
#define ANTIALIAS 1     /* pixels beyond the outlines */
#define CUT_LETTERS 6   /* fewer of a longer name are meaningless: "m…p" */

typedef struct
{
  guint32 glyph;
  guint16 font;
  guint16 starts; /* a cluster starts here: the text may be cut before it */
  float advance;
} Glyph;

typedef struct
{
  guint32 n;
  float width;
  Glyph glyphs[];
} Form;

typedef struct
{
  guint n;
  Form *forms[MAX_FORMS]; /* longest first */
} Name;

struct _FlamLabels
{
  PangoContext *context;
  PangoFontDescription *font;
  double ascent, descent, least_width;
  double above, below; /* the baseline: whole pixels with ink */
  GPtrArray *fonts;    /* cairo_scaled_font_t that glyphs refer to */
  Glyph ascii[LAST_ASCII - FIRST_ASCII + 1];
  Glyph ellipsis;
  GHashTable *names;
};

/* --- shaping ------------------------------------------------------------- */

static guint16
font_index (FlamLabels *labels, PangoFont *font)
{
  cairo_scaled_font_t *scaled =
      pango_cairo_font_get_scaled_font (PANGO_CAIRO_FONT (font));

  for (guint i = 0; i < labels->fonts->len; i++)
    if (labels->fonts->pdata[i] == scaled)
      return (guint16)i;
  g_ptr_array_add (labels->fonts, cairo_scaled_font_reference (scaled));
  return (guint16)(labels->fonts->len - 1);
}

static void
append_run (FlamLabels *labels, GArray *out, PangoGlyphItem *run)
{
  guint16 font = font_index (labels, run->item->analysis.font);

  for (int i = 0; i < run->glyphs->num_glyphs && out->len < MAX_GLYPHS; i++)
    {
      const PangoGlyphInfo *info = &run->glyphs->glyphs[i];
      Glyph glyph = {
        .glyph = info->glyph,
        .font = font,
        .starts = info->attr.is_cluster_start,
        .advance = (float)info->geometry.width / PANGO_SCALE,
      };

      g_array_append_val (out, glyph);
    }
}

static void
shape (FlamLabels *labels, const char *text, GArray *out)
{
  g_autoptr (PangoLayout) layout = pango_layout_new (labels->context);
  PangoLayoutLine *line;
  PangoRectangle ink;

  pango_layout_set_font_description (layout, labels->font);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_text (layout, text, -1);
  line = pango_layout_get_line_readonly (layout, 0);
  pango_layout_line_get_pixel_extents (line, &ink, NULL);
  labels->above = MAX (labels->above, ANTIALIAS - ink.y);
  labels->below = MAX (labels->below, ink.y + ink.height + ANTIALIAS);
  for (GSList *l = line->runs; l != NULL; l = l->next)
    append_run (labels, out, l->data);
}

static gboolean
is_plain (const char *text)
{
  for (; *text; text++)
    if (*text < FIRST_ASCII || *text > LAST_ASCII)
      return FALSE;
  return TRUE;
}

static Form *
form_new (FlamLabels *labels, const char *text)
{
  g_autoptr (GArray) glyphs = g_array_new (FALSE, FALSE, sizeof (Glyph));
  Form *form;

  if (is_plain (text))
    for (; *text && glyphs->len < MAX_GLYPHS; text++)
      g_array_append_val (glyphs, labels->ascii[*text - FIRST_ASCII]);
  else
    shape (labels, text, glyphs);
  form = g_malloc (sizeof *form + glyphs->len * sizeof (Glyph));
  form->n = glyphs->len;
  form->width = 0;
  for (guint i = 0; i < glyphs->len; i++)
    {
      form->glyphs[i] = g_array_index (glyphs, Glyph, i);
      form->width += form->glyphs[i].advance;
    }
  return form;
}

/* --- names --------------------------------------------------------------- */

static void
name_free (gpointer data)
{
  Name *name = data;

  for (guint i = 0; i < name->n; i++)
    g_free (name->forms[i]);
  g_free (name);
}

/* The next shorter form, or NULL when the name can only be cut. */
static char *
shorter (const char *text)
{
  glong length = g_utf8_strlen (text, -1);
  char *result;

  if (length < 2)
    return NULL;
  result = flam_format_short_name (text, (guint)length - 1);
  if (*result == '\0' || strlen (result) >= strlen (text) ||
      (strstr (result, "…") != NULL && strstr (text, "…") == NULL))
    g_clear_pointer (&result, g_free);
  return result;
}

static Name *
name_new (FlamLabels *labels, const char *text)
{
  Name *name = g_new0 (Name, 1);
  g_autofree char *form = g_strndup (text, 4 * MAX_GLYPHS);
  g_autofree char *whole = NULL;
  const char *end;

  if (!g_utf8_validate (form, -1, &end))
    form[end - form] = '\0';
  whole = g_steal_pointer (&form);
  form = flam_format_visible (whole);
  while (form != NULL && name->n < MAX_FORMS)
    {
      char *next = shorter (form);

      name->forms[name->n++] = form_new (labels, form);
      g_free (form);
      form = next;
    }
  return name;
}

static const Name *
name_for (FlamLabels *labels, const char *text)
{
  Name *name = g_hash_table_lookup (labels->names, text);

  if (name != NULL)
    return name;
  if (g_hash_table_size (labels->names) >= MAX_NAMES)
    g_hash_table_remove_all (labels->names);
  name = name_new (labels, text);
  g_hash_table_insert (labels->names, (gpointer)text, name);
  return name;
}

/* --- the cache ----------------------------------------------------------- */

static Glyph
first_glyph (FlamLabels *labels, const char *text)
{
  g_autoptr (GArray) glyphs = g_array_new (FALSE, FALSE, sizeof (Glyph));

  shape (labels, text, glyphs);
  return glyphs->len > 0 ? g_array_index (glyphs, Glyph, 0) : (Glyph){ 0 };
}

static void
measure_font (FlamLabels *labels)
{
  PangoFontMetrics *metrics =
      pango_context_get_metrics (labels->context, labels->font, NULL);
  double letter = 0;

  labels->ascent =
      (double)pango_font_metrics_get_ascent (metrics) / PANGO_SCALE;
  labels->descent =
      (double)pango_font_metrics_get_descent (metrics) / PANGO_SCALE;
  pango_font_metrics_unref (metrics);
  for (char c = FIRST_ASCII; c <= LAST_ASCII; c++)
    {
      char text[2] = { c, '\0' };

      labels->ascii[c - FIRST_ASCII] = first_glyph (labels, text);
    }
  labels->ellipsis = first_glyph (labels, "…");
  for (char c = 'a'; c <= 'z'; c++)
    letter += labels->ascii[c - FIRST_ASCII].advance;
  labels->least_width = CUT_LETTERS * letter / 26 + labels->ellipsis.advance;
}

FlamLabels *
flam_labels_new (PangoContext *context, const PangoFontDescription *font)
{
  FlamLabels *labels = g_new0 (FlamLabels, 1);

  labels->context = g_object_ref (context);
  labels->font = pango_font_description_copy (font);
  labels->fonts = g_ptr_array_new_with_free_func (
      (GDestroyNotify)cairo_scaled_font_destroy);
  labels->names =
      g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, name_free);
  measure_font (labels);
  return labels;
}

void
flam_labels_free (FlamLabels *labels)
{
  g_hash_table_unref (labels->names);
  g_ptr_array_unref (labels->fonts);
  pango_font_description_free (labels->font);
  g_object_unref (labels->context);
  g_free (labels);
}

void
flam_labels_forget (FlamLabels *labels)
{
  g_hash_table_remove_all (labels->names);
}

double
flam_labels_ascent (const FlamLabels *labels)
{
  return labels->ascent;
}

double
flam_labels_descent (const FlamLabels *labels)
{
  return labels->descent;
}

double
flam_labels_above (const FlamLabels *labels)
{
  return labels->above;
}

double
flam_labels_below (const FlamLabels *labels)
{
  return labels->below;
}

/* --- gathering and showing ----------------------------------------------- */

static void
glyph_array_free (gpointer data)
{
  g_array_unref (data);
}

void
flam_glyphs_init (FlamGlyphs *glyphs)
{
  glyphs->fonts = g_ptr_array_new_with_free_func (
      (GDestroyNotify)cairo_scaled_font_destroy);
  glyphs->glyphs = g_ptr_array_new_with_free_func (glyph_array_free);
}

void
flam_glyphs_clear (FlamGlyphs *glyphs)
{
  g_clear_pointer (&glyphs->fonts, g_ptr_array_unref);
  g_clear_pointer (&glyphs->glyphs, g_ptr_array_unref);
}

static GArray *
glyphs_of_font (FlamGlyphs *glyphs, cairo_scaled_font_t *font)
{
  GArray *array;

  for (guint i = 0; i < glyphs->fonts->len; i++)
    if (glyphs->fonts->pdata[i] == font)
      return glyphs->glyphs->pdata[i];
  array = g_array_new (FALSE, FALSE, sizeof (cairo_glyph_t));
  g_ptr_array_add (glyphs->fonts, cairo_scaled_font_reference (font));
  g_ptr_array_add (glyphs->glyphs, array);
  return array;
}

void
flam_glyphs_show (FlamGlyphs *glyphs, cairo_t *cr)
{
  for (guint i = 0; i < glyphs->fonts->len; i++)
    {
      GArray *array = glyphs->glyphs->pdata[i];

      cairo_set_scaled_font (cr, glyphs->fonts->pdata[i]);
      cairo_show_glyphs (cr, (cairo_glyph_t *)(void *)array->data, array->len);
    }
  g_ptr_array_set_size (glyphs->fonts, 0);
  g_ptr_array_set_size (glyphs->glyphs, 0);
}

static double
add_glyph (FlamLabels *labels,
           FlamGlyphs *glyphs,
           const Glyph *glyph,
           double x,
           double y)
{
  cairo_glyph_t placed = { glyph->glyph, x, y };

  if (!(glyph->glyph & PANGO_GLYPH_UNKNOWN_FLAG) &&
      glyph->glyph != PANGO_GLYPH_EMPTY)
    {
      GArray *array =
          glyphs_of_font (glyphs, labels->fonts->pdata[glyph->font]);

      g_array_append_val (array, placed);
    }
  return x + glyph->advance;
}

static double
add_glyphs (FlamLabels *labels,
            FlamGlyphs *glyphs,
            const Form *form,
            guint first,
            guint end,
            double x,
            double y)
{
  for (guint i = first; i < end; i++)
    x = add_glyph (labels, glyphs, &form->glyphs[i], x, y);
  return x;
}

/* The end gets three fifths of the room. Cuts fall between clusters. */
static double
add_cut (FlamLabels *labels,
         FlamGlyphs *glyphs,
         const Form *form,
         double x,
         double y,
         double width)
{
  double room = width - labels->ellipsis.advance;
  double tail_room = room * 0.6, used = 0;
  guint tail = form->n, head = 0;

  for (guint i = form->n; i > 0; i--)
    {
      used += form->glyphs[i - 1].advance;
      if (used > tail_room)
        break;
      if (form->glyphs[i - 1].starts)
        tail = i - 1;
    }
  for (guint i = tail; i < form->n; i++)
    room -= form->glyphs[i].advance;
  used = 0;
  for (guint i = 0; i < tail; i++)
    {
      used += form->glyphs[i].advance;
      if (used > room)
        break;
      if (i + 1 == form->n || form->glyphs[i + 1].starts)
        head = i + 1;
    }
  x = add_glyphs (labels, glyphs, form, 0, head, x, y);
  x = add_glyph (labels, glyphs, &labels->ellipsis, x, y);
  return add_glyphs (labels, glyphs, form, tail, form->n, x, y);
}

double
flam_labels_add (FlamLabels *labels,
                 FlamGlyphs *glyphs,
                 const char *text,
                 double x,
                 double y,
                 double width)
{
  const Name *name;

  name = name_for (labels, text);
  for (guint i = 0; i < name->n; i++)
    if (name->forms[i]->width <= width)
      return add_glyphs (
                 labels, glyphs, name->forms[i], 0, name->forms[i]->n, x, y) -
             x;
  if (name->n > 0 && width >= labels->least_width)
    return add_cut (labels, glyphs, name->forms[name->n - 1], x, y, width) - x;
  return 0;
}
