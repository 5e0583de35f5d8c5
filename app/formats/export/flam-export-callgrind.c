/* SPDX-License-Identifier: GPL-3.0-or-later */

/* callgrind's format (valgrind manual, "Callgrind Format Specification"), for
 * KCachegrind and similar tools. It has functions and calls but no stacks:
 *
 *    ob=(1) prog            module, file and function of what follows; a
 *    fl=(1) /src/a.c        number is given its name once
 *    fn=(2) main
 *    12 40                  line, self cost
 *    fi=(2) /src/a.y        lines of another file, until the next fi= or fe=
 *    7 3
 *    fe=(1)
 *    cob=(1) cfi=(1)        the same three of a function it calls
 *    cfn=(3) parse
 *    calls=1 30             the line where it starts
 *    12 25                  line, cost of the calls
 *
 * A function has a row for each of its lines with cost, if the capture has
 * lines and the selection is by function; else one, at its start.
 *
 * A call inside the same call counts once, so that no cost exceeds the whole,
 * and at the line of the outermost. The number of calls is unknown: it is
 * written as 1, since callgrind_annotate counts the line after calls=0 as the
 * caller's own cost.
 */

#include "flam-formats.h"

#include "flam-export-common.h"

#include <string.h>

/* The place of a cost. */
typedef struct
{
  FlamId caller;     /* thing */
  FlamId callee;     /* thing; FLAM_NONE: the caller's own cost */
  FlamStringId file; /* string */
  guint32 line;
} Position;

typedef struct
{
  Position at;
  gint64 cost;
} Row;

/* A call from one thing to another, at any place. */
typedef struct
{
  FlamId caller;
  FlamId callee;
  guint depth_open; /* how many of it are on the path */
  FlamId row;       /* where its cost was added last, or FLAM_NONE */
} Call;

typedef struct
{
  const FlamTree *tree;
  FlamSink *out;
  FlamThings things;
  GArray *rows;           /* Row */
  FlamInterner positions; /* -> rows */
  GArray *calls;          /* Call */
  FlamInterner pairs;     /* of caller and callee -> calls */
  GHashTable *names[3];   /* modules, files, functions -> number */
} Writer;

enum
{
  MODULES,
  FILES,
  FUNCTIONS,
};

static gboolean
equal_positions (gconstpointer table, FlamId row, gconstpointer key)
{
  return memcmp (&((const Row *)table)[row].at, key, sizeof (Position)) == 0;
}

static gboolean
equal_calls (gconstpointer table, FlamId row, gconstpointer key)
{
  const Call *x = (const Call *)table + row;
  const Call *y = key;

  return x->caller == y->caller && x->callee == y->callee;
}

/* Its row. */
static FlamId
find_call (Writer *writer, FlamId caller, FlamId callee)
{
  Call key = { caller, callee, 0, FLAM_NONE };
  guint32 hash = flam_hash_pair (caller, callee);
  FlamSlot *slot = flam_interner_find (
      &writer->pairs, hash, equal_calls, writer->calls->data, &key);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, writer->calls->len };
      writer->pairs.used++;
      g_array_append_val (writer->calls, key);
    }
  return slot->id;
}

static FlamId
find_row (Writer *writer, const Position *at)
{
  guint32 hash = flam_hash_bytes ((const char *)at, sizeof *at);
  FlamSlot *slot = flam_interner_find (
      &writer->positions, hash, equal_positions, writer->rows->data, at);

  if (slot->id == FLAM_NONE)
    {
      Row row = { *at, 0 };

      *slot = (FlamSlot){ hash, writer->rows->len };
      writer->positions.used++;
      g_array_append_val (writer->rows, row);
    }
  return slot->id;
}

/* `node` is the place of the cost: the caller's. `*row`: where it was found
 * last time, nearly always the same place. */
static void
add_cost (
    Writer *writer, FlamNodeId node, FlamId callee, gint64 cost, FlamId *row)
{
  Position at = { .caller = writer->things.thing[node], .callee = callee };

  if (cost == 0)
    return;
  at.file = flam_export_file_id (writer->tree, node, &at.line);
  if (*row == FLAM_NONE || !equal_positions (writer->rows->data, *row, &at))
    *row = find_row (writer, &at);
  g_array_index (writer->rows, Row, *row).cost += cost;
}

