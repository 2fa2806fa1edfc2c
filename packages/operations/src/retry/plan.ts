import { canonicalJson } from "@durable-payments/activities/payout-content";
import type { Assumptions, Fault } from "@durable-payments/api-core";
import type { EndingDecision, Replacement, RetryInstruction } from "@durable-payments/protocol";
import { invalidInput } from "../errors.ts";
import { type Amendment, amendInput } from "./amend.ts";
import { planOf } from "./plan-send.ts";
import { planReplacement, replaceableOf, splitAmendment } from "./replacement.ts";
import { checkDecisions, type Decisions, retryPoint } from "./point.ts";
import { standing } from "../history/ending-decisions.ts";
import type { ExecutionHistory } from "../history/execution-history.ts";
import { isAmong } from "../history/sends.ts";
import type { PastStep } from "../history/run-history.ts";

/** How a run is to be retried. */
export interface RetryOptions {
  readonly by: string;
  readonly reason: string;
  /** The step to go on from; default: the failed one. */
  readonly from: string | undefined;
  /** Change of the input, in the input's shape. */
  readonly patch: unknown;
  /** What is assumed of the service: an amended input is checked by it. */
  readonly assumptions: Assumptions;
  readonly decisions: Decisions;
  /**
   * The run that was planned for, as `planRetryOf` returns it: where it is not the latest any more, since
   * somebody has amended and retried it, say, nothing is done.
   */
  readonly expectedRunId?: string | undefined;
}

/** A step of a run that is retried. */
export interface PlannedStep {
  readonly name: string;
  /** Who knows what became of it, where it has sent something. */
  readonly note: string | null;
}

/** What a retry is going to do. */
export interface RetryPlan {
  readonly from: string;
  /** Event of the workflow task in which that step began: the reset point. */
  readonly eventId: number;
  /** Steps that stay as they are. */
  readonly stays: ReadonlyArray<string>;
  /** Steps that are done again, as far as they had begun. */
  readonly again: ReadonlyArray<PlannedStep>;
  /** Fields of the input that are amended. */
  readonly amended: ReadonlyArray<string>;
  /** Decisions of people that ended the run, and are overruled. */
  readonly overruled: ReadonlyArray<EndingDecision>;
  readonly instruction: RetryInstruction;
}

/** From where a retry goes on, and what it replaces. */
interface GoingOn {
  readonly fromTask: number;
  readonly replacement?: Replacement;
}

/** Why no field that a step uses can be amended any more; undefined where the step is still to come. */
const whyFixed = (
  name: string,
  executed: ExecutionHistory,
  { fromTask, replacement }: GoingOn,
): string | undefined => {
  if (name === replacement?.step) return undefined;
  const replaceable = replaceableOf(executed, name);
  if (replaceable !== undefined) {
    return `is of what ${name} has made, ${replaceable}: to have another made in its place, say what becomes of it by "replaced": "remove" or "replaced": "keep" beside it`;
  }
  const step = executed.steps.find((begun) => begun.name === name);
  const { kind, sent } = executed.sends.get(name) ?? {};
  const isGone =
    kind !== undefined && sent?.outcome === "known" && isAmong(executed.gone, kind, sent.id);
  if (sent?.outcome === "unknown") {
    return `is what ${name} sent, and nobody knows what became of it: retry without an amendment`;
  }
  return (step && step.task < fromTask) || (sent?.outcome === "known" && !isGone)
    ? `is used by ${name}, which is done and stays so`
    : undefined;
};

/** Fields must be used by a step that is still to come. */
const checkFields = ({ fields }: Amendment, executed: ExecutionHistory, goingOn: GoingOn): void => {
  const faults = fields.flatMap(({ field, step }): ReadonlyArray<Fault> => {
    const problem = step && whyFixed(step, executed, goingOn);
    return problem === undefined ? [] : [{ field, problem }];
  });
  if (faults.length > 0)
    throw invalidInput("The amendment comes too late. Nothing was done.", faults);
};

/** By step, why no field that it uses can be amended any more, for a worker that knows who uses which. */
const fixedSteps = (
  executed: ExecutionHistory,
  goingOn: GoingOn,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...new Set([...executed.steps.map(({ name }) => name), ...executed.sends.keys()])].flatMap(
      (name) => {
        const problem = whyFixed(name, executed, goingOn);
        return problem === undefined ? [] : [[name, problem] as const];
      },
    ),
  );

