import { findEnd, notifyRuns } from "@durable-payments/activities";
import type { Connected } from "@durable-payments/control/connection";
import { planRetryOf, retryPayment } from "@durable-payments/control/retry";
import type { Question } from "@durable-payments/ledger";
import { isOpenStatus } from "@durable-payments/protocol";
import { answer, approve, reject } from "@durable-payments/control/decide";
import { approvalsOf } from "@durable-payments/control/show";
import { type Workflow, type WorkflowHandle, WorkflowNotFoundError } from "@temporalio/client";
import type { WorkflowResultType } from "@temporalio/common";
import {
  type AskedWrite,
  askedOf,
  describeStanding,
  WaitedTooLong,
  withinLimit,
} from "./standing.ts";
import { pause, type TestClock } from "./test-server.ts";

/** A question to a person about the outcome of a write. */
export interface Asked extends Question {
  readonly operation: string;
  readonly step: string;
}

/** A person's answer: the id at the service, or to send again, or to send nothing more. */
export type TestAnswer =
  | { readonly found: string }
  | { readonly resend: true }
  | { readonly end: true };

/** A run of a test. Each wait ends after the test's `waitLimitMs`, with an error that describes the state of the run. */
export interface PaymentsRun<W extends Workflow = Workflow> {
  readonly workflowId: string;
  /** The SDK's handle, for signals, queries and other calls. */
  readonly handle: WorkflowHandle<W>;
  /**
   * Awaits its end. The server's time passes until then, unless the run waits for a person.
   *
   * @returns its result.
   * @throws WorkflowFailedError of the SDK if it fails; WaitedTooLong.
   */
  readonly result: () => Promise<WorkflowResultType<W>>;
  /**
   * Waits until it has come to an activity, such as `awaitPayout`: also if the activity, or the run, has ended meanwhile.
   *
   * @throws WaitedTooLong
   */
  readonly untilStage: (activityType: string) => Promise<void>;
  /**
   * Waits until it asks a person about the outcome of a write.
   *
   * @returns the question: its step, its reason, and the possible matches.
   * @throws WaitedTooLong if it asks nothing.
   */
  readonly untilAsked: () => Promise<Asked>;
  /**
   * Waits until its payment needs a second person, and approves it as that person.
   *
   * @param by name of the person, who did not start it.
   * @throws WaitedTooLong if nothing is to be approved; NotAllowed of `durable-payments/start`.
   */
  readonly approve: (by: string) => Promise<void>;
  /**
   * Waits as `approve` does, but rejects it.
   *
   * @param by name of the person.
   * @param reason the reason, with which the run fails.
   */
  readonly reject: (by: string, reason: string) => Promise<void>;
  /**
   * Waits until it asks a person, and answers as that person.
   *
   * @param by name of the person.
   * @param given such as `{ resend: true }`, `{ found: payout_id }` or `{ end: true }`.
   * @throws WaitedTooLong if it asks nothing; NotAllowed or InvalidInput of `durable-payments/start`.
   */
  readonly answer: (by: string, given: TestAnswer) => Promise<void>;
  /**
   * Retries the failed run, as `durable-payments retry` does.
   *
   * @param by name of the person.
   * @param how `isRestarted` starts a workflow of your own again, instead of a reset, which the time-skipping server lacks.
   * @returns the run that continues.
   * @throws CannotReset on the time-skipping server, unless it is restarted; NotAllowed or InvalidInput of `durable-payments/start`.
   */
  readonly retry: (by: string, how?: { readonly isRestarted?: boolean }) => Promise<PaymentsRun<W>>;
}

/** The parts of a test that its runs use. */
export interface RunContext {
  readonly operations: Connected;
  readonly clock: TestClock;
  /** Longest time of the wait that begins now. */
  readonly waitLimitMs: () => number;
  /** Rejects as soon as the test cannot continue, such as if its worker has failed. */
  readonly broken: Promise<never>;
  /** Notes a run that the test ends and replays. */
  readonly note: (workflowId: string, runId: string) => void;
}

const LOOK_EVERY_MS = 20;
const HOW = "a test";
/** Nothing that is ever shown has this hash. */
const UNREAD = "0".repeat(32);
const REASON = "the test says so";
const CANNOT_RESET =
  'Temporal\'s time-skipping server cannot reset a run of your own workflow, as durable-payments retry does: test it with server: "dev", or start the workflow again by retry(by, { isRestarted: true }). Nothing was done.';

/** The server of the test cannot reset a run; the message says what to do. */
export class CannotReset extends Error {
  override readonly name = "CannotReset";
}

