/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-anonymize.h"

#include "flam-identity.h"

#include <string.h>
#include <unistd.h>

#define KEY_SIZE 32
#define HASH_DIGITS 14
#define BUILD_ID_DIGITS 40

typedef struct
{
  FlamBuilder *builder;
  FlamTables *tables;
  FlamAnonymize degree;
  FlamStrings before;
  guint8 key[KEY_SIZE];
  guint8 *system; /* per module: it belongs to the system */
  FlamIdentity *identity;
  /* For each kind: original text -> FlamId, and new text -> original text. */
  GHashTable *done[FLAM_N_ROLES];
  GHashTable *origin[FLAM_N_ROLES];
} Cleaning;

const char *
flam_anonymize_to_string (FlamAnonymize degree)
{
  static const char *const words[FLAM_N_ANONYMIZE] = { "nothing",
                                                       "paths",
                                                       "names" };

  return words[degree];
}

/* --- hashing -------------------------------------------------------------- */

/* 0: texts are left out. */
static const char letters[FLAM_N_ROLES] = {
  [FLAM_ROLE_FUNCTION] = 'f', [FLAM_ROLE_MODULE] = 'm',
  [FLAM_ROLE_FILE] = 's',     [FLAM_ROLE_TASK] = 't',
  [FLAM_ROLE_MARK] = 'k',     [FLAM_ROLE_MEASURE] = 'e',
  [FLAM_ROLE_LABEL] = 'l',
};

static char *
hash (const Cleaning *self, FlamTextRole kind, const char *text)
{
  g_autofree char *digits = g_compute_hmac_for_string (
      G_CHECKSUM_SHA256, self->key, KEY_SIZE, text, -1);

  if (kind == FLAM_ROLE_BUILD_ID && *text != '\0')
    return g_strndup (digits, BUILD_ID_DIGITS);
  if (*text == '\0' || letters[kind] == 0)
    return g_strdup ("");
  return g_strdup_printf ("%c_%.*s", letters[kind], HASH_DIGITS, digits);
}

/* --- the system's --------------------------------------------------------- */

static gboolean
is_system_module (const char *path)
{
  static const char *const folders[] = {
    "/lib",       "/lib32",     "/lib64",      "/libx32", "/usr/lib",
    "/usr/lib32", "/usr/lib64", "/usr/libx32", NULL
  };
  static const char *const kernel[] = { "[vdso]",  "[vsyscall]", "[heap]",
                                        "[stack]", "[anon]",     "[jit]",
                                        NULL };
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *parent = g_path_get_dirname (folder);

  if (g_strv_contains (kernel, path) || g_str_has_prefix (path, "[kernel"))
    return TRUE;
  if (!g_str_has_prefix (name, "lib") && !g_str_has_prefix (name, "ld-"))
    return FALSE;
  /* As a file name, and in "x86_64-linux-gnu". */
  return strstr (name, ".so") != NULL &&
         (g_strv_contains (folders, folder) ||
          (g_strv_contains (folders, parent) &&
           strstr (folder, "-linux-gnu") != NULL));
}

static gboolean
is_module_kept (const Cleaning *self, FlamModuleId module)
{
  return module != FLAM_NONE && self->system[module];
}

/* Names that Flambeau itself gives. */
static gboolean
is_own_name (const char *name)
{
  static const char *const own[] = { "",       "[unknown]", "[not sampled]",
                                     "[root]", "[jit]",     NULL };

  return g_strv_contains (own, name);
}

static gboolean
is_common_measure (const char *id)
{
  static const char *const common[] = { "samples",        "cpu-time",
                                        "wall-time",      "time",
                                        "calls",          "allocated",
                                        "live",           "allocations",
                                        "cpu-clock",      "task-clock",
                                        "cycles",         "instructions",
                                        "cache-misses",   "cache-references",
                                        "branches",       "branch-misses",
                                        "page-faults",    "context-switches",
                                        "cpu-migrations", "rss",
                                        "heap",           NULL };
  g_autofree char *name = g_strndup (id, strcspn (id, ":/"));

  return g_strv_contains (common, name);
}

