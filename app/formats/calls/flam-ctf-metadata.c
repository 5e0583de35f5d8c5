/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ctf-metadata.h"

#include "flam-bytes.h"
#include "flam-text.h"

#include <string.h>

/* A packet of the text: u32 magic, u8 uuid[16], u32 checksum, u32 bits of
 * content, u32 bits of the packet, u8 compression, u8 encryption, u8 kind of
 * checksum, u8 major, u8 minor. */
#define PACKET_MAGIC 0x75d11d57
#define PACKET_HEAD 37

#define MOST_TEXT (64 << 20)

typedef enum
{
  END = 0,
  /* Others are characters. */
  WORD = 256,
  NUMBER,
  TEXT,
  TYPE_ASSIGN, /* := */
  RANGE,       /* ... */
} Token;

typedef struct
{
  FlamCtf *ctf;
  const char *start, *p, *end;
  int token;
  FlamSlice text; /* of a word or a text */
  guint64 number;
  guint depth;
  GPtrArray *scopes; /* GHashTable: "struct name" -> FlamCtfType */
  const char *why;   /* it failed */
  gsize at;          /* there */
} Parser;

/* --- tokens -------------------------------------------------------------- */

static gboolean
fail (Parser *parser, const char *why)
{
  if (parser->why == NULL)
    {
      parser->why = why;
      parser->at = parser->p - parser->start;
    }
  parser->token = END;
  parser->p = parser->end;
  return FALSE;
}

static void
skip_space (Parser *parser)
{
  while (parser->p < parser->end)
    {
      gsize left = parser->end - parser->p;
      const char *close;

      if (g_ascii_isspace (*parser->p) || *parser->p == '\0')
        parser->p++;
      else if (left >= 2 && memcmp (parser->p, "/*", 2) == 0)
        {
          close = memmem (parser->p + 2, left - 2, "*/", 2);
          parser->p = close != NULL ? close + 2 : parser->end;
        }
      else if (left >= 2 && memcmp (parser->p, "//", 2) == 0)
        {
          close = memchr (parser->p, '\n', left);
          parser->p = close != NULL ? close : parser->end;
        }
      else
        return;
    }
}

