/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FIELD_ROW_H
#define FLAM_FIELD_ROW_H

#include <adwaita.h>

/* Screen readers do not learn of the keyboard focus in a row with a field
 * (AdwEntryRow, AdwPasswordEntryRow): libadwaita describes the row as the
 * field, but the focus is in a widget within it, which has no role. This gives
 * that one a role and the row's title. Call it before the row is in a window.
 */
void flam_field_row_describe (gpointer row);

#endif
