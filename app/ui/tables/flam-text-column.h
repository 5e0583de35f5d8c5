/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Columns of plain text: one of names, which takes the room that is left, and
 * figures, the largest on top at a first click. Figures stand to the right, and
 * all other texts to the left, below their title. */

#include "flam-table-shape.h"

G_BEGIN_DECLS

/* The texts of the rows of one table. Columns are numbered by the table; one of
 * them is that of names. */
typedef struct
{
  guint name_column;
  const char *(*name) (gpointer row);
  /* For people; g_free, also the tooltip, which may stay NULL. */
  char *(*text) (gpointer row, guint column, char **tooltip);
  /* The number that figures are sorted by. */
  double (*figure) (gpointer row, guint column);
  guint words; /* a bit for each other column that is read, not compared by its
                  digits; its figure is its place in the order */
} FlamTextColumns;

/* `columns` must stay valid; `tight` as in flam_columns_fit(), for figures. */
GtkColumnViewColumn *flam_text_column_add (GtkColumnView *view,
                                           const FlamTextColumns *columns,
                                           guint column,
                                           const char *title,
                                           int tight);

G_END_DECLS
