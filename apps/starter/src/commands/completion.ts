import { Argument, Command, Completions } from "effect/cli";
import { OPEN_STATUSES } from "@durable-payments/ledger";
import * as Option from "effect/Option";
import { INSTALLED } from "../command-name.ts";
import { SERVERS } from "../servers.ts";
import { described, runCommand, type Work } from "./run-command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

type Shell = (typeof SHELLS)[number];

/** Stands for the ids of a command in the script that Effect generates, which knows where such a value is completed. */
const idsOf = (command: string): string => `IDS-OF-${command}`;

/** How the script of a shell asks for ids when they are needed. */
const ASKING: Readonly<Record<Shell, (command: string) => string>> = {
  bash: (ask) => `$("\${COMP_WORDS[0]}" ${ask})`,
  zsh: (ask) => `{compadd -- $(${INSTALLED} ${ask})}`,
  fish: (ask) => `'(${INSTALLED} ${ask})'`,
};

const FILE = { _tag: "Path", pathType: "file" } as const;

const withValues = (
  command: Completions.CommandDescriptor,
  values: Readonly<Record<string, Completions.FlagType>>,
): Completions.CommandDescriptor => ({
  ...command,
  subcommands: command.subcommands.map((one) => withValues(one, values)),
  flags: command.flags.map((one) => ({
    ...one,
    type: values[one.name] ?? one.type,
    // Every switch is off by default.
    negation: false as const,
  })),
  arguments: command.arguments.map((one) => {
    if (one.name === "FILE") return { ...one, type: FILE };
    if (one.name !== "ID") return one;
    return { ...one, type: { _tag: "Choice", values: [idsOf(command.name)] } };
  }),
});

/** A server reads its own options. */
const withOptions = async (
  command: Completions.CommandDescriptor,
): Promise<Completions.CommandDescriptor> => {
  const { OPTIONS = {} } = (await SERVERS[command.name]?.load()) ?? {};
  const flags = Object.entries(OPTIONS).map(([name, { type }]): Completions.FlagDescriptor => ({
    name,
    aliases: [],
    description: undefined,
    type: { _tag: type === "boolean" ? "Boolean" : "String" },
    negation: false,
  }));
  return flags.length === 0 ? command : { ...command, flags };
};

/** Returns the script for a shell. */
const scriptOf = async (shell: Shell, root: Command.Command.Any): Promise<string> => {
  const { STATUSES } = await import("@durable-payments/control/show");
  // The values of flags that are a text for the command line.
  const described = withValues(Completions.fromCommand(root), {
    amend: FILE,
    "env-file": FILE,
    status: { _tag: "Choice", values: [...STATUSES] },
  });
  const subcommands = await Promise.all(described.subcommands.map(withOptions));
  return Completions.generate(INSTALLED, shell, { ...described, subcommands })
    .replaceAll(/['(]IDS-OF-([\w-]+)[')]/g, (_, command: string) =>
      ASKING[shell](`completion ids ${command} 2>/dev/null`),
    )
    .replace("--completions", "completion");
};

/** An id that a shell takes for one word. */
const ONE_WORD = /^[\w./:@+-]+$/;

/** Time within which ids are read: a person waits. */
const WITHIN_MS = 1_000;

/** Ids of each kind that are offered. */
const MOST = 200;

const readIds = (work: Work, command: string): Promise<ReadonlyArray<string>> =>
  work.withPayments(async (payments) => {
    const { items } = await payments.inbox();
    if (DECIDING.has(command))
      return items
        .filter(({ next }) => next.some(({ action }) => action === command))
        .map(({ workflowId }) => workflowId);
    const ids = new Set(items.map(({ workflowId }) => workflowId));
    const statuses = [...OPEN_STATUSES, ...(command === "retry" ? (["failed"] as const) : [])];
    for await (const { workflowId } of payments.listAll({ statuses }, { limit: MOST }))
      ids.add(workflowId);
    return [...ids];
  });

/** Commands for what the inbox offers them. */
const DECIDING: ReadonlySet<string> = new Set(["answer", "approve", "reject"]);

const asked = {
  shell: Argument.Literals("SHELL", [...SHELLS, "ids"]).pipe(
    Argument.withDescription("The shell that reads the script"),
  ),
  command: Argument.String("COMMAND").pipe(
    Argument.withDescription("With ids: the command that takes the id"),
    Argument.optional,
  ),
};

/**
 * `durable-payments completion`: the script for a shell; and the ids for that script, silently none if they cannot be read.
 *
 * @param root the root command, which has this one
 */
export const completionOf = (root: () => Command.Command.Any) =>
  Command.make("completion", asked, ({ command, shell }) =>
    runCommand(false, async (output, work) => {
      if (shell !== "ids") return output.text(`${await scriptOf(shell, root())}\n`);
      const giveUp = setTimeout(() => process.exit(), WITHIN_MS);
      const ids = await readIds(
        work,
        Option.getOrElse(command, () => ""),
      ).catch(() => []);
      clearTimeout(giveUp);
      output.text(
        ids
          .filter((id) => ONE_WORD.test(id))
          .map((id) => `${id}\n`)
          .join(""),
      );
    }),
  ).pipe(
    described(
      "Print a script that completes commands, flags and ids",
      `Print a script for bash, zsh or fish that completes commands, flags, and ids of
  open runs and of the inbox. Ids are read from the ledger; if it cannot be read
  within a second, none are offered.`,
      {
        'eval "$(durable-payments completion bash)"': "In ~/.bashrc",
        "durable-payments completion fish > ~/.config/fish/completions/durable-payments.fish":
          "For fish",
      },
    ),
  );