static void
read_number (Parser *parser)
{
  guint base = 10;

  parser->token = NUMBER;
  parser->number = 0;
  if (*parser->p == '0' && parser->p + 1 < parser->end)
    {
      base = 8;
      if ((parser->p[1] | 32) == 'x' || (parser->p[1] | 32) == 'b')
        {
          base = (parser->p[1] | 32) == 'x' ? 16 : 2;
          parser->p += 2;
        }
    }
  for (; parser->p < parser->end; parser->p++)
    {
      int digit = g_ascii_xdigit_value (*parser->p);

      if (digit < 0 || digit >= (int)base)
        break;
      parser->number = parser->number * base + (guint)digit;
    }
  while (parser->p < parser->end && strchr ("uUlL", *parser->p) != NULL)
    parser->p++;
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

static void
next (Parser *parser)
{
  const char *start;

  skip_space (parser);
  start = parser->p;
  if (start == parser->end)
    {
      parser->token = END;
      return;
    }
  if (g_ascii_isdigit (*start))
    {
      read_number (parser);
      return;
    }
  parser->p++;
  parser->token = (guchar)*start;
  if (*start == '"')
    {
      while (parser->p < parser->end && *parser->p != '"')
        parser->p += *parser->p == '\\' && parser->p + 1 < parser->end ? 2 : 1;
      parser->token = TEXT;
      parser->text = (FlamSlice){ start + 1, (gsize)(parser->p - start - 1) };
      if (parser->p == parser->end)
        fail (parser, N_ ("a string is not terminated"));
      else
        parser->p++;
    }
  else if (is_word (*start))
    {
      while (parser->p < parser->end && is_word (*parser->p))
        parser->p++;
      parser->token = WORD;
      parser->text = (FlamSlice){ start, (gsize)(parser->p - start) };
    }
  else if (*start == ':' && parser->p < parser->end && *parser->p == '=')
    {
      parser->p++;
      parser->token = TYPE_ASSIGN;
    }
  else if (parser->end - start >= 3 && memcmp (start, "...", 3) == 0)
    {
      parser->p = start + 3;
      parser->token = RANGE;
    }
}

static gboolean
at_word (const Parser *parser, const char *word)
{
  return parser->token == WORD && flam_slice_is (parser->text, word);
}

static gboolean
accept (Parser *parser, int token)
{
  if (parser->token != token)
    return FALSE;
  next (parser);
  return TRUE;
}

static gboolean
expect (Parser *parser, int token)
{
  return accept (parser, token) ||
         fail (parser, N_ ("this was not expected here"));
}

/* --- names --------------------------------------------------------------- */

guint32
flam_ctf_name (FlamCtf *ctf, const char *text, gsize length)
{
  g_autofree char *name = NULL;
  gpointer found;

  if (length > 1 && *text == '_')
    {
      text++;
      length--;
    }
  name = g_strndup (text, length);
  found = g_hash_table_lookup (ctf->by_name, name);
  if (found == NULL)
    {
      g_ptr_array_add (ctf->names, name);
      found = GUINT_TO_POINTER (ctf->names->len - 1);
      g_hash_table_insert (ctf->by_name, name, found);
      name = NULL;
    }
  return GPOINTER_TO_UINT (found);
}

static guint32
name_of (Parser *parser)
{
  return flam_ctf_name (parser->ctf, parser->text.text, parser->text.length);
}

static char *
keep_text (Parser *parser)
{
  return flam_arena_keep (parser->ctf->load,
                          g_strndup (parser->text.text, parser->text.length),
                          g_free);
}

static FlamCtfClock *
clock_of (Parser *parser, guint32 name)
{
  FlamCtf *ctf = parser->ctf;
  FlamCtfClock *clock;

  for (guint i = 0; i < ctf->clocks->len; i++)
    {
      clock = ctf->clocks->pdata[i];
      if (clock->name == name)
        return clock;
    }
  clock = g_new0 (FlamCtfClock, 1);
  clock->name = name;
  clock->frequency = 1000000000;
  g_ptr_array_add (ctf->clocks, clock);
  return clock;
}

/* --- types --------------------------------------------------------------- */

static FlamCtfType *parse_type (Parser *parser, const char *stop);
static gboolean parse_fields (Parser *parser, FlamCtfType *type);

static FlamCtfType *
new_type (Parser *parser, FlamCtfKind kind)
{
  FlamCtfType *type = flam_arena_new (parser->ctf->load, FlamCtfType);

  type->kind = kind;
  type->align = 1;
  return type;
}

/* `type` has `inner` in it. */
static void
nest (Parser *parser, FlamCtfType *type, const FlamCtfType *inner)
{
  type->depth = MAX (type->depth, inner->depth + 1);
  if (type->depth > FLAM_CTF_DEPTH)
    fail (parser, N_ ("types are nested too deeply"));
}

static void
enter_scope (Parser *parser)
{
  g_ptr_array_add (
      parser->scopes,
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL));
}

static void
leave_scope (Parser *parser)
{
  g_ptr_array_set_size (parser->scopes, (int)parser->scopes->len - 1);
}

static void
define (Parser *parser, const char *kind, const char *name, FlamCtfType *type)
{
  GHashTable *scope = parser->scopes->pdata[parser->scopes->len - 1];

  g_hash_table_replace (scope, g_strconcat (kind, name, NULL), type);
}

static FlamCtfType *
look_up (Parser *parser, const char *kind, const char *name)
{
  g_autofree char *key = g_strconcat (kind, name, NULL);

  for (guint i = parser->scopes->len; i-- > 0;)
    {
      FlamCtfType *type = g_hash_table_lookup (parser->scopes->pdata[i], key);

      if (type != NULL)
        return type;
    }
  fail (parser, N_ ("this type is not described"));
  return NULL;
}

/* The words of a name, "unsigned long", up to any other token. */
static char *
read_words (Parser *parser)
{
  GString *name = g_string_new (NULL);

  for (; parser->token == WORD || parser->token == '*'; next (parser))
    {
      if (name->len > 0)
        g_string_append_c (name, ' ');
      if (parser->token == '*')
        g_string_append_c (name, '*');
      else
        g_string_append_len (
            name, parser->text.text, (gssize)parser->text.length);
    }
  return g_string_free (name, FALSE);
}

