# SPDX-License-Identifier: GPL-3.0-or-later
# Captures with more than running threads: which states count, and their shares.
# kitchen (tests/record/targets) chops, waits for a lock, for a pipe, and naps,
# 0.4 s each, in its own thread.

$ flambeau-cli info captures/flambeau/kitchen.flambeau --no-symbols
56 % of the time sleeps in nap (kitchen.c:32)

format     flambeau
command    ./kitchen
duration   1.60 s
measures   wall-time          3.19 s (Wall time)
           cpu-time           396 ms (CPU time)
           samples            228 (Samples)
states     sleep 56.3 %, lock 18.7 %, io 12.6 %, running 12.3 %
samples    228 in 57 stacks of 24 functions
recorder   used 8.7 % of the program's CPU time
processes  26140 kitchen
             26140/26140 kitchen: 107 samples, 1.60 s
             26140/26142 cook: 121 samples, 1.59 s
modules    /tmp/kitchen/kitchen: 3.19 s, symbols: dwarf
           /usr/lib/x86_64-linux-gnu/libc.so.6: 3.19 s, symbols: dwarf
           and another 2 with nothing in them

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
! captures/flambeau/kitchen.flambeau: left out, because folded cannot hold it: threads, order in time, states, other measures, files, lines, inlined functions, modules, counters

$ flambeau-cli top captures/flambeau/kitchen.flambeau --states waiting
! flambeau-cli: top: --states waiting: expected cpu, off-cpu, all, or some of running, lock, io, sleep, blocked, runnable, mpi with commas between
[2]

# A capture without states counts as running all the time.
$ printf '%s\n' 'main;work 5' >plain.folded; flambeau-cli top plain.folded --states off-cpu --json
{"total":0,"rows":[]}

# The events that perf counted have no waiting: this selects their off-CPU time.
$ flambeau-cli top captures/perf-data/switches.perf.data --no-symbols --states off-cpu
      self                 total            function
    620 ns   100.0 %      620 ns   100.0 %  [no stack]  [runnable 80.6 %, blocked 19.4 %]

# A shell that started two kitchens, one of which was a shell before.
$ flambeau-cli info captures/flambeau/family.flambeau --no-symbols | sed -n '/^processes/,/^modules/p'
processes  18374 family.sh
             18374/18374 family.sh: 22 samples, 2.00 s
             18376 kitchen
               18376/18376 kitchen: 17 samples, 1.55 s
               18376/18378 cook: 17 samples, 1.55 s
             18377 kitchen, sh until 406 ms
               18377/18377 kitchen: 21 samples, 2.00 s, sh until 406 ms
               18377/18380 cook: 18 samples, 1.59 s
               18379 sleep
                 18379/18379 sleep: 4 samples, 368 ms
modules    /usr/lib/x86_64-linux-gnu/libc.so.6: 8.70 s, symbols: symtab

$ flambeau-cli info captures/flambeau/family.flambeau --no-symbols --json | grep -o '"processes":[^]]*\].*"threads"'
"processes":[{"pid":18374,"name":"family.sh"},{"pid":18376,"name":"kitchen","parent":18374},{"pid":18377,"name":"kitchen","parent":18374,"former_names":[{"name":"sh","until_ns":405782760}]},{"pid":18379,"name":"sleep","parent":18377}],"threads"

# Two captures: gone and new functions, and a name that is markup.
$ printf '%s\n' 'main;parse;lex 20' 'main;old 40' 'main;<b>"&"</b> 5' >base.folded; printf '%s\n' 'main;parse;lex 35' 'main;fresh 12' 'main;<b>"&"</b> 5' >new.folded

$ flambeau-cli diff base.folded new.folded
−40  40 → 0  old
+15  20 → 35  lex
+15  20 → 35  parse
−13  65 → 52  main
+12  0 → 12  fresh

