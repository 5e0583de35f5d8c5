/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FLATPAK_H
#define FLAM_FLATPAK_H

/* Leaving the flatpak: programs run on the host, so the recorder must run
 * outside the sandbox. Its files are in the host's view of the sandbox's
 * folders, which are listed in /.flatpak-info:
 *
 *   [Instance]
 *   app-path=/var/lib/flatpak/app/ID/.../files           our /app
 *   runtime-path=/var/lib/flatpak/runtime/.../files      our /usr
 *
 * It is started by flatpak-spawn --host through the runtime's own dynamic
 * linker, which gets the path of its libraries as an argument, not by
 * LD_LIBRARY_PATH: the environment is passed to the recorded program. */

#include <glib.h>

G_BEGIN_DECLS

#define FLAM_FLATPAK_INFO "/.flatpak-info"

/* The command that runs `arguments` (the recorder's path, then its options,
 * NULL-terminated) outside, in folder `cwd` (NULL: any), with the descriptor
 * `fd` (-1: none) and the host's environment. Free with g_strfreev. NULL with
 * an error when `info` cannot be read or names no paths. */
char **flam_flatpak_command (const char *info,
                             const char *const *arguments,
                             const char *cwd,
                             int fd,
                             GError **error);

G_END_DECLS

#endif
