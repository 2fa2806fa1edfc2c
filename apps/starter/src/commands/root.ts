import { CliConfig, Command, GlobalFlag } from "effect/cli";
import { SERVERS } from "../servers.ts";
import { completionOf } from "./completion.ts";
import { text } from "./flags.ts";
import { answer, approve, cancel, limits, pause, reject, resume, retry, word } from "./decide.ts";
import { events } from "./events.ts";
import { list, report } from "./list.ts";
import { duplicates, failed, inbox, overview, show } from "./look.ts";
import { onboard, pay } from "./pay.ts";
import { config, doctor, ledger, recover, replay } from "./upkeep.ts";

const servers = Object.entries(SERVERS).map(([name, { short }]) =>
  Command.make(name).pipe(Command.withShortDescription(short)),
);

const rootOf = (): Command.Command.Any => root;

/** Commands by what a person wants. */
const GROUPS = [
  { group: "Start", commands: [pay, onboard] },
  { group: "Watch", commands: [list, report, failed, duplicates, show, inbox, events] },
  { group: "Decide", commands: [answer, approve, reject, limits, word] },
  { group: "Stop and repair", commands: [pause, resume, cancel, retry, recover] },
  { group: "Operate", commands: [doctor, config, ledger, replay, completionOf(rootOf)] },
  { group: "Run", commands: servers },
] as const;

/** A flag that is read before the command line is (`loadEnvironment`): here for the help and the completion alone. */
const early = <const Name extends string>(name: Name, metavar: string, description: string) =>
  GlobalFlag.Setting(name)({ flag: text(name, metavar, description) });

/** The root command; without a subcommand it shows the overview. */
export const root = overview.pipe(
  Command.withSubcommands(GROUPS),
  Command.withGlobalFlags([
    early("env-file", "FILE", "Read this file instead of .env"),
    early("profile", "NAME", "Use Temporal's profile NAME, and .env.NAME"),
  ]),
);

/** The flags that every command takes. */
export const cliConfig = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] });