/* "a.b.c" -> the name of c; `text` gets its last word but one. */
static guint32
read_path (Parser *parser, FlamSlice *before)
{
  guint32 name = 0;
  FlamSlice last = { "", 0 };

  do
    {
      if (before != NULL)
        *before = last;
      last = parser->text;
      name = name_of (parser);
      if (!expect (parser, WORD))
        return 0;
    }
  while (accept (parser, '.'));
  return name;
}

static gboolean
is_true (const Parser *parser)
{
  return parser->token == NUMBER
             ? parser->number != 0
             : at_word (parser, "true") || at_word (parser, "TRUE");
}

static guint
to_align (Parser *parser, guint64 bits)
{
  if (bits == 0 || bits > 1 << 16 || (bits & (bits - 1)) != 0)
    fail (parser, N_ ("the alignment is not a power of two"));
  return (guint)CLAMP (bits, 1, 1 << 16);
}

/* "{ size = 8; align = 8; … }" of integers, floats and strings. */
static void
parse_attributes (Parser *parser, FlamCtfType *type)
{
  guint align = 0;
  guint64 size = type->size;

  while (parser->token != '}' && parser->token != END)
    {
      FlamSlice key = parser->text;

      if (!expect (parser, WORD) || !expect (parser, '='))
        return;
      if (flam_slice_is (key, "size") && parser->token == NUMBER)
        size = parser->number;
      else if (flam_slice_ends (key, "_dig") && parser->token == NUMBER)
        size += MIN (parser->number, 1024);
      else if (flam_slice_is (key, "align") && parser->token == NUMBER)
        align = to_align (parser, parser->number);
      else if (flam_slice_is (key, "signed"))
        type->is_signed = is_true (parser);
      else if (flam_slice_is (key, "byte_order"))
        type->order = at_word (parser, "le") ? FLAM_CTF_LITTLE
                      : at_word (parser, "be") || at_word (parser, "network")
                          ? FLAM_CTF_BIG
                          : FLAM_CTF_NATIVE;
      else if (flam_slice_is (key, "map") && parser->token == WORD)
        {
          FlamSlice clock;

          read_path (parser, &clock);
          type->clock = clock_of (
              parser, flam_ctf_name (parser->ctf, clock.text, clock.length));
          accept (parser, ';');
          continue;
        }
      next (parser);
      if (parser->token != '}')
        expect (parser, ';');
    }
  if (type->kind == FLAM_CTF_INTEGER && (size == 0 || size > 64))
    fail (parser, N_ ("an integer must have 1 to 64 bits"));
  type->size = (guint)MIN (size, 4096);
  if (type->kind == FLAM_CTF_INTEGER || type->kind == FLAM_CTF_FLOAT)
    type->align = align != 0 ? align : type->size % 8 == 0 ? 8 : 1;
}

static FlamCtfType *
parse_simple (Parser *parser, FlamCtfKind kind)
{
  FlamCtfType *type = new_type (parser, kind);

  next (parser);
  type->align = 8;
  if (accept (parser, '{'))
    {
      parse_attributes (parser, type);
      expect (parser, '}');
    }
  else if (kind != FLAM_CTF_STRING)
    fail (parser, N_ ("the size of a number is missing"));
  return type;
}

static FlamCtfType *
parse_struct (Parser *parser)
{
  g_autofree char *name = NULL;
  FlamCtfType *type = new_type (parser, FLAM_CTF_STRUCT);

  next (parser);
  if (parser->token == WORD)
    {
      name = g_strndup (parser->text.text, parser->text.length);
      next (parser);
    }
  if (!accept (parser, '{'))
    return look_up (parser, "struct ", name != NULL ? name : "");
  type->fields = flam_arena_array (parser->ctf->load, FlamCtfField);
  if (!parse_fields (parser, type))
    return NULL;
  for (guint i = 0; i < type->fields->len; i++)
    type->align = MAX (
        type->align, g_array_index (type->fields, FlamCtfField, i).type->align);
  if (at_word (parser, "align"))
    {
      next (parser);
      if (!expect (parser, '('))
        return NULL;
      type->align = MAX (type->align, to_align (parser, parser->number));
      if (!expect (parser, NUMBER) || !expect (parser, ')'))
        return NULL;
    }
  if (name != NULL)
    define (parser, "struct ", name, type);
  return type;
}

