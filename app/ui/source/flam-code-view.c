/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-code-view.h"

#include "flam-code-file.h"
#include "flam-core-picture.h"
#include "flam-files.h"
#include "flam-jump-cell.h"
#include "flam-row-scroll.h"
#include "flam-settings.h"
#include "flam-table-shape.h"
#include "flam-widget.h"

#include <adwaita.h>
#include <glib/gi18n.h>

struct _FlamCodeView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  GtkSingleSelection *selection;

  GtkLabel *name;
  GtkLabel *costs;
  GtkToggleButton *intel_button;
  GtkToggleButton *att_button;
  GtkStack *stack;
  GtkColumnView *view;
  GtkColumnViewColumn *taken; /* hidden where no jumps are counted */
  AdwStatusPage *none;
  GtkWidget *choose;
};

G_DEFINE_FINAL_TYPE (FlamCodeView, flam_code_view, FLAM_TYPE_PAGE)

/* --- cells ---------------------------------------------------------------- */

static const FlamInstruction *
instruction_of (FlamCodeRow *row)
{
  return &flam_code_row_get_file (row)
              ->code->instructions[flam_code_row_get_index (row)];
}

static void
label_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer right)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), right != NULL ? 1 : 0);
  gtk_widget_add_css_class (label, "numeric");
  if (right == NULL)
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child (item, label);
}

static void
set_class (GtkWidget *widget, const char *name, gboolean wanted)
{
  if (wanted)
    gtk_widget_add_css_class (widget, name);
  else
    gtk_widget_remove_css_class (widget, name);
}

/* The counterpart and the counted part are not known per instruction. */
static char *
figure_text (const FlamCodeFile *file, gint64 weight)
{
  const FlamTree *tree = file->view_data->tree;
  const FlamMeasure measure = flam_tree_measure (tree);

  return flam_format_figure (
      &tree->profile->facts, &measure, (FlamFigure){ weight, .other = -1 });
}

/* Hot and warm: a tenth and a hundredth of the function's self cost. */
static void
cost_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer total)
{
  FlamCodeRow *row = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  FlamCodeFile *file = flam_code_row_get_file (row);
  const FlamInstruction *instruction = instruction_of (row);
  gint64 weight = total != NULL ? instruction->total : instruction->self;
  g_autofree char *text = NULL;

  if (weight != 0 && !flam_code_row_is_line (row))
    text = figure_text (file, weight);
  gtk_label_set_label (GTK_LABEL (label), text != NULL ? text : "");
  flam_columns_need (factory, label, NULL);
  set_class (label,
             "flam-hot",
             text != NULL && total == NULL && weight * 10 >= file->code->self);
}

static void
share_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  FlamCodeRow *row = gtk_list_item_get_item (item);
  FlamCodeFile *file = flam_code_row_get_file (row);
  gint64 weight = instruction_of (row)->self;
  g_autofree char *text = NULL;

  if (weight != 0 && !flam_code_row_is_line (row))
    text = flam_format_percent (weight, file->code->self);
  gtk_label_set_label (GTK_LABEL (gtk_list_item_get_child (item)),
                       text != NULL ? text : "");
  flam_columns_need (factory, gtk_list_item_get_child (item), NULL);
}

static void
address_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  FlamCodeRow *row = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  g_autofree char *text = flam_code_row_is_line (row)
                              ? g_strdup ("")
                              : g_strdup_printf ("%" G_GINT64_MODIFIER "x",
                                                 instruction_of (row)->address);

  gtk_widget_add_css_class (label, "dim-label");
  gtk_label_set_label (GTK_LABEL (label), text);
  flam_columns_need (factory, label, NULL);
}

static void
taken_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  FlamCodeRow *row = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  g_autofree char *text =
      flam_code_row_is_line (row)
          ? g_strdup ("")
          : flam_format_jump_count (&instruction_of (row)->jumps);

  gtk_label_set_label (GTK_LABEL (label), text);
  flam_columns_need (factory, label, NULL);
}

static void
jump_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_list_item_set_child (item, flam_jump_cell_new ());
}

static void
jump_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  FlamCodeRow *row = gtk_list_item_get_item (item);

  flam_jump_cell_set (
      FLAM_JUMP_CELL (gtk_list_item_get_child (item)),
      &flam_code_row_get_file (row)->arrows[flam_code_row_get_index (row)],
      flam_code_row_is_line (row));
}

