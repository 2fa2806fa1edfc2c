/*
 * Previews retries against other workflow code: what will happen, before it happens.
 *
 * A retry starts the workflow id again, or resets its run. Temporal can do neither with a history of another server, so the
 * preview does the same with other means. The part of a history that a reset keeps is replayed, offline. Then the run is
 * started in a sandbox with its input, and each activity whose result the history keeps returns that result. The rest runs.
 *
 * The real ledger and Temporal are only read. A run costs some 15 reads, and a tenth of a second of CPU; all run at the same time.
 */
import { startAgainOf } from "@durable-payments/activities";
import type { OperationName } from "@durable-payments/client/effect";
import type { WriteRow } from "@durable-payments/ledger";
import { lookUp } from "@durable-payments/client/values";
import { atOnce, WORKFLOW } from "@durable-payments/protocol";
import type { RunToReplay } from "@durable-payments/replay";
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Connected } from "../../facts/connection/connections.ts";
import { ControlError, invalidInput } from "../../errors.ts";
import type { PreviewedRun } from "../../rules/preview.ts";
import { bundleToReplay } from "../replay.ts";
import { planRetryOf, recordRetry, type RetryOptions } from "../retry/retry.ts";
import { keptOf, objectsOf, type Recorded, recordedIn, signalsIn } from "./histories.ts";
import { type Ended, look, type Prepared } from "./outcome.ts";
import { openSandbox, type Sandbox } from "./sandbox.ts";

/** A run that is previewed, and how it would be retried. */
export interface ChosenRun extends Pick<
  RetryOptions,
  "amend" | "from" | "isOverruling" | "isRestarted" | "notDuplicate"
> {
  readonly workflowId: string;
  /** Why it is not retried, if that is known. */
  readonly whyNot?: string | undefined;
}

/** How runs are previewed. */
export interface PreviewOptions {
  /** Folder of the project with the code, or its module that exports the workflows. */
  readonly against: string;
  /** Called with the number of runs whose outcome is known, and of all. */
  readonly onPart?: ((known: number, all: number) => void) | undefined;
}

/** Most runs of a preview. */
const MOST_PREVIEWED = 500;

/** The first skip of time; each later one is twice as long. */
const FIRST_STEP_MS = 1_000;

/**
 * Code that throws is tried again at once, forever. Meanwhile the test server lets no time pass, and none either once
 * that run is terminated. So runs are looked at although no time passes, and the others start again in another sandbox.
 */
const LOOK_EVERY_MS = 1_000;

/**
 * A preview ends if nothing happens in it for so long, and some for each run. How long it takes in all depends on the machine,
 * and must not decide what it says.
 */
const STALLED_MS = 120_000;
const STALLED_OF_RUN_MS = 500;

/** Tells a preview in which nothing happens from a slow one. */
interface Progress {
  readonly made: () => void;
  readonly isStalled: () => boolean;
}

const progressOf = (runs: number): Progress => {
  let last = performance.now();
  return {
    made: () => {
      last = performance.now();
    },
    isStalled: () => performance.now() - last > STALLED_MS + runs * STALLED_OF_RUN_MS,
  };
};

/** The modules of workflows that a project may have, the likeliest first. */
const MODULES = [
  "src/workflows.ts",
  "src/workflows/index.ts",
  "workflows.ts",
  "dist/workflows.js",
  "workflows.js",
];

/**
 * Finds the module that exports the workflows of a project. One without own workflows, such as a clone, has those of its
 * durable-payments.
 *
 * @param path of its folder, or of the module itself.
 * @param types of the runs.
 * @throws InvalidInput if there is none.
 */
export const workflowsIn = (path: string, types: ReadonlyArray<string>): string => {
  const given = resolve(path);
  const at = (file: string) => statSync(file, { throwIfNoEntry: false });
  const files = [given, ...MODULES.map((name) => join(given, name))];
  const found = files.find((file) => at(file)?.isFile());
  if (found !== undefined) return found;
  if (at(given) === undefined) throw invalidInput(`There is no folder ${given}. Nothing was done.`);
  const own = types.find((type) => lookUp(WORKFLOW, type) === undefined);
  if (own !== undefined)
    throw invalidInput(
      `${given} has none of ${MODULES.join(", ")}: name the module that exports ${own}. Nothing was done.`,
    );
  try {
    return createRequire(join(given, "package.json")).resolve("durable-payments/workflows");
  } catch {
    throw invalidInput(
      `${given} has no durable-payments: run npm install in it. Nothing was done.`,
    );
  }
};

