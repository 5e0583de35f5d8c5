# SPDX-License-Identifier: GPL-3.0-or-later
# Values that are exactly at a limit, and the units in which limits are given.

# 1 MiB is 1,048,576 bytes. A value equal to its limit does not exceed it.
$ echo 'main 1048576' >mib.folded; for l in 1MiB 1024KiB 1048576B 1.048577MB 1GiB 1GB 1MB 1048575B 1023KiB 1kB; do flambeau-cli diff mib.folded mib.folded --kind alloc --limit allocated=$l >out 2>&1; echo "$l $?"; done
1MiB 0
1024KiB 0
1048576B 0
1.048577MB 0
1GiB 0
1GB 0
1MB 3
1048575B 3
1023KiB 3
1kB 3

$ echo 'main 1500000' >ms.folded; for l in 1.5s 1500ms 1500000us 1500000000ns 1499ms 1.4s; do flambeau-cli diff ms.folded ms.folded --kind time --limit time=$l >out 2>&1; echo "$l $?"; done
1.5s 0
1500ms 0
1500000us 0
1500000000ns 0
1499ms 3
1.4s 3

# From 100 to 105 is a growth of 5 %; growth from nothing exceeds every limit.
$ echo 'main;a 100' >old.folded; echo 'main;a 105' >new.folded; for p in 0 4.9 5 5.1; do flambeau-cli diff old.folded new.folded --fail-above $p >out 2>&1; echo "$p $?"; done
0 3
4.9 3
5 0
5.1 0

$ printf '%s\n' 'main;a 99' 'main;b 1' >with-b.folded; for p in 0 1000000; do flambeau-cli diff old.folded with-b.folded --fail-above $p:b >out 2>&1; echo "$p $?"; done
0 3
1000000 3

# A limit that is exceeded once is exceeded; --self checks self costs.
$ flambeau-cli diff old.folded new.folded --fail-above 4 --fail-above 100 >/dev/null 2>&1; echo $?
3

$ flambeau-cli diff old.folded new.folded --self --fail-above 4:main >out; flambeau-cli diff old.folded new.folded --fail-above 4:main >out
! broken gates:
!   new.folded  main  100 → 105, +5.0 %, limit +4 %
[3]

# Two spans, of 15 and 25 ns: seconds are not truncated on their way to ns.
$ echo '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":0.015},{"ph":"X","name":"b","pid":1,"tid":1,"ts":0.015,"dur":0.025}]' >two.json; for t in ..0.000000015 0.000000015.. 0.000000014..0.000000016; do flambeau-cli top two.json --time $t; done
      self                 total            function
     15 ns   100.0 %       15 ns   100.0 %  a
      self                 total            function
     25 ns   100.0 %       25 ns   100.0 %  b
      self                 total            function
      1 ns    50.0 %        1 ns    50.0 %  a
      1 ns    50.0 %        1 ns    50.0 %  b

# Threads by their position in info, the first and the last.
$ printf '%s\n' '[{"ph":"X","name":"a","pid":1,"tid":7,"ts":0,"dur":1},{"ph":"X","name":"b","pid":1,"tid":8,"ts":0,"dur":2}]' >threads.json; for t in '#0' '#1' '#2' '#3' 7 8 9; do flambeau-cli top threads.json --thread $t --limit 1; done
      self                 total            function
   1.00 µs   100.0 %     1.00 µs   100.0 %  a
      self                 total            function
   2.00 µs   100.0 %     2.00 µs   100.0 %  b
      self                 total            function
   1.00 µs   100.0 %     1.00 µs   100.0 %  a
      self                 total            function
   2.00 µs   100.0 %     2.00 µs   100.0 %  b
! flambeau-cli: threads.json: no thread “#0”; there are: #1 thread 7 (7), #2 thread 8 (8)
! flambeau-cli: threads.json: no thread “#3”; there are: #1 thread 7 (7), #2 thread 8 (8)
! flambeau-cli: threads.json: no thread “9”; there are: #1 thread 7 (7), #2 thread 8 (8)
[1]

# The requested number of rows, and all of them for programs.
$ for i in $(seq 40); do echo "f$i $i"; done >many.folded; for l in 1 2 39 41; do flambeau-cli top many.folded --limit $l | wc -l; done; flambeau-cli top many.folded | wc -l; flambeau-cli top many.folded --json | grep -o '"function"' | wc -l; flambeau-cli top many.folded --json --limit 3 | grep -o '"function"' | wc -l
2
3
40
41
31
40
3

$ flambeau-cli top old.folded --period --count
! flambeau-cli: top: --period and --count contradict each other
[2]

$ flambeau-cli lines old.folded --source nowhere.c
! flambeau-cli: old.folded: no code of “nowhere.c”
[1]
