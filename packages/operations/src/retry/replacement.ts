import { isRecord } from "@durable-payments/api-core/values";
import type { Replacement } from "@durable-payments/protocol";
import { invalidInput, refused } from "../errors.ts";
import type { ExecutionHistory } from "../history/execution-history.ts";
import { isAmong } from "../history/sends.ts";

const REPLACED = "replaced";

const HOW: ReadonlyArray<unknown> = ["remove", "keep"] satisfies ReadonlyArray<Replacement["what"]>;

const isHow = (what: unknown): what is Replacement["what"] => HOW.includes(what);

/**
 * Take the word for what becomes of what is replaced (`replaced`) off an amendment: it is no field of the
 * input.
 *
 * @throws InvalidInput where it is neither `remove` nor `keep`
 */
export const splitAmendment = (
  patch: unknown,
): { readonly patch: unknown; readonly what: Replacement["what"] | undefined } => {
  if (!isRecord(patch) || !(REPLACED in patch)) return { patch, what: undefined };
  const { [REPLACED]: what, ...fields } = patch;
  if (!isHow(what)) {
    throw invalidInput("The amendment is wrong. Nothing was done.", [
      { field: REPLACED, problem: 'must be "remove" or "keep"' },
    ]);
  }
  return { what, patch: Object.keys(fields).length === 0 ? undefined : fields };
};

/** What a step has made that stands, where a person may have another made in its place. */
export const replaceableOf = (
  { gone, sends }: Pick<ExecutionHistory, "gone" | "sends">,
  step: string,
): string | undefined => {
  const { kind, sent } = sends.get(step) ?? {};
  if (kind?.isReplaceable !== true || sent?.outcome !== "known") return undefined;
  const others = [...sends].filter(([name]) => name !== step);
  // What was made for it, or may have been, would be left without it.
  const isUsed = others.some(
    ([, send]) =>
      send.sent.outcome === "unknown" ||
      (send.sent.outcome === "known" && !isAmong(gone, send.kind, send.sent.id)),
  );
  return isUsed || isAmong(gone, kind, sent.id) ? undefined : sent.id;
};

/**
 * Plan what is replaced: what a step of the run has made and nothing else was made for, or what was to be
 * replaced and is not yet.
 *
 * @throws Refused where there is nothing that could be replaced
 */
export const planReplacement = (
  workflowId: string,
  executed: ExecutionHistory,
  what: Replacement["what"],
): Replacement => {
  for (const step of executed.sends.keys()) {
    const id = replaceableOf(executed, step);
    if (id !== undefined) return { step, id, what };
  }
  const pending = executed.replaced.find(({ step }) => {
    const { kind, sent } = executed.sends.get(step) ?? {};
    if (kind === undefined || sent?.outcome === "unknown") return false;
    return sent?.outcome !== "known" || isAmong(executed.gone, kind, sent.id);
  });
  if (pending !== undefined) return { ...pending, what };
  throw refused(
    `Nothing that ${workflowId} has made can be replaced: a cardholder can, whom it has created and for whom it has sent nothing else. Leave ${REPLACED} out. Nothing was done.`,
  );
};
