/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* libiberty's D demangler cannot be interrupted, so back references, the only
 * construct that makes its output explode, are counted beforehand. */
#define D_MANGLED_MAX 4096
#define D_BACK_REFERENCES_MAX 24

/* libiberty's callback demanglers allocate nothing, so that a jump out of the
 * callback leaks nothing. */
typedef struct
{
  GString *text;
  jmp_buf too_long;
} Output;

typedef int (*Demangler) (const char *name,
                          int options,
                          demangle_callbackref callback,
                          void *data);

static void
collect (const char *piece, size_t size, void *data)
{
  Output *output = data;

  if (output->text->len + size > FLAM_DEMANGLED_MAX)
    longjmp (output->too_long, 1);
  g_string_append_len (output->text, piece, (gssize)size);
}

static char *
run (Demangler demangler, const char *name, int options)
{
  Output output = { .text = g_string_sized_new (128) };
  char *result;

  if (setjmp (output.too_long) == 0 &&
      demangler (name, options, collect, &output) != 0 && output.text->len > 0)
    return g_string_free (output.text, FALSE);
  result = NULL;
  g_string_free (output.text, TRUE);
  return result;
}

/* Legacy Rust names are C++ names that end in a hash: "17h<16 hex>E", after
 * which LLVM may add ".llvm.123". There may be dots before, too: ".." is "::"
 * within a part of the name. */
static gboolean
is_legacy_rust (const char *name)
{
  for (const char *hash = strstr (name, "17h"); hash != NULL;
       hash = strstr (hash + 1, "17h"))
    {
      const char *digits = hash + 3;
      guint n = 0;

      while (n < 16 && g_ascii_isxdigit (digits[n]))
        n++;
      if (n == 16 && digits[n] == 'E' &&
          (digits[n + 1] == '\0' || digits[n + 1] == '.'))
        return TRUE;
    }
  return FALSE;
}

/* "a.b!(int).c(int)" -> "a.b!(int).c" */
static void
drop_parameters (char *text)
{
  gsize n = strlen (text);
  guint depth = 0;

  if (n == 0 || text[n - 1] != ')')
    return;
  for (gsize i = n; i-- > 0;)
    {
      if (text[i] == ')')
        depth++;
      else if (text[i] == '(' && --depth == 0)
        {
          if (i > 0 && text[i - 1] != '!')
            text[i] = '\0';
          return;
        }
    }
}

static char *
demangle_d (const char *name)
{
  guint references = 0;
  char *raw;
  char *result;

  if (strlen (name) > D_MANGLED_MAX)
    return NULL;
  for (const char *p = name; *p; p++)
    references += *p == 'Q';
  if (references > D_BACK_REFERENCES_MAX)
    return NULL;
  raw = dlang_demangle (name, DMGL_NO_OPTS);
  result = g_strdup (raw);
  free (raw);
  if (result)
    drop_parameters (result);
  return result;
}

/* The length of the part before "::h<16 hex>", the hash of a legacy Rust name;
 * 0: none. Hashes have many different digits. */
static gsize
before_rust_hash (const char *name, gsize length)
{
  const char *hash = name + length - strlen ("::h0123456789abcdef");
  guint seen = 0;

  if (length <= strlen ("::h0123456789abcdef") ||
      !g_str_has_prefix (hash, "::h"))
    return 0;
  for (const char *p = hash + 3; p < name + length; p++)
    {
      int digit = g_ascii_xdigit_value (*p);
      if (digit < 0)
        return 0;
      seen |= 1u << digit;
    }
  return __builtin_popcount (seen) >= 5 ? (gsize)(hash - name) : 0;
}

/* Tools without Rust support demangle its legacy names as C++:
 * "_$LT$F$u20$as$u20$a..B$GT$::run::h<16 hex> (.llvm.12)". As its parts contain
 * no "::" then, the mangled name can be reconstructed. Names in their final
 * form only lose the hash. */
static char *
finish_rust (const char *name)
{
  const char *clone = strstr (name, " (.llvm.");
  gsize length = clone != NULL ? (gsize)(clone - name) : strlen (name);
  gsize end = before_rust_hash (name, length);
  g_autoptr (GString) mangled = NULL;
  char *whole = NULL;

  if (end == 0)
    return NULL;
  if (strcspn (name, "<>(){} ,") >= end)
    {
      mangled = g_string_new ("_ZN");
      for (const char *part = name; part < name + length;)
        {
          const char *next = strstr (part, "::");
          gsize n = next != NULL && next < name + length
                        ? (gsize)(next - part)
                        : (gsize)(name + length - part);
          g_string_append_printf (
              mangled, "%" G_GSIZE_FORMAT "%.*s", n, (int)n, part);
          part += n + 2;
        }
      g_string_append_c (mangled, 'E');
      whole = run (rust_demangle_callback, mangled->str, DMGL_RUST);
    }
  return whole != NULL ? whole : g_strndup (name, end);
}

