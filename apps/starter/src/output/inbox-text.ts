import type { Inbox, InboxItem } from "@durable-payments/operations/show";
import { commandOf } from "./next.ts";
import { paymentText } from "./run-text.ts";
import { counted, roughly, styled, wrap } from "./text.ts";

const KINDS: Readonly<Record<InboxItem["kind"], string>> = {
  question: "Question",
  approval: "Approval",
  batch: "Batch approval",
  unknown: "Outcome unknown",
};

/** The one command that goes on: it asks, and shows all choices. */
const commandFor = ({ kind, workflowId }: InboxItem): string =>
  commandOf(
    kind === "question"
      ? { operation: "answer", workflowId }
      : kind === "unknown"
        ? { operation: "show", workflowId }
        : { operation: "approve", workflowId },
  );

const itemText = (item: InboxItem, index: number, now: number): string => {
  const { choices, kind, reason, since, startedBy, step, workflowId } = item;
  const pays = paymentText(item);
  const title = `${index + 1}. ${KINDS[kind]}: ${pays === "" ? (step ?? workflowId) : pays}`;
  const who = startedBy === null ? "" : `, started by ${startedBy}`;
  return [
    styled("bold", title),
    wrap(
      `${workflowId}${step === null ? "" : ` ${step}`}, waiting for ${roughly(now - since)}${who}`,
      "   ",
    ),
    ...choices.map(({ consequence }) => wrap(consequence, "     ")),
    wrap(`Why: ${reason}`, "   "),
    `   ${styled("cyan", commandFor(item))}`,
  ].join("\n");
};

/** Prints what waits for a person, the oldest first. */
export const inboxText = ({ items, notes }: Inbox, now = Date.now()): string => {
  const count = (kind: InboxItem["kind"]) => items.filter((item) => item.kind === kind).length;
  const unknown = count("unknown");
  const parts = [
    counted(count("question"), "question"),
    counted(count("approval") + count("batch"), "approval"),
    ...(unknown === 0 ? [] : [`${unknown} unknown`]),
  ];
  return [
    items.length === 0 ? "Nothing waits for a person." : styled("bold", parts.join(" · ")),
    ...items.flatMap((item, index) => ["", itemText(item, index, now)]),
    ...notes.map((note) => wrap(`${styled("yellow", "note")} ${note}`)),
  ].join("\n");
};
