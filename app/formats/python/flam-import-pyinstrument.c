/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-members.h"
#include "flam-json.h"
#include "flam-python-code.h"

#include <string.h>

/* pyinstrument's report as JSON, a tree in which times include the children's:
 *
 *    {"start_time":s,"duration":s,"sample_count":n,"program":"app.py",
 *     "root_frame":{"function":"<module>","file_path":"/…/app.py","line_no":1,
 *       "time":s,"children":[…]}}
 *
 * (a child "[self]" is its parent's own time), and its sessions, whose samples
 * follow one another and contain their durations:
 *
 *    {"frame_records":[[["main\0app.py\0" "3\1l7",…],s],…],"start_time":s,…}
 *
 * where a frame is function, file and first line, and after \1 further fields:
 * l the line, c the class. The seconds of a record are those since the sample
 * before it, so it begins where that one ends. Its pages (5.0 on) contain
 *
 *    {"session":{"start_time":s,…},
 *     "frame_tree":{"identifier":"main\0app.py\0" "3","time":s,
 *       "attributes":{"cClass":s,"l7":s},"children":[…]}}
 *
 * Source of facts: pyinstrument, session.py, frame.py, renderers/. */

#define NS 1000000000

typedef struct
{
  guint32 parent;
  FlamStringId name, class, file;
  guint32 line;
  gint64 time;   /* ns; in the end without the children's */
  gboolean self; /* it is its parent's self time */
  FlamStackId stack;
} Node;

typedef struct
{
  FlamBuilder *builder;
  FlamJson *json;
  GArray *nodes; /* Node: parents first */
  GArray *open;  /* guint32: nodes being read */
  FlamThreadId thread;
  gint64 now; /* ns */
  gboolean found;
  guint64 samples;
} Reader;

static FlamFrameId
make_frame (Reader *reader,
            FlamStringId name,
            FlamStringId file,
            guint32 first_line,
            guint32 line)
{
  FlamFunction function = { .name = name,
                            .module = FLAM_NONE,
                            .line = first_line,
                            .kind = FLAM_KIND_NATIVE };
  g_autofree char *path =
      g_strdup (flam_builder_get_string (reader->builder, file));

  flam_python_set_location (
      reader->builder, &function, path, strlen (path), TRUE);
  if (*path == '\0' || g_str_has_prefix (path, "<built-in"))
    function.kind = FLAM_KIND_NATIVE;
  return flam_builder_frame_of (reader->builder, &function, 0, line, 0);
}

/* --- the tree ------------------------------------------------------------ */

static Node *
get_node (Reader *reader, guint32 index)
{
  return &g_array_index (reader->nodes, Node, index);
}

static void
add_node (Reader *reader, guint32 parent)
{
  guint32 index = reader->nodes->len;
  Node node = { .parent = parent, .stack = FLAM_NONE };

  g_array_append_val (reader->nodes, node);
  g_array_append_val (reader->open, index);
}

static FlamStringId
read_string (Reader *reader)
{
  return flam_json_intern (reader->json, reader->builder);
}

static gint64
get_time (const Reader *reader)
{
  return flam_json_get_limited (
      reader->json, reader->builder, NS, 0, G_MAXINT64 / 4);
}

/* "name\0file\0line": reads up to the first missing one. */
static void
read_tree_identifier (Reader *reader, Node *node)
{
  gsize length;
  const char *text = flam_json_get_string (reader->json, &length);
  const char *end = text + length;
  const char *file = memchr (text, '\0', length);
  const char *line =
      file != NULL ? memchr (file + 1, '\0', end - file - 1) : NULL;

  node->self = strcmp (text, "[self]") == 0;
  node->name = flam_builder_string (reader->builder, text, -1);
  if (line == NULL)
    return;
  node->file = flam_builder_string (reader->builder, file + 1, line - file - 1);
  node->line = CLAMP (g_ascii_strtoll (line + 1, NULL, 10), 0, G_MAXINT32);
}

static void
read_attributes (Reader *reader, Node *node)
{
  flam_json_each (reader->json)
    {
      const char *key = flam_json_get_key (reader->json, NULL);

      if (*key == 'c')
        node->class = flam_builder_string (reader->builder, key + 1, -1);
    }
}

