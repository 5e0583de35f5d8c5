/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-memory-view.h"

#include "flam-core-picture.h"
#include "flam-memory-model.h"
#include "flam-plot-widget.h"
#include "flam-size-plot.h"
#include "flam-top-list.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

#define THREADS_MAX 30 /* maximum number of rows; the heaviest are shown */

typedef struct
{
  GtkToggleButton *button;
  GtkLabel *value;
  GtkLabel *detail;
  FlamTopList *list;
  GtkWidget *child; /* the flow box's */
} Card;

struct _FlamMemoryView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  FlamMemoryModel *model;
  gboolean syncing;
  Card card[FLAM_MEMORY_N];

  GtkScrolledWindow *scroller;
  GtkFlowBox *cards;
  GtkLabel *unseen;
  GtkToggleButton *by_bytes;
  GtkToggleButton *by_blocks;
  FlamPlotWidget *chart;
  GtkGrid *kinds;
  GtkLabel *kinds_title;
  GtkBox *threads_box;
  GtkGrid *threads;
  GtkBox *rules_box;
  GtkGrid *rules;
  GtkBox *sizes_box;
  GtkBox *distance_box;
  GtkSpinButton *distance;
};

G_DEFINE_FINAL_TYPE (FlamMemoryView, flam_memory_view, FLAM_TYPE_PAGE)

/* --- the measure ---------------------------------------------------------- */

static const FlamMeasure *
current_measure (FlamMemoryView *self)
{
  const FlamProfile *profile = flam_session_get_profile (self->session);
  const FlamSelection *selection = flam_session_get_selection (self->session);

  return &profile->measures[selection->measure];
}

static void
pick (FlamMemoryView *self, FlamMemoryPart part, gboolean bytes)
{
  int measure = flam_memory_part_find_measure (
      flam_session_get_profile (self->session), part, bytes);

  if (measure >= 0)
    flam_session_set_measure (self->session, (guint)measure);
}

static void
on_card (GtkToggleButton *button, FlamMemoryView *self)
{
  if (self->syncing || !gtk_toggle_button_get_active (button))
    return;
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    if (self->card[part].button == button)
      pick (self, part, gtk_toggle_button_get_active (self->by_bytes));
}

static void
on_unit (FlamMemoryView *self)
{
  if (!self->syncing)
    pick (self,
          flam_memory_part_of (current_measure (self)->source),
          gtk_toggle_button_get_active (self->by_bytes));
}

static void
on_distance (FlamMemoryView *self)
{
  FlamSelection *selection;

  if (self->syncing)
    return;
  selection = flam_selection_copy (flam_session_get_selection (self->session));
  selection->temporary_distance =
      gtk_spin_button_get_value_as_int (self->distance);
  flam_session_select (self->session, selection);
}

/* --- cards ---------------------------------------------------------------- */

/* "12 blocks, 1.5 kB each"; shorter if the capture lacks the figures. */
static char *
card_detail (const FlamMemorySummary *memory, FlamMemoryPart part)
{
  const FlamAmount *amount = &memory->all.part[part];
  gboolean knows_blocks =
      flam_memory_summary_knows (memory, part, FALSE) &&
      flam_memory_summary_of (memory) == FLAM_MEMORY_OF_BLOCKS;
  g_autofree char *counted =
      flam_value_text_part_blocks (memory, &memory->all, part);
  g_autofree char *more = NULL;

  if (part == FLAM_MEMORY_TEMPORARY)
    {
      g_autofree char *share = flam_format_amounts (
          memory, &memory->all, FLAM_MEMORY_COLUMN_TEMPORARY);

      /* Translators: a share of all allocations */
      more = g_strdup_printf (_ ("%s of all"), share);
    }
  else if (part == FLAM_MEMORY_PEAK && memory->peak_time >= 0)
    {
      g_autofree char *time = flam_format_moment (
          flam_facts_clock (&memory->profile->facts), memory->peak_time);

      more = g_strdup_printf (_ ("at %s"), time);
    }
  else if (amount->blocks > 0 && knows_blocks)
    {
      const FlamEstimate estimate =
          flam_amounts_estimate (memory, &memory->all, part, FALSE);
      g_autofree char *mean =
          flam_format_value (amount->bytes / amount->blocks, FLAM_UNIT_BYTES);
      g_autofree char *each =
          g_strconcat (estimate.sampled ? "≈ " : "", mean, NULL);

      /* Translators: the mean size of a block */
      more = g_strdup_printf (_ ("%s each"), each);
    }
  if (!knows_blocks)
    return more != NULL ? g_steal_pointer (&more) : g_strdup ("");
  return more != NULL ? g_strdup_printf ("%s, %s", counted, more)
                      : g_steal_pointer (&counted);
}

