/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NAMED_COLOR_H
#define FLAM_NAMED_COLOR_H

/* Colors that depend only on a function's name: flamegraph.pl's palettes, to
 * the last bit, its palette files, and the user's rules.
 *
 *    main ──hash──▶ v1, v2, v3 in 0..1 ──hot──▶ rgb(205 + 50 v3, 230 v1, 55 v2)
 *
 * The three are one number, drand48() of the sum of the characters; with `hash`
 * they depend on the first and the last letters, so that names that begin alike
 * look alike. As in folded stacks, a name ends in the mark of its kind, such as
 * "_[k]" for the kernel, which java, js, perl and chain use. */

#include "flam-palette.h"

G_BEGIN_DECLS

/* `mode`: FLAM_PALETTE_HOT or one after it. */
FlamColor
flam_named_color (FlamPaletteMode mode, gboolean hash, const char *name);

/* "rgb(1,2,3)" or "#010203". */
gboolean flam_named_color_parse (const char *text, FlamColor *color);

/* --- palette files: "main->rgb(243,179,42)", one per line ---------------- */

typedef struct _FlamColorMap FlamColorMap;

FlamColorMap *flam_color_map_new (void);
void flam_color_map_free (FlamColorMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamColorMap, flam_color_map_free)

/* Adds a file's lines. */
gboolean
flam_color_map_parse (FlamColorMap *map, const char *text, GError **error);
gboolean flam_color_map_find (const FlamColorMap *map,
                              const char *name,
                              FlamColor *color);
void flam_color_map_add (FlamColorMap *map, const char *name, FlamColor color);
/* The text of the file, lines sorted bytewise; g_free. */
char *flam_color_map_text (const FlamColorMap *map);

/* --- rules: a regular expression and a color; the first that matches ----- */

/* "REGEX" matches a function's name, "module:REGEX" its module's, and
 * "file:REGEX" the path of its source file. */

/* Reference counted; after the last rule is added, any thread may read it. */
typedef struct _FlamColorRules FlamColorRules;

FlamColorRules *flam_color_rules_new (void);
FlamColorRules *flam_color_rules_ref (FlamColorRules *rules);
void flam_color_rules_unref (FlamColorRules *rules);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamColorRules, flam_color_rules_unref)

guint flam_color_rules_get_n (const FlamColorRules *rules);
/* FALSE with FLAM_ERROR_INVALID for a bad expression or color. */
gboolean flam_color_rules_add (FlamColorRules *rules,
                               const char *pattern,
                               const char *color,
                               GError **error);
/* A rule as text: "REGEX=COLOR", separated at the last "=". */
gboolean flam_color_rules_add_line (FlamColorRules *rules,
                                    const char *line,
                                    GError **error);
/* A file of rules, one per line; empty lines and lines that begin with "#" are
 * skipped. The error names the line. */
gboolean flam_color_rules_parse (FlamColorRules *rules,
                                 const char *text,
                                 GError **error);
/* The rule that gives a node its color, by its name, module, file or kind of
 * code; or FLAM_NONE. */
guint flam_color_rules_find_node (const FlamColorRules *rules,
                                  const FlamTree *tree,
                                  FlamNodeId node);
/* Tries the rules, or NULL, on all names of a tree, so that a rule that takes
 * too long on any of them is ignored completely, not only for names drawn after
 * that one. */
void flam_color_rules_try (const FlamColorRules *rules, const FlamTree *tree);
/* The name on which a rule took too long; the rule has matched nothing since.
 * NULL: none. Owned by the rules. */
const char *flam_color_rules_get_slow (const FlamColorRules *rules, guint rule);
const char *flam_color_rules_get_pattern (const FlamColorRules *rules,
                                          guint rule);
FlamColor flam_color_rules_get_color (const FlamColorRules *rules, guint rule);

G_END_DECLS

#endif
