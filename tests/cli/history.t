# SPDX-License-Identifier: GPL-3.0-or-later
# Captures over their dates: in nested folders, in series by a regex on their
# paths. Folded stacks have no dates, so those of their files are used.
$ mkdir -p ci/main ci/next; printf 'main;parse 100\nmain;lex 20\n' >ci/main/1.folded; printf 'main;parse 130\nmain;lex 20\nmain;fresh 9\n' >ci/main/2.folded; printf 'main;parse 90\n' >ci/next/1.folded; touch -d 2026-11-01T12:00Z ci/main/1.folded; touch -d 2026-11-02T12:00Z ci/next/1.folded; touch -d 2026-11-03T12:00Z ci/main/2.folded

$ flambeau-cli history ci
ci/main/1.folded  2026-11-01 12:00 UTC (the file’s)  samples 120
ci/next/1.folded  2026-11-02 12:00 UTC (the file’s)  samples 90  moved: lex −20, parse −10
ci/main/2.folded  2026-11-03 12:00 UTC (the file’s)  samples 159  moved: parse +40, lex +20, fresh +9

$ flambeau-cli history ci --group '^ci/([^/]+)/' --function parse
main:
ci/main/1.folded  2026-11-01 12:00 UTC (the file’s)  samples 120  parse 100
ci/main/2.folded  2026-11-03 12:00 UTC (the file’s)  samples 159  parse 130  moved: parse +30, fresh +9

next:
ci/next/1.folded  2026-11-02 12:00 UTC (the file’s)  samples 90  parse 90

$ flambeau-cli history ci --group '^ci/([^/]+)/' --fail-above 20:parse >out
! broken gates:
!   ci/main/2.folded  parse  100 → 130, +30.0 %, limit +20 %
[3]

$ flambeau-cli history ci --output h.txt; flambeau-cli history ci | cmp - h.txt; flambeau-cli history ci --to html --output h.html; flambeau-cli history ci --to html | cmp - h.html; flambeau-cli history ci --json --output h.txt
! flambeau-cli: h.txt: already exists; --force replaces it
[1]

$ flambeau-cli history ci --to csv -o h.txt --force --fail-above 20:parse --group '^ci/([^/]+)/' 2>/dev/null; echo $?; head -2 h.txt
3
file,start_unix_ns,duration_ns,measure,total,group,date_unix_ns,date_from,function,self
ci/main/1.folded,0,0,samples,120,main,1793534400000000000,file,,

# A named group comes before the first group; captures without a match form a
# series, too.
$ flambeau-cli history ci --group '(c)i/(?<branch>n[^/]+)' --function parse --function lex --to csv
file,start_unix_ns,duration_ns,measure,total,group,date_unix_ns,date_from,function,self
ci/main/1.folded,0,0,samples,120,,1793534400000000000,file,,
ci/main/1.folded,0,0,samples,100,,1793534400000000000,file,parse,100
ci/main/1.folded,0,0,samples,20,,1793534400000000000,file,lex,20
ci/next/1.folded,0,0,samples,90,next,1793620800000000000,file,,
ci/next/1.folded,0,0,samples,90,next,1793620800000000000,file,parse,90
ci/next/1.folded,0,0,samples,0,next,1793620800000000000,file,lex,0
ci/main/2.folded,0,0,samples,159,,1793707200000000000,file,,
ci/main/2.folded,0,0,samples,130,,1793707200000000000,file,parse,130
ci/main/2.folded,0,0,samples,20,,1793707200000000000,file,lex,20

$ flambeau-cli history ci --group '^ci/([^/]+)/' --function parse --json
[{"file":"ci/main/1.folded","start_unix_ns":0,"duration_ns":0,"date_unix_ns":1793534400000000000,"date_from":"file","group":"main","totals":{"samples":120},"functions":[{"function":"parse","self":100,"total":100}],"moved":[]},{"file":"ci/next/1.folded","start_unix_ns":0,"duration_ns":0,"date_unix_ns":1793620800000000000,"date_from":"file","group":"next","totals":{"samples":90},"functions":[{"function":"parse","self":90,"total":90}],"moved":[]},{"file":"ci/main/2.folded","start_unix_ns":0,"duration_ns":0,"date_unix_ns":1793707200000000000,"date_from":"file","group":"main","totals":{"samples":159},"functions":[{"function":"parse","self":130,"total":130}],"moved":[{"function":"parse","delta":30},{"function":"fresh","delta":9}]}]

