import { CliConfig, Command, GlobalFlag } from "effect/cli";
import { approve } from "./approve.ts";
import { attention } from "./attention.ts";
import { audit } from "./audit.ts";
import { codecServer } from "./codec-server.ts";
import { completions } from "./completions.ts";
import { executableName } from "../output/command-line.ts";
import { doctor } from "./doctor.ts";
import { notify } from "./notify/notify.ts";
import { onboard } from "./onboard.ts";
import { pause } from "./pause.ts";
import { payout } from "./payout.ts";
import { payouts } from "./payouts/payouts.ts";
import { recover } from "./recover.ts";
import { resolve } from "./resolve.ts";
import { resume } from "./resume.ts";
import { runs } from "./runs/runs.ts";
import { settle } from "./settle.ts";
import { status } from "./status.ts";
import { watch } from "./watch.ts";

/** The command that all others belong to. */
export const starter = Command.make(executableName()).pipe(
  Command.withDescription(
    `Start durable payment workflows, and see how they stand.

  Temporal is found by TEMPORAL_ADDRESS (default localhost:7233),
  TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_* and the profiles of
  TEMPORAL_CONFIG_FILE; the worker by PAYMENTS_TASK_QUEUE (default payments).
  With TEMPORAL_UI_URL, links to the Web UI are shown.

  --completions bash (zsh, fish, powershell) prints a completion script.`,
  ),
  Command.withSubcommands([
    onboard,
    payout,
    payouts,
    status,
    watch,
    runs,
    attention,
    resolve,
    settle,
    approve,
    audit,
    pause,
    resume,
    recover,
    notify,
    codecServer,
    doctor,
  ]),
);

/** The flags that every command takes. */
export const cliConfig = CliConfig.layer({
  builtIns: [GlobalFlag.Help, GlobalFlag.Version, completions],
});
