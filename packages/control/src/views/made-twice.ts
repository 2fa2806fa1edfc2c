/*
 * Proves that no cardholder and no card exists twice: by the ledger, and by the service's own list.
 *
 * The list is read first, and whole: a cardholder that is made meanwhile is then in the ledger, and not reported. A proof
 * needs the whole list, and certain outcomes; otherwise the answer says why there is none.
 *
 * The list costs 4 pages for 100 cardholders, and 400 for 10,000. The ledger costs one statement, by an index that has only
 * cardholders and cards. So the payouts cost nothing, however many there are in a second.
 */
import { cardholderReadings } from "@durable-payments/activities";
import {
  type Cardholder,
  type ClientOptions,
  PaymentsClient,
} from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import type { CardholderWrite, Ledger } from "@durable-payments/ledger";
import { WORKFLOW } from "@durable-payments/protocol";
import { accountHash } from "@durable-payments/protocol/account";
import { ManagedRuntime, Result } from "effect";
import type { KnownAccount } from "../facts/connection/connections.ts";
import { invalidInput } from "../errors.ts";
import { noBatch } from "../facts/named.ts";
import {
  existing,
  findMadeTwice,
  isUnderWay,
  type MadeTwice,
  nameOf,
} from "../rules/made-twice.ts";
import type { Service } from "./doctor/doctor.ts";

/** The cardholders of an account that were compared. */
export interface ExaminedAccount {
  /** Hash of the account. */
  readonly account: string;
  readonly name: string | null;
  /** Cardholders and cards that the ledger has, or may have, made: of the batch, if one is given. */
  readonly cardholders: number;
  readonly cards: number;
  /** Cardholders that the service lists, of the whole account; null if its list could not be read. */
  readonly listed: number | null;
  /** Why nothing is proved of the account, for a person; null if it is. */
  readonly whyNot: string | null;
}

/** Cardholders and cards that exist twice, and whether it is proved that there are none. */
export interface Duplicates {
  /** Whether it is proved that there are no duplicates. */
  readonly isProved: boolean;
  readonly accounts: ReadonlyArray<ExaminedAccount>;
  readonly duplicates: ReadonlyArray<MadeTwice & { readonly account: string }>;
}

/** The service's list, or why it cannot be read; `lagMs`: within this time, it shows a new cardholder. */
interface List {
  readonly items?: ReadonlyArray<Cardholder>;
  readonly lagMs: number;
  readonly whyNot?: string | undefined;
}

const readList = async (options: ClientOptions): Promise<List> => {
  const { listLagSeconds, reconciliationMaxPages } = options.assumptions;
  const lagMs = listLagSeconds * 1_000;
  const runtime = ManagedRuntime.make(PaymentsClient.layer(options));
  try {
    const readings = cardholderReadings(runtime, reconciliationMaxPages);
    const { fault, isRefused, items, unreadable } = await readings.read(() => false);
    const whyNot =
      fault ?? (unreadable.length > 0 ? `unreadable rows: ${unreadable.length}` : undefined);
    if (isRefused) return { lagMs, whyNot };
    return { items, lagMs, whyNot };
  } catch (error) {
    return { lagMs, whyNot: messageOf(error) };
  } finally {
    await runtime.dispose();
  }
};

const NO_ACCESS: List = { lagMs: 0, whyNot: "no access to the account is set here" };

const listOf = async (services: ReadonlyArray<Service>, account: string): Promise<List> => {
  for (const { access } of services) {
    if (Result.isSuccess(access) && accountHash(access.success) === account)
      return readList(access.success);
  }
  return NO_ACCESS;
};

