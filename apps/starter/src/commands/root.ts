import { CliConfig, Command, Flag, GlobalFlag } from "effect/cli";
import { EXIT_CODES_TABLE } from "../exit-codes.ts";
import { INSTALLED } from "../output/next.ts";
import { answer, approve, cancel, pause, reject, resume, retry } from "./decide.ts";
import { limits } from "./limits.ts";
import { list, report } from "./list.ts";
import { inbox, overview, show } from "./look.ts";
import { onboard, pay } from "./pay.ts";
import { word } from "./word.ts";
import { doctor, ledger, recover, replay } from "./upkeep.ts";

/** Commands that change something. */
const changing = [
  pay,
  onboard,
  answer,
  approve,
  reject,
  retry,
  cancel,
  pause,
  resume,
  limits,
  word,
  recover,
  ledger,
] as const;

/** Commands that read. */
const reading = [list, report, show, inbox, doctor, replay] as const;

/** The root command; without a subcommand it shows the overview. */
export const root = Command.make(INSTALLED, overview.flags, overview.run).pipe(
  Command.withDescription(
    `Make payments and see their outcomes. Without a command, it shows an overview.

  Environment: TEMPORAL_ADDRESS (default localhost:7233), TEMPORAL_NAMESPACE,
  TEMPORAL_API_KEY, TEMPORAL_TLS_* and the profiles of TEMPORAL_CONFIG_FILE
  for Temporal; PAYMENTS_TASK_QUEUE (default payments) for the worker;
  PAYMENTS_LEDGER, or PAYMENTS_CLIENT_ID on the worker's host, for the ledger;
  TEMPORAL_UI_URL for links to the Web UI; PAYMENTS_PERSON for your name.

  --completions SHELL prints a completion script for bash, zsh, fish or
  powershell.

  ${EXIT_CODES_TABLE}`,
  ),
  Command.withSubcommands([...changing, ...reading]),
);

/** `--completions SHELL`; its own line of help is wider than 80 columns: the description names it instead. */
const completions = GlobalFlag.Action({
  flag: Flag.withHidden(GlobalFlag.Completions.flag),
  run: GlobalFlag.Completions.run,
});

/** The flags that every command takes. */
export const cliConfig = CliConfig.layer({
  builtIns: [GlobalFlag.Help, GlobalFlag.Version, completions],
});