static void
text_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  FlamCodeRow *row = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  const FlamInstruction *instruction = instruction_of (row);
  g_autofree char *text = flam_code_row_get_text (row);
  g_autofree char *place = instruction->line != 0
                               ? g_strdup_printf ("%s:%u\n%s",
                                                  instruction->file,
                                                  instruction->line,
                                                  instruction->function)
                               : NULL;

  gtk_label_set_label (GTK_LABEL (label), text);
  gtk_widget_set_tooltip_text (label, place);
  set_class (label, "dim-label", flam_code_row_is_line (row));
}

static GtkColumnViewColumn *
add_column (FlamCodeView *self,
            const char *title,
            int width,
            gboolean right,
            GCallback setup,
            GCallback bind,
            gpointer data)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) column =
      gtk_column_view_column_new (title, factory);

  g_signal_connect (factory, "setup", setup, GINT_TO_POINTER (right));
  g_signal_connect (factory, "bind", bind, data);
  flam_columns_set_factory (column, factory);
  if (width > 0)
    flam_columns_fit (column, width, width);
  else
    gtk_column_view_column_set_expand (column, TRUE);
  gtk_column_view_column_set_resizable (column, TRUE);
  gtk_column_view_append_column (self->view, column);
  return column;
}

static void
add_columns (FlamCodeView *self)
{
  GCallback label = G_CALLBACK (label_setup);

  add_column (self, _ ("Self"), 76, TRUE, label, G_CALLBACK (cost_bind), NULL);
  add_column (self, "%", 62, TRUE, label, G_CALLBACK (share_bind), NULL);
  add_column (self,
              _ ("Total"),
              76,
              TRUE,
              label,
              G_CALLBACK (cost_bind),
              GINT_TO_POINTER (1));
  add_column (
      self, _ ("Address"), 84, TRUE, label, G_CALLBACK (address_bind), NULL);
  add_column (self,
              _ ("Jumps"),
              68,
              FALSE,
              G_CALLBACK (jump_setup),
              G_CALLBACK (jump_bind),
              NULL);
  self->taken = add_column (
      self, _ ("Taken"), 76, TRUE, label, G_CALLBACK (taken_bind), NULL);
  add_column (
      self, _ ("Instruction"), 0, FALSE, label, G_CALLBACK (text_bind), NULL);
}

/* --- showing -------------------------------------------------------------- */

/* An empty label would be announced as "GtkLabel". */
static void
show_head (FlamCodeView *self, gboolean shown)
{
  gtk_widget_set_visible (GTK_WIDGET (self->name), shown);
  gtk_widget_set_visible (GTK_WIDGET (self->costs), shown);
}

static void
show_code (FlamCodeView *self, FlamCodeFile *file)
{
  g_autofree char *own = figure_text (file, file->code->self);
  g_autofree char *own_share =
      flam_format_percent (file->code->self, file->view_data->tree->total[0]);
  g_autofree char *total = figure_text (file, file->code->total);
  g_autofree char *share =
      flam_format_percent (file->code->total, file->view_data->tree->total[0]);
  g_autofree char *text = g_strdup_printf (
      _ ("self %s (%s)   total %s (%s)"), own, own_share, total, share);
  g_autofree char *all =
      file->whole ? g_strdup_printf (_ ("%s in all stacks"), text) : NULL;
  guint hottest;
  g_autoptr (GListModel) rows = flam_code_file_rows (file, &hottest);

  flam_widget_show_name (self->name, file->code->function, file->code->path);
  gtk_label_set_label (self->costs, all != NULL ? all : text);
  show_head (self, TRUE);
  gtk_column_view_column_set_visible (self->taken, file->code->counts_jumps);
  flam_columns_forget_needs (self->view);
  gtk_single_selection_set_model (self->selection, rows);
  gtk_single_selection_set_selected (self->selection, hottest);
  gtk_stack_set_visible_child_name (self->stack, "code");
  flam_rows_scroll_to (GTK_WIDGET (self->view), hottest);
}

static void
show_none (FlamCodeView *self, const char *why, gboolean missing)
{
  g_autofree char *shown = flam_message_sentence (why);
  g_autofree char *text = g_markup_escape_text (shown, -1);

  adw_status_page_set_description (self->none, text);
  gtk_widget_set_visible (self->choose, missing);
  show_head (self, FALSE);
  gtk_single_selection_set_model (self->selection, NULL);
  gtk_stack_set_visible_child_name (self->stack, "none");
}