static void
read_member (Reader *reader, Node *node)
{
  FlamJson *json = reader->json;

  if (flam_json_key_is (json, "function"))
    {
      node->self = flam_json_string_is (json, "[self]");
      node->name = read_string (reader);
    }
  else if (flam_json_key_is (json, "identifier"))
    read_tree_identifier (reader, node);
  else if (flam_json_key_is (json, "attributes"))
    read_attributes (reader, node);
  else if (flam_json_key_is (json, "class_name"))
    node->class = json->token == FLAM_JSON_STRING ? read_string (reader) : 0;
  else if (flam_json_key_is (json, "file_path") ||
           (flam_json_key_is (json, "file_path_short") && node->file == 0))
    node->file = json->token == FLAM_JSON_STRING ? read_string (reader) : 0;
  else if (flam_json_key_is (json, "line_no"))
    node->line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
  else if (flam_json_key_is (json, "time"))
    node->time = get_time (reader);
}

/* Without recursion; the root's "{" is the current token. */
static void
read_tree (Reader *reader)
{
  FlamJson *json = reader->json;

  add_node (reader, FLAM_NONE);
  while (reader->open->len > 0)
    {
      guint32 top =
          g_array_index (reader->open, guint32, reader->open->len - 1);
      FlamJsonToken token = flam_json_next (json);

      if (token == FLAM_JSON_ERROR)
        break;
      if (token == FLAM_JSON_OBJECT_END)
        g_array_set_size (reader->open, reader->open->len - 1);
      else if (token == FLAM_JSON_OBJECT && json->key.length == 0)
        add_node (reader, top);
      else if (json->key.length > 0 && !flam_json_key_is (json, "children"))
        {
          read_member (reader, get_node (reader, top));
          flam_json_skip (json);
        }
    }
  g_array_set_size (reader->open, 0);
}

static FlamId
node_name (Reader *reader, const Node *node)
{
  g_autofree char *name = NULL;

  if (node->class == 0)
    return node->name;
  name = g_strconcat (flam_builder_get_string (reader->builder, node->class),
                      ".",
                      flam_builder_get_string (reader->builder, node->name),
                      NULL);
  return flam_builder_string (reader->builder, name, -1);
}

/* Parents come first, so a loop suffices, and a node still has its whole time
 * when it is subtracted from its parent's. */
static void
add_tree (Reader *reader)
{
  for (guint i = 1; i < reader->nodes->len; i++)
    {
      const Node *node = get_node (reader, i);
      if (node->parent != FLAM_NONE && !node->self)
        get_node (reader, node->parent)->time -= node->time;
    }
  for (guint i = 0; i < reader->nodes->len; i++)
    {
      Node *node = get_node (reader, i);
      FlamSample sample = { .thread = reader->thread };

      if (node->self)
        continue;
      node->stack = flam_builder_stack (
          reader->builder,
          node->parent != FLAM_NONE ? get_node (reader, node->parent)->stack
                                    : FLAM_NONE,
          make_frame (
              reader, node_name (reader, node), node->file, node->line, 0));
      sample.stack = node->stack;
      if (node->time > 0)
        flam_builder_add_sample (reader->builder, &sample, &node->time);
    }
}

/* --- samples ------------------------------------------------------------- */

/* "name\0file\0line\1…" */
static FlamId
read_identifier (Reader *reader)
{
  gsize length;
  const char *text = flam_json_get_string (reader->json, &length);
  const char *end = text + length;
  const char *file = memchr (text, '\0', length);
  const char *first =
      file != NULL ? memchr (file + 1, '\0', end - file - 1) : NULL;
  const char *more = first != NULL ? memchr (first, '\1', end - first) : NULL;
  gint64 line = 0, first_line = 0;
  const char *p;
  FlamStringId name = flam_builder_string (
      reader->builder, text, file != NULL ? file - text : (gssize)length);

  if (first == NULL)
    return make_frame (reader, name, 0, 0, 0);
  p = first + 1;
  first_line = g_ascii_strtoll (p, NULL, 10);
  for (; more != NULL; more = memchr (more + 1, '\1', end - more - 1))
    if (more + 1 < end && more[1] == 'l')
      line = g_ascii_strtoll (more + 2, NULL, 10);
  return make_frame (
      reader,
      name,
      flam_builder_string (reader->builder, file + 1, first - file - 1),
      CLAMP (first_line, 0, G_MAXINT32),
      CLAMP (line, 0, G_MAXINT32));
}

/* [[frames, root first], seconds] */
static void
read_record (Reader *reader)
{
  FlamJson *json = reader->json;
  FlamSample sample = { .thread = reader->thread, .stack = FLAM_NONE };
  gint64 time = 0;

  flam_json_each (json)
    if (json->token == FLAM_JSON_ARRAY)
      {
        flam_json_each (json)
          if (json->token == FLAM_JSON_STRING)
            sample.stack = flam_builder_stack (
                reader->builder, sample.stack, read_identifier (reader));
      }
    else if (json->token == FLAM_JSON_NUMBER)
      time = get_time (reader);
  sample.time = reader->now;
  reader->now = flam_builder_limit (
      reader->builder, (__int128)reader->now + time, 0, G_MAXINT64 / 2, NULL);
  flam_builder_add_sample (reader->builder, &sample, &time);
  reader->samples++;
}

