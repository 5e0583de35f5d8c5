/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dwarf-end.h"

#include "flam-unwind-cfi.h"

#include <dwarf.h>
#include <string.h>

typedef struct
{
  Dwarf_Attribute last;
  gboolean any;
} Last;

static int
keep (Dwarf_Attribute *attribute, void *data)
{
  Last *last = data;

  last->last = *attribute;
  last->any = TRUE;
  return DWARF_CB_OK;
}

static const guint8 *
skip_leb128 (const guint8 *p, guint64 *value)
{
  FlamUnwindBytes bytes = { .p = p, .end = p + 10 };

  *value = flam_unwind_read_uleb (&bytes);
  return bytes.bad ? NULL : bytes.p;
}

static guint
offset_size (const Dwarf_Attribute *attribute, gboolean address)
{
  guint8 addresses = 0;
  guint8 offsets = 0;
  Dwarf_Half version = 0;

  dwarf_cu_info (
      attribute->cu, &version, NULL, NULL, NULL, NULL, &addresses, &offsets);
  if (attribute->form == DW_FORM_ref_addr && version == 2)
    return addresses;
  return address ? addresses : offsets;
}

/* The number of bytes of a form of fixed size; -1 for other forms. */
static int
fixed_size (const Dwarf_Attribute *attribute)
{
  switch (attribute->form)
    {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return (int)offset_size (attribute, TRUE);
    case DW_FORM_sec_offset:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_ref_addr:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return (int)offset_size (attribute, FALSE);
    default:
      return -1;
    }
}

/* libdw has already checked the value against the end of the unit. */
static const guint8 *
value_end (const Dwarf_Attribute *attribute)
{
  const guint8 *p = attribute->valp;
  int size = fixed_size (attribute);
  guint64 value;

  if (size >= 0)
    return p + size;
  switch (attribute->form)
    {
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      return skip_leb128 (p, &value);
    case DW_FORM_exprloc:
    case DW_FORM_block:
      p = skip_leb128 (p, &value);
      return p ? p + value : NULL;
    case DW_FORM_block1:
      return p + 1 + p[0];
    case DW_FORM_string:
      return p + strlen ((const char *)p) + 1;
    default:
      return NULL;
    }
}

const guint8 *
flam_dwarf_end (Dwarf_Die *die)
{
  Last last = { 0 };
  guint64 code;

  /* 1: all attributes were visited, and all are inside the unit. */
  if (dwarf_getattrs (die, keep, &last, 0) != 1)
    return NULL;
  if (!last.any)
    return skip_leb128 (die->addr, &code);
  return value_end (&last.last);
}

guint64
flam_dwarf_unit_length (Dwarf_Die *die)
{
  Dwarf_Off start = dwarf_dieoffset (die) - dwarf_cuoffset (die);
  Dwarf_Off next;
  size_t header;

  if (dwarf_next_unit (dwarf_cu_getdwarf (die->cu),
                       start,
                       &next,
                       &header,
                       NULL,
                       NULL,
                       NULL,
                       NULL,
                       NULL,
                       NULL) != 0 ||
      next <= start)
    return 0;
  return next - start;
}

const guint8 *
flam_dwarf_unit_end (Dwarf_Die *die)
{
  guint64 length = flam_dwarf_unit_length (die);
  Dwarf_Off offset = dwarf_cuoffset (die);
  Dwarf_Off start = dwarf_dieoffset (die) - offset;
  Dwarf_Die last;

  /* A truncated section: the unit's length exceeds it. */
  if (length <= offset ||
      !dwarf_offdie (dwarf_cu_getdwarf (die->cu), start + length - 1, &last) ||
      last.cu != die->cu ||
      (const guint8 *)last.addr - (const guint8 *)die->addr !=
          (gssize)(length - 1 - offset))
    return NULL;
  return (const guint8 *)die->addr + (length - offset);
}
