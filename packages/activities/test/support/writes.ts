import { accountHash } from "@durable-payments/protocol";
import type { ClientSettings } from "@durable-payments/client/effect";
import { type Ledger, openLedger, type WriteRow } from "@durable-payments/ledger";
import type { WriteAnswer } from "@durable-payments/protocol/calls";
import { type Simulator, type SimulatorOptions, startSimulator } from "@durable-payments/simulator";
import { onTestFinished } from "vitest";
import { optionsOf } from "../../src/run-operation.ts";
import { makeContractOperations } from "../../src/write/contract-operations.ts";
import type { Attempt } from "../../src/write/guard.ts";
import type { EngineOptions, WriteTask } from "../../src/write/operation.ts";
import { NotYet } from "../../src/write/outcomes.ts";
import { makeOwnOperation, type OwnOperations } from "../../src/write/own-operations.ts";
import { performWrite } from "../../src/write/perform.ts";
import { runtimeOver } from "./attempts.ts";
import { outageBefore } from "./failing-service.ts";

/** Everything is listed at once, and nothing takes long. */
const FAST = { listLagSeconds: 0, clockSkewSeconds: 0 };

/** An attempt that began just now. */
export const attemptOf = (given: Partial<Attempt> = {}): Attempt => ({
  runId: "run-1",
  workflowId: "pay-1",
  attempt: 1,
  testimony: { is: "none" },
  startedAt: { wall: Date.now(), monotonic: performance.now() },
  signal: new AbortController().signal,
  heartbeat: () => {},
  root: async () => ({ id: given.workflowId ?? "pay-1", firstRunId: "run-1" }),
  describe: async () => ({ isOpen: true, begunAt: 0 }),
  ...given,
});

/** What became of an attempt. */
export type Ended =
  | WriteAnswer
  | {
      readonly is: "wait";
      readonly why: string;
      readonly delayMs: number;
      readonly version: number | undefined;
    }
  | { readonly is: "fail"; readonly type: string; readonly message: string };

/** An engine over a simulator and a ledger in memory. */
export const makeWorld = async ({
  operations: own = {},
  settings = {},
  simulator: options = {},
  clock,
  openWith = () => openLedger("memory", clock === undefined ? {} : { clock }),
}: {
  /** Clock of the ledger. */
  readonly clock?: () => number;
  readonly openWith?: () => Promise<Ledger>;
  readonly operations?: OwnOperations;
  readonly settings?: Partial<ClientSettings>;
  readonly simulator?: SimulatorOptions;
} = {}) => {
  const simulator: Simulator = await startSimulator({ balances: { USD: "100000.00" }, ...options });
  onTestFinished(() => simulator.stop());
  const outage = await outageBefore(simulator);
  const runtime = runtimeOver(
    { ...simulator, url: outage.url },
    {
      requestTimeoutMs: 1_000,
      assumptions: { ...FAST, ...settings.assumptions },
      ...settings,
    },
  );
  const ledger: Ledger = await openWith();
  onTestFinished(() => ledger.close());
  const account = await optionsOf(runtime).then(accountHash);
  const contract = makeContractOperations({
    account,
    ledger,
    options: await optionsOf(runtime),
    runtime,
  });
  const engine: EngineOptions = {
    account,
    ledger,
    operations: new Map([
      ...contract,
      ...Object.entries(own).map(([name, one]) => [name, makeOwnOperation(name, one)] as const),
    ]),
    who: "worker",
    // Believes nothing: `believed.test.ts` has the comparison.
    disagreement: async () => undefined,
  };
  const name = (step: string, workflowId = "pay-1") => ({ account, workflowId, step });
  const row = async (step: string, workflowId?: string): Promise<WriteRow | undefined> =>
    (await ledger.look(name(step, workflowId))).row;

  /** One attempt. */
  const once = async (
    task: Pick<WriteTask, "operation" | "request"> & Partial<WriteTask>,
    attempt: Partial<Attempt> = {},
    by: EngineOptions = engine,
  ): Promise<Ended> => {
    const workflowId = attempt.workflowId ?? task.rootId ?? "pay-1";
    const full: WriteTask = {
      step: task.operation,
      isNamed: false,
      rootId: workflowId,
      runId: attempt.runId ?? "run-1",
      isContinued: false,
      call: 1,
      isFirst: true,
      ...task,
    };
    try {
      return await performWrite(by, attemptOf({ workflowId, ...attempt }), full);
    } catch (error) {
      if (error instanceof NotYet) {
        const { delayMs, message, version } = error;
        return { is: "wait", why: message, delayMs, version };
      }
      if (error instanceof Error && "type" in error && typeof error.type === "string") {
        return { is: "fail", type: error.type, message: error.message };
      }
      throw error;
    }
  };

  /** Attempts as Temporal makes them, until one does not wait; waits are not waited for. */
  const until = async (
    task: Parameters<typeof once>[0],
    first: Partial<Attempt> = {},
    most = 40,
  ): Promise<Ended> => {
    let attempt = first;
    for (let number = 1; ; number++) {
      const ended = await once(task, { attempt: number, ...attempt });
      if (ended.is !== "wait" || number === most) return ended;
      const { version } = ended;
      const testimony = version === undefined ? undefined : ({ is: "version", version } as const);
      attempt = { ...first, testimony };
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
    }
  };

  return { account, engine, ledger, name, once, outage, row, simulator, until };
};