const ACTING = { by: "preview", how: "preview", reason: "preview" } as const;

/** Writes whose unknown outcome only a list of the service can show: a repeat of any other is harmless, or has the same key. */
const PROVED_BY_LISTS: ReadonlySet<string> = new Set<OperationName>([
  "createCardholder",
  "createPayout",
]);

const dependsOnService = ({ operation, state }: WriteRow): boolean =>
  (state === "unknown" || state === "sending") && PROVED_BY_LISTS.has(operation);

const prepare = async (
  connected: Connected,
  { whyNot, workflowId, ...how }: ChosenRun,
): Promise<Prepared | Ended> => {
  if (whyNot !== undefined) return { outcome: "refused", why: whyNot };
  const options: RetryOptions = { ...how, ...ACTING };
  try {
    const planned = await planRetryOf(connected, workflowId, options);
    const { failure, plan } = planned;
    const { runId, workflowId: root } = plan;
    const rows = await connected.ledger.rowsOf(root);
    const handle = connected.client.workflow.getHandle(root, runId);
    const history = await handle.fetchHistory();
    const kept = await keptOf(connected.client, history, plan, failure);
    const open = rows.find(dependsOnService);
    if (open === undefined) return { planned, options, history, kept, rows };
    const why = open.message ?? `The outcome of ${open.operation} is unknown.`;
    return { outcome: "unknown", type: planned.run.type, step: open.step, why };
  } catch (error) {
    if (!(error instanceof ControlError)) throw error;
    return { outcome: "refused", why: error.message };
  }
};

/** Starts a run in the sandbox, with the decisions that its retry would record. */
const start = async (
  sandbox: Sandbox,
  { taskQueue }: Connected,
  { history, kept, options, planned }: Prepared,
): Promise<void> => {
  const { amendment, plan } = planned;
  const { workflowId } = plan;
  const { client, ledger } = sandbox;
  await ledger.bring(workflowId);
  for (const fields of objectsOf(history)) await sandbox.suppose(fields);
  const recordRun = await recordRetry({ ledger }, planned, options);
  const [first = {}] = history.events ?? [];
  const versions = kept === undefined ? plan.versions : undefined;
  const request = await startAgainOf(
    client.options,
    workflowId,
    first,
    versions,
    amendment,
    randomUUID(),
  );
  const { runId } = await client.workflowService.startWorkflowExecution({
    ...request,
    taskQueue: { name: taskQueue },
  });
  await recordRun(runId);
  for (const { input, signalName } of kept === undefined ? [] : signalsIn(kept))
    await client.workflowService.signalWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId },
      signalName: signalName ?? null,
      input: input ?? null,
    });
};

/** Lets the time of a sandbox pass. Nothing may wait for it any more once the sandbox is closed. */
const letPass = (sandbox: Sandbox, milliseconds: number): Promise<boolean> => {
  const passed = sandbox.sleep(milliseconds).then(() => true);
  passed.catch(() => undefined);
  return passed;
};

/** Lets time pass until the outcome of each open run is known, or code that throws stops the time. */
const continueRuns = async (
  sandbox: Sandbox,
  open: ReadonlyMap<string, Prepared>,
  end: (id: string, ended: Ended) => void,
  progress: Progress,
): Promise<void> => {
  let [passed, hasPassed, isHeldUp] = [0, false, false];
  const isOver = () => open.size === 0 || isHeldUp || progress.isStalled();
  const lookAt = async ([id, run]: readonly [string, Prepared]) => {
    const seen = await look(sandbox, run, hasPassed ? passed : undefined);
    if (seen === undefined) return;
    const { isStuck, ...ended } = seen;
    end(id, ended);
    isHeldUp ||= isStuck;
    const handle = sandbox.client.workflow.getHandle(run.planned.plan.workflowId);
    // It has ended, or would keep the others waiting.
    await handle.terminate("previewed").catch(() => undefined);
  };
  for (let step = FIRST_STEP_MS; !isOver(); step *= 2) {
    const slept = letPass(sandbox, step);
    for (hasPassed = false; !hasPassed && !isOver();) {
      hasPassed = await Promise.race([slept, pause(LOOK_EVERY_MS, false)]);
      if (hasPassed) {
        passed += step;
        progress.made();
      }
      await atOnce([...open], lookAt);
    }
  }
};

