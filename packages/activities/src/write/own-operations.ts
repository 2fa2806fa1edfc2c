/*
 * Operations that a user defines, with the protection of payments: a booking, an e-mail.
 *
 * The ledger knows nothing of the other service. So the definition says what a second send would do (`repeat`), and how
 * a lost result is found (`find`). An unknown error never counts as "no effect": only `refused` and `notCarriedOut` do.
 */
import { type Fault, redact } from "@durable-payments/client/effect";
import { isRecord, messageOf } from "@durable-payments/client/values";
import {
  grownWait,
  type JsonObject,
  type SendOutcome,
  type WritePolicy,
  type WriteRow,
} from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describeOwn } from "./describe.ts";
import type { Dispatch } from "./dispatch.ts";
import { NOT_CONFIRMED } from "./guard.ts";
import { KEY_LIFETIME_MS, type ReadMade, type WriteOperation } from "./operation.ts";
import { orAborted } from "../run-operation.ts";
import { keysOf } from "./request.ts";

/** Context of every function of an operation. */
export interface CallContext {
  /** Aborts when the time of the call is over: hand it to `fetch`. */
  readonly signal: AbortSignal;
}

/** Context of `send`. */
export interface SendContext extends CallContext {
  /** The key of this step, 36 characters: the same whenever this request is sent. Send it as the idempotency key. */
  readonly key: string;
  /** Returns the error for a request that certainly had no effect and is worth another try. Throw it. */
  readonly notCarriedOut: (reason: string, options?: { readonly retryAfterMs?: number }) => Error;
  /** Returns the error for a refused request, which had no effect. Throw it. */
  readonly refused: (reason: string) => Error;
}

/** Context of `find`. */
export interface FindContext extends CallContext {
  /** The keys under which it may have been sent. */
  readonly keys: ReadonlyArray<string>;
}

/** The result of an operation: its id, and anything else worth keeping, as JSON without secrets. */
export interface Made {
  readonly id: string;
}

/** An operation of your own that workflows send: a booking, an e-mail. It is protected as payments are. */
export interface OwnOperation<Input extends object, Result extends Made = Made> {
  /**
   * The effect of a second send. `none`: it takes effect twice. `keyed`: the service ignores a repeated key.
   * `idempotent`: it changes nothing more.
   */
  readonly repeat: "none" | "keyed" | "idempotent";
  /** Checks the request before it is sent: any library of Standard Schema. */
  readonly schema?: StandardSchemaV1<Input>;
  /** Longest time of one call, in milliseconds, default 30,000. */
  readonly timeoutMs?: number;
  /** Longest time for which `find` may miss a result, in milliseconds; default 60,000. */
  readonly listLagMs?: number;
  /** Sends the request once. After any error except `refused` and `notCarriedOut`, the outcome is unknown. */
  send(input: Input, context: SendContext): Promise<Result>;
  /** Finds the result under one of the keys; undefined if there is certainly none. Without `find`, a person is asked. */
  find?(input: Input, context: FindContext): Promise<Result | undefined>;
  /** Reads the object of an id that a person gave; undefined if there is none. */
  read?(id: string, context: CallContext): Promise<Result | undefined>;
  /** Removes the result. It may be called again, so it must be safe to repeat. */
  undo?(id: string, context: CallContext): Promise<void>;
}

/** An operation of any input. */
export type AnyOwnOperation = Omit<OwnOperation<never>, "schema"> & {
  readonly schema?: StandardSchemaV1;
};

/** Operations of a worker by their names, each with a different input. */
export type OwnOperations = Readonly<Record<string, AnyOwnOperation>>;

/**
 * Defines an operation of your own, which workflows call by `ownOperation`.
 *
 * @returns its argument, with its type checked.
 * @example
 * ```ts
 * export const reserveGoods = defineOperation<Reserve>({
 *   repeat: "keyed",
 *   send: ({ orderId }, { key, signal }) => reserve(orderId, { key, signal }),
 * });
 * ```
 */
export const defineOperation = <Input extends object, Result extends Made = Made>(
  operation: OwnOperation<Input, Result>,
): OwnOperation<Input, Result> => operation;

const TIMEOUT_MS = 30_000;
const SCHEMA_TIMEOUT_MS = 10_000;
const LIST_LAG_MS = 60_000;

/** Says the outcome of a send, as the function that sent it knows. */
class Said extends Error {
  readonly outcome: SendOutcome;
  constructor(outcome: Exclude<SendOutcome, { is: "made" }>) {
    super(outcome.message);
    this.outcome = outcome;
  }
}

/** Runs a function of an operation for at most its time, even if it ignores its signal. */
const within = <A>(timeoutMs: number, run: (context: CallContext) => Promise<A>): Promise<A> => {
  const signal = AbortSignal.timeout(timeoutMs);
  return orAborted(() => run({ signal }), signal);
};

/** Returns what is kept of a result; undefined if the id is missing, or not a text. */
const keptOf = (made: unknown): (JsonObject & Made) | undefined => {
  const id = textAt(made, "id");
  if (id === undefined) return undefined;
  // A copy as JSON, with its id.
  return { ...(JSON.parse(JSON.stringify(made)) as JsonObject), id };
};

/** Temporal takes no failure of megabytes, such as a page of HTML. */
const REASON_CHARACTERS = 500;

/** Words what a function of an operation has thrown, or gives as a reason. */
const reasonOf = (given: unknown): string =>
  redact(messageOf(given)).slice(0, REASON_CHARACTERS).toWellFormed();

