import { type Fault, type PaymentsError, redact, Unavailable } from "@durable-payments/api-core";
import { isRecord, lookUp, messageOf } from "@durable-payments/api-core/values";
import {
  isOperationName,
  normalizedKey,
  ownActivityNames,
  type OwnSend,
  ownershipKeys,
  ownSendingOf,
  textAt,
} from "@durable-payments/protocol";
import { Context } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { invalidRequest } from "./amount-limits.ts";
import { answerContradicts, toApplicationFailure, workerLost } from "./failures.ts";
import { GuardedSend, type GuardOptions } from "./guarded-send.ts";
import { readMade } from "./journal-evidence.ts";
import type { Made, OwnOperation, OwnOperations } from "./own-operation.ts";
import {
  call,
  errorOf,
  type Keyed,
  type OwnResult,
  plainRequest,
  resultOf,
  sendContext,
  TIMEOUT_MS,
} from "./own-operation-call.ts";
import { findConcurrentRuns, findOwners } from "./owners.ts";
import type { Match, Matches, Sent } from "./reconciliation-activities.ts";
import { recordedSend } from "./recorded-send.ts";
import { accountOf, optionsOf, type PaymentsRuntime } from "./run-operation.ts";
import { schemaFaults } from "./schema-faults.ts";
import type { SendIntent } from "./send-intent.ts";

/** The activities of one operation, by what each does. */
export interface OwnActivities {
  /** Sends the request, guarded by the journal and the pause. */
  readonly send: (request: Keyed, intent: SendIntent) => Promise<OwnResult>;
  /** Finds what may be what was sent, where the answer was lost. */
  readonly find: (sent: Sent<Keyed, OwnResult>) => Promise<Matches<OwnResult>>;
  /** `request`: what it is to be compared with, where a person gave the id. */
  readonly read: (asked: {
    readonly id: string;
    readonly request?: Keyed;
    readonly keys?: ReadonlyArray<string>;
  }) => Promise<OwnResult>;
  /** Undoes what was made. */
  readonly undo: (made: Readonly<Record<string, string>>) => Promise<void>;
}

type Options = Pick<GuardOptions, "journal" | "readEarlierRuns" | "readPause" | "readRunState">;

const LIST_LAG_MS = 60_000;

/** Most of what is listed that a reconciliation compares. */
const MOST_MATCHES = 100;

/** Attempts to undo, after which its run fails and says so: an hour, as attempts come. */
const MOST_ATTEMPTS = 60;

const faultsOf = async (
  { schema }: OwnOperation<object, Made>,
  request: unknown,
): Promise<ReadonlyArray<Fault>> =>
  schema === undefined
    ? []
    : schemaFaults(schema, isRecord(request) ? plainRequest(request) : request);

const failing = (activity: string, reason: string): ApplicationFailure =>
  ApplicationFailure.nonRetryable(reason, activity);

