import { messageOf } from "@durable-payments/client/values";
import type { Ledger, Overview } from "@durable-payments/ledger";
import { atOnce, findRun, OPEN_RUNS, queryText, type Tracked } from "@durable-payments/protocol";
import type { Client } from "@temporalio/client";
import { readLimits } from "../../actions/limits.ts";
import { accountLimitsText } from "../../rules/limits-text.ts";
import { missingAmong, unfinishedAmong } from "../../actions/lost-runs.ts";
import type { KnownAccount } from "../../facts/connection/connections.ts";
import { listed, PAYING, type Temporal } from "../../facts/connection/temporal.ts";
import { type Check, failed, ok, skipped, warning } from "./check.ts";

/** Workflow ids whose chain of hashes is checked: the latest ones. */
const VERIFIED = 20;

const HOUR_MS = 3_600_000;

const checkIdentity = (ledger: Ledger, { state }: Overview, namespace: string | undefined) => {
  const { epoch, ledgerId, namespace: pinned, sequence, stopped } = state;
  if (stopped !== null) {
    return failed("ledger", `sends are stopped: ${stopped}`, { action: "recover" });
  }
  if (namespace !== undefined && pinned !== null && pinned !== namespace) {
    return failed(
      "ledger",
      `it belongs to Temporal namespace ${pinned}, but this namespace is ${namespace}`,
      "Set the setting ledger, or the namespace, to the worker's value.",
    );
  }
  return ok("ledger", `${ledger.place}; id ${ledgerId}, epoch ${epoch}, entry ${sequence}`);
};

/** Checks that it can be written: a standby and a full disk can be read. */
const checkWrites = (ledger: Ledger): Promise<Check> =>
  ledger.check().then(
    () => ok("ledger writes", "the ledger can be written"),
    (error: unknown) =>
      failed("ledger writes", messageOf(error), "Payments wait until it can be written."),
  );

/** Compares the ledger with its witnesses. */
export const checkWitness = (
  { ledgerId, epoch, sequence }: Overview["state"],
  tracked: ReadonlyArray<Tracked>,
): Check => {
  const title = "witness";
  const marks = tracked.flatMap(({ mark }) => mark ?? []);
  const [first] = marks;
  if (first === undefined)
    return skipped(title, "cannot tell: no tracker that has seen the ledger could be read");
  const other = marks.find((mark) => mark.ledgerId !== ledgerId);
  if (other !== undefined) {
    return failed(
      title,
      `the workers use ledger ${other.ledgerId}, but this one is ${ledgerId}`,
      "Set the setting ledger to the worker's value. If the ledger was replaced, run recover.",
    );
  }
  const ahead = marks.find(
    (mark) => mark.epoch > epoch || (mark.epoch === epoch && mark.sequence > sequence),
  );
  return ahead === undefined
    ? ok(
        title,
        `the ledger has every known entry (up to ${Math.max(...marks.map((mark) => mark.sequence))})`,
      )
    : failed(
        title,
        `the ledger was restored: it has ${sequence} entries of epoch ${epoch}, but ${ahead.sequence} of epoch ${ahead.epoch} were seen`,
        { action: "recover" },
      );
};

const checkChains = async (ledger: Ledger): Promise<Check> => {
  const runs = await ledger.runs({ limit: VERIFIED });
  for (const { workflowId } of runs) {
    const verified = await ledger.verify(workflowId);
    if (!verified.isIntact) {
      return failed("log", `the log of ${workflowId} was edited at entry ${verified.sequence}`, {
        action: "show",
        workflowId,
        isLog: true,
      });
    }
  }
  return ok("log", `the logs of the latest runs are unchanged: ${counted(runs.length, "run")}`);
};

const checkLimits = async (ledger: Ledger, accounts: ReadonlyArray<KnownAccount>) => {
  const known = accounts.map(({ hash }) => hash);
  const all = await readLimits({ ledger }, known);
  const texts = all.map((limits) => {
    const { name } = accounts.find(({ hash }) => hash === limits.account) ?? {
      name: limits.account,
    };
    return `${name === undefined ? "" : `${name}: `}${accountLimitsText(limits)}`;
  });
  const found = texts.join("; ");
  if (all.some(({ pending }) => pending !== undefined))
    return warning("limits", found, { action: "inbox" });
  return all.some((limits) => limits.maxAmounts === null && limits.approveAbove === null)
    ? warning("limits", found, "Set limits (limits set) to limit mistakes.")
    : ok("limits", found || "none");
};

const checkPauses = async (ledger: Ledger): Promise<Check> => {
  const [first, ...others] = await ledger.pauses();
  if (first === undefined) return ok("sends", "not paused");
  const { by, of, reason, scope } = first;
  const more = others.length > 0 ? `, and ${others.length} more` : "";
  const what = scope === "all" ? "all sends" : `${scope} ${of}`;
  const next = { action: "resume", ...(scope !== "all" && { workflowId: of }) } as const;
  return warning("sends", `${what} paused by ${by}: ${reason}${more}`, next);
};

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;

