import { idNameOf, isInDoubt, type RecordedSend } from "@durable-payments/journal";
import type { StepInDoubt } from "@durable-payments/workflows";
import { type JournalSettings, NoJournal, withJournal } from "../connection/journal.ts";
import type { DoubtedStep } from "./doubted-step.ts";
import type { JournalRecord } from "./journal-record.ts";

interface Recorded {
  readonly sends: ReadonlyArray<RecordedSend>;
  /** Why a journal was not read, where one was not. */
  readonly why: string | undefined;
}

const madeBy = ({ ids, operation }: RecordedSend): Readonly<Record<string, string>> => {
  const name = idNameOf(operation) ?? "";
  const id = ids[name];
  // Beside what was made the journal keeps what it was made for.
  return id === undefined ? ids : { [name]: id };
};

const recordOf = (
  { sends, why }: Recorded,
  workflowId: string,
  { key, step }: Pick<StepInDoubt, "key" | "step">,
): JournalRecord => {
  const own = sends.filter(
    (send) =>
      send.workflowId === workflowId &&
      send.step === step &&
      (key === undefined || send.key === key),
  );
  const made = own.findLast(({ outcome }) => outcome === "carriedOut");
  if (made !== undefined) return { outcome: "carriedOut", ids: madeBy(made) };
  if (own.some(isInDoubt)) return { outcome: "noAnswer" };
  if (own.some(({ outcome }) => outcome === "undone")) return { outcome: "undone" };
  if (own.length > 0) return { outcome: "notCarriedOut" };
  return why === undefined ? { outcome: "notRecorded" } : { outcome: "notRead", why };
};

/** Read from the journals of all accounts what runs have sent; one that cannot be read hides none of the others. */
const readSends = async (
  journals: ReadonlyArray<JournalSettings>,
  workflowIds: ReadonlyArray<string>,
): Promise<Recorded> => {
  const sends: Array<RecordedSend> = [];
  let why = journals.length === 0 ? "it is not set here" : undefined;
  for (const settings of journals) {
    try {
      const read = await withJournal(settings, async ({ journal }) => {
        const found = [];
        for (const workflowId of workflowIds) found.push(...(await journal.find({ workflowId })));
        return found;
      });
      sends.push(...read);
    } catch (error) {
      if (!(error instanceof NoJournal)) throw error;
      why = error.message;
    }
  }
  return { sends, why };
};

/** A run with what of it is in doubt. */
interface Doubting {
  readonly workflowId: string;
  readonly inDoubt: ReadonlyArray<DoubtedStep>;
}

/**
 * Read what the journal has of the sends of runs that are in doubt: it may know an answer that a run, which had
 * ended, did not take any more.
 *
 * @param journals where the journal of each account is that is known here.
 * @param runs as they are listed or reported.
 * @returns the runs, each send in doubt with its `journal`; where the journal cannot be read, that says why.
 */
export const withJournalRecords = async <Run extends Doubting>(
  journals: ReadonlyArray<JournalSettings>,
  runs: ReadonlyArray<Run>,
): Promise<ReadonlyArray<Run & Doubting>> => {
  const doubting = runs.filter(({ inDoubt }) => inDoubt.length > 0);
  if (doubting.length === 0) return runs;
  const recorded = await readSends(
    journals,
    doubting.map(({ workflowId }) => workflowId),
  );
  return runs.map((run) => ({
    ...run,
    inDoubt: run.inDoubt.map((each) => ({
      ...each,
      journal: recordOf(recorded, run.workflowId, each),
    })),
  }));
};
