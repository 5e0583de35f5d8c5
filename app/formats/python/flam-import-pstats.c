/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-bytes.h"
#include "flam-call-graph.h"
#include "flam-formats.h"
#include "flam-python.h"

#include <math.h>
#include <string.h>

/* The output of Python's cProfile and profile: the dictionary of pstats, in
 * marshal's format.
 *
 *    { (file, line, name): (cc, nc, tt, ct, { (file, line, name): CALLER }) }
 *
 *    cc, nc  calls that were not recursive, all calls
 *    tt, ct  seconds, without and with its callees
 *    CALLER  (nc, cc, tt, ct) of the calls from there; the module profile
 *            writes their number alone. All are 0 where a call did not return
 *            to its caller: from 3.12 on cProfile sees all threads, but has
 *            one stack for them
 *
 * Code that is not Python's has the file "~". An object of marshal is a byte of
 * type, whose top bit is set if the object gets the next number, and its data:
 *
 *    '{' key value … '0'      ')' u8 n, n objects     '(' i32 n, n objects
 *    'z' 'Z' u8 n, bytes      'a' 'A' 'u' 't' 's' i32 n, bytes
 *    'i' i32    'I' i64    'l' i32 n digits of 15 bits    'g' double
 *    'f' u8 n, text           'r' i32 number of an object
 *    'R' i32 number of a 't': Python 2
 *
 * Callers and callees are known, but no stacks: see flam-call-graph.h. Source
 * of facts: Python's Lib/pstats.py, Lib/cProfile.py, Python/marshal.c. */

#define MAX_SECONDS 1e9
/* Even: the last pass fits the calls to a function. */
#define FITS 40

typedef struct
{
  enum
  {
    NOTHING,
    TEXT,
    NUMBER,
    LABEL, /* of a function: three objects */
    TIMES, /* four numbers, or five objects, four of which are these */
  } type;
  FlamStringId text;
  guint32 function;
  double numbers[4];
} Object;

typedef struct
{
  FlamFrameId frame;
  double below; /* seconds in its callees */
  double whole;
  double sum;
  guint open; /* calls to it */
} Function;

typedef struct
{
  guint32 caller, callee;
  double cost;   /* seconds */
  gboolean open; /* it did not return to its caller */
} Call;

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  FlamCallGraph *graph;
  GHashTable *by_frame; /* frame -> function + 1 */
  GArray *functions;    /* Function */
  GArray *calls;        /* Call */
  gboolean counted;     /* some calls have no times */
  GArray *objects;      /* Object: the ones with a number */
  GArray *texts;        /* FlamId: the texts that 'R' refers to */
  const guint8 *at, *end;
  const guint8 *bad; /* the first invalid byte */
  gboolean cut;
} Reader;

static guint
probe (const FlamSource *source)
{
  const guint8 *data = source->data;
  guint at = 1;

  if (source->size < 8 || (data[0] & 0x7f) != '{')
    return 0;
  if ((data[at] & 0x7f) == ')' && data[at + 1] == 3)
    at += 2;
  else if ((data[at] & 0x7f) == '(' && memcmp (data + at + 1, "\3\0\0", 4) == 0)
    at += 5;
  else
    return 0;
  return strchr ("zZaAuts", data[at] & 0x7f) != NULL ? 95 : 0;
}

/* --- objects ------------------------------------------------------------- */

static gboolean
fail (Reader *reader, gboolean cut)
{
  if (reader->bad == NULL)
    {
      reader->bad = reader->at;
      reader->cut = cut;
    }
  return FALSE;
}

static gboolean
has (Reader *reader, gsize size)
{
  return (gsize)(reader->end - reader->at) >= size || fail (reader, TRUE);
}

static guint64
take (Reader *reader, guint size)
{
  guint64 value = flam_bytes_get (reader->at, size);

  reader->at += size;
  return value;
}

static gboolean
read_text (Reader *reader, char type, Object *object)
{
  guint width = type == 'z' || type == 'Z' ? 1 : 4;
  guint32 length;

  if (!has (reader, width))
    return FALSE;
  length = take (reader, width);
  if (!has (reader, length))
    return FALSE;
  object->type = TEXT;
  object->text =
      flam_builder_string (reader->builder, (const char *)reader->at, length);
  reader->at += length;
  if (type == 't')
    g_array_append_val (reader->texts, object->text);
  return TRUE;
}