/** Make the activities of one operation over the journal. */
const makeActivities = (
  runtime: PaymentsRuntime,
  name: string,
  operation: OwnOperation<object, Made>,
  options: Options,
): OwnActivities => {
  const { find, idField, read, send, undo } = ownActivityNames(name);
  const { journal } = options;
  const guardOf = (
    sent: Pick<GuardOptions, "evenIfCancelled" | "knowsEarlierRuns" | "send" | "undoes">,
  ) => new GuardedSend({ operation: send, ...options, ...sent });

  return {
    send: async (request, intent) => {
      const { info } = Context.current();
      const guard = guardOf({
        evenIfCancelled: intent.evenIfCancelled ?? false,
        knowsEarlierRuns: intent.knowsEarlierRuns ?? false,
        send: recordedSend(send, request, info, intent),
        undoes: undefined,
      });
      if (info.attempt > 1) {
        await guard.failIfRecorded();
        throw workerLost(send);
      }
      const faults = await faultsOf(operation, request);
      const fail = (error: PaymentsError) => toApplicationFailure(error, { nonRetryable: true });
      if (faults.length > 0) throw fail(invalidRequest(send, faults));
      await guard.permit().catch((error: unknown) => {
        throw error instanceof Unavailable ? fail(error) : error;
      });
      const context = sendContext(send, request, intent);
      let result: OwnResult;
      try {
        const made = await call(operation, ({ signal }) =>
          operation.send(plainRequest(request), { ...context, signal }),
        );
        result = resultOf(send, made, idField);
      } catch (thrown) {
        const error = errorOf(send, thrown);
        await guard.failed(error);
        throw fail(error);
      }
      const other = await guard.succeeded(request, result);
      if (other === undefined) return result;
      await guard.failed(undefined);
      throw answerContradicts(
        send,
        `its answer names what ${other.step} of ${other.workflowId} has made`,
      );
    },

    find: async ({ intentMark, keys = [], request, seen = [], since, step }) => {
      const { assumptions } = await optionsOf(runtime);
      const { clockSkewSeconds, visibilityLagSeconds } = assumptions;
      const from = since - clockSkewSeconds * 1000;
      const { ownerOf, ownIds } = await readMade(journal, { operation: send, step, from });
      const listed = await call(
        operation,
        async (context) => (await operation.list?.(new Date(from), context)) ?? [],
      );
      const plain = plainRequest(request);
      const likenessOf = (made: Made) =>
        ownIds.has(made.id) ? "ours" : (operation.match?.(plain, made, keys) ?? "near");
      const now = new Map(
        listed.filter((made) => likenessOf(made) !== "other").map((made) => [made.id, made]),
      );
      const missing = seen.map(({ made }) => made).filter(({ id }) => !now.has(id));
      const items = [...now.values(), ...missing].slice(0, MOST_MATCHES);
      const isTooMany = now.size + missing.length > items.length;
      // Before the owners: a run replaces its mark by what it owns.
      const concurrentRuns = await findConcurrentRuns(intentMark);
      const owners = await findOwners(
        items.flatMap(({ id }) => ownershipKeys({ [idField]: id })),
        await accountOf(runtime),
      );
      const matches = items.map((made): Match => {
        const likeness = likenessOf(made);
        const [owner] = ownershipKeys({ [idField]: made.id }).flatMap((key) => owners[key] ?? []);
        return {
          id: made.id,
          isOurs: likeness === "ours",
          isExact: likeness === "ours" || likeness === "same",
          ...(missing.includes(made) && { isMissing: true }),
          owner: likeness === "ours" ? undefined : (ownerOf(made.id) ?? owner),
        };
      });
      return {
        items: items.map((made) => resultOf(find, made, idField)),
        matches,
        concurrentRuns,
        unreadableRows: 0,
        keyEcho: "none",
        requestTimeoutMs: operation.timeoutMs ?? TIMEOUT_MS,
        listLagMs: operation.listLagMs ?? LIST_LAG_MS,
        visibilityLagMs: visibilityLagSeconds * 1000,
        ...(operation.list === undefined && {
          incomplete: `Nothing lists what ${name} makes.`,
          isUnlisted: true,
        }),
        ...(isTooMany && { incomplete: `More than ${MOST_MATCHES} are listed that may be it.` }),
      };
    },

    read: async ({ id, keys = [], request }) => {
      const made = await call(operation, (context) => operation.read(id, context));
      if (made === undefined) throw failing("NotFound", `Nothing has the id ${id}.`);
      if (normalizedKey(textAt(made, "id") ?? "") !== normalizedKey(id)) {
        throw failing("OtherResult", `What was read for ${id} has another id.`);
      }
      const isOther =
        request !== undefined && operation.match?.(plainRequest(request), made, keys) === "other";
      if (isOther) throw failing("OtherResult", `${id} is not what was sent.`);
      return resultOf(read, made, idField);
    },

    undo: async (made) => {
      const { attempt, workflowExecution } = Context.current().info;
      const id = made[idField] ?? "";
      if (operation.undo === undefined) {
        const reason = `The worker has no function that undoes ${name}: undo ${id} by hand.`;
        throw failing("CannotBeUndone", reason);
      }
      const { workflowId = "" } = workflowExecution ?? {};
      const guard = guardOf({
        evenIfCancelled: true,
        knowsEarlierRuns: true,
        send: undefined,
        undoes: { workflowId, operation: send, id },
      });
      await guard.permit();
      try {
        await call(operation, async (context) => operation.undo?.(id, context));
      } catch (error) {
        const message = `${undo} of ${id} failed: ${redact(messageOf(error))}`;
        throw ApplicationFailure.create({
          type: "UndoFailed",
          message,
          nonRetryable: attempt >= MOST_ATTEMPTS,
        });
      }
      await guard.succeeded(made, {});
    },
  };
};

const whyNot = (name: string, operation: unknown): string | undefined => {
  if (!isOperationName(name)) return "must have a name of letters and digits, a letter first";
  const functions = ["send", "read"].filter(
    (each) => !isRecord(operation) || typeof operation[each] !== "function",
  );
  return functions.length === 0 ? undefined : `must have the functions ${functions.join(", ")}`;
};

/**
 * Make the activities of operations of a user's own.
 *
 * @throws TypeError where an operation lacks a function.
 */
export const makeOwnOperationActivities = (
  runtime: PaymentsRuntime,
  operations: OwnOperations,
  options: Options,
): Readonly<Record<string, OwnActivities[keyof OwnActivities]>> => {
  const activities = new Map<string, OwnActivities[keyof OwnActivities]>();
  for (const [name, operation] of Object.entries(operations)) {
    const fault = whyNot(name, operation);
    if (fault !== undefined) throw new TypeError(`The operation ${name} ${fault}.`);
    const made = makeActivities(runtime, name, operation, options);
    const names = ownActivityNames(name);
    activities.set(names.send, made.send);
    activities.set(names.find, made.find);
    activities.set(names.read, made.read);
    activities.set(names.undo, made.undo);
  }
  return Object.fromEntries(activities);
};

/**
 * Check a request of an operation of a user's own.
 *
 * @param operation as its activity is called: `send/bookEntry`.
 * @returns every fault.
 */
export const ownRequestFaults = async (
  operations: OwnOperations,
  operation: OwnSend,
  request: unknown,
): Promise<ReadonlyArray<Fault>> => {
  const name = ownSendingOf(operation)?.makes ?? "";
  const own = lookUp(operations, name);
  return own === undefined
    ? [{ field: "", problem: `is of the operation ${name}, which the worker does not have` }]
    : faultsOf(own, request);
};
