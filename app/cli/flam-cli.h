/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_H
#define FLAM_CLI_H

/* Code shared by the verbs: options, loading, output. stdout has only results;
 * errors are one line on stderr; progress is only shown on a terminal. */

#include "flam-core-picture.h"
#include "flam-formats.h"
#include "flam-namesakes.h"
#include "flam-server.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef enum
{
  FLAM_EXIT_DONE = 0,
  FLAM_EXIT_REFUSED = 1, /* the input or the system caused an error */
  FLAM_EXIT_USAGE = 2,
  FLAM_EXIT_BROKEN = 3, /* a gate is broken */
} FlamExit;

/* Selection options as typed, before there is a profile to check them with. */
typedef struct
{
  char *measure;
  char *event;
  GPtrArray *threads; /* TID, NAME or #N, as typed */
  GArray *pids;       /* gint64 */
  GArray *ranks;      /* gint64 */
  char **files;       /* of the ranks of a job; NULL: one file */
  char *from, *to;    /* --time and --growth: seconds, marks; NULL: all */
  gboolean growth;
  char *suppressions;       /* a file */
  FlamSelection *selection; /* transforms and switches */
  gboolean period;
  gboolean mangled;
  gboolean strip_hex;
  gboolean json;
  FlamWeightsAs weights_as; /* --kind */
  gboolean in_order;        /* a chart is drawn */
  gboolean one_measure;     /* the verb shows no other */
  gboolean report; /* for people: not all frames of Memray's captures */
  gboolean show_irrelevant; /* but with them */
  gint64 jobs;              /* 0: as many as there are cores */
  gboolean no_symbols;
  gboolean cache;
  gboolean silent; /* shows no progress */
  gboolean full_names;
  gboolean debuginfod;
  char **binaries;
  char **sources;
  char *token_file;         /* for servers */
  FlamNamesakes *namesakes; /* of the profile of the last flam_cli_name() */
  const FlamProfile *named;
  int timeout; /* s; 0: the default */
} FlamCliOptions;

typedef struct
{
  const char *name;
  const char *arguments; /* "FILE" */
  const char *summary;
  int (*run) (int argc, char **argv);
  gboolean json; /* the verb has --json */
} FlamVerb;

/* A tree's name for display in tables: folded, unless --full-names, and with
 * what tells it apart from other functions of that name; g_free. */
char *
flam_cli_name (FlamCliOptions *options, const FlamTree *tree, FlamNodeId node);
/* Whether the user may have typed `text` for it: its name, or the one above. */
gboolean flam_cli_is_named (FlamCliOptions *options,
                            const FlamTree *tree,
                            FlamNodeId node,
                            const char *text);

FlamCliOptions *flam_cli_options_new (void);
void flam_cli_options_free (FlamCliOptions *options);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCliOptions, flam_cli_options_free)

/* Any number of files, at least one. */
#define FLAM_CLI_ANY_FILES G_MAXUINT
/* The same, or none. */
#define FLAM_CLI_FILES_OR_NONE (G_MAXUINT - 1)

/* Parses `argv` of one verb: the selection options if it takes files, its own
 * `entries` (may be NULL), and the file names left over (`files`, g_strfreev).
 * A verb of one file also takes those of a job's ranks. FALSE after printing a
 * usage error. */
gboolean flam_cli_parse (int *argc,
                         char ***argv,
                         const FlamVerb *verb,
                         FlamCliOptions *options,
                         const GOptionEntry *entries,
                         guint n_files,
                         char ***files);

/* Options for the server of a URL. */
FlamServerOptions flam_cli_server (const FlamCliOptions *options);
/* The profile of a file or a URL, symbolized; that of all `files` if there are
 * several. NULL after printing the error. */
FlamProfile *flam_cli_load (const char *path, FlamCliOptions *options);
/* Whether the options select a part of a capture, its measure and labels
 * aside. */
gboolean flam_cli_selects (const FlamCliOptions *options);
/* The options resolved against this profile; NULL after printing an error, with
 * the exit status in `status`. */
FlamSelection *flam_cli_select (const FlamCliOptions *options,
                                const FlamProfile *profile,
                                const char *path,
                                FlamExit *status);
/* Whether the trees of two captures can be compared, that is, have a common
 * unit. FALSE after printing that they cannot. */
gboolean flam_cli_comparable (const char *base_path,
                              const FlamTree *base,
                              const char *path,
                              const FlamTree *tree);
/* Prints that two captures' measures have different units or kinds. */
void flam_cli_not_comparable (const char *base_path,
                              const FlamMeasure *base,
                              const char *base_id,
                              const char *path,
                              const FlamMeasure *measure,
                              const char *id);
/* Never NULL: it cannot be cancelled. */
FlamTree *flam_cli_tree (const FlamProfile *profile,
                         const FlamSelection *selection);

/* Stores a range as typed, FROM..TO, in the options. */
gboolean flam_cli_take_range (FlamCliOptions *options,
                              const char *option,
                              const char *value,
                              GError **error);
/* --sort; NULL: self. FALSE: neither self nor total. */
gboolean flam_cli_parse_sort (const char *text, FlamSort *sort);
/* The time of one side of a range; FALSE when it is not a number of seconds. */
gboolean flam_cli_seconds (const char *text, gint64 *ns);

void flam_cli_error (const char *format, ...) G_GNUC_PRINTF (1, 2);
int flam_cli_usage (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* `error` is GLib's, or NULL: its sentence begins with a small letter from now
 * on, since it is to follow a colon. */
void flam_cli_follow (GError *error);

/* Prints text. Control characters in the arguments are shown as escapes: only
 * the format's own newlines end lines. */
void flam_cli_print (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* A thread in the form that --thread accepts, with its name: "12/14 worker";
 * "#3 worker" if the capture has no numbers; g_free. */
char *flam_cli_thread_text (const FlamProfile *profile, FlamThreadId thread);

/* Standard output, for a document. */
FlamSink *flam_cli_stdout (void);
/* NULL after printing the error. `output` NULL: standard output. */
FlamSink *flam_cli_open_output (const char *output, gboolean force);
/* FALSE after printing that `output` (NULL: standard output) could not be
 * written; takes ownership of the sink. */
gboolean flam_cli_finish (FlamSink *sink, const char *output);

/* A node as text; every control character in it is escaped. */
char *flam_cli_json_text (JsonNode *node);

/* Prints one JSON document and frees the builder. */
void flam_cli_print_json (JsonBuilder *json);
void
flam_cli_json_string (JsonBuilder *json, const char *member, const char *value);
void flam_cli_json_int (JsonBuilder *json, const char *member, gint64 value);
/* A weight in the measure's unit: an integer if it is one. */
void flam_cli_json_weight (JsonBuilder *json,
                           const char *member,
                           const FlamMeasure *measure,
                           gint64 weight);
/* "  [running 60.0 %, lock 40.0 %]"; "" if the tree has only one state;
 * g_free. */
char *flam_cli_states_text (const FlamTree *tree, const FlamStateSplit *split);
/* "states": {"running": 5, "lock": 2}: those with a weight. */
void flam_cli_json_states (JsonBuilder *json,
                           const FlamMeasure *measure,
                           const FlamStateSplit *split);

extern const FlamVerb flam_verb_info, flam_verb_top, flam_verb_tree,
    flam_verb_lines, flam_verb_disassemble, flam_verb_export, flam_verb_diff,
    flam_verb_merge, flam_verb_history, flam_verb_heatmap, flam_verb_balance,
    flam_verb_memory, flam_verb_push, flam_verb_record, flam_verb_formats,
    flam_verb_dump;

G_END_DECLS

#endif
