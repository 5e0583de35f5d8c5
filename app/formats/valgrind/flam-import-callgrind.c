/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-graph.h"
#include "flam-formats.h"
#include "flam-pprof.h"
#include "flam-text.h"

/* callgrind's and cachegrind's files, and those of other tools with that
 * format:
 *
 *    # callgrind format
 *    cmd: ./program
 *    positions: instr line               what precedes the costs
 *    events: Ir Dr                       what the costs are of
 *    ob=(1) /lib/libc.so.6               object, file and function of what
 *    fl=(2) main.c                       follows; "(2)" alone repeats it
 *    fn=(3) main
 *    10 100 5                            line, costs; +3, -3 or * for lines
 *    fi=(4) inlined.h                    from another file; fe= back
 *    +2 30
 *    cob=(1) cfi=(2) cfn=(5) work        of the function that is called:
 *    calls=12 20                         how often (a measure), where it begins
 *    11 4000                             the call's line, inclusive costs
 *    jfi=(4) jfn=(5) work2              of another function jumped into:
 *    jump=7 30                          how often, where to; or how often of
 *    12                                 all executions, jcnd=6/7 30; the line
 *                                       that jumps
 *    summary: 4130 5
 *    totals: 4130 5
 *
 *    part: 2                             another dump of the same program,
 *    thread: 1                           with the costs since the last one;
 *    positions: …                        valgrind's number of the thread
 *    events: …
 *
 * Any of these lines may give a number its name, for the parts that follow,
 * too. The costs of the parts are added up: a part spans basic blocks, and the
 * file has no clock.
 *
 * With "instr", lines of costs have an address before the line, or in place of
 * it: an instruction each. Costs may be fewer than events; the others are 0.
 * Source of facts: valgrind's manual, "Callgrind Format Specification";
 * callgrind/dump.c (addresses are those of the object's file, and the target of
 * a call or a jump does not move the position); cg_annotate. */

#define MAX_EVENTS 32
#define MAX_FACTOR 1000000 /* of a unit, as in "10ns" */
/* A bit beside the number of a line. */
#define ADDRESS (G_GUINT64_CONSTANT (1) << 63)

typedef struct
{
  guint64 a, b;
} Pair;

/* Pairs of numbers, each in one row. */
typedef struct
{
  FlamColumn rows; /* Pair */
  FlamInterner index;
  FlamId last; /* found */
} Pairs;

typedef struct
{
  gint64 taken;
  gint64 reached; /* -1: it is not conditional */
} Jump;

typedef struct
{
  FlamText text;
  FlamLoad *load;
  FlamBuilder *builder;
  FlamCallGraph *graph;
  FlamThreadId thread;       /* of this part; FLAM_NONE: none is named yet */
  gint32 pid;                /* or -1 */
  GPtrArray *events;         /* names */
  guint columns[MAX_EVENTS]; /* of this part's costs, in `events`; MAX_EVENTS:
                                not in them */
  guint n_columns;
  gint64 scales[MAX_EVENTS + 1]; /* of their units; 1 for counts */
  FlamAddressing addressing;
  gboolean has_addresses, has_lines; /* of this part's positions */
  gint64 address, line;              /* the current position */
  Pairs numbers;    /* a numbered name: its space, the number */
  FlamColumn names; /* FlamId: of these names; FLAM_NONE */
  Pairs functions;  /* object << 32 | file, thread << 32 | name: in the call
                       graph's rows */
  Pairs places;     /* object << 32 | file, name */
  FlamColumn code;  /* FlamId: the builder's functions of these names */
  Pairs lines;      /* with costs, in the call graph's rows of costs:
                       function << 32 | file, address or line */
  Pairs jumps;      /* frame << 32 | frame, whether it is conditional */
  FlamColumn jump_counts; /* Jump: of these */
  FlamId object;
  FlamStringId file;
  FlamId inlined;
  FlamStringId name;
  FlamId called_object, called_file, called_name;
  guint32 function;
  gboolean has_function;
  gboolean is_call;   /* the next line of costs is of a call */
  gint64 calls;       /* how many, in that case */
  gboolean has_calls; /* any were made */
  gboolean is_jump;   /* the next line is the source of a jump: no costs */
  Jump jump;          /* it */
  FlamFrameId jump_to;
  FlamStringId jump_file, jump_name; /* of its target; FLAM_NONE: as here */
  const guint8 *left; /* names are copied, and the text before is left */
  const char *sum;    /* the beginning of the line that ends a part, or NULL */
  gboolean open;      /* that line is missing */
} Reader;

