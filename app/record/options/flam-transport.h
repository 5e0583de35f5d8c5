/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRANSPORT_H
#define FLAM_TRANSPORT_H

/* How the recorder reaches another machine or a container: a command of the
 * user's own client, whose standard input and output become the line to the
 * recorder there.
 *
 *   HOST, USER@HOST, ssh://USER@HOST:PORT   ssh
 *   podman:NAME, docker:NAME                podman exec, docker exec
 *   machine:NAME                            systemd-run --machine
 *   pod/NAME                                kubectl exec
 *   adb:SERIAL                              adb shell, of Android
 *
 * Authentication, jumps and shared connections are the client's business. */

#include "flam-core-profile.h"

/* In a capture from there: the host's name for these clients. */
#define FLAM_FACT_REACHED FLAM_FACT_HOST "-reached-as"

gboolean flam_transport_check (const char *host, GError **error);
/* The command that runs `script` there in a POSIX shell; g_strfreev. The script
 * is one line without ', ! and \, which the login shells of ssh would treat in
 * different ways. */
char **flam_transport_command (const char *host, const char *script);
/* Whether the client may prompt on the terminal, for a password. */
gboolean flam_transport_prompts (const char *host);

#endif
