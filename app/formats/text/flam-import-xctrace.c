/* SPDX-License-Identifier: GPL-3.0-or-later */

/* XML of Instruments' command line:
 *
 *    xctrace export --input X.trace --xpath
 *        '/trace-toc/run[@number="1"]/data/table[@schema="time-profile"]'
 *
 *    <trace-query-result><node xpath="…"><schema name="time-profile">…</schema>
 *    <row>
 *      <sample-time id="1" fmt="00:00.254.775">254775333</sample-time>      ns
 *      <thread id="2" fmt="Main Thread 0x12aa (cook, pid: 581)">
 *        <tid id="3" fmt="0x12aa">4778</tid>
 *        <process id="4" fmt="cook (581)"><pid id="5">581</pid>…</process>
 *      </thread>
 *      <process ref="4"/>
 *      <thread-state id="6" fmt="Running">Running</thread-state>
 *      <weight id="7" fmt="1.00 ms">1000000</weight>                        ns
 *      <tagged-backtrace id="8" fmt="…"><backtrace id="9">          leaf first
 *        <frame id="10" name="boil" addr="0x1000054">
 *          <binary id="11" name="cook" path="/x/cook" UUID="…"
 *                  load-addr="0x1000000"/>
 *          <source line="39"><path id="12">/x/boil.c</path></source>
 *        </frame>
 *        <frame ref="13"/>
 *      </backtrace></tagged-backtrace>
 *    </row>
 *
 * A repeated element is written once, with an id; later it is an element with
 * that "ref". A <sentinel/> stands for a missing value. The table cpu-profile
 * has <cycle-weight> for <weight>. That of time-sample, and older versions,
 * have <text-addresses> without names. Elements are read one after another; the
 * content of one is complete when it closes. Source: such exports;
 * xctrace(1). */

#include "flam-formats.h"

#include "flam-xctrace.h"

#define MAX_DEPTH 64

static const struct
{
  const char *name;
  FlamXctraceKind kind;
} elements[] = {
  { "row", FLAM_XCTRACE_ROW },
  { "sample-time", FLAM_XCTRACE_TIME },
  { "weight", FLAM_XCTRACE_WEIGHT },
  { "cycle-weight", FLAM_XCTRACE_CYCLES },
  { "thread-state", FLAM_XCTRACE_STATE },
  { "tid", FLAM_XCTRACE_TID },
  { "pid", FLAM_XCTRACE_PID },
  { "process", FLAM_XCTRACE_PROCESS },
  { "thread", FLAM_XCTRACE_THREAD },
  { "path", FLAM_XCTRACE_PATH },
  { "source", FLAM_XCTRACE_SOURCE },
  { "binary", FLAM_XCTRACE_BINARY },
  { "frame", FLAM_XCTRACE_FRAME },
  { "backtrace", FLAM_XCTRACE_BACKTRACE },
  { "tagged-backtrace", FLAM_XCTRACE_BACKTRACE },
  { "text-addresses", FLAM_XCTRACE_ADDRESSES },
};

typedef struct
{
  const FlamLoad *load;
  FlamXctrace xctrace;
  FlamMarkup markup;
  FlamXctraceElement open[MAX_DEPTH];
  guint depth;    /* of `open` */
  guint deeper;   /* elements beyond its limit */
  FlamPieces ids; /* value: in `values` */
  GArray *values; /* FlamXctraceValue */
  gboolean
      used[FLAM_XCTRACE_N_KINDS]; /* FLAM_XCTRACE_WEIGHT, FLAM_XCTRACE_CYCLES */
  guint64 samples;
  guint64 bad;
  guint64 untimed; /* samples without a moment */
} Reader;

static FlamXctraceKind
kind_of (const FlamTag *tag)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (flam_tag_is (tag, elements[i].name))
      return elements[i].kind;
  return FLAM_XCTRACE_OTHER;
}

/* --- rows ---------------------------------------------------------------- */

static gint64
weight_of (Reader *reader, const FlamXctraceValue *value)
{
  return flam_builder_limit (
      reader->xctrace.builder, value->a, 0, G_MAXINT64, NULL);
}

