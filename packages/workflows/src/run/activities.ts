import type { OfAccount, PaymentsActivities } from "@durable-payments/activities";
import { fallbackPollingQueue, serviceQueue } from "@durable-payments/protocol";
import {
  ActivityCancellationType,
  type ActivityOptions,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  TemporalFailure,
  workflowInfo,
} from "@temporalio/workflow";
import { accountPin } from "./account-pin.ts";
import { perRun } from "./scopes.ts";

const options = {
  startToCloseTimeout: "5 minutes",
  heartbeatTimeout: "15 seconds",
  scheduleToCloseTimeout: "365 days",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "1 minute" },
  // A cancelled send is waited for: its outcome must be known before anything is undone.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} satisfies ActivityOptions;

interface Called {
  (...input: ReadonlyArray<unknown>): Promise<unknown>;
  executeWithOptions(options: object, input: ReadonlyArray<unknown>): Promise<unknown>;
}

/** The same activities, each called by way of `call`, which may add to its input. */
const calledBy = <Activities extends object>(
  activities: Activities,
  call: (send: (...more: ReadonlyArray<unknown>) => Promise<unknown>) => Promise<unknown>,
): Activities =>
  new Proxy(activities, {
    get: (target, name) => {
      // The SDK makes a function of this shape of every name.
      const activity = Reflect.get(target, name) as Called;
      return Object.assign(
        (...input: ReadonlyArray<unknown>) => call((...more) => activity(...input, ...more)),
        {
          executeWithOptions: (given: object, input: ReadonlyArray<unknown>) =>
            call((...more) => activity.executeWithOptions(given, [...input, ...more])),
        },
      );
    },
  });

/** The local activity of a run that is under way, if one is. */
const underWay = perRun<{ last: Promise<unknown> | undefined }>(() => ({ last: undefined }));

/**
 * The same local activities, of which a run has one under way at a time. Where it has two, it goes on
 * after each answer by itself, and a replay after both at once: its commands come in another order
 * (temporalio/sdk-python issues 1578 and 1881 describe the same).
 */
const oneAtATime = <Activities extends object>(activities: Activities): Activities =>
  calledBy(activities, (send) => {
    const turn = underWay();
    const before = turn.last;
    const sent = before === undefined ? send() : before.then(() => send());
    const over = sent.then(
      () => undefined,
      () => undefined,
    );
    turn.last = over;
    void over.then(() => {
      if (turn.last === over) turn.last = undefined;
    });
    return sent;
  });

/** The last argument of an activity, the account of its run; none where the run does not know it. */
const accountArguments = (paymentAccount?: string): ReadonlyArray<OfAccount> => {
  const { name } = accountPin();
  if (paymentAccount === undefined && name === undefined) return [];
  return [
    {
      ...(paymentAccount !== undefined && { paymentAccount }),
      ...(name !== undefined && { paymentAccountName: name }),
    },
  ];
};

/** The same activities, each with the name of the run's account as its last argument, where the run was given one. */
export const ofNamedAccount = <Activities extends object>(activities: Activities): Activities =>
  calledBy(activities, (send) => send(...accountArguments()));

/**
 * The same activities of a run that was given the name of its account, each with the account that the run is pinned to:
 * a name may stand for another one by now. Those of a run without a name are for whichever worker takes them.
 */
export const ofPinnedAccount = <Activities extends object>(activities: Activities): Activities =>
  calledBy(activities, (send) => {
    const { account, name } = accountPin();
    return name === undefined ? send() : send(...accountArguments(account));
  });

/** Activities that send nothing: they cost no round trip to the server. */
export const localActivities = ofNamedAccount(
  oneAtATime(
    proxyLocalActivities<
      Pick<
        PaymentsActivities,
        | "checkOwnInput"
        | "checkRequests"
        | "isAbove"
        | "proveApproval"
        | "proveBatch"
        | "readAccount"
        | "readRetryInstruction"
      >
    >({
      startToCloseTimeout: "10 seconds",
    }),
  ),
);

