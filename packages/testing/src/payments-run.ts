import { defaultAssumptions } from "@durable-payments/api-core";
import type { Temporal } from "@durable-payments/operations";
import {
  type AskedTask,
  decide,
  isApproval,
  readApproval,
  readHumanTask,
  resolveRun,
} from "@durable-payments/operations/decisions";
import {
  approveUpdate,
  type Decision,
  type HumanTask,
  isAskingStage,
  PAYMENT_STAGE,
  type Progress,
} from "@durable-payments/protocol";
import {
  type Workflow,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
  WorkflowNotFoundError,
} from "@temporalio/client";
import type { WorkflowResultType } from "@temporalio/common";
import { asksPerson, describeStanding, readProgress } from "./standing.ts";
import { pause, type TestClock } from "./test-clock.ts";
import { WaitedTooLong, withinLimit } from "./wait-limit.ts";

/** A run of a test. Each of its waits ends after the test's `waitLimitMs` with an error that says where the run stands. */
export interface PaymentsRun<
  W extends Workflow = Workflow,
  Handle extends WorkflowHandle<W> = WorkflowHandleWithFirstExecutionRunId<W>,
> {
  readonly workflowId: string;
  /** The SDK's handle, for signals, queries and whatever is not here. */
  readonly handle: Handle;
  /**
   * Awaits its end; the server's time passes meanwhile, unless the run asks a person.
   *
   * @returns its result.
   * @throws WorkflowFailedError of the SDK where it fails; WaitedTooLong.
   */
  readonly result: () => Promise<WorkflowResultType<W>>;
  /**
   * Asks where it stands.
   *
   * @returns its steps; undefined where its workflow does not begin with `beginRun()`.
   */
  readonly progress: () => Promise<Progress | undefined>;
  /**
   * Waits until it is at a step: `awaitPayout`.
   *
   * @throws WaitedTooLong
   */
  readonly untilStage: (stage: string) => Promise<void>;
  /**
   * Waits until it asks a person.
   *
   * @returns what it asks: why, what was sent, what was found, and which answers there are.
   * @throws WaitedTooLong where it asks nothing.
   */
  readonly untilAsked: () => Promise<HumanTask>;
  /**
   * Waits until its payment needs a second person, and approves it as that person.
   *
   * @param by name of whoever approves; not the one who started it.
   * @throws WaitedTooLong where nothing is to be approved; Refused of `@durable-payments/operations`.
   */
  readonly approve: (by: string) => Promise<void>;
  /**
   * The same, but rejects it.
   *
   * @param by name of whoever rejects.
   * @param reason why, which the run fails with.
   */
  readonly reject: (by: string, reason: string) => Promise<void>;
  /**
   * Waits until it asks a person, and answers as that person.
   *
   * @param by name of whoever answers.
   * @param decision such as `{ resend: true }`, `{ found: { payout_id } }` or `{ abandon: "why" }`.
   * @throws WaitedTooLong where it asks nothing; Refused or InvalidInput of `@durable-payments/operations`.
   */
  readonly resolve: (by: string, decision: Decision) => Promise<void>;
}

/** What a run needs of its test. */
export interface RunContext {
  readonly temporal: Temporal;
  readonly clock: TestClock;
  readonly waitLimitMs: number;
  /** Rejects as soon as the test cannot go on, its worker having failed, say. */
  readonly broken: Promise<never>;
}

const LOOK_EVERY_MS = 20;

/** Make what a test does with a run of a handle; a child may not have been started yet. */
export const paymentsRun = <W extends Workflow, Handle extends WorkflowHandle<W>>(
  { broken, clock, temporal, waitLimitMs }: RunContext,
  handle: Handle,
): PaymentsRun<W, Handle> => {
  const { connection } = temporal;
  const { workflowId } = handle;
  const describe = () =>
    handle.describe().catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    });
  const progress = () => readProgress(connection, handle);

  const within = <A>(what: string, wait: (signal: AbortSignal) => Promise<A>): Promise<A> =>
    Promise.race([
      broken,
      withinLimit(
        waitLimitMs,
        // Ended by the limit, it has no call under way any more.
        (signal) => connection.withAbortSignal(signal, () => wait(signal)),
        async () =>
          `The run ${workflowId} ${what} within the limit. ${await describeStanding(connection, handle)}`,
      ),
    ]);

  const until = (what: string, isSo: (progress: Progress) => boolean): Promise<void> =>
    within(what, (signal) =>
      clock.passUntil(async () => {
        signal.throwIfAborted();
        const [described, seen] = await Promise.all([describe(), progress()]);
        if (described === undefined) return false;
        if (seen !== undefined && isSo(seen)) return true;
        const { name } = described.status;
        if (name !== "RUNNING") {
          throw new WaitedTooLong(`The run ${workflowId} has ended (${name}), and ${what}.`);
        }
        return false;
      }),
    );

  /** The time of a decision stands still: a person takes it while the run waits for nothing else. */
  const untilEnded = (signal: AbortSignal): Promise<void> =>
    clock.passUntil(async () => {
      for (;;) {
        const described = await describe();
        signal.throwIfAborted();
        if (described === undefined) return false;
        const { status, typedSearchAttributes } = described;
        if (status.name !== "RUNNING") return true;
        // A server that skips waiting has the run replayed for each question.
        if (!isAskingStage(typedSearchAttributes.get(PAYMENT_STAGE) ?? "")) return false;
        const seen = await progress();
        if (seen === undefined || !asksPerson(seen)) return false;
        await pause(LOOK_EVERY_MS);
      }
    });

  const decideApproval = async (
    by: string,
    decision: { readonly approve: true } | { readonly reject: string },
  ): Promise<void> => {
    await until("did not ask for an approval", ({ shown }) => isApproval(shown["approval"]));
    const { request, runId } = await readApproval(temporal, workflowId);
    const approval = { by, hash: request.hash, ...decision };
    await decide(temporal, workflowId, approveUpdate, approval, runId);
  };

  const readAsked = async (): Promise<AskedTask> => {
    await until("asked no person", ({ attention }) => attention !== undefined);
    return readHumanTask(temporal, workflowId);
  };

  return {
    workflowId,
    handle,
    progress,
    result: () =>
      within("did not end", async (signal) => {
        await untilEnded(signal);
        return handle.result();
      }),
    untilStage: (wanted) =>
      until(`did not reach the step ${wanted}`, ({ stage }) => stage === wanted),
    approve: (by) => decideApproval(by, { approve: true }),
    reject: (by, reason) => decideApproval(by, { reject: reason }),
    untilAsked: async () => (await readAsked()).task,
    resolve: async (by, decision) => {
      const { runId, task } = await readAsked();
      await resolveRun(temporal, workflowId, {
        by,
        question: task.question,
        decision,
        expectedRunId: runId,
        assumptions: defaultAssumptions,
      });
    },
  };
};
