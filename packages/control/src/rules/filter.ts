/*
 * Checks what a program filters by, before anything is read.
 *
 * A filter that is wrong and is not refused gives an empty report, or one of all payments, which looks right. TypeScript
 * finds neither a currency in lower case, nor an unknown account, nor what came over HTTP. So each condition is checked
 * here, and an unknown field is refused.
 */
import { isAbortSignal, isRecord } from "@durable-payments/client/values";
import type { Fault } from "@durable-payments/client/effect";
import { numberIn, RUN_SORTS, type RunSort, type SumsBy } from "@durable-payments/ledger";
import { isDuration } from "@durable-payments/protocol/inputs";
import { invalidFields, invalidInput } from "../errors.ts";
import { STATUSES } from "./run-view.ts";

/** The time of a report, unless another is given: 30 days. */
export const REPORTED_MS = 30 * 86_400_000;

/** Returns the problem of a value, after the name of its field; undefined if it has none. */
export type Check = (value: unknown) => string | undefined;

/** Returns a check for one of some values. */
export const oneOf =
  (known: ReadonlyArray<unknown>): Check =>
  (value) =>
    known.includes(value) ? undefined : `must be one of: ${known.join(", ")}`;

/** Checks a text. */
export const isText: Check = (value) =>
  typeof value === "string" && value.trim() !== "" ? undefined : "must be a text that is not empty";

export const isFlag: Check = (value) =>
  typeof value === "boolean" ? undefined : "must be true or false";

export const isList: Check = (value) => (Array.isArray(value) ? undefined : "must be a list");

export const isObject: Check = (value) => (isRecord(value) ? undefined : "must be an object");

export const isSignal: Check = (value) =>
  isAbortSignal(value) ? undefined : "must be an AbortSignal";

/** Checks a time to wait, of which a deadline is made. */
export const isWait: Check = (value) =>
  isDuration(value) ? undefined : 'must be a duration, such as "30 seconds"';

/** The last time of JavaScript. */
const LAST_TIME = 8.64e15;

const isTime: Check = (value) =>
  typeof value === "number" && Math.abs(value) <= LAST_TIME
    ? undefined
    : 'must be a time in milliseconds since 1970, such as Date.parse("2026-11-01")';

/** Checks the end of a period, in which nothing can be found if it ends before it begins. */
const isEndAfter =
  (name: string, since: unknown): Check =>
  (value) =>
    isTime(value) ??
    (typeof since === "number" && typeof value === "number" && value <= since
      ? `must be later than ${name}`
      : undefined);

const isStatus = oneOf(STATUSES);

const isStatuses: Check = (value) => {
  if (!Array.isArray(value) || value.length === 0)
    return `must be a list of statuses, each one of: ${STATUSES.join(", ")}`;
  return value.map(isStatus).find((problem) => problem !== undefined);
};

const isCurrency: Check = (value) =>
  typeof value === "string" && /^[A-Z]{3}$/.test(value)
    ? undefined
    : "must be three capital letters, such as EUR";

const isCount: Check = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 1
    ? undefined
    : "must be a whole number of at least 1";

/** Orders by a time; the others are by a text. */
const BY_TIME: ReadonlySet<unknown> = new Set<RunSort | undefined>([undefined, "started", "ended"]);

/** A page continues after the last run of the page before, in the same order. */
const cursorIn =
  (sort: unknown): Check =>
  (value) => {
    const { key, workflowId } = isRecord(value) ? value : {};
    const isKey = BY_TIME.has(sort) ? Number.isFinite(key) : typeof key === "string";
    return isKey && typeof workflowId === "string"
      ? undefined
      : "must be the value of next on the page before, in the same order";
  };

const conditionsIn = ({
  since,
  startedSince,
}: Readonly<Record<string, unknown>>): Readonly<Record<string, Check>> => ({
  account: isText,
  batch: isText,
  currency: isCurrency,
  error: isText,
  find: isText,
  group: isText,
  lateAt: isTime,
  payee: isText,
  reference: isText,
  repair: isText,
  since: (value) => (value === null ? undefined : isTime(value)),
  startedSince: isTime,
  startedUntil: isEndAfter("startedSince", startedSince),
  statuses: isStatuses,
  step: isText,
  type: isText,
  until: isEndAfter("since", since),
});

const pageIn = (sort: unknown): Readonly<Record<string, Check>> => ({
  after: cursorIn(sort),
  limit: isCount,
  sort: oneOf(RUN_SORTS),
});

const isEvent: Check = (value) =>
  Number.isNaN(numberIn(String(value)))
    ? `must be the id of an event: ${JSON.stringify(value)} is invalid`
    : undefined;

/** Accepts a value that something else checks. */
export const isAny: Check = () => undefined;

/** Which events are read, or delivered again. */
const EVENTS = { account: isText, after: isEvent, isFollowed: isFlag, signal: isSignal };
const REDELIVERED = { account: isText, from: isEvent, to: isEvent };

const BY = ["payee", "day", "batch", "reason"] as const satisfies ReadonlyArray<SumsBy>;

/**
 * Checks each field of an object.
 *
 * @param nothing says what was not done.
 * @throws InvalidInput that names each wrong field, and each unknown one with those that are known.
 */
export const check = (
  name: string,
  checks: Readonly<Record<string, Check>>,
  given: unknown,
  nothing = "Nothing was read.",
): void => {
  const known = Object.keys(checks);
  if (!isRecord(given)) throw invalidInput(`The ${name} must be an object. ${nothing}`);
  const faults = Object.entries(given).flatMap(([field, value]): ReadonlyArray<Fault> => {
    if (value === undefined) return [];
    const problem = Object.hasOwn(checks, field)
      ? checks[field]?.(value)
      : `is unknown: use one of ${known.join(", ")}`;
    return problem ? [{ field, problem }] : [];
  });
  if (faults.length > 0) throw invalidFields(`The ${name} is invalid`, faults, nothing);
};

/** Checks a text that a method is given, such as an id. @throws InvalidInput that names it. */
export const checkText = (name: string, given: unknown): void => {
  const problem = isText(given);
  if (problem !== undefined) throw invalidInput(`The ${name} ${problem}. Nothing was done.`);
};

/** Checks the conditions on runs and payments. @throws InvalidInput that names each wrong field. */
export const checkFilter = (given: unknown): void =>
  check("filter", conditionsIn(isRecord(given) ? given : {}), given);

/** Checks limit, order and start of a page. @throws InvalidInput that names each wrong field. */
export const checkPage = (given: unknown): void =>
  check("page", pageIn(isRecord(given) ? given["sort"] : undefined), given);

/** Checks which events are read. @throws InvalidInput that names each wrong field. */
export const checkEvents = (given: unknown): void => check("choice of events", EVENTS, given);

/** Checks which events are delivered again. @throws InvalidInput that names each wrong field. */
export const checkRedelivered = (given: unknown): void =>
  check("range of events", REDELIVERED, given, "Nothing was changed.");

/** Checks the grouping of a report. @throws InvalidInput with the known ones. */
export const checkGrouping = (by: unknown): void => check("report", { by: oneOf(BY) }, { by });
