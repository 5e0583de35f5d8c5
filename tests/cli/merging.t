# SPDX-License-Identifier: GPL-3.0-or-later
# Captures added up: one that holds all of them.

$ printf '%s\n' 'a;b 3' 'a 2' 'main;k_[k] 1' >a.folded; printf '%s\n' 'a;b 4' 'c 1' >b.folded; flambeau-cli merge a.folded b.folded a.folded --output m.flambeau; flambeau-cli info m.flambeau
b takes 59 %

format     flambeau
measures   samples            17 (Samples)
samples    17 in 5 stacks of 5 functions
processes  a.folded
             #1 all threads: 6 samples, 6
           b.folded
             #2 all threads: 5 samples, 5
           a.folded
             #3 all threads: 6 samples, 6

# The sum equals that of all lines, computed by awk.
$ cat a.folded b.folded a.folded | sed 's/_\[k\]//' | awk '{ sum[$1] += $2 } END { for (s in sum) print s, sum[s] }' | LC_ALL=C sort >sum; flambeau-cli export m.flambeau --to folded 2>/dev/null | diff - sum && echo same
same

# Measures are the same if id and unit are: samples of the file that has one
# weigh something, others 0. Each file keeps its own threads.
$ flambeau-cli merge captures/pprof/cpu.pb captures/pprof/threads.pb -o p.flambeau; flambeau-cli info p.flambeau; for f in captures/pprof/cpu.pb p.flambeau; do flambeau-cli top $f --measure cpu | head -3; done
inner takes 88 %, with the functions it calls (main.go:31)

format     flambeau
measures   cpu                80 ns (cpu)
           samples            18 (samples)
samples    18 in 7 stacks of 7 functions
processes  cpu.pb
             #1 all threads: 8 samples, 80 ns
           threads.pb
             4711 main: 3 samples, 0 ns
             4712 worker: 2 samples, 0 ns
             #4 all threads: 5 samples, 0 ns
modules    /bin/demo: 70 ns, symbols: capture
warning    cpu.pb: 1 frame refers to a location that is not in the file and was left out
warning    cpu is not a measure of all 2 captures, only of 1 of them
      self                 total            function
     50 ns    62.5 %       70 ns    87.5 %  inner  (demo)
     10 ns    12.5 %       10 ns    12.5 %  [demo]  (demo)
      self                 total            function
     50 ns    62.5 %       70 ns    87.5 %  inner  (demo)
     10 ns    12.5 %       10 ns    12.5 %  [demo]  (demo)