/* Whether a row's texts belong to the system, or are common ones. */
static gboolean
is_row_kept (const Cleaning *self, FlamTable table, FlamId row)
{
  const FlamTables *tables = self->tables;
  const FlamProfile *profile = &tables->profile;
  const FlamFunctions *functions = &profile->functions;
  FlamFunctionId function;

  switch ((guint)table)
    {
    case FLAM_TABLE_MODULES:
      return is_module_kept (self, row);
    case FLAM_TABLE_FUNCTIONS:
      return functions->module[row] != FLAM_NONE
                 ? is_module_kept (self, functions->module[row])
                 : functions->kind[row] == FLAM_KIND_KERNEL ||
                       is_own_name (flam_strings_get (&self->before,
                                                      functions->name[row]));
    case FLAM_TABLE_FRAMES:
      function = profile->frames.function[row];
      return is_module_kept (self,
                             function != FLAM_NONE ? functions->module[function]
                                                   : tables->frame_module[row]);
    case FLAM_TABLE_MEASURES:
      return tables->measures.source[row] != FLAM_FROM_SAMPLES ||
             is_common_measure (
                 flam_strings_get (&self->before, tables->measures.id[row]));
    case FLAM_TABLE_COUNTERS:
      return is_common_measure (
          flam_strings_get (&self->before, tables->counters.id[row]));
    default:
      return table == FLAM_TABLE_FACTS; /* the facts that remain */
    }
}

/* Computed for all rows first, since the texts that it depends on are about to
   change. */
static guint8 *
find_kept (const Cleaning *self, FlamTable table)
{
  guint32 n = *flam_tables_n (self->tables, table);
  guint8 *kept = g_malloc ((gsize)n + 1);

  for (FlamId i = 0; i < n; i++)
    kept[i] = is_row_kept (self, table, i);
  return kept;
}

/* --- texts ---------------------------------------------------------------- */

/* A program's name is kept if no functions are private. */
static char *
program_of (const char *command)
{
  g_auto (GStrv) words = NULL;

  if (!g_shell_parse_argv (command, NULL, &words, NULL))
    words = g_strsplit (command, " ", 2);
  return words[0] != NULL ? g_path_get_basename (words[0]) : g_strdup ("");
}

/* Kinds of texts in which a word that is also a user's name rarely means the
 * user. */
static gboolean
names_persons (FlamTextRole kind)
{
  return kind != FLAM_ROLE_FUNCTION && kind != FLAM_ROLE_MEASURE &&
         kind != FLAM_ROLE_BUILD_ID && kind != FLAM_ROLE_FACT;
}

static char *
cleaned (const Cleaning *self,
         FlamTextRole kind,
         const char *text,
         gboolean kept)
{
  guint counted = 0;

  if (kind == FLAM_ROLE_PRIVATE)
    return g_strdup ("");
  if (self->degree == FLAM_ANONYMIZE_NAMES && !kept)
    return hash (self, kind, text);
  return flam_identity_shorten (
      self->identity, text, names_persons (kind), &counted);
}

/* Two different texts never get the same replacement. */
static FlamId
clean (Cleaning *self, FlamTextRole kind, FlamStringId string, gboolean kept)
{
  gpointer key = GUINT_TO_POINTER (2 * (gsize)string + (kept ? 1 : 0));
  g_autofree char *now = NULL;
  const char *text;
  const char *other;
  gpointer found;
  FlamId id;

  if (string == FLAM_NONE)
    return FLAM_NONE;
  text = flam_strings_get (&self->before, string);
  if (g_hash_table_lookup_extended (self->done[kind], key, NULL, &found))
    return GPOINTER_TO_UINT (found);
  now = cleaned (self, kind, text, kept);
  other = g_hash_table_lookup (self->origin[kind], now);
  for (guint i = 2;
       other != NULL && letters[kind] != 0 && strcmp (other, text) != 0;
       i++)
    {
      g_autofree char *next = g_strdup_printf ("%s (%u)", now, i);

      other = g_hash_table_lookup (self->origin[kind], next);
      if (other == NULL || strcmp (other, text) == 0)
        {
          g_free (now);
          now = g_steal_pointer (&next);
          break;
        }
    }
  id = flam_builder_string (self->builder, now, -1);
  g_hash_table_insert (self->done[kind], key, GUINT_TO_POINTER (id));
  g_hash_table_insert (
      self->origin[kind], g_steal_pointer (&now), (gpointer)text);
  return id;
}

