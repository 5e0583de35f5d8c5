/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-kernel-names.h"

#include <string.h>
#include <unistd.h>

#include "flam-bpf.h"
#include "flam-kallsyms.h"

/* Names that take as long as the text. */
#define MANY 2000
#define NAME_MAX_BYTES 256

struct _FlamKernelNames
{
  GMutex lock;
  GHashTable *known; /* address -> name, "" for none */
  int format;        /* map: 0 -> how a name is printed */
  int printed;       /* map: 0 -> the last name */
  int program;       /* prints the name of its first argument; -1: none */
  FlamKallsyms *all; /* NULL: not read */
};

/* --- the kernel's printf ------------------------------------------------- */

#define ADDRESS (-8) /* a slot of its stack */

static int
load_program (const FlamKernelNames *names)
{
  g_autofree FlamBpf *code = g_new0 (FlamBpf, 1);

  flam_bpf_load (code, BPF_REG_3, BPF_REG_1, 0);
  flam_bpf_store (code, BPF_DW, BPF_REG_10, ADDRESS, BPF_REG_3);
  flam_bpf_set_value_of (code, BPF_REG_1, names->printed);
  flam_bpf_set_value (code, BPF_REG_2, NAME_MAX_BYTES);
  flam_bpf_set_value_of (code, BPF_REG_3, names->format);
  flam_bpf_set (code, BPF_REG_4, BPF_REG_10);
  flam_bpf_add_value (code, BPF_REG_4, ADDRESS);
  flam_bpf_set_value (code, BPF_REG_5, sizeof (guint64));
  flam_bpf_call (code, BPF_FUNC_snprintf);
  flam_bpf_leave (code, 0);
  return flam_bpf_load_program (code, BPF_PROG_TYPE_RAW_TRACEPOINT);
}

static void
prepare (FlamKernelNames *names)
{
  static const char format[8] = "%ps";

  names->format = flam_bpf_make_constant (format, sizeof format);
  names->printed = flam_bpf_make_map (BPF_MAP_TYPE_ARRAY, 4, NAME_MAX_BYTES, 1);
  if (names->format >= 0 && names->printed >= 0)
    names->program = load_program (names);
}

/* "nft_do_chain [nf_tables]", "0xffffffffc0201000"; NULL: not answered. */
static char *
ask (const FlamKernelNames *names, guint64 address)
{
  char text[NAME_MAX_BYTES];

  if (!flam_bpf_run (names->program, &address, sizeof address) ||
      !flam_bpf_get_element (names->printed, &(guint32){ 0 }, text))
    return NULL;
  text[sizeof text - 1] = '\0';
  text[strcspn (text, " ")] = '\0';
  return g_strdup (g_str_has_prefix (text, "0x") ? "" : text);
}

/* --- names --------------------------------------------------------------- */

FlamKernelNames *
flam_kernel_names_new (GError **error)
{
  FlamKernelNames *names = g_new0 (FlamKernelNames, 1);

  g_mutex_init (&names->lock);
  names->known = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  names->format = names->printed = names->program = -1;
  prepare (names);
  if (names->program < 0)
    names->all = flam_kallsyms_open (NULL, error);
  if (names->program >= 0 || names->all != NULL)
    return names;
  flam_kernel_names_free (names);
  return NULL;
}

void
flam_kernel_names_free (FlamKernelNames *names)
{
  if (names == NULL)
    return;
  if (names->program >= 0)
    close (names->program);
  if (names->printed >= 0)
    close (names->printed);
  if (names->format >= 0)
    close (names->format);
  flam_kallsyms_free (names->all);
  g_hash_table_unref (names->known);
  g_mutex_clear (&names->lock);
  g_free (names);
}

static const char *
find (FlamKernelNames *names, guint64 address)
{
  gpointer key = GSIZE_TO_POINTER (address);
  char *name = g_hash_table_lookup (names->known, key);

  if (name == NULL && names->all == NULL &&
      g_hash_table_size (names->known) == MANY)
    names->all = flam_kallsyms_open (NULL, NULL);
  if (name == NULL && names->all != NULL)
    return flam_kallsyms_find (names->all, address);
  if (name == NULL)
    {
      name = ask (names, address);
      if (name != NULL)
        g_hash_table_insert (names->known, key, name);
    }
  return name != NULL && *name != '\0' ? name : NULL;
}

const char *
flam_kernel_names_find (FlamKernelNames *names, guint64 address)
{
  const char *name;

  g_mutex_lock (&names->lock);
  name = find (names, address);
  g_mutex_unlock (&names->lock);
  return name;
}