$ flambeau-cli diff base.folded new.folded --to svg | grep -o '<title>[^/]*</title>'
<title>all (52 samples, 100%): −13, before 65</title>
<title>main (52 samples, 100%): −13, before 65</title>
<title>parse (35 samples, 67.31%): +15, before 20</title>
<title>fresh (12 samples, 23.08%): +12, new function</title>
<title>lex (35 samples, 67.31%): +15, before 20</title>

# Samples without a stack have a row, so that the changes of self costs add up
# to the whole change.
$ flambeau-cli diff base.folded new.folded --hide '^(main|old)$' --self
−40  40 → 0  [no stack]
+15  20 → 35  lex
+12  0 → 12  fresh

# A title writes all of its numbers in the same form.
$ echo 'main;parse 1234567' >many.folded; flambeau-cli diff base.folded many.folded --to svg | grep -o '<title>parse[^/]*</title>'
<title>parse (1,234,567 samples, 100%): +1,234,547, before 20</title>

$ flambeau-cli diff base.folded new.folded --to svg | grep -o -e 'only in the other[^<]*' -e '>Grew<' -e '>Shrank<' -e '<b>'
>Grew<
>Shrank<
only in the other capture: 40

$ flambeau-cli diff base.folded new.folded --to html >diff.html; grep -c '<svg' diff.html; grep -o -e '>Now: [^<]*' -e '>Before: [^<]*' -e '>Difference[^<]*' -e '<b>' diff.html; grep '<tr><td' diff.html
3
>Before: base.folded
>Now: new.folded
>Difference: only what changed
<tr><td class="shrank">−40</td><td>40</td><td>0</td><td class="name">old</td><td></td></tr>
<tr><td class="grew">+15</td><td>20</td><td>35</td><td class="name">lex</td><td></td></tr>
<tr><td class="grew">+15</td><td>20</td><td>35</td><td class="name">parse</td><td></td></tr>
<tr><td class="shrank">−13</td><td>65</td><td>52</td><td class="name">main</td><td></td></tr>
<tr><td class="grew">+12</td><td>0</td><td>12</td><td class="name">fresh</td><td></td></tr>

$ flambeau-cli diff base.folded new.folded --normalize --self --to svg | grep -o '<title>lex[^/]*</title>'
<title>lex (35 samples, 67.31%): +19, before 16</title>

# The weights of the base keep their decimals.
$ printf '%s\n' 'main;parse 1.5' 'main;solve 0.25' >base.parts; printf '%s\n' 'main;parse 3.5' 'main;solve 2.75' >new.parts; flambeau-cli diff base.parts new.parts --normalize --to folded; flambeau-cli diff base.parts base.parts --normalize --to folded
main;parse 5.35 3.5
main;solve 0.89 2.75
main;parse 1.5 1.5
main;solve 0.25 0.25

# With both widths, gone frames are drawn in their own color; with self costs,
# new functions are black.
$ flambeau-cli diff base.folded new.folded --widths both --to svg | grep -o -e '<title>[^/]*</title>' -e '>New<' -e '>Gone<' | sort
<title>all (52 samples, 100%): −13, before 65</title>
<title>fresh (12 samples, 23.08%): +12, new function</title>
<title>lex (35 samples, 67.31%): +15, before 20</title>
<title>main (52 samples, 100%): −13, before 65</title>
<title>old (0 samples, 0%): −40, before 40, gone</title>
<title>parse (35 samples, 67.31%): +15, before 20</title>
>Gone<
>New<

$ flambeau-cli diff base.folded new.folded --self --to svg | grep -o -e '<title>fresh.*#1a1a1a' -e '>New function<' -e '>Gone<'
<title>fresh (12 samples, 23.08%): +12, new function</title><rect x="804.2308" y="60" width="272.3077" height="15" fill="#1a1a1a
>New function<

$ flambeau-cli diff base.folded new.folded --widths half --to svg; flambeau-cli diff base.folded new.folded --widths both --to html; flambeau-cli diff base.folded new.folded --by-frame
! flambeau-cli: diff: --widths: expected now, before or both, with --to svg
! flambeau-cli: diff: --widths: expected now, before or both, with --to svg
! flambeau-cli: diff: --by-frame requires --to svg or html
[2]