$ flambeau-cli history ci --group '^ci/([^/]+)/' --function parse --to html >page.html; grep -o -e '<title>[^<]*' -e 'key s[01]"></span>[^<]*' -e '<h[23]>[^<]*' -e 'class="date"[^<]*' -e 'class="words">[^<]*' -e '<td>[^<]*</td></tr>' page.html
<title>History of 3 captures
<h2>Totals
key s0"></span>main
key s1"></span>next
class="date" x="36.0" y="194">11-01 12:00
class="date" x="149.0" y="194">11-02 00:00
class="date" x="290.0" y="194">11-02 12:00
class="date" x="431.0" y="194">11-03 00:00
class="date" x="544.0" y="194">11-03 12:00
<title>1: ci/main/1.folded: 120
<title>3: ci/main/2.folded: 159
<title>2: ci/next/1.folded: 90
<h2>Functions
key s0"></span>main
key s1"></span>next
class="date" x="36.0" y="194">11-01 12:00
class="date" x="149.0" y="194">11-02 00:00
class="date" x="290.0" y="194">11-02 12:00
class="date" x="431.0" y="194">11-03 00:00
class="date" x="544.0" y="194">11-03 12:00
<title>1: ci/main/1.folded: 100
<title>3: ci/main/2.folded: 130
<title>2: ci/next/1.folded: 90
<h2>Captures
class="words">Series
class="words">main
<td>ci/main/1.folded</td></tr>
class="words">next
<td>ci/next/1.folded</td></tr>
class="words">main
<td>ci/main/2.folded</td></tr>
<h2>Functions that moved most
<h3>main
<td>parse</td></tr>
<td>fresh</td></tr>
<h3>next

$ flambeau-cli history ci --group '^ci/('
! flambeau-cli: history: --group: Error while compiling regular expression ‘^ci/(’ at char 5: missing terminating )
[2]

# A regex that would take years on one path ends at once.
$ flambeau-cli history ci --group '^(((\w+)*)*/?)*[!?]'
! flambeau-cli: history: --group: the regular expression takes too long on “ci/main/1.folded”
[2]

$ flambeau-cli history ci --function nobody
! flambeau-cli: no function “nobody” in any of these captures
[1]

# Damaged files in a folder are listed, and the others are read; a file that is
# named itself must be valid.
$ cp captures/perf-data/header-alone.perf.data ci/next/2.perf.data; touch -d 2026-11-04T12:00Z ci/next/2.perf.data; flambeau-cli history ci/next
ci/next/1.folded  2026-11-02 12:00 UTC (the file’s)  samples 90
! flambeau-cli: ci/next/2.perf.data: the file ends before its data begins (at byte 60)

$ flambeau-cli history ci/next/1.folded ci/next/2.perf.data
! flambeau-cli: ci/next/2.perf.data: the file ends before its data begins (at byte 60)
[1]

