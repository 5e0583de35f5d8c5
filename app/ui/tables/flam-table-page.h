/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TABLE_PAGE_H
#define FLAM_TABLE_PAGE_H

/* A page whose rows are functions: a flat table that is sorted by its columns,
 * searched by the functions' names, and bound to the session's current frame.
 *
 *   fill() ─▶ set_rows ─▶ filter (search) ─▶ sort (columns) ─▶ selected row
 *                                                                  │  ▲
 *                                              session's current frame */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_TABLE_PAGE (flam_table_page_get_type ())
G_DECLARE_DERIVABLE_TYPE (
    FlamTablePage, flam_table_page, FLAM, TABLE_PAGE, FlamPage)

struct _FlamTablePageClass
{
  FlamPageClass parent_class;
  /* The text to search; NULL: the rows are already the result of a search. */
  const char *(*get_name) (gpointer row);
  /* Whether `row` is for the function of this node of the session's tree. */
  gboolean (*is_of) (gpointer row, const FlamTree *tree, FlamNodeId node);
  /* The function's heaviest node in the session's tree, FLAM_NONE if it has
   * none there, or 0 for what has no stack. */
  FlamId (*find) (gpointer row, const FlamTree *tree);
  /* The source line of `row`, which is then shown; 0: none. NULL: no row has
   * one. */
  guint32 (*get_place) (gpointer row, const char **file);
  /* A row was chosen that has no callers: find() has 0 or no node. NULL:
   * nothing to do. */
  void (*chose_none) (FlamTablePage *page, gpointer row);
  /* Whether the selected row stays while the session's frame changes. NULL: it
   * never does. */
  gboolean (*keeps_row) (FlamTablePage *page);
};

/* Call once, in init() after the columns were added: the table, and the label
 * that explains why it is empty (or NULL). */
void flam_table_page_set_table (FlamTablePage *page,
                                GtkColumnView *view,
                                GtkLabel *none);
/* The rows belong to the session's view while its tree is `tree` (NULL:
 * always); the page keeps a reference to it. */
void flam_table_page_set_rows (FlamTablePage *page,
                               GPtrArray *rows,
                               const FlamTree *tree);
/* Selects the row of the session's current frame. */
void flam_table_page_show_current (FlamTablePage *page);

G_END_DECLS

#endif
