import { NewestFirst } from "@durable-payments/activities/list-order";
import { type Assumptions, type makePaymentsClient, readTime } from "@durable-payments/api-core";
import { messageOf } from "@durable-payments/api-core/values";
import { type Check, ok, skipped, warning } from "./check.ts";

type Client = Pick<ReturnType<typeof makePaymentsClient>, "listPayouts" | "listCardholders">;

/** The settings of reconciliations. */
export type ReconciliationAssumptions = Pick<
  Assumptions,
  "listsAreNewestFirst" | "reconcileByTimeRange" | "reconciliationMaxPages" | "timeZone"
>;

/** The largest page of both lists. */
const PAGE_SIZE = 50;

/** Pages of each list that are read. */
const MOST_PAGES = 2;

const LISTS = [
  { name: "list of payouts", operation: "listPayouts", byTime: true },
  { name: "list of cardholders", operation: "listCardholders", byTime: false },
] as const;

/** The names of these checks. */
export const LIST_CHECKS: ReadonlyArray<string> = LISTS.map(({ name }) => name);

const check = async (
  client: Client,
  { byTime, name, operation }: (typeof LISTS)[number],
  assumptions: ReconciliationAssumptions,
): Promise<Check> => {
  const { listsAreNewestFirst, reconcileByTimeRange, reconciliationMaxPages } = assumptions;
  const order = new NewestFirst();
  let pages: number | undefined;
  let read = 0;
  do {
    const page = await client[operation]({ page_num: read + 1, page_size: PAGE_SIZE });
    for (const { create_time } of page.item_list) order.note(readTime(create_time, assumptions));
    pages = page.total_page;
    read += 1;
  } while (read < Math.min(MOST_PAGES, pages ?? 0));
  const sorting = order.isVerified
    ? "newest first as far as was read, which does not say how it goes on"
    : order.isInOrder
      ? "too short to show an order"
      : "not newest first";
  const detail = `${pages ?? "an unknown number of"} pages, ${sorting}`;
  if (listsAreNewestFirst && !order.isInOrder) {
    return warning(
      name,
      `${detail}: reconciliations read it to its end`,
      "Take listsAreNewestFirst out of PAYMENTS_ASSUMPTIONS; name the timeZone where times have none.",
    );
  }
  const isShort = listsAreNewestFirst || (byTime && reconcileByTimeRange);
  return !isShort && pages !== undefined && pages > reconciliationMaxPages
    ? warning(
        name,
        `${detail}; a reconciliation reads ${reconciliationMaxPages}, and then asks a person`,
        `If you know that it is so, set ${byTime ? "reconcileByTimeRange or " : ""}listsAreNewestFirst in PAYMENTS_ASSUMPTIONS: docs/lost-answers.md.`,
      )
    : ok(name, detail);
};

/** Check how long reconciliations are: by the length of the lists, and by how they begin. */
export const checkLists = (
  client: Client,
  assumptions: ReconciliationAssumptions,
): Promise<ReadonlyArray<Check>> =>
  Promise.all(
    LISTS.map((list) =>
      check(client, list, assumptions).catch((error: unknown) =>
        skipped(list.name, `it could not be read: ${messageOf(error)}`),
      ),
    ),
  );
