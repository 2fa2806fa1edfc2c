/*
 * Finds likely duplicates of a payment under other ids.
 *
 * An id protects from a second payment of the same id, and from nothing else: a person who gives another key pays again.
 * So a payment that looks like an earlier one is refused, until a person says why it is another.
 */
import { canonicalDecimal, comparableText, PERSON_MARK } from "@durable-payments/client/values";
import {
  moneyStateOf,
  type PlannedPayment,
  reasonProblem,
  type SimilarPayment,
} from "@durable-payments/ledger";
import { contentHash } from "@durable-payments/protocol";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { findRun } from "../facts/connection/temporal.ts";
import { InvalidInput, invalidInput, type NextAction, NotAllowed, refused } from "../errors.ts";
import { paymentOf } from "../rules/payment.ts";
import { MONEY_WORDS } from "../rules/run-view.ts";
import { dated } from "../rules/standing.ts";
import type { Connected } from "../facts/connection/connections.ts";

type Looking = Pick<Connected, "client" | "ledger">;

/** Without Temporal, no run counts as forgotten. */
type Reading = Pick<Looking, "ledger"> & { readonly client?: Looking["client"] | undefined };

/** A run that was recorded within this time is not looked up: Temporal knows it. */
const KNOWN_FOR_MS = 60_000;

/** Whether a run has no write, and Temporal does not know it: its database was restored. It does not count as an earlier payment. */
const isForgotten = async (
  { client, ledger }: Reading,
  { at, standing, workflowId }: SimilarPayment,
): Promise<boolean> => {
  if (standing !== null || at > Date.now() - KNOWN_FOR_MS) return false;
  const [run] = await ledger.runs({ workflowIds: [workflowId], limit: 1 });
  // A row of a batch has no run until it is approved, and its turn comes.
  if (run === undefined || run.batch !== null || client === undefined) return false;
  return (await findRun(client, workflowId)) === undefined;
};

/** Finds likely duplicates as {@link findDuplicates} does. */
const findSimilar = async (
  looking: Reading,
  account: string | undefined,
  payments: ReadonlyArray<PlannedPayment>,
): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
  const found = await looking.ledger.similarPayments(account, payments);
  const known: Array<ReadonlyArray<SimilarPayment>> = [];
  for (const similar of found) {
    const forgotten = await Promise.all(similar.map((one) => isForgotten(looking, one)));
    known.push(similar.filter((_, at) => forgotten[at] === false));
  }
  return known;
};

/**
 * Finds likely duplicates under other ids, by the rule of the ledger's `similarPayments`. Runs without a
 * write that Temporal has forgotten are left out.
 *
 * @param account hash of the account that pays; undefined compares with payments of all accounts.
 * @returns for each payment the earlier ones, in the same order.
 */
export const findDuplicates = async (
  looking: Looking,
  account: string | undefined,
  planned: ReadonlyArray<{ readonly workflowId: string; readonly input: unknown }>,
): Promise<ReadonlyArray<ReadonlyArray<SimilarPayment>>> => {
  const asked = planned.flatMap(({ input, workflowId }, at) => {
    const payment = paymentOf(input, looking.ledger);
    return payment?.payee ? [{ ...payment, at, payee: payment.payee, workflowId }] : [];
  });
  const found = await findSimilar(looking, account, asked);
  const places = new Map(asked.map(({ at }, index) => [at, index]));
  return planned.map((_, at) => found[places.get(at) ?? -1] ?? []);
};

/** Words an earlier payment: `invoice-17 (Invoice 17) of 2026-11-23 12:00 UTC, under way`. */
export const similarText = ({
  at,
  payee,
  reference,
  standing,
  workflowId,
}: SimilarPayment): string => {
  const isCreated = standing === "completed" && payee.startsWith(PERSON_MARK);
  const outcome = isCreated ? "cardholder created" : MONEY_WORDS[moneyStateOf(standing ?? "open")];
  return `${workflowId}${reference === null ? "" : ` (${reference})`} of ${dated(at)}, ${outcome}`;
};

/** Words up to three of the earlier payments; empty without any. */
const likeText = (similar: ReadonlyArray<SimilarPayment>): string =>
  similar.slice(0, 3).map(similarText).join("; ");

/** Checks the reason of a start in spite of likely duplicates. @throws InvalidInput */
export const checkReason = (
  notDuplicate: string | undefined,
  nothing = "Nothing was started.",
): void => {
  const problem = notDuplicate === undefined ? undefined : reasonProblem(notDuplicate);
  if (problem !== undefined) throw invalidInput(`The reason (notDuplicate) ${problem}. ${nothing}`);
};

/** A start that is compared with earlier payments. */
interface Planned {
  /** Hash of the account that pays, if it is known. */
  readonly account: string | undefined;
  readonly workflowId: string;
  readonly input: unknown;
  /** The reason why it is not a duplicate. */
  readonly notDuplicate: string | undefined;
  /** How to start it anyway. */
  readonly next?: NextAction;
}

