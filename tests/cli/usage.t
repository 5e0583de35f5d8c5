# SPDX-License-Identifier: GPL-3.0-or-later
# What is asked wrongly ends with 2 and a line that says so; what the system or
# the input refuses ends with 1.

$ flambeau-cli --version | sed 's/[0-9.]*$/VERSION/'
flambeau-cli VERSION

$ flambeau-cli nonsense
! flambeau-cli: “nonsense” is not a verb; see --help
[2]

$ flambeau-cli top
! flambeau-cli: top: expected FILE [--sort self|total]
[2]

$ flambeau-cli top --nonsense captures/folded/annotated.folded
! flambeau-cli: top: unknown option --nonsense
[2]

$ flambeau-cli top captures/folded/annotated.folded --by nonsense
! flambeau-cli: top: --by nonsense: expected function, line, module, file, process, thread, address or label:KEY
[2]

$ flambeau-cli top captures/folded/annotated.folded --sort nonsense
! flambeau-cli: top: --sort: expected self or total
[2]

$ flambeau-cli top captures/folded/annotated.folded --measure nonsense
! flambeau-cli: captures/folded/annotated.folded: no measure “nonsense”; there are: samples
[1]

$ flambeau-cli top captures/folded/annotated.folded --focus '('
! flambeau-cli: top: “(” is not a regular expression: Error while compiling regular expression ‘(’ at char 1: missing terminating )
[2]

# A regex that would take years on one name ends at once.
$ flambeau-cli top captures/folded/annotated.folded --focus '^(((\w+)*)*)*[!?]'
! flambeau-cli: captures/folded/annotated.folded: the regular expression takes too long on “start_kernel”
[1]

$ flambeau-cli top captures/folded/annotated.folded --time nonsense
! flambeau-cli: top: --time nonsense: expected FROM..TO, seconds or names of marks
[2]

$ flambeau-cli tree captures/folded/annotated.folded --min nonsense
! flambeau-cli: tree: cannot parse double value “nonsense” for --min
[2]

$ flambeau-cli lines captures/folded/annotated.folded
! flambeau-cli: lines: --source PATH is missing
[2]

$ flambeau-cli export captures/folded/annotated.folded
! flambeau-cli: export: --to FORMAT is missing; see flambeau-cli formats
[2]

$ flambeau-cli export captures/folded/annotated.folded --to nonsense
! flambeau-cli: export: --to: no format “nonsense”; see flambeau-cli formats
[2]

$ flambeau-cli record
! flambeau-cli: expected either -- PROGRAM ARG…, or --pid PID, --process NAME, --unit UNIT, --cgroup PATH, --container NAME or --wait-for NAME; see flambeau-cli record --help
[2]

$ flambeau-cli record -x -- true
! flambeau-cli: unknown option -x; see flambeau-cli record --help
[2]

$ flambeau-cli record --rate often -- true
! flambeau-cli: cannot parse double value “often” for --rate; see flambeau-cli record --help
[2]

$ flambeau-cli record -- no-such-program-anywhere
! flambeau-cli: no-such-program-anywhere: no such program
[1]

$ flambeau-cli top not-there.folded
! flambeau-cli: not-there.folded: cannot be opened: No such file or directory
[1]

$ flambeau-cli top .
! flambeau-cli: .: cannot be read: Is a directory
[1]

$ flambeau-cli top captures/folded/empty.folded
! flambeau-cli: captures/folded/empty.folded: this is not a capture that Flambeau can open
[1]

$ head -c 40 captures/flambeau/recording.flambeau >short; flambeau-cli info short
format     flambeau
partial    40 % of the file could be read
measures   samples            0 (Samples)
samples    0 in 0 stacks of 0 functions
warning    the recording was interrupted; everything written is shown, without the symbols that are added at the end
warning    the capture has no samples

$ head -c 100 /dev/zero >zeros; flambeau-cli info zeros
! flambeau-cli: zeros: this is not a capture that Flambeau can open
[1]

$ : >nothing; flambeau-cli info nothing
! flambeau-cli: nothing: the file is empty
[1]

# A contradictory or empty selection.
$ flambeau-cli top captures/folded/rough.folded --time 5..1
! flambeau-cli: top: --time 5..1: expected FROM before TO
[2]

$ flambeau-cli top captures/folded/rough.folded --time 1..2
! flambeau-cli: captures/folded/rough.folded: the samples of this capture have no times
[1]

$ flambeau-cli top captures/folded/rough.folded --thread -1
! flambeau-cli: top: --thread -1: expected TID, NAME or #N (see info)
[2]

$ flambeau-cli top captures/folded/rough.folded --thread nobody
! flambeau-cli: captures/folded/rough.folded: no thread “nobody”; there are: #1 all threads
[1]

$ flambeau-cli top captures/folded/rough.folded --process 77
! flambeau-cli: captures/folded/rough.folded: no process 77; there are: none
[1]

$ flambeau-cli top captures/folded/rough.folded --thread '#1' --limit 1
      self                 total            function
        15    20.3 %          15    20.3 %  [no stack]

$ flambeau-cli top captures/folded/rough.folded --thread '#2'
! flambeau-cli: captures/folded/rough.folded: no thread “#2”; there are: #1 all threads
[1]

$ flambeau-cli top captures/folded/rough.folded --thread 'all threads' --limit 1
      self                 total            function
        15    20.3 %          15    20.3 %  [no stack]

$ flambeau-cli top captures/flambeau/recording.flambeau --event cpu-time --measure samples --limit 1
      self                 total            function
         2    66.7 %           2    66.7 %  helper  (example)

$ flambeau-cli top captures/flambeau/recording.flambeau --event cpu-time --measure wall-time
! flambeau-cli: --event cpu-time and --measure wall-time contradict each other
[2]

$ flambeau-cli top captures/folded/rough.folded --period --count
! flambeau-cli: top: --period and --count contradict each other
[2]

$ flambeau-cli top captures/flambeau/recording.flambeau --measure samples --period
! flambeau-cli: captures/flambeau/recording.flambeau: the samples of “cpu-time” have no period
[1]

$ flambeau-cli top captures/heaptrack/v3.heaptrack --count
! flambeau-cli: captures/heaptrack/v3.heaptrack: --count applies to samples, and “peak” has none
[1]

$ flambeau-cli top captures/heaptrack/v3.heaptrack --time 5..
! flambeau-cli: captures/heaptrack/v3.heaptrack: the time range is empty: the capture lasts 0.031 s
[1]

$ flambeau-cli lines captures/folded/rough.folded --source a.c --by module
! flambeau-cli: lines: --by has no effect on lines
[2]

# A control character in a name is escaped in JSON, too.
$ printf '{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a\\u001fb"}]},"profiles":[{"type":"sampled","unit":"none","samples":[[0]],"weights":[1]}]}' > control.json; flambeau-cli top control.json --json; flambeau-cli tree control.json --json
{"total":1,"rows":[{"function":"a\u001fb","module":"","file":"","line":0,"self":1,"total":1}]}
{"function":"all","file":"","line":0,"total":1,"self":0,"children":[{"function":"a\u001fb","file":"","line":0,"total":1,"self":1,"children":[]}]}
