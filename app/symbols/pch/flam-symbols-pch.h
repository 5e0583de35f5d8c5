/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for the symbolizer. Sources still include what they use. */
#include "flam-core-profile.h"
#include <string.h>
