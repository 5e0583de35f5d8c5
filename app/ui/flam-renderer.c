/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-renderer.h"

#include <epoxy/gl.h>
#include <gtk/gtk.h>

/* Names of drivers, Mesa's and others', that compute on the CPU. */
static const char *const in_software[] = {
  "llvmpipe", "softpipe", "swrast", "software", "swiftshader",
};

/* The driver of a GPU creates one of these; without them, the CPU draws. */
static gboolean
has_graphics_device (void)
{
  static const char *const devices[] = {
    "/dev/dri", "/dev/nvidiactl", "/dev/dxg", "/dev/kgsl-3d0", "/dev/mali0",
  };

  for (guint i = 0; i < G_N_ELEMENTS (devices); i++)
    if (g_file_test (devices[i], G_FILE_TEST_EXISTS))
      return TRUE;
  return FALSE;
}

/* The previous value of the variable, and whether we set it. */
static char *outer_value;
static gboolean is_set;

static const char *
disabling_variable (void)
{
  return gtk_get_minor_version () >= 16 ? "GDK_DISABLE" : "GDK_DEBUG";
}

static const char *
disabling_value (void)
{
  return gtk_get_minor_version () >= 16 ? "gl,vulkan" : "gl-disable";
}

static gboolean
needs_gl (void)
{
  const char *wanted = g_getenv ("GSK_RENDERER");

  return wanted != NULL ? !g_str_equal (wanted, "cairo")
                        : has_graphics_device ();
}

void
flam_renderer_before_init (void)
{
  const char *name = disabling_variable ();
  g_autofree char *both = NULL;

  if (needs_gl ())
    return;
  outer_value = g_strdup (g_getenv (name));
  both = outer_value != NULL
             ? g_strconcat (outer_value, ",", disabling_value (), NULL)
             : g_strdup (disabling_value ());
  g_setenv (name, both, TRUE);
  is_set = TRUE;
}

/* Recorded programs get the original value of the variable. */
void
flam_renderer_after_init (void)
{
  if (!is_set)
    return;
  if (outer_value != NULL)
    g_setenv (disabling_variable (), outer_value, TRUE);
  else
    g_unsetenv (disabling_variable ());
  g_clear_pointer (&outer_value, g_free);
  is_set = FALSE;
}

static gboolean
computes_on_the_cpu (GdkDisplay *display)
{
  g_autoptr (GdkGLContext) context = NULL;
  g_autofree char *name = NULL;
  const char *said;

  if (!has_graphics_device ())
    return TRUE;
  context = gdk_display_create_gl_context (display, NULL);
  if (context == NULL || !gdk_gl_context_realize (context, NULL))
    return TRUE;
  gdk_gl_context_make_current (context);
  said = (const char *)glGetString (GL_RENDERER);
  name = g_ascii_strdown (said != NULL ? said : "", -1);
  gdk_gl_context_clear_current ();
  for (guint i = 0; i < G_N_ELEMENTS (in_software); i++)
    if (strstr (name, in_software[i]) != NULL)
      return TRUE;
  return FALSE;
}

void
flam_renderer_choose (GdkDisplay *display)
{
  if (display == NULL || g_getenv ("GSK_RENDERER") != NULL)
    return;
  /* GTK checks the display first, then the environment. Only a setting of the
   * display is not inherited by recorded programs. */
  if (computes_on_the_cpu (display))
    g_object_set_data (G_OBJECT (display), "gsk-renderer", (gpointer) "cairo");
}