/* The statistical error if allocations are sampled. */
static char *
card_value (const FlamMemorySummary *memory, FlamMemoryPart part)
{
  const FlamAmount *amount = &memory->all.part[part];
  FlamEstimate estimate =
      flam_amounts_estimate (memory, &memory->all, part, TRUE);

  return flam_format_estimate (&estimate, amount->bytes, FLAM_UNIT_BYTES);
}

/* Figures that are missing from the capture get no card. */
static void
update_cards (FlamMemoryView *self, const FlamMemorySummary *memory)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    {
      Card *card = &self->card[part];
      g_autofree char *value = card_value (memory, part);
      g_autofree char *detail = card_detail (memory, part);

      gtk_label_set_label (card->value, value);
      gtk_label_set_label (card->detail, detail);
      flam_top_list_show (card->list, memory);
      gtk_widget_set_visible (card->child,
                              flam_memory_summary_knows (memory, part, TRUE));
    }
}

/* A heap that the figures do not include. */
static void
update_unseen (FlamMemoryView *self, const FlamMemorySummary *memory)
{
  g_autofree char *text =
      flam_message_sentence (memory->profile->facts.unseen_heap);

  gtk_label_set_label (self->unseen, text);
  gtk_widget_set_visible (GTK_WIDGET (self->unseen), *text != '\0');
}

static void
add_label (GtkBox *box, GtkLabel *label, const char *style)
{
  gtk_label_set_ellipsize (label, PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (GTK_WIDGET (label), style);
  gtk_widget_add_css_class (GTK_WIDGET (label), "numeric");
  gtk_label_set_xalign (label, 0);
  gtk_box_append (box, GTK_WIDGET (label));
}

/* The figures of a part, which select its measure, and its functions. */
static void
make_card (FlamMemoryView *self, FlamMemoryPart part, const char *title)
{
  Card *card = &self->card[part];
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  GtkWidget *all = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);

  card->button = GTK_TOGGLE_BUTTON (gtk_toggle_button_new ());
  card->value = GTK_LABEL (gtk_label_new (NULL));
  card->detail = GTK_LABEL (gtk_label_new (NULL));
  card->list = FLAM_TOP_LIST (flam_top_list_new (self->session, part));
  add_label (
      GTK_BOX (box), GTK_LABEL (gtk_label_new (title)), "caption-heading");
  add_label (GTK_BOX (box), card->value, "title-3");
  add_label (GTK_BOX (box), card->detail, "caption");
  gtk_button_set_child (GTK_BUTTON (card->button), box);
  gtk_widget_add_css_class (GTK_WIDGET (card->button), "flam-part");
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (card->button), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  g_signal_connect (card->button, "toggled", G_CALLBACK (on_card), self);
  gtk_label_set_wrap (card->detail, TRUE);
  gtk_label_set_lines (card->detail, 2);
  gtk_label_set_width_chars (card->detail, 6);
  gtk_label_set_max_width_chars (card->detail, 14);
  gtk_box_append (GTK_BOX (all), GTK_WIDGET (card->button));
  gtk_box_append (GTK_BOX (all), GTK_WIDGET (card->list));
  gtk_flow_box_insert (self->cards, all, -1);
  card->child = gtk_widget_get_parent (all);
  gtk_widget_set_focusable (card->child, FALSE);
}