/**
 * Ask the worker for the account of the run.
 *
 * @throws UnknownAccount
 */
export const learnAccount = (): Promise<string> =>
  accountPin().learn(() => localActivities.readAccount());

/**
 * The same activities, each with the account for which it is called as its last argument, which the
 * activities of a worker take off again. A run that does not know its account asks for it first.
 */
const ofAccount = <Activities extends object>(activities: Activities): Activities =>
  calledBy(activities, (send) => {
    const pin = accountPin();
    if (pin.account !== undefined) return send(...accountArguments(pin.account));
    return learnAccount().then((paymentAccount) => send(...accountArguments(paymentAccount)));
  });

/** Single readings that cost one event of the history, and no round trip: whoever asks tries elsewhere next. */
export const localReadings = ofAccount(
  oneAtATime(
    proxyLocalActivities<
      Pick<PaymentsActivities, "checkCardholder" | "checkPayout" | "describePayee">
    >({
      startToCloseTimeout: "5 seconds",
      retry: { maximumAttempts: 1 },
    }),
  ),
);

/**
 * The activities as steps call them. The activities decide themselves, by the operation's class in
 * the contract, whether a failure may be retried: a lost worker never makes a payment twice.
 *
 * `startToCloseTimeout` is above the longest call of the client, its retries and waits included.
 */
export const activities = ofAccount(
  proxyActivities<PaymentsActivities>({
    ...options,
    // Read for each call: a run's queue is known only while the run is under way.
    get taskQueue() {
      return serviceQueue(workflowInfo().taskQueue, accountPin().name);
    },
  }),
);

/** Whether a local activity failed in a way that another attempt may mend: the SDK throws the failure itself. */
const mayBeTriedAgain = (error: unknown): boolean =>
  error instanceof TemporalFailure &&
  !isCancellation(error) &&
  !(error instanceof ApplicationFailure && error.nonRetryable === true);

/**
 * Local activities, each tried once. What failed and may be tried again is left to the server: it shows why in the
 * meantime, and adds nothing to the history, while a local one would hold the workflow task for as long as it fails.
 */
const elseByServer = <Activities extends object>(
  local: Activities,
  byServer: Activities,
): Activities =>
  new Proxy(local, {
    get:
      (target, name) =>
      async (...input: ReadonlyArray<unknown>) => {
        // The SDK makes a function of this shape of every name.
        const called = (of: Activities) => (Reflect.get(of, name) as Called)(...input);
        try {
          return await called(target);
        } catch (error) {
          if (!mayBeTriedAgain(error)) throw error;
          return called(byServer);
        }
      },
  });

type JournalReadings = Pick<
  PaymentsActivities,
  "findEarlierSends" | "findForgottenSends" | "hasMade" | "recordFound"
>;

/** Reads and writes of the journal of the run's account; each costs no round trip to the server, unless it fails. */
export const localJournal: JournalReadings = elseByServer<JournalReadings>(
  ofAccount(
    oneAtATime(
      proxyLocalActivities<JournalReadings>({
        startToCloseTimeout: "30 seconds",
        retry: { maximumAttempts: 1 },
      }),
    ),
  ),
  activities,
);

/**
 * An activity of an operation of a user's own, called like those of the payment service.
 *
 * @param name of the activity, as `ownActivityNames` gives it.
 */
export const ownActivities =
  (name: string) =>
  (given: ActivityOptions, input: ReadonlyArray<unknown>): Promise<unknown> =>
    // The SDK makes a function of this shape of every name.
    (Reflect.get(activities, name) as Called).executeWithOptions(given, input);

/** The same activities on the queue of fallback polling: for those that wait beside another means. */
export const fallbackPollingActivities = ofAccount(
  proxyActivities<PaymentsActivities>({
    ...options,
    get taskQueue() {
      return fallbackPollingQueue(workflowInfo().taskQueue, accountPin().name);
    },
  }),
);