/** Makes the functions of a run from its handle; a child may not have been started yet. */
export const paymentsRun = <W extends Workflow>(
  context: RunContext,
  handle: WorkflowHandle<W>,
): PaymentsRun<W> => {
  const { broken, clock, note, operations, waitLimitMs } = context;
  const { client, ledger } = operations;
  const { workflowId } = handle;
  const describe = () =>
    handle.describe().catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });

  const within = <A>(what: string, wait: (signal: AbortSignal) => Promise<A>): Promise<A> =>
    Promise.race([
      broken,
      withinLimit(
        waitLimitMs(),
        // Ended by the limit, it has no call under way any more.
        (signal) => client.withAbortSignal(signal, () => wait(signal)),
        async () =>
          `The run ${workflowId} ${what} within the limit. ${await describeStanding(operations, handle)}`,
      ),
    ]);

  const until = <A>(what: string, find: () => Promise<A | undefined>): Promise<A> =>
    within(what, async (signal) => {
      let found: A | undefined;
      await clock.passUntil(async () => {
        signal.throwIfAborted();
        found = await find();
        if (found !== undefined) return true;
        const described = await describe();
        if (described !== undefined && !isOpenStatus(described.status.name)) {
          throw new WaitedTooLong(
            `The run ${workflowId} has ended (${described.status.name}), and ${what}.`,
          );
        }
        return false;
      });
      // It passes until something is found.
      return found as A;
    });

  /** The clock stops while a run waits for a person: a decision takes no time. */
  const untilEnded = (signal: AbortSignal): Promise<void> =>
    clock.passUntil(async () => {
      for (;;) {
        const described = await describe();
        signal.throwIfAborted();
        if (described === undefined) return false;
        if (!isOpenStatus(described.status.name)) return true;
        const isBusy = (described.raw.pendingActivities ?? []).length > 0;
        if (isBusy || (await askedOf(ledger, workflowId)).length === 0) return false;
        await pause(LOOK_EVERY_MS);
      }
    });

  const untilRow = (kind: Question["kind"], what: string): Promise<AskedWrite> =>
    until(what, async () =>
      (await askedOf(ledger, workflowId)).find(({ question }) => question.kind === kind),
    );

  const untilApproval = () => untilRow("approval", "did not ask for an approval");
  const untilQuestion = () => untilRow("outcome", "did not have a question");
  /** As the tracker does. */
  const notify = () => notifyRuns(ledger, client);

  return {
    workflowId,
    handle,
    result: () =>
      within("did not end", async (signal) => {
        await untilEnded(signal);
        // The tracker finds ends by visibility queries, which the time-skipping server does not answer.
        await ledger.recordEnds([await findEnd(client, workflowId)]);
        return handle.result();
      }),
    untilStage: async (wanted) => {
      await until(
        `did not reach the activity ${wanted} (only activities count: no timer, signal or child)`,
        async () => {
          // The history has ended activities as well.
          const history = (await describe()) && (await handle.fetchHistory());
          return history?.events?.find(
            (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === wanted,
          );
        },
      );
    },
    untilAsked: async () => {
      const { operation, question, step } = await untilQuestion();
      return { ...question, operation, step };
    },
    approve: async (by) => {
      const { question, workflowId: root } = await untilApproval();
      const items = await approvalsOf(operations.ledger, root);
      const hash = items.find((item) => item.question === question.id)?.hash ?? UNREAD;
      await approve(operations, root, { by, how: HOW, question: question.id, hash });
      await notify();
    },
    reject: async (by, reason) => {
      const { question, workflowId: root } = await untilApproval();
      await reject(operations, root, { by, how: HOW, reason, question: question.id });
      await notify();
    },
    answer: async (by, given) => {
      const { question, workflowId: root } = await untilQuestion();
      await answer(operations, root, {
        by,
        how: HOW,
        reason: REASON,
        question: question.id,
        ...("found" in given
          ? { choose: "found", found: given.found }
          : { choose: "resend" in given ? "resend" : "end" }),
      });
      await notify();
    },
    retry: async (by, how = {}) => {
      const acting = { ...how, by, how: HOW, reason: REASON };
      const { plan } = await planRetryOf(operations, workflowId, acting);
      if (plan.way === "reset" && clock.skipsTime) throw new CannotReset(CANNOT_RESET);
      const { runId } = await retryPayment(operations, workflowId, acting);
      note(workflowId, runId);
      return paymentsRun(context, client.workflow.getHandle<W>(workflowId, runId));
    },
  };
};