static void
make_cards (FlamMemoryView *self)
{
  static const struct
  {
    FlamMemoryPart part;
    const char *title;
  } shown[FLAM_MEMORY_N] = {
    { FLAM_MEMORY_PEAK, N_ ("At the Peak") },
    { FLAM_MEMORY_LEAKED, N_ ("Leaked") },
    { FLAM_MEMORY_ALLOCATED, N_ ("Allocated") },
    { FLAM_MEMORY_TEMPORARY, N_ ("Temporary") },
  };

  for (guint i = 0; i < FLAM_MEMORY_N; i++)
    make_card (self, shown[i].part, _ (shown[i].title));
  for (guint i = 1; i < FLAM_MEMORY_N; i++)
    gtk_toggle_button_set_group (self->card[shown[i].part].button,
                                 self->card[shown[0].part].button);
}

/* --- tables --------------------------------------------------------------- */

static void
empty (GtkGrid *grid)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (grid))) != NULL)
    gtk_grid_remove (grid, child);
}

static void
add_figure (GtkGrid *grid, int column, int row, const char *text, gboolean dim)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_widget_add_css_class (label, dim ? "dim-label" : "numeric");
  gtk_grid_attach (grid, label, column, row, 1, 1);
}

static void
add_header (GtkGrid *grid, const FlamMemorySummary *memory)
{
  const char *const titles[FLAM_MEMORY_N_COLUMNS] = {
    [FLAM_MEMORY_COLUMN_ALLOCATED] = _ ("Allocated"),
    [FLAM_MEMORY_COLUMN_BLOCKS] = flam_value_text_counted (memory),
    [FLAM_MEMORY_COLUMN_TEMPORARY] = _ ("Temporary"),
    [FLAM_MEMORY_COLUMN_PEAK] = _ ("At the Peak"),
    [FLAM_MEMORY_COLUMN_LEAKED] = _ ("Leaked"),
  };

  for (guint i = 0; i < FLAM_MEMORY_N_COLUMNS; i++)
    if (flam_memory_summary_has_column (memory, i))
      add_figure (grid, (int)i + 1, 0, titles[i], TRUE);
}

static void
add_amounts (GtkGrid *grid,
             const FlamMemorySummary *memory,
             int row,
             const FlamAmounts *amounts,
             gboolean dim)
{
  for (guint i = 0; i < FLAM_MEMORY_N_COLUMNS; i++)
    {
      g_autofree char *text = flam_format_amounts (memory, amounts, i);

      if (flam_memory_summary_has_column (memory, i))
        add_figure (grid, (int)i + 1, row, text, dim);
    }
}

static GtkWidget *
add_name (GtkGrid *grid, int row, const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (GTK_LABEL (label), 12);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_grid_attach (grid, label, 0, row, 1, 1);
  return label;
}

/* --- allocators ----------------------------------------------------------- */

static void
on_kind (GtkCheckButton *check, FlamMemoryView *self)
{
  guint bit = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (check), "kind"));
  const FlamMemorySummary *memory = flam_memory_model_get (self->model);
  FlamSelection *selection;
  guint kinds;

  if (self->syncing || memory == NULL)
    return;
  kinds = gtk_check_button_get_active (check) ? memory->kinds_counted | bit
                                              : memory->kinds_counted & ~bit;
  selection = flam_selection_copy (flam_session_get_selection (self->session));
  /* An empty selection means the capture's default. */
  selection->allocators = kinds;
  flam_session_select (self->session, selection);
}

static void
add_kind (FlamMemoryView *self,
          const FlamMemorySummary *memory,
          FlamAllocator kind,
          int row)
{
  guint bit = FLAM_ALLOCATOR_BIT (kind);
  gboolean counted = (memory->kinds_counted & bit) != 0;
  GtkWidget *check =
      gtk_check_button_new_with_label (flam_allocator_to_string (kind));

  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), counted);
  gtk_widget_set_tooltip_text (check, _ ("Whether these allocations count"));
  g_object_set_data (G_OBJECT (check), "kind", GUINT_TO_POINTER (bit));
  g_signal_connect (check, "toggled", G_CALLBACK (on_kind), self);
  gtk_widget_set_hexpand (check, TRUE);
  gtk_grid_attach (self->kinds, check, 0, row, 1, 1);
  add_amounts (self->kinds, memory, row, &memory->kind[kind], !counted);
}

