import type { Assumptions } from "@durable-payments/api-core";
import { checkId, type PlannedRun } from "@durable-payments/operations/input";
import { isOpen } from "@durable-payments/operations/runs";
import { type AmendedRun, startRun } from "@durable-payments/operations/start";
import * as Option from "effect/Option";
import { EXIT_CODES, exitCodeOfRun } from "../exit-codes.ts";
import { describeSubmitted, followRun } from "../output/follow-run.ts";
import { forgottenText } from "../output/forgotten-text.ts";
import type { Output } from "../output/output.ts";
import { readAccount, readAssumptions, withTemporal } from "../settings.ts";
import { actingPerson } from "./input/acting-person.ts";
import { readJson } from "./input/read-json.ts";

/** What a command that starts a run is given. */
export interface SubmitFlags {
  readonly file: string;
  readonly id: Option.Option<string>;
  readonly by: Option.Option<string>;
  readonly wait: boolean;
}

/** What became of the input of a run that exists, which a person may take for what was given here. */
const amendedText = ({ about, fields, given }: AmendedRun): string => {
  const names = fields.join(", ");
  const what = about === undefined ? "." : `: ${about}.`;
  return given === "now"
    ? `It was started with another input, and amended to this one since (${names})${what}`
    : `What was given here was amended since (${names}), and is not what that run sends${what}`;
};

/** Check the input, start its run or find the one that exists, and await its end if asked to. */
export const submitRun = async (
  output: Output,
  { by, file, id, wait }: SubmitFlags,
  plan: (input: unknown, assumptions: Assumptions) => PlannedRun,
): Promise<number> => {
  const planned = plan(await readJson(file), await readAssumptions());
  const workflowId = Option.match(id, { onNone: () => planned.contentId, onSome: checkId });
  const startedBy = actingPerson(by);
  const account = await readAccount(planned.account);
  return await withTemporal(async (temporal) => {
    const options = { startedBy, journal: account.journal };
    const run = await startRun(temporal, workflowId, planned, options);
    if (run.state === "forgotten") {
      output.answer(run, forgottenText);
      return run.isDone ? EXIT_CODES.done : EXIT_CODES.runFailed;
    }
    if (!run.isNew) {
      output.say(`A run with the id ${workflowId} exists: nothing was started.`);
    } else if (Option.isNone(id)) {
      output.say(`The id ${workflowId} was made from the input: the same input is the same run.`);
    }
    if (run.optionsDiffer) {
      output.say("Its options differ from those given here, which are not used.");
    }
    if (run.amended) output.say(amendedText(run.amended));
    const reported =
      wait && isOpen(run) ? { ...run, ...(await followRun(temporal, run, output)) } : run;
    output.answer(reported, (shown) => describeSubmitted(temporal, shown));
    return exitCodeOfRun(reported);
  });
};
