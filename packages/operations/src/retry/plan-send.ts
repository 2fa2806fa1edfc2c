import {
  type Replacement,
  type Sending,
  type SentBefore,
  textAt,
} from "@durable-payments/protocol";
import type { ExecutionHistory } from "../history/execution-history.ts";
import { isAmong, type PastSend } from "../history/sends.ts";

const anew = ({ keys }: PastSend) => ({ outcome: "nothing", amendments: keys }) as const;

const same = (outcome: "nothing" | "unknown", { keys }: PastSend): SentBefore => ({
  outcome,
  amendments: Math.max(0, keys - 1),
});

const NOTES = {
  known: "is done: what it made is taken over",
  undone: "was undone: is sent anew",
  removed: "made ID, which is removed: is sent anew, amended",
  kept: "made ID, which stands: another is made beside it, amended",
  refused: "was refused: is sent again, unless the journal has it as sent since",
  amended: "was refused: is sent amended, unless the journal has it as sent since",
  notSent: "was not carried out, by its history: is sent, unless the journal has it as sent",
  unknown: "nobody knows: is reconciled, or repeated under the same key",
} as const;

/** What a person has said of a send, and what the run makes of it. */
const givenNote = (by: string, { isNowhereShown }: Sending): string =>
  `is done, as ${by} says: the id is taken over${isNowhereShown === true ? ", not confirmed by the service" : " if the service shows it as what was sent"}`;

/**
 * What the run takes over of a send, and how that is worded for a person.
 *
 * @param replacement what is said to become of what it made, where another is made in its place.
 */
export const planOf = (
  send: PastSend,
  executed: ExecutionHistory,
  { isAmended, replacement }: { readonly isAmended: boolean; readonly replacement?: Replacement },
): { readonly note: string; readonly before: SentBefore } => {
  const { kind, lastInput, sent } = send;
  const key = textAt(lastInput, "unique_request_id");
  const isGone = sent.outcome === "known" && isAmong(executed.gone, kind, sent.id);
  const ids = [
    ...(send.gone ?? []),
    ...(isGone ? [sent.id] : []),
    ...(replacement === undefined ? [] : [replacement.id]),
  ];
  const gone = ids.length === 0 ? {} : { gone: [...new Set(ids)] };
  if (replacement !== undefined) {
    const note = replacement.what === "remove" ? NOTES.removed : NOTES.kept;
    return {
      note: note.replace("ID", replacement.id),
      before: { ...anew(send), isUndone: true, ...gone },
    };
  }
  switch (sent.outcome) {
    case "known":
      return isGone
        ? { note: NOTES.undone, before: { ...anew(send), isUndone: true, ...gone } }
        : {
            note: sent.givenBy === undefined ? NOTES.known : givenNote(sent.givenBy, kind),
            before: {
              outcome: "known",
              ids: { [kind.idField]: sent.id },
              ...(key !== undefined && { key }),
              ...(sent.givenBy !== undefined && { givenBy: sent.givenBy }),
              ...gone,
            },
          };
    case "refused":
      // A refused request was not carried out: its successor has another key.
      return isAmended
        ? { note: NOTES.amended, before: { ...anew(send), ...gone } }
        : { note: NOTES.refused, before: { ...same("nothing", send), ...gone } };
    case "notSent":
      return { note: NOTES.notSent, before: { ...same("nothing", send), ...gone } };
    default:
      return { note: NOTES.unknown, before: { ...same("unknown", send), ...gone } };
  }
};
