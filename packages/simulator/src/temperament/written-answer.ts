import { REFUSAL_CODE } from "@durable-payments/api-core/contract";
import { createHash } from "node:crypto";
import { DOCUMENTED_FIELDS } from "./documented-fields.ts";
import { isRecord } from "@durable-payments/api-core/values";
import { changeFields, type JsonObject } from "./json.ts";
import { writeAmount, writeText, writeTime } from "./notations.ts";
import type { Temperament } from "./temperament.ts";
import type { TemperamentInForceShape } from "./temperaments-in-force.ts";

/** What a request is answered: status and body, JSON or plain text. */
export interface WrittenAnswer {
  readonly status: number;
  readonly body: JsonObject | string;
}

const CLOCK_TIMES = new Set(["create_time", "update_time", "complete_time", "settle_time"]);
const END_TIMES = new Set(["complete_time", "settle_time"]);
const AMOUNTS = new Set(["amount", "fee_amount", "available_balance"]);
const STATUSES = new Set([
  "status",
  "payout_status",
  "card_holder_status",
  "card_status",
  "beneficiary_status",
  "transaction_status",
]);
const LISTED_TEXTS = new Set([
  "payout_reason",
  "payout_reference",
  "beneficiary_name",
  "first_name",
  "last_name",
  "account_name",
]);

/** The id in the answers of operations that create something or move money. */
const WRITTEN_IDS: ReadonlyMap<string, string> = new Map([
  ["createPayout", "id"],
  ["createBeneficiary", "beneficiary_id"],
  ["createCardholder", "card_holder_id"],
  ["createCard", "card_id"],
  ["withdrawFromCard", "card_id"],
]);

const ROW_IDS: ReadonlyMap<string, string> = new Map([
  ["listPayouts", "payout_id"],
  ["listCardholders", "card_holder_id"],
  ["listTransactions", "transaction_id"],
]);

const isUnset = (time: unknown): boolean =>
  typeof time !== "string" || time === "" || time.startsWith("0001-01-01");

/** The key that the service gives a payout where it keeps none of the caller's. */
const ownKey = (payoutId: string): string =>
  `own-${createHash("sha256").update(payoutId).digest("hex").slice(0, 16)}`;

/** One resource, as the service shows it: the same transformation for answers and rows of lists. */
const writeResource = (fields: JsonObject, operation: string, temperament: Temperament) => {
  const { clockOffsetMs = 0, payoutKeys = "echoed", statuses = {}, unsetTime } = temperament;
  const ofPayout = operation.endsWith("Payout") || operation === "listPayouts";
  const written = (value: unknown, name: string): unknown => {
    if (END_TIMES.has(name) && isUnset(value)) {
      return unsetTime === undefined ? value : unsetTime === "missing" ? undefined : unsetTime;
    }
    if (typeof value !== "string") return value;
    if (CLOCK_TIMES.has(name)) return writeTime(Date.parse(value) + clockOffsetMs, temperament);
    // A day that the caller named; no clock wrote it.
    if (name === "payment_date" && value.includes("T") && temperament.times !== undefined) {
      return writeTime(Date.parse(value), temperament);
    }
    if (AMOUNTS.has(name)) return writeAmount(value, temperament.amounts);
    if (STATUSES.has(name)) return statuses[value] ?? value;
    if (name === "unique_request_id" && ofPayout && payoutKeys !== "echoed") {
      return payoutKeys === "dropped" ? "" : ownKey(String(fields["id"] ?? fields["payout_id"]));
    }
    return value;
  };
  const documented = DOCUMENTED_FIELDS.get(operation);
  return changeFields(fields, (value, name) =>
    documented?.has(name) === false ? undefined : written(value, name),
  );
};

/** Values of other JSON types than the documented ones. */
const ODD_VALUES = [{ value: 1 }, true, 2 ** 64, ["", null]];

const spoil = (fields: JsonObject, form: "nulls" | "odd", isKept: (name: string) => boolean) => {
  let count = 0;
  return changeFields(fields, (value, name) =>
    isKept(name) ? value : form === "nulls" ? null : ODD_VALUES[count++ % ODD_VALUES.length],
  );
};

const oddRow = (row: JsonObject, id: string, form: Temperament["oddRowForm"] = "nulls") => {
  switch (form) {
    case "nulls":
    case "odd":
      return spoil(row, form, (name) => name === id);
    case "nulls-but-status":
    case "odd-but-status": {
      const spoilt = form === "odd-but-status" ? "odd" : "nulls";
      return spoil(row, spoilt, (name) => name === id || STATUSES.has(name));
    }
    case "no-id":
      return { ...row, [id]: null };
    case "null":
      return null;
    case "text":
      return "row could not be rendered";
  }
};

const writeList = (
  data: JsonObject,
  operation: string,
  { current, happens, lot }: TemperamentInForceShape,
) => {
  const temperament = current();
  const id = ROW_IDS.get(operation) ?? "";
  const rows: ReadonlyArray<unknown> = Array.isArray(data["item_list"]) ? data["item_list"] : [];
  const writeRow = (row: unknown) => {
    if (!isRecord(row)) return row;
    const written = changeFields(writeResource(row, operation, temperament), (value, name) =>
      typeof value === "string" && LISTED_TEXTS.has(name)
        ? writeText(value, temperament.texts)
        : value,
    );
    return lot("odd row", String(row[id])) < (temperament.oddRows ?? 0)
      ? oddRow(written, id, temperament.oddRowForm)
      : written;
  };
  const totals = changeFields(data, (value, name) => {
    if (name === "item_list") return undefined;
    if (temperament.totals === "missing") return undefined;
    return temperament.totals === "text" ? String(value) : value;
  });
  return { ...totals, item_list: happens(temperament.nullLists) ? null : rows.map(writeRow) };
};

const writeWrite = (
  data: JsonObject,
  operation: string,
  { writeAnswers = "documented" }: Temperament,
) => {
  const id = WRITTEN_IDS.get(operation);
  if (id === undefined || writeAnswers === "documented") return data;
  return writeAnswers === "ids"
    ? { [id]: data[id] }
    : spoil(data, writeAnswers, (name) => name === id);
};

const writeRefusal = (
  answer: WrittenAnswer,
  message: string,
  { refusals = "envelope" }: Temperament,
) => {
  switch (refusals) {
    case "envelope":
      return answer;
    case "plain-400":
      return { status: 400, body: message };
    case "plain-422":
      return { status: 422, body: message };
    case "in-200":
      return { ...answer, status: 200 };
  }
};

/**
 * The answer of an operation as the temperament in force writes it. It changes the JSON that the
 * contract encoded, so that the service can write what the client's contract does not know.
 */
export const writeAnswer = (
  operation: string,
  answer: { readonly status: number; readonly body: JsonObject },
  temperament: TemperamentInForceShape,
): WrittenAnswer => {
  const { body, status } = answer;
  const current = temperament.current();
  if (body["code"] === REFUSAL_CODE && status === 400) {
    return writeRefusal(answer, String(body["message"]), current);
  }
  if (status !== 200 || body["code"] === undefined) return answer;
  const { data } = body;
  const written = !isRecord(data)
    ? data
    : "item_list" in data
      ? writeList(data, operation, temperament)
      : writeWrite(writeResource(data, operation, current), operation, current);
  return {
    status,
    body: {
      ...body,
      ...(body["code"] === REFUSAL_CODE ? {} : { message: current.successMessage ?? "Success" }),
      ...(data === undefined ? {} : { data: written }),
    },
  };
};
