import { makePaymentsActivities, type PaymentsActivities } from "@durable-payments/activities";
import {
  BeforeSend,
  defaultClientOptions,
  type Input,
  OutcomeUnknown,
  type Payout,
  PaymentsClient,
  type PaymentsClientShape,
  Unavailable,
} from "@durable-payments/api-core";
import { asyncLocalStorage, Context, type Info } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import { Effect, Layer, ManagedRuntime } from "effect";
import { askingJournal, type JournalCall } from "./journal-io.ts";
import type { ActivityOutcome } from "./run-history.ts";
import { idle, setTime } from "./virtual-time.ts";

/** An attempt of an activity, as a worker executes it. */
export interface Attempt {
  readonly workflowId: string;
  readonly runId: string;
  readonly seq: number;
  readonly attempt: number;
  readonly type: string;
  readonly args: ReadonlyArray<unknown>;
  readonly startedAt: number;
  readonly startToCloseMs: number;
}

/** What an activity requests of the service, the server or the journal. */
export type IoRequest =
  | { readonly io: "listPayouts" }
  | { readonly io: "retrievePayout"; readonly payoutId: string }
  | { readonly io: "createPayout"; readonly payout: Input<"createPayout"> }
  /** The runs whose PaymentIds have one of these. */
  | { readonly io: "listRuns"; readonly query: string }
  | { readonly io: "journal"; readonly call: JournalCall }
  /** Whether its run is open still: "open" or "ended". */
  | { readonly io: "runState" };

/** The answer, and when it comes. */
export interface IoAnswer {
  readonly at: number;
  readonly answer: unknown;
}

/** The answer to an activity whose answer is lost. */
export const NO_ANSWER = "no answer";

/** The answer to an activity whose request the service rejects. */
export const REJECTED = "not accepted";

/** How long the service takes at most, and how far lists lag. */
export interface Timing {
  readonly requestTimeoutMs: number;
  readonly listLagMs: number;
  /** How far the server's list of workflows lags behind what they wrote. */
  readonly visibilityLagMs: number;
}

interface Waiting {
  readonly request: IoRequest;
  readonly answer: (answer: unknown) => void;
}

/** The execution that is going on now: one at a time. */
let current: Array<Waiting> = [];

const ask = (request: IoRequest): Promise<unknown> =>
  new Promise((answer) => {
    current.push({ request, answer });
  });

const asks = (request: IoRequest) => Effect.promise(() => ask(request));

const clientWith = ({
  listLagMs,
  requestTimeoutMs,
  visibilityLagMs,
}: Timing): PaymentsClientShape => {
  const known: Partial<PaymentsClientShape> = {
    options: {
      ...defaultClientOptions,
      clientId: "explored",
      baseUrl: "https://service.test",
      requestTimeoutMs,
      assumptions: {
        ...defaultClientOptions.assumptions,
        listLagSeconds: listLagMs / 1000,
        visibilityLagSeconds: visibilityLagMs / 1000,
      },
    } as PaymentsClientShape["options"],
    ping: () => Effect.succeed({ message: "pong" }),
    // The answers are such as this client's decoding would give.
    listPayouts: () =>
      Effect.map(asks({ io: "listPayouts" }), (listed) => ({
        item_list: listed as ReadonlyArray<Payout>,
        unreadable: [],
        total_item: (listed as ReadonlyArray<Payout>).length,
        total_page: 1,
      })),
    retrievePayout: ({ payout_id }) =>
      Effect.map(asks({ io: "retrievePayout", payoutId: payout_id }), (found) => found as Payout),
    createPayout: (request) =>
      Effect.gen(function* () {
        const beforeSend = yield* BeforeSend;
        yield* beforeSend("createPayout");
        const made = yield* asks({ io: "createPayout", payout: request });
        if (made === REJECTED) {
          return yield* new Unavailable({
            operation: "createPayout",
            carriedOut: "no",
            message: "The service rejected it.",
          });
        }
        if (made !== NO_ANSWER) return made as Payout;
        return yield* new OutcomeUnknown({
          operation: "createPayout",
          carriedOut: "unknown",
          message: "No answer came.",
        });
      }),
  };
  return new Proxy(known, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (value === undefined) throw new Error(`The scenario's service has no ${String(name)}.`);
      return value;
    },
  }) as PaymentsClientShape;
};

/** The activities that scenarios need. */
type Activities = Pick<
  PaymentsActivities,
  | "createPayout"
  | "findForgottenSends"
  | "findOwners"
  | "findPayouts"
  | "ping"
  | "readAccount"
  | "recordFound"
  | "retrievePayout"
