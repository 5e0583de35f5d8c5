/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_TABLE_H
#define FLAM_CLI_TABLE_H

/* A table on standard output: figures in columns as wide as the widest of them,
 * in any language, and behind them a text.
 *
 *         self             total            function
 *     210 MB ± 21.6 MB  99.0 %  212 MB …    keep  (leak)
 *     └── cells, to the right ──┘           └── text, to the left */

#include <glib.h>

G_BEGIN_DECLS

typedef struct _FlamCliTable FlamCliTable;

FlamCliTable *flam_cli_table_new (void);
/* The next cell of the last row; `least`: the column has at least this many
 * characters. */
void flam_cli_table_add (FlamCliTable *table, const char *text, int least);
/* Adds to the text that follows the cells. */
void flam_cli_table_append (FlamCliTable *table, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
void flam_cli_table_end_row (FlamCliTable *table);
/* Prints the rows, and frees the table. */
void flam_cli_table_print (FlamCliTable *table);

G_END_DECLS

#endif