static void
update_kinds (FlamMemoryView *self, const FlamMemorySummary *memory)
{
  gboolean opened = flam_memory_summary_of (memory) == FLAM_MEMORY_OF_RESOURCES;
  int row = 1;

  empty (self->kinds);
  gtk_label_set_label (self->kinds_title,
                       opened ? _ ("Kinds") : _ ("Allocators"));
  gtk_widget_set_has_tooltip (GTK_WIDGET (self->kinds_title), !opened);
  add_header (self->kinds, memory);
  for (guint kind = 0; kind < FLAM_N_ALLOCATORS; kind++)
    if (memory->kinds_present & FLAM_ALLOCATOR_BIT (kind))
      add_kind (self, memory, kind, row++);
}

/* --- threads -------------------------------------------------------------- */

/* The measure that threads are sorted by. */
static FlamMemoryPart
first_part (const FlamMemorySummary *memory)
{
  FlamMemoryPart part = FLAM_MEMORY_ALLOCATED;

  while (part + 1 < FLAM_MEMORY_N &&
         !flam_memory_summary_knows (memory, part, TRUE))
    part++;
  return part;
}

static int
compare_threads (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamMemorySummary *memory = data;
  const FlamAmounts *x = &memory->thread[*(const FlamId *)a];
  const FlamAmounts *y = &memory->thread[*(const FlamId *)b];
  gint64 bytes_x = x->part[first_part (memory)].bytes;
  gint64 bytes_y = y->part[first_part (memory)].bytes;

  return (bytes_x < bytes_y) - (bytes_x > bytes_y);
}

static GArray *
threads_with_memory (const FlamMemorySummary *memory)
{
  GArray *threads = g_array_new (FALSE, FALSE, sizeof (FlamId));

  for (FlamId t = 0; t < memory->profile->threads.n; t++)
    if (flam_memory_summary_has_any (memory, &memory->thread[t]))
      g_array_append_val (threads, t);
  g_array_sort_with_data (threads, compare_threads, (gpointer)memory);
  return threads;
}

static void
update_threads (FlamMemoryView *self, const FlamMemorySummary *memory)
{
  const FlamProfile *profile = memory->profile;
  g_autoptr (GArray) threads = threads_with_memory (memory);
  guint shown = MIN (threads->len, THREADS_MAX);

  empty (self->threads);
  gtk_widget_set_visible (GTK_WIDGET (self->threads_box), threads->len > 0);
  add_header (self->threads, memory);
  for (guint i = 0; i < shown; i++)
    {
      FlamThreadId thread = g_array_index (threads, FlamId, i);
      const char *name =
          flam_profile_string (profile, profile->threads.name[thread]);
      g_autofree char *text =
          flam_value_text_task (name, profile->threads.tid[thread], "");

      add_name (self->threads, (int)i + 1, text);
      add_amounts (
          self->threads, memory, (int)i + 1, &memory->thread[thread], FALSE);
    }
  if (threads->len > shown)
    {
      g_autofree char *more = g_strdup_printf (
          ngettext ("and %u more", "and %u more", threads->len - shown),
          threads->len - shown);

      gtk_widget_add_css_class (add_name (self->threads, (int)shown + 1, more),
                                "dim-label");
    }
}

/* --- suppressions --------------------------------------------------------- */

