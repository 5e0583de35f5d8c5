/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-symbol-source.h"

/* The table: a row is a word, X for flam_symbols_X; the first match is used. */
#define SOURCES(ROW)                                                           \
  ROW (vdso)                                                                   \
  ROW (kernel)                                                                 \
  ROW (generated)                                                              \
  ROW (file)

#define DECLARE(id) extern const FlamSymbolSource flam_symbols_##id;
#define SOURCE(id) &flam_symbols_##id,

SOURCES (DECLARE)

static const FlamSymbolSource *const sources[] = { SOURCES (SOURCE) };

struct _FlamSymbols
{
  const FlamSymbolSource *source;
  gpointer opened;
};

FlamSymbols *
flam_symbols_open (FlamSymbolContext *context,
                   const FlamSymbolTarget *target,
                   GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (sources); i++)
    if (sources[i]->matches (target))
      {
        gpointer opened = sources[i]->open (context, target, error);
        FlamSymbols *symbols = opened ? g_new (FlamSymbols, 1) : NULL;

        if (symbols)
          *symbols = (FlamSymbols){ sources[i], opened };
        return symbols;
      }
  return flam_error_null (error,
                          FLAM_ERROR_UNSUPPORTED,
                          N_ ("not a file: no source of names for this code"));
}

void
flam_symbols_close (FlamSymbols *symbols)
{
  if (!symbols)
    return;
  if (symbols->source->close)
    symbols->source->close (symbols->opened);
  g_free (symbols);
}

static gboolean
ask (FlamSymbols *symbols,
     guint64 address,
     guint64 time,
     FlamSymbolChain *chain)
{
  *chain = (FlamSymbolChain){ .state = FLAM_SYMBOLS_NONE };
  return symbols->source->look_up (symbols->opened, address, time, chain);
}

gboolean
flam_symbols_look_up (FlamSymbols *symbols,
                      guint64 address,
                      guint64 time,
                      FlamSymbolChain *chain)
{
  return ask (symbols, address, time, chain) ||
         (time == G_MAXUINT64 && address != G_MAXUINT64 &&
          ask (symbols, address + 1, time, chain));
}

gboolean
flam_symbols_grow (const FlamSymbols *symbols)
{
  return symbols->source->grows;
}

FlamSymbolState
flam_symbols_get_state (FlamSymbols *symbols, const char **why)
{
  *why = "";
  return symbols->source->get_state
             ? symbols->source->get_state (symbols->opened, why)
             : FLAM_SYMBOLS_SYMTAB;
}
