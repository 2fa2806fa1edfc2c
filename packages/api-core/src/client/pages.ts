import { Effect, Option, Stream } from "effect";
import { type PaymentsError, UnexpectedAnswer } from "./errors.ts";
import { listNames, operation } from "./operations.ts";
import type { Operations, Streams } from "./payments-client.ts";

interface Page {
  readonly total_item: number;
  readonly total_page: number;
  readonly item_list: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

type ReadPage = (filters: Readonly<Record<string, unknown>>) => Effect.Effect<Page, PaymentsError>;

/**
 * Each list as a stream over its largest pages, each asked for when it is needed. Items
 * that a new one pushed from the last page onto this one are shown once.
 */
export const streamPages = (operations: Operations): Streams =>
  Object.fromEntries(
    listNames.map((name) => {
      const { itemId, maxPageSize } = operation(name);
      // Lists take filters and answer pages; the contract's types say so one by one.
      const read = operations[name] as unknown as ReadPage;
      const stream = (filters: object = {}) =>
        Stream.paginate(
          { page_num: 1, shown: new Set<unknown>() },
          Effect.fnUntraced(function* ({ page_num, shown }) {
            const page = yield* read({ ...filters, page_num, page_size: maxPageSize });
            if (page.item_list.length === 0 && page.total_item > 0 && page_num <= page.total_page) {
              // A list that looks empty, and is not, must not tell a look-up that nothing is there.
              return yield* new UnexpectedAnswer({
                operation: name,
                carriedOut: "no",
                message: `${name} answered page ${page_num} of ${page.total_page} without items.`,
                answer: "",
              });
            }
            const ids = page.item_list.map((item) => item[itemId ?? ""]);
            const fresh = page.item_list.filter((_, index) => !shown.has(ids[index]));
            const isLast = page.item_list.length === 0 || page_num >= page.total_page;
            return [
              fresh,
              isLast ? Option.none() : Option.some({ page_num: page_num + 1, shown: new Set(ids) }),
            ] as const;
          }),
        );
      return [name, stream];
    }),
    // As above: one entry for each list of the contract.
  ) as unknown as Streams;
