import type { Question } from "./answer-tasks.ts";
import { type Likeness, likenessOf } from "./compare-row.ts";
import type { ReadList, Shown } from "./service-reader.ts";
import { call } from "../environment/temporal-calls.ts";
import type { World } from "../environment/environment.ts";

/** What the service's lists say of a send whose outcome is unknown. */
export type Verdict =
  /** One is listed under our own key. */
  | { readonly _tag: "ours"; readonly id: string }
  /**
   * Exactly one is listed that is the same and of no other run, and no other run may have made it. Those
   * that differ in one field do not count beside it.
   */
  | { readonly _tag: "only"; readonly id: string }
  /** None is listed that may be it. */
  | { readonly _tag: "absent" }
  /** Several are, or one that another run may have made, or something that cannot be read. */
  | { readonly _tag: "unclear" }
  /** There is no list to look at. */
  | { readonly _tag: "unlisted" };

/** What the list shows is of this kind, as the PaymentIds of runs name it: `payout:ID`. */
type Kind = "payout" | "cardholder" | "card";

interface ListOf {
  readonly kind: Kind;
  readonly path: string;
  readonly pageSize: number;
  readonly filter?: string;
  /** The field with the id of what was made. */
  readonly idField: string;
  /** What of the request such a list shows; all of it where this is left out. */
  readonly shows?: (sent: Shown) => Shown;
}

const PAYOUTS: ListOf = {
  kind: "payout",
  path: "/api/v1/payouts",
  pageSize: 50,
  idField: "payout_id",
};

/** The list in which what an id names is to be found. */
const LISTS: Readonly<Record<string, ListOf>> = {
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

const isAlike = (likeness: Likeness): boolean => likeness !== "other" && likeness !== "similar";

/** An id of a run, as a question names it. */
const WORKFLOW_ID = /chaos-[a-z]+-\d+/g;

/** What a person finds out by reading the service's lists, and by asking which run owns what. */
export class Evidence {
  readonly #world: World;
  #read = new Map<string, Promise<ReadList>>();

  constructor(world: World) {
    this.#world = world;
  }

  /** What was read is old. */
  forget(): void {
    this.#read = new Map();
  }

  /**
   * Compares what a run says that it sent with what is listed.
   *
   * @throws Unreadable where the service does not answer
   */
  async judge(question: Question, all: readonly Question[]): Promise<Verdict> {
    const [wanted = ""] = question.idsWanted;
    const list = LISTS[wanted];
    if (list === undefined) return { _tag: "unlisted" };
    const { rows, unreadable } = await this.#list(list);
    const sent = list.shows?.(question.sent) ?? question.sent;
    const candidates: Array<{ readonly id: string; readonly likeness: Likeness }> = [];
    for (const listed of rows) {
      const id = String(listed[list.idField]);
      let likeness = likenessOf(sent, listed);
      if (likeness === "perhaps" && list === PAYOUTS) {
        likeness = likenessOf(sent, { ...listed, ...(await this.#world.reader.payout(id)) });
      }
      if (likeness === "ours") return { _tag: "ours", id };
      if (likeness === "other" || (await this.#isOfARun(list, id, listed["unique_request_id"])))
        continue;
      candidates.push({ id, likeness });
    }
    const alike = candidates.filter(({ likeness }) => likeness !== "similar");
    const isOneExact = alike.some(({ likeness }) => likeness === "exact");
    const [candidate, ...more] = isOneExact ? alike : candidates;
    if (unreadable > 0 || more.length > 0) return { _tag: "unclear" };
    if (candidate === undefined) return { _tag: "absent" };
    const isLike = (other: Question) =>
      other !== question &&
      other.idsWanted[0] === wanted &&
      isAlike(likenessOf(sent, list.shows?.(other.sent) ?? other.sent));
    const isRivalled =
      question.sendsBeside || all.some(isLike) || (await this.#namesRival(question));
    return candidate.likeness === "exact" && !isRivalled
      ? { _tag: "only", id: candidate.id }
      : { _tag: "unclear" };
  }

  /** Whether the question says that another run, which goes on, may have made it. */
  async #namesRival({ reason, workflowId }: Question): Promise<boolean> {
    const named = (reason.match(WORKFLOW_ID) ?? []).filter((id) => id !== workflowId);
    if (named.length === 0) return false;
    const ids = named.map((id) => JSON.stringify(id)).join(", ");
    const query = `WorkflowId IN (${ids}) AND ExecutionStatus != "Completed"`;
    const { count } = await call(this.#world, (client) => client.workflow.count(query));
    return count > 0;
  }

  async #list(list: ListOf): Promise<ReadList> {
    const { filter, idField, pageSize, path } = list;
    const known = this.#read.get(path);
    if (known !== undefined) return await known;
    const reading = this.#world.reader.list(path, idField, pageSize, filter);
    this.#read.set(path, reading);
    return await reading;
  }

  /** Whether some run is known to have made it: what `starter runs list --find payout:ID` shows. */
  async #isOfARun({ kind }: ListOf, id: string, key: unknown): Promise<boolean> {
    const ids = [
      `${kind}:${id}`,
      ...(typeof key === "string" && key !== "" ? [`key:${key.toLowerCase()}`] : []),
    ];
    const query = ids.map((one) => `PaymentIds = ${JSON.stringify(one)}`).join(" OR ");
    const { count } = await call(this.#world, (client) => client.workflow.count(query));
    return count > 0;
  }
}