/** Returns why the list and the writes of an account prove nothing; null if they prove what is compared. */
const whyNotProved = (
  { items = [], lagMs, whyNot }: List,
  own: ReadonlyArray<CardholderWrite>,
  begun: number,
): string | null => {
  const nameless = items.filter((one) => nameOf(one) === "").length;
  if (nameless > 0) return `cardholders listed without a name: ${nameless}`;
  if (whyNot) return `the list of cardholders proves nothing: ${whyNot}`;
  const open = own.filter(isUnderWay).length;
  if (open > 0) return `requests whose outcome is not known yet: ${open}`;
  const listed = new Set(items.map(({ card_holder_id }) => card_holder_id));
  const unseen = existing(own).holders.filter(
    ({ changedAt, madeId }) => madeId !== null && !listed.has(madeId) && changedAt > begun - lagMs,
  ).length;
  return unseen > 0 ? `new cardholders that are not listed yet: ${unseen}` : null;
};

/**
 * Finds cardholders and cards that exist twice. An account that only the ledger knows is examined, too, and nothing is proved of
 * it.
 *
 * @param use calls a function with the ledger.
 * @param only hash of the account that is examined; by default all are.
 * @param batch limits the answer to what the runs of a batch have made.
 * @throws NotFound if the ledger has no such batch; InvalidInput if it is a file of payouts.
 */
export const findDuplicatesMade = async (
  use: <A>(read: (opened: { readonly ledger: Ledger }) => Promise<A>) => Promise<A>,
  accounts: ReadonlyArray<KnownAccount>,
  services: ReadonlyArray<Service>,
  only: string | undefined,
  batch: string | undefined,
): Promise<Duplicates> => {
  const { begun, ids } = await use(async ({ ledger }) => {
    const of = batch === undefined ? undefined : await ledger.batch(batch);
    if (batch !== undefined && of === undefined) throw await noBatch(ledger, batch);
    if (of?.type === WORKFLOW.payout)
      throw invalidInput(
        `${batch} is a file of payouts: it has no cardholders. Give a file of cardholders, or leave the batch out.`,
      );
    const rows = batch === undefined ? undefined : await ledger.batchRows(batch);
    const { now } = await ledger.state();
    return { begun: now, ids: rows && new Set(rows.map(({ workflowId }) => workflowId)) };
  });
  const isOfBatch = ({ ownerId, rootId, workflowId }: CardholderWrite) =>
    ids === undefined || [ownerId, rootId, workflowId].some((id) => ids.has(id));
  const examined = accounts.filter(({ hash }) => only === undefined || hash === only);
  const lists = new Map(
    await Promise.all(
      examined.map(async ({ hash }) => [hash, await listOf(services, hash)] as const),
    ),
  );
  const found = await use(({ ledger }) => ledger.cardholderWrites(only));
  const byAccount = Map.groupBy(found, ({ account }) => account);
  const strange = [...byAccount.keys()].filter((hash) => !lists.has(hash));
  const isMeant = (hash: string) => byAccount.get(hash)?.some(isOfBatch) === true;
  const all = [...lists.keys(), ...strange.filter(isMeant)].map((hash) => {
    const list = lists.get(hash) ?? NO_ACCESS;
    const writes = byAccount.get(hash) ?? [];
    const own = writes.filter(isOfBatch);
    const owners = new Set(own.map(({ ownerId }) => ownerId));
    const { cards, holders } = existing(own);
    const account: ExaminedAccount = {
      account: hash,
      name: accounts.find((known) => known.hash === hash)?.name ?? null,
      cardholders: holders.length,
      cards: cards.length,
      listed: list.items?.length ?? null,
      whyNot: whyNotProved(list, own, begun),
    };
    const duplicates = findMadeTwice(writes, list.items ?? [])
      .filter(({ workflowIds }) => ids === undefined || workflowIds.some((id) => owners.has(id)))
      .map((one) => ({ account: hash, ...one }));
    return { account, duplicates };
  });
  const duplicates = all.flatMap((one) => one.duplicates);
  return {
    isProved: duplicates.length === 0 && all.every(({ account }) => account.whyNot === null),
    accounts: all.map(({ account }) => account),
    duplicates,
  };
};
