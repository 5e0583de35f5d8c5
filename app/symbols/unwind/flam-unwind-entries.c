/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The entries of .eh_frame and .debug_frame:
 *
 *   OFFSET  SIZE  WHAT
 *        0     4  length of the rest; 0xffffffff: 8 bytes of length follow;
 *                 0: the end
 *        4   4|8  .eh_frame: 0 = CIE, else distance back to the FDE's CIE;
 *                 .debug_frame: all ones = CIE, else the CIE's offset
 *   CIE: version, augmentation string, alignments, return address column,
 *        augmentation data, first instructions
 *   FDE: first pc, size (both encoded by the CIE's 'R'), augmentation
 *        data, instructions */

#include "flam-unwind-cfi.h"

#include <string.h>

enum
{
  PE_ABSPTR = 0x00,
  PE_ULEB = 0x01,
  PE_UDATA2 = 0x02,
  PE_UDATA4 = 0x03,
  PE_UDATA8 = 0x04,
  PE_SLEB = 0x09,
  PE_SDATA2 = 0x0a,
  PE_SDATA4 = 0x0b,
  PE_SDATA8 = 0x0c,
  PE_PCREL = 0x10,
  PE_TEXTREL = 0x20,
  PE_DATAREL = 0x30,
  PE_INDIRECT = 0x80,
  PE_OMIT = 0xff,
};

static int64_t
read_encoded_value (FlamUnwindBytes *in, uint8_t encoding)
{
  switch (encoding & 0x0f)
    {
    case PE_ABSPTR:
    case PE_UDATA8:
    case PE_SDATA8:
      return (int64_t)flam_unwind_read_u64 (in);
    case PE_ULEB:
      return (int64_t)flam_unwind_read_uleb (in);
    case PE_SLEB:
      return flam_unwind_read_sleb (in);
    case PE_UDATA2:
      return flam_unwind_read_u16 (in);
    case PE_SDATA2:
      return (int16_t)flam_unwind_read_u16 (in);
    case PE_UDATA4:
      return flam_unwind_read_u32 (in);
    case PE_SDATA4:
      return (int32_t)flam_unwind_read_u32 (in);
    default:
      in->bad = true;
      return 0;
    }
}

static uint64_t
read_encoded (const FlamCfiReader *reader,
              FlamUnwindBytes *in,
              uint8_t encoding)
{
  uint64_t base = 0;

  if (encoding & PE_INDIRECT)
    in->bad = true;
  switch (encoding & 0x70)
    {
    case 0:
      break;
    case PE_PCREL:
      base = reader->section->vaddr +
             (uint64_t)(in->p - (const uint8_t *)reader->section->data);
      break;
    case PE_TEXTREL:
      base = reader->sections->text_vaddr;
      break;
    case PE_DATAREL:
      base = reader->sections->data_vaddr;
      break;
    default:
      in->bad = true;
      break;
    }
  return base + (uint64_t)read_encoded_value (in, encoding);
}

/* The letters of the augmentation; false: unknown, the FDEs cannot be read. */
static bool
read_augmentation (const FlamCfiReader *reader,
                   const char *letters,
                   FlamUnwindBytes in,
                   FlamCfiCie *cie)
{
  for (; *letters; letters++)
    switch (*letters)
      {
      case 'R':
        cie->fde_encoding = flam_unwind_read_u8 (&in);
        break;
      case 'L':
        flam_unwind_read_u8 (&in);
        break;
      case 'P':
        {
          uint8_t encoding = flam_unwind_read_u8 (&in);
          if (encoding != PE_OMIT)
            read_encoded_value (&in, encoding);
          break;
        }
      case 'S':
        cie->signal_frame = true;
        break;
      case 'B': /* AArch64: return addresses are signed with the other key */
      case 'G': /* AArch64: frames with tagged memory */
        break;
      default:
        return false;
      }
  return !in.bad;
}

static bool
read_cie (FlamCfiReader *reader, FlamUnwindBytes in, FlamCfiCie *cie)
{
  uint8_t version = flam_unwind_read_u8 (&in);
  const char *letters = (const char *)in.p;
  size_t length = strnlen (letters, (size_t)(in.end - in.p));

  if ((version != 1 && version != 3 && version != 4) ||
      length == (size_t)(in.end - in.p))
    return false;
  in.p += length + 1;
  if (version == 4)
    {
      if (flam_unwind_read_u8 (&in) != 8 || flam_unwind_read_u8 (&in) != 0)
        return false;
    }
  cie->code_align = flam_unwind_read_uleb (&in);
  cie->data_align = flam_unwind_read_sleb (&in);
  cie->ra_reg =
      version == 1 ? flam_unwind_read_u8 (&in) : flam_unwind_read_uleb (&in);
  cie->fde_encoding = PE_ABSPTR;
  if (*letters == 'z')
    {
      uint64_t size = flam_unwind_read_uleb (&in);
      cie->has_augmentation = true;
      if (!read_augmentation (
              reader, letters + 1, flam_unwind_read_view (&in, size), cie))
        return false;
    }
  else if (*letters)
    return false;
  return !in.bad && cie->ra_reg == FLAM_UNWIND_RETURN &&
         flam_cfi_run (
             cie, NULL, in, 0, &cie->initial, &reader->budget, NULL, NULL);
}

/* An entry's body and its id field; false at the end of the section. */
static bool
read_entry (const FlamCfiReader *reader,
            FlamUnwindBytes *in,
            FlamUnwindBytes *body,
            uint64_t *id,
            uint64_t *id_offset)
{
  uint64_t length = flam_unwind_read_u32 (in);
  bool wide = length == 0xffffffff;

  if (wide)
    length = flam_unwind_read_u64 (in);
  if (in->bad || length == 0)
    return false;
  *body = flam_unwind_read_view (in, length);
  if (in->bad)
    return false;
  *id_offset = (uint64_t)(body->p - (const uint8_t *)reader->section->data);
  *id = wide ? flam_unwind_read_u64 (body) : flam_unwind_read_u32 (body);
  if (reader->is_debug_frame && !wide && *id == 0xffffffff)
    *id = UINT64_MAX;
  return true;
}

static const FlamCfiCie *
get_cie (FlamCfiReader *reader, uint64_t offset)
{
  const FlamUnwindSection *section = reader->section;
  FlamCfiCie *cie =
      &reader->cies[((offset * 0x9e3779b97f4a7c15ull) >> 58) % FLAM_CFI_CIES];
  FlamUnwindBytes in, body;
  uint64_t id, id_offset;

  if (offset >= section->size)
    return NULL;
  if (cie->offset == offset + 1)
    return cie->valid ? cie : NULL;
  *cie = (FlamCfiCie){ .offset = offset + 1 };
  in.p = (const uint8_t *)section->data + offset;
  in.end = (const uint8_t *)section->data + section->size;
  in.bad = false;
  cie->valid = read_entry (reader, &in, &body, &id, &id_offset) &&
               id == (reader->is_debug_frame ? UINT64_MAX : 0) &&
               read_cie (reader, body, cie);
  return cie->valid ? cie : NULL;
}

void
flam_cfi_reader_init (FlamCfiReader *reader,
                      const FlamUnwindSections *sections,
                      const FlamUnwindSection *section)
{
  memset (reader, 0, sizeof *reader);
  reader->sections = sections;
  reader->section = section;
  reader->is_debug_frame = section == &sections->debug_frame;
  reader->budget = 1024 + 32 * (uint64_t)section->size;
  reader->in.p = section->data;
  reader->in.end = reader->in.p + section->size;
}

bool
flam_cfi_next_fde (FlamCfiReader *reader, FlamUnwindBytes *body)
{
  uint64_t id, id_offset;

  while (reader->budget > 0 &&
         read_entry (reader, &reader->in, body, &id, &id_offset))
    if (id != (reader->is_debug_frame ? UINT64_MAX : 0))
      {
        reader->cie =
            get_cie (reader, reader->is_debug_frame ? id : id_offset - id);
        return true;
      }
  return false;
}

uint64_t
flam_cfi_read_range (const FlamCfiReader *reader,
                     FlamUnwindBytes *in,
                     uint64_t *size)
{
  const FlamCfiCie *cie = reader->cie;
  uint64_t pc = read_encoded (reader, in, cie->fde_encoding);

  *size = (uint64_t)read_encoded_value (in, cie->fde_encoding & 0x0f);
  if (cie->has_augmentation)
    {
      uint64_t skip = flam_unwind_read_uleb (in);
      flam_unwind_read_view (in, skip);
    }
  return pc;
}
