/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_MAPS_H
#define FLAM_PERF_MAPS_H

/* The executable mappings of a process, by the kernel's records of them: they
 * are those of the moment of a sample, even if the process has ended since. A
 * mapping that is removed has no record; it is replaced by what is mapped in
 * its place. */

#include "flam-perf-rings.h"

typedef struct _FlamPerfMaps FlamPerfMaps;

FlamPerfMaps *flam_perf_maps_new (void);
void flam_perf_maps_free (FlamPerfMaps *maps);
/* For the child of a fork. */
FlamPerfMaps *flam_perf_maps_copy (const FlamPerfMaps *maps);
/* At an exec. */
void flam_perf_maps_clear (FlamPerfMaps *maps);
/* Takes the mappings of a text like /proc/PID/maps. */
void flam_perf_maps_set (FlamPerfMaps *maps, const char *text);
/* A record of kind MAPPED. */
void flam_perf_maps_add (FlamPerfMaps *maps, const FlamPerfRecord *record);
/* As in /proc/PID/maps; g_free. */
char *flam_perf_maps_text (const FlamPerfMaps *maps);

#endif
