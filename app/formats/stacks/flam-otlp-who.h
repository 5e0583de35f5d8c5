/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_OTLP_WHO_H
#define FLAM_OTLP_WHO_H

/* Processes and threads of OpenTelemetry's samples: a resource is a process; a
 * sample's attributes thread.id and thread.name identify its thread. Its other
 * attributes, those of its resource, and the trace that it belongs to are
 * labels. */

#include "flam-otlp.h"
#include "flam-text.h"

typedef struct
{
  FlamOtlp *otlp;
  guint visit;             /* of resources: the context of `lists` */
  FlamProcessId process;   /* of the resource */
  GArray *common;          /* FlamOtlpAttribute: labels of all its samples */
  GHashTable *generations; /* of processes without a number: name -> */
  FlamPieces lists;        /* attributes, as in the file -> row of `known` */
  GArray *known;           /* flam-otlp-who.c's */

  /* of the sample */
  FlamOtlpPiece list; /* of attributes, as in the file; NULL: several */
  GArray *rows;       /* guint64: of them */
  guint64 link;       /* 0: none */
} FlamOtlpWho;

void flam_otlp_who_init (FlamOtlpWho *who, FlamOtlp *otlp);
/* From here on, samples belong to this resource. */
void flam_otlp_who_resource (FlamOtlpWho *who, FlamProto resource);

/* A sample begins; then its field of attributes (there may be several), and
 * `link`. */
void flam_otlp_who_begin (FlamOtlpWho *who);
void flam_otlp_who_attributes (FlamOtlpWho *who, FlamProto *field);
/* Sets the sample's thread and labels. */
void flam_otlp_who (FlamOtlpWho *who, FlamSample *sample);

#endif
