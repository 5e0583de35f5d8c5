/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for the queries. Sources still include what they use. */
#include "flam-core-profile.h"
#include <string.h>