const isPerson = (payee: string | null | undefined): boolean =>
  payee?.startsWith(PERSON_MARK) === true;

const sameText = (workflowId: string, payee: string | null | undefined, of: string): string =>
  `${workflowId} is likely a duplicate: the same ${isPerson(payee) ? "person" : "payee, amount and currency"} as ${of}.`;

const likelyDuplicate = ({ input, next, workflowId }: Planned, of: string) => {
  const how = next === undefined ? " If it is another one, pass the reason as notDuplicate." : "";
  return refused(
    `${sameText(workflowId, paymentOf(input)?.payee, of)} Nothing was started.${how}`,
    next,
  );
};

/** Words the payments of which a start is likely a duplicate; empty without any, or if a reason says why it is another one. */
const likeOf = async (looking: Looking, planned: Planned): Promise<string> => {
  const { account, notDuplicate } = planned;
  if (notDuplicate !== undefined) return "";
  const [similar = []] = await findDuplicates(looking, account, [planned]);
  return likeText(similar);
};

/**
 * Refuses a start that is likely a duplicate, unless a reason says why it is not.
 *
 * @throws NotAllowed that names up to three earlier ones.
 */
export const refuseDuplicate = async (looking: Looking, planned: Planned): Promise<void> => {
  const like = await likeOf(looking, planned);
  if (like !== "") throw likelyDuplicate(planned, like);
};

/**
 * Returns which retries are likely duplicates of other payments, or of a retry before them, in words by workflow id: what was
 * refused may have been paid since under another id.
 */
export const retriedDuplicates = async (
  looking: Reading,
  retried: ReadonlyArray<PlannedPayment>,
): Promise<ReadonlyMap<string, string>> => {
  const similar = await findSimilar(looking, undefined, retried);
  const places = new Map(retried.map(({ workflowId }, at) => [workflowId, at]));
  return new Map(
    retried.flatMap(({ payee, workflowId }, at) => {
      const others = (similar[at] ?? []).filter((one) => (places.get(one.workflowId) ?? -1) < at);
      return others.length === 0
        ? []
        : [[workflowId, sameText(workflowId, payee, likeText(others))] as const];
    }),
  );
};

/** The lease of a program that was killed expires. A start that lasts, as without a worker or Temporal, renews it. */
const LEASE_MS = 60_000;

/**
 * Names a payment, or a person whatever the card costs, so that equal starts have the same name. The account that pays is
 * not in it: a start may not know it.
 */
const nameOf = ({ input }: Planned, ledger: Looking["ledger"]): string | undefined => {
  const { amount = "", currency, payee, reference } = paymentOf(input, ledger) ?? {};
  if (!payee) return undefined;
  const money = [canonicalDecimal(amount) ?? amount, currency, comparableText(reference ?? "")];
  return `start/${contentHash([payee, ...(isPerson(payee) ? [] : money)])}`;
};

/** Whether a start has failed without a run that only its worker would record. */
const isKnown = (error: unknown): boolean =>
  error instanceof InvalidInput ||
  error instanceof NotAllowed ||
  error instanceof WorkflowExecutionAlreadyStartedError;

/**
 * Starts what is not likely a duplicate. The ledger knows a start only once Temporal has taken it, so two that overlap
 * would not find each other: an equal one is refused until this one is recorded. If it is unknown whether Temporal has
 * taken it, the lease expires: meanwhile a worker records the run by its first step. The start of a known id only finds
 * its run, whatever equal payment was started since.
 *
 * @throws as {@link refuseDuplicate}; NotAllowed if an equal payment is being started.
 */
export const startUnlessDuplicate = async <Started>(
  looking: Looking,
  planned: Planned,
  start: () => Promise<Started>,
): Promise<Started> => {
  const { client, ledger } = looking;
  const { notDuplicate, workflowId } = planned;
  const name = nameOf(planned, ledger);
  if (name === undefined) return start();
  // Temporal lets one start of an id win.
  const lease = (ms = LEASE_MS) => ledger.lease(name, workflowId, ms);
  // The start has its own outcome.
  const release = () => lease(0).catch(() => undefined);
  const isFirst = (await lease()) || notDuplicate !== undefined;
  const renewing = setInterval(() => void lease().catch(() => undefined), LEASE_MS / 3);
  try {
    const like = isFirst
      ? await likeOf(looking, planned)
      : "another start that is not recorded yet";
    if (like !== "" && (await findRun(client, workflowId)) === undefined)
      throw likelyDuplicate(planned, like);
    const started = await start();
    await release();
    return started;
  } catch (error) {
    if (isKnown(error)) await release();
    throw error;
  } finally {
    clearInterval(renewing);
  }
};