enum
{
  OBJECTS,
  FILES,
  FUNCTIONS,
};

static guint
probe (const FlamSource *source)
{
  FlamText head = flam_text_head (source);
  gsize size = head.end - head.start;

  if (size > 18 && memcmp (head.start, "# callgrind format", 18) == 0)
    return 95;
  if ((memmem (head.start, size, "\nevents: ", 9) == NULL &&
       !(size > 8 && memcmp (head.start, "events: ", 8) == 0)) ||
      !flam_text_is_text (&head))
    return 0;
  return memmem (head.start, size, "\nfn=", 4) != NULL ||
                 memmem (head.start, size, "\npositions: ", 12) != NULL
             ? 80
             : 0;
}

/* --- rows ----------------------------------------------------------------- */

static void
keep_pairs (FlamLoad *load, Pairs *pairs)
{
  flam_arena_column (load, &pairs->rows, Pair);
  flam_arena_interner (load, &pairs->index);
}

static inline gboolean
pair_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Pair *x = (const Pair *)table + row, *y = key;

  return x->a == y->a && x->b == y->b;
}

/* The row of the pair; `*is_new`: this call added it. Most lines have the same
 * place as the previous one, and if a function occurs several times in the
 * file, its lines usually have the same order as before. */
static FlamId
find_pair (Pairs *pairs, guint64 a, guint64 b, gboolean *is_new)
{
  Pair pair = { a, b };
  guint32 hash;
  FlamSlot *slot;

  *is_new = FALSE;
  for (FlamId row = pairs->last; row < pairs->rows.n && row <= pairs->last + 1;
       row++)
    if (pair_equal (pairs->rows.data, row, &pair))
      return pairs->last = row;
  hash = flam_hash_pair (a, b);
  slot = flam_interner_find (
      &pairs->index, hash, pair_equal, pairs->rows.data, &pair);
  *is_new = slot->id == FLAM_NONE;
  if (*is_new)
    {
      *slot = (FlamSlot){ hash, pairs->rows.n };
      pairs->index.used++;
      flam_column_append (&pairs->rows, Pair, pair);
    }
  return pairs->last = slot->id;
}

/* --- names --------------------------------------------------------------- */

/* "(3) main", "(3)" or "main"; "(below main)" is a name. */
static FlamId
read_name (Reader *reader, guint space, const char *text, const char *end)
{
  const char *p = text + 1;
  gboolean is_new;
  gint64 number;
  FlamId row;
  FlamStringId *name;

  if (text == end || *text != '(' || !flam_text_number (&p, end, &number) ||
      p == end || *p != ')')
    return flam_builder_string (reader->builder, text, end - text);
  row = find_pair (&reader->numbers, space, number, &is_new);
  if (is_new)
    flam_column_append (&reader->names, FlamId, FLAM_NONE);
  name = &flam_column_at (&reader->names, FlamId, row);
  for (p++; p < end && *p == ' '; p++)
    ;
  if (p < end)
    *name = flam_builder_string (reader->builder, p, end - p);
  return *name != FLAM_NONE ? *name : 0;
}

static gboolean
is_unknown (const char *name)
{
  return *name == '\0' || strcmp (name, "???") == 0;
}

static FlamFunctionId
make_function (Reader *reader,
               FlamId object,
               FlamStringId file,
               FlamStringId name)
{
  const char *path = flam_builder_get_string (reader->builder, object);
  FlamFunction function = { .name = name,
                            .module = FLAM_NONE,
                            .kind = FLAM_KIND_NATIVE };

  if (!is_unknown (path))
    {
      function.module =
          flam_builder_module (reader->builder, path, "", reader->addressing);
      flam_builder_set_module_symbols (
          reader->builder, function.module, FLAM_SYMBOLS_CAPTURE, NULL);
    }
  if (!is_unknown (flam_builder_get_string (reader->builder, file)))
    function.file = file;
  if (is_unknown (flam_builder_get_string (reader->builder, name)))
    return flam_builder_function_unresolved (reader->builder, function.module);
  return flam_builder_function (reader->builder, &function);
}

