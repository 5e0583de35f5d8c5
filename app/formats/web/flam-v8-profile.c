/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-v8-profile.h"

#include "flam-core-profile.h"

#include <string.h>

/* A function's members: in a callFrame, or in the node itself. */
typedef struct
{
  FlamFunction function;
  gboolean root;
  gint64 line; /* from 0 */
} CallFrame;

typedef struct
{
  gint64 id;
  guint32 parent;          /* index, or FLAM_NONE */
  FlamFunctionId function; /* FLAM_NONE: the root */
  guint32 line;
  gint64 weight; /* hitCount or selfSize */
  gboolean idle;
  gboolean engine; /* the engine's activity */
  gboolean collector;
  gboolean framed;   /* it has a callFrame */
  CallFrame own;     /* or such members itself */
  FlamStackId stack; /* FLAM_NONE: not computed, or the root's */
  gboolean made;
  guint32 tick, ticks_end; /* of the ones not assigned to samples yet */
} Node;

typedef struct
{
  guint32 line;
  gint64 left;
} Tick;

typedef struct
{
  guint32 node;
  gint64 child; /* id */
} Link;

FlamV8Profile *
flam_v8_profile_new (FlamLoad *load, FlamThreadId thread)
{
  FlamV8Profile *profile = flam_arena_new (load, FlamV8Profile);

  profile->builder = load->builder;
  profile->thread = thread;
  profile->nodes = flam_arena_array (load, Node);
  profile->links = flam_arena_array (load, Link);
  profile->open = flam_arena_array (load, guint32);
  profile->samples = flam_arena_array (load, gint64);
  profile->deltas = flam_arena_array (load, gint64);
  profile->lines = flam_arena_zeroed (load, gint64);
  profile->ticks = flam_arena_array (load, Tick);
  profile->by_id =
      flam_arena_keep (load,
                       g_hash_table_new (flam_hash_int64, g_int64_equal),
                       g_hash_table_unref);
  return profile;
}

/* --- nodes --------------------------------------------------------------- */

static gboolean
is_engine (FlamJson *json)
{
  gsize length;
  const char *name = flam_json_get_string (json, &length);

  return length > 2 && name[0] == '(' && name[length - 1] == ')';
}

static CallFrame
new_frame (void)
{
  return (CallFrame){ .function = { .module = FLAM_NONE,
                                    .kind = FLAM_KIND_INTERPRETED },
                      .line = -1 };
}

static void
read_frame_member (FlamV8Profile *profile,
                   FlamJson *json,
                   Node *node,
                   CallFrame *frame)
{
  if (flam_json_key_is (json, "functionName"))
    {
      gsize length;
      const char *name = flam_json_get_string (json, &length);
      frame->root = flam_json_string_is (json, "(root)");
      node->idle = flam_json_string_is (json, "(idle)");
      node->collector = flam_json_string_is (json, "(garbage collector)");
      node->engine = is_engine (json);
      if (node->engine)
        frame->function.kind = FLAM_KIND_ROOT;
      frame->function.name = flam_builder_string (
          profile->builder, length > 0 ? name : "(anonymous)", -1);
    }
  else if (flam_json_key_is (json, "url"))
    {
      gsize length;
      const char *url = flam_json_get_string (json, &length);
      frame->function.file = flam_builder_string (
          profile->builder,
          g_str_has_prefix (url, "file://") ? url + 7 : url,
          -1);
    }
  else if (flam_json_key_is (json, "lineNumber"))
    frame->line = flam_json_get_int (json);
}

static void
set_function (FlamV8Profile *profile, Node *node, CallFrame *frame)
{
  if (frame->function.name == 0)
    frame->function.name =
        flam_builder_string (profile->builder, "(anonymous)", -1);
  if (frame->line >= 0 && frame->line < G_MAXINT32)
    frame->function.line = node->line = frame->line + 1;
  node->function =
      frame->root ? FLAM_NONE
                  : flam_builder_function (profile->builder, &frame->function);
}

static void
read_call_frame (FlamV8Profile *profile, FlamJson *json, Node *node)
{
  CallFrame frame = new_frame ();

  node->framed = TRUE;
  flam_json_each (json)
    read_frame_member (profile, json, node, &frame);
  set_function (profile, node, &frame);
}

static guint32
add_node (FlamV8Profile *profile, guint32 parent)
{
  Node node = { .id = -1,
                .parent = parent,
                .function = FLAM_NONE,
                .stack = FLAM_NONE,
                .own = new_frame () };

  g_array_append_val (profile->nodes, node);
  return profile->nodes->len - 1;
}