/** However long an operation asks to wait, it is sent again within a day. */
const LONGEST_WAIT_MS = 86_400_000;

/** Returns a wait; undefined if it is invalid. A date as `Retry-After` makes NaN, and a failure with it would end the worker. */
const waitIn = (given: unknown): number | undefined =>
  typeof given === "number" && given >= 0 ? Math.min(given, LONGEST_WAIT_MS) : undefined;

/** Makes the write operation of a user's own operation. */
export const makeOwnOperation = (name: string, given: AnyOwnOperation): WriteOperation => {
  // Its schema, or its own function, checks the request: the engine knows requests only as JSON.
  const own = given as unknown as OwnOperation<JsonObject>;
  const { repeat, schema, timeoutMs = TIMEOUT_MS } = own;
  const policy: WritePolicy = {
    repeat,
    isListed: own.find !== undefined && repeat === "none",
    whenLost: "ask",
    keyLifetimeMs: KEY_LIFETIME_MS,
    listLagMs: own.listLagMs ?? LIST_LAG_MS,
    requestTimeoutMs: timeoutMs,
  };

  const send = async ({ attempt, guard, key, request }: Dispatch): Promise<SendOutcome> => {
    await guard.permit();
    try {
      const made: unknown = await within(timeoutMs, ({ signal }) =>
        own.send(request, {
          key,
          signal,
          refused: (given) => {
            const reason = reasonOf(given);
            const message = `${name} was refused: ${reason}`;
            return new Said({ is: "refused", message, details: { reason } });
          },
          notCarriedOut: (reason, { retryAfterMs: given } = {}) => {
            const message = `${name} had no effect: ${reasonOf(reason)}`;
            const retryAfterMs = waitIn(given) ?? grownWait(attempt);
            return new Said({ is: "later", message, retryAfterMs });
          },
        }),
      );
      const result = keptOf(made);
      return result === undefined
        ? { is: "lost", message: `${name} returned no id.` }
        : { is: "made", id: result.id, result };
    } catch (error) {
      if (error instanceof Said) return error.outcome;
      return { is: "lost", message: `${name} failed: ${reasonOf(error)}` };
    }
  };

  const read = async (id: string): Promise<ReadMade> => {
    if (own.read === undefined) return { is: "fits", result: { id, ...NOT_CONFIRMED } };
    const result = keptOf(await within(timeoutMs, async (context) => own.read?.(id, context)));
    return result === undefined
      ? { is: "fault", fault: `Nothing has the id ${id}.` }
      : { is: "fits", result };
  };

  return {
    name,
    idField: "id",
    policy: () => policy,
    faults: async (request) => (schema === undefined ? [] : await schemaFaults(schema, request)),
    describe: (request) => ({
      ...describeOwn(name, request),
      // A result found by its key is not compared, but `find` needs the request.
      ...(own.find !== undefined && { facts: { request } }),
    }),
    send,
    search:
      own.find === undefined
        ? undefined
        : async (row: WriteRow, now: number) => {
            const keys = keysOf(row);
            const request = row.request.facts["request"];
            const input = isRecord(request) ? request : {};
            const listedFrom = (row.until ?? now) + policy.listLagMs;
            try {
              const made: unknown = await within(timeoutMs, async ({ signal }) =>
                own.find?.(input, { keys, signal }),
              );
              const result = keptOf(made);
              if (result !== undefined) return { is: "found", id: result.id, result, by: "key" };
              // An empty list, or null, may mean that there is none, or that it was not asked well.
              if (made !== undefined)
                throw new Error("find must return an object with an id, or undefined");
            } catch (error) {
              const message = `The result of ${name} could not be looked up: ${reasonOf(error)}`;
              return { is: "later", message, isFaulty: false, at: now + policy.requestTimeoutMs };
            }
            return now < listedFrom
              ? { is: "later", message: "It is not found yet.", isFaulty: false, at: listedFrom }
              : { is: "absent" };
          },
    read: (_row, id) => read(id),
    payee: undefined,
    undo:
      own.undo === undefined
        ? undefined
        : (id) => ({
            request: { id },
            operation: makeOwnOperation(`undo ${name}`, {
              repeat: "idempotent",
              timeoutMs,
              send: async ({ id: made }: Made, context: SendContext) => {
                await own.undo?.(made, context);
                return { id: made };
              },
            }),
          }),
  };
};

const nameOf = (segment: PropertyKey | StandardSchemaV1.PathSegment): string =>
  String(typeof segment === "object" ? segment.key : segment);

/**
 * Checks a request by a schema. The request stays as it is: values that the schema would add, such as defaults, are
 * ignored.
 *
 * @returns every fault, by the path of its field; numbers of accounts and cards in their texts are masked. A single fault
 *   of the whole request if the schema throws or takes too long.
 */
const schemaFaults = async (
  schema: StandardSchemaV1,
  request: JsonObject,
): Promise<ReadonlyArray<Fault>> => {
  try {
    const { issues = [] } = await within(SCHEMA_TIMEOUT_MS, async () =>
      schema["~standard"].validate(request),
    );
    return issues.map(({ message, path = [] }) => ({
      field: path.map(nameOf).join("."),
      problem: reasonOf(message),
    }));
  } catch (error) {
    const why = reasonOf(error);
    return [{ field: "", problem: `cannot be checked: ${why}; correct the schema` }];
  }
};