static void
on_read (gpointer result, const GError *error, gpointer data)
{
  FlamCodeView *self = data;
  FlamCodeFile *file = result;

  if (file == NULL)
    return;
  if (file->code != NULL)
    show_code (self, file);
  else
    show_none (self, file->why, file->missing);
  flam_code_file_unref (file);
}

/* Without a current frame, the function with the greatest self cost. */
static FlamNodeId
hottest_node (const FlamTree *tree)
{
  FlamId best = 0;

  for (FlamId i = 1; i < tree->n; i++)
    if (tree->self[i] > tree->self[best] || best == 0)
      best = i;
  return best;
}

static void
fill (FlamPage *page)
{
  FlamCodeView *self = FLAM_CODE_VIEW (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  FlamNodeId node = flam_session_get_current (self->session);
  gboolean whole = node == 0 || flam_session_is_current_whole (self->session);
  FlamCodeRequest *request;
  FlamViewData *of;

  if (view_data != NULL && node == 0)
    node = hottest_node (view_data->tree);
  if (view_data == NULL || node == 0)
    {
      show_none (self, _ ("The selection has no functions."), FALSE);
      return;
    }
  request =
      flam_code_request_new (view_data,
                             node,
                             whole,
                             flam_session_get_path (self->session),
                             flam_session_get_source_names (self->session));
  of = flam_session_get_current_of (self->session, &request->merged);
  if (of != NULL && !whole && of->tree->stack_node != NULL)
    request->of = flam_view_data_ref (of);
  flam_page_start (page,
                   flam_code_file_work,
                   request,
                   flam_code_request_free,
                   flam_code_file_unref,
                   on_read);
}

static void
on_syntax (FlamCodeView *self)
{
  g_settings_set_string (
      flam_settings_get (),
      FLAM_KEY_CODE_SYNTAX,
      gtk_toggle_button_get_active (self->att_button) ? "att" : "intel");
  flam_page_queue_fill (FLAM_PAGE (self));
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_code_view_begin (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (FLAM_CODE_VIEW (widget)->view));
}

static void
flam_code_view_constructed (GObject *object)
{
  FlamCodeView *self = FLAM_CODE_VIEW (object);

  G_OBJECT_CLASS (flam_code_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  flam_page_follow (FLAM_PAGE (self),
                    self->session,
                    "notify::current",
                    G_CALLBACK (flam_page_queue_fill));
  flam_page_follow (FLAM_PAGE (self),
                    flam_settings_get (),
                    "changed::" FLAM_KEY_PATH_MAPPINGS,
                    G_CALLBACK (flam_page_queue_fill));
  flam_page_follow (FLAM_PAGE (self),
                    flam_settings_get (),
                    "changed::" FLAM_KEY_BINARIES,
                    G_CALLBACK (flam_page_queue_fill));
}

static void
flam_code_view_dispose (GObject *object)
{
  FlamCodeView *self = FLAM_CODE_VIEW (object);

  G_OBJECT_CLASS (flam_code_view_parent_class)->dispose (object);
  g_clear_object (&self->selection);
}

static void
flam_code_view_class_init (FlamCodeViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_code_view_constructed;
  object_class->dispose = flam_code_view_dispose;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  FLAM_PAGE_CLASS (klass)->begin = flam_code_view_begin;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-code-view.ui");
  gtk_widget_class_bind_template_child (class, FlamCodeView, name);
  gtk_widget_class_bind_template_child (class, FlamCodeView, costs);
  gtk_widget_class_bind_template_child (class, FlamCodeView, intel_button);
  gtk_widget_class_bind_template_child (class, FlamCodeView, att_button);
  gtk_widget_class_bind_template_child (class, FlamCodeView, stack);
  gtk_widget_class_bind_template_child (class, FlamCodeView, view);
  gtk_widget_class_bind_template_child (class, FlamCodeView, none);
  gtk_widget_class_bind_template_child (class, FlamCodeView, choose);
}

static void
flam_code_view_init (FlamCodeView *self)
{
  g_autofree char *syntax =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_CODE_SYNTAX);

  gtk_widget_init_template (GTK_WIDGET (self));
  self->selection = gtk_single_selection_new (NULL);
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  flam_columns_prepare (self->view);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  add_columns (self);
  gtk_toggle_button_set_active (self->att_button, strcmp (syntax, "att") == 0);
  g_signal_connect_swapped (
      self->att_button, "toggled", G_CALLBACK (on_syntax), self);
  g_signal_connect (
      self->choose, "clicked", G_CALLBACK (flam_files_choose_binaries), NULL);
}
