/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NAMES_H
#define FLAM_NAMES_H

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Sets the accessible names of all controls, since GTK before 4.10 sets wrong
 * ones: a button with a mnemonic gets its raw text and its text ("_Open Open"),
 * and the focusable inner widget of a drop-down, a split button or a row gets
 * its class name. Call once, before the first window. */
void flam_names_mend (void);

G_END_DECLS

#endif
