/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jfr-stacks.h"

#include "flam-load.h"

#include <string.h>

/* The kinds of frames that are distinguished. */
enum
{
  JAVA,
  INLINED,
  NATIVE,
  KERNEL,
};

/* The constant, and its content; NULL: it does not exist. */
static FlamJfrConstant *
read_constant (FlamJfrStacks *stacks,
               FlamJfrPoolKind pool,
               guint64 key,
               FlamJfrObject *object)
{
  FlamJfrConstant *constant = flam_jfr_find (stacks->chunk, pool, key);

  if (constant != NULL &&
      !flam_jfr_read_constant (stacks->chunk, pool, constant, object))
    return NULL;
  return constant;
}

static char *
symbol_text (FlamJfrStacks *stacks, guint64 key)
{
  FlamJfrObject object;

  return read_constant (stacks, FLAM_JFR_SYMBOLS, key, &object) != NULL
             ? flam_jfr_text (stacks->chunk, object.value[FLAM_JFR_STRING])
             : NULL;
}

/* "java/lang/String", "[B"; NULL: none. */
static char *
class_text (FlamJfrStacks *stacks, guint64 key)
{
  FlamJfrObject object;

  return read_constant (stacks, FLAM_JFR_CLASSES, key, &object) != NULL
             ? symbol_text (stacks, object.value[FLAM_JFR_NAME])
             : NULL;
}

/* --- functions ----------------------------------------------------------- */

/* "com/shop/Cart$Item" -> "com/shop/Cart.java" */
static FlamId
source_file (FlamJfrStacks *stacks, const char *class)
{
  const char *name = strrchr (class, '/') != NULL ? strrchr (class, '/') : "";
  gsize length = strlen (class);
  const char *dollar = strchr (*name != '\0' ? name + 2 : class, '$');
  g_autofree char *file = NULL;

  if (strchr (class, '.') != NULL || *class == '[' || *class == '\0' ||
      (*name != '\0' && name[1] == '\0'))
    return 0; /* generated at run time */
  if (dollar != NULL)
    length = dollar - class;
  file = g_strdup_printf ("%.*s.java", (int)MIN (length, 4096), class);
  return flam_builder_string (stacks->builder, file, -1);
}

static void
name_native (FlamJfrStacks *stacks,
             FlamFunction *function,
             const char *class,
             const char *name,
             guint way)
{
  function->kind = way == KERNEL ? FLAM_KIND_KERNEL : FLAM_KIND_NATIVE;
  function->name = flam_builder_string (stacks->builder, name, -1);
  if (class == NULL || *class == '\0')
    return;
  function->module =
      flam_builder_module (stacks->builder, class, "", FLAM_ADDRESS_ABSOLUTE);
  flam_builder_set_module_symbols (
      stacks->builder, function->module, FLAM_SYMBOLS_CAPTURE, NULL);
}

static void
name_java (FlamJfrStacks *stacks,
           FlamFunction *function,
           const char *class,
           const char *name)
{
  g_autofree char *full = g_strconcat (class, ".", name, NULL);

  for (char *p = full; *p != '\0' && (gsize)(p - full) < strlen (class); p++)
    if (*p == '/')
      *p = '.';
  function->kind = FLAM_KIND_JIT;
  function->name = flam_builder_string (stacks->builder, full, -1);
  function->file = source_file (stacks, class);
}

static FlamFunctionId
make_function (FlamJfrStacks *stacks, const FlamJfrObject *method, guint way)
{
  FlamFunction function = { .module = FLAM_NONE };
  g_autofree char *class = class_text (stacks, method->value[FLAM_JFR_TYPE]);
  g_autofree char *name = symbol_text (stacks, method->value[FLAM_JFR_NAME]);
  g_autofree char *descriptor =
      symbol_text (stacks, method->value[FLAM_JFR_DESCRIPTOR]);

  if (name == NULL || *name == '\0')
    return flam_builder_function_unresolved (stacks->builder, FLAM_NONE);
  if (class == NULL || *class == '\0' || g_strcmp0 (descriptor, "()L;") == 0)
    name_native (stacks, &function, class, name, way);
  else
    name_java (stacks, &function, class, name);
  return flam_builder_function (stacks->builder, &function);
}