/* Whether a fact is the id of a measure. */
static gboolean
is_measure (const Cleaning *self,
            FlamTable table,
            FlamTextRole kind,
            guint32 row)
{
  static const char *const keys[] = { FLAM_FACT_SPANS,
                                      FLAM_FACT_SAMPLED_SPANS,
                                      NULL };
  const FlamFactRows *facts = &self->tables->facts;

  return table == FLAM_TABLE_FACTS && kind == FLAM_ROLE_VALUE &&
         g_strv_contains (
             keys, flam_builder_get_string (self->builder, facts->key[row]));
}

static void
clean_column (Cleaning *self,
              FlamTable table,
              const FlamColumnInfo *info,
              const guint8 *kept)
{
  FlamId *cells = *flam_tables_array (self->tables, info);
  guint32 n = *flam_tables_n (self->tables, table);

  for (guint32 i = 0; cells != NULL && i < n; i++)
    if (is_measure (self, table, info->role, i))
      cells[i] = clean (
          self,
          FLAM_ROLE_MEASURE,
          cells[i],
          is_common_measure (flam_strings_get (&self->before, cells[i])));
    else
      cells[i] = clean (self, info->role, cells[i], kept[i]);
}

static gboolean
is_text (const FlamColumnInfo *info)
{
  return info->refers_to == FLAM_TABLE_STRINGS &&
         (info->encoding == FLAM_ENCODE_ID || info->flags & FLAM_COLUMN_REFERS);
}

/* --- rows that go --------------------------------------------------------- */

/* A number, or one of the few words that are known to this version. */
static gboolean
is_fact_plain (const char *key, const char *value)
{
  static const char *const known[] = {
    FLAM_FACT_MODE,      FLAM_FACT_RATE,          FLAM_FACT_EXIT_STATUS,
    FLAM_FACT_PEAK_TIME, FLAM_FACT_HAS_TIMES,     FLAM_FACT_MEASURES_LISTED,
    FLAM_FACT_SPANS,     FLAM_FACT_SAMPLED_SPANS, NULL
  };

  return g_strv_contains (known, key) ||
         (flam_fact_of_key (key) != NULL &&
          value[strspn (value, "-0123456789")] == '\0');
}

static void
clean_facts (Cleaning *self)
{
  FlamFactRows *facts = &self->tables->facts;
  guint32 n = 0;

  for (guint32 i = 0; i < facts->n; i++)
    {
      const char *key = flam_builder_get_string (self->builder, facts->key[i]);
      const char *value =
          flam_builder_get_string (self->builder, facts->value[i]);
      gboolean command = strcmp (key, "command") == 0;
      FlamId now = facts->value[i];

      if (command && self->degree == FLAM_ANONYMIZE_PATHS)
        {
          g_autofree char *program = program_of (value);

          now = flam_builder_string (self->builder, program, -1);
        }
      else if (g_str_has_prefix (key, FLAM_FACT_HOST) ||
               (self->degree == FLAM_ANONYMIZE_NAMES &&
                !is_fact_plain (key, value)))
        continue;
      flam_cell (facts->key, FlamId, n) = facts->key[i];
      flam_cell (facts->value, FlamId, n++) = now;
    }
  facts->n = n;
}

static void
drop_all (Cleaning *self, FlamTable table)
{
  flam_tables_drop (self->tables, table, *flam_tables_n (self->tables, table));
}

/* An unknown fact may contain anything. */
static void
drop_private (Cleaning *self)
{
  clean_facts (self);
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    {
      flam_tables_drop_extras (self->tables, t);
      if (flam_table_is_newer (t))
        self->tables->newer[t - FLAM_TABLE_NEWER] = (FlamNewerRows){ 0 };
    }
  if (self->degree != FLAM_ANONYMIZE_NAMES)
    return;
  drop_all (self, FLAM_TABLE_WARNINGS);
  drop_all (self, FLAM_TABLE_NOTES);
  drop_all (self, FLAM_TABLE_SOURCES);
}

static void
tell (Cleaning *self)
{
  flam_builder_note_warning (self->builder,
                             self->degree == FLAM_ANONYMIZE_NAMES
                                 ? N_ ("saved for sharing: names are hashed, "
                                       "except those of the system's libraries")
                                 : N_ ("saved for sharing: paths are shortened "
                                       "and arguments are left out"));
}