static FlamCtfType *
parse_variant (Parser *parser)
{
  g_autofree char *name = NULL;
  FlamCtfType *type = new_type (parser, FLAM_CTF_VARIANT);

  next (parser);
  if (parser->token == WORD)
    {
      name = g_strndup (parser->text.text, parser->text.length);
      next (parser);
    }
  if (accept (parser, '<'))
    {
      type->tag = read_path (parser, NULL);
      if (!expect (parser, '>'))
        return NULL;
    }
  if (!accept (parser, '{'))
    {
      const FlamCtfType *other =
          look_up (parser, "variant ", name != NULL ? name : "");

      if (other == NULL)
        return NULL;
      type->fields = other->fields;
      type->depth = other->depth;
      type->tag = type->tag != 0 ? type->tag : other->tag;
      return type;
    }
  type->fields = flam_arena_array (parser->ctf->load, FlamCtfField);
  if (!parse_fields (parser, type))
    return NULL;
  if (name != NULL)
    define (parser, "variant ", name, type);
  return type;
}

static gboolean
read_signed (Parser *parser, guint64 *value)
{
  gboolean minus = accept (parser, '-');

  accept (parser, '+');
  *value = minus ? -parser->number : parser->number;
  return expect (parser, NUMBER);
}

static gboolean
parse_labels (Parser *parser, FlamCtfType *type)
{
  guint64 value = 0;

  type->labels = flam_arena_array (parser->ctf->load, FlamCtfLabel);
  while (parser->token == WORD || parser->token == TEXT)
    {
      FlamCtfLabel label = { value, value, name_of (parser) };

      next (parser);
      if (accept (parser, '='))
        {
          if (!read_signed (parser, &label.from))
            return FALSE;
          label.to = label.from;
          if (accept (parser, RANGE) && !read_signed (parser, &label.to))
            return FALSE;
        }
      g_array_append_val (type->labels, label);
      value = label.to + 1;
      if (!accept (parser, ','))
        break;
    }
  return expect (parser, '}');
}

static FlamCtfType *
parse_enum (Parser *parser)
{
  g_autofree char *name = NULL;
  FlamCtfType *type = new_type (parser, FLAM_CTF_INTEGER);
  const FlamCtfType *base;

  next (parser);
  if (parser->token == WORD)
    {
      name = g_strndup (parser->text.text, parser->text.length);
      next (parser);
    }
  if (parser->token != ':' && parser->token != '{')
    return look_up (parser, "enum ", name != NULL ? name : "");
  base = accept (parser, ':') ? parse_type (parser, "{")
                              : look_up (parser, "", "int");
  if (base == NULL)
    return NULL;
  if (base->kind != FLAM_CTF_INTEGER)
    {
      fail (parser, N_ ("an enumeration must consist of integers"));
      return NULL;
    }
  *type = *base;
  if (!expect (parser, '{') || !parse_labels (parser, type))
    return NULL;
  if (name != NULL)
    define (parser, "enum ", name, type);
  return type;
}

static FlamCtfType *
parse_inner (Parser *parser)
{
  if (at_word (parser, "integer"))
    return parse_simple (parser, FLAM_CTF_INTEGER);
  if (at_word (parser, "floating_point"))
    return parse_simple (parser, FLAM_CTF_FLOAT);
  if (at_word (parser, "string"))
    return parse_simple (parser, FLAM_CTF_STRING);
  if (at_word (parser, "struct"))
    return parse_struct (parser);
  if (at_word (parser, "variant"))
    return parse_variant (parser);
  return at_word (parser, "enum") ? parse_enum (parser) : NULL;
}

/* A type, for which a name may stand if it ends with `stop`: NULL, or the token
 * that follows it. */
static FlamCtfType *
parse_type (Parser *parser, const char *stop)
{
  FlamCtfType *type = NULL;

  while (at_word (parser, "const"))
    next (parser);
  if (++parser->depth > FLAM_CTF_DEPTH)
    fail (parser, N_ ("types are nested too deeply"));
  else
    {
      type = parse_inner (parser);
      if (type == NULL && parser->why == NULL)
        {
          g_autofree char *name = read_words (parser);

          if (parser->token == *stop ||
              (*stop == ':' && parser->token == TYPE_ASSIGN))
            type = look_up (parser, "", name);
          else
            fail (parser, N_ ("a type was expected here"));
        }
    }
  parser->depth--;
  return parser->why == NULL ? type : NULL;
}

