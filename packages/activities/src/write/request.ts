/*
 * The checks and readings that a decision of the ledger needs, outside of any transaction.
 *
 * A transaction of the ledger must not wait for the service. So everything that a decision needs from elsewhere is read
 * before. Examples are the payee's account for an approval, the root of the run, and the result that a person names. Earlier
 * rows with the same request under another step are read as well. The key of a write follows from its name and generation, so that every worker
 * derives the same.
 */
import { isRecord } from "@durable-payments/client/values";
import {
  type JsonObject,
  type WriteName,
  type Call,
  type Look,
  approvalReason,
  overLimit,
  type Verdict,
  type WriteRow,
} from "@durable-payments/ledger";
import { textAt } from "@durable-payments/protocol";
import { hash } from "node:crypto";
import type { Fault } from "@durable-payments/client/effect";
import { UNKNOWN_PAYEE } from "@durable-payments/protocol/account";
import { failureTypes } from "@durable-payments/protocol/calls";
import { plainKey } from "../evidence/match.ts";
import type { Given, ReadMade, WriteOperation, WriteTask } from "./operation.ts";

/** Returns the fields that hold a text or a number, as texts. */
export const pickTexts = (value: unknown, fields: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const found = isRecord(value) ? value[field] : undefined;
      return typeof found === "string" || typeof found === "number" ? [[field, String(found)]] : [];
    }),
  );

/**
 * Derives the `unique_request_id` of a generation of a write: the same on any worker, in any run of the workflow id.
 *
 * @returns a UUID of version 5: 36 characters, the service's limit.
 */
export const keyOf = ({ account, step, workflowId }: WriteName, generation: number): string => {
  const named = ["durable-payments", account, workflowId, step, generation];
  const hex = hash("sha1", JSON.stringify(named));
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
};

/** Generations whose keys are searched even if the ledger knows of fewer: it may have been restored. */
const SEARCHED_GENERATIONS = 32;

/** Returns the keys of all generations under which a write may have been sent, the present one first. */
export const keysOf = (row: WriteName & { readonly generation: number }): ReadonlyArray<string> => {
  const length = Math.max(SEARCHED_GENERATIONS, row.generation);
  const all = Array.from({ length }, (_, i) => keyOf(row, i + 1));
  return [keyOf(row, row.generation), ...all.toSpliced(row.generation - 1, 1)];
};

const faultsText = (step: string, faults: ReadonlyArray<Fault>): string =>
  `${step}: ${faults.map(({ field, problem }) => `${field} ${problem}`.trim()).join("; ")}`;

/** Facts that must be known before a write may be sent. */
export interface Preparing extends Given {
  readonly look: Look;
  /** Reads the service; if it cannot be read, time helps. */
  readonly reading: <A>(read: () => Promise<A>) => Promise<A>;
  /** Makes the failure that ends the step. */
  readonly fail: (type: string, message: string, details?: JsonObject) => Error;
}

/** A request is plain JSON. */
export const requestOf = ({ request }: Partial<WriteTask>) => request as JsonObject | undefined;

/** Whether nothing of a row is in flight, so that its request may be sent next. */
const mayBeSent = (row: WriteRow | undefined): boolean =>
  row === undefined || row.state === "ready" || row.state === "refused" || row.state === "undone";

const checkName = ({ call, fail, look: { row }, task }: Preparing): void => {
  if (task.isContinued !== true || task.key !== undefined || row === undefined) return;
  if (row.runId === call.runId || mayBeSent(row)) return;
  const message = `An earlier run of this chain has sent ${row.step}: each run needs its own name.`;
  throw fail(failureTypes.alreadyCarriedOut, message, { id: row.madeId });
};

/** Checks a request, and those of later steps, before anything is sent; names every fault. */
const checkInputs = async ({
  call,
  fail,
  look,
  operation,
  options: { operations },
  task,
}: Preparing): Promise<void> => {
  const texts: Array<string> = [];
  let isInvalid = false;
  const check = async (of: WriteOperation, given: JsonObject, isPlanned: boolean) => {
    const faults = await of.faults(given, isPlanned);
    isInvalid ||= faults.length > 0;
    const { describe, name } = of;
    const over =
      // The first is checked by the fence.
      isPlanned && faults.length === 0
        ? overLimit(describe(given), [look.limits.maxAmounts, call.limits?.maxAmounts ?? null])
        : undefined;
    const all = over === undefined ? faults : [{ field: "", problem: over }];
    const step = isPlanned ? name : (task.step ?? name);
    if (all.length > 0)
      texts.push(faultsText(step.startsWith(name) ? step : `${step} (${name})`, all));
  };
  await check(operation, requestOf(task) ?? {}, false);
  for (const { operation: name, request: later } of task.planned ?? []) {
    const known = operations.get(name);
    if (known === undefined) {
      texts.push(`${name}: is an unknown operation`);
      isInvalid = true;
      // A request is plain JSON.
    } else await check(known, later as JsonObject, true);
  }
  if (texts.length === 0) return;
  const type = isInvalid ? failureTypes.invalidRequest : failureTypes.overLimit;
  throw fail(type, `Nothing was sent. ${texts.join(". ")}.`);
};

