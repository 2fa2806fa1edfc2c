/**
 * Takes up the writes that a run's history proves as made, and that a restored ledger has lost.
 *
 * Until its step is called again, only the result of an activity is left of such a write. The step of an ended run is never
 * called again: its run would be reported without its payment, and another run could make the same payment again. A person
 * who runs `recover` decides that Temporal remembers (see `believed.ts`). So the result is recorded as the worker would have
 * recorded it: as the answer to a send whose ledger was restored meanwhile. It has the time of the result. The tracker
 * reads the outcome of a payout, and whether the service has it at all.
 */
import { isRecord, lookUp } from "@durable-payments/client/values";
import {
  advance,
  type Call,
  type JsonObject,
  type Ledger,
  MadeByAnother,
  type WritePolicy,
} from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol";
import { UNDO } from "@durable-payments/protocol/calls";
import { undoCall, writeCall } from "@durable-payments/protocol/payloads";
import * as Schema from "effect/Schema";
import { rowNameOf } from "./believed.ts";
import { describeOwn, describeWrite } from "./describe.ts";
import { KEY_LIFETIME_MS, WRITES, type WriteName } from "./operation.ts";
import { keysOf } from "./request.ts";

/** An activity that has completed, with its input and result as its history has them. */
export interface CompletedActivity {
  readonly type: string;
  /** Hash of the account whose queue it had. */
  readonly account: string;
  readonly input: unknown;
  readonly result: unknown;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The run of a history. */
export interface RunOfHistory {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
}

const isWriteCall = Schema.is(writeCall);
const isUndoCall = Schema.is(undoCall);

/** No send follows, so how it could be sent again does not matter. */
const POLICY: WritePolicy = {
  repeat: "none",
  isListed: true,
  whenLost: "ask",
  keyLifetimeMs: KEY_LIFETIME_MS,
  listLagMs: 0,
  requestTimeoutMs: 0,
};

/**
 * Records a write that a completed activity proves as made, or undone.
 *
 * @param who records it, for the log.
 * @returns `known` if the ledger has it, or the activity proves no write; `other` if the ledger has its result under another
 *   write: then nothing is recorded.
 * @throws LedgerUnavailable.
 */
export const recordProven = async (
  ledger: Ledger,
  { runId, type: workflowType, workflowId }: RunOfHistory,
  { account, at, input, result, type }: CompletedActivity,
  { isDryRun, who }: { readonly isDryRun: boolean; readonly who: string },
): Promise<"recorded" | "known" | "other"> => {
  if (!isRecord(result) || result["is"] !== "done" || !isRecord(result["made"])) return "known";
  // A response is plain JSON.
  const made = result["made"] as JsonObject;
  const undoing = type === UNDO && isUndoCall(input) ? input : undefined;
  const writing = type !== UNDO && isWriteCall(input) ? input : undefined;
  const given = undoing ?? writing;
  if (given === undefined) return "known";
  const operation = undoing?.operation ?? type;
  const name = rowNameOf(account, workflowId, { ...given, operation });
  const { row } = await ledger.look(name);
  if (undoing ? row?.state !== "done" : row?.state === "done" || row?.state === "undone")
    return "known";
  const id = textAt(made, lookUp(WRITES, operation)?.idField ?? "id");
  if (writing && id === undefined) return "known";
  if (isDryRun) return "recorded";
  // A request is plain JSON.
  const request = (writing?.request ?? {}) as JsonObject;
  const call: Call = {
    name,
    operation,
    request:
      operation in WRITES
        ? describeWrite(operation as WriteName, request, ledger.keyed)
        : describeOwn(operation, request),
    runId,
    ownerId: workflowId,
    rootId: given.rootId,
    testimony: undefined,
    mode: "settle",
    mayAmend: false,
  };
  const { generation = 1 } = row ?? {};
  const key = textAt(made, "unique_request_id") ?? "";
  const keys = keysOf({ ...name, generation: 1 });
  const event = undoing
    ? ({ is: "undone", who } as const)
    : ({
        is: "answered",
        who,
        token: "",
        generation: Math.max(generation, keys.indexOf(key) + 1),
        outcome: { is: "made", id: id ?? "", result: made },
        call,
      } as const);
  try {
    await ledger.transact(
      name,
      (look) => {
        const { entries, row: next } = advance({ ...look, now: at }, event, POLICY);
        return { ...(next && { row: next }), entries, workflowType };
      },
      call,
    );
  } catch (error) {
    if (!(error instanceof MadeByAnother)) throw error;
    return "other";
  }
  return "recorded";
};
