/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for the window. Sources still include what they use. */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>
#include <string.h>