static Node *
get_node (FlamV8Profile *profile, guint32 index)
{
  return &g_array_index (profile->nodes, Node, index);
}

static void
read_ticks (FlamV8Profile *profile, FlamJson *json, Node *node)
{
  node->tick = profile->ticks->len;
  flam_json_each (json)
    {
      Tick tick = { 0 };

      flam_json_each (json)
        if (flam_json_key_is (json, "line"))
          tick.line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
        else if (flam_json_key_is (json, "ticks"))
          tick.left = MAX (flam_json_get_int (json), 0);
      if (tick.line > 0)
        g_array_append_val (profile->ticks, tick);
    }
  node->ticks_end = profile->ticks->len;
}

/* A member of a node that is not a node itself. */
static void
read_node_member (FlamV8Profile *profile, FlamJson *json, guint32 index)
{
  Node *node = get_node (profile, index);

  if (flam_json_key_is (json, "callFrame"))
    read_call_frame (profile, json, node);
  else if (flam_json_key_is (json, "id"))
    node->id = flam_json_get_int (json);
  else if (flam_json_key_is (json, "selfSize") ||
           flam_json_key_is (json, "hitCount"))
    node->weight = flam_json_get_limited (
        json, profile->builder, 1, G_MININT64, G_MAXINT64);
  else if (flam_json_key_is (json, "positionTicks"))
    read_ticks (profile, json, node);
  else if (flam_json_key_is (json, "parent"))
    {
      Link link = { index, flam_json_get_int (json) };
      /* the same link, from the child */
      link.node |= 0x80000000u;
      g_array_append_val (profile->links, link);
    }
  else
    read_frame_member (profile, json, node, &node->own);
}

/* Reads a node with all nested ones, without recursion: a child's object opens
 * in its parent's "children". The node's "{" is the current token. */
static void
read_nested (FlamV8Profile *profile, FlamJson *json)
{
  guint32 index = add_node (profile, FLAM_NONE);

  g_array_append_val (profile->open, index);
  while (profile->open->len > 0)
    {
      FlamJsonToken token = flam_json_next (json);
      index = g_array_index (profile->open, guint32, profile->open->len - 1);
      if (token == FLAM_JSON_ERROR)
        break;
      if (token == FLAM_JSON_OBJECT_END)
        g_array_set_size (profile->open, profile->open->len - 1);
      else if (token == FLAM_JSON_OBJECT && json->key.length == 0)
        {
          index = add_node (profile, index);
          g_array_append_val (profile->open, index);
        }
      else if (json->key.length > 0 && !flam_json_key_is (json, "children"))
        {
          read_node_member (profile, json, index);
          flam_json_skip (json);
        }
      else if (token == FLAM_JSON_NUMBER)
        {
          Link link = { index, flam_json_get_int (json) };
          g_array_append_val (profile->links, link);
        }
    }
  g_array_set_size (profile->open, 0);
}

static void
read_flat (FlamV8Profile *profile, FlamJson *json)
{
  flam_json_each (json)
    if (json->token == FLAM_JSON_OBJECT)
      read_nested (profile, json);
}

static void
read_timestamps (FlamV8Profile *profile, FlamJson *json)
{
  gint64 before = 0;

  flam_json_get_ints (json, profile->deltas);
  for (guint i = 0; i < profile->deltas->len; i++)
    {
      gint64 *time = &g_array_index (profile->deltas, gint64, i);
      gint64 now = flam_builder_limit (
          profile->builder, *time, 0, G_MAXINT64 / 1000, NULL);

      *time = i > 0 ? now - before : 0;
      before = now;
    }
  profile->old = TRUE;
}

void
flam_v8_profile_read (FlamV8Profile *profile, FlamJson *json)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "nodes"))
      read_flat (profile, json);
    else if (flam_json_key_is (json, "head"))
      {
        if (json->token == FLAM_JSON_OBJECT)
          read_nested (profile, json);
      }
    else if (flam_json_key_is (json, "samples"))
      flam_json_get_ints (json, profile->samples);
    else if (flam_json_key_is (json, "timeDeltas"))
      flam_json_get_ints (json, profile->deltas);
    else if (flam_json_key_is (json, "timestamps"))
      read_timestamps (profile, json);
    else if (flam_json_key_is (json, "startTime"))
      profile->start = flam_json_get_int (json);
    else if (flam_json_key_is (json, "endTime"))
      profile->end = flam_json_get_int (json);
}

