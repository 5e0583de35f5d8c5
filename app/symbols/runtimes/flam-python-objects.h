/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PYTHON_OBJECTS_H
#define FLAM_PYTHON_OBJECTS_H

/* CPython's dictionaries, objects with attributes, and numbers: 3.8 to 3.13.
 * Plain C without GLib.
 *
 * Sources, of these versions: CPython's Objects/dict-common.h and dictobject.c,
 * Include/internal/pycore_dict.h, pycore_object.h and pycore_interp.h. */

#include "flam-python-frames.h"

typedef struct
{
  const FlamPythonLayout *layout;
  const FlamRuntimeMemory *memory;
} FlamPythonReader;

/* Memory for a limited number of reads: { flam_python_read_limited, &limit }.
 */
typedef struct
{
  const FlamRuntimeMemory *memory;
  unsigned left;
} FlamPythonLimit;

bool
flam_python_read_limited (void *data, uint64_t address, void *to, size_t size);

/* The items of a dictionary: the values are with the keys, or in an array of
 * their own. */
typedef struct
{
  uint64_t keys;
  uint64_t values; /* 0: with the keys */
} FlamPythonItems;

/* Returns whether to go on. */
typedef bool (*FlamPythonVisit) (void *data, uint64_t key, uint64_t value);

/* 0: not readable. */
uint64_t flam_python_word (const FlamPythonReader *reader, uint64_t address);
FlamPythonItems flam_python_dict (const FlamPythonReader *reader,
                                  uint64_t dict);
/* The attributes of an object. */
FlamPythonItems flam_python_attributes (const FlamPythonReader *reader,
                                        uint64_t object);
void flam_python_for_each (const FlamPythonReader *reader,
                           FlamPythonItems items,
                           FlamPythonVisit visit,
                           void *data);
/* The value of a key, a short ASCII text; 0: there is none. */
uint64_t flam_python_find_item (const FlamPythonReader *reader,
                                FlamPythonItems items,
                                const char *key);
/* 0: not a positive number below 2^60. */
uint64_t flam_python_number (const FlamPythonReader *reader, uint64_t object);
/* The items of a module of an interpreter, by its entry in sys.modules. */
FlamPythonItems flam_python_module (const FlamPythonReader *reader,
                                    uint64_t interpreter,
                                    const char *name);
/* The next interpreter after this one, or the first (0); 0: none. */
uint64_t flam_python_next_interpreter (const FlamPythonReader *reader,
                                       uint64_t runtime,
                                       uint64_t interpreter);

#endif
