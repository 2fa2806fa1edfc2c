import type { OwnOperation } from "@durable-payments/activities";
import { ownOperation } from "@durable-payments/workflows";

export * from "@durable-payments/workflows/definitions";

interface Operations {
  readonly bookCourier: OwnOperation<object>;
}

const bookCourier = ownOperation<Operations>("bookCourier");

/** Books a courier. */
export const book = async (): Promise<string> => (await bookCourier({})).id;
