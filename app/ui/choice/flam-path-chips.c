/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-path-chips.h"

#include "flam-core-picture.h"
#include "flam-transforms.h"

#include <glib/gi18n.h>

#define NAME_MAX_CHARS 28

/* NULL: the baseline, which is not part of a selection. */
typedef void (*ChipRemove) (FlamSelection *selection, guint index);

static void
on_chip (GtkButton *button, FlamSession *session)
{
  ChipRemove remove = g_object_get_data (G_OBJECT (button), "remove");
  guint index =
      GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "index"));
  FlamSelection *selection;

  if (remove == NULL)
    {
      flam_baseline_leave (flam_session_get_baseline (session));
      return;
    }
  selection = flam_selection_copy (flam_session_get_selection (session));
  remove (selection, index);
  flam_session_select (session, selection);
}

static void
append_chip (GtkBox *chips,
             FlamSession *session,
             const char *text,
             ChipRemove remove,
             guint index)
{
  g_autofree char *visible = flam_format_visible (text);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *label = gtk_label_new (visible);
  GtkWidget *cross = gtk_image_new_from_icon_name ("window-close-symbolic");
  GtkWidget *button = gtk_button_new ();
  g_autofree char *name = g_strdup_printf (_ ("Remove: %s"), visible);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 32);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), cross);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flam-chip");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, name);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data (G_OBJECT (button), "remove", remove);
  g_object_set_data (G_OBJECT (button), "index", GUINT_TO_POINTER (index));
  g_signal_connect (button, "clicked", G_CALLBACK (on_chip), session);
  gtk_box_append (chips, button);
}

static void
remove_transform (FlamSelection *selection, guint index)
{
  g_ptr_array_remove_index (selection->transforms, index);
}

static void
remove_range (FlamSelection *selection, guint index)
{
  selection->from = G_MININT64;
  selection->to = G_MAXINT64;
}

static void
remove_invert (FlamSelection *selection, guint index)
{
  selection->invert = FALSE;
}

static void
remove_label (FlamSelection *selection, guint index)
{
  g_ptr_array_remove_index (selection->labels, index);
}

static void
remove_by (FlamSelection *selection, guint index)
{
  selection->by = FLAM_BY_FUNCTION;
}

static void
remove_recursion (FlamSelection *selection, guint index)
{
  selection->recursion = FLAM_RECURSION_OFF;
}

static void
remove_no_native (FlamSelection *selection, guint index)
{
  selection->no_native = FALSE;
}

static void
remove_no_inlines (FlamSelection *selection, guint index)
{
  selection->no_inlines = FALSE;
}

static void
remove_no_repl (FlamSelection *selection, guint index)
{
  selection->no_repl = FALSE;
}

static void
remove_allocators (FlamSelection *selection, guint index)
{
  selection->allocators = 0;
}

static void
remove_suppressions (FlamSelection *selection, guint index)
{
  g_clear_pointer (&selection->suppressions, flam_suppressions_unref);
}

/* The allocators that count. */
static char *
allocators_text (guint allocators)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree char *list = NULL;

  for (guint i = 0; i < FLAM_N_ALLOCATORS; i++)
    if ((allocators & FLAM_ALLOCATOR_BIT (i)) != 0)
      g_ptr_array_add (names, (gpointer)flam_allocator_to_string (i));
  g_ptr_array_add (names, NULL);
  list = g_strjoinv (", ", (char **)names->pdata);
  /* Translators: a chip; the names of functions that allocate memory */
  return g_strdup_printf (_ ("only %s"), list);
}

static void
show_memory_chips (GtkBox *chips,
                   FlamSession *session,
                   const FlamProfile *profile,
                   const FlamSelection *selection)
{
  if (profile->allocations.n == 0)
    return;
  if (selection->allocators != 0)
    {
      g_autofree char *text = allocators_text (selection->allocators);

      append_chip (chips, session, text, remove_allocators, 0);
    }
  if (selection->suppressions != NULL)
    {
      guint n = flam_suppressions_get_n (selection->suppressions);
      g_autofree char *text = g_strdup_printf (
          ngettext ("leaks: %u suppression", "leaks: %u suppressions", n), n);

      append_chip (chips, session, text, remove_suppressions, 0);
    }
}

static char *
range_text (const FlamProfile *profile,
            gint64 start,
            gint64 end,
            const char *format)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;

  start = MAX (start, 0);
  end = MIN (end, profile->facts.duration_ns);
  from = flam_format_moment (flam_facts_clock (&profile->facts), start);
  to =
      flam_format_moment (flam_facts_clock (&profile->facts), MAX (end, start));
  return g_strdup_printf (format, from, to);
}

