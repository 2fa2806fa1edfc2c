import type { Pause } from "@durable-payments/ledger";
import { type Acting, actorOf } from "../acting.ts";
import type { Operations } from "../connection/operations.ts";
import { NotFound, refused } from "../errors.ts";
import { nudge } from "../decide/nudge.ts";
import { atOnce } from "../show/at-once.ts";

/** What is paused: everything, a batch, or a workflow id. */
export interface Paused {
  readonly scope: Pause["scope"];
  /** Empty where everything is. */
  readonly of: string;
}

type Pausing = Pick<Operations, "client" | "ledger">;

/**
 * Finds what an id names: a batch, or a run.
 *
 * @param of the id; undefined for everything.
 * @throws NotFound where neither ledger nor Temporal knows it.
 */
export const scopeOf = async ({ ledger }: Pausing, of: string | undefined): Promise<Paused> => {
  if (of === undefined) return { scope: "all", of: "" };
  if ((await ledger.batch(of)) !== undefined) return { scope: "batch", of };
  const [runs, rows] = await Promise.all([
    ledger.runs({ workflowIds: [of], limit: 1 }),
    ledger.rowsOf(of),
  ]);
  if (runs.length + rows.length > 0) return { scope: "run", of };
  throw new NotFound({ message: `The ledger knows no run and no batch ${of}. Nothing was done.` });
};

/**
 * Pauses sends: none leaves from now on, whatever a run does. Waits, reads and reconciliation continue.
 *
 * @returns the pause as recorded.
 */
export const pause = async (
  pausing: Pausing,
  of: string | undefined,
  acting: Acting,
): Promise<Pause> => {
  const actor = actorOf(acting, true);
  const { of: id, scope } = await scopeOf(pausing, of);
  return pausing.ledger.pause(scope, id, actor);
};

/** The workflow ids whose writes may wait for the end of a pause. */
const waitingFor = async ({ ledger }: Pausing, { of, scope }: Paused): Promise<Set<string>> => {
  if (scope === "run") return new Set([of]);
  const rows = await ledger.rows({ states: ["ready", "unknown"] });
  const waiting = rows.map(({ workflowId }) => workflowId);
  if (scope === "all") return new Set(waiting);
  const runs = await ledger.runs({ batch: of });
  const ofBatch = new Set(runs.map(({ workflowId }) => workflowId));
  return new Set(waiting.filter((id) => ofBatch.has(id)));
};

/** Leaves a run to the tracker's sweep: Temporal did not take the nudge. */
const leaveToTracker = async ({ ledger }: Pausing, workflowId: string): Promise<void> => {
  for (const { account, step } of await ledger.rowsOf(workflowId)) {
    await ledger.transact({ account, workflowId, step }, ({ row }) =>
      row === undefined || !["ready", "unknown"].includes(row.state)
        ? {}
        : { row: { ...row, isUntold: true } },
    );
  }
};

/** What a resume did. */
export interface Resumed extends Paused {
  /** Runs that were asked to look again. */
  readonly nudged: number;
  /** Runs that Temporal did not reach: the tracker notifies them. */
  readonly unanswered: number;
}

/**
 * Resumes sends, and nudges the runs that wait for it.
 *
 * @throws Refused where nothing was paused.
 */
export const resume = async (
  pausing: Pausing,
  of: string | undefined,
  acting: Acting,
): Promise<Resumed> => {
  const { client, ledger } = pausing;
  const actor = actorOf(acting);
  const paused = await scopeOf(pausing, of);
  if (!(await ledger.resume(paused.scope, paused.of, actor))) {
    throw refused(`${of ?? "Everything"} is not paused. Nothing was done.`);
  }
  const waiting = await waitingFor(pausing, paused);
  const results = await atOnce([...waiting], async (id) => {
    const nudged = await nudge(client, id);
    if (nudged.is === "unanswered") await leaveToTracker(pausing, id);
    return nudged;
  });
  return {
    ...paused,
    nudged: results.filter(({ is }) => is === "nudged").length,
    unanswered: results.filter(({ is }) => is === "unanswered").length,
  };
};
