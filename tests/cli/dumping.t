# SPDX-License-Identifier: GPL-3.0-or-later
# Each stage on the way to a picture, of a capture of known structure: a wrong
# pixel is wrong first in one of them.

$ printf '%s\n' 'main 10' 'main;parse 10' 'main;parse;lex 20' 'main;solve 60' >known.folded

$ flambeau-cli dump known.folded --stage profile
format folded
measure samples (Samples) cpu count total=100
function 0 main native module=-
function 1 parse native module=-
function 2 lex native module=-
function 3 solve native module=-
frame 0 function=0 address=0 line=0 inline=0
frame 1 function=1 address=0 line=0 inline=0
frame 2 function=2 address=0 line=0 inline=0
frame 3 function=3 address=0 line=0 inline=0
stack 0 prefix=- frame=0
stack 1 prefix=0 frame=1
stack 2 prefix=1 frame=2
stack 3 prefix=0 frame=3
process 0 pid=-1 name= parent=-
thread 0 process=0 tid=-1 name=all threads
  sample stack=0 samples=10
  sample stack=1 samples=10
  sample stack=2 samples=20
  sample stack=3 samples=60

$ flambeau-cli dump known.folded --stage weights
total samples 100
weight stack=0 10 main
weight stack=1 10 parse
weight stack=2 20 lex
weight stack=3 60 solve

$ flambeau-cli dump known.folded --stage tree
all self=0 total=100
  main self=10 total=100
    solve self=60 total=60
    parse self=10 total=30
      lex self=20 total=20

$ flambeau-cli dump known.folded --stage layout
x=0 y=48 width=1200 node=0 all
x=0 y=32 width=1200 node=1 main
x=0 y=16 width=720 node=2 solve
x=720 y=16 width=360 node=3 parse
x=720 y=0 width=240 node=4 lex

$ flambeau-cli dump known.folded --stage layout --width 100 --direction icicle
x=0 y=0 width=100 node=0 all
x=0 y=16 width=100 node=1 main
x=0 y=32 width=60 node=2 solve
x=60 y=32 width=30 node=3 parse
x=60 y=48 width=20 node=4 lex

# The selection, and its order.
$ flambeau-cli dump known.folded --stage weights --filter lex
total samples 20
weight stack=2 20 lex

$ flambeau-cli dump known.folded --stage tree --focus parse
all self=0 total=30
  parse self=10 total=30
    lex self=20 total=20

$ flambeau-cli dump known.folded --stage layout --focus parse --invert
x=0 y=32 width=1200 node=0 all
x=0 y=16 width=800 node=1 lex
x=800 y=16 width=400 node=3 parse
x=0 y=0 width=800 node=2 parse

$ flambeau-cli dump captures/heaptrack/v3.heaptrack --stage weights --measure leaked
total leaked 65
weight stack=3 64 other=1 std::vector<int>::push_back
weight stack=- 1

$ flambeau-cli dump captures/flambeau/kitchen.flambeau --stage weights --by thread
total wall-time 3190589291
weight stack=6 990123145 sleep=990123145 clock_nanosleep
weight stack=12 160293816 running=160293816 slice
weight stack=13 20333751 running=20333751 slice
weight stack=14 11137273 running=11137273 slice
weight stack=20 200515019 lock=200515019 futex_wait
weight stack=24 403270855 sleep=403270855 clock_nanosleep
weight stack=28 202586135 io=202586135 __GI___libc_read
weight stack=32 201918501 sleep=201918501 clock_nanosleep
weight stack=36 163338655 running=163338655 slice
weight stack=37 29238057 running=29238057 slice
weight stack=38 9058775 running=9058775 slice
weight stack=44 193628851 lock=193628851 futex_wait
weight stack=48 200684720 io=200684720 __GI___libc_read
weight stack=52 202230869 lock=202230869 __futex_abstimed_wait_common64
weight stack=56 202230869 sleep=202230869 clock_nanosleep
weight thread=0 stack=6 sleep=990123145
weight thread=0 stack=24 sleep=403270855
weight thread=0 stack=52 lock=202230869
weight thread=1 stack=12 running=160293816
weight thread=1 stack=13 running=20333751
weight thread=1 stack=14 running=11137273
weight thread=1 stack=20 lock=200515019
weight thread=1 stack=28 io=202586135
weight thread=1 stack=32 sleep=201918501
weight thread=1 stack=36 running=163338655
weight thread=1 stack=37 running=29238057
weight thread=1 stack=38 running=9058775
weight thread=1 stack=44 lock=193628851
weight thread=1 stack=48 io=200684720
weight thread=1 stack=56 sleep=202230869