static FlamId
find_code (Reader *reader, FlamId object, FlamStringId file, FlamStringId name)
{
  gboolean is_new;
  FlamId row =
      find_pair (&reader->places, (guint64)object << 32 | file, name, &is_new);

  if (is_new)
    flam_column_append (
        &reader->code, FlamId, make_function (reader, object, file, name));
  return flam_column_at (&reader->code, FlamId, row);
}

static FlamThreadId
get_thread (Reader *reader)
{
  if (reader->thread == FLAM_NONE)
    reader->thread = flam_builder_lone_thread (reader->builder);
  return reader->thread;
}

/* A function is identified by its name, file and object: static functions in
 * several files may share a name. */
static guint32
find_function (Reader *reader,
               FlamId object,
               FlamStringId file,
               FlamStringId name)
{
  FlamThreadId thread = get_thread (reader);
  gboolean is_new;
  guint32 row = find_pair (&reader->functions,
                           (guint64)object << 32 | file,
                           (guint64)thread << 32 | name,
                           &is_new);

  if (is_new)
    flam_call_graph_add_function (
        reader->graph,
        thread,
        flam_builder_frame (
            reader->builder, find_code (reader, object, file, name), 0, 0, 0));
  return row;
}

/* A line of a file, with an address if the part has them. */
typedef struct
{
  FlamStringId file;
  gint64 address, line; /* 0: unknown */
} Place;

/* Of a function, `code` in the builder. Code inlined into it from another file
 * has lines there, but belongs to this function. */
static FlamFrameId
make_frame (Reader *reader, FlamId code, const Place *place)
{
  const char *path = flam_builder_get_string (reader->builder, place->file);

  return flam_builder_frame_in (reader->builder,
                                code,
                                (guint64)MAX (place->address, 0),
                                is_unknown (path) ? 0 : place->file,
                                (guint32)CLAMP (place->line, 0, G_MAXINT32),
                                0);
}

/* A function's row of costs in the call graph. An address has one line. */
static guint32
find_line (Reader *reader, guint32 function, FlamId code, const Place *place)
{
  gboolean is_new;
  FlamId row = find_pair (&reader->lines,
                          (guint64)function << 32 | place->file,
                          place->address > 0
                              ? (guint64)place->address | ADDRESS
                              : (guint64)CLAMP (place->line, 0, G_MAXINT32),
                          &is_new);

  if (is_new)
    flam_call_graph_new_cost (
        reader->graph, function, make_frame (reader, code, place), FALSE);
  return row;
}

static FlamId
current_code (Reader *reader)
{
  return find_code (reader, reader->object, reader->file, reader->name);
}

static Place
current_place (const Reader *reader)
{
  return (Place){ reader->inlined, reader->address, reader->line };
}

/* --- lines --------------------------------------------------------------- */

/* "12" or "0x12" */
static gboolean
read_number (const char **p, const char *end, gint64 *value)
{
  guint64 hex;

  if (end - *p <= 2 || (*p)[0] != '0' || (*p)[1] != 'x')
    return flam_text_number (p, end, value);
  *p += 2;
  if (!flam_text_hex (p, end, &hex))
    return FALSE;
  *value = hex & G_MAXINT64;
  return TRUE;
}

/* "+3", "-3", "*", or a number */
static gboolean
read_position (const char **p, const char *end, gint64 *position)
{
  char sign = **p;
  gint64 value;

  if (sign == '*')
    {
      ++*p;
      return TRUE;
    }
  if (sign == '+' || sign == '-')
    ++*p;
  if (!read_number (p, end, &value))
    return FALSE;
  if (sign == '+' || sign == '-')
    return !__builtin_add_overflow (
        *position, sign == '+' ? value : -value, position);
  *position = value;
  return TRUE;
}

static void
skip_spaces (const char **p, const char *end)
{
  while (*p < end && flam_text_is_space (**p))
    ++*p;
}

/* The costs of a call repeat those of its callee's lines and serve only to
 * divide them, and to attribute them to the caller's lines; the number of calls
 * is a cost of the callee. */
