/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-demangle.h"

#include <string.h>

static const struct
{
  const char *mangled;
  const char *shown; /* NULL: stays mangled */
} cases[] = {
  { "__ZN5outer5innerEv", "outer::inner" },
  { "__ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
    "core::fmt::Formatter::pad" },
  { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
    "core::fmt::Formatter::pad" },
  { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.77",
    "core::fmt::Formatter::pad" },
  { "_ZN63_$LT$core..ptr..Unique$LT$T$GT$$u20$as$u20$core..ops..Deref$GT$"
    "5deref17h19f2ad4920655e85E",
    "<core::ptr::Unique<T> as core::ops::Deref>::deref" },
  { "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$"
    "17h0123456789abcdefE.llvm.77",
    "core::ptr::drop_in_place<alloc::string::String>" },
  { "_RNvC6_123foo3bar", "123foo::bar" },
  { "_RNvMNtC3foo3barNtB2_3Baz3new", "<foo::bar::Baz>::new" },
  { "_ZSt4sortIPiEvT_S1_", "std::sort<int*>" },
  { "_ZN3fooC4Ev", "foo::foo" },
  { "_Z3foov.part.0", "foo" },
  { "_ZZ4mainENKUldE_clEd", "main::{lambda(double)#1}::operator()" },
  { "_ZNKSt8functionIFddEEclEd", "std::function<double (double)>::operator()" },
  { "_D3std5stdio7writelnFZv", "std.stdio.writeln" },
  { "_D3foo3barFiZi", "foo.bar" },
  { "_Dmain", "D main" },
  { "core::ptr::drop_in_place::h0123456789abcdef", "core::ptr::drop_in_place" },
  { "std::rt::lang_start::_$u7b$$u7b$closure$u7d$$u7d$::h7cd9ec399e9db3f7",
    "std::rt::lang_start::{{closure}}" },
  { "_$LT$F$u20$as$u20$alloc..boxed..FnBox$LT$A$GT$$GT$::call_box::"
    "h8b5ec703435993e3 (.llvm.7886897009887049720)",
    "<F as alloc::boxed::FnBox<A>>::call_box" },
  /* The clone's number is not part of the path. */
  { "_$LT$F$GT$::call_box::h8b5ec703435993e3 (.llvm.7::8)", "<F>::call_box" },
  { "<F as alloc::boxed::FnBox<A>>::call_box::h8b5ec703435993e3",
    "<F as alloc::boxed::FnBox<A>>::call_box" },
  { "colors::h0000000000000001", NULL }, /* a name, and no hash */
  { "::h8b5ec703435993e3", NULL },
  { "main", NULL },
  { "", NULL },
  { "_", NULL },
  { "_start", NULL },
  { "_Z", NULL },
  { "_R", NULL },
  { "_DYNAMIC", NULL },
  { "foo.part.0", NULL },
};

static void
test_names (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = flam_demangle (cases[i].mangled);
      g_assert_cmpstr (shown, ==, cases[i].shown);
    }
}

static void
test_haskell (void)
{
  static const struct
  {
    const char *symbol;
    const char *shown;
  } names[] = {
    { "Main_heavy_info", "Main.heavy" },
    { "base_GHCziList_zdwreverse_info", "GHC.List.$wreverse" },
    { "base_GHCziBase_zpzp_info", "GHC.Base.++" },
    { "ghczmprim_GHCziTypes_ZC_con_info", "GHC.Types.:" },
    { "ghczmprim_GHCziTuple_Z3T_con_info", "GHC.Tuple.(,,)" },
    { "ghczmprim_GHCziPrim_Z2H_con_info", "GHC.Prim.(#,#)" },
    { "Main_namz0e9U_info", "Main.namé" },
    { "Main_azq_entry", "Main.a'" },
    { "Main_zz_info", "Main.z" },
    { "Main_zy_info", NULL },
    { "Main_a_closure", NULL },
    { "stg_upd_frame_info", NULL },
    { "Main_info", NULL },
    { "_info", NULL },
    { "x_info", NULL },
    { "", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *shown = flam_demangle_haskell (names[i].symbol);
      g_assert_cmpstr (shown, ==, names[i].shown);
    }
}

/* A base-36 number minus one, as in the numbering of substitutions. */
static void
append_substitution (GString *text, guint n)
{
  static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

  g_string_append_c (text, 'S');
  if (n > 36)
    g_string_append_c (text, digits[(n - 1) / 36]);
  if (n > 0)
    g_string_append_c (text, digits[(n - 1) % 36]);
  g_string_append_c (text, '_');
}

/* Type information of B<A<int>*, A<last, last>, ...>: each argument is twice as
 * long as the previous one, in a dozen bytes. */
static void
test_exponential (void)
{
  g_autoptr (GString) name = g_string_new ("_ZTI1BI");
  guint last = 2;
  char *shown;

  g_string_append (name, "P1AIiE");
  for (guint i = 0; i < 60; i++)
    {
      g_string_append (name, "S0_I");
      append_substitution (name, last);
      append_substitution (name, last);
      g_string_append (name, "E");
      last++;
    }
  g_string_append (name, "E");
  shown = flam_demangle (name->str);
  g_assert_true (!shown || strlen (shown) <= FLAM_DEMANGLED_MAX);
  g_free (shown);
}

static void
test_hostile (void)
{
  static const char *const starts[] = {
    "_Z", "_ZN", "_R", "_D", "_ZTI", "_ZZ"
  };
  static const char letters[] = "NIEPKRSTZLQ_0123456789abcdxs";
  g_autoptr (GString) deep = g_string_new ("_Z1f");

  for (guint i = 0; i < 30000; i++)
    g_string_append_c (deep, 'P');
  g_string_append_c (deep, 'i');
  g_free (flam_demangle (deep->str));
  for (guint i = 0; i < 20000; i++)
    {
      g_autoptr (GString) name = g_string_new (starts[i % 6]);
      guint n = (guint)g_test_rand_int_range (1, 60);

      for (guint j = 0; j < n; j++)
        g_string_append_c (
            name, letters[g_test_rand_int_range (0, sizeof letters - 1)]);
      g_free (flam_demangle (name->str));
    }
}

static void
test_too_long (void)
{
  g_autofree char *name = g_strnfill (FLAM_MANGLED_MAX + 100, 'P');

  memcpy (name, "_Z1f", 4);
  g_assert_null (flam_demangle (name));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/demangle/names", test_names);
  g_test_add_func ("/demangle/haskell", test_haskell);
  g_test_add_func ("/demangle/exponential", test_exponential);
  g_test_add_func ("/demangle/hostile", test_hostile);
  g_test_add_func ("/demangle/too-long", test_too_long);
  return g_test_run ();
}