# As in flamegraph.pl, growth is red and shrinking is blue; by frame, new frames
# have the strongest color and large changes need not.
$ printf 'a 100\nb 100\nc 1000\n' >was.folded; printf 'a 130\nb 70\nc 1100\n' >is.folded; flambeau-cli diff was.folded is.folded --to svg | grep -o '<title>[abc] .*fill="#[0-9a-f]*"' | sed 's/<title>\(.\).*fill=/\1 /'; flambeau-cli diff was.folded is.folded --by-frame --to svg | grep -o '<title>[abc] .*fill="#[0-9a-f]*"' | sed 's/<title>\(.\).*fill=/\1 /'
c "#ff8276"
a "#ff9e93"
b "#97c3fb"
c "#e2c8c5"
a "#edbbb4"
b "#afcaee"

# A file with two columns is itself a difference.
$ printf 'main;a 10 30\nmain;gone 5 0\nmain;b 0 7\n' >two.folded; flambeau-cli diff two.folded; flambeau-cli diff two.folded --to folded
+22  15 → 37  main
+20  10 → 30  a
+7  0 → 7  b
−5  5 → 0  gone
main;a 10 30
main;b 0 7
main;gone 5 0

# Threads of one capture; lines of both.
$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --thread cook --base-thread kitchen --self --to csv | head -3
function,base,new,delta
clock_nanosleep,1393394000,404149370,-989244630
__GI___libc_read,0,403270855,403270855

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --thread cook --time 0.8..1.6 --base-time 0..0.8 --lines --self --to csv --source kitchen.c | head -4
source,line,base,new,delta
/usr/src/flam/tests/record/targets/kitchen.c,38,31471024,38296832,6825808
/usr/src/flam/tests/record/targets/kitchen.c,39,160293816,163338655,3044839
/usr/src/flam/tests/record/targets/kitchen.c,32,0,0,0

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --time 0.8..1.6 --base-time 0..0.8 --lines --source kitchen.c | head -3
+202 ms  0 ns → 202 ms  /usr/src/flam/tests/record/targets/kitchen.c:104
−201 ms  999 ms → 798 ms  /usr/src/flam/tests/record/targets/kitchen.c:32
−200 ms  595 ms → 395 ms  /usr/src/flam/tests/record/targets/kitchen.c:97

$ flambeau-cli diff base.folded new.folded --lines --to svg; flambeau-cli diff base.folded new.folded --source a.c; flambeau-cli diff base.folded new.folded --lines --source a.c
! flambeau-cli: diff: --lines is a table and cannot be combined with --to svg
! flambeau-cli: diff: --source requires --lines
! flambeau-cli: new.folded: no code of “a.c”
[1]

$ flambeau-cli diff base.folded new.folded --to png
! flambeau-cli: diff: --to: expected svg, html, folded, csv or d3
[2]

$ flambeau-cli history base.folded new.folded --to html >history.html; grep -o -e '<title>[^<]*' -e '<td>[^<]*</td></tr>' -e '<b>' history.html
<title>History of 2 captures
<title>1: base.folded: 65
<title>2: new.folded: 52
<td>base.folded</td></tr>
<td>new.folded</td></tr>
<td>old</td></tr>
<td>lex</td></tr>
<td>fresh</td></tr>

$ echo '<b>"&"</b> 3' >odd.folded; flambeau-cli history new.folded odd.folded --to html | grep -o -e '[^>]*b&gt[^<]*</td>' -e '<b>'
&lt;b&gt;&quot;&amp;&quot;&lt;/b&gt;</td>

$ flambeau-cli history base.folded new.folded --to svg
! flambeau-cli: history: --to: expected html or csv
[2]

$ flambeau-cli diff base.folded new.folded --to html >/dev/full
! flambeau-cli: standard output: cannot write
[1]