char *
flam_demangle (const char *name)
{
  char *finished;

  if (strnlen (name, FLAM_MANGLED_MAX) == FLAM_MANGLED_MAX)
    return NULL;
  finished = finish_rust (name);
  if (finished != NULL || name[0] != '_')
    return finished;
  if (name[1] == '_' && (name[2] == 'Z' || name[2] == 'R'))
    name++; /* as on macOS, where C names have the prefix, too */
  if (name[1] == 'R' || (name[1] == 'Z' && is_legacy_rust (name)))
    return run (rust_demangle_callback, name, DMGL_RUST);
  if (name[1] == 'Z' || strncmp (name, "_GLOBAL_", 8) == 0)
    return run (cplus_demangle_v3_callback, name, DMGL_NO_OPTS);
  if (name[1] == 'D')
    return demangle_d (name);
  return NULL;
}

char *
flam_demangle_whole (const char *name)
{
  if (strnlen (name, FLAM_MANGLED_MAX) == FLAM_MANGLED_MAX)
    return NULL;
  if (strncmp (name, "__Z", 3) == 0)
    name++;
  if (strncmp (name, "_Z", 2) != 0 || is_legacy_rust (name))
    return NULL;
  return run (cplus_demangle_v3_callback,
              name,
              DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
}

/* The letters that follow a z or Z, and their meanings. */
static const char small_codes[][2] = {
  { 'a', '&' }, { 'b', '|' }, { 'c', '^' },  { 'd', '$' },  { 'e', '=' },
  { 'g', '>' }, { 'h', '#' }, { 'i', '.' },  { 'l', '<' },  { 'm', '-' },
  { 'n', '!' }, { 'p', '+' }, { 'q', '\'' }, { 'r', '\\' }, { 's', '/' },
  { 't', '*' }, { 'u', '_' }, { 'v', '%' },  { 'z', 'z' },
};
static const char large_codes[][2] = {
  { 'L', '(' }, { 'R', ')' }, { 'M', '[' },
  { 'N', ']' }, { 'C', ':' }, { 'Z', 'Z' },
};

static char
z_character (const char (*codes)[2], gsize n, char code)
{
  for (gsize i = 0; i < n; i++)
    if (codes[i][0] == code)
      return codes[i][1];
  return '\0';
}

/* "z1b7U" is a character by its hexadecimal number. NULL: invalid. */
static const char *
z_number (const char *at, GString *text)
{
  char *end;
  guint64 c = g_ascii_strtoull (at, &end, 16);

  if (*end != 'U' || c == 0 || c > G_MAXUINT32 ||
      !g_unichar_validate ((gunichar)c))
    return NULL;
  g_string_append_unichar (text, (gunichar)c);
  return end + 1;
}

/* "Z3T" is a tuple of 3, "Z3H" the same unboxed. */
static const char *
z_tuple (const char *at, GString *text)
{
  char *end;
  guint64 n = g_ascii_strtoull (at, &end, 10);
  const char *mark = *end == 'H' ? "#" : "";

  if ((*end != 'T' && *end != 'H') || n > 64)
    return NULL;
  g_string_append_printf (text, "(%s", mark);
  for (guint64 i = 1; i < n; i++)
    g_string_append_c (text, ',');
  g_string_append_printf (text, "%s)", mark);
  return end + 1;
}

/* Appends a part of a name up to `end`. FALSE: invalid. */
static gboolean
z_decode (const char *at, const char *end, GString *text)
{
  while (at != NULL && at < end)
    {
      gboolean small = *at == 'z';
      char c = at[0];

      if ((c != 'z' && c != 'Z') || at + 1 >= end)
        g_string_append_c (text, *at++);
      else if (g_ascii_isdigit (at[1]))
        at = small ? z_number (at + 1, text) : z_tuple (at + 1, text);
      else
        {
          c = small
                  ? z_character (small_codes, G_N_ELEMENTS (small_codes), at[1])
                  : z_character (
                        large_codes, G_N_ELEMENTS (large_codes), at[1]);
          if (c == '\0')
            return FALSE;
          g_string_append_c (text, c);
          at += 2;
        }
    }
  return at == end;
}

/* [PACKAGE_]MODULE_NAME_KIND */
char *
flam_demangle_haskell (const char *name)
{
  static const char *const kinds[] = { "_con_info", "_info", "_entry",
                                       "_slow",     "_fast", "_ret" };
  g_autoptr (GString) text = NULL;
  const char *end = NULL, *module = name, *own;

  if (strnlen (name, FLAM_MANGLED_MAX) == FLAM_MANGLED_MAX)
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (kinds) && end == NULL; i++)
    if (g_str_has_suffix (name, kinds[i]))
      end = name + strlen (name) - strlen (kinds[i]);
  if (end == NULL)
    return NULL;
  if (!g_ascii_isupper (*module))
    module = strchr (name, '_') + 1;
  own = memchr (module, '_', module < end ? (gsize)(end - module) : 0);
  if (module >= end || !g_ascii_isupper (*module) || own == NULL ||
      own + 1 >= end)
    return NULL;
  text = g_string_new (NULL);
  if (!z_decode (module, own, text))
    return NULL;
  g_string_append_c (text, '.');
  if (!z_decode (own + 1, end, text))
    return NULL;
  return g_string_free (g_steal_pointer (&text), FALSE);
}
