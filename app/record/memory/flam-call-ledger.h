/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_LEDGER_H
#define FLAM_CALL_LEDGER_H

/* The ledger of what the system calls of recorded processes obtain and give
 * back, as rows of the capture: mapped memory, or descriptors and threads.
 *
 *   events in order ──▶ FlamCallLedger ──▶ FlamAllocHeaps ──▶ BLOCKS, RELEASES
 *                         the heap's end,
 *                         reserved addresses
 *
 * Memory counts from when it can be used: addresses that are only reserved
 * (PROT_NONE), as by Go, Java and malloc's arenas, do not count. What a child
 * inherits, mapped or open, belongs to its parent. */

#include "flam-calls.h"

typedef struct _FlamCallLedger FlamCallLedger;
/* The memory and the descriptors of a process. */
typedef struct _FlamCallSpace FlamCallSpace;

/* `what`: FLAM_RECORD_FAULTS or FLAM_RECORD_RESOURCES. */
FlamCallLedger *flam_call_ledger_new (FlamBuilder *builder,
                                      FlamRecordWhat what);
void flam_call_ledger_free (FlamCallLedger *ledger);

/* `parent`: the process that it is a fork of, or NULL. */
FlamCallSpace *flam_call_ledger_add_space (FlamCallLedger *ledger,
                                           const FlamCallSpace *parent);
/* Memory and descriptors that it still has were never given back. */
void flam_call_ledger_end_space (FlamCallLedger *ledger, FlamCallSpace *space);
/* At an exec: the memory has ended, the descriptors have not. */
void flam_call_ledger_exec (FlamCallLedger *ledger, FlamCallSpace *space);
/* The state of a running process, by a text like /proc/PID/maps. */
void flam_call_space_read (FlamCallSpace *space, const char *maps);

/* Events come in the order of their times. `stack`: of the call. */
void flam_call_ledger_take (FlamCallLedger *ledger,
                            FlamCallSpace *space,
                            FlamThreadId thread,
                            gint64 time,
                            const FlamCallEvent *event,
                            FlamStackId stack);
/* Also called when nothing happens, so that rows are written. */
void flam_call_ledger_advance (FlamCallLedger *ledger, gint64 time);
void flam_call_ledger_finish (FlamCallLedger *ledger, gint64 time);

#endif
