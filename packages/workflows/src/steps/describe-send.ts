import type { JournalSend } from "@durable-payments/activities";
import { bearsKey } from "@durable-payments/activities/match-rows";
import type { HumanTask } from "@durable-payments/protocol";
import { moneyText, namedInDoubt, type StepInDoubt } from "../run/in-doubt.ts";
import type { Reconciled } from "./reconcile.ts";
import type { Write } from "./write.ts";

/** How the outcomes in the journal are called for a person. */
const OUTCOMES: Readonly<Record<JournalSend["outcome"], string>> = {
  begun: "nobody knows whether it was carried out",
  unknown: "nobody knows whether it was carried out",
  carriedOut: "carried out",
  notCarriedOut: "not carried out",
  undone: "carried out, and undone since",
};

const timeOf = ({ begunAt }: JournalSend): string => new Date(begunAt).toISOString();

/** What a person is shown of what was sent before, as the journal has it: it keeps no more. */
export const shownOfJournal = (sent: JournalSend): HumanTask["candidates"][number] => {
  const { amount, currency, ids, key, outcome } = sent;
  return {
    ...ids,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    sent_at: timeOf(sent),
    ...(key !== undefined && { unique_request_id: key }),
    outcome: OUTCOMES[outcome],
  };
};

const sentText = (sent: JournalSend): string =>
  [
    `${moneyText(sent) ?? "a request"} on ${timeOf(sent)}`,
    ...(sent.key === undefined ? [] : [`key ${sent.key}`]),
  ].join(", ");

const toSendText = (request: object): string => moneyText(request) ?? "this request";

/** Describe what was sent before, and what was not sent now. */
export const otherRequestText = (sent: JournalSend, request: object): string =>
  `It was another request than this one: ${sentText(sent)}; ${toSendText(request)} was not sent.`;

/** Describe a request that was sent before what was sent last. */
export const earlierRequestText = (sent: JournalSend): string =>
  `Before it another request than this one was sent: ${sentText(sent)}.`;

/** Whether something listed has the key under which it was sent: then it was carried out. */
const isFoundByKey = (
  { unique_request_id }: HumanTask["candidates"][number],
  { key }: JournalSend,
): boolean => typeof unique_request_id === "string" && bearsKey(unique_request_id, key);

/** What a person is shown of what the list says of what was sent before. */
interface FoundOfOther {
  readonly text: string;
  readonly candidates: HumanTask["candidates"];
  readonly canResend: boolean;
}

/**
 * Describe what the list shows of a request of which the journal has little: what has its key is it for
 * certain. That nothing is listed proves nothing: nobody knows what else it said.
 */
export const describeFound = <A>(
  found: Reconciled<A>,
  other: JournalSend,
  shown: (item: A) => HumanTask["candidates"][number],
): FoundOfOther => {
  switch (found._tag) {
    case "Found": {
      const candidate = shown(found.value);
      return isFoundByKey(candidate, other)
        ? { text: "It is listed: it was carried out.", candidates: [candidate], canResend: false }
        : { text: "One is listed that may be it.", candidates: [candidate], canResend: true };
    }
    case "Unclear":
      return { text: found.reason, candidates: found.candidates, canResend: true };
    case "Absent":
      return {
        text: "It is not listed under its key, which proves nothing: search for it by what you know of it.",
        candidates: [],
        canResend: true,
      };
  }
};

/** What a step has left in doubt, for each further human task; nothing, mostly. */
const leftText = (left: ReadonlyArray<StepInDoubt>): string =>
  left.length === 0
    ? ""
    : ` Nobody knows either whether this was carried out, which was sent before: ${left.map(namedInDoubt).join("; ")}.`;

/** Describe a send in a human task: what was sent, apart from what is to be sent now. */
export const describeSend = <Request extends object>(
  {
    idsWanted,
    operation,
    shown,
  }: Pick<Write<Request, unknown>, "idsWanted" | "operation" | "shown">,
  {
    left,
    other,
    reason,
    request,
  }: {
    readonly left: ReadonlyArray<StepInDoubt>;
    readonly other: JournalSend | undefined;
    readonly reason: string;
    readonly request: Request;
  },
): Pick<HumanTask, "operation" | "reason" | "sent" | "toSend" | "idsWanted"> => {
  const common = { operation, reason: `${reason}${leftText(left)}`, idsWanted };
  const asNow = shown(request);
  if (other === undefined) return { ...common, sent: asNow };
  // What is sent beside another request gets another key then.
  const { unique_request_id: _, ...toSend } = asNow;
  return { ...common, sent: shownOfJournal(other), toSend };
};
