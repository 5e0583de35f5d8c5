/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Precompiled for what is shown of a query. Sources still include what they
 * use. */
#include "flam-core-query.h"
#include <string.h>