static FlamFunctionId
find_function (FlamJfrStacks *stacks, guint64 key, guint way)
{
  FlamJfrObject object;
  FlamJfrConstant *method =
      flam_jfr_find (stacks->chunk, FLAM_JFR_METHODS, key);

  if (method != NULL && method->known)
    return method->made;
  if (method == NULL || !flam_jfr_read_constant (
                            stacks->chunk, FLAM_JFR_METHODS, method, &object))
    return flam_builder_function_unresolved (stacks->builder, FLAM_NONE);
  method->made = make_function (stacks, &object, way);
  method->known = TRUE;
  return method->made;
}

/* --- stacks -------------------------------------------------------------- */

static guint
find_way (FlamJfrStacks *stacks, guint64 key)
{
  static const struct
  {
    const char *text;
    guint way;
  } ways[] = {
    { "Inlined", INLINED },
    { "Native", NATIVE },
    { "C++", NATIVE },
    { "Kernel", KERNEL },
  };
  FlamJfrObject object;
  FlamJfrConstant *type =
      flam_jfr_find (stacks->chunk, FLAM_JFR_FRAME_TYPES, key);
  g_autofree char *text = NULL;

  if (type == NULL || type->known)
    return type != NULL ? type->made : JAVA;
  type->known = TRUE;
  type->made = JAVA;
  if (flam_jfr_read_constant (
          stacks->chunk, FLAM_JFR_FRAME_TYPES, type, &object))
    text = flam_jfr_text (stacks->chunk, object.value[FLAM_JFR_DESCRIPTION]);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    if (g_strcmp0 (text, ways[i].text) == 0)
      type->made = ways[i].way;
  return type->made;
}

static FlamFrameId
make_frame (FlamJfrStacks *stacks, const FlamJfrObject *frame)
{
  guint way = find_way (stacks, frame->value[FLAM_JFR_TYPE]);
  gint32 line = (gint32)frame->value[FLAM_JFR_LINE];

  return flam_builder_frame (
      stacks->builder,
      find_function (stacks, frame->value[FLAM_JFR_METHOD], way),
      0,
      MAX (line, 0),
      way == INLINED);
}

/* The file has the frames leaf first. */
static FlamStackId
make_stack (FlamJfrStacks *stacks, const FlamJfrObject *object)
{
  g_autoptr (GArray) frames = g_array_new (FALSE, FALSE, sizeof (FlamId));
  const FlamJfrClass *class;
  const guint8 *at;
  guint32 n = flam_jfr_frames (
      stacks->chunk, object->value[FLAM_JFR_FRAMES], &at, &class);

  for (; n > 0; n--)
    {
      FlamJfrObject frame;
      FlamId id;

      if (!flam_jfr_read_object (
              stacks->chunk, class, &at, stacks->chunk->end, &frame))
        break;
      id = make_frame (stacks, &frame);
      g_array_append_val (frames, id);
    }
  return flam_load_stack (stacks->builder, frames);
}

FlamStackId
flam_jfr_stack (FlamJfrStacks *stacks, guint64 key, gboolean *truncated)
{
  FlamJfrConstant *stack = flam_jfr_find (stacks->chunk, FLAM_JFR_STACKS, key);
  FlamJfrObject object;

  if (stack == NULL)
    return FLAM_NONE;
  if (!stack->known &&
      flam_jfr_read_constant (stacks->chunk, FLAM_JFR_STACKS, stack, &object))
    {
      stack->truncated = object.value[FLAM_JFR_TRUNCATED] != 0;
      stack->made = make_stack (stacks, &object);
    }
  stack->known = TRUE;
  *truncated = stack->truncated;
  return stack->made;
}

/* "[[Ljava/lang/String;" -> "java.lang.String[][]", "[B" -> "byte[]" */
static char *
type_name (const char *class)
{
  static const char *const letters[] = {
    "Bbyte", "Cchar", "Ddouble", "Ffloat", "Iint", "Jlong", "Sshort", "Zboolean"
  };
  GString *text = g_string_new (NULL);
  guint arrays = 0;

  for (; *class == '['; class ++)
    arrays++;
  if (arrays > 0 && *class == 'L')
    g_string_append_len (text, class + 1, MAX (strlen (class), 2) - 2);
  else if (arrays > 0)
    for (guint i = 0; i < G_N_ELEMENTS (letters); i++)
      g_string_append (text, *class == letters[i][0] ? letters[i] + 1 : "");
  else
    g_string_append (text, class);
  for (char *p = text->str; *p != '\0'; p++)
    if (*p == '/')
      *p = '.';
  for (; arrays > 0; arrays--)
    g_string_append (text, "[]");
  return g_string_free (text, FALSE);
}

