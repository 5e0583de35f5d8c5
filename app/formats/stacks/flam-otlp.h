/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_OTLP_H
#define FLAM_OTLP_H

/* The parts of OpenTelemetry's profiles that their samples need: the documents
 * of a file (flam-otlp-documents.c, which also converts JSON) and their
 * dictionaries, converted to frames (flam-otlp-code.c).
 *
 *    ProfilesData       1 resource profiles, 2 dictionary
 *    ResourceProfiles   1 resource (1 attributes), 2 scope profiles
 *    ScopeProfiles      2 profiles
 *    Profile            1 sample type, 2 samples; others: FlamOtlpNumbers
 *    ValueType          1 type, 2 unit                               (strings)
 *
 *    Dictionary         1 mappings, 2 locations, 3 functions, 4 links,
 *                       5 strings, 6 attributes, 7 stacks
 *    Mapping            1 start, 2 limit, 3 file offset, 4 path, 5 attributes
 *    Location           1 mapping, 2 address, 3 lines, 4 attributes (1.7: 5)
 *    Line               1 function, 2 line
 *    Function           1 name, 2 system name, 3 file, 4 first line
 *    Link               1 trace, 2 span
 *    Attribute          1 key, 2 value, 3 unit; in resources, and up to 1.7,
 *                       the key is the text itself
 *    Value              1 text, 2 boolean, 3 integer, 4 double, 7 bytes,
 *                       8 text (string)
 *    Stack              1 locations, leaf first
 *
 * All references are rows of the dictionary's tables. The messages have had
 * several layouts, and do not record which one they use: see find_layout().
 * Earlier ones than 1.7, of which no release was used for long, have no
 * dictionary. Source of facts: open-telemetry/opentelemetry-proto, the tags of
 * profiles.proto. */

#include "flam-load.h"
#include "flam-proto.h"

typedef struct
{
  const guint8 *bytes;
  gsize length;
} FlamOtlpPiece;

/* Numbers of fields; 0: not in this layout. */
typedef struct
{
  struct
  {
    guint locations; /* a list that the samples are slices of */
    guint time, duration, period_type, period;
  } profile;
  struct
  {
    guint stack, first, n; /* or a slice of the profile's list */
    guint values, attributes, link, times;
  } sample;
} FlamOtlpNumbers;

/* A ProfilesData; a file may have several, one after the other. */
typedef struct
{
  FlamOtlpPiece data;
  const FlamOtlpNumbers *numbers;
} FlamOtlpDocument;

/* Whether it is JSON. A message may begin like it: its first field with a line
 * feed, and the length of that, if it is 123, with a brace. */
gboolean flam_otlp_is_json (const FlamSource *source);
/* Appends the file's FlamOtlpDocuments; JSON documents are converted, and kept
 * with the load. FALSE with an error if there is none. */
gboolean
flam_otlp_documents (FlamLoad *load, GArray *documents, GError **error);

/* Appends the times of a sample's field to guint64s: up to 1.7 they are
 * varints. */
void flam_otlp_times (const FlamOtlpNumbers *numbers,
                      FlamProto *field,
                      GArray *times);

typedef struct
{
  guint first, n; /* of its chain in `frames`, caller first */
} FlamOtlpLocation;

typedef struct
{
  FlamLoad *load;
  GArray *strings, *attributes, *links; /* FlamOtlpPiece */
  GArray *raw_mappings, *raw_locations, *raw_functions, *raw_stacks;
  GArray *modules;   /* flam-otlp-code.c's */
  GArray *locations; /* FlamOtlpLocation */
  GArray *frames;    /* FlamId */
  GArray *stacks;    /* FlamId + 1; 0: not converted yet */
  GArray *numbers;   /* scratch: guint64 */
  guint64 left;      /* the number of further frames that the stacks may have */
  guint64 unknown;   /* references to rows that are not in the file */
} FlamOtlp;

void flam_otlp_init (FlamOtlp *otlp, FlamLoad *load);
/* Reads the tables of a document, unconverted. */
void flam_otlp_read_tables (FlamOtlp *otlp, const FlamOtlpDocument *document);
/* A row of one of the tables; an empty message if there is no such row. */
FlamProto flam_otlp_row (const GArray *table, guint64 row);
/* Then: adds names, modules, and the frames of each location. */
void flam_otlp_make_frames (FlamOtlp *otlp);
/* Of the table of stacks; FLAM_NONE: an empty one. */
FlamStackId flam_otlp_stack (FlamOtlp *otlp, guint64 row);
/* Of the locations (guint64) from `first` on, leaf first. */
FlamId flam_otlp_stack_of (FlamOtlp *otlp,
                           const GArray *locations,
                           guint64 first,
                           guint64 n);
/* A string; g_free. */
char *flam_otlp_text (const FlamOtlp *otlp, guint64 string);
/* Bytes of the current field as digits; g_free. */
char *flam_otlp_hexadecimal (const FlamProto *field);

typedef struct
{
  char *key;
  char *text; /* NULL: a number, or a value of another kind */
  gint64 number;
  gboolean is_number;
  char *unit; /* of a number: "" if it has none */
} FlamOtlpAttribute;

void flam_otlp_attribute_clear (FlamOtlpAttribute *attribute);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamOtlpAttribute, flam_otlp_attribute_clear)

void flam_otlp_read_attribute (const FlamOtlp *otlp,
                               FlamProto message,
                               FlamOtlpAttribute *attribute);

#endif
