/*
 * Plans the retry of a run from facts, without asking anybody.
 *
 * A retry is safe in any case, because completed steps return their results. But it may be useless: the same failure
 * would come again. So a plan says which steps are kept, and refuses a retry that cannot help, with the action that
 * does.
 */
import type { Assumptions } from "@durable-payments/client/effect";
import { isRecord, lookUp } from "@durable-payments/client/values";
import type { Decision, RecordedWrite, WriteRow } from "@durable-payments/ledger";
import { mergePatch, patchedFields } from "@durable-payments/protocol";
import {
  canonicalJson,
  hashOf,
  lastFour,
  withoutAccounts,
} from "@durable-payments/protocol/account";
import { failureTypes } from "@durable-payments/protocol/calls";
import type { RunState } from "../facts/connection/temporal.ts";
import { EndedByPerson, invalidInput, type ControlError, refused } from "../errors.ts";
import type { Failure } from "../facts/history.ts";
import { planOnboarding, planPayout, type PlannedRun, warningsOf } from "./input.ts";
import { paymentOf } from "./payment.ts";

/** Facts from which a retry is planned. */
export interface Planning {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly state: RunState;
  readonly failure: Failure | null;
  readonly rows: ReadonlyArray<WriteRow & Partial<Pick<RecordedWrite, "standing">>>;
  /** A person ended the workflow id, and nobody has overridden that. */
  readonly end: Decision | undefined;
  readonly decisions: ReadonlyArray<Decision>;
  readonly isAmended: boolean;
  readonly isRestarted: boolean;
  readonly isOverruled: boolean;
}

/** How a run is retried. */
export interface RetryPlan {
  readonly workflowId: string;
  readonly runId: string;
  /** `start`: the id is started again. `reset`: its own activities keep their results. `look`: the run is open. */
  readonly way: "start" | "reset" | "look";
  /** Steps that are kept. */
  readonly kept: ReadonlyArray<string>;
  /** Steps that may be sent again, with their states. */
  readonly again: ReadonlyArray<{ readonly step: string; readonly state: WriteRow["state"] }>;
  /** Versions of rows that the failed run named: `not sent` is believed if they agree. */
  readonly versions: Readonly<Record<string, number>>;
}

/** The project's own workflows: their steps are writes and waits, so that a new start repeats nothing. */
const RESTARTED: ReadonlySet<string> = new Set(["payout", "onboardCardholder", "payoutBatch"]);

/** A payout is made once: a retry would return the one that was made. */
const NOT_PAID: Readonly<Record<string, string>> = {
  failed: "Its payout was made, and failed at the service",
  returned: "Its payout was made, and its money came back",
};

const notPaidText = (standing: string): string =>
  `${NOT_PAID[standing]}: a retry does not pay again. To pay again, use another id or key.`;

/** The reason why a repeat fails again, by type of failure. */
const HOPELESS: Readonly<Record<string, string>> = {
  [failureTypes.invalidRequest]: "Its input is invalid: amend it.",
  [failureTypes.alreadyCarriedOut]:
    "Another request has already succeeded under this id or key. If it was for the same, there is nothing to do. Otherwise use another key, and pay only the difference.",
  [failureTypes.madeTwice]: "It was made twice: sort it out with the bank.",
};

/** Outcomes of an identity check that stay: an incomplete one may pass later, and an open one ends. */
const DECIDED: ReadonlyArray<unknown> = ["refused", "removed"];

/** The step that a failure of this project names. */
const factsOf = (failure: Failure | null): Readonly<Record<string, unknown>> =>
  isRecord(failure?.details) ? failure.details : {};

/** The reason why every retry of the run fails; undefined if a retry may succeed. */
const hopelessOf = (failure: Failure): string | undefined =>
  failure.type === failureTypes.notVerified && DECIDED.includes(factsOf(failure)["reason"])
    ? "The service has refused the cardholder's identity: onboard another cardholder under a new id."
    : HOPELESS[failure.type];

const isAnswered = ({ decisionsAfter, question }: WriteRow, decisions: ReadonlyArray<Decision>) =>
  decisions.some(
    (decision) => decision.sequence > decisionsAfter && decision.question === question?.id,
  );

