/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What assistive tools call the controls of the whole program, where GTK is
 * older than 4.10 and does it wrong itself: a button with a mnemonic is its raw
 * text and its text ("_Open Open"), and what a drop-down, a split button or a
 * row is made of, which has the focus, is named by its class.  To be called
 * once, before the first window. */
void flam_names_mend (void);

G_END_DECLS
