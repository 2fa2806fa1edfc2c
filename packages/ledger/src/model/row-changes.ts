import type { Advanced, Call, WriteAction, FailureKind, WritePolicy } from "./events.ts";
import type {
  JsonObject,
  Question,
  WriteOwner,
  WriteRequest,
  WriteRow,
  WriteState,
} from "./row.ts";
import type { Look } from "../store/ledger.ts";

/** A send leaves within this time of its attempt's start, or never. "Not listed" proves nothing before it is over. */
export const LEAVES_WITHIN_MS = 11_000;
const MOST_WAIT_MS = 300_000;

/** Whether a second write is harmless, so that the outcome of the first does not matter. */
export const isHarmless = ({ isListed, repeat, whenLost }: WritePolicy): boolean =>
  repeat === "idempotent" || (repeat === "none" && !isListed && whenLost === "resend");

/** Returns the wait after a dispatch or attempt. It grows, because outages take time and each attempt is billed. */
export const grownWait = (number: number): number =>
  Math.min(MOST_WAIT_MS, 1_000 * 2 ** Math.max(0, Math.min(number, 10) - 1));

/** A wait as long as all earlier ones together, so that a reading is repeated only a few times. */
export const doubledWait = (since: number, now: number): number =>
  Math.min(MOST_WAIT_MS, Math.max(2_000, now - since));

/** The row after a change; a version from before no longer vouches for it. */
export const changed = (
  row: WriteRow,
  look: Pick<Look, "epoch" | "now">,
  to: Partial<WriteRow>,
): WriteRow => ({
  ...row,
  epoch: look.epoch,
  changedAt: look.now,
  knownFrom: row.version + 1,
  ...to,
});

/** A new generation. */
const FRESH_GENERATION = {
  token: null,
  closedBy: null,
  firstSentAt: null,
  absences: 0,
  unprovableSince: null,
  result: null,
  knownBy: null,
  message: null,
  question: null,
} as const;

/** A new row. */
export const FRESH = {
  ...FRESH_GENERATION,
  sends: 0,
  from: null,
  until: null,
  decisionsAfter: 0,
} as const;

/** A row with nothing sent. */
export const newRow = (
  look: Look,
  {
    name,
    operation,
    ownerId,
    request,
    rootId,
    runId,
  }: Pick<Call, "name" | "operation" | "request" | "runId" | keyof WriteOwner>,
): WriteRow => ({
  ...name,
  ...FRESH,
  ownerId,
  rootId,
  operation,
  state: "ready",
  version: 0,
  knownFrom: 1,
  epoch: look.epoch,
  generation: 1,
  request,
  doubt: 0,
  runId,
  madeId: null,
  mustNotify: false,
  createdAt: look.now,
  changedAt: look.now,
});

/** The request without names of people, which are kept only while the write may have to be found in a list. */
export const withoutFacts = (request: WriteRequest): WriteRequest => ({ ...request, facts: {} });

/** The row for its next generation, which has another key. */
export const nextGeneration = (row: WriteRow, request: WriteRequest): Partial<WriteRow> => ({
  ...FRESH_GENERATION,
  state: "ready",
  madeId: null,
  generation: row.generation + 1,
  request,
});

/** A row that may take effect from a time on: its wait begins again. */
export const nowUnknown = (since: number, policy: WritePolicy): Partial<WriteRow> => ({
  state: "unknown",
  token: null,
  closedBy: null,
  question: null,
  until: since + LEAVES_WITHIN_MS + policy.requestTimeoutMs,
  unprovableSince: null,
});

type Asked = Partial<Pick<Question, "account" | "candidates" | "request" | "root">>;

/** A question. Its id is unique within its workflow id: changes of other ids may be decided with the same sequence. */
export const questionOf = (
  look: Look,
  kind: Question["kind"],
  reason: string,
  more: Asked = {},
): Question => ({
  id: `${look.epoch.toString(36)}-${look.sequence.toString(36)}`,
  kind,
  reason,
  candidates: [],
  account: null,
  since: look.now,
  ...more,
});

/** The question about an outcome. Earlier decisions do not answer it. */
export const nowAsking = (look: Look, reason: string, more?: Asked): Partial<WriteRow> => ({
  state: "asking",
  token: null,
  closedBy: null,
  question: questionOf(look, "outcome", reason, more),
  decisionsAfter: look.sequence,
  message: reason,
});