/**
 * Reads what an approval depends on, if one is needed: the payee's account, and the root of the run. Nobody is asked to
 * approve a payment to a payee that the service does not know: it would be refused.
 */
const readForApproval = async ({
  call,
  fail,
  look,
  operation: { payee: payeeOf },
  options: { ledger },
  reading,
  attempt,
  task,
}: Preparing): Promise<Pick<Call, "payee" | "root">> => {
  if (approvalReason(look, call, call) === undefined) return {};
  const payee = await reading(async () => payeeOf?.(requestOf(task) ?? {}));
  if (payee === UNKNOWN_PAYEE && mayBeSent(look.row) && !look.row?.question) {
    const reason = `The service does not know the beneficiary ${call.request.payee ?? ""}.`;
    throw fail(failureTypes.refused, `Nothing was sent. ${reason}`, { reason });
  }
  if (payee !== undefined && payee !== UNKNOWN_PAYEE && call.request.payee !== null)
    await ledger.rememberPayees(call.name.account, [{ payee: call.request.payee, ...payee }]);
  return { payee, root: await attempt.root() };
};

/** Returns whether the step was renamed: then the same request may have succeeded under the other name. */
const elsewhereOf = async ({
  call: { name, operation, request, runId },
  options: { ledger },
  look: { row },
  operation: { name: operationName, policy },
  task,
}: Preparing): Promise<ReadonlyArray<WriteRow>> => {
  const { otherSteps = [], isFirst = false, key } = task;
  // A key makes it another write, under any name.
  if (key !== undefined) return [];
  const isNew = row === undefined || (row.sends === 0 && row.state === "unknown");
  if (isFirst || !isNew || policy(task).repeat === "idempotent") return [];
  if (operationName === "createBeneficiary" && task.reuse !== false) return [];
  const same = await ledger.sameRequestElsewhere(name, operation, request.hash);
  const ofThisRun = new Set(otherSteps);
  return same.filter((other) => other.runId !== runId && !ofThisRun.has(other.step));
};

/**
 * Checks and reads everything that must be known before a send, outside of any transaction: the payee that an approval
 * names, and earlier rows with the same request under another step, which a person must explain first.
 */
export const prepare = async (
  preparing: Preparing,
): Promise<{
  readonly read: Pick<Call, "payee" | "root">;
  readonly elsewhere: ReadonlyArray<WriteRow>;
}> => {
  const { look } = preparing;
  checkName(preparing);
  if (mayBeSent(look.row)) await checkInputs(preparing);
  // A write that is unknown or asking may be sent within this attempt, too.
  const mayBe = look.row?.state !== "done" && look.row?.state !== "ended";
  const read = mayBe ? await readForApproval(preparing) : {};
  return { read, elsewhere: await elsewhereOf(preparing) };
};

/** Returns the verdict that asks a person whether a step was renamed. */
export const renamed = (elsewhere: ReadonlyArray<WriteRow>): Verdict => {
  const steps = elsewhere.map(({ madeId, step }) => `${step} (${madeId ?? "unknown"})`);
  return {
    is: "unclear",
    message: `An earlier run has the same request under another step: ${steps.join(", ")}. If the step was renamed, deploy the old name again: a resend pays a second time.`,
    candidates: elsewhere.flatMap(({ result }) => (result === null ? [] : [result])),
  };
};

/** Reads the id that a person gave, and compares it with the request. The result of another write does not match. */
export const readNamed = async (
  { attempt, operation, options: { ledger }, task }: Given,
  row: WriteRow,
  id: string,
): Promise<ReadMade> => {
  const owners = await ledger.owners(row.account, row.operation, [id]);
  const owner = owners.get(id);
  if (owner !== undefined && (owner.workflowId !== row.workflowId || owner.step !== row.step)) {
    return { is: "fault", fault: `${owner.workflowId} (${owner.step}) has made ${id}.` };
  }
  const read = await operation.read(row, id, requestOf(task), attempt.signal);
  if (read.is === "fault") return read;
  // A row with the key of another unknown write belongs to that write.
  const shown = textAt(read.result, "unique_request_id");
  if (shown === undefined) return read;
  const key = plainKey(shown);
  if (keysOf(row).includes(key)) return read;
  const rivals = await ledger.rivals(row.account, row.operation);
  const rival = rivals.find((other) => keysOf(other).includes(key));
  return rival === undefined
    ? read
    : { is: "fault", fault: `${id} has the key of ${rival.workflowId} (${rival.step}).` };
};
