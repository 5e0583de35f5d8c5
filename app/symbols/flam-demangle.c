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