/** Replays what the retries keep. Returns the outcomes of the runs that differ. */
const replayKept = async (
  bundle: Awaited<ReturnType<typeof bundleToReplay>>,
  prepared: ReadonlyMap<string, Prepared>,
): Promise<ReadonlyMap<string, Ended>> => {
  const { describeDifference, replayHistories } = await import("@durable-payments/replay");
  const runs = [...prepared].flatMap(([workflowId, { kept }]): ReadonlyArray<RunToReplay> =>
    kept === undefined ? [] : [{ workflowId, history: kept }],
  );
  const differing = new Map<string, Ended>();
  for await (const replay of replayHistories(bundle, runs)) {
    if (replay.deterministic) continue;
    const [why = null] = describeDifference(replay);
    differing.set(replay.workflowId, { outcome: "differs", why, lines: replay.lines });
  }
  return differing;
};

/**
 * Previews retries. Nothing is sent, and nothing is changed.
 *
 * @param chosen runs, each with its amendment; of a child, its root is previewed.
 * @returns what would happen to each, in their order.
 * @throws InvalidInput if the workflows cannot be bundled, or there are too many runs; ConnectionFailed.
 */
export const previewRetries = async (
  connected: Connected,
  chosen: ReadonlyArray<ChosenRun>,
  { against, onPart = () => undefined }: PreviewOptions,
): Promise<ReadonlyArray<PreviewedRun>> => {
  if (chosen.length > MOST_PREVIEWED)
    throw invalidInput(
      `A preview takes at most ${MOST_PREVIEWED} runs, and these are ${chosen.length}: choose fewer. Nothing was done.`,
    );
  const known = new Map<string, Ended>();
  const prepared = new Map<string, Prepared>();
  const ready = await atOnce(chosen, (run) => prepare(connected, run));
  for (const [at, one] of ready.entries()) {
    const id = chosen[at]?.workflowId ?? "";
    if ("outcome" in one) known.set(id, one);
    else prepared.set(id, one);
  }
  const open = new Map(prepared);
  const progress = progressOf(chosen.length);
  const end = (id: string, ended: Ended) => {
    progress.made();
    known.set(id, ended);
    open.delete(id);
    onPart(known.size, chosen.length);
  };
  const types = [...prepared.values()].map(({ planned }) => planned.run.type);
  const bundle = types.length === 0 ? undefined : await bundleToReplay(workflowsIn(against, types));
  if (bundle !== undefined)
    for (const [id, ended] of await replayKept(bundle, prepared)) end(id, ended);
  const recorded = new Map<string, Promise<Recorded>>(
    [...open.values()].map(({ kept, planned }) => [
      planned.plan.workflowId,
      Promise.resolve(kept === undefined ? new Map() : recordedIn(kept)),
    ]),
  );
  /** A child that has completed keeps its results, too. */
  const recordedOf = (id: string): Promise<Recorded> => {
    const handle = connected.client.workflow.getHandle(id);
    const read = async () =>
      (await handle.describe()).status.name === "COMPLETED"
        ? recordedIn(await handle.fetchHistory())
        : new Map<string, never>();
    const found = recorded.get(id) ?? read().catch(() => new Map<string, never>());
    recorded.set(id, found);
    return found;
  };
  if (bundle !== undefined)
    while (open.size > 0 && !progress.isStalled()) {
      await using sandbox = await openSandbox(connected, bundle, recordedOf);
      await atOnce([...open.values()], (run) => start(sandbox, connected, run));
      progress.made();
      await continueRuns(sandbox, open, end, progress);
    }
  return chosen.map(({ workflowId }) => {
    const { planned } = prepared.get(workflowId) ?? {};
    return {
      workflowId,
      type: planned?.run.type ?? "",
      step: null,
      why: null,
      lines: [],
      kept: planned?.plan.kept ?? [],
      writes: [],
      ...(known.get(workflowId) ?? { outcome: "unfinished" }),
    };
  });
};
