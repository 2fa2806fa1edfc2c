import type { Fault } from "@durable-payments/api-core";
import type { EndingDecision, RetryInstruction, SentBefore } from "@durable-payments/protocol";
import { badInput, endedByPerson } from "../../errors.ts";
import { canonicalJson } from "../../input/canonical-json.ts";
import { textAt } from "../../input/fields.ts";
import { commandLine } from "../../output/command-line.ts";
import { type Amendment, amendInput } from "./amendment.ts";
import { endedByPersonText, standing } from "./ended-by-person.ts";
import { claims, type Past, type PastSend } from "./past.ts";
import type { PastStep } from "./read-steps.ts";

/** How a run is to be retried. */
export interface RetryFlags {
  readonly by: string;
  readonly reason: string;
  /** The step to go on from; default: the failed one. */
  readonly from: string | undefined;
  /** Change of the input, in the input's shape. */
  readonly patch: unknown;
  /**
   * What becomes of a person's decision that ended the run: it stands (`keep`), is overruled, or, in
   * a bulk retry, keeps the id out even where it was overruled once (`leaveOut`).
   */
  readonly decisions: "keep" | "overrule" | "leaveOut";
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
  readonly order: RetryInstruction;
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
  unknown: "nobody knows: is looked up, or repeated under the same key",
} as const;

/** What the run is told of a send, and what a person is. */
const toldOf = (send: PastSend, { undone }: Past, isAmended: boolean) => {
  const { kind, lastInput, sent } = send;
  const key = textAt(lastInput, "unique_request_id");
  switch (sent.outcome) {
    case "known":
      return claims(undone, kind, sent.id)
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
      // A refused request was not carried out: its successor has a key of its own.
      return isAmended
        ? { note: NOTES.amended, before: anew(send) }
        : { note: NOTES.refused, before: same("nothing", send) };
    case "notSent":
      return { note: NOTES.notSent, before: same("nothing", send) };
    default:
      return { note: NOTES.unknown, before: same("unknown", send) };
  }
};

/** The step to go on from; it must not stand on what was undone. */
const stepToGoOnFrom = (workflowId: string, past: Past, from: string | undefined) => {
  const { sends, steps, undoing, undone } = past;
  const index =
    from === undefined ? steps.length - 1 : steps.findIndex(({ name }) => name === from);
  const step = steps[index];
  if (step === undefined) {
    throw badInput(
      steps.length === 0
        ? `The run ${workflowId} has not begun its first step: start it anew. Nothing was done.`
        : `The run ${workflowId} has no step ${from ?? ""}. Its steps: ${list(steps.map(({ name }) => name))}.`,
    );
  }
  const idIn = (name: string, all: Past["undone"]): string | undefined => {
    const send = sends.get(name);
    return send?.sent.outcome === "known" && claims(all, send.kind, send.sent.id)
      ? send.sent.id
      : undefined;
  };
  const inDoubt = steps.find(({ name }) => idIn(name, undoing) !== undefined);
  if (inDoubt !== undefined) {
    throw badInput(
      `The run ${workflowId} was to undo ${inDoubt.name} (${idIn(inDoubt.name, undoing)}), and could not, or not for certain. Finish that by hand, and start a run anew. Nothing was done.`,
    );
  }
  const gone = steps.find(({ name, task }) => task < step.task && idIn(name, undone) !== undefined);
  if (gone !== undefined) {
    throw badInput(
      `The run ${workflowId} undid ${gone.name} when it failed: it cannot go on after it. Do that step anew: ${commandLine("runs", "retry", workflowId, "--from", gone.name)}`,
    );
  }
  return step;
};

/** The approval of what a step sends, where it was to be approved: a decision overruled is taken anew. */
const approvalOf = ({ steps }: Past, before: PastStep): PastStep =>
  steps.findLast(({ name, task }) => /^awaitApproval( |$)/.test(name) && task <= before.task) ??
  before;

