/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-application.h"
#include "flam-bundle.h"
#include "flam-dragged-file.h"

#include "flam-config.h"
#include "flam-core-picture.h"

#include <glib/gi18n.h>
#include <gtksourceview/gtksource.h>
#include <locale.h>

int
main (int argc, char **argv)
{
  g_autoptr (FlamApplication) application = NULL;
  g_autofree char *words = flam_installed (FLAM_LOCALEDIR);
  int status;

  setlocale (LC_ALL, "");
  flam_bundle_find_data ();
  flam_message_init (words);
  g_set_application_name (_ ("Flambeau"));

  gtk_source_init ();
  application = flam_application_new ();
  status = g_application_run (G_APPLICATION (application), argc, argv);
  flam_dragged_file_remove_all ();
  gtk_source_finalize ();
  return status;
}