static void
add_call (Reader *reader, gint64 cost)
{
  gint64 costs[MAX_EVENTS + 1] = { 0 };
  const Place called = { .file = reader->called_file };
  const Place here = current_place (reader);
  guint32 callee = find_function (
      reader, reader->called_object, reader->called_file, reader->called_name);

  flam_call_graph_add_call (reader->graph,
                            reader->function,
                            callee,
                            make_frame (reader, current_code (reader), &here),
                            cost);
  costs[reader->events->len] = reader->calls;
  flam_call_graph_add_to_cost (reader->graph,
                               find_line (reader,
                                          callee,
                                          find_code (reader,
                                                     reader->called_object,
                                                     reader->called_file,
                                                     reader->called_name),
                                          &called),
                               costs);
  reader->has_calls |= reader->calls > 0;
  reader->is_call = FALSE;
  reader->called_object = reader->object;
  reader->called_file = reader->inlined;
}

/* The address, the line, or both; relative to the given ones. */
static gboolean
read_positions (const Reader *reader,
                const char **p,
                const char *end,
                gint64 *address,
                gint64 *line)
{
  skip_spaces (p, end);
  if (reader->has_addresses && (*p == end || !read_position (p, end, address)))
    return FALSE;
  skip_spaces (p, end);
  return !reader->has_lines || (*p < end && read_position (p, end, line));
}

/* To the builder, with their sums, when all are read. */
static void
add_jump (Reader *reader)
{
  FlamFrameId to = reader->jump_to;
  gboolean is_new;
  Place here = current_place (reader);
  FlamFrameId from;
  FlamId row;
  Jump *jump;

  reader->jump_to = FLAM_NONE;
  if (to == FLAM_NONE || !reader->has_function)
    return;
  from = make_frame (reader, current_code (reader), &here);
  row = find_pair (&reader->jumps,
                   (guint64)from << 32 | to,
                   reader->jump.reached >= 0,
                   &is_new);
  if (is_new)
    flam_column_append (&reader->jump_counts, Jump, reader->jump);
  else
    {
      jump = &flam_column_at (&reader->jump_counts, Jump, row);
      jump->taken =
          flam_builder_limit (reader->builder,
                              (__int128)jump->taken + reader->jump.taken,
                              0,
                              G_MAXINT64,
                              NULL);
      if (jump->reached >= 0)
        jump->reached =
            flam_builder_limit (reader->builder,
                                (__int128)jump->reached + reader->jump.reached,
                                0,
                                G_MAXINT64,
                                NULL);
    }
}

static void
drop_pairs (Pairs *pairs)
{
  flam_column_clear (&pairs->rows);
  flam_interner_clear (&pairs->index);
}

/* Drops what only the reading needs: the stacks take its place. */
static void
put_jumps (Reader *reader)
{
  for (gsize i = 0; i < reader->jumps.rows.n; i++)
    {
      guint64 frames = flam_column_at (&reader->jumps.rows, Pair, i).a;
      const Jump *jump = &flam_column_at (&reader->jump_counts, Jump, i);

      flam_builder_add_jump (reader->builder,
                             (FlamFrameId)(frames >> 32),
                             (FlamFrameId)frames,
                             jump->taken,
                             jump->reached);
    }
  drop_pairs (&reader->jumps);
  drop_pairs (&reader->lines);
}

static gboolean
read_costs (Reader *reader, const char *p, const char *end)
{
  gint64 costs[MAX_EVENTS + 1] = { 0 };
  Place here;

  if (!read_positions (reader, &p, end, &reader->address, &reader->line))
    return FALSE;
  for (guint i = 0; i < reader->n_columns; i++)
    {
      guint event = reader->columns[i];
      gint64 *cost = &costs[event];

      skip_spaces (&p, end);
      if (p < end &&
          (!read_number (&p, end, cost) ||
           __builtin_mul_overflow (*cost, reader->scales[event], cost)))
        return FALSE;
    }
  skip_spaces (&p, end);
  if (p < end && !flam_text_is_digit (*p)) /* it was not a number */
    return FALSE;
  if (reader->is_jump)
    {
      reader->is_jump = FALSE;
      add_jump (reader);
      return TRUE;
    }
  if (!reader->has_function)
    return FALSE;
  if (reader->is_call)
    {
      add_call (reader, costs[0]);
      return TRUE;
    }
  costs[reader->events->len] = 0; /* no calls */
  here = current_place (reader);
  flam_call_graph_add_to_cost (
      reader->graph,
      find_line (reader, reader->function, current_code (reader), &here),
      costs);
  return TRUE;
}

