import type { EarlierSends } from "@durable-payments/activities";
import { workflowInfo } from "@temporalio/workflow";
import { localJournal } from "../run/activities.ts";
import { runFailure } from "../run/failures.ts";
import type { RunState } from "../run/run-state.ts";
import type { Write } from "./write.ts";

/** The failure of a step of whose name an earlier run has sent something. */
const SENT_BY_EARLIER_RUN = "SentByEarlierRun";

type Sending<Request extends object> = Pick<Write<Request, unknown>, "operation" | "step">;

const WAY_OUT =
  "If it is another one, give the step a name of its own, such as with the month; if it is the same, hand its result on as input.";

const refusal = (step: string, what: string, details: Readonly<Record<string, unknown>>) =>
  runFailure(
    SENT_BY_EARLIER_RUN,
    `${what}. Both have one key, so that the one would be taken for the other: nothing was sent. ${WAY_OUT}`,
    { step, ...details },
  );

/** The failure where the service shows something under the keys of a step, and nothing says that this run has sent it. */
export const foundOfEarlierRun = (step: string, ids: Readonly<Record<string, string>>) =>
  refusal(
    step,
    `The service shows what an earlier run of ${workflowInfo().workflowId} has sent as ${step} (${Object.values(ids).join(", ")})`,
    ids,
  );

/**
 * Expect that no earlier run of the workflow id has sent something else under the name of a step: its key is the same,
 * so that the one would be taken for the other. Only a run that has earlier ones asks.
 *
 * @returns whether this run, or one in whose place it was started, may have sent it before.
 * @throws SentByEarlierRun
 */
export const expectNotSentByOthers = async <Request extends object>(
  run: RunState,
  { operation, step }: Sending<Request>,
  request: Request,
): Promise<EarlierSends["sent"]> => {
  const { forbiddenBy, sent }: EarlierSends = await localJournal.findEarlierSends({
    step,
    operation,
    request,
  });
  if (forbiddenBy === undefined) return sent;
  const { isKnown, isOtherRequest, runId } = forbiddenBy;
  // The failure names the run that has sent it.
  if (isKnown === true) run.sends.knowsAllSends(step);
  const other = isOtherRequest === true ? "another request" : "a request";
  throw refusal(
    step,
    `An earlier run of ${workflowInfo().workflowId} (${runId}) has sent ${other} as ${step}`,
    { runId },
  );
};