/* The type of "uint8_t a" and `name`, its last word. */
static FlamCtfType *
parse_named (Parser *parser, char **name)
{
  FlamCtfType *type;

  *name = NULL;
  while (at_word (parser, "const"))
    next (parser);
  parser->depth++;
  type = parser->depth <= FLAM_CTF_DEPTH ? parse_inner (parser) : NULL;
  parser->depth--;
  if (parser->depth >= FLAM_CTF_DEPTH)
    fail (parser, N_ ("types are nested too deeply"));
  if (parser->why != NULL)
    return NULL;
  if (type != NULL)
    {
      if (parser->token == WORD)
        *name = read_words (parser);
      return type;
    }
  {
    g_autofree char *words = read_words (parser);
    char *space = strrchr (words, ' ');

    if (space == NULL)
      {
        fail (parser, N_ ("a field needs a type and a name"));
        return NULL;
      }
    *space = '\0';
    *name = g_strdup (space + 1);
    return look_up (parser, "", words);
  }
}

/* "[4][n]" after a name: the last one is the innermost. */
static const FlamCtfType *
parse_lengths (Parser *parser, const FlamCtfType *type)
{
  FlamCtfType *array;

  if (!accept (parser, '['))
    return type;
  if (++parser->depth > FLAM_CTF_DEPTH)
    {
      fail (parser, N_ ("types are nested too deeply"));
      return type;
    }
  array = new_type (parser, FLAM_CTF_ARRAY);
  if (parser->token == NUMBER)
    {
      array->n = parser->number;
      next (parser);
    }
  else
    array->n_name = read_path (parser, NULL);
  expect (parser, ']');
  array->element = parse_lengths (parser, type);
  array->align = array->element->align;
  nest (parser, array, array->element);
  parser->depth--;
  return array;
}

/* "typealias integer { … } := uint8_t;" */
static gboolean
parse_alias (Parser *parser)
{
  FlamCtfType *type;
  g_autofree char *name = NULL;

  next (parser);
  type = parse_type (parser, ":");
  if (type == NULL || !expect (parser, TYPE_ASSIGN))
    return FALSE;
  name = read_words (parser);
  define (parser, "", name, type);
  return expect (parser, ';');
}

static gboolean
parse_typedef (Parser *parser)
{
  g_autofree char *name = NULL;
  const FlamCtfType *type;

  next (parser);
  type = parse_named (parser, &name);
  if (type == NULL || name == NULL)
    return fail (parser, N_ ("a type was expected here"));
  type = parse_lengths (parser, type);
  define (parser, "", name, (FlamCtfType *)type);
  return expect (parser, ';');
}

/* The fields of a structure or a variant, and the brace after them. */
static gboolean
parse_fields (Parser *parser, FlamCtfType *type)
{
  gboolean ok = TRUE;

  enter_scope (parser);
  while (ok && parser->token != '}')
    {
      g_autofree char *name = NULL;
      const FlamCtfType *field_type;

      if (parser->token == END)
        ok = fail (parser, N_ ("the text ends within a structure"));
      else if (at_word (parser, "typealias"))
        ok = parse_alias (parser);
      else if (at_word (parser, "typedef"))
        ok = parse_typedef (parser);
      else
        {
          field_type = parse_named (parser, &name);
          if (field_type == NULL)
            ok = FALSE;
          else if (name != NULL)
            {
              FlamCtfField field = {
                .name = flam_ctf_name (parser->ctf, name, strlen (name)),
                .type = parse_lengths (parser, field_type)
              };

              g_array_append_val (type->fields, field);
              nest (parser, type, field.type);
            }
          ok = ok && expect (parser, ';');
        }
    }
  leave_scope (parser);
  return ok && parser->why == NULL && expect (parser, '}');
}

/* --- blocks -------------------------------------------------------------- */

typedef enum
{
  TRACE,
  ENVIRONMENT,
  CLOCK,
  STREAM,
  EVENT,
  OTHER,
} Block;

typedef struct
{
  Block kind;
  FlamCtfClock clock;
  FlamCtfStream *stream;
  FlamCtfEvent *event;
} Described;