# A file instead of standard output, whatever the format: it appears as a whole
# or not at all, and nothing is printed.
$ for to in csv folded svg html; do flambeau-cli diff base.folded new.folded --to $to --output d.$to; flambeau-cli diff base.folded new.folded --to $to | cmp - d.$to && echo same; done; flambeau-cli diff base.folded new.folded --output d.txt; flambeau-cli diff base.folded new.folded | cmp - d.txt; flambeau-cli diff base.folded new.folded --json -o d.json; flambeau-cli diff base.folded new.folded --json -o - | cmp - d.json
same
same
same
same

$ flambeau-cli diff base.folded new.folded --to csv --output d.txt
! flambeau-cli: d.txt: already exists; --force replaces it
[1]

$ flambeau-cli diff base.folded new.folded --to csv --output d.txt --force; cmp d.txt d.csv; flambeau-cli diff base.folded new.folded --output no/d.txt
! flambeau-cli: no/d.txt: cannot be written: No such file or directory
[1]

# A refused comparison leaves no file; an exceeded limit does.
$ flambeau-cli diff base.folded new.folded --lines --source nowhere.c --output none.txt; ls none.txt 2>/dev/null
! flambeau-cli: new.folded: no code of “nowhere.c”
[2]

$ flambeau-cli diff base.folded new.folded --fail-above 0.1:lex --output gate.txt 2>/dev/null; echo $?; flambeau-cli diff base.folded new.folded | cmp - gate.txt && echo same; flambeau-cli diff base.folded new.folded --output /dev/full --force
3
same
! flambeau-cli: /dev/full: cannot be written: Error writing to file descriptor: No space left on device
[1]

# Bytes are not compared with samples.
$ flambeau-cli diff captures/folded/rough.folded captures/heaptrack/v3.heaptrack
! flambeau-cli: captures/heaptrack/v3.heaptrack: “peak” and captures/folded/rough.folded's “samples” have different units; choose others with --measure
[1]

$ flambeau-cli history captures/folded/rough.folded captures/heaptrack/v3.heaptrack
! flambeau-cli: captures/heaptrack/v3.heaptrack: “peak” and captures/folded/rough.folded's “samples” have different units; choose others with --measure
[1]

# Two counts are not compared if one counts blocks of memory.
$ printf 'a 1\n' >page-faults.folded; flambeau-cli diff base.folded page-faults.folded; flambeau-cli diff base.folded new.folded --by address
! flambeau-cli: page-faults.folded: “page-faults” and base.folded's “samples” are of different kinds; choose others with --measure
! flambeau-cli: diff: --by address: addresses of two builds cannot be compared
[2]

# Fractions that decreased.
$ printf 'a;b 5.5\na;c 1\n' >halves.folded; printf 'a;b 2\na;c 1.5\n' >fewer.folded; flambeau-cli diff halves.folded fewer.folded --to csv
function,base,new,delta
b,5.5,2,-3.5
a,6.5,3.5,-3
c,1,1.5,0.5

# Counts with different decimals have the same unit, and are compared with the
# finer ones.
$ printf 'a;b 1.25\na;c 2\n' >hundredths.folded; printf 'a;b 1.5\na;c 2\n' >tenths.folded; printf 'a;b 3\na;d 1\n' >wholes.folded; for pair in 'hundredths tenths' 'tenths hundredths' 'hundredths wholes' 'wholes hundredths'; do set -- $pair; flambeau-cli diff $1.folded $2.folded --self; done
+0.25  1.25 → 1.5  b
−0.25  1.5 → 1.25  b
−2  2 → 0  c
+1.75  1.25 → 3  b
+1  0 → 1  d
+2  0 → 2  c
−1.75  3 → 1.25  b
−1  1 → 0  d

