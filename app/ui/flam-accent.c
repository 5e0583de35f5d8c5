/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-accent.h"

GdkRGBA
flam_accent (gboolean dark, float alpha)
{
  GdkRGBA color = dark ? (GdkRGBA){ 0.47f, 0.68f, 0.93f, 1 }
                       : (GdkRGBA){ 0.11f, 0.44f, 0.85f, 1 };

#if ADW_CHECK_VERSION(1, 6, 0)
  if (adw_is_initialized ())
    adw_accent_color_to_standalone_rgba (
        adw_style_manager_get_accent_color (adw_style_manager_get_default ()),
        dark,
        &color);
#endif
  color.alpha = alpha;
  return color;
}

void
flam_accent_watch (GObject *object, GCallback changed)
{
#if ADW_CHECK_VERSION(1, 6, 0)
  if (adw_is_initialized ())
    g_signal_connect_object (adw_style_manager_get_default (),
                             "notify::accent-color",
                             changed,
                             object,
                             G_CONNECT_SWAPPED);
#endif
}
