import {
  type ClientOptions,
  inWindow,
  type ListWindow,
  type PaymentsClientShape,
  readTime,
  WINDOW_EDGE_MS,
} from "@durable-payments/client/effect";
import { messageOf } from "@durable-payments/client/values";
import { Effect } from "effect";
import { askOnce } from "../../facts/connection/connections.ts";
import { type Check, ok, skipped, warning } from "./check.ts";

const TITLE = "list of payouts";

const PAGE_SIZE = 50;

/** How long the check waits for a page. */
const PAGE_WITHIN_MS = 30_000;

const read = (client: PaymentsClientShape, window?: ListWindow) =>
  client.listPayouts({
    page_num: 1,
    page_size: PAGE_SIZE,
    ...(window !== undefined && inWindow("create_time", window)),
  });

/** Reads the first page, then a window with the newest payout of that page, and a window that begins right after it. */
const readWindows = (client: PaymentsClientShape) =>
  Effect.gen(function* () {
    const all = yield* read(client);
    const times = all.item_list.flatMap(({ create_time, payout_id }) => {
      const span = readTime(create_time, client.options.assumptions);
      return span === undefined ? [] : [{ ...span, payout_id }];
    });
    const [newest] = times.toSorted((one, other) => other.latest - one.latest);
    if (newest === undefined || client.options.assumptions.listWindow === "none")
      return { all, newest, isHonoured: undefined };
    const lists = (from: number) =>
      Effect.map(read(client, { from }), ({ item_list }) =>
        item_list.some(({ payout_id }) => payout_id === newest.payout_id),
      );
    // A service may refuse the window.
    const isHonoured = yield* Effect.all([
      lists(newest.earliest),
      lists(newest.latest + WINDOW_EDGE_MS),
    ]).pipe(
      Effect.map(([inside, outside]) => inside && !outside),
      Effect.catchTag("RequestRefused", () => Effect.succeed(false)),
    );
    return { all, newest, isHonoured };
  });

/**
 * Checks that the list of payouts can be read in a window of time, and says what whole lists cost otherwise. Nothing
 * about money depends on it: each reading of a window is checked again.
 */
export const checkWindows = (options: ClientOptions): Promise<Check> =>
  askOnce(options, PAGE_WITHIN_MS, (client) =>
    Effect.map(readWindows(client), ({ all, isHonoured, newest }) => {
      if (isHonoured === true) return ok(TITLE, "it can be read in a window of create_time");
      if (newest === undefined) return skipped(TITLE, "not checked: it lists no payout yet");
      const { reconciliationMaxPages: most } = client.options.assumptions;
      const pages = all.total_page ?? Math.ceil((all.total_item ?? 0) / PAGE_SIZE);
      const why =
        isHonoured === undefined
          ? "windows are not used (assumption listWindow)"
          : "the service does not honour a window of create_time";
      const remedy =
        "Correct the assumptions listPayoutsParameters, rangeBoundUnit and listWindow, or raise reconciliationMaxPages.";
      if (pages > most)
        return warning(
          TITLE,
          `${why}, and the whole list has ${pages} pages, more than reconciliationMaxPages (${most}): a person is asked about each lost payout that was not made`,
          remedy,
        );
      const cost = `${why}: a lost response costs readings of the whole list, of ${pages} pages`;
      return isHonoured === undefined ? ok(TITLE, cost) : warning(TITLE, cost, remedy);
    }),
  ).catch((error: unknown) => skipped(TITLE, `not checked: ${messageOf(error)}`));