$ flambeau-cli diff hundredths.folded wholes.folded --to folded; flambeau-cli diff wholes.folded hundredths.folded --to csv; flambeau-cli diff hundredths.folded wholes.folded --count; flambeau-cli diff hundredths.folded wholes.folded --fail-above 10:b >out
a;b 1.25 3
a;c 2 0
a;d 0 1
function,base,new,delta
c,0,2,2
b,3,1.25,-1.75
d,1,0,-1
a,4,3.25,-0.75
−1  1 → 0  c
+1  0 → 1  d
! broken gates:
!   wholes.folded  b  1.25 → 3, +140.0 %, limit +10 %
[3]

$ flambeau-cli diff hundredths.folded wholes.folded --to html | grep -o '1\.75' | head -1; printf 'a 9223372036854775807\n' >large.folded; flambeau-cli diff hundredths.folded large.folded
1.75
! flambeau-cli: hundredths.folded, large.folded: the weights of “Samples” are too large for the other capture's precision
[1]

# Limits: too much growth, and too large values.
$ printf '%s\n' 'main;parse 100' 'main 50' >old.folded; printf '%s\n' 'main;parse 130' 'main 20' 'main;new 10' >new.folded

$ flambeau-cli diff old.folded new.folded --fail-above 10 --fail-above 40:parse --limit samples=1000 >out; echo $?
0

$ flambeau-cli diff old.folded new.folded --fail-above 5:samples --fail-above 20%:parse --fail-above 1:new --limit samples=100 >out
! broken gates:
!   new.folded  samples  150 → 160, +6.7 %, limit +5 %
!   new.folded  parse  100 → 130, +30.0 %, limit +20 %
!   new.folded  new  0 → 10, new, limit +1 %
!   new.folded  samples  160, limit 100
[3]

$ flambeau-cli diff old.folded new.folded --fail-above 5:nobody
! flambeau-cli: new.folded: no measure and no function “nobody”
[1]

$ flambeau-cli diff old.folded new.folded --limit samples
! flambeau-cli: diff: --limit samples: expected MEASURE=VALUE, such as peak=200MB
[2]

# A limit has its measure's unit, or none.
$ flambeau-cli diff old.folded new.folded --limit samples=1MB; flambeau-cli diff old.folded new.folded --limit samples=1s
! flambeau-cli: new.folded: --limit: “samples” has another unit
! flambeau-cli: new.folded: --limit: “samples” has another unit
[1]

# They check the compared values: with --normalize the scaled base, with --self
# the self costs.
$ printf '%s\n' 'main;parse 200' 'main 100' >twice.folded; flambeau-cli diff old.folded twice.folded --normalize --fail-above 5 --fail-above 5:parse >out; echo $?
0

$ printf '%s\n' 'main;parse;scan 60' 'main;parse 40' 'main 110' >inner.folded; flambeau-cli diff old.folded inner.folded --normalize --fail-above 5:parse --fail-above 30:scan >out
! broken gates:
!   inner.folded  scan  0 → 60, new, limit +30 %
[3]

$ flambeau-cli diff old.folded inner.folded --self --fail-above 5:main --fail-above 5:parse >out
! broken gates:
!   inner.folded  main  50 → 110, +120.0 %, limit +5 %
[3]

$ mkdir runs; cp old.folded runs/1.folded; cp new.folded runs/2.folded; echo nothing >runs/README; touch -d 2026-11-01T12:00Z runs/1.folded; touch -d 2026-11-02T12:00Z runs/2.folded; flambeau-cli history runs --fail-above 5
runs/1.folded  2026-11-01 12:00 UTC (the file’s)  samples 150
runs/2.folded  2026-11-02 12:00 UTC (the file’s)  samples 160  moved: main −30, parse +30, new +10
! broken gates:
!   runs/2.folded  samples  150 → 160, +6.7 %, limit +5 %
[3]

