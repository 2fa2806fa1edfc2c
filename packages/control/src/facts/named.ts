/*
 * An id that names nothing of the kind that was asked for often names something else: a file instead of a run, a key
 * without its type, a step that has a key of its own.
 */
import { type Batch, type Ledger, PURPOSES } from "@durable-payments/ledger";
import { type NextAction, type NotFound, notFound } from "../errors.ts";

type Lookup = Pick<Ledger, "batch" | "rowsOf" | "runs">;

const show = (workflowId: string): NextAction => ({ action: "show", workflowId });

/** Returns the retry of the failed rows of a file, or of the runs of a repair. */
export const retryOf = ({ id, type }: Pick<Batch, "id" | "type">): NextAction => ({
  action: "retryAll",
  ...(type === "repair" ? { repair: id } : { batch: id }),
});

/** Makes the error for the id of a batch where that of another kind was asked for. */
export const wrongBatch = (
  { id, type }: Pick<Batch, "id" | "type">,
  wanted: string,
  nothing = "",
  next = show(id),
): NotFound =>
  notFound(
    `${id} is a ${type === "repair" ? "repair" : "file"}, not a ${wanted}. ${nothing}`.trimEnd(),
    next,
  );

/**
 * Makes the error for an id of which there is no run: it says what the id names instead.
 *
 * @param options `nothing` says what was not done; `ofBatch`: what is done with a batch instead; `why`, if it names nothing.
 */
export const noRun = async (
  ledger: Lookup | undefined,
  id: string,
  {
    nothing = "",
    ofBatch,
    why: unknown = `There is no run of ${id}.`,
  }: {
    readonly nothing?: string;
    readonly ofBatch?: (batch: Batch) => NextAction;
    readonly why?: string;
  } = {},
): Promise<NotFound> => {
  const batch = await ledger?.batch(id);
  if (batch !== undefined) return wrongBatch(batch, "run", nothing, ofBatch?.(batch));
  const rows = (await ledger?.rowsOf(id)) ?? [];
  const owner = rows.find(({ ownerId }) => ownerId !== id)?.ownerId;
  const workflowIds = Object.keys(PURPOSES).map((type) => `${type}/${id}`);
  const [run] = (await ledger?.runs({ workflowIds, limit: 1 })) ?? [];
  const [why, next] = owner
    ? [`${id} is the key of a step of ${owner}, not a run. It has a log of its own.`, show(owner)]
    : run
      ? [`${id} is the key of the run ${run.workflowId}.`, show(run.workflowId)]
      : [unknown, { action: "list" } as const];
  return notFound(`${why} ${nothing}`.trimEnd(), next);
};

/** Makes the error for an id of which there is no batch: it may be the id of a run. */
export const noBatch = async (
  ledger: Pick<Ledger, "runs">,
  id: string,
  nothing = "",
  kind = "batch",
): Promise<NotFound> => {
  const [run] = await ledger.runs({ workflowIds: [id], limit: 1 });
  const [why, next] = run
    ? [`${id} is a run, not a ${kind}.`, show(id)]
    : [`There is no ${kind} ${id}.`];
  return notFound(`${why} ${nothing}`.trimEnd(), next);
};
