/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEXT_COLUMN_H
#define FLAM_TEXT_COLUMN_H

/* Columns of plain text: one of names, which takes the remaining room, and
 * figures, with the largest on top at the first click. Figures are aligned to
 * the right, all other texts and their titles to the left. */

#include "flam-table-shape.h"

G_BEGIN_DECLS

/* The texts of the rows of one table. The table numbers its columns; one of
 * them is that of names. */
typedef struct
{
  guint name_column;
  const char *(*name) (gpointer row);
  /* Display text; g_free, also the tooltip, which may stay NULL. */
  char *(*text) (gpointer row, guint column, char **tooltip);
  /* The number by which figures are sorted. */
  double (*figure) (gpointer row, guint column);
  guint words; /* one bit for each further column of text; its figure is its
                  rank */
} FlamTextColumns;

/* `columns` must stay valid; `tight` as in flam_columns_fit(), for figures. */
GtkColumnViewColumn *flam_text_column_add (GtkColumnView *view,
                                           const FlamTextColumns *columns,
                                           guint column,
                                           const char *title,
                                           int tight);

G_END_DECLS

#endif