/* Rows of other tables have no weight and no stack. */
static void
end_row (Reader *reader, const FlamXctraceElement *row)
{
  const FlamXctraceValue *inner = row->inner;
  FlamSample sample = { .stack = FLAM_NONE,
                        .time = inner[FLAM_XCTRACE_TIME].a,
                        .state = FLAM_STATE_RUNNING };
  gint64 weights[2];

  if (!inner[FLAM_XCTRACE_WEIGHT].known && !inner[FLAM_XCTRACE_CYCLES].known &&
      !inner[FLAM_XCTRACE_BACKTRACE].known)
    return;
  if (!inner[FLAM_XCTRACE_TIME].known)
    {
      reader->untimed++;
      return;
    }
  weights[0] = weight_of (reader, &inner[FLAM_XCTRACE_WEIGHT]);
  weights[1] = weight_of (reader, &inner[FLAM_XCTRACE_CYCLES]);
  sample.thread =
      inner[FLAM_XCTRACE_THREAD].known
          ? (FlamId)inner[FLAM_XCTRACE_THREAD].a
          : flam_builder_thread (
                reader->xctrace.builder,
                inner[FLAM_XCTRACE_PROCESS].known
                    ? (FlamId)inner[FLAM_XCTRACE_PROCESS].a
                    : flam_builder_process (reader->xctrace.builder, -1, 0),
                -1,
                0);
  if (inner[FLAM_XCTRACE_BACKTRACE].known)
    sample.stack = (FlamId)inner[FLAM_XCTRACE_BACKTRACE].a;
  if (inner[FLAM_XCTRACE_STATE].known)
    sample.state = (FlamState)inner[FLAM_XCTRACE_STATE].a;
  reader->used[FLAM_XCTRACE_WEIGHT] |= inner[FLAM_XCTRACE_WEIGHT].known;
  reader->used[FLAM_XCTRACE_CYCLES] |= inner[FLAM_XCTRACE_CYCLES].known;
  reader->samples++;
  flam_builder_add_sample (reader->xctrace.builder, &sample, weights);
}

/* --- elements ------------------------------------------------------------ */

static void
give (Reader *reader, const FlamXctraceValue *value)
{
  if (value->known && value->kind == FLAM_XCTRACE_FRAME)
    {
      FlamFrameId frame = (FlamId)value->a;
      g_array_append_val (reader->xctrace.frames, frame);
    }
  if (reader->depth > 0)
    reader->open[reader->depth - 1].inner[value->kind] = *value;
}

static FlamId *
find_id (Reader *reader, FlamSlice id)
{
  gboolean is_new;

  return flam_pieces_value (
      &reader->ids,
      flam_pieces_find (
          &reader->ids, id.text, MIN (id.length, G_MAXINT32), 0, &is_new));
}

/* A reference to an earlier element. */
static void
refer (Reader *reader, FlamXctraceKind kind, FlamSlice id)
{
  FlamId row = *find_id (reader, id);
  const FlamXctraceValue *value =
      row != FLAM_NONE ? &g_array_index (reader->values, FlamXctraceValue, row)
                       : NULL;

  if (value == NULL || value->kind != kind)
    reader->bad++;
  else
    give (reader, value);
}

static void
close_element (Reader *reader)
{
  const FlamXctraceElement *element = &reader->open[--reader->depth];
  FlamSlice id;
  FlamXctraceValue value;

  if (element->kind == FLAM_XCTRACE_ROW)
    end_row (reader, element);
  if (element->kind == FLAM_XCTRACE_ROW || element->kind == FLAM_XCTRACE_OTHER)
    return;
  value = flam_xctrace_value (&reader->xctrace, element);
  if (flam_tag_attribute (&element->tag, "id", &id))
    {
      *find_id (reader, id) = reader->values->len;
      g_array_append_val (reader->values, value);
    }
  give (reader, &value);
}

static void
open_element (Reader *reader, const FlamTag *tag)
{
  FlamXctraceKind kind = kind_of (tag);
  FlamXctraceElement *element;
  FlamSlice ref;

  if (kind != FLAM_XCTRACE_OTHER && flam_tag_attribute (tag, "ref", &ref))
    {
      refer (reader, kind, ref);
      reader->deeper += !tag->empty;
      return;
    }
  if (reader->depth == MAX_DEPTH || reader->deeper > 0)
    {
      reader->deeper += !tag->empty;
      return;
    }
  element = &reader->open[reader->depth++];
  *element = (FlamXctraceElement){ .tag = *tag, .kind = kind };
  element->text =
      tag->empty ? (FlamSlice){ "", 0 } : flam_markup_text (&reader->markup);
  if (kind == FLAM_XCTRACE_BACKTRACE)
    g_array_set_size (reader->xctrace.frames, 0);
  if (tag->empty)
    close_element (reader);
}

