import { PAYMENT_IDS, queryText, queryTexts, type Sending } from "@durable-payments/protocol";
import type { Environment } from "../environment/environment.ts";
import { callTemporal } from "../environment/temporal-calls.ts";
import { compareRow, type RowMatch } from "./compare-row.ts";
import type { OpenTask } from "./open-task.ts";
import type { ReadList, ServiceRecord } from "./service-reader.ts";

/** What the service's lists show of a send whose outcome is unknown. */
export type Reconciliation =
  /** One is listed under the run's own key. */
  | { readonly _tag: "sameKey"; readonly id: string }
  /**
   * Exactly one is listed that is the same and of no other run, and no other run may have made it. Those
   * that differ in one field do not count beside it.
   */
  | { readonly _tag: "unique"; readonly id: string }
  /** None is listed that may be it. */
  | { readonly _tag: "absent" }
  /** Several are, or one that another run may have made, or a row that cannot be read. */
  | { readonly _tag: "unclear" }
  /** There is no list of what was sent. */
  | { readonly _tag: "unlisted" };

interface ListOf {
  /** What PaymentIds of runs call it: `payout:ID`. */
  readonly kind: Sending["makes"];
  readonly path: string;
  readonly pageSize: number;
  readonly filter?: string;
  /** The field with the id of what was made. */
  readonly idField: string;
  /** The fields of the request that such a list shows; all of it where this is left out. */
  readonly shows?: (sent: ServiceRecord) => ServiceRecord;
}

const PAYOUTS: ListOf = {
  kind: "payout",
  path: "/api/v1/payouts",
  pageSize: 50,
  idField: "payout_id",
};

/** The list that shows what an id names, by the field of the id. */
const LISTS: { readonly [IdField in Sending["idField"]]?: ListOf } = {
  payout_id: PAYOUTS,
  card_holder_id: {
    kind: "cardholder",
    path: "/api/v1/cardholders",
    pageSize: 50,
    idField: "card_holder_id",
  },
  // Cards have no list, but their first recharge is a transaction of the account.
  card_id: {
    kind: "card",
    path: "/api/v1/transactions",
    pageSize: 100,
    filter: "&transaction_type=card+charge",
    idField: "reference_id",
    shows: ({ card_limit }) => ({ amount: card_limit }),
  },
};

const isAlike = (match: RowMatch): boolean => match !== "different" && match !== "similar";

/** An id of a run in the reason of a task. */
const WORKFLOW_ID = /chaos-[a-z]+-\d+/g;

/** Reconciles sends by the service's lists and by the PaymentIds of runs, as a person does. */
export class SendReconciler {
  readonly #environment: Environment;
  #read = new Map<string, Promise<ReadList>>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Read every list anew from now on. */
  clearCache(): void {
    this.#read = new Map();
  }

  /**
   * Compare what a run says that it sent with what is listed.
   *
   * @param all the tasks that are open now, this one among them.
   * @throws Unreadable where the service does not answer.
   */
  async reconcile(task: OpenTask, all: readonly OpenTask[]): Promise<Reconciliation> {
    const [wanted = ""] = task.idsWanted;
    const list = (LISTS as Readonly<Record<string, ListOf | undefined>>)[wanted];
    if (list === undefined) return { _tag: "unlisted" };
    const { rows, unreadable } = await this.#list(list);
    const sent = list.shows?.(task.sent) ?? task.sent;
    const candidates: Array<{ readonly id: string; readonly match: RowMatch }> = [];
    for (const listed of rows) {
      const id = String(listed[list.idField]);
      let match = compareRow(sent, listed);
      if (match === "possible" && list === PAYOUTS) {
        match = compareRow(sent, { ...listed, ...(await this.#environment.reader.payout(id)) });
      }
      if (match === "sameKey") return { _tag: "sameKey", id };
      const key = listed["unique_request_id"];
      if (match === "different" || (await this.#isOwned(list, id, key))) continue;
      candidates.push({ id, match });
    }
    const alike = candidates.filter(({ match }) => match !== "similar");
    const isOneExact = alike.some(({ match }) => match === "exact");
    const [candidate, ...more] = isOneExact ? alike : candidates;
    if (unreadable > 0 || more.length > 0) return { _tag: "unclear" };
    if (candidate === undefined) return { _tag: "absent" };
    const isLike = (other: OpenTask) =>
      other !== task &&
      other.idsWanted[0] === wanted &&
      isAlike(compareRow(sent, list.shows?.(other.sent) ?? other.sent));
    const isConcurrent =
      task.isSendingElsewhere || all.some(isLike) || (await this.#namesUnfinishedRun(task));
    return candidate.match === "exact" && !isConcurrent
      ? { _tag: "unique", id: candidate.id }
      : { _tag: "unclear" };
  }

  /** Whether the task says that another run, which has not completed, may have made it. */
  async #namesUnfinishedRun({ reason, workflowId }: OpenTask): Promise<boolean> {
    const named = (reason.match(WORKFLOW_ID) ?? []).filter((id) => id !== workflowId);
    if (named.length === 0) return false;
    const query = `WorkflowId IN ${queryTexts(named)} AND ExecutionStatus != "Completed"`;
    return await this.#finds(query);
  }

  async #list(list: ListOf): Promise<ReadList> {
    const { filter, idField, pageSize, path } = list;
    const known = this.#read.get(path);
    if (known !== undefined) return await known;
    const reading = this.#environment.reader.list(path, idField, pageSize, filter);
    this.#read.set(path, reading);
    return await reading;
  }

  /** Whether a run is known to have made it: what `starter runs list --find payout:ID` shows. */
  async #isOwned({ kind }: ListOf, id: string, key: unknown): Promise<boolean> {
    const ids = [
      `${kind}:${id}`,
      ...(typeof key === "string" && key !== "" ? [`key:${key.toLowerCase()}`] : []),
    ];
    return await this.#finds(
      ids.map((one) => `${PAYMENT_IDS.name} = ${queryText(one)}`).join(" OR "),
    );
  }

  async #finds(query: string): Promise<boolean> {
    const { count } = await callTemporal(this.#environment, (client) =>
      client.workflow.count(query),
    );
    return count > 0;
  }
}
