/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8-layout.h"

#include <stdarg.h>

/* Marks a text for translation (flam-types.h); there is no GLib here. */
#define N_(String) (String)

#define LOWEST FLAM_V8_VERSION (7, 8, 0)
#define BEYOND FLAM_V8_VERSION (14, 7, 0)

typedef struct
{
  FlamV8Find find;
  void *data;
} Values;

/* The first of these values that exists; their list ends with NULL; `otherwise`
 * if none does. */
static int32_t
get (const Values *values, int32_t otherwise, ...)
{
  const char *name;
  int32_t value = otherwise;
  va_list names;

  va_start (names, otherwise);
  while ((name = va_arg (names, const char *)) != NULL)
    if (values->find (values->data, name, &value))
      break;
  va_end (names);
  return value;
}

/* Classes have been derived from JSFunction since 9.0. */
static uint16_t
n_function_types (uint32_t version)
{
  if (version >= FLAM_V8_VERSION (9, 6, 138))
    return 15;
  return version >= FLAM_V8_VERSION (9, 0, 14) ? 14 : 1;
}

static void
init_types (FlamV8Layout *layout, const Values *values)
{
  layout->first_nonstring = get (values, 0, "FirstNonstringType", NULL);
  layout->type_function_first = get (values,
                                     0,
                                     "FirstJSFunctionType",
                                     "type_JSFunction__JS_FUNCTION_TYPE",
                                     NULL);
  layout->type_function_last =
      get (values,
           layout->type_function_first + n_function_types (layout->version) - 1,
           "LastJSFunctionType",
           NULL);
  layout->type_context_first = get (values, 0, "FirstContextType", NULL);
  layout->type_context_last = get (values, 0, "LastContextType", NULL);
  layout->type_shared = get (
      values, 0, "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", NULL);
  layout->type_scope_info =
      get (values, 0, "type_ScopeInfo__SCOPE_INFO_TYPE", NULL);
  layout->type_script = get (values, 0, "type_Script__SCRIPT_TYPE", NULL);
  layout->type_code = get (values, 0, "type_Code__CODE_TYPE", NULL);
  layout->type_bytecode =
      get (values, 0, "type_BytecodeArray__BYTECODE_ARRAY_TYPE", NULL);
  layout->type_fixed_array =
      get (values, 0, "type_FixedArray__FIXED_ARRAY_TYPE", NULL);
}

static void
init_frame (FlamV8Layout *layout, const Values *values)
{
  layout->frame_function = get (values, 0, "off_fp_function", NULL);
  /* From 8.7.198 on, the number of arguments lies between. */
  layout->frame_bytecode =
      get (values,
           layout->frame_function -
               (layout->version >= FLAM_V8_VERSION (8, 7, 198) ? 16 : 8),
           "off_fp_bytecode_array",
           NULL);
  layout->frame_bytecode_offset =
      get (values, layout->frame_bytecode - 8, "off_fp_bytecode_offset", NULL);
}

static void
init_function (FlamV8Layout *layout, const Values *values)
{
  uint32_t version = layout->version;

  layout->function_shared =
      get (values, 0, "class_JSFunction__shared__SharedFunctionInfo", NULL);
  layout->function_has_handle = version >= FLAM_V8_VERSION (13, 2, 0);
  layout->function_code =
      get (values,
           layout->function_shared +
               (version >= FLAM_V8_VERSION (11, 7, 368) ? -8 : 24),
           "class_JSFunction__code__Tagged_Code_",
           "class_JSFunction__code__CodeT",
           "class_JSFunction__raw_code__CodeT",
           "class_JSFunction__code__Code",
           NULL);
  layout->shared_data =
      get (values, 8, "class_SharedFunctionInfo__function_data__Object", NULL);
  layout->shared_name =
      get (values,
           0,
           "class_SharedFunctionInfo__name_or_scope_info__Object",
           "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
           "class_SharedFunctionInfo__name_or_scope_info__"
           "Tagged_NameOrScopeInfoT_",
           NULL);
  layout->shared_script =
      get (values,
           0,
           "class_SharedFunctionInfo__script_or_debug_info__Object",
           "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
           "class_SharedFunctionInfo__script__Tagged_HeapObject_",
           NULL);
  layout->script_source = get (values, 8, "class_Script__source__Object", NULL);
  layout->script_name = get (values, 0, "class_Script__name__Object", NULL);
  layout->script_line_offset = get (
      values, layout->script_name + 8, "class_Script__line_offset__SMI", NULL);
  layout->script_line_ends =
      get (values, 0, "class_Script__line_ends__Object", NULL);
}

