/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-application.h"
#include "flam-bundle.h"
#include "flam-dragged-file.h"

#include "flam-config.h"
#include "flam-core-picture.h"

#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>
#include <locale.h>
#include <signal.h>

/* GLib before 2.76 has an allocator of its own, which never gives back the
 * memory of what a closed tab consisted of. It takes another choice only before
 * its first block: before the constructors of the libraries. */
#if defined(__ELF__) && !GLIB_CHECK_VERSION(2, 76, 0)
G_GNUC_BEGIN_IGNORE_DEPRECATIONS
static void
use_malloc (void)
{
  g_slice_set_config (G_SLICE_CONFIG_ALWAYS_MALLOC, TRUE);
}
G_GNUC_END_IGNORE_DEPRECATIONS

__attribute__ ((section (".preinit_array"),
                used)) static void (*const first) (void) = use_malloc;
#endif

int
main (int argc, char **argv)
{
  g_autoptr (FlamApplication) application = NULL;
  g_autofree char *words = flam_installed_or_built (FLAM_LOCALEDIR, "po");
  int status;
  int ended_by;

  setlocale (LC_ALL, "");
  flam_bundle_find_data ();
  flam_message_init (words);
  g_set_application_name (_ ("Flambeau"));

  gtk_source_init ();
  application = flam_application_new ();
  status = g_application_run (G_APPLICATION (application), argc, argv);
  flam_dragged_file_remove_all ();
  gtk_source_finalize ();
  ended_by = flam_application_get_signal (application);
  if (ended_by != 0)
    {
      signal (ended_by, SIG_DFL);
      raise (ended_by);
    }
  return status;
}
