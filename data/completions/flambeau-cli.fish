# SPDX-License-Identifier: GPL-3.0-or-later
# fish completion for flambeau-cli

set -l verbs info top tree lines disassemble memory export diff merge history record formats dump
set -l selecting '__fish_seen_subcommand_from info top tree lines disassemble memory export diff merge history dump'
function __flambeau_cli_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

function __flambeau_cli_exports
    flambeau-cli formats 2>/dev/null | sed -n '/^Exports/,$s/^  \([a-z]*\) .*/\1/p'
end

complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a info -d 'What a file holds'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a top -d 'The most expensive functions'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a tree -d 'The call tree'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a disassemble -d 'Cost of each instruction'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a lines -d 'Cost of each line'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a export -d 'Write another form'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a memory -d 'Sizes, allocators, threads and sites'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a diff -d 'What changed'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a merge -d 'Add captures up'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a history -d 'Captures in order'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a record -d 'Record a program'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a formats -d 'What can be opened and written'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -f -a dump -d 'Any stage as text'
complete -c flambeau-cli -l help -d 'Print help'
complete -c flambeau-cli -n "not __fish_seen_subcommand_from $verbs" -l version -d 'Print the version'

complete -c flambeau-cli -n $selecting -x -l measure -a 'samples cpu-time wall-time peak leaked allocated allocations temporary' -d 'What is measured'
complete -c flambeau-cli -n $selecting -x -l thread -d 'This thread alone'
complete -c flambeau-cli -n $selecting -x -l label -d 'Samples with KEY=VALUE'
complete -c flambeau-cli -n $selecting -x -l process -d 'This process alone'
complete -c flambeau-cli -n $selecting -x -l states -a 'cpu off-cpu all running lock io sleep blocked' -d 'What threads were doing'
complete -c flambeau-cli -n $selecting -x -l time -d 'FROM..TO in seconds'
complete -c flambeau-cli -n $selecting -x -l focus -d 'Keep stacks through a match, rooted there'
complete -c flambeau-cli -n $selecting -x -l ignore -d 'Drop stacks through a match'
complete -c flambeau-cli -n $selecting -x -l filter -d 'Keep stacks through a match'
complete -c flambeau-cli -n $selecting -x -l hide -d 'Splice matches out'
complete -c flambeau-cli -n $selecting -x -l collapse -d 'Matches swallow what they call'
complete -c flambeau-cli -n $selecting -x -l filter-text -d 'Keep stacks through a text'
complete -c flambeau-cli -n $selecting -x -l prune -d 'NAME[,FILE] and all below it, out'
complete -c flambeau-cli -n $selecting -x -l stop-at -d 'Cut the tree below NAME[,FILE]'
complete -c flambeau-cli -n $selecting -x -l recursion -a 'off flat collapse' -d 'Recursion as iteration'
complete -c flambeau-cli -n $selecting -l no-native -d 'Interpreter frames alone'
complete -c flambeau-cli -n $selecting -l hide-irrelevant -d "Without the interpreter's own frames"
complete -c flambeau-cli -n $selecting -l hide-imports -d 'Without import machinery'
complete -c flambeau-cli -n $selecting -l invert -d 'Bottom-up'
complete -c flambeau-cli -n $selecting -x -l by -a 'function line module file thread address label:' -d 'What a row is'
complete -c flambeau-cli -n $selecting -x -l binaries -a '(__fish_complete_directories)' -d 'Where programs and libraries are'
complete -c flambeau-cli -n $selecting -x -l sources -d 'FROM=TO: where sources have moved'
complete -c flambeau-cli -n $selecting -x -l event -d 'Event of the file'
complete -c flambeau-cli -n $selecting -l period -d 'Weigh by period'
complete -c flambeau-cli -n $selecting -l count -d 'Weigh by samples'
complete -c flambeau-cli -n $selecting -l full-names -d 'Template arguments and all, in tables'
complete -c flambeau-cli -n $selecting -l mangled -d 'Names as the linker has them'
complete -c flambeau-cli -n $selecting -x -l kind -a 'cpu alloc time faults' -d 'What a text capture weighs'
complete -c flambeau-cli -n $selecting -x -l growth -d 'Made FROM..TO and not freed by TO'
complete -c flambeau-cli -n $selecting -x -l allocators -a 'malloc calloc realloc aligned mmap brk pymalloc other heap pages all' -d 'Which allocations count'
complete -c flambeau-cli -n $selecting -x -l temporary-within -d 'Temporary: freed after at most N others'
complete -c flambeau-cli -n $selecting -r -l suppressions -d "LeakSanitizer's rules"
complete -c flambeau-cli -n $selecting -l debuginfod -d 'Ask the debuginfod servers for symbols'
complete -c flambeau-cli -n $selecting -l no-symbols -d 'Names from the capture alone'
complete -c flambeau-cli -n $selecting -x -l jobs -d 'Read on at most N cores'
complete -c flambeau-cli -n $selecting -l cache -d 'Keep what is slow to read, and open it from there'
complete -c flambeau-cli -n $selecting -l no-inlines -d 'Fold inlined functions into their callers'