static void
set_value (Parser *parser, Described *what, FlamSlice key)
{
  FlamCtf *ctf = parser->ctf;
  gboolean minus = accept (parser, '-');
  guint64 number = minus ? -parser->number : parser->number;
  gboolean is_number = parser->token == NUMBER;

  if (what->kind == TRACE && flam_slice_is (key, "byte_order"))
    ctf->big_endian = at_word (parser, "be") || at_word (parser, "network");
  else if (what->kind == ENVIRONMENT && parser->token == TEXT)
    {
      if (flam_slice_is (key, "hostname"))
        ctf->host = keep_text (parser);
      else if (flam_slice_is (key, "domain"))
        ctf->domain = keep_text (parser);
    }
  else if (what->kind == CLOCK)
    {
      if (flam_slice_is (key, "name"))
        what->clock.name = name_of (parser);
      else if (flam_slice_is (key, "freq") && is_number)
        what->clock.frequency = MAX (number, 1);
      else if (flam_slice_is (key, "offset_s") && is_number)
        what->clock.seconds = (gint64)number;
      else if (flam_slice_is (key, "offset") && is_number)
        what->clock.offset = number;
    }
  else if (what->kind == STREAM && flam_slice_is (key, "id") && is_number)
    what->stream->id = number;
  else if (what->kind == EVENT)
    {
      if (flam_slice_is (key, "id") && is_number)
        what->event->id = number;
      else if (flam_slice_is (key, "stream_id") && is_number)
        what->event->stream = number;
      else if (flam_slice_is (key, "name") &&
               (parser->token == TEXT || parser->token == WORD))
        what->event->name = keep_text (parser);
    }
  /* Values that nothing here needs may be paths. */
  while (parser->token != ';' && parser->token != END)
    next (parser);
}

static void
set_type (Parser *parser,
          Described *what,
          FlamSlice before,
          FlamSlice key,
          const FlamCtfType *type)
{
  if (type->kind != FLAM_CTF_STRUCT)
    {
      fail (parser, N_ ("a structure was expected here"));
      return;
    }
  if (what->kind == TRACE && flam_slice_is (key, "header"))
    parser->ctf->packet_header = type;
  else if (what->kind == STREAM && flam_slice_is (key, "header"))
    what->stream->event_header = type;
  else if (what->kind == STREAM && flam_slice_is (before, "packet"))
    what->stream->packet_context = type;
  else if (what->kind == STREAM)
    what->stream->event_context = type;
  else if (what->kind == EVENT && flam_slice_is (key, "fields"))
    what->event->fields = type;
  else if (what->kind == EVENT)
    what->event->context = type;
}

/* "name = value;", "packet.header := struct { … };" or a definition. */
static gboolean
parse_line (Parser *parser, Described *what)
{
  FlamSlice before = { "", 0 }, key = { "", 0 };

  if (at_word (parser, "typealias"))
    return parse_alias (parser);
  if (at_word (parser, "typedef"))
    return parse_typedef (parser);
  if (at_word (parser, "struct") || at_word (parser, "enum") ||
      at_word (parser, "variant"))
    return parse_inner (parser) != NULL && expect (parser, ';');
  do
    {
      before = key;
      key = parser->text;
      if (!expect (parser, WORD))
        return FALSE;
    }
  while (accept (parser, '.'));
  if (accept (parser, '='))
    set_value (parser, what, key);
  else if (accept (parser, TYPE_ASSIGN))
    {
      const FlamCtfType *type = parse_type (parser, ";");

      if (type == NULL)
        return FALSE;
      set_type (parser, what, before, key, type);
    }
  return expect (parser, ';');
}

static gboolean
parse_block (Parser *parser, Block kind)
{
  FlamCtf *ctf = parser->ctf;
  Described what = { .kind = kind, .clock.frequency = 1000000000 };

  if (kind == STREAM)
    {
      what.stream = g_new0 (FlamCtfStream, 1);
      g_ptr_array_add (ctf->streams, what.stream);
    }
  if (kind == EVENT)
    {
      what.event = g_new0 (FlamCtfEvent, 1);
      what.event->name = "";
      g_ptr_array_add (ctf->events, what.event);
    }
  next (parser);
  if (!expect (parser, '{'))
    return FALSE;
  enter_scope (parser);
  while (parser->token != '}' && parser->why == NULL)
    if (parser->token == END)
      fail (parser, N_ ("the text ends within a block"));
    else
      parse_line (parser, &what);
  leave_scope (parser);
  if (kind == CLOCK)
    {
      guint32 name = what.clock.name;

      *clock_of (parser, name) = what.clock;
    }
  return expect (parser, '}') && expect (parser, ';');
}

