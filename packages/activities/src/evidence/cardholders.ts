import type { Cardholder } from "@durable-payments/client/effect";
import { type PaymentsRuntime, readAt } from "../run-operation.ts";
import { ListReadings, PAGE_SIZE } from "./list-readings.ts";

/**
 * Reads whole lists of the cardholders of an account. A list that does not change while it is read costs two readings:
 * 4 pages for 100 cardholders, 400 for 10,000.
 */
export const cardholderReadings = (
  runtime: PaymentsRuntime,
  mostPages: number,
): ListReadings<Cardholder> =>
  new ListReadings<Cardholder>(() => ({
    idField: "card_holder_id",
    pageSize: PAGE_SIZE,
    mostPages,
    read: (page_num) =>
      readAt(runtime, (client) => client.listCardholders({ page_num, page_size: PAGE_SIZE })),
  }));
