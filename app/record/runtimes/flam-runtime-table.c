/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

static const FlamRuntime *const table[] = {
  &flam_runtime_python,
  &flam_runtime_python_chain,
  &flam_runtime_java,
  &flam_runtime_v8,
  &flam_runtime_ruby,
  &flam_runtime_php,
  &flam_runtime_perl,
  &flam_runtime_lua,
  &flam_runtime_luajit,
  &flam_runtime_beam,
  &flam_runtime_haskell,
  &flam_runtime_guile,
  &flam_runtime_dotnet,
  &flam_runtime_go,
  &flam_runtime_asyncio,
  &flam_runtime_pypy,
  NULL,
};

const FlamRuntime *const *
flam_runtime_table (void)
{
  return table;
}