/* "7 TARGET", or if it is `conditional`, "6/7 TARGET". The target is in the
 * file and the function that jfi= and jfn= name for this jump, otherwise in the
 * current ones. */
static gboolean
read_jump (Reader *reader, const char *p, const char *end, gboolean conditional)
{
  Place to = current_place (reader);
  FlamStringId name = reader->jump_name;
  FlamStringId file = reader->jump_file;

  reader->is_jump = TRUE;
  reader->jump_to = FLAM_NONE;
  reader->jump_file = reader->jump_name = FLAM_NONE;
  reader->jump.reached = -1;
  if (file != FLAM_NONE)
    to.file = file;
  skip_spaces (&p, end);
  if (!reader->has_function || !read_number (&p, end, &reader->jump.taken) ||
      (conditional && (p == end || *p++ != '/' ||
                       !read_number (&p, end, &reader->jump.reached))) ||
      !read_positions (reader, &p, end, &to.address, &to.line))
    return FALSE;
  reader->jump_to =
      make_frame (reader,
                  name == FLAM_NONE || name == reader->name
                      ? current_code (reader)
                      : find_code (reader, reader->object, to.file, name),
                  &to);
  return TRUE;
}

static void
read_calls (Reader *reader, const char *p, const char *end)
{
  skip_spaces (&p, end);
  if (!read_number (&p, end, &reader->calls) || reader->calls < 0)
    reader->calls = 0;
  reader->is_call = TRUE;
}

/* `rest` is only set if it returns TRUE. */
static gboolean
starts (const char *line, const char *end, const char *with, const char **rest)
{
  gsize n = strlen (with);

  if ((gsize)(end - line) < n || memcmp (line, with, n) != 0)
    return FALSE;
  *rest = line + n;
  return TRUE;
}

static void
read_function (Reader *reader, const char *p, const char *end)
{
  reader->name = read_name (reader, FUNCTIONS, p, end);
  reader->inlined = reader->file;
  reader->called_object = reader->object;
  reader->called_file = reader->file;
  reader->function =
      find_function (reader, reader->object, reader->file, reader->name);
  reader->has_function = TRUE;
}

/* "fl=…" and the like (the format: position specification); FALSE: something
 * else. */
static gboolean
read_specification (Reader *reader, const char *line, const char *end)
{
  const char *p;

  if (starts (line, end, "fn=", &p))
    read_function (reader, p, end);
  else if (starts (line, end, "fl=", &p))
    reader->file = reader->inlined = reader->called_file =
        read_name (reader, FILES, p, end);
  else if (starts (line, end, "fi=", &p) || starts (line, end, "fe=", &p))
    reader->inlined = reader->called_file = read_name (reader, FILES, p, end);
  else if (starts (line, end, "ob=", &p))
    reader->object = reader->called_object =
        read_name (reader, OBJECTS, p, end);
  else if (starts (line, end, "cob=", &p))
    reader->called_object = read_name (reader, OBJECTS, p, end);
  else if (starts (line, end, "cfi=", &p) || starts (line, end, "cfl=", &p))
    reader->called_file = read_name (reader, FILES, p, end);
  else if (starts (line, end, "cfn=", &p))
    reader->called_name = read_name (reader, FUNCTIONS, p, end);
  else if (starts (line, end, "calls=", &p))
    read_calls (reader, p, end);
  else if (starts (line, end, "jfi=", &p))
    reader->jump_file = read_name (reader, FILES, p, end);
  else if (starts (line, end, "jfn=", &p))
    reader->jump_name = read_name (reader, FUNCTIONS, p, end);
  else if (starts (line, end, "jump=", &p))
    return read_jump (reader, p, end, FALSE);
  else if (starts (line, end, "jcnd=", &p))
    return read_jump (reader, p, end, TRUE);
  else
    return starts (line, end, "rfl=", &p) || starts (line, end, "rfn=", &p) ||
           starts (line, end, "rcalls=", &p);
  return TRUE;
}

/* go tool pprof and xdebug add the unit to the name: "cpu(ms)", "Time_(10ns)".
 */