>;

/** Make the activities that workers execute: whatever they request waits for an answer of the explorer. */
export const makeActivities = (timing: Timing): PaymentsActivities =>
  makePaymentsActivities(ManagedRuntime.make(Layer.succeed(PaymentsClient, clientWith(timing))), {
    readPause: async () => undefined,
    readRunState: async () => (await ask({ io: "runState" })) as "open" | "ended",
    readEarlierRuns: async () => [],
    journal: askingJournal((call) => ask({ io: "journal", call })),
  });

async function* listRuns(query: string) {
  yield* (await ask({ io: "listRuns", query })) as ReadonlyArray<{ readonly workflowId: string }>;
}

const contextOf = (attempt: Attempt): Context => {
  const info = {
    workflowExecution: { workflowId: attempt.workflowId, runId: attempt.runId },
    attempt: attempt.attempt,
    activityId: String(attempt.seq),
    activityType: attempt.type,
    taskQueue: "explored",
    isLocal: false,
    scheduledTimestampMs: attempt.startedAt,
    currentAttemptScheduledTimestampMs: attempt.startedAt,
    startToCloseTimeoutMs: attempt.startToCloseMs,
  } as unknown as Info;
  // Of the context's many parts these are what the activities use.
  const context = Object.create(Context.prototype) as Context;
  return Object.assign(context, {
    info,
    cancellationSignal: new AbortController().signal,
    heartbeat: () => undefined,
    _client: {
      workflow: { list: ({ query }: { readonly query: string }) => listRuns(query) },
      // No run continues another one.
      workflowService: {
        getWorkflowExecutionHistory: async () => ({
          history: { events: [{ workflowExecutionStartedEventAttributes: {} }] },
        }),
      },
      options: { namespace: "explored" },
    },
    log: { info: () => undefined, warn: () => undefined, debug: () => undefined },
  });
};

/** The outcome for the server; of an error of another kind its name, so that the attempt is repeated. */
const outcomeOf = (error: unknown): ActivityOutcome => {
  if (!(error instanceof ApplicationFailure)) {
    const { message, name } = error instanceof Error ? error : new Error(String(error));
    if (name !== "JournalUnavailable") throw error;
    return { failure: { type: name, message, nonRetryable: false, details: [] } };
  }
  const { details, message, nonRetryable, type } = error;
  return {
    failure: {
      type: type ?? "",
      message,
      nonRetryable: nonRetryable === true,
      details: details ?? [],
    },
  };
};

/** An activity that a worker executes: it waits for the answer to each of its requests. */
export class ActivityExecution {
  readonly #waiting: Array<Waiting> = [];
  #done: ActivityOutcome | undefined;
  #fault: Error | undefined;

  private constructor() {}

  static async begin(activities: PaymentsActivities, attempt: Attempt): Promise<ActivityExecution> {
    const execution = new ActivityExecution();
    current = execution.#waiting;
    setTime(attempt.startedAt);
    const activity = activities[attempt.type as keyof Activities] as
      | ((...args: ReadonlyArray<unknown>) => Promise<unknown>)
      | undefined;
    if (activity === undefined) throw new Error(`No scenario has the activity ${attempt.type}.`);
    void asyncLocalStorage
      .run(contextOf(attempt), () => activity(...attempt.args))
      .then(
        (result) => {
          execution.#done = { result };
        },
        (error: unknown) => {
          execution.#done = outcomeOf(error);
        },
      )
      .catch((fault: unknown) => {
        execution.#fault = new Error("An activity has a fault.", { cause: fault });
      });
    await execution.#settle();
    return execution;
  }

  /** What it waits for; undefined when it is done. */
  get request(): IoRequest | undefined {
    return this.#waiting[0]?.request;
  }

  /** Its outcome; undefined while it waits. */
  get done(): ActivityOutcome | undefined {
    return this.#done;
  }

  async answer({ answer, at }: IoAnswer): Promise<void> {
    current = this.#waiting;
    setTime(at);
    this.#waiting.shift()?.answer(answer);
    await this.#settle();
  }

  async #settle(): Promise<void> {
    for (let turn = 0; turn < 50; turn++) {
      await idle();
      if (this.#fault !== undefined) throw this.#fault;
      if (this.#done !== undefined || this.#waiting.length > 0) return;
    }
    throw new Error("An activity waits for something that the explorer does not know.");
  }
}
