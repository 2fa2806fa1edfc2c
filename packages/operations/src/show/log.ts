import type { Decision, JsonObject, Ledger, LogLine } from "@durable-payments/ledger";
import { notFound } from "../errors.ts";
import type { LogLineView, RunLog } from "./run-view.ts";

const wordsOf = (details: JsonObject): string | null => {
  const words = Object.entries(details)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return words.length === 0 ? null : words.join(", ");
};

const ofDecision = ({ at, sequence, step, ...decision }: Decision): LogLineView => {
  const details = [decision.reason, wordsOf(decision.value), `(known by ${decision.how})`];
  return {
    at,
    sequence,
    step,
    who: decision.by,
    what: decision.kind,
    details: details.filter((part) => part !== null).join(" "),
    isDecision: true,
  };
};

const lineOf = (line: LogLine): LogLineView => {
  if ("kind" in line) return ofDecision(line);
  const { at, details, sequence, step, what, who } = line;
  return { at, sequence, step, what, who, details: wordsOf(details), isDecision: false };
};

/**
 * Reads the log of a workflow id: every send, outcome, removal and decision, with who asked for it. Decisions about
 * everything (a pause, a recovery) are among them, where they fall into its time.
 *
 * @param isVerified whether the chain of hashes is checked.
 * @throws NotFound where the ledger has nothing of the id.
 */
export const readLog = async (
  ledger: Ledger,
  workflowId: string,
  { isVerified = false }: { readonly isVerified?: boolean } = {},
): Promise<RunLog> => {
  const [lines, general] = await Promise.all([ledger.logOf(workflowId), ledger.decisionsOf("")]);
  const own = lines.map(lineOf);
  const [first] = own;
  if (first === undefined) {
    throw notFound(`The ledger has no log of ${workflowId}.`);
  }
  const among = general.filter(({ sequence }) => sequence > first.sequence).map(ofDecision);
  const last = own.at(-1)?.sequence ?? 0;
  const all = [...own, ...among.filter(({ sequence }) => sequence < last)];
  return {
    workflowId,
    lines: all.toSorted((a, b) => a.sequence - b.sequence),
    ...(isVerified && { verification: await ledger.verify(workflowId) }),
  };
};
