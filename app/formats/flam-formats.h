/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FORMATS_H
#define FLAM_FORMATS_H

/* The two tables of formats, and the steps of an import: source -> probe ->
 * load -> finish -> profile.
 *
 * A format is one descriptor, `const FlamImporter flam_import_x` or `const
 * FlamExporter flam_export_x`, in a file that is listed in the meson.build of
 * its folder: ./make-rows finds it there. The help, the man page, the README
 * and the desktop's MIME types follow from the descriptors;
 * tests/house/check-formats rewrites them. */

#include "flam-core-picture.h"
#include "flam-load.h"
#include "flam-part.h"
#include "flam-share.h"
#include "flam-sink.h"

/* A NULL-terminated list of texts, for an initializer. */
#define FLAM_LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The head of a format's files; parts that are not given may be anything. */
typedef struct
{
  const char *magic; /* FLAM_MAGIC(): the first bytes */
  guint magic_size;
  guint least;              /* the minimum size of a file */
  char first;               /* the first character other than white space */
  const char *const *words; /* FLAM_LIST(): all of them must occur */
  guint head;               /* within that many bytes */
  const char *const
      *members; /* JSON members, wherever they are (flam-members.h) */
  guint score;  /* as probe() returns it */
} FlamSign;

/* All words occur within the first `head` bytes; `first` 0: anything. */
#define FLAM_HEAD(score_, first_, head_, ...)                                  \
  {                                                                            \
    .score = score_, .first = first_, .head = head_,                           \
    .words = FLAM_LIST (__VA_ARGS__)                                           \
  }
/* JSON with all these members. */
#define FLAM_MEMBERS(score_, ...)                                              \
  {                                                                            \
    .score = score_, .members = FLAM_LIST (__VA_ARGS__)                        \
  }
/* For a literal, which may contain NUL characters. */
#define FLAM_MAGIC(text) .magic = (text), .magic_size = sizeof (text) - 1
#define FLAM_SIGNS(...) ((const FlamSign[]){ __VA_ARGS__, { .score = 0 } })

/* Bytes at a place near the beginning of a file. */
typedef struct
{
  guint offset;
  const char *bytes; /* may contain NUL characters */
  guint size;
} FlamMagic;

#define FLAM_BYTES(offset_, text)                                              \
  {                                                                            \
    (offset_), (text), sizeof (text) - 1                                       \
  }
#define FLAM_MAGICS(...) ((const FlamMagic[]){ __VA_ARGS__, { .size = 0 } })

/* A MIME type that is the format's own: Flambeau describes it to the desktop,
 * and is offered for files of that type. */
typedef struct
{
  const char *type;         /* "application/x-perf-data"; NULL: none */
  const char *name;         /* "Linux perf capture", for file managers */
  const char *const *globs; /* names that no other program's files have:
                             * FLAM_LIST ("*.perf.data"), or NULL */
  const FlamMagic *magics;  /* FLAM_MAGICS(): in addition to the signs' */
} FlamMime;

typedef struct
{
  const char *id;              /* "perf-data"; the folder in tests/captures */
  const char *label;           /* "Linux perf" */
  const char *written_by;      /* "perf record"; for the help, in English */
  const char *const *suffixes; /* FLAM_LIST ("perf.data") */
  FlamMime mime;
  /* General types that its files may also have. */
  const char *const *mime_types;
  const FlamSign *signs; /* FLAM_SIGNS(): one of them suffices */
  /* For formats that signs cannot describe. 0: another format; 100: certain
   * (magic). May take up to about 10 ms. */
  guint (*probe) (const FlamSource *source);
  /* Reads everything into the caller's builder. TRUE also for a truncated file
   * with some data: flam_load_partial() marks it. */
  gboolean (*load) (FlamLoad *load, GError **error);
  gconstpointer form; /* load->form: distinguishes formats with one load() */
  /* It reads forward and calls flam_source_more(), so that it can begin before
   * the whole file is unpacked. */
  gboolean streams;
  /* The beginning of a file is a smaller capture, so it can be shown while the
   * rest is read (flam-begun.h). All formats that stream are of this kind. */
  gboolean grows;
  /* A capture is a folder: FLAM_LIST(), where the file is in it that is probed
   * and loaded, and leads to the others; a "*" is any folder. NULL: it is a
   * file. */
  const char *const *folder;
  /* It reads files beside the capture (programs, for example), so that the same
   * bytes may give another profile tomorrow. */
  gboolean base_lines;
} FlamImporter;

/* The data that a document can contain beside stacks of names and the weights
 * of one measure. */
