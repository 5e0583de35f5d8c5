/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-mapping.h"

#include <string.h>

static bool
take_number (const char **at, const char *end, unsigned base, uint64_t *value)
{
  const char *start = *at;

  for (*value = 0; *at < end; ++*at)
    {
      unsigned digit = (unsigned)(**at | 0x20) - '0';

      if (digit > 9)
        digit = digit - ('a' - '0') + 10;
      if (digit >= base || *value > UINT64_MAX / base)
        break;
      *value = *value * base + digit;
    }
  return *at > start;
}

static void
skip_spaces (const char **at, const char *end)
{
  while (*at < end && **at == ' ')
    ++*at;
}

static void
skip_word (const char **at, const char *end)
{
  while (*at < end && **at != ' ')
    ++*at;
  skip_spaces (at, end);
}

bool
flam_mapping_parse (const char *line, const char *end, FlamMapping *mapping)
{
  const char *at = line;
  uint64_t minor = 0;

  *mapping = (FlamMapping){ 0 };
  if (!take_number (&at, end, 16, &mapping->start) || at == end ||
      *at++ != '-' || !take_number (&at, end, 16, &mapping->end) ||
      end - at < 6 || *at++ != ' ')
    return false;
  mapping->readable = at[0] == 'r';
  mapping->executable = at[2] == 'x';
  skip_word (&at, end);
  if (!take_number (&at, end, 16, &mapping->offset))
    return false;
  skip_word (&at, end);
  if (take_number (&at, end, 16, &mapping->device) && at < end && *at == ':')
    {
      at++;
      take_number (&at, end, 16, &minor);
    }
  mapping->device = mapping->device << 32 | minor;
  skip_word (&at, end);
  take_number (&at, end, 10, &mapping->inode);
  skip_word (&at, end);
  mapping->path = at;
  mapping->length = (size_t)(end - at);
  return true;
}

bool
flam_mapping_next (const char **at, const char *end, FlamMapping *mapping)
{
  while (*at < end)
    {
      const char *line = *at;
      const char *newline = memchr (line, '\n', (size_t)(end - line));

      *at = newline ? newline + 1 : end;
      if (newline && flam_mapping_parse (line, newline, mapping))
        return true;
    }
  return false;
}
