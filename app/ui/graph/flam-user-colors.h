/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_USER_COLORS_H
#define FLAM_USER_COLORS_H

/* The user's rules of colors: lines "REGEX=COLOR" of the file
 * color-rules in the folder of the program's settings, which
 * `flambeau-cli export --color-rules` takes as well. Other lines
 * of the file, comments for example, are kept. One object for
 * the whole process. Signals:
 *
 *   changed  ()  the lines have changed
 *   used     ()  other rules are in use: those of other lines,
 *                or without one that takes too long */

#include "flam-core-picture.h"
#include "flam-flame-graph.h"

G_BEGIN_DECLS

#define FLAM_TYPE_USER_COLORS (flam_user_colors_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamUserColors, flam_user_colors, FLAM, USER_COLORS, GObject)

FlamUserColors *flam_user_colors_get (void);

/* The valid rules, without those that take too long; NULL: none. Owned by the
 * object. */
FlamColorRules *flam_user_colors_get_rules (FlamUserColors *self);

/* The rules as written, valid or not. */
guint flam_user_colors_get_n (FlamUserColors *self);
const char *flam_user_colors_get_line (FlamUserColors *self, guint rule);
/* These write the file at once; FALSE if that fails, although the rules in use
 * have changed. `rule` equal to the number of rules adds one. */
gboolean flam_user_colors_set_line (FlamUserColors *self,
                                    guint rule,
                                    const char *line,
                                    GError **error);
gboolean
flam_user_colors_remove (FlamUserColors *self, guint rule, GError **error);
/* Moves it before the one above it. */
gboolean
flam_user_colors_move_up (FlamUserColors *self, guint rule, GError **error);

/* Call after drawing with the rules: a rule that took too long on a name is
 * then left out. */
void flam_user_colors_look (FlamUserColors *self);
/* The name on which rules with that regular expression took too long, or
 * NULL. */
const char *flam_user_colors_get_slow (FlamUserColors *self,
                                       const char *pattern);

/* Applies these colors to the graph, now and when they change. */
void flam_user_colors_follow (FlamFlameGraph *graph);

G_END_DECLS

#endif