FlamId
flam_jfr_push_class (FlamJfrStacks *stacks, FlamStackId stack, guint64 key)
{
  FlamJfrConstant *class = flam_jfr_find (stacks->chunk, FLAM_JFR_CLASSES, key);

  if (class == NULL)
    return stack;
  if (!class->known)
    {
      g_autofree char *text = class_text (stacks, key);
      g_autofree char *name = type_name (text != NULL ? text : "");

      class->known = TRUE;
      if (*name != '\0')
        class->made =
            flam_load_frame (stacks->builder, name, -1, FLAM_KIND_ROOT);
    }
  return class->made != FLAM_NONE
             ? flam_builder_stack (stacks->builder, stack, class->made)
             : stack;
}

/* --- threads ------------------------------------------------------------- */

/* Virtual threads have no number of the system. */
static FlamThreadId
make_thread (FlamJfrStacks *stacks, const FlamJfrObject *object)
{
  gint64 tid = (gint64)object->value[FLAM_JFR_OS_ID];
  gint64 java = (gint64)object->value[FLAM_JFR_JAVA_ID];
  gboolean has_tid = tid > 0 && tid <= G_MAXINT32;
  FlamThreadId thread = flam_builder_thread (stacks->builder,
                                             stacks->process,
                                             has_tid ? (gint32)tid : -1,
                                             has_tid ? 0 : (guint)java);
  g_autofree char *name =
      flam_jfr_text (stacks->chunk, object->value[FLAM_JFR_JAVA_NAME]);

  if (name == NULL || *name == '\0')
    {
      g_free (name);
      name = flam_jfr_text (stacks->chunk, object->value[FLAM_JFR_OS_NAME]);
    }
  if (name != NULL && *name != '\0')
    flam_builder_set_thread_name (stacks->builder, thread, name);
  return thread;
}

FlamThreadId
flam_jfr_thread (FlamJfrStacks *stacks, guint64 key)
{
  FlamJfrConstant *thread =
      flam_jfr_find (stacks->chunk, FLAM_JFR_THREADS, key);
  FlamJfrObject object = { 0 };

  if (thread != NULL && thread->known)
    return thread->made;
  if (thread == NULL || !flam_jfr_read_constant (
                            stacks->chunk, FLAM_JFR_THREADS, thread, &object))
    return flam_builder_thread (stacks->builder, stacks->process, -1, 0);
  thread->made = make_thread (stacks, &object);
  thread->known = TRUE;
  return thread->made;
}

FlamState
flam_jfr_state (FlamJfrStacks *stacks, guint64 key)
{
  static const struct
  {
    const char *begins;
    FlamState state;
  } waits[] = {
    { "STATE_SLEEPING", FLAM_STATE_SLEEP },
    { "STATE_IN_OBJECT_WAIT", FLAM_STATE_SLEEP },
    { "STATE_PARKED", FLAM_STATE_BLOCKED },
    { "STATE_BLOCKED", FLAM_STATE_LOCK },
  };
  FlamJfrConstant *state = flam_jfr_find (stacks->chunk, FLAM_JFR_STATES, key);
  FlamJfrObject object;
  g_autofree char *name = NULL;

  if (state == NULL)
    return FLAM_STATE_RUNNING;
  if (state->known)
    return state->made;
  if (flam_jfr_read_constant (stacks->chunk, FLAM_JFR_STATES, state, &object))
    name = flam_jfr_text (stacks->chunk, object.value[FLAM_JFR_NAME]);
  state->known = TRUE;
  state->made = FLAM_STATE_RUNNING;
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (waits); i++)
    if (g_str_has_prefix (name, waits[i].begins))
      state->made = waits[i].state;
  return state->made;
}