# A capture that contains its date and its host.
$ flambeau-cli history captures/flambeau/kitchen.flambeau captures/perf-data/shapes@little-endian.perf.data --no-symbols --group '([^/]*)$' --json | tr , '\n' | grep -e file -e date -e host -e peak
[{"file":"captures/perf-data/shapes@little-endian.perf.data"
"date_unix_ns":1700000000000000500
"date_from":"capture"
{"file":"captures/flambeau/kitchen.flambeau"
"date_unix_ns":1795262957705276000
"date_from":"capture"
"peak_bytes":1314816

# Different decimals: changes are as exact as the finer ones.
$ printf 'a;b 1.25\n' >h.folded; printf 'a;b 3\n' >w.folded; touch -d 2026-11-02 w.folded; touch -d 2026-11-01 h.folded; flambeau-cli history h.folded w.folded | grep -o moved.*; flambeau-cli history h.folded w.folded --json | grep -o '"moved":.*'; flambeau-cli history h.folded w.folded --to html | grep -o '1\.75' | head -1
moved: b +1.75
"moved":[]},{"file":"w.folded","start_unix_ns":0,"duration_ns":0,"date_unix_ns":1793577600000000000,"date_from":"file","totals":{"samples":3},"moved":[{"function":"b","delta":1.75}]}]
1.75

# The base of a difference is found by name: the last capture before the given
# one, of all or of its branch.
$ flambeau-cli diff ci ci/main/2.folded --to folded; flambeau-cli diff ci ci/main/2.folded --group '^ci/([^/]+)/' --to folded; flambeau-cli diff ci/ ci/next/1.folded --group 'next|main' --json
main;fresh 0 9
main;lex 0 20
main;parse 90 130
main;fresh 0 9
main;lex 20 20
main;parse 100 130
! flambeau-cli: ci/next/2.perf.data: the file ends before its data begins (at byte 60)
! compared with ci/next/1.folded
! compared with ci/main/1.folded
! flambeau-cli: ci/next/2.perf.data: the file ends before its data begins (at byte 60)
! flambeau-cli: ci/: there is no capture from before ci/next/1.folded
[1]

$ flambeau-cli diff ci ci/main/1.folded; flambeau-cli diff ci ci/main/2.folded --group 'x'; flambeau-cli diff ci ci/main/2.folded --group '('; flambeau-cli diff ci/main/1.folded ci/main/2.folded --group main
! flambeau-cli: ci/next/2.perf.data: the file ends before its data begins (at byte 60)
! flambeau-cli: ci: there is no capture from before ci/main/1.folded
! flambeau-cli: ci/main/2.folded: --group matches no part of this path
! flambeau-cli: diff: --group: Error while compiling regular expression ‘(’ at char 1: missing terminating )
! flambeau-cli: diff: --group requires a BASE that is a folder
[2]

# A document in a folder is named after the capture.
$ mkdir reports; flambeau-cli export ci/main/2.folded --to html --output reports; flambeau-cli export ci/main/2.folded --to svg -o reports; ls reports; flambeau-cli export ci/main/2.folded --to svg -o reports; flambeau-cli export ci/main/2.folded --to svg -f -o reports
flambeau-2.folded.html
flambeau-2.folded.svg
! flambeau-cli: reports/flambeau-2.folded.svg: already exists; --force replaces it

# The costs of functions in a store, summed over its runs: parse is 100 + 130 + 90, main
# 120 + 159 + 90.
$ flambeau-cli history --store summed.sqlite --commit 4a5b ci/main >/dev/null; flambeau-cli history --store summed.sqlite --commit 6c7d ci/next >/dev/null 2>&1; flambeau-cli top summed.sqlite
      self                 total            function
       320    86.7 %         320    86.7 %  parse
        40    10.8 %          40    10.8 %  lex
         9     2.4 %           9     2.4 %  fresh
         0       0 %         369   100.0 %  main

$ flambeau-cli top summed.sqlite --sort total --limit 1 --label commit=4a5b --json
{"runs":2,"total":279,"rows":[{"function":"main","self":0,"total":279}]}

$ flambeau-cli history summed.sqlite
ci/main/1.folded  2026-11-01 12:00 UTC (the file’s)  4a5b  samples 120
ci/next/1.folded  2026-11-02 12:00 UTC (the file’s)  6c7d  samples 90  moved: lex −20, parse −10
ci/main/2.folded  2026-11-03 12:00 UTC (the file’s)  4a5b  samples 159  moved: parse +40, lex +20, fresh +9

$ flambeau-cli top summed.sqlite --label commit=none; flambeau-cli top summed.sqlite --label host
! flambeau-cli: summed.sqlite: this store has no runs
! flambeau-cli: top: --label host: expected KEY=VALUE
[2]

# Commands that read stacks refuse a store.
$ flambeau-cli tree summed.sqlite
! flambeau-cli: summed.sqlite: this is a store of runs, which has no stacks; “flambeau-cli history” and “top” read it
[1]
