import type { Made, Matches, OwnResult } from "@durable-payments/activities";
import {
  type Duration,
  type HumanTask,
  intentOf,
  isOperationName,
  ownActivityNames,
  textAt,
} from "@durable-payments/protocol";
import { ownActivities } from "../run/activities.ts";
import { durationOf } from "../run/durations.ts";
import type { Run } from "../run/run.ts";
import { READ_OPTIONS } from "./reconcile.ts";
import { sendAndReconcile } from "./send.ts";

interface CommonDefinition<Request> {
  /** Letters and digits, as the worker names it in `operations`: `bookEntry`. */
  readonly name: string;
  /** What goes on while it is sent, for a person: `booking the fee`. */
  readonly note: string;
  /** What a person is shown of a request, where the run asks: no number of an account or card as a whole. */
  readonly shown: (request: Request) => Readonly<Record<string, unknown>>;
}

/** An operation of your own, as workflows send it. */
export type OperationDefinition<Request> = CommonDefinition<Request> &
  (
    | {
        /**
         * The service carries out one request of a key once: without an answer it is sent again under the same key.
         * The key is derived from workflow id and step.
         */
        readonly repeat: "keyed";
        /** How long the service knows a key again, default for ever: later a person is asked. */
        readonly keyLifetime?: Duration;
      }
    | {
        /**
         * A second send is carried out a second time: without an answer the worker's `list` and `match` say what
         * became of it, or a person.
         */
        readonly repeat: "once";
        /** The fields by which the list could show two requests alike: runs that send such a one know of each other. */
        readonly alike: (request: Request) => ReadonlyArray<string>;
      }
  );

/** An operation whose key may be known for a while alone. */
interface KeyedLifetime {
  readonly name: string;
  readonly keyLifetime?: Duration;
}

/** How one send of an operation is called. */
export interface SendOptions {
  /** Name of the step, default that of the operation: each send of a run needs its own. */
  readonly step?: string;
  /** Undo it where the run fails or is cancelled later: what is undone, for a person, `reverse the booking`. */
  readonly undo?: string;
}

/**
 * A step that sends an operation of your own, exactly once.
 *
 * @returns the answer of the worker's function; what its `read` or `list` gave where the answer was lost.
 * @throws Refused, InvalidRequest, Abandoned as {@link sendAndReconcile}.
 */
export type OwnStep<Request, Answer> = (
  run: Run,
  request: Request,
  options?: SendOptions,
) => Promise<Answer>;

/** A request with the key of its step. */
type Keyed<Request> = Request & { readonly unique_request_id?: string };

/**
 * Define a step that sends an operation of your own: with progress, journal, reconciliation, a person who is asked,
 * retries and undoing, as `createPayout` has them. The worker has the functions that send it, under the same name:
 * `makePaymentsActivities(runtime, { operations: { bookEntry } })`.
 *
 * @param definition its name, and how it may be repeated where an answer is lost.
 * @returns the step; call it in the body of `run.execute`.
 * @throws TypeError where the name is none, or `keyLifetime` is no length of time.
 * @example
 * ```ts
 * const bookEntry = defineOperation<Entry, BookedEntry>({
 *   name: "bookEntry",
 *   repeat: "keyed",
 *   note: "booking the entry",
 *   shown: ({ amount, ledger }) => ({ amount, ledger }),
 * });
 * const booked = await bookEntry(run, entry, { undo: "reverse the entry" });
 * ```
 */
export const defineOperation = <Request extends object, Answer extends Made>(
  definition: OperationDefinition<Request>,
): OwnStep<Request, Answer> => {
  const { name, note, shown } = definition;
  if (!isOperationName(name)) {
    throw new TypeError(`The operation ${name} must have a name of letters and digits.`);
  }
  const { find, idField, read, send, undo } = ownActivityNames(name);
  const keyLifetimeMs = definition.repeat === "keyed" ? lifetimeOf(definition) : Infinity;
  const shownOf = (result: OwnResult): HumanTask["candidates"][number] => ({
    ...shownScalars(result.made),
    [idField]: textAt(result, idField) ?? "",
  });

  return (run, request, { step = name, undo: undoes } = {}) => {
    let made: string | undefined;
    if (undoes !== undefined) {
      run.onFailure({
        what: undoes,
        how: async () => {
          if (made !== undefined) {
            await ownActivities(undo)({ summary: undoes, scheduleToCloseTimeout: "1 day" }, [
              { [idField]: made },
            ]);
          } else if (run.isInDoubt(step)) {
            throw new Error(`${step} may have been carried out, and its id is not known`);
          }
        },
      });
    }
    return run.step(step, note, async () => {
      // The worker's functions are those of the definition's types: the two share the name.
      const asAnswer = (answer: unknown): OwnResult => answer as OwnResult;
      const result = await sendAndReconcile<Keyed<Request>, OwnResult>(run, {
        step,
        operation: send,
        request,
        intent: (sent) =>
          intentOf(send, definition.repeat === "once" ? definition.alike(sent) : [step]),
        isKeyed: true,
        send: async (sent, intent) =>
          asAnswer(await ownActivities(send)({ summary: note }, [sent, intent])),
        ...(definition.repeat === "once"
          ? {
              whenLost: "reconcile",
              reconciler: {
                find: async (sent, search) =>
                  // As the worker's activity of this name returns it.
                  (await ownActivities(find)({ ...READ_OPTIONS, summary: `Find: ${note}` }, [
                    { request: sent, ...search },
                  ])) as Matches<OwnResult>,
                shown: shownOf,
              },
            }
          : { whenLost: "resend", keyLifetimeMs }),
        shown: (sent) => ({ ...shown(sent), unique_request_id: sent.unique_request_id ?? "" }),
        idsWanted: [idField],
        fromIds: async (ids, sent, candidates, givenBy) => {
          const id = ids[idField] ?? "";
          const isAskedAbout = candidates?.some((candidate) => candidate[idField] === id) === true;
          // What the journal has is what was sent; what a person gives may be a mistake.
          const isGiven = candidates !== undefined || givenBy !== undefined;
          const key = sent.unique_request_id;
          const compared = isGiven && !isAskedAbout && { request: sent, keys: key ? [key] : [] };
          return asAnswer(
            await ownActivities(read)({ summary: `Read ${id}` }, [{ id, ...compared }]),
          );
        },
        ids: (answer) => ({ [idField]: textAt(answer, idField) ?? "" }),
      });
      made = textAt(result, idField);
      // Of the definition's type, as the worker's function returns it.
      return result.made as Answer;
    });
  };
};

/** How long a key is known: one that is no time would let a request be sent again for ever. */
const lifetimeOf = ({ keyLifetime, name }: KeyedLifetime): number => {
  if (keyLifetime === undefined) return Infinity;
  const ms = durationOf(keyLifetime);
  if (ms !== undefined && ms >= 0) return ms;
  throw new TypeError(
    `The keyLifetime of the operation ${name} must be a duration, such as "24 hours", not ${String(keyLifetime)}.`,
  );
};

/** What is listed, as a person is shown it: its plain fields. */
const shownScalars = (made: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(made).flatMap(([field, value]) =>
      typeof value === "string" || typeof value === "number" ? [[field, String(value)]] : [],
    ),
  );
