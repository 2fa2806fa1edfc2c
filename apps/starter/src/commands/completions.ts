import * as Console from "effect/Console";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import { Completions, Flag, GlobalFlag } from "effect/cli";

/** What names a file; its value is a text: `-` is standard input, and a path stays as it was given. */
const FILES: ReadonlySet<string> = new Set(["file", "amend", "result", "workflows", "FILE"]);

const FILE = { _tag: "Path", pathType: "file" } as const;

/** What is offered: file names where files are meant, and of what is off by default no `--no-…`. */
const offered = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  flags: command.flags.map((flag) => ({
    ...flag,
    negation: false,
    ...(FILES.has(flag.name) && { type: FILE }),
  })),
  arguments: command.arguments.map((argument) => ({
    ...argument,
    ...(FILES.has(argument.name) && { type: FILE }),
  })),
  subcommands: command.subcommands.map(offered),
});

/** Bash is given a folder with its slash, and goes on in it: no blank is put behind it. */
const enteringFolders = (script: string): string =>
  script
    .replace(
      'done < <(compgen "$_kind" -- "$_prefix")',
      String.raw`done < <(compgen "$_kind" -- "$_prefix" | while IFS= read -r _path; do
    [[ -d "$_path" ]] && _path+=/
    printf '%s\n' "$_path"
  done)`,
    )
    .replace(
      /(?<=COMPREPLY\[_i\]="\$_typed\$\{COMPREPLY\[_i\]\}"\n {2}done\n)/,
      '  if [[ "${COMPREPLY[0]}" == */ ]]; then compopt -o nospace 2>/dev/null; fi\n',
    );

/** `--completions SHELL`; its own line of help is wider than 80 columns: the description names it instead. */
export const completions = GlobalFlag.Action({
  flag: Flag.withHidden(GlobalFlag.Completions.flag),
  run: (shell, { command }) =>
    Option.match(shell, {
      onNone: () => Effect.void,
      onSome: (shell) => {
        const script = Completions.generate(
          command.name,
          shell,
          offered(Completions.fromCommand(command)),
        );
        return Console.log(shell === "bash" ? enteringFolders(script) : script);
      },
    }),
});
