import type { RecordedWait, WriteRow } from "@durable-payments/ledger";
import { WAIT } from "@durable-payments/protocol/waits";
import { NUDGE } from "@durable-payments/protocol/calls";
import type { TimelineItem } from "../history/events.ts";
import { paymentOf, type StepView } from "./run-view.ts";
import { type Evidence, unknownText, waitText } from "./standing.ts";

const BY: Readonly<Record<string, string>> = {
  key: "found in the list by its key",
  likeness: "found in the list by its fields",
  person: "named by a person",
};

const twice = ({ sends }: WriteRow): string => (sends > 1 ? `, sent ${sends} times` : "");

const textOf = (row: WriteRow, now: number, listLagMs?: number): string => {
  const { doubt, knownBy, madeId, message, question, result, sends } = row;
  switch (row.state) {
    case "ready":
      if (question?.kind === "approval") return `needs approval: ${question.reason}`;
      return message ?? (sends === 0 ? "not sent yet" : "not carried out; will be sent again");
    case "sending":
      return "being sent";
    case "unknown":
      return `${unknownText(row, now, listLagMs)}${twice(row)}`;
    case "asking":
      return `needs an answer: ${question?.reason ?? ""}`;
    case "refused":
      return `refused by the service: ${message ?? "no reason"}`;
    case "done":
      return [madeId, knownBy === null ? undefined : BY[knownBy]]
        .filter((part) => part !== undefined && part !== null)
        .join(", ")
        .concat(
          twice(row),
          result?.["not_confirmed"] === true
            ? `; not confirmed: check with the service that ${madeId} is what was made`
            : "",
        );
    case "ended":
      return doubt > 0
        ? "ended by a person; outcome unknown"
        : "ended by a person; nothing was paid";
    case "undone":
      return `${madeId ?? "what it made"} was removed again`;
  }
};

const writeStep = (row: WriteRow, { listLagMs, now }: Evidence): StepView => {
  const isSettled = row.state === "done" || row.state === "refused" || row.state === "undone";
  return {
    kind: "write",
    name: row.step,
    state: row.state,
    text: textOf(row, now, listLagMs),
    ...paymentOf(row.request),
    at: row.createdAt,
    endedAt: isSettled ? row.changedAt : null,
    madeId: row.madeId,
    knownBy: row.knownBy,
    sends: row.sends,
  };
};

const NOTHING = { ...paymentOf(undefined), madeId: null, knownBy: null, sends: null } as const;

const outcomeOf = ({ outcome }: RecordedWait): string | undefined => {
  const word = outcome?.["outcome"];
  return typeof word === "string" ? word : undefined;
};

/** Returns whether the service has decided against what was waited for: waiting again does not help. */
export const isRefused = (wait: RecordedWait): boolean =>
  ["refused", "removed"].includes(outcomeOf(wait) ?? "");

const stateOfWait = (wait: RecordedWait): StepView["state"] => {
  if (wait.closedAt === null) return "open";
  if (isRefused(wait) || ["failed", "incomplete"].includes(outcomeOf(wait) ?? "")) return "failed";
  return outcomeOf(wait) === "runEnded" ? "cancelled" : "done";
};

const waitStep = (wait: RecordedWait): StepView => {
  const outcome = outcomeOf(wait);
  return {
    ...NOTHING,
    kind: "wait",
    name: WAIT[wait.kind],
    state: stateOfWait(wait),
    text:
      wait.closedAt === null
        ? waitText(wait)
        : `${wait.thing}${outcome === undefined ? "" : `: ${outcome}`}`,
    at: wait.since,
    endedAt: wait.closedAt,
  };
};

const WAITING: ReadonlySet<string> = new Set(Object.values(WAIT));

const textOfItem = ({ endedAt, kind, message, outcome, summary, until }: TimelineItem): string => {
  if (kind === "timer" && endedAt === null && until !== null) {
    return `${summary ?? "sleeping"}, until ${new Date(until).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  }
  return (
    message ?? summary ?? (outcome === "done" ? "" : outcome === "open" ? "under way" : outcome)
  );
};

const itemStep = (item: TimelineItem): StepView => ({
  ...NOTHING,
  kind: item.kind,
  name: item.name,
  state: item.outcome,
  text: textOfItem(item),
  at: item.at,
  endedAt: item.endedAt,
});

/** Puts together what a run did, in the order of beginnings: writes and waits as the ledger has them, all else as its history shows it. */
export const stepsOf = (evidence: Evidence): ReadonlyArray<StepView> => {
  const { items, rows, waits } = evidence;
  const known = new Set([...rows.map(({ operation }) => operation), "undo"]);
  const others = items.filter(
    ({ kind, name, outcome }) =>
      !(kind === "activity" && (known.has(name) || (WAITING.has(name) && waits.length > 0))) &&
      !(kind === "signal" && name === NUDGE) &&
      // The slow timer beside a question.
      !(kind === "timer" && outcome === "cancelled"),
  );
  return [
    ...rows.map((row) => writeStep(row, evidence)),
    ...waits.map(waitStep),
    ...others.map(itemStep),
  ].toSorted((a, b) => a.at - b.at);
};