static gboolean
read_long (Reader *reader, Object *object)
{
  gint32 n;

  if (!has (reader, 4))
    return FALSE;
  n = (gint32)take (reader, 4);
  if (n == G_MININT32 || !has (reader, 2 * (gsize)ABS (n)))
    return fail (reader, FALSE);
  for (gint32 i = 0; i < ABS (n); i++)
    object->numbers[0] += ldexp (take (reader, 2), MIN (15 * i, 2000));
  if (n < 0)
    object->numbers[0] = -object->numbers[0];
  return TRUE;
}

static gboolean
read_decimal (Reader *reader, Object *object)
{
  char text[256];
  guint8 length;

  if (!has (reader, 1))
    return FALSE;
  length = take (reader, 1);
  if (!has (reader, length))
    return FALSE;
  memcpy (text, reader->at, length);
  text[length] = '\0';
  reader->at += length;
  object->numbers[0] = g_ascii_strtod (text, NULL);
  return TRUE;
}

static gboolean
read_number (Reader *reader, char type, Object *object)
{
  guint64 bits;

  object->type = NUMBER;
  if (type == 'l')
    return read_long (reader, object);
  if (type == 'f')
    return read_decimal (reader, object);
  if (!has (reader, type == 'i' ? 4 : 8))
    return FALSE;
  bits = take (reader, type == 'i' ? 4 : 8);
  if (type == 'g')
    memcpy (object->numbers, &bits, sizeof bits);
  else
    object->numbers[0] =
        type == 'i' ? (double)(gint32)bits : (double)(gint64)bits;
  return TRUE;
}

static gboolean
read_reference (Reader *reader, char type, Object *object)
{
  guint32 number;

  if (!has (reader, 4))
    return FALSE;
  number = take (reader, 4);
  if (type == 'R' && number < reader->texts->len)
    {
      object->type = TEXT;
      object->text = g_array_index (reader->texts, FlamId, number);
      return TRUE;
    }
  if (type == 'r' && number < reader->objects->len)
    {
      *object = g_array_index (reader->objects, Object, number);
      return TRUE;
    }
  return fail (reader, FALSE);
}

/* Reads the type of the next object, and the number it gets or FLAM_NONE. */
static gboolean
read_type (Reader *reader, char *type, guint *number)
{
  Object nothing = { .type = NOTHING };

  if (!has (reader, 1))
    return FALSE;
  *type = *reader->at & 0x7f;
  *number = FLAM_NONE;
  if (*reader->at++ & 0x80)
    {
      *number = reader->objects->len;
      g_array_append_val (reader->objects, nothing);
    }
  return TRUE;
}

static void
keep (Reader *reader, guint number, const Object *object)
{
  if (number != FLAM_NONE)
    g_array_index (reader->objects, Object, number) = *object;
}

/* A text or a number, or a reference to an earlier object. */
static gboolean
read_simple (Reader *reader, char type, guint number, Object *object)
{
  gboolean good;

  *object = (Object){ .type = NOTHING };
  if (type != '\0' && strchr ("zZaAuts", type) != NULL)
    good = read_text (reader, type, object);
  else if (type != '\0' && strchr ("iIlgf", type) != NULL)
    good = read_number (reader, type, object);
  else if (type == 'r' || type == 'R')
    good = read_reference (reader, type, object);
  else
    {
      reader->at--;
      good = fail (reader, FALSE);
    }
  keep (reader, number, object);
  return good;
}

static gboolean
read_item (Reader *reader, Object *object)
{
  char type;
  guint number;

  return read_type (reader, &type, &number) &&
         read_simple (reader, type, number, object);
}

/* After the type of a tuple: the number of its objects. */
static gboolean
read_count (Reader *reader, char type, guint32 *n)
{
  guint width = type == ')' ? 1 : 4;

  if (type != ')' && type != '(')
    {
      reader->at--;
      return fail (reader, FALSE);
    }
  if (!has (reader, width))
    return FALSE;
  *n = take (reader, width);
  return TRUE;
}

/* --- functions ----------------------------------------------------------- */

static guint32
find_function (Reader *reader,
               FlamStringId file,
               double line,
               FlamStringId name)
{
  const char *path = flam_builder_get_string (reader->builder, file);
  gboolean native = *path == '\0' || strcmp (path, "~") == 0;
  FlamFunction code = {
    .name = name,
    .file = native ? 0 : file,
    .module = FLAM_NONE,
    .line = line > 0 && line < G_MAXINT32 ? line : 0,
    .kind = native ? FLAM_KIND_NATIVE : FLAM_KIND_INTERPRETED,
    .flags = native ? FLAM_FUNCTION_PLAIN : flam_python_flags (path),
  };
  FlamFrameId frame = flam_builder_frame_of (reader->builder, &code, 0, 0, 0);
  Function function = { .frame = frame };
  guint32 row = GPOINTER_TO_UINT (g_hash_table_lookup (
                    reader->by_frame, GUINT_TO_POINTER (frame))) -
                1;

  if (row != FLAM_NONE)
    return row;
  row = flam_call_graph_add_function (
      reader->graph, flam_builder_lone_thread (reader->builder), frame);
  g_array_append_val (reader->functions, function);
  g_hash_table_insert (
      reader->by_frame, GUINT_TO_POINTER (frame), GUINT_TO_POINTER (row + 1));
  return row;
}