/* Preorder, with the calls of the path still open. */
static void
add_up (Writer *writer)
{
  const FlamTree *tree = writer->tree;
  const FlamId *thing = writer->things.thing;
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (FlamId));

  for (FlamId i = 1; i < tree->n; i++)
    {
      FlamId parent = tree->parent[i];
      FlamId number = FLAM_NONE;
      FlamId own = FLAM_NONE;

      for (; path->len >= tree->depth[i];
           g_array_set_size (path, path->len - 1))
        {
          FlamId last = g_array_index (path, FlamId, path->len - 1);
          if (last != FLAM_NONE)
            g_array_index (writer->calls, Call, last).depth_open--;
        }
      add_cost (writer, i, FLAM_NONE, tree->self[i], &own);
      if (parent != 0)
        {
          Call *call;

          number = find_call (writer, thing[parent], thing[i]);
          call = &g_array_index (writer->calls, Call, number);
          if (call->depth_open++ == 0)
            add_cost (writer, parent, thing[i], tree->total[i], &call->row);
        }
      g_array_append_val (path, number);
    }
}

/* By function, its own cost before its calls; then by line. */
static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const Position *x = &((const Row *)a)->at;
  const Position *y = &((const Row *)b)->at;

  if (x->caller != y->caller)
    return x->caller < y->caller ? -1 : 1;
  if (x->callee != y->callee)
    return x->callee + 1 < y->callee + 1 ? -1 : 1; /* FLAM_NONE first */
  if (x->file != y->file)
    return x->file < y->file ? -1 : 1;
  return (x->line > y->line) - (x->line < y->line);
}

static void
put_name (Writer *writer, const char *key, int kind, const char *name)
{
  GHashTable *names = writer->names[kind];
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (names, name));

  flam_sink_printf (writer->out, "%s=", key);
  if (number != 0)
    {
      flam_sink_printf (writer->out, "(%u)\n", number);
      return;
    }
  number = g_hash_table_size (names) + 1;
  g_hash_table_insert (names, (gpointer)name, GUINT_TO_POINTER (number));
  flam_sink_printf (writer->out, "(%u) ", number);
  for (; *name != '\0'; name++)
    flam_sink_put_c (writer->out, *name == '\n' || *name == '\r' ? ' ' : *name);
  flam_sink_put_c (writer->out, '\n');
}

static void
put_file (Writer *writer, const char *key, FlamStringId file)
{
  const char *name = flam_profile_string (writer->tree->profile, file);

  put_name (writer, key, FILES, *name != '\0' ? name : "???");
}

/* Returns its file; `line` is the line of its start. */
static FlamId
put_thing (Writer *writer, FlamId thing, gboolean callee, guint32 *line)
{
  FlamNodeId node = g_array_index (writer->things.first, FlamId, thing);
  FlamStringId file = flam_export_start (writer->tree, node, line);
  guint32 first;
  const char *module = flam_export_module (writer->tree, node);

  if (file == 0)
    file = flam_export_file_id (writer->tree, node, &first);
  /* Without this line, readers assume the module of the line above. */
  put_name (
      writer, callee ? "cob" : "ob", MODULES, *module != '\0' ? module : "???");
  put_file (writer, callee ? "cfi" : "fl", file);
  put_name (writer,
            callee ? "cfn" : "fn",
            FUNCTIONS,
            flam_tree_name (writer->tree, node));
  return file;
}

/* The rows are sorted. The rounded rows of one thing add up to its rounded
 * sum. */