static void
init_code (FlamV8Layout *layout, const Values *values)
{
  uint32_t version = layout->version;
  bool renewed = version >= FLAM_V8_VERSION (12, 0, 0);

  layout->code_deopt = renewed ? 8 : 16;
  layout->code_positions = renewed ? 16 : 24;
  layout->code_start_inside = version < FLAM_V8_VERSION (11, 0, 0);
  layout->code_start = get (values,
                            layout->code_start_inside ? 0 : 40,
                            "class_Code__instruction_start__Address",
                            "class_Code__instruction_start__uintptr_t",
                            NULL);
  layout->code_size =
      get (values, 56, "class_Code__instruction_size__int", NULL);
  layout->code_flags = get (values, 48, "class_Code__flags__uint32_t", NULL);
  /* The kinds of the versions before are shifted, and none of them is
   * baseline code. */
  layout->code_kind_mask = get (values, 15, "CodeKindFieldMask", NULL);
  layout->code_kind_shift = get (values, 0, "CodeKindFieldShift", NULL);
  layout->code_kind_baseline =
      get (values,
           version >= FLAM_V8_VERSION (9, 0, 240) ? 11 : FLAM_V8_NO_KIND,
           "CodeKindBaseline",
           NULL);
  layout->positions_have_flags = version >= FLAM_V8_VERSION (14, 0, 0);
  layout->bytecode_positions =
      get (values,
           renewed ? 24 : 32,
           "class_BytecodeArray__source_position_table__Object",
           NULL);
  layout->bytecode_data =
      get (values, 54, "class_BytecodeArray__data__uintptr_t", NULL);
  layout->deopt_n_inlined =
      get (values, 1, "DeoptimizationDataInlinedFunctionCountIndex", NULL);
  layout->deopt_literals =
      get (values, 2, "DeoptimizationDataLiteralArrayIndex", NULL);
  layout->deopt_shared_wrapped =
      values->find (values->data,
                    "DeoptimizationDataWrappedSharedFunctionInfoIndex",
                    &(int32_t){ 0 });
  layout->deopt_shared =
      get (values,
           6,
           "DeoptimizationDataWrappedSharedFunctionInfoIndex",
           "DeoptimizationDataSharedFunctionInfoIndex",
           NULL);
  layout->deopt_inlining = get (values,
                                layout->deopt_shared + 1,
                                "DeoptimizationDataInliningPositionsIndex",
                                NULL);
}

static void
init_scope (FlamV8Layout *layout, const Values *values)
{
  uint32_t version = layout->version;

  layout->scope_data = version >= FLAM_V8_VERSION (9, 1, 71) ? 8 : 16;
  layout->scope_n_locals =
      get (values, 0, "scopeinfo_idx_ncontextlocals", NULL);
  layout->scope_locals = get (values, 0, "scopeinfo_idx_first_vars", NULL);
  layout->scope_start = version >= FLAM_V8_VERSION (12, 8, 44) ? 3 : 0;
  layout->scope_has_flags = version >= FLAM_V8_VERSION (8, 7, 0);
  layout->scope_has_receiver =
      layout->scope_has_flags && version < FLAM_V8_VERSION (10, 2, 0);
  layout->scope_has_table = version >= FLAM_V8_VERSION (10, 0, 0);
}

static void
init_regexp (FlamV8Layout *layout, const Values *values)
{
  layout->type_regexp = get (values,
                             0,
                             "type_JSRegExp__JS_REG_EXP_TYPE",
                             "type_JSRegExp__JS_REGEXP_TYPE",
                             NULL);
  layout->regexp_source =
      get (values, 0, "class_JSRegExp__source__Object", NULL);
  if (layout->regexp_source < 8 || layout->regexp_source > 56)
    layout->type_regexp = 0;
}

/* Whether the part of an object that is read at once suffices. */
static bool
is_sane (const FlamV8Layout *layout)
{
  const uint16_t words[] = {
    layout->function_shared,    layout->function_code, layout->shared_data,
    layout->shared_name,        layout->shared_script, layout->code_deopt,
    layout->code_positions,     layout->code_flags,    layout->code_size,
    layout->script_line_ends,   layout->script_source, layout->script_name,
    layout->script_line_offset,
  };
  const uint16_t types[] = {
    layout->first_nonstring,    layout->type_function_first,
    layout->type_function_last, layout->type_shared,
    layout->type_scope_info,    layout->type_script,
    layout->type_code,          layout->type_bytecode,
    layout->type_context_first, layout->type_context_last,
    layout->type_fixed_array,   layout->scope_n_locals,
    layout->scope_locals,
  };

  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (words[i] == 0 || words[i] > 56)
      return false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i] == 0)
      return false;
  return (layout->code_start_inside ? layout->code_start > 0
                                    : layout->code_start <= 64) &&
         layout->frame_function == -16 && layout->frame_bytecode % 8 == 0 &&
         layout->frame_bytecode < layout->frame_function &&
         layout->frame_bytecode_offset < layout->frame_bytecode &&
         layout->frame_bytecode_offset >= -64 &&
         layout->frame_bytecode_offset % 8 == 0 &&
         layout->bytecode_positions <= 56 && layout->bytecode_data <= 128 &&
         layout->code_kind_shift < 32 && layout->deopt_inlining < 64 &&
         layout->deopt_shared < layout->deopt_inlining &&
         layout->deopt_literals < layout->deopt_inlining &&
         layout->deopt_n_inlined < layout->deopt_inlining;
}

const char *
flam_v8_layout_init (FlamV8Layout *layout,
                     uint32_t version,
                     FlamV8Find find,
                     void *data)
{
  const Values values = { find, data };

  *layout = (FlamV8Layout){ .version = version };
  if (get (&values, 8, "TaggedSize", NULL) != 8 ||
      get (&values, 31, "SmiShiftSize", NULL) != 31)
    return N_ ("it compresses pointers, as Chrome and Electron do");
  if (version < LOWEST || version >= BEYOND)
    return N_ ("this version of V8 is not supported: 7.8 to 14.6 are, that is "
               "node 12.16 to 26");
  init_types (layout, &values);
  init_frame (layout, &values);
  init_function (layout, &values);
  init_code (layout, &values);
  init_scope (layout, &values);
  init_regexp (layout, &values);
  return is_sane (layout)
             ? NULL
             : N_ ("it does not describe the layout of its objects");
}
