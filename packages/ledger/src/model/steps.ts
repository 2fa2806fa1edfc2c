import type { Advanced, Effect, FailureKind } from "./events.ts";
import type { JsonObject, WriteRow } from "./row.ts";
import type { NewEntry } from "../store/ledger.ts";

/** A changed row with its line in the log. */
export const adding = (
  row: WriteRow,
  who: string,
  what: string,
  details: JsonObject = {},
  kind: NewEntry["kind"] = "change",
): Pick<Advanced, "row" | "entries"> => ({ row, entries: [{ kind, who, what, details }] });

/** The step fails: nothing else helps. */
export const failing = (type: FailureKind, message: string, details: JsonObject = {}): Effect => ({
  is: "fail",
  type,
  message,
  details,
});

/** The person whom the row's question asks. */
export const asksPerson = ({ message, question }: WriteRow): Effect => ({
  is: "person",
  needs: question?.kind === "approval" ? "approval" : "answer",
  question,
  why: question?.reason ?? message ?? "",
});

/** The kept result of what was carried out. */
export const returning = ({ knownBy, madeId, result }: WriteRow): Effect => ({
  is: "return",
  id: madeId ?? "",
  result: result ?? {},
  knownBy: knownBy ?? "answer",
});
