/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ANONYMIZE_H
#define FLAM_ANONYMIZE_H

/* Removes private texts from a capture that is to be shared:
 *
 *                  PATHS                          NAMES
 *   files          /home/ann/x/a.c -> ~/x/a.c     s_5f0c1d2e3a4b5c
 *   modules        likewise                       m_...; the system's are kept
 *   functions      kept                           f_...; the system's are kept
 *   tasks, marks   kept                           t_..., k_...
 *   command line   the program's name             left out
 *   host           left out                       left out
 *   messages       shortened                      left out
 *   notes          shortened                      left out, and sources
 *
 * One text has the same replacement everywhere in the capture, and different
 * texts have different ones: the tree, the totals and all counts do not change.
 * The texts of all columns are found by the description of the tables
 * (FlamTextRole), and a column that is not described is emptied. Hashes are
 * keyed anew each time, so that they cannot be compared with those of guessed
 * names.
 *
 * The system's modules are libraries in its own folders, and the kernel. */

#include "flam-tables.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_ANONYMIZE_NOTHING,
  FLAM_ANONYMIZE_PATHS,
  FLAM_ANONYMIZE_NAMES,
  FLAM_N_ANONYMIZE
} FlamAnonymize;

/* The words "nothing", "paths", "names". */
const char *flam_anonymize_to_string (FlamAnonymize degree);

/* The names that a capture still reveals after that: distinct texts of each
 * kind. */
typedef struct
{
  guint clear[FLAM_N_ROLES];
  guint hashed[FLAM_N_ROLES];
  gsize source_bytes;
  gboolean command;  /* the program's name, or more of the command line */
  gboolean personal; /* home folders, users or hosts are still in it */
} FlamRemains;

/* `builder` is from flam_builder_new_copy(), and can only be written
 * afterwards. `home`, `words`: of this computer's user, in addition to the
 * homes in the capture's paths; NULL-terminated. `remains` may be NULL. */
void flam_builder_anonymize (FlamBuilder *builder,
                             FlamAnonymize degree,
                             const char *home,
                             const char *const *words,
                             FlamRemains *remains);

G_END_DECLS

#endif