/** Says after which recovery nothing vouches for a row: of the ledger itself, or after a loss of Temporal. */
export const recoveryText = ({ wasBehind }: Pick<Look, "wasBehind">): string =>
  wasBehind ? "The ledger was restored" : "Temporal was lost and recovered";

/** Whether a row may lack what was sent after its copy. A pruned row is of epoch 0: its outcome was known. */
export const isRestored = ({ epoch }: WriteRow, look: Pick<Look, "epoch" | "stopped">): boolean =>
  look.stopped !== null || (epoch > 0 && epoch < look.epoch);

/**
 * A row that a person has ended. A restored ledger has forgotten what was sent after its copy: the outcome is unknown. The
 * end vouches for nothing, so the row keeps its epoch.
 */
export const nowEnded = (
  row: WriteRow,
  look: Pick<Look, "epoch" | "stopped">,
  message: string | null,
): Partial<WriteRow> => {
  const doubt = isRestored(row, look) ? Math.max(1, row.doubt) : row.doubt;
  return {
    epoch: row.epoch,
    state: "ended",
    question: null,
    message,
    doubt,
    request: doubt === 0 ? withoutFacts(row.request) : row.request,
  };
};

const MAY_STILL_BE_SENT: ReadonlyArray<WriteState> = ["ready", "refused", "asking"];

/** Whether an end takes effect at once; elsewhere it does when the outcome is known. */
export const mayEndNow = ({ state }: WriteRow): boolean => MAY_STILL_BE_SENT.includes(state);

/**
 * Time in which an ended write without a known outcome may still take effect: twice the default `requestTimeoutMs`. It
 * counts only for a row without `until`, which each send sets by the configured limit.
 */
const OVERRULED_WAIT_MS = 60_000;

/**
 * A row after the end of its workflow id. If its outcome is unknown, it stays: fence and attempts see the end. The outcome of
 * a restored row is unknown as well: it is reconciled, unless a person was asked and answers by the end.
 */
export const endedRow = (
  row: WriteRow,
  look: Pick<Look, "epoch" | "now" | "stopped">,
  reason: string | null,
): WriteRow | undefined => {
  if (!mayEndNow(row)) return undefined;
  const ended = nowEnded(row, look, reason);
  const isUnknown = isRestored(row, look) && row.state !== "asking";
  const until = look.now + OVERRULED_WAIT_MS;
  const unknown = { ...ended, state: "unknown", from: null, until } as const;
  return changed(row, look, { ...(isUnknown ? unknown : ended), mustNotify: true });
};

/** A row after an end was overridden. Earlier approvals and answers are void. */
export const overruledRow = (
  row: WriteRow,
  look: Pick<Look, "epoch" | "now" | "sequence">,
): WriteRow | undefined => {
  const decisionsAfter = look.sequence;
  if (row.state === "ended") {
    const to = { decisionsAfter, message: null, epoch: row.epoch };
    if (row.doubt === 0) return changed(row, look, { ...to, state: "ready" });
    const until = row.until ?? look.now + OVERRULED_WAIT_MS;
    return changed(row, look, { ...to, state: "unknown", until });
  }
  if (row.state === "done" || row.state === "undone") return undefined;
  return { ...row, decisionsAfter };
};

/** Nothing changes. */
export const nothing = (action: WriteAction): Advanced => ({ row: undefined, entries: [], action });

/** Time helps: the attempt tries again at `at`. */
export const waiting = (at: number, why: string, isUnsent: boolean): WriteAction => ({
  is: "wait",
  at,
  why,
  isUnsent,
});

/** The attempt checks once more. */
export const again: WriteAction = { is: "again", isKnown: false };

/** Changes rows by the event of `who`, with a line in the log. */
export const becoming =
  (look: Look, who: string) =>
  (
    row: WriteRow,
    to: Partial<WriteRow>,
    what: string,
    action: WriteAction,
    details: JsonObject = {},
  ): Advanced => ({
    row: changed(row, look, to),
    action,
    entries: [{ who, what, details }],
  });
export type Become = ReturnType<typeof becoming>;

/** The step fails, because nothing else helps. */
export const failing = (
  type: FailureKind,
  message: string,
  details: JsonObject = {},
): WriteAction => ({
  is: "fail",
  type,
  message,
  details,
});

/** The kept result of a successful write. */
export const returning = ({ knownBy, madeId, result }: WriteRow): WriteAction => ({
  is: "return",
  id: madeId ?? "",
  result: result ?? {},
  knownBy: knownBy ?? "answer",
});
