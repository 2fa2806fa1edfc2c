/**
 * Reads the objects of due waits: cardholders, balances, and the payouts that a run waits for and the ledger does not have.
 *
 * Cardholders have no operation for one, so they are read from lists; the others are read one by one.
 */
import type { ListCardholdersInput } from "@durable-payments/client/effect";
import type { RecordedWait, Wait } from "@durable-payments/ledger";
import { atOnce } from "@durable-payments/protocol";
import { PAGE_SIZE } from "../evidence/list-readings.ts";
import { LAST } from "../run-operation.ts";
import { notListed, READINGS, seenCardholder } from "../wait-readings.ts";
import { isRefusedRead } from "../write/outcomes.ts";
import { isLastPage, PARALLEL, type Reader, type ReaderOptions } from "./reader.ts";

/** Waits of a kind that one turn reads at most. */
const MOST_AT_ONCE = 50;

/** Reading a slow list takes at most a fifth of the time. */
const REST = 4;

/** The filter of cardholders whose identity is being checked. */
const PENDING = { card_holder_status: 0 } as const;

/** Makes the parts of the tracker that read the objects of due waits. */
export const dueWaits = (
  { account, call, ledger }: ReaderOptions,
  { endSeen, readOne, settings, throwFault }: Reader,
) => {
  /** The objects of the due waits of a kind. */
  const dueOf = async (kind: Wait["kind"]): Promise<Map<string, ReadonlyArray<RecordedWait>>> => {
    const due = { account, kind, isOpen: true, isDue: true, limit: MOST_AT_ONCE } as const;
    return Map.groupBy(await ledger.waits(due), ({ thing }) => thing);
  };

  /** Reads the objects of the due waits of a kind one by one. */
  const readEach = async (kind: Wait["kind"]): Promise<void> => {
    const objects = [...(await dueOf(kind))];
    if (objects.length === 0) return;
    const { now } = await ledger.state();
    const readWaits = async ([thing, waits]: (typeof objects)[number]) => {
      const since = Math.min(...waits.map((wait) => wait.since));
      const one = await readOne(`${kind} ${thing}`, now - since, (service) =>
        READINGS[kind](service, ledger, account, thing),
      );
      const problem = one.value === undefined ? one.problem : null;
      return { ...one, waits, seen: one.value?.seen, problem };
    };
    const read = await atOnce(objects, readWaits, PARALLEL);
    await endSeen(read);
    throwFault(read);
  };

  /** Reads a list of cardholders until it has shown the unread ones. Returns whether it shows others than open ones. */
  const readCardholders = async (
    unread: Map<string, ReadonlyArray<RecordedWait>>,
    filter: Pick<ListCardholdersInput, "card_holder_status">,
  ): Promise<boolean> => {
    const { assumptions } = await settings();
    let hasEnded = false;
    for (let page_num = 1, isLast = false; unread.size > 0 && !isLast; page_num++) {
      const page = await call((service) =>
        service.listCardholders({ ...filter, page_num, page_size: PAGE_SIZE }, LAST),
      );
      const shown = page.item_list.map((one) => ({
        seen: seenCardholder(one, assumptions).seen,
        waits: unread.get(one.card_holder_id) ?? [],
        problem: null,
      }));
      hasEnded ||= shown.some(({ seen }) => seen.outcome !== "open");
      for (const { seen } of shown) unread.delete(seen.card_holder_id);
      await endSeen(shown);
      isLast = isLastPage(page, page_num);
    }
    return hasEnded;
  };

  /**
   * Reads the due cardholders. There is no operation for one. Most of those that a run waits for are pending, and few of an
   * account's are: the whole list is read only for those that are pending no longer. Returns the time until the next turn.
   */
  const readDueCardholders = async (): Promise<number> => {
    const unread = await dueOf("cardholder");
    if (unread.size === 0) return 0;
    const began = performance.now();
    const isWhole = await readCardholders(unread, PENDING).catch((error: unknown) => {
      if (!isRefusedRead(error)) throw error;
      return false;
    });
    // A service that ignores the filter has shown all.
    if (!isWhole) await readCardholders(unread, {});
    const missing = [...unread].map(async ([id, waits]) => {
      const { seen } = await notListed(ledger, account, id);
      return { waits, seen, problem: null };
    });
    await endSeen(await Promise.all(missing));
    return REST * (performance.now() - began);
  };

  return {
    "waits for payouts": () => readEach("payout"),
    "waits for returns": () => readEach("return"),
    cardholders: readDueCardholders,
    balances: () => readEach("balance"),
  };
};
