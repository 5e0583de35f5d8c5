/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_LAYOUT_H
#define FLAM_V8_LAYOUT_H

/* The layout of V8's objects and frames, as in the builds of V8 in node.
 *
 * V8 exports most of it for debuggers: one int each, named v8dbg_*
 * (tools/gen-postmortem-metadata.py). The script that makes them lost some with
 * every change of V8's classes; those are derived from the others by rules that
 * hold for a range of versions. A build is accepted if all values were found
 * and it is of a version whose frames were compared with Error.stack: 7.8 to
 * 14.6, that is node 12.16 to 26.
 *
 * Sources: V8's tools/gen-postmortem-metadata.py, include/v8-internal.h,
 * src/execution/frame-constants.h, src/objects/ of these versions (*.tq,
 * code.h, js-function.tq, shared-function-info.tq, scope-info.tq,
 * deoptimization-data.h). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAM_V8_VERSION(major, minor, build)                                   \
  ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(build))

#define FLAM_V8_NO_KIND 255

/* Offsets in bytes from the start of an object or from the frame pointer;
 * `type_` are instance types; `deopt_` and `scope_` count words. */
typedef struct
{
  uint32_t version;
  uint16_t first_nonstring;
  uint16_t type_function_first, type_function_last;
  uint16_t type_shared;
  uint16_t type_scope_info;
  uint16_t type_script;
  uint16_t type_code;
  uint16_t type_bytecode;
  uint16_t type_fixed_array;
  uint16_t type_context_first, type_context_last;
  int16_t frame_function;
  int16_t frame_bytecode;
  int16_t frame_bytecode_offset;
  uint16_t function_shared;
  uint16_t function_code;
  bool function_has_handle; /* an index into the dispatch table, not a Code */
  uint16_t shared_data;
  uint16_t shared_name; /* or scope info */
  uint16_t shared_script;
  uint16_t code_deopt; /* baseline: its bytecode */
  uint16_t code_positions;
  uint16_t code_start;
  bool code_start_inside; /* the code itself, not its address */
  uint16_t code_size;
  uint16_t code_flags;
  uint32_t code_kind_mask;
  uint8_t code_kind_shift;
  uint8_t code_kind_baseline; /* or FLAM_V8_NO_KIND */
  bool positions_have_flags;  /* in their tables: flam-v8-tables.h */
  uint16_t bytecode_positions;
  uint16_t bytecode_data;
  uint8_t deopt_n_inlined;
  uint8_t deopt_literals;
  uint8_t deopt_shared;
  bool deopt_shared_wrapped; /* in an object of its own */
  uint8_t deopt_inlining;
  uint8_t scope_data; /* of the first word */
  uint8_t scope_n_locals;
  uint8_t scope_locals;
  uint8_t scope_start;     /* 0: behind the names */
  bool scope_has_table;    /* of the names of many variables */
  bool scope_has_flags;    /* of the form that has remained since 8.7 */
  bool scope_has_receiver; /* perhaps a number for the variable `this` */
  uint16_t type_regexp;    /* 0: unknown */
  uint16_t regexp_source;
  uint16_t script_source;
  uint16_t script_name;
  uint16_t script_line_offset;
  uint16_t script_line_ends;
} FlamV8Layout;

/* The value of "v8dbg_" + name. False: there is none. */
typedef bool (*FlamV8Find) (void *data, const char *name, int32_t *value);

/* NULL, or a static message why the frames of this build cannot be read. */
const char *flam_v8_layout_init (FlamV8Layout *layout,
                                 uint32_t version,
                                 FlamV8Find find,
                                 void *data);

#endif