# Two ranges of one capture. The cook does the same four things twice, in 0.8 s;
# the first half of that has no reading and no nap.
$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --thread cook --time 0.8..1.6 --base-time 0..0.8 --self --to csv | head -5
function,base,new,delta
slice,191764840,201635487,9870647
futex_wait,200515019,193628851,-6886168
__GI___libc_read,202586135,200684720,-1901415
clock_nanosleep,201918501,202230869,312368

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --thread cook --time 0..0.8 --base-time 0.8..1.6 --self --to csv | head -5
function,base,new,delta
slice,201635487,191764840,-9870647
futex_wait,193628851,200515019,6886168
__GI___libc_read,200684720,202586135,1901415
clock_nanosleep,202230869,201918501,-312368

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --time 0.5..1 --base-time 0.5..1

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --thread cook --time 0.8..1.2 --base-time 0..0.8 --self --to csv | head -3
function,base,new,delta
__GI___libc_read,202586135,0,-202586135
clock_nanosleep,201918501,0,-201918501
! kitchen.flambeau, 0 ns – 800 ms: it lasts 800 ms and the other range 400 ms; --normalize-time scales them to the same length

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --thread cook --time 0.8..1.2 --base-time 0..0.8 --self --normalize-time --to csv | head -3
function,base,new,delta
slice,95882420,201635487,105753067
__GI___libc_read,101293067,0,-101293067
! kitchen.flambeau, 0 ns – 800 ms: multiplied by 0.5: 400 ms against 800 ms

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --time 0.8..1.2 --base-time 0..0.8 --normalize-time --to html 2>/dev/null | grep -o -e '<title>[^<]*→[^<]*' -e 'is multiplied[^<]*'
<title>kitchen.flambeau, 0 ns – 800 ms → kitchen.flambeau, 800 ms – 1.20 s
is multiplied by 0.5

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols
! flambeau-cli: diff: to compare one FILE with itself, choose the base with --base-time or --base-thread
[2]

$ flambeau-cli diff captures/flambeau/kitchen.flambeau --base-time 1
! flambeau-cli: diff: --base-time 1: expected FROM..TO, seconds or names of marks
[2]

$ flambeau-cli diff old.folded new.folded --normalize --normalize-time
! flambeau-cli: diff: --normalize and --normalize-time contradict each other
[2]

$ flambeau-cli diff old.folded new.folded --normalize-time
! flambeau-cli: old.folded: --normalize-time: the capture does not record its duration
[1]

# The figures of difffolded.pl, with and without -n, and of go tool pprof
# -diff_base for these two files.
$ printf '%s\n' 'main;parse;lex 364' 'main;parse 145' 'main;idle 75' 'main;old 68' >before.folded; printf '%s\n' 'main;parse;lex 150' 'main;parse 114' 'main;idle 74' 'main;fresh 22' >after.folded

$ flambeau-cli diff before.folded after.folded --to folded
main;fresh 0 22
main;idle 75 74
main;old 68 0
main;parse 145 114
main;parse;lex 364 150

$ flambeau-cli diff before.folded after.folded --normalize --to folded
main;fresh 0 22
main;idle 41 74
main;old 37 0
main;parse 80 114
main;parse;lex 200 150

$ flambeau-cli diff before.folded after.folded --to csv
function,base,new,delta
main,652,360,-292
parse,509,264,-245
lex,364,150,-214
old,68,0,-68
fresh,0,22,22
idle,75,74,-1

$ flambeau-cli diff before.folded after.folded --self --to csv
function,base,new,delta
lex,364,150,-214
old,68,0,-68
parse,145,114,-31
fresh,0,22,22
idle,75,74,-1
main,0,0,0

# For d3-flame-graph: each path of both captures, with its change.
$ flambeau-cli diff before.folded after.folded --to d3; flambeau-cli diff before.folded after.folded --to d3 --output changes.json; flambeau-cli diff changes.json --to folded
{"name":"all","value":360,"delta":-292,"children":[
{"name":"main","value":360,"delta":-292,"children":[
{"name":"parse","value":264,"delta":-245,"children":[
{"name":"lex","value":150,"delta":-214}]},
{"name":"idle","value":74,"delta":-1},
{"name":"old","value":0,"delta":-68},
{"name":"fresh","value":22,"delta":22}]}]}
main;fresh 0 22
main;idle 75 74
main;old 68 0
main;parse 145 114
main;parse;lex 364 150