/* --- pieces -------------------------------------------------------------- */

/* The lines of a piece belong to its samples. */
static void
read_lines (FlamV8Profile *profile, FlamJsonText text, guint first)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_open (&json, text.text, text.length);
  g_array_set_size (profile->lines, first);
  flam_json_get_ints (&json, profile->lines);
}

void
flam_v8_profile_read_piece (FlamV8Profile *profile, FlamJsonText args)
{
  g_auto (FlamJson) json = { 0 };
  guint first = profile->samples->len;
  FlamJsonText lines = { .text = "" };

  flam_json_open (&json, args.text, args.length);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "data"))
      {
        flam_json_each (&json)
          if (flam_json_key_is (&json, "startTime"))
            profile->start = flam_json_get_int (&json);
          else if (flam_json_key_is (&json, "cpuProfile"))
            flam_v8_profile_read (profile, &json);
          else if (flam_json_key_is (&json, "timeDeltas"))
            flam_json_get_ints (&json, profile->deltas);
          else if (flam_json_key_is (&json, "lines"))
            lines = flam_json_take (&json);
      }
  read_lines (profile, lines, first);
}

/* --- nodes -> stacks ----------------------------------------------------- */

static guint32
find_node (FlamV8Profile *profile, gint64 id)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (profile->by_id, &id)) - 1;
}

void
flam_v8_profile_link (FlamV8Profile *profile)
{
  if (profile->old)
    profile->start = profile->end = 0; /* seconds, on another clock */
  for (guint i = 0; i < profile->nodes->len; i++)
    {
      Node *node = get_node (profile, i);

      if (node->framed || node->own.function.name == 0)
        continue;
      node->own.line--;
      set_function (profile, node, &node->own);
    }
  for (guint i = 0; i < profile->nodes->len; i++)
    if (get_node (profile, i)->id >= 0)
      g_hash_table_insert (
          profile->by_id, &get_node (profile, i)->id, GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < profile->links->len; i++)
    {
      const Link *link = &g_array_index (profile->links, Link, i);
      guint32 here = link->node & 0x7fffffff;
      guint32 there = find_node (profile, link->child);

      if (there == FLAM_NONE || there == here)
        continue;
      if (link->node >> 31)
        get_node (profile, here)->parent = there;
      else
        get_node (profile, there)->parent = here;
    }
}

/* Callers first: up to the nearest one that is made, then back down. A loop of
 * parents, which V8 never writes, is cut where it would begin again. */
static FlamStackId
node_stack (FlamV8Profile *profile, guint32 index)
{
  for (guint32 at = index; at != FLAM_NONE && !get_node (profile, at)->made;
       at = get_node (profile, at)->parent)
    {
      get_node (profile, at)->made = TRUE;
      g_array_append_val (profile->open, at);
    }
  while (profile->open->len > 0)
    {
      Node *node = get_node (
          profile,
          g_array_index (profile->open, guint32, profile->open->len - 1));
      FlamStackId prefix = node->parent != FLAM_NONE
                               ? get_node (profile, node->parent)->stack
                               : FLAM_NONE;

      node->stack = prefix;
      if (node->function != FLAM_NONE)
        node->stack = flam_builder_stack (
            profile->builder,
            prefix,
            flam_builder_frame (
                profile->builder, node->function, 0, node->line, 0));
      g_array_set_size (profile->open, profile->open->len - 1);
    }
  return get_node (profile, index)->stack;
}

/* --- weights ------------------------------------------------------------- */

/* Takes up to `most` samples of a node with the same line: returns their
 * number, and the line. */
static gint64
take_ticks (FlamV8Profile *profile, Node *node, gint64 most, guint32 *line)
{
  for (; node->tick < node->ticks_end; node->tick++)
    {
      Tick *tick = &g_array_index (profile->ticks, Tick, node->tick);
      gint64 taken = MIN (tick->left, most);

      *line = tick->line;
      tick->left -= taken;
      if (taken > 0)
        return taken;
    }
  *line = node->line;
  return most;
}

/* The node's stack, with that line in its own frame. */
static FlamId
stack_at_line (FlamV8Profile *profile, guint32 index, guint32 line)
{
  FlamStackId stack = node_stack (profile, index);
  const Node *node = get_node (profile, index);
  FlamStackId prefix = node->parent != FLAM_NONE
                           ? get_node (profile, node->parent)->stack
                           : FLAM_NONE;

  if (line == node->line || node->function == FLAM_NONE)
    return stack;
  return flam_builder_stack (
      profile->builder,
      prefix,
      flam_builder_frame (profile->builder, node->function, 0, line, 0));
}

