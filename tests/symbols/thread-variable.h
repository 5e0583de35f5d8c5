/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

extern __thread long thread_exported;
long thread_hidden (void);
long *thread_hidden_address (void);