static const char *
thread_name (const FlamProfile *profile, const FlamSelection *selection)
{
  FlamThreadId thread = g_array_index (selection->threads, FlamId, 0);

  return flam_profile_string (profile, profile->threads.name[thread]);
}

static void
show_baseline_chip (GtkBox *chips,
                    FlamSession *session,
                    const FlamProfile *profile)
{
  FlamBaseline *baseline = flam_session_get_baseline (session);
  const FlamSelection *part = flam_baseline_get_part (baseline);
  g_autofree char *text = NULL;
  guint n;

  switch (flam_baseline_get_kind (baseline))
    {
    case FLAM_BASELINE_CAPTURE:
      text = g_strdup_printf (_ ("compared with: %s"),
                              flam_baseline_get_title (baseline));
      break;
    case FLAM_BASELINE_RANGE:
      text = range_text (
          profile, part->from, part->to, _ ("compared with: %s – %s"));
      break;
    case FLAM_BASELINE_THREADS:
      n = part->threads->len;
      text = n == 1 ? g_strdup_printf (_ ("compared with: %s"),
                                       thread_name (profile, part))
                    : g_strdup_printf (ngettext ("compared with: %u thread",
                                                 "compared with: %u threads",
                                                 n),
                                       n);
      break;
    case FLAM_BASELINE_MEASURE:
      /* Translators: a file has two columns, before and now */
      text = g_strdup (_ ("compared with: before"));
      break;
    case FLAM_BASELINE_NONE:
    default:
      return;
    }
  append_chip (chips, session, text, NULL, 0);
}

static const char *
by_text (FlamBy by)
{
  switch (by)
    {
    case FLAM_BY_LINE:
      return _ ("by line");
    case FLAM_BY_MODULE:
      return _ ("by module");
    case FLAM_BY_FILE:
      return _ ("by file");
    case FLAM_BY_THREAD:
      return _ ("by thread");
    case FLAM_BY_PROCESS:
      return _ ("by process");
    case FLAM_BY_ADDRESS:
      return _ ("by address");
    case FLAM_BY_FUNCTION:
    default:
      return _ ("by function");
    }
}

static void
show_chips (GtkBox *chips,
            FlamSession *session,
            const FlamProfile *profile,
            const FlamSelection *selection)
{
  guint n = selection->transforms != NULL ? selection->transforms->len : 0;

  show_baseline_chip (chips, session, profile);
  if (selection->from != G_MININT64 || selection->to != G_MAXINT64)
    {
      g_autofree char *text = range_text (
          profile, selection->from, selection->to, _ ("time: %s – %s"));
      append_chip (chips, session, text, remove_range, 0);
    }
  if (selection->invert)
    append_chip (chips, session, _ ("inverted"), remove_invert, 0);
  if (selection->by != FLAM_BY_FUNCTION)
    {
      g_autofree char *text =
          selection->by == FLAM_BY_LABEL
              ? g_strdup_printf (_ ("by label: %s"), selection->by_label)
              : g_strdup (by_text (selection->by));

      append_chip (chips, session, text, remove_by, 0);
    }
  for (guint i = 0; selection->labels != NULL && i < selection->labels->len;
       i++)
    append_chip (chips, session, selection->labels->pdata[i], remove_label, i);
  if (selection->recursion != FLAM_RECURSION_OFF)
    append_chip (
        chips, session, _ ("recursion collapsed"), remove_recursion, 0);
  if (selection->no_native)
    append_chip (chips, session, _ ("native code hidden"), remove_no_native, 0);
  if (selection->no_inlines)
    append_chip (
        chips, session, _ ("inlined functions hidden"), remove_no_inlines, 0);
  if (selection->no_repl)
    append_chip (chips, session, _ ("REPL hidden"), remove_no_repl, 0);
  show_memory_chips (chips, session, profile, selection);
  for (guint i = 0; i < n; i++)
    {
      FlamTransform *transform = selection->transforms->pdata[i];
      g_autofree char *pattern = flam_transforms_describe (transform);
      g_autofree char *name = flam_format_short_name (pattern, NAME_MAX_CHARS);
      g_autofree char *text = g_strdup_printf (
          "%s: %s", flam_transforms_label (transform->kind), name);
      append_chip (chips, session, text, remove_transform, i);
    }
}

void
flam_path_chips_show (GtkBox *chips, FlamSession *session)
{
  const FlamSelection *selection = flam_session_get_selection (session);
  GtkWidget *child;

  while ((child = gtk_widget_get_last_child (GTK_WIDGET (chips))) != NULL)
    gtk_box_remove (chips, child);
  if (selection != NULL)
    show_chips (chips, session, flam_session_get_profile (session), selection);
}
