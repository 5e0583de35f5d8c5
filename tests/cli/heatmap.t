# SPDX-License-Identifier: GPL-3.0-or-later
# Samples second by second, by FlameScope's arithmetic: the column is the whole
# second, the row the part of it, and idle CPUs are left out.

$ sample () { printf '%s 7/7 [000] %s: 1 cpu-clock: \n\tffff %s (%s)\n\n' "$1" "$2" "$3" "$1"; }; for time in 100.000000 100.240000 100.250000 100.999000 101.750000 103.000000; do sample work $time main; done >in.txt; for i in 1 2 3; do sample swapper 102.500000 cpuidle_enter_state; done >>in.txt

$ flambeau-cli heatmap in.txt --rows 4 --count --json | tr -d ' \n'; echo
{"unit":"count","column_ns":1000000000,"from_ns":0,"from_unix_ns":0,"rows":4,"total":6,"max":2,"columns":[[2,1,0,1],[0,0,0,1],[0,0,0,0],[1,0,0,0]]}

$ flambeau-cli heatmap in.txt --rows 4 --count --idle
0.750 |▒▒  |
0.500 |  █ |
0.250 |▒   |
0.000 |▓  ▒|
       0 s

# With a date, the columns are seconds of the clock: it starts at .705 of one.
$ flambeau-cli heatmap captures/flambeau/kitchen.flambeau --rows 2 --count --json | grep -o '"from_[a-z_]*ns":[-0-9]*'; flambeau-cli heatmap captures/flambeau/kitchen.flambeau | tail -1
"from_ns":-705276000
"from_unix_ns":1795262957000000000
       2026-11-21 12:09:17 UTC

$ flambeau-cli heatmap in.txt --to svg | head -c 38; echo
<?xml version="1.0" encoding="UTF-8"?>

$ flambeau-cli heatmap in.txt --to png; head -c 4 in.txt.png | tail -c 3; echo
PNG

$ flambeau-cli heatmap in.txt --to html | grep -c '<svg'
1

$ flambeau-cli heatmap in.txt --rows 101
! flambeau-cli: heatmap: --rows 101: expected 1 to 100
[2]

$ flambeau-cli heatmap in.txt --to pdf
! flambeau-cli: heatmap: --to pdf: expected text, svg, png or html
[2]

$ echo 'a;b 1' | flambeau-cli heatmap -
! flambeau-cli: -: the measure has no times
[1]