void
flam_v8_profile_add_nodes (FlamV8Profile *profile)
{
  for (guint i = 0; i < profile->nodes->len; i++)
    for (gint64 left = get_node (profile, i)->weight, weight; left > 0;
         left -= weight)
      {
        FlamSample sample = { .thread = profile->thread };
        guint32 line;

        weight = take_ticks (profile, get_node (profile, i), left, &line);
        sample.stack = stack_at_line (profile, i, line);
        flam_builder_add_sample (profile->builder, &sample, &weight);
      }
}

/* --- samples ------------------------------------------------------------- */

typedef struct
{
  gint64 time; /* µs */
  guint32 number;
} Moment;

static int
compare_moments (gconstpointer a, gconstpointer b)
{
  const Moment *x = a;
  const Moment *y = b;

  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* The samples' times, in order; an additional one is the end of the last
 * sample. */
static GArray *
find_moments (FlamV8Profile *profile)
{
  const gint64 latest = G_MAXINT64 / 1000;
  guint n = profile->samples->len;
  GArray *moments = g_array_sized_new (FALSE, FALSE, sizeof (Moment), n + 1);
  Moment moment = { .time = profile->start };
  gint64 first, last, end;
  guint beyond = 0, first_beyond = 0;

  for (guint i = 0; i < n; i++)
    {
      if (i < profile->deltas->len &&
          __builtin_add_overflow (moment.time,
                                  g_array_index (profile->deltas, gint64, i),
                                  &moment.time))
        moment.time = G_MAXINT64;
      if (moment.time > latest && beyond++ == 0)
        first_beyond = i + 1;
      moment.time = CLAMP (moment.time, 0, latest);
      moment.number = i;
      g_array_append_val (moments, moment);
    }
  if (beyond > 0)
    flam_builder_warn (
        profile->builder,
        FLAM_PLURAL (beyond,
                     "the time of %u sample is out of range and was limited: "
                     "it is sample %u",
                     "the times of %u samples are out of range and were "
                     "limited: the first is sample %u"),
        beyond,
        first_beyond);
  g_array_sort (moments, compare_moments);
  first = g_array_index (moments, Moment, 0).time;
  last = g_array_index (moments, Moment, n - 1).time;
  end = n > 1 ? last + (last - first) / (n - 1) : latest;
  if (profile->end > 0)
    end = CLAMP (profile->end, last, end);
  moment.time = n > 1 || profile->end > 0 ? MIN (end, latest) : last;
  g_array_append_val (moments, moment);
  return moments;
}

/* V8 records no stack of the collector: it lies on the stack that it
 * interrupted, `before`. */
static FlamStackId
collector_stack (FlamV8Profile *profile, const Node *collector, FlamId before)
{
  FlamFrameId frame = flam_builder_frame (
      profile->builder, collector->function, 0, collector->line, 0);

  return flam_builder_stack (profile->builder, before, frame);
}

guint64
flam_v8_profile_add_samples (FlamV8Profile *profile)
{
  g_autoptr (GArray) moments = NULL;
  FlamId before = FLAM_NONE;
  guint64 unknown = 0;

  if (profile->samples->len == 0)
    return 0;
  moments = find_moments (profile);
  for (guint i = 0; i < profile->samples->len; i++)
    {
      const Moment *moment = &g_array_index (moments, Moment, i);
      guint32 number = moment->number;
      guint32 index =
          find_node (profile, g_array_index (profile->samples, gint64, number));
      gint64 weight = (moment[1].time - moment->time) * 1000;
      FlamSample sample = { .thread = profile->thread,
                            .time = moment->time * 1000 };
      const Node *node;
      guint32 line;

      if (index == FLAM_NONE)
        {
          unknown++;
          continue;
        }
      take_ticks (profile, get_node (profile, index), 1, &line);
      if (number < profile->lines->len &&
          g_array_index (profile->lines, gint64, number) > 0)
        line = MIN (g_array_index (profile->lines, gint64, number), G_MAXINT32);
      node = get_node (profile, index);
      if (node->collector && node->parent != FLAM_NONE)
        sample.stack = collector_stack (profile, node, before);
      else
        {
          sample.stack = stack_at_line (profile, index, line);
          before = node->engine ? FLAM_NONE : sample.stack;
        }
      if (node->idle)
        sample.state = FLAM_STATE_SLEEP;
      flam_builder_add_sample (profile->builder, &sample, &weight);
    }
  return unknown;
}