complete -c flambeau-cli -n '__flambeau_cli_verb info top tree lines disassemble memory diff history formats' -l json -d 'Print JSON'
complete -c flambeau-cli -n '__flambeau_cli_verb top' -x -l sort -a 'self total' -d Order
complete -c flambeau-cli -n '__flambeau_cli_verb top memory' -x -l limit -d Rows
complete -c flambeau-cli -n '__flambeau_cli_verb tree' -x -l depth -d Levels
complete -c flambeau-cli -n '__flambeau_cli_verb tree' -x -l min -d 'Smallest share in per cent'
complete -c flambeau-cli -n '__flambeau_cli_verb tree' -x -l callers -d 'Who calls this function'
complete -c flambeau-cli -n '__flambeau_cli_verb tree' -x -l callees -d 'What this function calls'
complete -c flambeau-cli -n '__flambeau_cli_verb disassemble' -x -l function -d 'Which function'
complete -c flambeau-cli -n '__flambeau_cli_verb disassemble' -x -l syntax -a 'intel att' -d 'Of the instructions'
complete -c flambeau-cli -n '__flambeau_cli_verb lines' -r -l source -d 'Source file'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l to -a '(__flambeau_cli_exports)' -d Form
complete -c flambeau-cli -n '__flambeau_cli_verb export merge' -r -l output -d 'File to write'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l title -d 'Of the picture'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l subtitle -d 'Below the title'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l notes -d 'In the document, unseen'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l count-name -d 'What plain numbers count'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l row-height -d 'In pixels'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l min-width -d 'Of the boxes that are drawn'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l font-size -d 'In pixels'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l width -d 'In pixels'
complete -c flambeau-cli -n '__flambeau_cli_verb export diff' -x -l direction -a 'flame icicle' -d 'Where the root is'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l order -a 'weight name time' -d 'Of siblings'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l shape -a 'flame sunburst treemap' -d 'Of the picture'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -l chart -d 'Calls in time, a lane a thread'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l palette -a 'auto module state memory safe hot mem io wakeup chain java js perl red green blue aqua yellow purple orange' -d 'Colors of a picture'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l color -a 'auto module state memory safe hot mem io wakeup chain java js perl red green blue aqua yellow purple orange' -d 'Colors of a picture'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -r -l palette-map -d 'Colors of functions'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -l annotate -d 'Kinds of code behind folded names'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l root -a 'comm pid tid' -d 'What folded stacks begin with'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l anonymize -a 'paths names' -d 'Take out what is private'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -l with-sources -d 'Put source files in'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -l hash -d 'Alike names look alike'
complete -c flambeau-cli -n '__flambeau_cli_verb export' -x -l color-rule -d 'REGEX=COLOR'
complete -c flambeau-cli -n '__flambeau_cli_verb diff' -l negate -d 'Swap red and blue'
complete -c flambeau-cli -n '__flambeau_cli_verb export merge' -l force -d Overwrite
complete -c flambeau-cli -n '__flambeau_cli_verb merge' -l side-by-side -d 'Without a measure in common'
complete -c flambeau-cli -n '__flambeau_cli_verb diff' -x -l base-time -d 'Range of the base, FROM..TO'
complete -c flambeau-cli -n '__flambeau_cli_verb diff' -l normalize -d 'Scale to one total'
complete -c flambeau-cli -n '__flambeau_cli_verb diff' -l normalize-time -d 'Scale to one length of time'
complete -c flambeau-cli -n '__flambeau_cli_verb diff' -l self -d 'By self cost'
complete -c flambeau-cli -n '__flambeau_cli_verb diff' -x -l to -a 'svg html folded csv' -d Form
complete -c flambeau-cli -n '__flambeau_cli_verb diff history' -x -l fail-above -d 'Status 3 where it grew by more'
complete -c flambeau-cli -n '__flambeau_cli_verb diff history' -x -l limit -d 'Status 3 where it is more'
complete -c flambeau-cli -n '__flambeau_cli_verb history' -x -l to -a 'html csv' -d Form
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l mode -a 'cpu wall alloc both' -d 'What to record'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l rate -d 'Samples a second'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l duration -d Seconds
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l delay -d 'Seconds without samples'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l sample-bytes -d 'Bytes between samples'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -l exact -d 'Every allocation'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -l follow -d 'Children too'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -l no-follow -d 'No children'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -l python -d 'Python frames too'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -l python-malloc -d 'Small blocks of Python too'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -l no-python -d 'No Python frames'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -r -l output -d Capture
complete -c flambeau-cli -n '__flambeau_cli_verb record' -l force -d 'Replace the capture'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l pid -a '(__fish_complete_pids)' -d Attach
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l cwd -a '(__fish_complete_directories)' -d 'Folder to start it in'
complete -c flambeau-cli -n '__flambeau_cli_verb record' -x -l env -d 'NAME=VALUE of its environment'
complete -c flambeau-cli -n '__flambeau_cli_verb dump' -x -l stage -a 'profile weights tree layout chart' -d Stage
complete -c flambeau-cli -n '__flambeau_cli_verb dump' -x -l width -d 'Pixels of the layout'
complete -c flambeau-cli -n '__flambeau_cli_verb dump' -x -l shape -a 'flame sunburst treemap' -d 'Of the layout'
complete -c flambeau-cli -n '__flambeau_cli_verb dump' -x -l direction -a 'flame icicle' -d 'Of the layout'
