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
! flambeau-cli: top: Unknown option --nonsense
[2]

$ flambeau-cli top captures/folded/annotated.folded --by nonsense
! flambeau-cli: top: --by nonsense: expected function, line, module, file or thread
[2]

$ flambeau-cli top captures/folded/annotated.folded --sort nonsense
! flambeau-cli: top: --sort is self or total
[2]

$ flambeau-cli top captures/folded/annotated.folded --measure nonsense
! flambeau-cli: captures/folded/annotated.folded: no measure “nonsense”; there are: samples
[1]

$ flambeau-cli top captures/folded/annotated.folded --focus '('
! flambeau-cli: top: “(” is not a regular expression: Error while compiling regular expression ‘(’ at char 1: missing terminating )
[2]

$ flambeau-cli top captures/folded/annotated.folded --time nonsense
! flambeau-cli: top: --time nonsense: expected FROM..TO, seconds or names of marks
[2]

$ flambeau-cli tree captures/folded/annotated.folded --min nonsense
! flambeau-cli: tree: Cannot parse double value “nonsense” for --min
[2]

$ flambeau-cli lines captures/folded/annotated.folded
! flambeau-cli: lines: --source PATH is missing
[2]

$ flambeau-cli export captures/folded/annotated.folded
! flambeau-cli: export: --to FORMAT; see formats
[2]

$ flambeau-cli export captures/folded/annotated.folded --to nonsense
! flambeau-cli: export: --to FORMAT; see formats
[2]

$ flambeau-cli record
! flambeau-cli: record: expected --pid PID or -- PROGRAM ARG…
[2]

$ flambeau-cli record -o here.flambeau -- true
! flambeau-cli: Unknown option -o; see flambeau-cli record --help
[2]

$ flambeau-cli record --rate often -- true
! flambeau-cli: Cannot parse double value “often” for --rate; see flambeau-cli record --help
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
! flambeau-cli: captures/folded/empty.folded: not a capture of any kind known here
[1]

$ head -c 40 captures/flambeau/recording.flambeau >short; flambeau-cli info short
format     flambeau
partial    40 % of the file could be read
measures   samples            0 (Samples)
samples    0 in 0 stacks of 0 functions
warning    the recording was cut off; all it had written is shown, without the symbols it would have added
warning    the capture holds no samples

$ head -c 100 /dev/zero >zeros; flambeau-cli info zeros
! flambeau-cli: zeros: not a capture of any kind known here
[1]

$ : >nothing; flambeau-cli info nothing
! flambeau-cli: nothing: the file is empty
[1]