/** What is replaced is made anew, and of other fields than before. */
const checkReplacement = (
  workflowId: string,
  { replaced, steps }: ExecutionHistory,
  {
    amendment,
    replacement,
    step,
  }: {
    readonly amendment: Amendment | undefined;
    readonly replacement: Replacement | undefined;
    readonly step: PastStep;
  },
): void => {
  if (replacement === undefined) return;
  const made = steps.find(({ name }) => name === replacement.step);
  if (made !== undefined && made.task < step.task) {
    throw invalidInput(
      `To replace what ${made.name} of ${workflowId} has made, go on from ${made.name}. Nothing was done.`,
      undefined,
      { operation: "retry", workflowId, from: made.name, amend: true },
    );
  }
  const isPending = replaced.some(({ id }) => id === replacement.id);
  if (isPending || amendment?.fields.some((field) => field.step === replacement.step)) return;
  throw invalidInput(
    `The amendment replaces what ${replacement.step} has made (${replacement.id}), and changes nothing of it. Nothing was done.`,
  );
};

/**
 * Plan how a run is retried.
 *
 * @throws InvalidInput where the step or the amendment is wrong; Refused where it cannot be retried,
 *   or only in a way that might do something twice; EndedByPerson.
 */
export const planRetry = (
  { type, workflowId }: { readonly workflowId: string; readonly type: string },
  executed: ExecutionHistory,
  options: RetryOptions,
): RetryPlan => {
  const { by, from, reason } = options;
  checkDecisions(workflowId, executed, options.decisions);
  const { patch, what } = splitAmendment(options.patch);
  const replacement = what && planReplacement(workflowId, executed, what);
  const step = retryPoint(workflowId, executed, {
    decisions: options.decisions,
    from: from ?? replacement?.step,
  });
  const amendment =
    patch === undefined
      ? undefined
      : amendInput(type, { input: executed.input, patch, assumptions: options.assumptions });
  checkReplacement(workflowId, executed, { amendment, replacement, step });
  const goingOn: GoingOn = { fromTask: step.task, ...(replacement && { replacement }) };
  if (amendment !== undefined) checkFields(amendment, executed, goingOn);
  const input = amendment?.input ?? executed.input;
  const amendedSteps = new Set(amendment?.fields.map((field) => field.step));
  const staying = new Set(
    executed.steps.filter(({ task }) => task < step.task).map(({ name }) => name),
  );
  const plans = new Map(
    [...executed.sends]
      .filter(([name]) => !staying.has(name))
      .map(([name, send]) => [
        name,
        planOf(send, executed, {
          // A refused request gets another key, be it amended or not: it was not carried out.
          isAmended: amendment?.isCheckedByWorker === true || amendedSteps.has(name),
          ...(replacement?.step === name && { replacement }),
        }),
      ]),
  );
  const replaced = [
    ...executed.replaced.filter(({ id }) => id !== replacement?.id),
    ...(replacement ? [replacement] : []),
  ];
  const again = executed.steps.filter(({ name }) => !staying.has(name)).map(({ name }) => name);
  const fields = amendment?.fields.map(({ field }) => field) ?? [];
  return {
    from: step.name,
    eventId: step.task,
    stays: [...staying],
    again: [...new Set([...again, ...plans.keys()])].map((name) => ({
      name,
      note: plans.get(name)?.note ?? null,
    })),
    amended: fields,
    overruled: standing(executed.decisions),
    instruction: {
      by,
      reason,
      from: step.name,
      ...(canonicalJson(input) !== canonicalJson(executed.startedWith) && { input }),
      fields,
      ...(amendment?.isCheckedByWorker === true && { fixed: fixedSteps(executed, goingOn) }),
      amendedBy: [...new Set([...executed.amendedBy, ...(amendment === undefined ? [] : [by])])],
      sent: Object.fromEntries([...plans].map(([name, { before }]) => [name, before])),
      ...(replaced.length > 0 && { replaced }),
      ...(executed.account !== undefined && { account: executed.account }),
      ...(executed.decisions.length > 0 && {
        decisions: executed.decisions.map((decision) => ({
          overruled: { by, why: reason, at: new Date().toISOString() },
          ...decision,
        })),
      }),
    },
  };
};
