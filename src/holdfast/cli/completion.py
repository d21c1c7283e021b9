"""`holdfast completion`: a completion script, with all words in it.

The script is static, so that a press of the tab key starts no Python.
"""

from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any

import typer

from holdfast.cli.catalogue import BY_NAME
from holdfast.cli.program import aliases_of, application, command_of

app = application()


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@app.command(no_args_is_help=True)
def completion(
    shell: Annotated[Shell, typer.Argument(help="Your shell.", show_default=False)],
) -> None:
    """Print a completion script.

    \b
    Examples:
      holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast
      holdfast completion zsh > ~/.zfunc/_holdfast
      holdfast completion fish > ~/.config/fish/completions/holdfast.fish
    """
    tree = words()
    print({Shell.BASH: _bash, Shell.ZSH: _zsh, Shell.FISH: _fish}[shell](tree))


def words() -> dict[str, list[str]]:
    """The words that can follow: `""` has the commands, `"topic"` its verbs, `"topic ls"` the
    options."""
    tree = {"": list(BY_NAME)}
    for name, command in BY_NAME.items():
        module = import_module(f"holdfast.cli.{command.module}")
        if hasattr(module, "parser"):
            tree[name] = sorted(module.parser()._option_string_actions)
            continue
        apps: dict[str, typer.Typer] = getattr(module, "APPS", {})
        found: Any = command_of(apps.get(name) or module.app)
        verbs = getattr(found, "commands", None)
        if verbs is None:
            shells = [shell.value for shell in Shell] if name == "completion" else []
            tree[name] = [*shells, *_options(found)]
            continue
        words = {word: verb for verb in verbs for word in (verb, *aliases_of(verb))}
        tree[name] = list(words)
        tree |= {f"{name} {word}": _options(verbs[verb]) for word, verb in words.items()}
    return tree


def _options(command: Any) -> list[str]:
    options = sorted(o for p in command.params for o in p.opts if o.startswith("--"))
    return [*options, "--help"]


def _bash(tree: dict[str, list[str]]) -> str:
    verbs = {path.split()[0] for path in tree if " " in path}
    cases = []
    for path, following in tree.items():
        # A command without verbs is followed by its options wherever the cursor is.
        pattern = f'"{path}"' if not path or path in verbs or " " in path else f'"{path}"*'
        cases.append(f'    {pattern}) words="{" ".join(following)}" ;;')
    return "\n".join(
        [
            "_holdfast() {",
            '  local path="" words=""',
            '  (( COMP_CWORD > 1 )) && path="${COMP_WORDS[1]}"',
            '  (( COMP_CWORD > 2 )) && path="$path ${COMP_WORDS[2]}"',
            '  case "$path" in',
            *cases,
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
            "}",
            "complete -o default -F _holdfast holdfast",
        ]
    )


def _zsh(tree: dict[str, list[str]]) -> str:
    return f"#compdef holdfast\nautoload -U +X bashcompinit && bashcompinit\n{_bash(tree)}"


def _fish(tree: dict[str, list[str]]) -> str:
    lines = ["complete -c holdfast -f"]
    for path, following in tree.items():
        seen = [f"__fish_seen_subcommand_from {word}" for word in path.split()]
        if any(f"{path} {word}".strip() in tree for word in following):
            seen.append(f"not __fish_seen_subcommand_from {' '.join(tree[path])}")
        plain = [word for word in following if not word.startswith("-")]
        condition = "; and ".join(seen)
        if plain:
            lines.append(f"complete -c holdfast -n '{condition}' -a '{' '.join(plain)}'")
        options = [option[2:] for option in following if option.startswith("--")]
        lines += [f"complete -c holdfast -n '{condition}' -l {option}" for option in options]
    return "\n".join(lines)