/* --- remaining data
 * --------------------------------------------------------- */

static gboolean
is_hashed (FlamTextRole kind, const char *text)
{
  return letters[kind] != 0 && text[0] == letters[kind] && text[1] == '_' &&
         strspn (text + 2, "0123456789abcdef") >= HASH_DIGITS;
}

static void
count_text (const Cleaning *self,
            FlamTextRole kind,
            const char *text,
            FlamRemains *remains)
{
  guint counted = 0;

  if (*text == '\0')
    return;
  if (is_hashed (kind, text))
    {
      remains->hashed[kind]++;
      return;
    }
  remains->clear[kind]++;
  if (kind == FLAM_ROLE_SOURCE)
    remains->source_bytes += strlen (text);
  g_free (flam_identity_shorten (
      self->identity, text, names_persons (kind), &counted));
  remains->personal |= counted > 0;
}

/* Checks the texts that are about to be written, regardless of the previous
 * steps. */
static void
count_remains (const Cleaning *self, FlamRemains *remains)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  const char *command = flam_builder_noted (self->builder, "command");

  *remains = (FlamRemains){ .command = command != NULL && *command != '\0' };
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    for (guint c = 0; c < flam_table_infos[t].n_columns; c++)
      {
        const FlamColumnInfo *info = &flam_table_infos[t].columns[c];
        const FlamId *cells = info->encoding == FLAM_ENCODE_ID && is_text (info)
                                  ? *flam_tables_array (self->tables, info)
                                  : NULL;
        guint32 n = cells != NULL ? *flam_tables_n (self->tables, t) : 0;

        for (guint32 i = 0; i < n; i++)
          {
            gsize key = cells[i] * (gsize)FLAM_N_ROLES + info->role;

            if (cells[i] != FLAM_NONE &&
                g_hash_table_add (seen, GSIZE_TO_POINTER (key)))
              count_text (self,
                          info->role,
                          flam_builder_get_string (self->builder, cells[i]),
                          remains);
          }
      }
}

/* --- the front door ------------------------------------------------------- */

static void
clean_tables (Cleaning *self)
{
  const FlamModules *modules = &self->tables->profile.modules;

  self->system = g_malloc ((gsize)modules->n + 1);
  for (FlamId i = 0; i < modules->n; i++)
    self->system[i] =
        is_system_module (flam_strings_get (&self->before, modules->path[i]));
  for (guint t = FLAM_TABLE_MODULES; t < FLAM_N_TABLES; t++)
    {
      g_autofree guint8 *kept = find_kept (self, t);

      for (guint c = 0; c < flam_table_infos[t].n_columns; c++)
        if (is_text (&flam_table_infos[t].columns[c]))
          clean_column (self, t, &flam_table_infos[t].columns[c], kept);
    }
  g_free (self->system);
}

/* All strings are added anew: those that are not referred to are dropped. */
static void
clean_all (Cleaning *self)
{
  for (guint i = 0; i < FLAM_N_ROLES; i++)
    {
      self->done[i] = g_hash_table_new (NULL, NULL);
      self->origin[i] =
          g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    }
  self->before = self->tables->strings;
  flam_strings_init (&self->tables->strings);
  clean_tables (self);
  for (guint i = 0; i < FLAM_N_ROLES; i++)
    {
      g_hash_table_unref (self->done[i]);
      g_hash_table_unref (self->origin[i]);
    }
  flam_strings_clear (&self->before);
}

void
flam_builder_anonymize (FlamBuilder *builder,
                        FlamAnonymize degree,
                        const char *home,
                        const char *const *words,
                        FlamRemains *remains)
{
  Cleaning self = { builder, flam_builder_tables (builder), degree };
  int failed = getentropy (self.key, KEY_SIZE);

  g_assert (failed == 0);
  self.identity = flam_identity_new (&self.tables->strings, home, words);
  if (degree != FLAM_ANONYMIZE_NOTHING)
    {
      drop_private (&self);
      clean_all (&self);
      tell (&self);
    }
  if (remains != NULL)
    count_remains (&self, remains);
  flam_identity_free (self.identity);
}