static FlamUnit
cut_unit (char *name, gint64 *scale)
{
  char *open = strrchr (name, '(');
  gsize length = strlen (name);
  gint64 factor = 1;
  const char *p;
  FlamUnit unit;

  *scale = 1;
  if (open == NULL || open == name || name[length - 1] != ')')
    return FLAM_UNIT_COUNT;
  p = open + 1;
  if (flam_text_is_digit (*p) &&
      (!flam_text_number (&p, name + length, &factor) || factor > MAX_FACTOR))
    return FLAM_UNIT_COUNT;
  name[length - 1] = '\0';
  unit = flam_pprof_unit (p, scale);
  if (unit == FLAM_UNIT_COUNT)
    {
      name[length - 1] = ')';
      return unit;
    }
  *scale *= factor;
  open[open > name + 1 && open[-1] == '_' ? -1 : 0] = '\0';
  return unit;
}

/* For a later part: its events are those of the first part, in any order.
 * FALSE: it has others, whose costs are left out. */
static gboolean
read_later_events (Reader *reader, const char *const *names)
{
  gboolean all = TRUE;

  reader->n_columns = 0;
  for (guint i = 0; names[i] != NULL && reader->n_columns < MAX_EVENTS; i++)
    {
      g_autofree char *name = g_strdup (names[i]);
      gint64 scale;
      guint event;

      if (*name == '\0')
        continue;
      cut_unit (name, &scale);
      if (!g_ptr_array_find_with_equal_func (
              reader->events, name, g_str_equal, &event) ||
          reader->scales[event] != scale)
        {
          event = MAX_EVENTS;
          all = FALSE;
        }
      reader->columns[reader->n_columns++] = event;
    }
  return all;
}

static void
read_first_events (Reader *reader, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (*names[i] != '\0' && reader->events->len < MAX_EVENTS)
      g_ptr_array_add (reader->events, g_strdup (names[i]));
  if (reader->events->len == 0)
    return;
  for (guint i = 0; i < reader->events->len; i++)
    reader->columns[i] = i;
  reader->n_columns = reader->events->len;
  for (guint i = 0; i <= reader->events->len; i++) /* the last: of calls */
    flam_builder_add_column (reader->builder);
  for (guint i = 0; i < reader->events->len; i++)
    {
      char *name = reader->events->pdata[i];
      FlamUnit unit = cut_unit (name, &reader->scales[i]);

      if (unit == FLAM_UNIT_BYTES)
        flam_builder_add_measure (reader->builder,
                                  name,
                                  name,
                                  unit,
                                  FLAM_MEASURE_ALLOC,
                                  (int)i,
                                  FLAM_NONE);
      else
        flam_builder_add_event_measure (
            reader->builder, name, unit, (int)i, FLAM_NONE);
    }
  reader->graph = flam_call_graph_new (reader->load, reader->events->len + 1);
}

static gboolean
read_events (Reader *reader, const char *p, const char *end)
{
  g_autofree char *text = g_strndup (p, end - p);
  g_auto (GStrv) names = g_strsplit_set (text, " \t", -1);

  if (reader->events->len > 0)
    return read_later_events (reader, (const char *const *)names);
  read_first_events (reader, (const char *const *)names);
  return TRUE;
}

/* Threads of a program that is recorded with --separate-threads. The following
 * lines of costs name their function again. */
static void
read_thread (Reader *reader, const char *p, const char *end)
{
  gint64 number;

  skip_spaces (&p, end);
  if (!flam_text_number (&p, end, &number) || number > G_MAXINT32)
    return;
  reader->has_function = FALSE;
  reader->thread = flam_builder_thread (
      reader->builder,
      flam_builder_process (reader->builder, reader->pid, 0),
      (gint32)number,
      0);
}

static void
read_pid (Reader *reader, const char *p, const char *end)
{
  gint64 number;

  skip_spaces (&p, end);
  if (flam_text_number (&p, end, &number) && number <= G_MAXINT32)
    reader->pid = (gint32)number;
}

/* Valgrind and xdebug write a sum below the summed lines. The summary of
 * callgrind is above them, but that of cachegrind, which has no creator, is
 * not. */
