/*
 * Refusals of a retry as errors for a person, and amendments of inputs: `plan-retry.ts` of the activities has the plan.
 */
import {
  type CannotRetry,
  type Planning,
  planRetry as planOf,
  type RetryPlan,
} from "@durable-payments/activities";
import type { Assumptions } from "@durable-payments/client/effect";
import type { Batch } from "@durable-payments/ledger";
import { isRecord, lookUp } from "@durable-payments/client/values";
import { mergePatch, patchedFields } from "@durable-payments/protocol";
import { isAmount } from "@durable-payments/protocol/inputs";
import {
  canonicalJson,
  hashOf,
  lastFour,
  withoutAccounts,
} from "@durable-payments/protocol/account";
import { EndedByPerson, invalidInput, type ControlError, refused } from "../errors.ts";
import { planOnboarding, planPayout, type PlannedRun, warningsOf } from "./input.ts";
import { paymentOf } from "./payment.ts";

export type { Planning, RetryPlan };

const errorOf = ({ needs, whyNot: why }: CannotRetry, workflowId: string): ControlError => {
  const message = `${why} Nothing was done.`;
  if (needs === undefined) return refused(message, workflowId);
  const next = { action: "retry", workflowId, [needs]: true } as const;
  return needs === "isOverruling" ? new EndedByPerson({ message, next }) : refused(message, next);
};

/**
 * Returns why a retry that changes nothing about the run is refused; undefined if it is not. Its `next` is a retry that is
 * not refused, if there is one.
 */
export const whyNot = (
  planning: Pick<Planning, "end" | "failure" | "rows" | "state" | "workflowId" | "workflowType">,
): ControlError | undefined => {
  const unchanged = { decisions: [], isAmended: false, isOverruled: false, isRestarted: false };
  const plan = planOf({ ...planning, ...unchanged, runId: "" });
  return "whyNot" in plan ? errorOf(plan, planning.workflowId) : undefined;
};

/** Words why a run is not retried in a second way: an open repair may have another input for it, its rate, and its approval. */
export const inRepairText = (workflowId: string, { id }: Pick<Batch, "id">): string =>
  `The open repair ${id} is going to retry ${workflowId}. Wait for it, or cancel ${id} to retry the run in another way.`;

/** Plans a retry: kept steps, and steps that may be sent again. Throws the result of {@link whyNot}. */
export const planRetry = (planning: Planning): RetryPlan => {
  const plan = planOf(planning);
  if ("whyNot" in plan) throw errorOf(plan, planning.workflowId);
  return plan;
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

const KINDS: Readonly<Record<string, string>> = {
  boolean: "true or false",
  list: "a list",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a text",
};

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
};

const AMOUNT_FIELD = /(?:^|\.)(?:amount|card_limit)$/;

/**
 * Returns why an amended value is not of the kind of the value before. The code of a user's own workflow may take it all the
 * same: a number as text, such as each cell of a CSV file, is added as text, and 3 and 1 are 31.
 */
const problemOfKind = (
  input: unknown,
  amended: unknown,
  fields: ReadonlyArray<string>,
): string | undefined => {
  for (const path of fields) {
    const [before, after] = [valueAt(input, path), valueAt(amended, path)];
    if (before === null || after === undefined) continue;
    const [kind, other] = [kindOf(before), kindOf(after)];
    if (kind !== other)
      return `${path} is ${KINDS[kind]}, and its amendment is ${KINDS[other]}. Give ${KINDS[kind]}; in a .csv file, all values are texts.`;
    if (AMOUNT_FIELD.test(path) && isAmount(before) && !isAmount(after))
      return `${path} must be an amount, such as "250.00".`;
  }
  return undefined;
};

/** Amends the input of a run by a merge patch (RFC 7396), and returns the changed fields, also in words. In a user's own workflow, the steps check it. */
export const amendInput = (
  workflowType: string,
  input: unknown,
  patch: unknown,
  assumptions: Assumptions,
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
  const absent = patchedFields(patch).find((path) => valueAt(input, path) === undefined);
  if (fields.length === 0)
    throw refused(
      `The amendment changes nothing${absent === undefined ? "" : `: the input has no field ${absent}`}. Nothing was done.`,
    );
  const check = lookUp(CHECKS, workflowType);
  // Nothing else notices a misspelt field of a user's own workflow, or a field that only its child has.
  const unknown = fields.find((path) => valueAt(input, path) === undefined);
  if (check === undefined && unknown !== undefined)
    throw invalidInput(
      `The input of ${workflowType} has no field ${unknown}, so it cannot be amended. Nothing was done.`,
    );
  const problem = check === undefined ? problemOfKind(input, amended, fields) : undefined;
  if (problem !== undefined) throw invalidInput(`${problem} Nothing was done.`);
  // Under another name, what was made before is not found, and is made again.
  const fixed = { account: "The account that pays", key: "The key" };
  for (const [name, what] of Object.entries(fixed))
    if (valueAt(input, name) !== valueAt(amended, name))
      throw invalidInput(`${what} cannot be amended. Start another run. Nothing was done.`);
  const planned = check?.(amended, assumptions);
  const checked = planned?.input ?? amended;
  const [old, payment] = [input, checked].map((one) => paymentOf(one));
  const [before, after] = [old?.currency, payment?.currency];
  const isSameMoney = before === after && old?.amount === payment?.amount;
  return {
    input: checked,
    /** The payment, if its amount or currency is amended. The input of a user's own workflow does not prove what it sends. */
    repriced: planned === undefined || isSameMoney ? undefined : payment,
    fields,
    changed: changesOf(input, amended),
    hash: hashOf(checked),
    /** Changes that are allowed, and unlikely to be meant. */
    warnings: [
      ...(before === after
        ? []
        : [`It pays in ${after ?? "no currency"} instead of ${before ?? "no currency"}.`]),
      ...(planned === undefined ? [] : warningsOf(planned, Date.now())),
    ],
  };
};