typedef enum
{
  FLAM_HOLDS_THREADS = 1 << 0,
  FLAM_HOLDS_PROCESSES = 1 << 1,
  FLAM_HOLDS_ORDER = 1 << 2, /* order in time */
  FLAM_HOLDS_TIMES = 1 << 3, /* times */
  FLAM_HOLDS_STATES = 1 << 4,
  FLAM_HOLDS_MEASURES = 1 << 5, /* all measures */
  FLAM_HOLDS_FILES = 1 << 6,
  FLAM_HOLDS_LINES = 1 << 7,
  FLAM_HOLDS_INLINES = 1 << 8, /* marks inlined frames */
  FLAM_HOLDS_MODULES = 1 << 9,
  FLAM_HOLDS_KINDS = 1 << 10,  /* of code: kernel, JIT, ... */
  FLAM_HOLDS_BLOCKS = 1 << 11, /* blocks of memory, one by one */
  FLAM_HOLDS_MARKS = 1 << 12,
  FLAM_HOLDS_COUNTERS = 1 << 13,
  FLAM_HOLDS_LABELS = 1 << 14,    /* of samples */
  FLAM_HOLDS_FRACTIONS = 1 << 15, /* of what is counted */
  FLAM_HOLDS_STATUS = 1 << 16,    /* of frames: FlamStatus */
  FLAM_HOLDS_JUMPS = 1 << 17,
  FLAM_HOLDS_ALL = (1 << 18) - 1, /* of a selection that may lack all of it */
  FLAM_HOLDS_BEFORE = 1 << 18,    /* of a difference: previous values */
  FLAM_HOLDS_COMPILED = 1 << 19,  /* of kinds of code: only kernel and JIT */
} FlamHolds;

/* Prefixes of folded stacks. */
typedef enum
{
  FLAM_ROOT_NONE,
  FLAM_ROOT_COMM, /* "name" of the thread, as by stackcollapse-perf.pl */
  FLAM_ROOT_PID,  /* "name-PID" */
  FLAM_ROOT_TID,  /* "name-PID/TID" */
} FlamFoldedRoot;

typedef struct
{
  FlamPictureStyle look; /* has the title that every document has */
  gboolean annotate;     /* folded: suffixes of names, such as "_[k]" */
  FlamFoldedRoot root;
  FlamShare share; /* parts of a capture that is to be shared */
  /* For servers; pprof and otlp: */
  gboolean common_names;     /* of measures, as other profilers call them */
  const char *const *labels; /* of the whole: key, value, ..., NULL; or NULL */
  gint64 start_unix_ns;      /* of a capture without a start */
} FlamExportOptions;

/* One document: its content, its options and its destination. */
typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamExportOptions *options;
  FlamSink *out;
  gconstpointer form; /* memory of the exporter */
  FlamPart *part;     /* or NULL; only for exporters that take one */
  FlamArena kept;
} FlamExport;

/* The content: a tree, or the samples in their order. */
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
  guint look;      /* FlamPictureStylePart: the supported parts of the look */
  guint holds;     /* FlamHolds */
  /* The parts that it cannot hold of this profile; NULL: none. */
  guint (*lacks) (const FlamProfile *profile);
  FlamPuts puts;
  /* Writes the document of the selection. Parts of the selection that it does
   * not support are errors. */
  gboolean (*save) (FlamExport *export, GError **error);
  gconstpointer form; /* export->form: distinguishes formats with one save() */
} FlamExporter;

gboolean flam_exporter_save (const FlamExporter *exporter,
                             const FlamProfile *profile,
                             const FlamSelection *selection,
                             const FlamExportOptions *options,
                             FlamSink *out,
                             GError **error);

/* "threads, lines": parts of the profile that the document lacks; NULL:
 * none. */
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

/* The file to open for a path: that of a capture that is a folder, or the path
 * itself; g_free. */
char *flam_formats_find_file (const char *path);
/* Reads the profile at a path without the cache. `options` may be NULL. */
FlamProfile *flam_formats_load (const char *path,
                                const FlamLoadOptions *options,
                                GError **error);
FlamProfile *flam_formats_load_source (FlamSource *source,
                                       const FlamLoadOptions *options,
                                       GError **error);
/* Calls the importer's load() and frees the load's memory. `options` is not
 * NULL. */
gboolean flam_importer_load (const FlamImporter *importer,
                             const FlamSource *source,
                             FlamBuilder *builder,
                             const FlamLoadOptions *options,
                             GError **error);
/* Gives the beginnings of a large file to options->take_begun(). Errors are
 * left to the load of the whole. */
void flam_formats_load_begun (const FlamImporter *importer,
                              const FlamSource *source,
                              const FlamLoadOptions *options);
/* With one importer, regardless of the probes: for tests and fuzzers. */
FlamProfile *flam_formats_load_with (const FlamImporter *importer,
                                     FlamSource *source,
                                     const FlamLoadOptions *options,
                                     GError **error);

#endif
