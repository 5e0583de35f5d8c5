/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_THREAD_VARIABLE_H
#define FLAM_TEST_THREAD_VARIABLE_H

extern __thread long thread_exported;
long thread_hidden (void);
long *thread_hidden_address (void);

#endif
