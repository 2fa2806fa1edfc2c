import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Stream from "effect/Stream";
import type { Page } from "../contract/answers.ts";
import type { Paging } from "../contract/operation-facts.ts";
import { type ListOptions, optionFaults } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import { listNames, type Streams } from "./client-shape.ts";
import { type PaymentsError, UnexpectedAnswer } from "./errors.ts";
import { operation } from "./operations.ts";
import { makeSay } from "./say.ts";

// For the promise client, which loads them with the first list.
export { optionFaults, Stream };

type Row = Readonly<Record<string, unknown>>;

/**
 * Each list as a stream over its largest pages, each asked for when it is needed. An item is shown once, however
 * often it is listed. It ends after a page without anything new, or at the last page by `total_page`. A row that
 * cannot be read is left out, with a warning. A stream with fewer items than its first page said there are fails.
 */
export const makeListStreams = ({ call, options: { logger } }: Calls["Service"]): Streams => {
  const say = makeSay(logger);
  return Object.fromEntries(
    listNames.map((name) => {
      const { itemId = "", maxPageSize }: Partial<Paging> = operation(name).paging ?? {};
      // Lists answer pages; the contract's types say so one by one.
      const read = (filters: Row, options: unknown) =>
        call(name, filters, options, { caller: "effect", hasResponse: false }) as Effect.Effect<
          Page<Row>,
          PaymentsError
        >;
      const stream = (filters: object = {}, options?: ListOptions) =>
        Stream.suspend(() => {
          const shown = new Set<unknown>();
          let skipped = 0;
          let total: number | undefined;
          return Stream.paginate(
            1,
            Effect.fnUntraced(function* (page_num: number) {
              const page = yield* read({ ...filters, page_num, page_size: maxPageSize }, options);
              const { item_list, total_item = 0, unreadable } = page;
              total ??= total_item;
              skipped += unreadable.length;
              for (const { reason } of unreadable) {
                yield* say.warn(`${name}: a row of page ${page_num} was skipped: ${reason}`);
              }
              const fresh = item_list.filter((item) => {
                const isFresh = !shown.has(item[itemId]);
                shown.add(item[itemId]);
                return isFresh;
              });
              const { total_page = fresh.length === 0 ? 0 : Infinity } = page;
              const isLastByTotals = page_num >= total_page;
              const received = shown.size + skipped;
              // Pages may be counted at the size that was asked for, and be smaller.
              const isLast =
                item_list.length + unreadable.length === 0 ||
                (isLastByTotals && (fresh.length === 0 || received >= total_item));
              if (isLast && received < total) {
                const message = `${name} ended after ${received} of ${total} items. Read it again: it may have changed meanwhile.`;
                return yield* Effect.fail(
                  new UnexpectedAnswer({ operation: name, carriedOut: "no", message }),
                );
              }
              return [fresh, isLast ? Option.none() : Option.some(page_num + 1)] as const;
            }),
          );
        });
      return [name, stream];
    }),
    // As above: one entry for each list of the contract.
  ) as unknown as Streams;
};