/** Returns why a retry cannot help; undefined if it may. */
export const whyNot = ({
  decisions,
  end,
  failure,
  isAmended,
  isOverruled,
  rows,
  state,
  workflowId,
  workflowType,
}: Omit<Planning, "isRestarted" | "runId">): ControlError | undefined => {
  const cannotHelp = (reason: string) =>
    refused(`A retry of ${workflowId} cannot help. ${reason} Nothing was done.`, workflowId);
  const notPaid = rows.find(({ standing }) => standing && standing in NOT_PAID)?.standing;
  // The failure tells the outcome of then, which may be another one now.
  if (notPaid && (workflowType === "payout" || failure?.type === failureTypes.payoutFailed))
    return cannotHelp(notPaidText(notPaid));
  if (state === "succeeded") {
    return refused(
      `${workflowId} has completed: there is nothing to retry. Nothing was done.`,
      workflowId,
    );
  }
  if (end !== undefined && !isOverruled) {
    return new EndedByPerson({
      message: `${end.by} stopped ${workflowId}${end.reason === null ? "" : ` (${end.reason})`}. To retry it, override the stop order with a name and a reason: then another person has to approve what is sent. Nothing was done.`,
      next: { action: "retry", workflowId, isOverruling: true },
    });
  }
  const asking = rows.find((row) => row.state === "asking" && !isAnswered(row, decisions));
  if (asking !== undefined) {
    return refused(
      `${asking.step} of ${workflowId} is waiting for an answer: ${asking.question?.reason ?? asking.message ?? "its outcome is unknown."} A retry would ask the same question. Nothing was done.`,
      workflowId,
    );
  }
  const hopeless = failure === null ? undefined : hopelessOf(failure);
  if (hopeless === undefined) return undefined;
  const isHelped = isAmended && failure?.type === failureTypes.invalidRequest;
  return isHelped ? undefined : cannotHelp(hopeless);
};

/** Plans a retry: kept steps, and steps that may be sent again. Throws the result of {@link whyNot}. */
export const planRetry = (planning: Planning): RetryPlan => {
  const { failure, isAmended, isRestarted, rows, runId, workflowId, workflowType } = planning;
  const isUnderWay = planning.state === "running";
  const why = isUnderWay ? undefined : whyNot(planning);
  if (why !== undefined) throw why;
  const { step, version, workflowId: of = workflowId } = factsOf(failure);
  const isStarted = isAmended || isRestarted || RESTARTED.has(workflowType);
  const way = isUnderWay ? "look" : isStarted ? "start" : "reset";
  const undone = rows.find(({ state }) => state === "undone");
  if (way === "reset" && undone !== undefined) {
    throw refused(
      `${workflowId} undid ${undone.step}: a reset would continue as if it had not. Start it again from the beginning. Nothing was done.`,
      { action: "retry", workflowId, isRestarted: true },
    );
  }
  return {
    workflowId,
    runId,
    way,
    kept: rows.filter(({ state }) => state === "done").map((row) => row.step),
    again: rows
      .filter(({ state }) => state !== "done")
      .map(({ state, step: name }) => ({ step: name, state })),
    // The row of a child, or of a key, has another workflow id.
    versions:
      of === workflowId && typeof step === "string" && typeof version === "number"
        ? { [step]: version }
        : {},
  };
};

/** Checks an input as that of a new run is checked, by workflow type. */
const CHECKS: Readonly<Record<string, (input: unknown, assumptions: Assumptions) => PlannedRun>> = {
  onboardCardholder: planOnboarding,
  payout: planPayout,
};

/** The operation whose request has a field of an input. */
const SENT_BY: Readonly<Record<string, string>> = {
  beneficiary: "createBeneficiary",
  beneficiary_id: "createPayout",
  payout: "createPayout",
  card: "createCard",
  "card.card_name": "updateCard",
  card_holder_id: "createCard",
  cardholder: "createCardholder",
};

/** The id that may take the place of a whole object of an input: then none is created. */
const REPLACED_BY: Readonly<Record<string, string>> = {
  beneficiary: "beneficiary_id",
  cardholder: "card_holder_id",
};

