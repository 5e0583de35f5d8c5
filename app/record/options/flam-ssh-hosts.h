/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SSH_HOSTS_H
#define FLAM_SSH_HOSTS_H

/* The hosts that the user's ssh has names for. */

#include <glib.h>

/* The names after Host in a configuration of ssh and in the files that it
 * includes, each once, in their order; patterns are left out. `path`: NULL for
 * ~/.ssh/config. g_strfreev; empty if the file cannot be read. */
char **flam_ssh_hosts (const char *path);

#endif
