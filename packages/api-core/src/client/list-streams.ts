import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Stream from "effect/Stream";
import type { RequestOptions } from "./call-options.ts";
import { type PaymentsError, UnexpectedAnswer } from "./errors.ts";
import type { Page } from "../contract/list-page.ts";
import { ListReading } from "./list-reading.ts";
import { listNames } from "./operation-names.ts";
import { operation } from "./operations.ts";
import type { Operations, Streams } from "./client-shape.ts";
import type { Say } from "./say.ts";

type Row = Readonly<Record<string, unknown>>;

type ReadPage = (filters: Row, options?: RequestOptions) => Effect.Effect<Page<Row>, PaymentsError>;

/** How far a stream has come. */
interface Progress {
  readonly page_num: number;
  readonly reading: ListReading<Row>;
  readonly isReread: boolean;
  /** Why the list that was read to its end does not add up. */
  readonly fault?: string;
}

/**
 * Each list as a stream over its largest pages, each asked for when it is needed. An item is shown
 * once, however often it is listed. A list that was read to its end and does not add up is read
 * once more for what it did not show, and then fails with `UnexpectedAnswer`; items that were added
 * while it was read are no fault. A row that cannot be read is left out, with a warning.
 */
export const makeListStreams = (operations: Operations, say: Say): Streams =>
  Object.fromEntries(
    listNames.map((name) => {
      const { itemId = "", maxPageSize } = operation(name);
      // Lists take filters and answer pages; the contract's types say so one by one.
      const read = operations[name] as unknown as ReadPage;
      const stream = (filters: object = {}, options?: RequestOptions) =>
        Stream.suspend(() => {
          const shown = new Set<unknown>();
          const begin = (isReread: boolean): Progress => ({
            page_num: 1,
            reading: new ListReading<Row>(itemId),
            isReread,
          });
          const next = ({ isReread, reading }: Progress): Option.Option<Progress> => {
            const fault = reading.faultAtEnd();
            if (fault === undefined || reading.hasOnlyGrown) return Option.none();
            const again = begin(true);
            return Option.some(isReread ? { ...again, fault } : again);
          };
          return Stream.paginate(
            begin(false),
            Effect.fnUntraced(function* (progress: Progress) {
              const { fault, page_num, reading } = progress;
              if (fault !== undefined) {
                return yield* new UnexpectedAnswer({
                  operation: name,
                  carriedOut: "no",
                  message: `${name} answered pages that do not add up: ${fault}.`,
                  answer: "",
                });
              }
              const page = yield* read({ ...filters, page_num, page_size: maxPageSize }, options);
              const { fresh, nextPage, unreadable } = reading.add(page);
              for (const { reason } of unreadable) {
                yield* say.warn(`${name}: a row of page ${page_num} is left out: ${reason}`);
              }
              const unseen = fresh.filter((item) => !shown.has(item[itemId]));
              for (const item of unseen) shown.add(item[itemId]);
              return [
                unseen,
                nextPage === undefined
                  ? next(progress)
                  : Option.some({ ...progress, page_num: nextPage }),
              ] as const;
            }),
          );
        });
      return [name, stream];
    }),
    // As above: one entry for each list of the contract.
  ) as unknown as Streams;