/* (file, line, name); its type byte is read. */
static gboolean
read_label (Reader *reader, char type, guint number, guint32 *function)
{
  Object label = { .type = LABEL }, file, line, name;
  guint32 n;

  if (type == 'r')
    {
      if (!read_simple (reader, type, number, &label))
        return FALSE;
      *function = label.function;
      return label.type == LABEL || fail (reader, FALSE);
    }
  if (!read_count (reader, type, &n))
    return FALSE;
  if (n != 3 || !read_item (reader, &file) || !read_item (reader, &line) ||
      !read_item (reader, &name) || file.type != TEXT || line.type != NUMBER ||
      name.type != TEXT)
    return fail (reader, FALSE);
  label.function =
      find_function (reader, file.text, line.numbers[0], name.text);
  keep (reader, number, &label);
  *function = label.function;
  return TRUE;
}

static gint64
to_ns (double seconds)
{
  return seconds > 0 ? (gint64)(MIN (seconds, MAX_SECONDS) * 1e9 + 0.5) : 0;
}

static gint64
to_calls (double calls)
{
  return calls > 0 ? (gint64)MIN (calls, 1e15) : 0;
}

static gboolean
read_numbers (Reader *reader, double numbers[4])
{
  for (guint i = 0; i < 4; i++)
    {
      Object item;
      if (!read_item (reader, &item))
        return FALSE;
      if (item.type != NUMBER)
        return fail (reader, FALSE);
      numbers[i] = item.numbers[0];
    }
  return TRUE;
}

/* The cost of the calls from one function; without times, a share of all. */
static gboolean
read_caller (Reader *reader, double each, Call *call)
{
  Object object = { .type = TIMES };
  char type;
  guint number;
  guint32 n;

  if (!read_type (reader, &type, &number))
    return FALSE;
  if (type == '(' || type == ')')
    {
      if (!read_count (reader, type, &n))
        return FALSE;
      if (n != 4 || !read_numbers (reader, object.numbers))
        return fail (reader, FALSE);
      keep (reader, number, &object);
    }
  else if (!read_simple (reader, type, number, &object))
    return FALSE;
  if (object.type != TIMES && object.type != NUMBER)
    return fail (reader, FALSE);
  call->cost =
      object.type == TIMES ? object.numbers[3] : object.numbers[0] * each;
  call->cost = CLAMP (call->cost, 0, MAX_SECONDS);
  call->open =
      object.type == TIMES && object.numbers[0] == 0 && object.numbers[1] == 0;
  reader->counted |= object.type == NUMBER;
  g_array_append_val (reader->calls, *call);
  return TRUE;
}

static gboolean
read_callers (Reader *reader, guint32 callee, double each)
{
  Call call = { .callee = callee };
  char type;
  guint number;

  if (!read_type (reader, &type, &number))
    return FALSE;
  if (type != '{')
    return fail (reader, FALSE);
  while (read_type (reader, &type, &number) && type != '0')
    if (!read_label (reader, type, number, &call.caller) ||
        !read_caller (reader, each, &call))
      return FALSE;
  return reader->bad == NULL;
}

/* The type byte of its label is read. */
static gboolean
read_function (Reader *reader, char type, guint number)
{
  guint32 row, n;
  double numbers[4];
  gint64 costs[2];
  Function *function;

  if (!read_label (reader, type, number, &row) ||
      !read_type (reader, &type, &number) || !read_count (reader, type, &n))
    return FALSE;
  if (n != 5 || !read_numbers (reader, numbers))
    return fail (reader, FALSE);
  costs[0] = to_ns (numbers[2]);
  costs[1] = to_calls (numbers[1]);
  function = &g_array_index (reader->functions, Function, row);
  function->whole = CLAMP (numbers[3], 0, MAX_SECONDS);
  function->below = CLAMP (numbers[3] - numbers[2], 0, MAX_SECONDS);
  flam_call_graph_add_cost (reader->graph, row, function->frame, costs);
  return read_callers (
      reader, row, numbers[1] > 0 ? function->whole / numbers[1] : 0);
}