static void
update_rules (FlamMemoryView *self, const FlamMemorySummary *memory)
{
  guint n = memory->suppressions != NULL
                ? flam_suppressions_get_n (memory->suppressions)
                : 0;
  int row = 1;

  empty (self->rules);
  add_name (self->rules, 0, "");
  add_figure (self->rules, 1, 0, _ ("Bytes"), TRUE);
  add_figure (self->rules, 2, 0, _ ("Blocks"), TRUE);
  for (guint i = 0; i < n; i++)
    {
      const FlamAmounts *amounts = &memory->rule[i];
      const FlamAmount *amount = &amounts->part[FLAM_MEMORY_LEAKED];
      const FlamEstimate of_bytes =
          flam_amounts_estimate (memory, amounts, FLAM_MEMORY_LEAKED, TRUE);
      const FlamEstimate of_blocks =
          flam_amounts_estimate (memory, amounts, FLAM_MEMORY_LEAKED, FALSE);
      g_autofree char *bytes =
          flam_format_estimate (&of_bytes, amount->bytes, FLAM_UNIT_BYTES);
      g_autofree char *blocks =
          flam_format_estimate (&of_blocks, amount->blocks, FLAM_UNIT_COUNT);

      if (amount->blocks == 0)
        continue;
      gtk_widget_set_hexpand (
          add_name (self->rules,
                    row,
                    flam_suppressions_get (memory->suppressions, i)),
          TRUE);
      add_figure (self->rules, 1, row, bytes, FALSE);
      add_figure (self->rules, 2, row++, blocks, FALSE);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->rules_box), row > 1);
}

/* --- updates -------------------------------------------------------------- */

static void
update (FlamMemoryView *self)
{
  FlamMemorySummary *memory = flam_memory_model_get (self->model);
  const FlamSelection *selection = flam_session_get_selection (self->session);
  FlamMemoryPart part;
  gboolean bytes;

  if (memory == NULL || selection == NULL ||
      !flam_memory_model_is_wanted (self->session))
    {
      flam_plot_widget_set_plot (self->chart, NULL);
      return;
    }
  part = flam_memory_part_of (current_measure (self)->source);
  bytes =
      flam_allocation_filter_source_is_bytes (current_measure (self)->source);
  self->syncing = TRUE;
  gtk_toggle_button_set_active (self->card[part].button, TRUE);
  gtk_toggle_button_set_active (bytes ? self->by_bytes : self->by_blocks, TRUE);
  gtk_spin_button_set_value (self->distance, selection->temporary_distance);
  update_cards (self, memory);
  update_unseen (self, memory);
  flam_plot_widget_set_plot (self->chart,
                             flam_size_plot_new (memory, part, bytes));
  gtk_widget_set_visible (GTK_WIDGET (self->sizes_box),
                          flam_memory_summary_knows_sizes (memory));
  gtk_widget_set_visible (
      GTK_WIDGET (self->distance_box),
      flam_memory_summary_has_column (memory, FLAM_MEMORY_COLUMN_TEMPORARY));
  update_kinds (self, memory);
  update_threads (self, memory);
  update_rules (self, memory);
  self->syncing = FALSE;
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_memory_view_begin (GtkWidget *widget)
{
  return gtk_widget_child_focus (
      GTK_WIDGET (FLAM_MEMORY_VIEW (widget)->scroller), GTK_DIR_TAB_FORWARD);
}

static void
flam_memory_view_constructed (GObject *object)
{
  FlamMemoryView *self = FLAM_MEMORY_VIEW (object);

  G_OBJECT_CLASS (flam_memory_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  make_cards (self);
  self->model = flam_memory_model_of (self->session);
  flam_memory_model_watch (self->model, GTK_WIDGET (self));
  g_signal_connect_object (self->model,
                           "notify::memory",
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
  update (self);
}

static void
flam_memory_view_class_init (FlamMemoryViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_memory_view_constructed;
  FLAM_PAGE_CLASS (klass)->begin = flam_memory_view_begin;
  g_type_ensure (FLAM_TYPE_PLOT_WIDGET);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-memory-view.ui");
  gtk_widget_class_bind_template_child (class, FlamMemoryView, scroller);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, cards);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, unseen);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, by_bytes);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, by_blocks);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, sizes_box);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, distance_box);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, chart);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, kinds);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, kinds_title);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, threads_box);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, threads);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, rules_box);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, rules);
  gtk_widget_class_bind_template_child (class, FlamMemoryView, distance);
}

static void
flam_memory_view_init (FlamMemoryView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (
      self->by_bytes, "toggled", G_CALLBACK (on_unit), self);
  g_signal_connect_swapped (
      self->distance, "value-changed", G_CALLBACK (on_distance), self);
}
