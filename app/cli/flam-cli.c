/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-config.h"
#include "flam-core-profile.h"

#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP ((gsize)256 << 20)
#define HUGE_PAGE ((gsize)2 << 20)

static const FlamVerb *const verbs[] = {
  &flam_verb_info,    &flam_verb_top,         &flam_verb_tree,
  &flam_verb_lines,   &flam_verb_disassemble, &flam_verb_memory,
  &flam_verb_export,  &flam_verb_push,        &flam_verb_diff,
  &flam_verb_merge,   &flam_verb_history,     &flam_verb_heatmap,
  &flam_verb_balance, &flam_verb_record,      &flam_verb_formats,
  &flam_verb_dump,
};

static void
print_help (void)
{
  g_print (_ ("Usage: flambeau-cli VERB [OPTION…] FILE\n\nOpens profiles of "
              "every kind and shows where time and memory go.\n\nVerbs:\n"));
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    {
      const char *arguments = verbs[i]->arguments;
      /* printf() counts bytes. */
      gsize more = strlen (arguments) - (gsize)g_utf8_strlen (arguments, -1);

      g_print ("  %-11s %-*s %s\n",
               verbs[i]->name,
               32 + (int)more,
               arguments,
               _ (verbs[i]->summary));
    }
  g_print ("\nOpens:\n");
  for (guint i = 0; flam_importers[i] != NULL; i++)
    g_print ("  %-14s %s\n", flam_importers[i]->id, flam_importers[i]->label);
  g_print (_ ("\nflambeau-cli VERB --help lists a verb's options; --version "
              "prints the version.\n"));
}

static const FlamVerb *
find_verb (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (verbs[i]->name, name) == 0)
      return verbs[i];
  return NULL;
}

static int
run (int argc, char **argv)
{
  const FlamVerb *verb;

  if (argc < 2)
    {
      print_help ();
      return FLAM_EXIT_USAGE;
    }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 ||
      strcmp (argv[1], "help") == 0)
    {
      print_help ();
      return FLAM_EXIT_DONE;
    }
  if (strcmp (argv[1], "--version") == 0)
    {
      g_print ("flambeau-cli %s\n", FLAM_VERSION);
      return FLAM_EXIT_DONE;
    }
  verb = find_verb (argv[1]);
  if (verb == NULL)
    return flam_cli_usage (_ ("“%s” is not a verb; see --help"), argv[1]);
  return verb->run (argc - 1, argv + 1);
}

/* Faulting in fresh pages takes nearly half of the time to open a large
 * capture. Memory that one table frees is kept for the next one, not returned
 * to the system: the process ends soon. The heap also uses huge pages: a large
 * block is allocated, marked and freed at once, which leaves the heap at that
 * size. Only this heap is used, since each thread that reads a part of a file
 * would otherwise begin one with small pages. */
static void
prepare_heap (void)
{
  char *heap;
  char *aligned;

  flam_cells_keep_none ();
  /* AddressSanitizer's allocator has no such options, and would mark all of
   * the large block as unused, byte for byte. */
  if (!mallopt (M_MMAP_THRESHOLD, G_MAXINT))
    return;
  mallopt (M_TRIM_THRESHOLD, G_MAXINT);
  mallopt (M_ARENA_MAX, 1);
  heap = malloc (HEAP + HUGE_PAGE);
  if (heap == NULL)
    return;
  aligned = heap + -(gsize)heap % HUGE_PAGE;
  madvise (aligned, HEAP, MADV_HUGEPAGE);
  free (heap);
}

/* In a locale without UTF-8, as in containers, prints the most similar
 * characters. */
static void
print_in_locale (const char *text, FILE *file)
{
  const char *charset;
  g_autofree char *wanted = NULL;
  g_autofree char *converted = NULL;

  if (!g_get_charset (&charset))
    {
      wanted = g_strconcat (charset, "//TRANSLIT", NULL);
      converted = g_convert_with_fallback (
          text, -1, wanted, "UTF-8", "?", NULL, NULL, NULL);
    }
  fputs (converted != NULL ? converted : text, file);
}

static void
print_out (const char *text)
{
  print_in_locale (text, stdout);
}

static void
print_error (const char *text)
{
  print_in_locale (text, stderr);
  fflush (stderr);
}

int
main (int argc, char **argv)
{
  g_autofree char *words = flam_installed_or_built (FLAM_LOCALEDIR, "po");
  int status;

  prepare_heap ();
  setlocale (LC_ALL, "");
  flam_message_init (words);
  g_set_print_handler (print_out);
  g_set_printerr_handler (print_error);
  /* Numbers are written for machines. */
  setlocale (LC_NUMERIC, "C");
  g_set_prgname ("flambeau-cli");
  status = run (argc, argv);
  if (status != FLAM_EXIT_DONE || (fflush (stdout) == 0 && !ferror (stdout)))
    return status;
  flam_cli_error (_ ("standard output: cannot write"));
  return FLAM_EXIT_REFUSED;
}