/* Elements in it that were not closed are closed with it. */
static void
end_element (Reader *reader, FlamSlice name)
{
  guint depth = reader->depth;

  if (reader->deeper > 0)
    {
      reader->deeper--;
      return;
    }
  while (depth > 0 && (reader->open[depth - 1].tag.name.length != name.length ||
                       memcmp (reader->open[depth - 1].tag.name.text,
                               name.text,
                               name.length) != 0))
    depth--;
  if (depth == 0)
    reader->bad++;
  while (depth > 0 && reader->depth >= depth)
    close_element (reader);
}

static gboolean
read_elements (Reader *reader, GError **error)
{
  FlamTag tag;
  guint n = 0;

  flam_markup_init (&reader->markup, reader->load->source);
  while (flam_markup_next (&reader->markup, &tag))
    {
      if (++n % 4096 == 0 &&
          !flam_progress_step (reader->load->options->progress,
                               flam_markup_fraction (&reader->markup),
                               error))
        return FALSE;
      if (flam_slice_begins (tag.name, "/"))
        end_element (reader, flam_slice_from (tag.name, 1));
      else
        open_element (reader, &tag);
    }
  return TRUE;
}

/* --- the whole ----------------------------------------------------------- */

static gboolean
finish (Reader *reader, GError **error)
{
  if (reader->samples == 0)
    return flam_source_invalid (
        reader->load->source,
        error,
        N_ ("no row has a weight or a stack; export the table of samples with "
            "“xctrace export --input X.trace --xpath "
            "'//table[@schema=\"time-profile\"]'”"));
  if (reader->used[FLAM_XCTRACE_WEIGHT])
    flam_builder_add_standard_measure (
        reader->xctrace.builder, FLAM_STANDARD_TIME, 0, FLAM_NONE);
  if (reader->used[FLAM_XCTRACE_CYCLES])
    flam_builder_add_event_measure (
        reader->xctrace.builder, "cycles", FLAM_UNIT_COUNT, 1, FLAM_NONE);
  flam_builder_add_standard_measure (
      reader->xctrace.builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  if (reader->depth > 0)
    flam_load_partial (reader->load, NULL, N_ ("the file was cut off"));
  flam_builder_warn_count (
      reader->xctrace.builder,
      reader->xctrace.addresses,
      "%" PRIu64 " stack has addresses but no names: export the table "
      "time-profile with a newer xctrace",
      "%" PRIu64 " stacks have addresses but no names: export the table "
      "time-profile with a newer xctrace");
  flam_builder_warn_count (reader->xctrace.builder,
                           reader->bad + reader->xctrace.bad_numbers,
                           "%" PRIu64 " XML element is invalid",
                           "%" PRIu64 " XML elements are invalid");
  flam_builder_warn_count (reader->xctrace.builder,
                           reader->untimed,
                           "%" PRIu64 " row has no time, and was left out",
                           "%" PRIu64 " rows have no time, and were left out");
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader *reader = flam_arena_new (load, Reader);

  reader->load = load;
  reader->values = flam_arena_array (load, FlamXctraceValue);
  reader->xctrace.builder = load->builder;
  reader->xctrace.frames = flam_arena_array (load, FlamId);
  reader->xctrace.scratch = flam_arena_string (load);
  flam_arena_pieces (load, &reader->ids);
  flam_builder_add_column (load->builder);
  flam_builder_add_column (load->builder);
  flam_builder_set_has_times (load->builder);
  return read_elements (reader, error) && finish (reader, error);
}

const FlamImporter flam_import_xctrace = {
  .id = "xctrace",
  .label = N_ ("Instruments, xctrace export"),
  .written_by = "xctrace export",
  .suffixes = FLAM_LIST (".xml"),
  .mime_types = FLAM_LIST ("application/xml"),
  .signs = FLAM_SIGNS (FLAM_HEAD (95, '<', 4096, "<trace-query-result")),
  .load = load,
};