static void
parse (Parser *parser)
{
  static const struct
  {
    const char *word;
    Block kind;
  } blocks[] = {
    { "trace", TRACE },   { "env", ENVIRONMENT }, { "clock", CLOCK },
    { "stream", STREAM }, { "event", EVENT },     { "callsite", OTHER },
  };

  enter_scope (parser);
  next (parser);
  while (parser->token != END)
    {
      guint i = 0;
      Described none = { .kind = OTHER };

      while (i < G_N_ELEMENTS (blocks) && !at_word (parser, blocks[i].word))
        i++;
      if (i < G_N_ELEMENTS (blocks))
        parse_block (parser, blocks[i].kind);
      else if (!accept (parser, ';'))
        parse_line (parser, &none);
    }
}

/* --- the file ------------------------------------------------------------ */

static guint64
get (const guint8 *at, guint size, gboolean big)
{
  guint64 value = flam_bytes_get (at, size);

  return big ? GUINT64_SWAP_LE_BE (value) >> (64 - 8 * size) : value;
}

/* The text of all packets, into `text`. FALSE: they are damaged. */
static gboolean
join_packets (const FlamSource *source, gboolean big, GString *text)
{
  gsize at = 0;

  while (source->size - at >= PACKET_HEAD)
    {
      const guint8 *head = source->data + at;
      gsize content = get (head + 24, 4, big) / 8;
      gsize size = get (head + 28, 4, big) / 8;

      if (get (head, 4, big) != PACKET_MAGIC || content < PACKET_HEAD ||
          size < content || size > source->size - at || head[32] != 0 ||
          head[33] != 0)
        return FALSE;
      g_string_append_len (
          text, (const char *)head + PACKET_HEAD, content - PACKET_HEAD);
      at += size;
    }
  return at == source->size;
}

FlamCtf *
flam_ctf_read (FlamLoad *load, const FlamSource *metadata, GError **error)
{
  FlamCtf *ctf = flam_arena_new (load, FlamCtf);
  g_autoptr (GPtrArray) scopes =
      g_ptr_array_new_with_free_func ((GDestroyNotify)g_hash_table_unref);
  Parser parser = { .ctf = ctf, .scopes = scopes };
  GString *text = flam_arena_string (load);
  gboolean little =
      metadata->size >= 4 && get (metadata->data, 4, FALSE) == PACKET_MAGIC;
  gboolean big =
      metadata->size >= 4 && get (metadata->data, 4, TRUE) == PACKET_MAGIC;

  ctf->load = load;
  ctf->names = flam_arena_pointers (load, NULL);
  ctf->by_name = flam_arena_table (load, FLAM_KEY_TEXT, NULL);
  ctf->clocks = flam_arena_pointers (load, g_free);
  ctf->streams = flam_arena_pointers (load, g_free);
  ctf->events = flam_arena_pointers (load, g_free);
  ctf->host = ctf->domain = "";
  g_ptr_array_add (ctf->names, (gpointer) "");
  parser.start = (const char *)metadata->data;
  parser.end = parser.start + metadata->size;
  if (little || big)
    {
      if (metadata->size > MOST_TEXT || !join_packets (metadata, big, text))
        {
          flam_source_invalid (
              metadata,
              error,
              N_ ("the packets of the description are damaged"));
          return NULL;
        }
      parser.start = text->str;
      parser.end = text->str + text->len;
    }
  if (parser.end - parser.start > MOST_TEXT)
    {
      flam_source_invalid (
          metadata, error, N_ ("the description of the trace is too long"));
      return NULL;
    }
  parser.p = parser.start;
  parse (&parser);
  if (parser.why != NULL)
    {
      guint line = 1;

      for (gsize i = 0; i < parser.at; i++)
        line += parser.start[i] == '\n';
      flam_source_error (metadata,
                         error,
                         FLAM_ERROR_INVALID,
                         FLAM_NO_OFFSET,
                         N_ ("the description of the trace is invalid in line "
                             "%u: %s"),
                         line,
                         _ (parser.why));
      return NULL;
    }
  return ctf;
}

const FlamCtfStream *
flam_ctf_stream (const FlamCtf *ctf, guint64 id)
{
  for (guint i = 0; i < ctf->streams->len; i++)
    {
      const FlamCtfStream *stream = ctf->streams->pdata[i];

      if (stream->id == id)
        return stream;
    }
  return NULL;
}
