# SPDX-License-Identifier: GPL-3.0-or-later
# Captures that hold more than running: which states count, and their shares.
# kitchen (tests/record/targets) chops, waits for a lock, for a pipe, and naps,
# 0.4 s each, in a thread of its own.

$ flambeau-cli info captures/flambeau/kitchen.flambeau --no-symbols
format     flambeau
command    ./kitchen
duration   1.60 s
measures   wall-time          3.19 s (Wall time)
           cpu-time           396 ms (CPU time)
           samples            228 (Samples)
states     sleep 56.3 %, lock 18.7 %, io 12.6 %, running 12.3 %
samples    228 in 57 stacks of 24 functions
recorder   used 8.7 % of the program's CPU time
threads    26140/26140 kitchen: 107 samples, 1.60 s
           26140/26142 cook: 121 samples, 1.59 s
modules    /tmp/kitchen/kitchen: 3.19 s, symbols: dwarf
           [vdso]: 0 ns, symbols: untried
           /usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2: 0 ns, symbols: untried
           /usr/lib/x86_64-linux-gnu/libc.so.6: 3.19 s, symbols: dwarf

$ flambeau-cli tree captures/flambeau/kitchen.flambeau --no-symbols --focus '^cook_dish$' --depth 2
all  1.59 s  0 ns  [sleep 25.3 %, io 25.3 %, lock 24.7 %, running 24.7 %]
  cook_dish  1.59 s  0 ns  [sleep 25.3 %, io 25.3 %, lock 24.7 %, running 24.7 %]
    nap  404 ms  0 ns  [sleep 100.0 %]
    wait_for_order  403 ms  0 ns  [io 100.0 %]
    wait_for_stove  394 ms  0 ns  [lock 100.0 %]
    chop  393 ms  0 ns  [running 100.0 %]

$ flambeau-cli top captures/flambeau/kitchen.flambeau --no-symbols --states cpu --limit 2
      self                 total            function
    393 ms   100.0 %      393 ms   100.0 %  slice  (kitchen)
      0 ns       0 %      393 ms   100.0 %  chop  (kitchen)

$ flambeau-cli top captures/flambeau/kitchen.flambeau --no-symbols --states off-cpu --limit 3
      self                 total            function
    1.80 s    64.3 %      1.80 s    64.3 %  clock_nanosleep  (libc.so.6)  [sleep 100.0 %]
    403 ms    14.4 %      403 ms    14.4 %  __GI___libc_read  (libc.so.6)  [io 100.0 %]
    394 ms    14.1 %      394 ms    14.1 %  futex_wait  (libc.so.6)  [lock 100.0 %]

$ flambeau-cli top captures/flambeau/kitchen.flambeau --no-symbols --states lock,io --limit 2
      self                 total            function
    403 ms    40.3 %      403 ms    40.3 %  __GI___libc_read  (libc.so.6)  [io 100.0 %]
    394 ms    39.4 %      394 ms    39.4 %  futex_wait  (libc.so.6)  [lock 100.0 %]

$ flambeau-cli top captures/flambeau/kitchen.flambeau --no-symbols --limit 1 --json
{"total":3190589291,"rows":[{"function":"clock_nanosleep","module":"libc.so.6","file":"sysdeps/unix/sysv/linux/clock_nanosleep.c","line":48,"self":1797543370,"total":1797543370,"states":{"sleep":1797543370}}]}

$ flambeau-cli tree captures/flambeau/kitchen.flambeau --no-symbols --depth 0 --json
{"function":"all","file":"","line":0,"total":3190589291,"self":0,"states":{"running":393400327,"lock":596374739,"io":403270855,"sleep":1797543370},"children":[]}

$ flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --states off-cpu --by thread --focus cook_dish --to folded
cook;cook_dish;nap;__nanosleep;clock_nanosleep 404149370
cook;cook_dish;wait_for_order;read;__GI___libc_read 403270855
cook;cook_dish;wait_for_stove;pthread_mutex_lock;lll_mutex_lock_optimized;__GI___lll_lock_wait;futex_wait 394143870

$ flambeau-cli top captures/flambeau/kitchen.flambeau --states waiting
! flambeau-cli: top: --states waiting: expected cpu, off-cpu, all, or some of running, lock, io, sleep, blocked with commas between
[2]

# A capture that knows nothing of states was running all the time.
$ printf '%s\n' 'main;work 5' >plain.folded; flambeau-cli top plain.folded --states off-cpu --json
{"total":0,"rows":[]}