/** Checks for writes without progress; what waits for a person is in the inbox. */
export const checkStuck = ({ state, writes }: Overview): Check => {
  const old = writes
    .filter(({ since, state: of }) => of === "unknown" && state.now - since > HOUR_MS)
    .reduce((sum, { rows }) => sum + rows, 0);
  return old === 0
    ? ok("unknown outcomes", "none older than an hour")
    : warning(
        "unknown outcomes",
        `${counted(old, "write")} unknown for more than an hour: the service's list may be late or unreadable`,
        { action: "list", status: "unknown" },
      );
};

const NAMED = 5;

/** Runs whose status is read, and of those that no tracker has looked at, runs that Temporal is asked for. */
const READ = 1_000;
const SAMPLE = 50;

/** A run is recorded right before or after its start. */
const STARTED_WITHIN_MS = 60_000;

/** Checks that Temporal knows the unfinished runs of the ledger: those that its tracker has missed, and a sample of the others. */
export const checkLost = async (ledger: Ledger, client: Client): Promise<Check> => {
  const { now } = await ledger.state();
  const open = await ledger.openRuns({ limit: READ });
  const unseen = open.filter(
    ({ endState, startedAt }) => endState === null && now - startedAt > STARTED_WITHIN_MS,
  );
  const lost = [
    ...(await unfinishedAmong(
      ledger,
      open.filter(({ endState }) => endState === "missing"),
    )),
    ...(await missingAmong(client, unseen.slice(0, SAMPLE))),
  ];
  if (lost.length === 0) return ok("runs", "Temporal has the unfinished runs of the ledger");
  const ids = lost.slice(0, NAMED).map(({ workflowId }) => workflowId);
  const isAll = open.length < READ && unseen.length <= SAMPLE;
  return failed(
    "runs",
    `${isAll ? "" : "at least "}${counted(lost.length, "run")} of the ledger ${lost.length === 1 ? "is" : "are"} unknown to Temporal: ${ids.join(", ")}${lost.length > NAMED ? ", …" : ""}; recover names the files to pay or onboard again, and the runs to start again`,
    { action: "recover" },
  );
};

/** A workflow task that fails once or twice may have met a worker that was ending. */
const FAILED_ATTEMPTS = 3;

/**
 * Checks for open runs whose workflow code fails: nobody is asked about them. Temporal describes the newest ones. No list
 * of payments shows those that the ledger lacks, such as runs of a Schedule: these come first.
 */
export const checkCode = async (
  ledger: Ledger,
  { client, settings: { taskQueue } }: Pick<Temporal, "client" | "settings">,
): Promise<Check> => {
  const query = `${OPEN_RUNS} AND ${PAYING} AND TaskQueue = ${queryText(taskQueue)}`;
  const open: Array<string> = [];
  for await (const { workflowId } of listed(client, query)) {
    open.push(workflowId);
    if (open.length === READ) break;
  }
  const runs = open.length === 0 ? [] : await ledger.runs({ workflowIds: open });
  const known = new Set(runs.map(({ workflowId }) => workflowId));
  const sample = [
    ...open.filter((workflowId) => !known.has(workflowId)),
    ...open.filter((workflowId) => known.has(workflowId)),
  ].slice(0, SAMPLE);
  const failing = await atOnce(sample, async (workflowId) => {
    const run = await findRun(client, workflowId);
    return (run?.raw.pendingWorkflowTask?.attempt ?? 0) > FAILED_ATTEMPTS ? [workflowId] : [];
  });
  const ids = failing.flat();
  return ids.length === 0
    ? ok("workflow code", "no open run fails in its workflow code")
    : failed(
        "workflow code",
        `${counted(ids.length, "open run")} ${ids.length === 1 ? "fails in its" : "fail in their"} workflow code: ${ids.slice(0, NAMED).join(", ")}${ids.length > NAMED ? ", …" : ""}; a corrected deployment continues ${ids.length === 1 ? "it" : "them"}`,
        { action: "show", workflowId: ids[0] ?? "" },
      );
};

/** Checks the ledger: identity, writes, witness, pinned namespace, chains of hashes, limits, pauses, lack of progress. */
export const checkLedger = async (
  ledger: Ledger,
  namespace: string | undefined,
  accounts: ReadonlyArray<KnownAccount>,
  tracked: ReadonlyArray<Tracked>,
): Promise<ReadonlyArray<Check>> => {
  const seen = await ledger.overview();
  const [writes, chains, limits, pauses] = await Promise.all([
    checkWrites(ledger),
    checkChains(ledger),
    checkLimits(ledger, accounts),
    checkPauses(ledger),
  ]);
  return [
    checkIdentity(ledger, seen, namespace),
    writes,
    checkWitness(seen.state, tracked),
    chains,
    limits,
    pauses,
    checkStuck(seen),
  ];
};
