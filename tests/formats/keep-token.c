/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keep-token URL TOKEN: what Open Location… does with a token that is to be
 * kept. */
#include "flam-server.h"

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamLocation) location =
      argc == 3 ? flam_location_new (argv[1], &error) : NULL;

  if (location != NULL && flam_server_keep_token (location, argv[2], &error))
    return 0;
  g_printerr ("%s\n", error != NULL ? error->message : "URL TOKEN");
  return 1;
}
