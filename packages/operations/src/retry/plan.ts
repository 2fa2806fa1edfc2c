import { canonicalJson } from "@durable-payments/activities/payout-content";
import type { Assumptions, Fault } from "@durable-payments/api-core";
import {
  type EndingDecision,
  isStepOf,
  type RetryInstruction,
  type SentBefore,
  STEP,
  textAt,
} from "@durable-payments/protocol";
import { EndedByPerson, invalidInput, refused } from "../errors.ts";
import { type Amendment, amendInput } from "./amend.ts";
import { endedByDecisions, standing } from "../history/ending-decisions.ts";
import type { ExecutionHistory } from "../history/execution-history.ts";
import { stepsInDoubt } from "../history/in-doubt.ts";
import { isAmong, type PastSend } from "../history/sends.ts";
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
  /**
   * What becomes of a person's decision that ended the run: it stands (`keep`), is overruled, or, in
   * a retry of many, keeps the id out even where it was overruled once (`leaveOut`).
   */
  readonly decisions: "keep" | "overrule" | "leaveOut";
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

const list = (names: ReadonlyArray<string>): string => names.join(", ");

const anew = ({ keys }: PastSend) => ({ outcome: "nothing", amendments: keys }) as const;

const same = (outcome: "nothing" | "unknown", { keys }: PastSend): SentBefore => ({
  outcome,
  amendments: Math.max(0, keys - 1),
});

const NOTES = {
  known: "is done: what it made is taken over",
  undone: "was undone: is sent anew",
  refused: "was refused: is sent again, unless the journal has it as sent since",
  amended: "was refused: is sent amended, unless the journal has it as sent since",
  notSent: "was not carried out, by its history: is sent, unless the journal has it as sent",
  unknown: "nobody knows: is reconciled, or repeated under the same key",
} as const;

/** What the run takes over of a send, and how that is worded for a person. */
const planOf = (send: PastSend, { undone }: ExecutionHistory, isAmended: boolean) => {
  const { kind, lastInput, sent } = send;
  const key = textAt(lastInput, "unique_request_id");
  switch (sent.outcome) {
    case "known":
      return isAmong(undone, kind, sent.id)
        ? { note: NOTES.undone, before: { ...anew(send), isUndone: true } as const }
        : {
            note: NOTES.known,
            before: {
              outcome: "known",
              ids: { [kind.idField]: sent.id },
              ...(key !== undefined && { key }),
            } satisfies SentBefore,
          };
    case "refused":
      // A refused request was not carried out: its successor has another key.
      return isAmended
        ? { note: NOTES.amended, before: anew(send) }
        : { note: NOTES.refused, before: same("nothing", send) };
    case "notSent":
      return { note: NOTES.notSent, before: same("nothing", send) };
    default:
      return { note: NOTES.unknown, before: same("unknown", send) };
  }
};

/**
 * Advice to start another run. Never while this one has made something, or nobody knows whether it has: it
 * would be paid twice.
 */
const anotherRun = (workflowId: string, executed: ExecutionHistory, advice: string): string => {
  const { sends, undoing, undone } = executed;
  const steps = stepsInDoubt(executed).map(({ step }) => step);
  if (steps.length > 0) {
    return ` Nobody knows what became of what ${list([...new Set(steps)])} sent: settle that of ${workflowId} first, and start no other run for it.`;
  }
  const made = [...sends].flatMap(([name, { kind, sent }]) =>
    sent.outcome === "known" && !isAmong(undone, kind, sent.id) && !isAmong(undoing, kind, sent.id)
      ? [`${name} has made ${sent.id}`]
      : [],
  );
  return made.length === 0 ? ` ${advice}` : ` Start no other run for it: ${list(made)}.`;
};

/** The step to go on from; it must not stand on what was undone. */
const stepToGoOnFrom = (
  workflowId: string,
  executed: ExecutionHistory,
  from: string | undefined,
) => {
  const { sends, steps, undoing, undone } = executed;
  const index =
    from === undefined ? steps.length - 1 : steps.findIndex(({ name }) => name === from);
  const step = steps[index];
  if (step === undefined) {
    throw invalidInput(
      steps.length === 0
        ? `The run ${workflowId} has not begun its first step.${anotherRun(workflowId, executed, "Nothing was sent: start a run of another id.")} Nothing was done.`
        : `The run ${workflowId} has no step ${from ?? ""}. Its steps: ${list(steps.map(({ name }) => name))}.`,
    );
  }
  const idIn = (name: string, all: ExecutionHistory["undone"]): string | undefined => {
    const send = sends.get(name);
    return send?.sent.outcome === "known" && isAmong(all, send.kind, send.sent.id)
      ? send.sent.id
      : undefined;
  };
  const inDoubt = steps.find(({ name }) => idIn(name, undoing) !== undefined);
  if (inDoubt !== undefined) {
    throw refused(
      `The run ${workflowId} was to undo ${inDoubt.name} (${idIn(inDoubt.name, undoing)}), and could not, or not for certain. Finish that by hand.${anotherRun(workflowId, executed, "Then start a run of another id.")} Nothing was done.`,
    );
  }
  const gone = steps.find(({ name, task }) => task < step.task && idIn(name, undone) !== undefined);
  if (gone !== undefined) {
    throw refused(
      `The run ${workflowId} undid ${gone.name} when it failed: it cannot go on after it, but from it. Nothing was done.`,
      { operation: "retry", workflowId, from: gone.name },
    );
  }
  return step;
};