$ flambeau-cli dump known.folded --stage profile --no-symbols | cmp - <(flambeau-cli dump known.folded --stage profile)

# Code that is compiled at run time is not native.
$ printf '%s\n' 'run_[j];memcpy 3' 'run_[j];vfs_read_[k] 1' 'f 2' | flambeau-cli dump - --stage tree --no-native
all self=2 total=6
  run self=4 total=4

$ flambeau-cli dump captures/jlprof/plain.jlprof --stage tree --no-native
all self=1 total=4
  cook self=1 total=3 status=gc
    chop self=0 total=2
      + self=2 total=2

# As filter of FlameGraphs.jl, which also compares "NAME at FILE".
$ flambeau-cli dump captures/jlprof/plain.jlprof --stage tree --no-native --branches 'at int\.jl'
all self=1 total=4
  cook self=1 total=3 status=gc
    chop self=0 total=2
      + self=2 total=2

# As norepl of FlameGraphs.jl: what the REPL runs is at the root.
$ flambeau-cli dump captures/jlprof/wall.jlprof --stage tree --no-native --no-repl | grep -v task; flambeau-cli top captures/jlprof/wall.jlprof --no-repl --focus run_backend
all self=0 total=5
  main self=0 total=3
    work self=0 total=2
      + self=2 total=2 status=gc
    rec self=0 total=1
      rec self=1 total=1 status=dispatch
  infer self=1 total=1
  wait self=1 total=1
      self                 total            function

# Very deep, but no wider; boxes too narrow to draw are counted.
$ (seq 102 | paste -sd ';'; echo 1) | paste -sd ' ' | flambeau-cli dump - --stage tree | tail -2 | tr -s ' '
 (101) 101 self=0 total=1
 (102) 102 self=1 total=1

$ (echo 'main;wide 100000'; for i in $(seq 100 199); do echo "main;f$i 1"; done) | flambeau-cli dump - --stage layout
x=0 y=32 width=1200 node=0 all
x=0 y=16 width=1200 node=1 main
x=0 y=0 width=1198.8 node=2 wide
x=1198.8 y=0 width=1.1988 node=3 strip=100 f100

# Names do not end lines or send control characters to a terminal.
$ echo '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a\u001b[31mb\nc"}]},"profiles":[{"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":1,"samples":[[0]],"weights":[1]}]}' >hostile.json

$ flambeau-cli dump hostile.json --stage profile | grep 31m
function 0 a\x1b[31mb\nc native module=-

$ flambeau-cli dump hostile.json --stage weights
total samples 1
weight stack=0 1 a\x1b[31mb\nc

$ flambeau-cli dump hostile.json --stage tree
all self=0 total=1
  a\x1b[31mb\nc self=1 total=1

$ flambeau-cli dump hostile.json --stage layout
x=0 y=16 width=1200 node=0 all
x=0 y=0 width=1200 node=1 a\x1b[31mb\nc

# Wrong usage.
$ flambeau-cli dump known.folded
! flambeau-cli: dump: --stage: expected profile, weights, tree, layout or chart
[2]

$ flambeau-cli dump known.folded --stage nonsense
! flambeau-cli: dump: --stage: expected profile, weights, tree, layout or chart
[2]

$ flambeau-cli dump known.folded --stage layout --direction nonsense
! flambeau-cli: dump: --direction: expected flame or icicle
[2]

$ flambeau-cli dump known.folded --stage layout --width 0
! flambeau-cli: dump: --width: expected at least 1
[2]

$ flambeau-cli dump known.folded --stage tree --json
! flambeau-cli: dump: unknown option --json
[2]

$ flambeau-cli export known.folded --to folded --json
! flambeau-cli: export: unknown option --json
[2]