/* --- calls without times ------------------------------------------------- */

/* Scales the calls of each function, or to it, so that their sum is right. */
static void
fit_calls (Reader *reader, gboolean to)
{
  for (guint i = 0; i < reader->functions->len; i++)
    g_array_index (reader->functions, Function, i).sum = 0;
  for (guint turn = 0; turn < 2; turn++)
    for (guint i = 0; i < reader->calls->len; i++)
      {
        Call *call = &g_array_index (reader->calls, Call, i);
        Function *f = &g_array_index (
            reader->functions, Function, to ? call->callee : call->caller);

        if (call->caller == call->callee)
          continue;
        if (turn == 0)
          f->sum += call->cost;
        else if (f->sum > 0)
          call->cost *= (to ? f->whole : f->below) / f->sum;
      }
}

/* A function's cost beyond the calls that returned belongs to those that did
 * not. */
static void
weigh_open_calls (Reader *reader)
{
  guint64 open = 0;

  for (guint turn = 0; turn < 2; turn++)
    for (guint i = 0; i < reader->calls->len; i++)
      {
        Call *call = &g_array_index (reader->calls, Call, i);
        Function *f =
            &g_array_index (reader->functions, Function, call->callee);

        if (turn == 1 && call->open)
          call->cost = MAX (f->whole - f->sum, 0) / f->open;
        else if (turn == 0 && call->caller != call->callee)
          f->sum += call->cost;
        f->open += turn == 0 && call->open;
        open += turn == 0 && call->open;
      }
  flam_builder_warn_count (reader->builder,
                           open,
                           "%" PRIu64 " call did not return to its caller: "
                           "callers may have more than is shown",
                           "%" PRIu64 " calls did not return to their callers: "
                           "callers may have more than is shown");
}

/* The number of calls is a poor estimate of their cost. The sums at both ends
 * are known: the calls from a function cost the time that it spent in its
 * callees, and likewise for the calls to it. So both are fitted in turn. */
static void
add_calls (Reader *reader)
{
  weigh_open_calls (reader);
  for (guint i = 0; reader->counted && i < FITS; i++)
    fit_calls (reader, i % 2 == 1);
  for (guint i = 0; i < reader->calls->len; i++)
    {
      const Call *call = &g_array_index (reader->calls, Call, i);
      flam_call_graph_add_call (reader->graph,
                                call->caller,
                                call->callee,
                                FLAM_NONE,
                                to_ns (call->cost));
    }
}

/* --- the importer -------------------------------------------------------- */

static gboolean
read_all (Reader *reader, GError **error)
{
  guint64 functions = 0;
  char type;
  guint number;

  reader->at = reader->load->source->data;
  reader->end = reader->at + reader->load->source->size;
  read_type (reader, &type, &number);
  while (read_type (reader, &type, &number) && type != '0')
    {
      if (!read_function (reader, type, number))
        break;
      if (++functions % 1024 == 0 &&
          !flam_load_step (reader->load, reader->at, error))
        return FALSE;
    }
  if (reader->bad == NULL)
    return TRUE;
  if (functions > 0 && reader->cut)
    {
      flam_load_partial (
          reader->load,
          NULL,
          N_ ("the file was cut off: the part before the break is shown"));
      return TRUE;
    }
  return flam_source_error (
      reader->load->source,
      error,
      reader->cut ? FLAM_ERROR_TRUNCATED : FLAM_ERROR_INVALID,
      reader->bad - reader->load->source->data,
      reader->cut ? N_ ("the file was cut off")
                  : N_ ("not in the format of Python's profilers"));
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .load = load,
                    .builder = load->builder,
                    .by_frame = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
                    .functions = flam_arena_array (load, Function),
                    .calls = flam_arena_array (load, Call),
                    .objects = flam_arena_array (load, Object),
                    .texts = flam_arena_array (load, FlamId) };

  flam_load_measures (
      load->builder, FLAM_STANDARD_WALL_TIME, FLAM_STANDARD_CALLS);
  reader.graph = flam_call_graph_new (load, 2);
  if (!read_all (&reader, error))
    return FALSE;
  add_calls (&reader);
  return flam_call_graph_finish (reader.graph, error);
}

const FlamImporter flam_import_pstats = {
  .id = "pstats",
  .label = "Python cProfile",
  .written_by = "python -m cProfile -o FILE",
  .suffixes = FLAM_LIST (".prof", ".pstats", ".cprof"),
  .mime_types = FLAM_LIST ("application/octet-stream"),
  .probe = probe,
  .load = load,
};