static void
put_rows (Writer *writer)
{
  const FlamMeasure *measure =
      &writer->tree->profile->measures[writer->tree->measure];
  const Row *last = NULL;
  FlamStringId own = 0;
  FlamStringId file = 0;
  gint64 sum = 0;

  for (guint i = 0; i < writer->rows->len; i++)
    {
      const Row *row = &g_array_index (writer->rows, Row, i);
      gint64 before;
      guint32 start;

      if (last == NULL || last->at.caller != row->at.caller)
        {
          if (last != NULL)
            flam_sink_put_c (writer->out, '\n');
          file = own = put_thing (writer, row->at.caller, FALSE, &start);
        }
      if (last == NULL || last->at.caller != row->at.caller ||
          last->at.callee != row->at.callee)
        sum = 0;
      if (file != row->at.file)
        put_file (writer, row->at.file == own ? "fe" : "fi", row->at.file);
      file = row->at.file;
      before = flam_export_whole (measure, sum);
      sum += row->cost;
      if (row->at.callee != FLAM_NONE)
        {
          put_thing (writer, row->at.callee, TRUE, &start);
          flam_sink_printf (writer->out, "calls=1 %u\n", start);
        }
      flam_sink_printf (writer->out,
                        "%u %" G_GINT64_FORMAT "\n",
                        row->at.line,
                        flam_export_whole (measure, sum) - before);
      last = row;
    }
  if (last != NULL)
    flam_sink_put_c (writer->out, '\n');
}

static void
put_head (Writer *writer)
{
  const FlamProfile *profile = writer->tree->profile;
  const FlamMeasure *measure = &profile->measures[writer->tree->measure];
  g_autofree char *event = g_strdup (
      writer->tree->counted ? "samples"
                            : flam_profile_string (profile, measure->id));

  /* Names of events must be words. */
  g_strcanon (event,
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
              '_');
  flam_sink_put (writer->out,
                 "# callgrind format\nversion: 1\ncreator: flambeau\n");
  if (*profile->facts.command != '\0')
    {
      g_autofree char *command = g_strdup (profile->facts.command);
      g_strdelimit (command, "\r\n", ' ');
      flam_sink_printf (writer->out, "cmd: %s\n", command);
    }
  flam_sink_printf (writer->out,
                    "positions: line\nevents: %s\nsummary: %" G_GINT64_FORMAT
                    "\n\n",
                    event,
                    flam_export_whole (
                        &writer->tree->profile->measures[writer->tree->measure],
                        writer->tree->total[0]));
}

static gboolean
save (FlamExport *export, GError **error)
{
  g_autoptr (FlamSelection) by_line = flam_selection_copy (export->selection);
  g_autoptr (FlamTree) tree = NULL;
  Writer writer = { .out = export->out };

  if (by_line->by == FLAM_BY_FUNCTION)
    by_line->by = FLAM_BY_LINE;
  writer.tree = tree = flam_export_tree (export->profile, by_line);
  flam_things_init (
      &writer.things, tree, export->selection->by == FLAM_BY_FUNCTION);
  writer.rows = flam_arena_array (export, Row);
  writer.calls = flam_arena_array (export, Call);
  flam_interner_init (&writer.positions);
  flam_interner_init (&writer.pairs);
  for (guint i = 0; i < G_N_ELEMENTS (writer.names); i++)
    writer.names[i] = flam_arena_table (export, FLAM_KEY_LENT, NULL);
  add_up (&writer);
  g_array_sort (writer.rows, compare_rows);
  put_head (&writer);
  if (tree->self[0] > 0)
    flam_sink_printf (
        export->out,
        "ob=???\nfl=???\nfn=[no stack]\n0 %" G_GINT64_FORMAT "\n\n",
        flam_export_whole (&tree->profile->measures[tree->measure],
                           tree->self[0]));
  put_rows (&writer);
  flam_interner_clear (&writer.pairs);
  flam_interner_clear (&writer.positions);
  flam_things_clear (&writer.things);
  return TRUE;
}

const FlamExporter flam_export_callgrind = {
  .id = "callgrind",
  .label = "Callgrind",
  .suffix = "callgrind.out",
  .mime_type = "application/x-kcachegrind",
  .text = TRUE,
  .holds = FLAM_HOLDS_FILES | FLAM_HOLDS_LINES | FLAM_HOLDS_MODULES,
  .lacks = flam_export_lacks_first_lines,
  .save = save,
};
