import type { WriteRow, WriteState } from "../model/row.ts";
import { REQUEST, type Rest, ROW, WRITES } from "./schema.ts";
import type { Seal } from "./seal.ts";
import type { Query, SqlRow } from "./sql.ts";
import { readFields } from "./table.ts";

/** Operations that make something new each time: two writes never own the same. Beneficiaries are reused. */
const MAKES_ITS_OWN: ReadonlySet<string> = new Set([
  "createPayout",
  "createCardholder",
  "createCard",
]);

/** What is left of it in a pruned row: its outcome is known, so nothing of it matters any more. */
const PRUNED: Rest = {
  knownFrom: 0,
  epoch: 0,
  facts: {},
  token: null,
  sends: 0,
  firstSentAt: null,
  from: null,
  until: null,
  absences: 0,
  unprovableSince: null,
  result: null,
  knownBy: null,
  message: null,
  question: null,
  decisionsAfter: 0,
};

/** A version other than the next one is null, which the column refuses: nothing overwrites what it has not read. */
const NEXT_VERSION = "CASE WHEN writes.version = excluded.version - 1 THEN excluded.version END";

const save = WRITES.inserter([], (name) => (name === "version" ? NEXT_VERSION : undefined));

/** States in which the outcome is known, where no send is in doubt. */
const SETTLED: ReadonlySet<WriteState> = new Set(["refused", "done", "ended", "undone"]);

/** Returns whether what became of a write is certain. */
const isSettled = ({ doubt, state }: WriteRow): boolean =>
  SETTLED.has(state) && !(state === "ended" && doubt > 0);

/** Returns the row as it is kept, the next version of what was there: what names people goes once the outcome is known. */
export const nextVersion = (row: WriteRow, before: WriteRow | undefined): WriteRow => ({
  ...row,
  version: (before?.version ?? 0) + 1,
  request: isSettled(row) ? { ...row.request, facts: {} } : row.request,
});

/** Returns the statement that saves a row, whose version is one more than that which is there. */
export const saveRow = (row: WriteRow, seal: Seal): Query => {
  const { operation, question, request, step, workflowId } = row;
  const all = { ...row, facts: request.facts };
  const rest = Object.fromEntries(
    // The keys of `PRUNED` are those of `Rest`.
    (Object.keys(PRUNED) as ReadonlyArray<keyof Rest>).map((key) => [key, all[key]]),
  ) as unknown as Rest;
  const stored = {
    ...row,
    ...request,
    madeFor: MAKES_ITS_OWN.has(operation) ? "" : `${workflowId}\n${step}`,
    questionId: question?.id ?? null,
    questionKind: question?.kind ?? null,
    isOpen: !isSettled(row) || question !== null || row.isUntold,
    rest,
  };
  return save(stored, seal);
};

/** Reads a row. */
export const readRow = (found: SqlRow, seal: Seal): WriteRow => {
  const { facts, ...rest } = WRITES.fields.rest.read(found["rest"] ?? null, seal) ?? PRUNED;
  return {
    ...rest,
    ...readFields(ROW, found, seal),
    request: { ...readFields(REQUEST, found, seal), facts },
  };
};
