import { isStepOf, STEP } from "@durable-payments/protocol";
import { EndedByPerson, invalidInput, refused } from "../errors.ts";
import { endedByDecisions, standing } from "../history/ending-decisions.ts";
import type { ExecutionHistory } from "../history/execution-history.ts";
import { stepsInDoubt } from "../history/in-doubt.ts";
import type { PastStep } from "../history/run-history.ts";
import { isAmong } from "../history/sends.ts";
import { sentByOthersText } from "../history/sent-by-others.ts";

/**
 * What becomes of a person's decision that ended the run: it stands (`keep`), is overruled, or, in
 * a retry of many, keeps the id out even where it was overruled once (`leaveOut`).
 */
export type Decisions = "keep" | "overrule" | "leaveOut";

const list = (names: ReadonlyArray<string>): string => names.join(", ");

/**
 * Advice to start another run. Never while this one has made something, or nobody knows whether it has: it
 * would be paid twice.
 */
const anotherRun = (workflowId: string, executed: ExecutionHistory, advice: string): string => {
  const { gone, sends, undoing } = executed;
  const steps = stepsInDoubt(executed).map(({ step }) => step);
  if (steps.length > 0) {
    return ` Nobody knows what became of what ${list([...new Set(steps)])} sent: settle that of ${workflowId} first, and start no other run for it.`;
  }
  const made = [...sends].flatMap(([name, { kind, sent }]) =>
    sent.outcome === "known" && !isAmong(gone, kind, sent.id) && !isAmong(undoing, kind, sent.id)
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
  const { sends, steps, undoing } = executed;
  const byChild = steps.findIndex(({ endedByChild }) => endedByChild === true);
  const last = byChild === -1 ? steps.length - 1 : byChild;
  const index = from === undefined ? last : steps.findIndex(({ name }) => name === from);
  const step = steps[index];
  if (step === undefined) {
    const byOthers = sentByOthersText(workflowId, executed.sentByOthers ?? []);
    const advice =
      byOthers?.message ??
      "It has sent nothing itself: where no other run of this id has paid it either (see its audit), start a run of another id.";
    throw steps.length === 0
      ? invalidInput(
          `The run ${workflowId} has not begun its first step.${anotherRun(workflowId, executed, advice)} Nothing was done.`,
          undefined,
          byOthers?.next,
        )
      : invalidInput(
          `The run ${workflowId} has no step ${from ?? ""}. Its steps: ${list(steps.map(({ name }) => name))}.`,
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
  const without = steps.find(
    ({ name, task }) => task < step.task && idIn(name, executed.gone) !== undefined,
  );
  if (without !== undefined) {
    const isUndone = idIn(without.name, executed.undone) !== undefined;
    throw refused(
      `${isUndone ? `The run ${workflowId} undid ${without.name} when it failed` : `What ${without.name} of ${workflowId} has made is replaced`}: it cannot go on after it, but from it. Nothing was done.`,
      { operation: "retry", workflowId, from: without.name },
    );
  }
  return step;
};

/** The approval of what a step sends, where it was to be approved: a decision overruled is taken anew. */
const approvalOf = ({ steps }: ExecutionHistory, before: PastStep): PastStep =>
  steps.findLast(({ name, task }) => isStepOf(STEP.awaitApproval, name) && task <= before.task) ??
  before;

const DECISIONS: ReadonlyArray<unknown> = [
  "keep",
  "overrule",
  "leaveOut",
] satisfies ReadonlyArray<Decisions>;

/**
 * Refuse to go past what people have decided, unless somebody overrules it: of many, in no case. Nothing
 * but the very word overrules, whatever a caller without types gives.
 */
export const checkDecisions = (
  workflowId: string,
  { cancelAsked, decisions: all }: ExecutionHistory,
  decisions: Decisions,
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

/**
 * Find the step that a retry goes on from.
 *
 * @param options `from`: the step that is wanted; where a decision is overruled, its approval comes before it.
 * @throws InvalidInput where there is no such step; Refused where the run cannot go on from it.
 */
export const retryPoint = (
  workflowId: string,
  executed: ExecutionHistory,
  { decisions, from }: { readonly decisions: Decisions; readonly from: string | undefined },
): PastStep => {
  const chosen = stepToGoOnFrom(workflowId, executed, from);
  const step = decisions === "overrule" ? approvalOf(executed, chosen) : chosen;
  checkCancelAsked(workflowId, executed, step);
  return step;
};