/** What people have decided before is not gone past by chance. */
const checkDecisions = (
  workflowId: string,
  { cancelAsked, decisions: all }: Past,
  { decisions }: RetryFlags,
): void => {
  const open = standing(all);
  if (decisions === "leaveOut" && cancelAsked !== undefined) {
    throw endedByPerson(
      `The run ${workflowId} was asked to end by ${cancelAsked.by}, whatever it ended with: retry it by its id. Nothing was done.`,
    );
  }
  if (decisions === "leaveOut" && all.length > 0) {
    throw endedByPerson(endedByPersonText(workflowId, all));
  }
  if (decisions === "keep" && open.length > 0) {
    throw endedByPerson(endedByPersonText(workflowId, open));
  }
  if (decisions === "overrule" && open.length === 0) {
    throw badInput(
      `No person has ended the run ${workflowId}: leave --overrule out. Nothing was done.`,
    );
  }
};

/** Fields must be used by a step that is still to come. */
const checkFields = ({ fields }: Amendment, past: Past, fromTask: number): void => {
  const faults: Array<Fault> = [];
  for (const { field, step: name } of fields) {
    const step = past.steps.find((begun) => begun.name === name);
    const { kind, sent } = past.sends.get(name) ?? {};
    const isGone =
      kind !== undefined && sent?.outcome === "known" && claims(past.undone, kind, sent.id);
    if (sent?.outcome === "unknown") {
      faults.push({
        field,
        problem: `is what ${name} sent, and nobody knows what became of it: retry without an amendment`,
      });
    } else if ((step && step.task < fromTask) || (sent?.outcome === "known" && !isGone)) {
      faults.push({ field, problem: `is used by ${name}, which is done and stays so` });
    }
  }
  if (faults.length > 0) throw badInput("The amendment comes too late. Nothing was done.", faults);
};

/**
 * Plans how a run is retried.
 *
 * @throws BadInput where it cannot be, or only in a way that might do something twice
 */
export const planRetry = (
  { type, workflowId }: { readonly workflowId: string; readonly type: string },
  past: Past,
  flags: RetryFlags,
): RetryPlan => {
  const { by, from, patch, reason } = flags;
  checkDecisions(workflowId, past, flags);
  const chosen = stepToGoOnFrom(workflowId, past, from);
  const step = flags.decisions === "overrule" ? approvalOf(past, chosen) : chosen;
  if (past.cancelAsked !== undefined && past.cancelAsked.event < step.task) {
    throw badInput(
      `The run ${workflowId} was asked to end by ${past.cancelAsked.by} before ${step.name} began, so that it would end again at once. Start a run of another id, or go on from an earlier step (--from). Nothing was done.`,
    );
  }
  const amendment = patch === undefined ? undefined : amendInput(type, past.input, patch);
  if (amendment !== undefined) checkFields(amendment, past, step.task);
  const input = amendment?.input ?? past.input;
  const amendedSteps = new Set(amendment?.fields.map((field) => field.step));
  const staying = new Set(
    past.steps.filter(({ task }) => task < step.task).map(({ name }) => name),
  );
  const told = new Map(
    [...past.sends]
      .filter(([name]) => !staying.has(name))
      .map(([name, send]) => [name, toldOf(send, past, amendedSteps.has(name))]),
  );
  const again = past.steps.filter(({ name }) => !staying.has(name)).map(({ name }) => name);
  const fields = amendment?.fields.map(({ field }) => field) ?? [];
  return {
    from: step.name,
    eventId: step.task,
    stays: [...staying],
    again: [...new Set([...again, ...told.keys()])].map((name) => ({
      name,
      note: told.get(name)?.note ?? null,
    })),
    amended: fields,
    overruled: standing(past.decisions),
    order: {
      by,
      reason,
      from: step.name,
      ...(canonicalJson(input) !== canonicalJson(past.startedWith) && { input }),
      fields,
      amendedBy: [...new Set([...past.amendedBy, ...(amendment === undefined ? [] : [by])])],
      sent: Object.fromEntries([...told].map(([name, { before }]) => [name, before])),
      ...(past.account !== undefined && { account: past.account }),
      ...(past.decisions.length > 0 && {
        decisions: past.decisions.map((decision) => ({
          overruled: { by, why: reason, at: new Date().toISOString() },
          ...decision,
        })),
      }),
    },
  };
};