/** Returns why an amendment cannot help: it changes a request that has succeeded. In a user's own workflow, the step says so. */
export const whyNotAmended = (
  { rows, workflowId, workflowType }: Pick<Planning, "rows" | "workflowId" | "workflowType">,
  { fields, input }: Pick<ReturnType<typeof amendInput>, "fields" | "input">,
): ControlError | undefined => {
  if (lookUp(CHECKS, workflowType) === undefined) return undefined;
  for (const path of fields) {
    const [field = ""] = path.split(".");
    // If an id takes the place of a whole beneficiary or cardholder, none is created.
    if (valueAt(input, field) === undefined && !field.endsWith("_id")) continue;
    const operation = lookUp(SENT_BY, path) ?? lookUp(SENT_BY, field);
    const done = rows.find((row) => row.state === "done" && row.operation === operation);
    if (done === undefined) continue;
    const id = done.madeId === null ? "" : ` (${done.madeId})`;
    const other = lookUp(REPLACED_BY, field);
    const isUsed = rows.some(
      (row) => row.state === "done" && other !== undefined && row.operation === SENT_BY[other],
    );
    const way =
      other === undefined || isUsed
        ? "Start another run under a new id."
        : `To use another one, create it at the service, and amend its id: ${JSON.stringify({ [field]: null, [other]: "ID" })}.`;
    const is = done.standing === "made" ? "was already made" : "has already succeeded";
    return refused(
      `${path} cannot be amended: ${done.step} of ${workflowId} ${is}${id}. ${way} Nothing was done.`,
      workflowId,
    );
  }
  return undefined;
};

const valueAt = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), value);

/** Returns the values in a value that have no parts, by their paths: `employees.0.iban`. */
const leavesOf = (value: unknown, path = ""): ReadonlyArray<readonly [string, unknown]> =>
  (isRecord(value) || Array.isArray(value)) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, part]) =>
        leavesOf(part, path === "" ? name : `${path}.${name}`),
      )
    : [[path, value]];

/** Fields whose values are shown by their ends alone, also if nobody has such an account. */
const NUMBER = /(?:iban|number|routing(?:_code_value\d)?)$/i;

const LONGEST = 60;

/** Words a value for the log. */
const shownAs = (path: string, value: unknown, numbers: ReadonlyArray<string>): string => {
  if (value === undefined || value === null) return "nothing";
  const text = typeof value === "string" ? value : canonicalJson(value);
  const shown = NUMBER.test(path) ? lastFour(text) : withoutAccounts(text, numbers);
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown;
};

/** Words each change of an input for the log: `payout.amount: 250.00 → 25.00`. */
const changesOf = (input: unknown, amended: unknown): ReadonlyArray<string> => {
  const [before, after] = [new Map(leavesOf(input)), new Map(leavesOf(amended))];
  const numbers = [...before, ...after].flatMap(([path, value]) =>
    NUMBER.test(path) && typeof value === "string" ? [value] : [],
  );
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [old, present] = [before.get(path), after.get(path)];
    return canonicalJson({ at: old }) === canonicalJson({ at: present })
      ? []
      : [`${path}: ${shownAs(path, old, numbers)} → ${shownAs(path, present, numbers)}`];
  });
};

/** Amends the input of a run by a merge patch (RFC 7396), and returns the changed fields, also in words. In a user's own workflow, the steps check it. */
export const amendInput = (
  workflowType: string,
  input: unknown,
  { assumptions, patch }: { readonly patch: unknown; readonly assumptions: Assumptions },
) => {
  if (!isRecord(patch))
    throw invalidInput(
      "The patch must be a JSON object with the shape of the run's input. Nothing was done.",
    );
  const amended = mergePatch(input, patch);
  const fields = patchedFields(patch).filter(
    (path) =>
      canonicalJson({ at: valueAt(input, path) }) !== canonicalJson({ at: valueAt(amended, path) }),
  );
  if (fields.length === 0) throw invalidInput("The amendment changes nothing. Nothing was done.");
  const check = lookUp(CHECKS, workflowType);
  // Nothing else notices a misspelt field of a user's own workflow, or a field that only its child has.
  const unknown = fields.find((path) => valueAt(input, path) === undefined);
  if (check === undefined && unknown !== undefined)
    throw invalidInput(
      `The input of ${workflowType} has no field ${unknown}, so it cannot be amended. Nothing was done.`,
    );
  const accounts = [input, amended].map((one) => (isRecord(one) ? one["account"] : undefined));
  if (accounts[0] !== accounts[1])
    throw invalidInput("The account that pays cannot be amended. Nothing was done.");
  const planned = check?.(amended, assumptions);
  const checked = planned?.input ?? amended;
  const [before, after] = [input, checked].map((one) => paymentOf(one)?.currency);
  return {
    input: checked,
    fields,
    changed: changesOf(input, amended),
    hash: hashOf(checked),
    /** Changes that are allowed, and unlikely to be meant. */
    warnings: [
      ...(before === after
        ? []
        : [`It pays in ${after ?? "no currency"}, and not in ${before ?? "none"}.`]),
      ...(planned === undefined ? [] : warningsOf(planned, Date.now())),
    ],
  };
};