/* --- the importer -------------------------------------------------------- */

static void
read_fact (Reader *reader)
{
  FlamJson *json = reader->json;

  if (flam_json_key_is (json, "start_time"))
    flam_builder_facts (reader->builder)->start_unix_ns = get_time (reader);
  else if (flam_json_key_is (json, "duration"))
    flam_builder_facts (reader->builder)->duration_ns = get_time (reader);
  else if ((flam_json_key_is (json, "program") ||
            flam_json_key_is (json, "target_description")) &&
           json->token == FLAM_JSON_STRING)
    flam_builder_set_command (reader->builder,
                              flam_json_get_string (json, NULL));
}

static gboolean
is_tree (FlamJson *json)
{
  return (flam_json_key_is (json, "root_frame") ||
          flam_json_key_is (json, "frame_tree")) &&
         json->token == FLAM_JSON_OBJECT;
}

static void
read_document (Reader *reader, gboolean session)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    if (is_tree (json) && !reader->found)
      {
        reader->found = TRUE;
        read_tree (reader);
      }
    else if (flam_json_key_is (json, "frame_records") && session)
      {
        reader->found = TRUE;
        flam_json_each (json)
          read_record (reader);
      }
    else if (flam_json_key_is (json, "session"))
      flam_json_each (json)
        read_fact (reader);
    else
      read_fact (reader);
}

/* The beginning of a page's data; NULL: the file is not a page. */
static const guint8 *
find_data (const FlamSource *source)
{
  static const char *const marks[] = { "const sessionData = {",
                                       "getElementById('app'), {" };

  if (flam_source_first_char (source) != '<')
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (marks); i++)
    {
      const guint8 *mark =
          memmem (source->data, source->size, marks[i], strlen (marks[i]));
      if (mark != NULL)
        return mark + strlen (marks[i]) - 1;
    }
  return NULL;
}

/* The rest of the page follows its data. */
static gboolean
end (FlamLoad *load, Reader *reader, gboolean page, GError **error)
{
  FlamJson *json = reader->json;

  if (page && json->token == FLAM_JSON_OBJECT_END && json->cancelled == NULL)
    return TRUE;
  return flam_json_end (
      json, load, reader->nodes->len + reader->samples > 0, error);
}

static gboolean
is_session (const FlamSource *source)
{
  static const char path[] = "frame_records";
  g_autoptr (FlamMemberPaths) paths = flam_member_paths_new ();
  g_autoptr (FlamMembers) members = NULL;

  flam_member_paths_add (paths, path);
  members =
      flam_members_new (source->data, source->size, FLAM_MEMBERS_MOST, paths);
  return members != NULL && flam_members_has (members, path);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  gboolean session = is_session (load->source);
  const guint8 *page = find_data (load->source);
  Reader reader = { .builder = load->builder,
                    .json = flam_json_load (load, page),
                    .nodes = flam_arena_array (load, Node),
                    .open = flam_arena_array (load, guint32) };
  guint measure = flam_load_measures (load->builder, FLAM_STANDARD_WALL_TIME);

  if (session)
    {
      flam_builder_set_has_times (load->builder);
      flam_builder_set_spans (load->builder, measure, FLAM_SPANS_SAMPLES);
    }
  reader.thread = flam_builder_lone_thread (load->builder);
  read_document (&reader, session);
  if (!end (load, &reader, page != NULL, error))
    return FALSE;
  if (!reader.found)
    return flam_source_invalid (
        load->source, error, N_ ("this pyinstrument report has no frames"));
  add_tree (&reader);
  return TRUE;
}

const FlamImporter flam_import_pyinstrument = {
  .id = "pyinstrument",
  .label = "pyinstrument",
  .written_by = "pyinstrument, as JSON, HTML or a session",
  .suffixes = FLAM_LIST (".pyisession", ".json", ".html"),
  .mime_types = FLAM_LIST ("application/json", "text/html"),
  .signs = FLAM_SIGNS (
      FLAM_MEMBERS (90, "root_frame", "sample_count"),
      FLAM_MEMBERS (90, "session.target_description"),
      FLAM_HEAD (90, '<', 65536, "id=\"app\"", "pyinstrumentHTMLRenderer"),
      FLAM_MEMBERS (90, "frame_records")),
  .load = load,
};
