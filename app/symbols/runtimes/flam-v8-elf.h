/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_V8_ELF_H
#define FLAM_V8_ELF_H

/* V8 in a program or library, as far as the file describes it. */

#include "flam-elf.h"
#include "flam-v8.h"

/* A FlamRuntimeFind; `facts` is a FlamV8File. */
gboolean flam_v8_find (const FlamElf *elf,
                       int fd,
                       const char *path,
                       FlamRuntimeFile *file);

#endif