/** The approval of what a step sends, where it was to be approved: a decision overruled is taken anew. */
const approvalOf = ({ steps }: ExecutionHistory, before: PastStep): PastStep =>
  steps.findLast(({ name, task }) => isStepOf(STEP.awaitApproval, name) && task <= before.task) ??
  before;

const DECISIONS: ReadonlyArray<unknown> = ["keep", "overrule", "leaveOut"] satisfies ReadonlyArray<
  RetryOptions["decisions"]
>;

/**
 * Refuse to go past what people have decided, unless somebody overrules it: of many, in no case. Nothing
 * but the very word overrules, whatever a caller without types gives.
 */
const checkDecisions = (
  workflowId: string,
  { cancelAsked, decisions: all }: ExecutionHistory,
  { decisions }: RetryOptions,
): void => {
  if (decisions !== undefined && !DECISIONS.includes(decisions)) {
    throw invalidInput(
      `What becomes of a person's decision (decisions) must be one of ${DECISIONS.join(", ")}. Nothing was done.`,
    );
  }
  const open = standing(all);
  if (decisions === "leaveOut" && cancelAsked !== undefined) {
    throw new EndedByPerson({
      message: `The run ${workflowId} was asked to end by ${cancelAsked.by}, whatever it ended with: retry it by its id. Nothing was done.`,
    });
  }
  if (decisions === "leaveOut" && all.length > 0) {
    throw endedByDecisions(workflowId, all);
  }
  if (decisions !== "overrule" && open.length > 0) {
    throw endedByDecisions(workflowId, open);
  }
  if (decisions === "overrule" && open.length === 0) {
    throw invalidInput(
      `No person has ended the run ${workflowId}: there is nothing to overrule. Nothing was done.`,
    );
  }
};

/** Refuse a step that began after the run was asked to end: it would end again at once. */
const checkCancelAsked = (workflowId: string, executed: ExecutionHistory, step: PastStep): void => {
  const { cancelAsked, steps } = executed;
  if (cancelAsked === undefined || cancelAsked.event >= step.task) return;
  const asked = `The run ${workflowId} was asked to end by ${cancelAsked.by} before ${step.name} began, so that it would end again at once.`;
  const earlier = steps.findLast(({ task }) => task < cancelAsked.event)?.name;
  if (earlier === undefined) {
    throw refused(
      `${asked}${anotherRun(workflowId, executed, "Start a run of another id.")} Nothing was done.`,
    );
  }
  throw refused(
    `${asked} Go on from ${earlier}: what was made since is taken over.${anotherRun(workflowId, executed, "Or start a run of another id.")} Nothing was done.`,
    { operation: "retry", workflowId, from: earlier },
  );
};

/** Fields must be used by a step that is still to come. */
const checkFields = ({ fields }: Amendment, executed: ExecutionHistory, fromTask: number): void => {
  const faults: Array<Fault> = [];
  for (const { field, step: name } of fields) {
    const step = executed.steps.find((begun) => begun.name === name);
    const { kind, sent } = executed.sends.get(name) ?? {};
    const isGone =
      kind !== undefined && sent?.outcome === "known" && isAmong(executed.undone, kind, sent.id);
    if (sent?.outcome === "unknown") {
      faults.push({
        field,
        problem: `is what ${name} sent, and nobody knows what became of it: retry without an amendment`,
      });
    } else if ((step && step.task < fromTask) || (sent?.outcome === "known" && !isGone)) {
      faults.push({ field, problem: `is used by ${name}, which is done and stays so` });
    }
  }
  if (faults.length > 0)
    throw invalidInput("The amendment comes too late. Nothing was done.", faults);
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
  const { by, from, patch, reason } = options;
  checkDecisions(workflowId, executed, options);
  const chosen = stepToGoOnFrom(workflowId, executed, from);
  const step = options.decisions === "overrule" ? approvalOf(executed, chosen) : chosen;
  checkCancelAsked(workflowId, executed, step);
  const amendment =
    patch === undefined
      ? undefined
      : amendInput(type, { input: executed.input, patch, assumptions: options.assumptions });
  if (amendment !== undefined) checkFields(amendment, executed, step.task);
  const input = amendment?.input ?? executed.input;
  const amendedSteps = new Set(amendment?.fields.map((field) => field.step));
  const staying = new Set(
    executed.steps.filter(({ task }) => task < step.task).map(({ name }) => name),
  );
  const plans = new Map(
    [...executed.sends]
      .filter(([name]) => !staying.has(name))
      .map(([name, send]) => [name, planOf(send, executed, amendedSteps.has(name))]),
  );
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
      amendedBy: [...new Set([...executed.amendedBy, ...(amendment === undefined ? [] : [by])])],
      sent: Object.fromEntries([...plans].map(([name, { before }]) => [name, before])),
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
