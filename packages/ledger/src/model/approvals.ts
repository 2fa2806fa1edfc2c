/**
 * Four eyes: whether a write needs a second person, and whether one has approved it.
 *
 * The difficulty is that a caller proves nothing about itself. A memo, an input, a signal or a file may name any starter,
 * root or approval. So only the log of the ledger permits a send: it has who started the payment, and who approved
 * exactly this request. A claim of the caller counts if it asks for more.
 */
import { ASKS, needsApproval } from "./limits.ts";
import { isSamePerson } from "./person.ts";
import type { Root, WriteName, WriteRow } from "./row.ts";
import type { Call } from "./events.ts";
import type { Decision, DecisionKind, Look } from "../store/ledger.ts";

/** Decisions that make a person responsible for a send, so that another person must approve it, with their texts. */
export const HAS_PART: Readonly<Partial<Record<DecisionKind, string>>> = {
  start: "started it",
  amend: "amended it",
  overrule: "overrode its stop order",
  resend: "had it sent again",
};

type Name = Pick<WriteName, "workflowId" | "step">;

/** Whether a decision is about a write: a step is one of its own workflow id, whichever workflow asks for the write. */
export const isAbout = (name: Name, { step, workflowId }: Decision): boolean =>
  step === null || (step === name.step && workflowId === name.workflowId);

/**
 * Whether the log has the start of the run that asks, as Temporal says it: an id proves nothing, because anyone with
 * access to Temporal can start it again with another input. A retry on record leads from a run that counts to the next
 * one. The start of a payout says what it pays, and nothing else is sent under its id (`notAsStarted`): a file records
 * it before its run.
 */
const isStarted = (
  root: Root,
  { workflowId: id }: Name,
  decisions: ReadonlyArray<Decision>,
): boolean => {
  const runs = new Set<unknown>();
  for (const { kind, value, workflowId } of decisions) {
    if (workflowId !== root.id) continue;
    if (kind === "start" && id === root.id && "terms" in value) return true;
    if (kind === "start" || runs.has(value["from"])) runs.add(value["firstRunId"]);
  }
  return runs.has(root.firstRunId);
};

/**
 * Returns why a write cannot be approved: if the start of its run is not recorded, the starter, who must not approve,
 * is unknown.
 *
 * @param root - as Temporal says it.
 * @param decisions - those on the ids of its name, its owner and its root.
 * @returns a sentence; undefined if it can, or Temporal was not asked for the root.
 */
export const whyNobody = (
  root: Root | undefined,
  name: Name,
  decisions: ReadonlyArray<Decision>,
): string | undefined =>
  root === undefined || isStarted(root, name, decisions)
    ? undefined
    : `Nobody can approve it, because the ledger has no start of this run of ${root.id}: start it again with the same id and input. If that is refused, cancel it, and start it under another id.`;

/**
 * Returns why this person cannot approve a write, although others can.
 *
 * @param decisions - those on the ids of its name, its owner and its root.
 * @returns a sentence; undefined if the person can.
 */
export const whyNotApprover = (
  by: string,
  write: Name,
  decisions: ReadonlyArray<Decision>,
): string | undefined => {
  for (const decision of decisions) {
    const part = HAS_PART[decision.kind];
    if (part !== undefined && isAbout(write, decision) && isSamePerson(by, decision.by))
      return `${decision.by} ${part}, so another person has to approve it.`;
  }
  return undefined;
};

const isApproval = ({ step, workflowId }: Name, decision: Decision): boolean =>
  decision.kind === "approve" && decision.workflowId === workflowId && decision.step === step;

/**
 * Returns why a second person must approve the request that `row` would send. An option, a start or a worker can only
 * ask for more than the limits of the account.
 *
 * @param row - the row, or the call if there is none yet.
 * @returns a sentence; undefined if nobody has to.
 */
export const approvalReason = (
  { decisions, limits }: Look,
  { request }: Pick<WriteRow, "request">,
  { approveAbove, limits: own, name }: Call,
): string | undefined => {
  const starts = decisions.filter(({ kind }) => kind === "start");
  const said = starts.map(({ value }) => value["approveAbove"]);
  const options = [approveAbove, ...said.filter((limit) => typeof limit === "string")];
  const above = needsApproval(request, options, [limits.approveAbove, own?.approveAbove ?? null]);
  if (above !== undefined) return above;
  if (decisions.some(({ kind }) => kind === "overrule"))
    return `${ASKS} its stop order was overridden.`;
  if (decisions.some((decision) => isApproval(name, decision)))
    return `${ASKS} it was approved before, and an approval is for one send of one request.`;
  return request.amount !== null && starts.some(({ value }) => value["needsApproval"] === true)
    ? `${ASKS} its file needs approval as a whole.`
    : undefined;
};

/**
 * Whether a second person has approved exactly the request that `row` would send. A start after the approval voids it:
 * the row of a file that was approved, then cancelled, is not paid by another file without a new approval.
 */
export const isApproved = (
  { decisions, limits }: Look,
  { decisionsAfter, generation, request }: WriteRow,
  { name, payee, root }: Call,
): boolean => {
  if (root === undefined || !isStarted(root, name, decisions)) return false;
  const isStart = ({ kind, workflowId }: Decision) =>
    kind === "start" && workflowId === name.workflowId;
  const started = decisions.findLast(isStart)?.sequence ?? 0;
  return decisions.some(
    (decision) =>
      isApproval(name, decision) &&
      decision.account === name.account &&
      decision.sequence > Math.max(decisionsAfter, limits.since, started) &&
      decision.value["generation"] === generation &&
      decision.value["terms"] === request.terms &&
      decision.value["account"] === (payee?.mark ?? null) &&
      whyNotApprover(decision.by, name, decisions) === undefined,
  );
};
