// The scripts that bring completion into shells, and the one that kubectl looks for. All of them ask the program itself.
// Rules: spec/plugin.md [VW18].

export const shells = ["bash", "zsh", "fish", "kubectl"] as const;

export type Shell = (typeof shells)[number];

const bash = `# Completion of kubectl-fdb for bash. With kubectl's own completion, kubectl_complete-fdb serves \`kubectl fdb\`.
__kubectl_fdb() {
  local line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :4) compopt +o default 2>/dev/null ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(kubectl-fdb __complete "\${words[@]}" 2>/dev/null)
}
complete -o default -F __kubectl_fdb kubectl-fdb
`;

const zsh = `#compdef kubectl-fdb
# Completion of kubectl-fdb for zsh. With kubectl's own completion, kubectl_complete-fdb serves \`kubectl fdb\`.
_kubectl_fdb() {
  local line directive=0
  local -a found
  for line in "\${(@f)$(kubectl-fdb __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :* ]]; then
      directive=\${line#:}
    elif [[ -n $line ]]; then
      found+=("\${\${line//:/\\\\:}/$'\\t'/:}")
    fi
  done
  _describe 'kubectl fdb' found && return
  [[ $directive == 0 ]] && _files
}
compdef _kubectl_fdb kubectl-fdb
`;

const fish = `# Completion of kubectl-fdb for fish. With kubectl's own completion, kubectl_complete-fdb serves \`kubectl fdb\`.
function __kubectl_fdb
    set -l words (commandline -opc) (commandline -ct)
    kubectl-fdb __complete $words[2..-1] 2>/dev/null | string match -v -r '^:'
end
complete -c kubectl-fdb -f -a '(__kubectl_fdb)'
`;

const kubectl = `#!/bin/sh
# kubectl runs a program of the name kubectl_complete-fdb to complete \`kubectl fdb\`: put this file on the PATH.
exec kubectl-fdb __complete "$@"
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish, kubectl };

export function completionScript(shell: Shell): string {
  return scripts[shell];
}
