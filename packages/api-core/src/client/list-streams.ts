import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Stream from "effect/Stream";
import type { Page } from "../contract/answers.ts";
import type { Paging } from "../contract/operation-facts.ts";
import type { RequestOptions } from "./call-options.ts";
import { listNames, type Operations, type Streams } from "./client-shape.ts";
import { type PaymentsError, UnexpectedAnswer } from "./errors.ts";
import { operation } from "./operations.ts";
import type { Say } from "./say.ts";

type Row = Readonly<Record<string, unknown>>;

type ReadPage = (filters: Row, options?: RequestOptions) => Effect.Effect<Page<Row>, PaymentsError>;

/**
 * Each list as a stream over its largest pages, each asked for when it is needed. An item is shown once, however
 * often it is listed. It ends after a page without anything new, or at the last page by `total_page`. A row that
 * cannot be read is left out, with a warning. A stream with fewer items than its first page said there are fails.
 */
export const makeListStreams = (operations: Operations, say: Say): Streams =>
  Object.fromEntries(
    listNames.map((name) => {
      const { itemId = "", maxPageSize }: Partial<Paging> = operation(name).paging ?? {};
      // Lists take filters and answer pages; the contract's types say so one by one.
      const read = operations[name] as unknown as ReadPage;
      const stream = (filters: object = {}, options?: RequestOptions) =>
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
                return yield* new UnexpectedAnswer({
                  operation: name,
                  carriedOut: "no",
                  message: `${name} ended after ${received} of ${total} items. Read it again: it may have changed meanwhile.`,
                });
              }
              return [fresh, isLast ? Option.none() : Option.some(page_num + 1)] as const;
            }),
          );
        });
      return [name, stream];
    }),
    // As above: one entry for each list of the contract.
  ) as unknown as Streams;