static void
read_end (Reader *reader, const char *line, const char *end)
{
  const char *p;

  if (starts (line, end, "creator: callgrind-", &p))
    reader->addressing = FLAM_ADDRESS_VADDR;
  if (starts (line, end, "creator: ", &p))
    reader->sum = starts (p, end, "callgrind-", &p) ? "totals:"
                  : starts (p, end, "xdebug ", &p)  ? "summary:"
                                                    : NULL;
  else if (starts (line, end, "desc: I1 cache:", &p) && reader->text.line == 1)
    reader->sum = "summary:";
  else if (starts (line, end, "events:", &p))
    reader->open = TRUE;
  else if (reader->sum != NULL && starts (line, end, reader->sum, &p))
    reader->open = FALSE;
}

/* "cmd: …" and the like; FALSE: something else, or events that no earlier part
 * has. */
static gboolean
read_header (Reader *reader, const char *line, const char *end)
{
  const char *p;

  if (starts (line, end, "pid:", &p))
    read_pid (reader, p, end);
  else if (starts (line, end, "thread:", &p))
    read_thread (reader, p, end);
  if (starts (line, end, "cmd:", &p))
    {
      g_autofree char *command = g_strndup (p, end - p);
      flam_builder_set_command (reader->builder, g_strstrip (command));
      return TRUE;
    }
  if (starts (line, end, "positions:", &p))
    {
      reader->has_addresses = memmem (p, end - p, "instr", 5) != NULL;
      reader->has_lines =
          memmem (p, end - p, "line", 4) != NULL || !reader->has_addresses;
      return TRUE;
    }
  if (starts (line, end, "events:", &p))
    return read_events (reader, p, end);
  for (p = line; p < end && (g_ascii_isalpha (*p) || *p == '_'); p++)
    ;
  return p > line && p < end && *p == ':';
}

static gboolean
read_line (gpointer data, FlamSlice slice)
{
  Reader *reader = data;
  const char *line = slice.text, *end = line + slice.length;

  flam_source_leave_before (
      reader->load->source, &reader->left, (const guint8 *)line);
  if (slice.length == 0 || *line == '#')
    return TRUE;
  if (flam_text_is_digit (*line) || *line == '+' || *line == '-' ||
      *line == '*')
    return reader->graph != NULL && read_costs (reader, line, end);
  if (read_header (reader, line, end))
    {
      read_end (reader, line, end);
      return TRUE;
    }
  return reader->graph != NULL && read_specification (reader, line, end);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader *reader = flam_arena_new (load, Reader);

  reader->load = load;
  reader->builder = load->builder;
  reader->addressing = FLAM_ADDRESS_ABSOLUTE;
  reader->has_lines = TRUE;
  reader->jump_to = FLAM_NONE;
  reader->jump_file = reader->jump_name = FLAM_NONE;
  reader->thread = FLAM_NONE;
  reader->pid = -1;
  reader->scales[MAX_EVENTS] = 1;
  reader->events = flam_arena_pointers (load, g_free);
  keep_pairs (load, &reader->numbers);
  keep_pairs (load, &reader->functions);
  keep_pairs (load, &reader->places);
  keep_pairs (load, &reader->lines);
  keep_pairs (load, &reader->jumps);
  flam_arena_column (load, &reader->jump_counts, Jump);
  flam_arena_column (load, &reader->names, FlamId);
  flam_arena_column (load, &reader->code, FlamId);
  reader->left = load->source->data;
  if (!flam_text_read (
          &reader->text, load, read_line, reader, "callgrind's", error))
    return FALSE;
  if (reader->graph == NULL)
    return flam_source_invalid (
        load->source, error, N_ ("no line lists the counted events"));
  if (!flam_text_warn_half (&reader->text, load) && reader->open &&
      reader->sum != NULL)
    flam_load_partial (load, NULL, N_ ("the file was cut off"));
  flam_source_leave (load->source);
  put_jumps (reader);
  if (reader->has_calls)
    flam_builder_add_standard_measure (load->builder,
                                       FLAM_STANDARD_CALLS,
                                       (int)reader->events->len,
                                       FLAM_NONE);
  return flam_call_graph_finish (reader->graph, error);
}

const FlamImporter flam_import_callgrind = {
  .id = "callgrind",
  .label = "callgrind, cachegrind",
  .written_by = "valgrind --tool=callgrind or cachegrind, Xdebug",
  .suffixes = FLAM_LIST (".callgrind", ".cachegrind"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
