/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Takes out of a capture that is to be given away what is nobody's business:
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
 * What stands for one text is the same all over the capture, and what stands
 * for two is not: the tree, the totals and all counts are what they were. The
 * texts of all columns are gone through over the description of the tables
 * (FlamTextRole), and a column that it does not know is emptied. Hashes are
 * keyed anew each time, so that they cannot be compared with those of guessed
 * names.
 *
 * The system's are libraries in its own folders, and the kernel. */

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

/* What a capture tells, after that: different texts of each kind. */
typedef struct
{
  guint clear[FLAM_N_ROLES];
  guint hashed[FLAM_N_ROLES];
  gsize source_bytes;
  gboolean command;  /* the program's name, or more */
  gboolean personal; /* home folder, user or host are still named */
} FlamRemains;

/* `builder` is flam_builder_new_copy()'s, and good for writing alone
 * afterwards. `home`, `words`: of the person whose computer this is, besides
 * what the capture's paths say of homes; NULL-terminated. `remains` may be
 * NULL. */
void flam_builder_anonymize (FlamBuilder *builder,
                             FlamAnonymize degree,
                             const char *home,
                             const char *const *words,
                             FlamRemains *remains);

G_END_DECLS