# difffolded.pl -s: 0x... for addresses in names, which differ in each run.
$ printf 'main;f@0x4f2a 5\nmain;f@0x4f2b 1\nmain;0x 2\n' >one.folded; printf 'main;f@0xbeef 9\nmain;0x 2\n' >two.folded; flambeau-cli diff one.folded two.folded --to folded; flambeau-cli diff one.folded two.folded --strip-hex --to folded
main;0x 2 2
main;f@0x4f2a 5 0
main;f@0x4f2b 1 0
main;f@0xbeef 0 9
main;0x 2 2
main;f@0x... 6 9

# Only stacks whose own cost changed: difffolded.pl's lines with two different
# columns. Their frames keep their kinds, as there.
$ printf '%s\n' 'main;read_[k];copy_[i] 20' 'main;read 7' 'main;run_[j] 40' 'main;same_[k] 5' 'a;--;wake_[w] 2' >kinds.base; printf '%s\n' 'main;read_[k];copy_[i] 35' 'main;read 7' 'main;fresh_[j] 12' 'main;same_[k] 5' 'a;--;wake_[w] 3' >kinds.new; flambeau-cli diff kinds.base kinds.new --to folded; flambeau-cli diff kinds.base kinds.new --to folded --changed
a;--;wake_[w] 2 3
main;fresh_[j] 0 12
main;read 7 7
main;read_[k];copy_[i] 20 35
main;run_[j] 40 0
main;same_[k] 5 5
a;--;wake_[w] 2 3
main;fresh_[j] 0 12
main;read_[k];copy_[i] 20 35
main;run_[j] 40 0

$ flambeau-cli diff kinds.base kinds.new --changed --to svg | grep -o '<title>[^/]*</title><rect x="[^"]*" y="[^"]*" width="[^"]*"'; flambeau-cli diff kinds.base kinds.new --changed --to d3 | grep -o '"n[ame]*":"[^"]*"' | tr '\n' ' '; flambeau-cli diff kinds.base kinds.base --changed --to svg | grep -c '<title>'
<title>all (62 samples, 100%): −12, before 74</title><rect x="10" y="92" width="1180"
<title>main (59 samples, 95.16%): −13, before 72</title><rect x="10" y="76" width="1140.6666"
<title>a (3 samples, 4.84%): +1, before 2</title><rect x="1150.6666" y="76" width="39.3334"
<title>run (0 samples, 0%): −40, before 40, gone</title><rect x="10" y="60" width="524.4445"
<title>read (42 samples, 67.74%): +15, before 27</title><rect x="534.4445" y="60" width="458.8889"
<title>fresh (12 samples, 19.35%): +12, new function</title><rect x="993.3333" y="60" width="157.3333"
<title>-- (3 samples, 4.84%): +1, before 2</title><rect x="1150.6666" y="60" width="39.3334"
<title>copy (35 samples, 56.45%): +15, before 20</title><rect x="534.4445" y="44" width="458.8889"
<title>wake (3 samples, 4.84%): +1, before 2</title><rect x="1150.6666" y="44" width="39.3334"
"name":"all" "name":"main" "name":"run" "name":"read" "name":"copy" "name":"fresh" "name":"a" "name":"--" "name":"wake" 0
[1]

# A capture whose frames have kinds without being text: names stay as they are.
$ flambeau-cli diff captures/jlprof/plain.jlprof captures/jlprof/plain.jlprof --to folded | grep -c '_\['; for o in '--to html' '--to csv' '' '--widths both --to svg'; do flambeau-cli diff kinds.base kinds.new --changed $o; done
0
! flambeau-cli: diff: --changed requires --to svg, folded or d3
! flambeau-cli: diff: --changed requires --to svg, folded or d3
! flambeau-cli: diff: --changed requires --to svg, folded or d3
! flambeau-cli: diff: --widths: expected now, before or both, with --to svg
[2]
