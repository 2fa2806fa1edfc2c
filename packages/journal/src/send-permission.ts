import type { RecordedSend, Send } from "./journal.ts";

type Asked = Pick<Send, "isUndone" | "knownTo" | "number">;

const highest = (sends: ReadonlyArray<RecordedSend>): RecordedSend | undefined =>
  sends.toSorted((a, b) => a.number - b.number).at(-1);

/** Check whether nobody knows if a send was carried out. */
export const isInDoubt = ({ outcome }: Pick<RecordedSend, "outcome">): boolean =>
  outcome === "begun" || outcome === "unknown";

/**
 * Find the recorded send of the same write that forbids another one: what was carried out and not undone
 * since, or else the latest where it is not before the one asked for, or else the latest that may
 * have been carried out, if only to be undone, and that the run which asks knows nothing of.
 *
 * PostgreSQL has the same rule in the `INSERT` of `postgres-journal.ts`: change both, or neither.
 */
export const forbidding = (
  { isUndone = false, number, knownTo = number - 1 }: Asked,
  recorded: ReadonlyArray<RecordedSend>,
): RecordedSend | undefined => {
  const carriedOut = isUndone
    ? undefined
    : highest(recorded.filter(({ outcome }) => outcome === "carriedOut"));
  const latest = highest(recorded);
  if (carriedOut !== undefined) return carriedOut;
  if (latest !== undefined && latest.number >= number) return latest;
  return highest(
    recorded.filter(
      (send) =>
        send.number > knownTo && (isInDoubt(send) || (send.outcome === "undone" && !isUndone)),
    ),
  );
};

/** The latest send of a write of which it is not known whether it was carried out. */
export const latestUnknown = (recorded: ReadonlyArray<RecordedSend>): RecordedSend | undefined =>
  highest(recorded.filter(isInDoubt));

/** Whether a recorded send overtakes one that has begun: it is later, or was carried out before. */
export const isOvertakenBy = (
  { isUndone = false, number }: Asked,
  recorded: ReadonlyArray<RecordedSend>,
): boolean =>
  recorded.some(
    (other) =>
      other.number > number ||
      (other.number < number && other.outcome === "carriedOut" && !isUndone),
  );
