# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for flambeau-cli

_flambeau_cli() {
  local cur prev words cword verb=
  _init_completion -s 2>/dev/null || {
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]}
    words=("${COMP_WORDS[@]}")
    cword=$COMP_CWORD
  }
  local selection='--measure --thread --label --process --rank --states --time --focus
    --ignore --filter --filter-text --hide --collapse --branches --prune --stop-at --recursion --no-native --hide-irrelevant --show-irrelevant
    --hide-imports --invert --by --binaries --sources --event --period --count
    --full-names --mangled --strip-hex --no-inlines --no-repl --debuginfod --no-symbols --kind --growth --allocators
    --temporary-within --suppressions --jobs --cache --token-file --timeout'
  local look='--title --subtitle --notes --count-name --width --row-height
    --min-width --font-size --direction'
  local verbs='info top tree lines disassemble memory export push diff merge history heatmap balance record formats dump'
  [ "$cword" -gt 1 ] && verb=${words[1]}

  local i
  if [ "$verb" = record ]; then
    for ((i = 2; i < cword; i++)); do
      if [ "${words[i]}" = -- ]; then
        if [ $((i + 1)) -eq "$cword" ]; then
          mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        else
          mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        return
      fi
    done
  fi

  local list=
  case $prev in
    --sort) list='self total' ;;
    --recursion) list='off flat collapse' ;;
    --by) list='function line module file process thread address label:' ;;
    --color | --palette) list='auto module language self name state memory safe julia hot mem io wakeup chain java js perl red green blue aqua yellow purple orange' ;;
    --order) list='weight name time' ;;
    --root) list='comm pid tid' ;;
    --mode) list='cpu wall alloc both faults resources' ;;
    --events) list='instructions cycles cache-references cache-misses branches branch-misses page-faults minor-faults major-faults context-switches cpu-migrations' ;;
    --engine) list='auto ptrace perf' ;;
    --measure) list='samples cpu-time wall-time peak leaked allocated allocations temporary' ;;
    --states) list='cpu off-cpu all running lock io sleep blocked' ;;
    --syntax) list='intel att' ;;
    --stage) list='profile weights tree layout chart' ;;
    --direction) list='flame icicle' ;;
    --shape) list='flame sunburst treemap' ;;
    --kind) list='cpu alloc time faults' ;;
    --allocators) list='malloc calloc realloc aligned mmap brk file pymalloc other descriptor thread heap pages all' ;;
    --to) [ "$verb" = diff ] && list='svg html folded csv d3'
      [ "$verb" = history ] && list='html csv'
      [ "$verb" = push ] && list='pyroscope+http:// pyroscope+https:// otlp+http:// otlp+https:// clickhouse://'
      [ "$verb" = heatmap ] && list='text svg png html'
      [ -n "$list" ] || list=$(flambeau-cli formats 2>/dev/null | sed -n '/^Exports/,$s/^  \([a-z]*\) .*/\1/p') ;;
    --host)
      mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^[[:space:]]*[Hh]ost[[:space:]]//p' ~/.ssh/config 2>/dev/null | tr -d '*?!')" -- "$cur")
      return
      ;;
    --binaries | --cwd)
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      return
      ;;
    --process)
      if [ "$verb" = record ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(cat /proc/[0-9]*/comm 2>/dev/null)" -- "$cur")
        return
      fi
      ;;&
    --pid | --process)
      mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")
      return
      ;;
    --bgcolors)
      mapfile -t COMPREPLY < <(compgen -W 'yellow blue green grey' -- "$cur")
      return
      ;;
    --title | --subtitle | --notes | --count-name | --fonttype | --fontwidth | --encoding | --nametype | --factor | --total | --palette-colors | --row-height | --min-width | --font-size | --color-rule | --label | \
      --limit | --depth | --min | --width | --env | --rate | --duration | --delay | --every | --for | --push | --timeout | --sample-bytes | --time | \
      --unit | --cgroup | --container | --wait-for | --growth | --base-time | --temporary-within | \
      --thread | --focus | --ignore | --filter | --filter-text | --hide | --collapse | --prune | --stop-at | --fail-above | --event | --callers | --callees | --function | --group)
      return
      ;;
  esac
  if [ -z "$list" ] && [ -z "$verb" ]; then
    list="$verbs --help --version"
  elif [ -z "$list" ] && [[ $cur == -* ]]; then
    case $verb in
      info) list="$selection --json" ;;
      top) list="$selection --sort --limit --calls --json" ;;
      tree) list="$selection --depth --min --callers --callees --json" ;;
      disassemble) list="$selection --function --syntax --json" ;;
      memory) list="$selection --limit --json" ;;
      lines) list="$selection --source --json" ;;
      export) list="$selection $look --to --output --force --annotate --root --anonymize --with-sources --order --chart --shape --palette
        --color --palette-colors --palette-map --hash --color-rule --color-rules --bgcolors --fonttype --fontwidth --encoding --nametype
        --factor --total --nameattr" ;;
      diff) list="$selection $look --base-time --base-thread --group --lines --source --widths --changed --by-frame --normalize --normalize-time --self --json --to --fail-above --limit
        --negate --output --force" ;;
      push) list="$selection --to" ;;
      merge) list="$selection --output --side-by-side --fold --times --mpi --force" ;;
      balance) list="$selection --json --sort --limit --columns --output --force" ;;
      heatmap) list="$selection --json --to --rows --idle --output --force" ;;
      history) list="$selection --json --to --group --function --store --commit --job --fail-above --limit --output --force" ;;
      record) list='--mode --rate --engine --events --duration --delay --every --for --push --sample-bytes --exact --follow
        --no-follow --runtimes --no-runtimes --python --no-python --python-malloc --output --force
        --cwd --env --pid --process --unit --cgroup --container --wait-for --host --reconnect --list --remove-recorder --' ;;
      formats) list='--json' ;;
      dump) list="$selection --stage --width --direction --shape" ;;
    esac
    list+=' --help'
  fi
  if [ -n "$list" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$list" -- "$cur")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _flambeau_cli flambeau-cli