# Memory: blocks of both, and the sum of the peaks.
$ for m in peak leaked allocated allocations temporary; do for f in captures/heaptrack/v3.heaptrack x.flambeau; do [ -f x.flambeau ] || flambeau-cli merge captures/heaptrack/v3.heaptrack captures/heaptrack/v3.heaptrack -o x.flambeau; flambeau-cli top $f --measure $m --json | grep -o '^{"total":[0-9]*'; done; done
{"total":648
{"total":1296
{"total":65
{"total":130
{"total":953
{"total":1906
{"total":9
{"total":18
{"total":3
{"total":6

# Recordings: the selected part of each, times and states, counters by file.
$ flambeau-cli merge captures/flambeau/kitchen.flambeau captures/flambeau/kitchen.flambeau --no-symbols --thread cook --time 0..0.5 -o k.flambeau; flambeau-cli info k.flambeau --no-symbols; flambeau-cli dump k.flambeau --no-symbols --stage chart | grep -c . ; flambeau-cli export k.flambeau --no-symbols --to svg --chart | grep -o 'class="lane".*'
41 % of the time waits for a lock in wait_for_stove (kitchen.c:54)

format     flambeau
command    ./kitchen
duration   500 ms
measures   wall-time          990 ms (Wall time)
           cpu-time           382 ms (CPU time)
           samples            78 (Samples)
states     lock 40.5 %, running 38.7 %, io 20.7 %
samples    78 in 57 stacks of 24 functions
recorder   used 8.7 % of the program's CPU time
processes  26140 kitchen
             26140/26142 cook: 39 samples, 495 ms
           26140 kitchen
             26140/26142 cook: 39 samples, 495 ms
modules    /tmp/kitchen/kitchen: 990 ms, symbols: dwarf
           /usr/lib/x86_64-linux-gnu/libc.so.6: 990 ms, symbols: dwarf
           and another 2 with nothing in them
38
class="lane" x="16" y="76" text-anchor="start">RSS</text>
class="lane" x="16" y="138" text-anchor="start">RSS kitchen.flambeau</text>
class="lane" x="16" y="200" text-anchor="start">cook (26142)   50.0 %</text>
class="lane" x="16" y="375" text-anchor="start">cook (26142)   50.0 %</text>

# Captures without a common measure are refused, unless requested.
$ flambeau-cli merge captures/folded/fractions.folded captures/heaptrack/v3.heaptrack -o n.flambeau; flambeau-cli merge captures/folded/fractions.folded captures/heaptrack/v3.heaptrack -o n.flambeau --side-by-side; flambeau-cli info n.flambeau | grep -A1 measures
measures   samples            13.8 (Samples)
           peak               648 B (Peak memory)
! flambeau-cli: v3.heaptrack: it has no measure in common with fractions.folded; --side-by-side merges them nevertheless

$ flambeau-cli merge a.folded; flambeau-cli merge --output x; flambeau-cli merge a.folded b.folded --output m.flambeau; flambeau-cli merge a.folded nowhere -o y.flambeau; ls y.flambeau; flambeau-cli merge a.folded --invert -o y.flambeau
! flambeau-cli: merge: --output OUT
! flambeau-cli: merge: expected FILE… --output OUT
! flambeau-cli: m.flambeau: already exists; --force replaces it
! flambeau-cli: nowhere: cannot be opened: No such file or directory
! ls: cannot access 'y.flambeau': No such file or directory
! flambeau-cli: a.folded: a profile cannot be inverted or grouped by module or file
[1]

# Whole numbers, tenths and hundredths.
$ printf 'a;b 3\n' >w.folded; printf 'a;b 1.5\n' >t.folded; printf 'a;b 1.25\n' >h.folded; flambeau-cli merge w.folded t.folded h.folded -o wth.flambeau; flambeau-cli top wth.flambeau --json | grep -o '"total":[^,]*'
"total":5.75
"total":5.75}
"total":5.75}]}

# Working folders belong to their processes, each of which has the last one.
$ flambeau-cli merge captures/flambeau/folders.flambeau captures/flambeau/folders.flambeau -o f.flambeau; flambeau-cli dump --stage profile f.flambeau | grep ^folder; flambeau-cli info --process 8 f.flambeau | grep -A1 ^folder; flambeau-cli info --json f.flambeau | grep -o '"folder":"[^"]*"'
folder 0 /home/me/shop
folder 1 /home/me/shop
folder 1 /home/me/shop/lib
folder 0 /srv/shop
folder 2 /home/me/shop
folder 3 /home/me/shop
folder 3 /home/me/shop/lib
folder 2 /srv/shop
folder     /home/me/shop/lib
measures   samples            0 (Samples)
"folder":"/srv/shop"
"folder":"/home/me/shop/lib"
"folder":"/srv/shop"
"folder":"/home/me/shop/lib"

# They are kept by SQLite, and the last one by OpenTelemetry's format.
$ flambeau-cli export --to sqlite -o f.sqlite captures/flambeau/folders.flambeau; flambeau-cli dump --stage profile f.sqlite | grep ^folder; flambeau-cli export --to otlp -o f.otlp captures/flambeau/folders.flambeau; flambeau-cli dump --stage profile f.otlp | grep ^folder
folder 0 /home/me/shop
folder 1 /home/me/shop
folder 1 /home/me/shop/lib
folder 0 /srv/shop
folder 0 /srv/shop
