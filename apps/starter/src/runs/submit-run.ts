import * as Option from "effect/Option";
import { withTemporal } from "../connection/temporal.ts";
import { actingPerson } from "../input/acting-person.ts";
import { readJson } from "../input/read-json.ts";
import type { PlannedRun } from "../input/planned-run.ts";
import { checkId } from "../input/run-id.ts";
import type { Output } from "../output/output.ts";
import { awaitRun, describeSubmitted } from "./await-run.ts";
import { exitCodeOf, isOpen } from "./run-state.ts";
import { startRun } from "./start-run.ts";

/** What a command that starts a run is given. */
export interface SubmitFlags {
  readonly file: string;
  readonly id: Option.Option<string>;
  readonly by: Option.Option<string>;
  readonly wait: boolean;
}

/** Checks the input, starts its run or finds the one that exists, and awaits its end if asked to. */
export const submitRun = async (
  output: Output,
  { by, file, id, wait }: SubmitFlags,
  plan: (file: unknown) => PlannedRun,
): Promise<number> => {
  const planned = plan(await readJson(file));
  const workflowId = Option.match(id, { onNone: () => planned.contentId, onSome: checkId });
  const startedBy = actingPerson(by);
  return await withTemporal(async (temporal) => {
    const run = await startRun(temporal, workflowId, planned, startedBy);
    if (run.status !== "started") {
      output.say(`A run with the id ${workflowId} exists: nothing was started.`);
    } else if (Option.isNone(id)) {
      output.say(`The id ${workflowId} was made from the input: the same input is the same run.`);
    }
    if (run.inputDiffers) {
      output.say("Its input differs from the one given here, which is not used.");
    }
    const reported = wait && isOpen(run) ? await awaitRun(temporal, run, output) : run;
    output.answer(reported, () => describeSubmitted(temporal, reported));
    return exitCodeOf(reported);
  });
};
