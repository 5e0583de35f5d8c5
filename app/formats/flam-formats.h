/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The two tables of formats, and the way in: source -> probe -> load ->
 * finish -> profile. A new format is one file and one row in flam-formats.c:
 * flam-import-x.c defines `const FlamImporter flam_import_x`, and the row is
 * the word `x`. */

#include "flam-load.h"
#include "flam-look.h"
#include "flam-part.h"
#include "flam-share.h"
#include "flam-sink.h"
#include "flam-tree.h"

/* A NULL-terminated list of texts, in an initializer. */
#define FLAM_LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What a format's files begin with; what is left out may be anything. */
typedef struct
{
  const char *magic; /* FLAM_MAGIC(): the first bytes */
  guint magic_size;
  guint least;              /* the size of the smallest such file */
  char first;               /* the first character that is no white space */
  const char *const *words; /* FLAM_LIST(): all of them are */
  guint head;               /* within that many bytes */
  guint score;              /* as probe() returns it */
} FlamSign;

/* All of the words within the first `head` bytes; `first` 0: begins anyhow. */
#define FLAM_HEAD(score_, first_, head_, ...)                                  \
  {                                                                            \
    .score = score_, .first = first_, .head = head_,                           \
    .words = FLAM_LIST (__VA_ARGS__)                                           \
  }
/* Of a literal, which may hold NUL characters. */
#define FLAM_MAGIC(text) .magic = (text), .magic_size = sizeof (text) - 1
#define FLAM_SIGNS(...) ((const FlamSign[]){ __VA_ARGS__, { .score = 0 } })

typedef struct
{
  const char *id;              /* "perf-data" */
  const char *label;           /* "Linux perf" */
  const char *const *suffixes; /* FLAM_LIST ("perf.data") */
  const char *const *mime_types;
  const FlamSign *signs; /* FLAM_SIGNS(): one of them is enough */
  /* Where signs do not say it, and `signs` is NULL. 0: another format; 100:
   * certain (magic). Looks at the head of the data alone (a few KiB), so that
   * probing costs nothing. */
  guint (*probe) (const FlamSource *source);
  /* Reads everything into the builder, which is the caller's. TRUE also for a
   * truncated file that held something: flam_load_partial() says so. */
  gboolean (*load) (FlamLoad *load, GError **error);
  gconstpointer form; /* load->form: what formats of one load() differ in */
  /* It reads forward and calls flam_source_more(), so that it can begin before
   * the file is all unpacked. */
  gboolean streams;
  /* It looks into files beside the capture, programs say, so that the same
   * bytes may be read otherwise tomorrow. */
  gboolean beside;
} FlamImporter;

/* What a document has room for beside stacks of names and the weights of one
 * measure. */
typedef enum
{
  FLAM_HOLDS_THREADS = 1 << 0,
  FLAM_HOLDS_PROCESSES = 1 << 1,
  FLAM_HOLDS_ORDER = 1 << 2, /* what came first */
  FLAM_HOLDS_TIMES = 1 << 3, /* and when that was */
  FLAM_HOLDS_STATES = 1 << 4,
  FLAM_HOLDS_MEASURES = 1 << 5, /* all of them */
  FLAM_HOLDS_FILES = 1 << 6,
  FLAM_HOLDS_LINES = 1 << 7,
  FLAM_HOLDS_INLINES = 1 << 8, /* which frames are */
  FLAM_HOLDS_MODULES = 1 << 9,
  FLAM_HOLDS_KINDS = 1 << 10,  /* of code: kernel, JIT, ... */
  FLAM_HOLDS_BLOCKS = 1 << 11, /* of memory, one by one */
  FLAM_HOLDS_MARKS = 1 << 12,
  FLAM_HOLDS_COUNTERS = 1 << 13,
  FLAM_HOLDS_LABELS = 1 << 14,    /* of samples */
  FLAM_HOLDS_ALL = (1 << 15) - 1, /* also: a view, which need not hold any */
} FlamHolds;

/* What folded stacks begin with. */
typedef enum
{
  FLAM_ROOT_NONE,
  FLAM_ROOT_COMM, /* "name" of the thread, as stackcollapse-perf.pl has it */
  FLAM_ROOT_PID,  /* "name-PID" */
  FLAM_ROOT_TID,  /* "name-PID/TID" */
} FlamFoldedRoot;

typedef struct
{
  FlamLook look;     /* its title is every document's */
  gboolean annotate; /* folded: "_[k]" and the like behind names */
  FlamFoldedRoot root;
  FlamShare share; /* of what a capture for others has */
} FlamExportOptions;

/* One document: of what, how, and where it goes. */
typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamExportOptions *options;
  FlamSink *out;
  gconstpointer form; /* the exporter's */
  FlamPart *part;     /* where the exporter takes one */
  FlamKept kept;
} FlamExport;

/* What is put: a tree, or the samples in their order. */
typedef enum
{
  FLAM_PUTS_TREE,
  FLAM_PUTS_PART,
  FLAM_PUTS_SPANS, /* a part whose weights are times */
} FlamPuts;

typedef struct
{
  const char *id; /* "svg" */
  const char *label;
  const char *suffix;
  const char *mime_type;
  gboolean text;   /* may go to standard output */
  gboolean folds;  /* takes annotate and root */
  gboolean shares; /* takes share */
  guint look;      /* FlamLookPart: the parts of the look it takes */
  guint holds;     /* FlamHolds */
  FlamPuts puts;
  /* Puts the document of what is selected. What it cannot honour of the
   * selection it refuses. */
  gboolean (*save) (FlamExport *export, GError **error);
  gconstpointer form; /* export->form: what formats of one save() differ in */
} FlamExporter;

gboolean flam_exporter_save (const FlamExporter *exporter,
                             const FlamProfile *profile,
                             const FlamSelection *selection,
                             const FlamExportOptions *options,
                             FlamSink *out,
                             GError **error);

/* "threads, lines": what of the profile the document has not; NULL: nothing. */
char *flam_exporter_losses (const FlamExporter *exporter,
                            const FlamProfile *profile,
                            const FlamSelection *selection,
                            const FlamExportOptions *options);

/* NULL-terminated. */
extern const FlamImporter *const flam_importers[];
extern const FlamExporter *const flam_exporters[];

const FlamImporter *flam_importer_find (const char *id);
const FlamExporter *flam_exporter_find (const char *id);

/* The best importer by content; suffixes only break ties. NULL: unknown. */
const FlamImporter *flam_formats_probe (const FlamSource *source);

/* The straight path from a path to a profile. `options` may be NULL. */
FlamProfile *flam_formats_load (const char *path,
                                const FlamLoadOptions *options,
                                GError **error);
FlamProfile *flam_formats_load_source (FlamSource *source,
                                       const FlamLoadOptions *options,
                                       GError **error);
/* What load() of the table does, and the end of what it kept. `options` is not
 * NULL. */
gboolean flam_importer_load (const FlamImporter *importer,
                             const FlamSource *source,
                             FlamBuilder *builder,
                             const FlamLoadOptions *options,
                             GError **error);
/* With one importer, whatever the probes say: for tests and fuzzers. */
FlamProfile *flam_formats_load_with (const FlamImporter *importer,
                                     FlamSource *source,
                                     const FlamLoadOptions *options,
                                     GError **error);
