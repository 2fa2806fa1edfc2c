import { due } from "./due.ts";
import { dueWaits } from "./due-waits.ts";
import { follow } from "./follow.ts";
import { makeReader, type ReaderOptions } from "./reader.ts";
import { settled } from "./settled.ts";

/** Dependencies of the readings of an account. */
export interface ReadingsOptions extends ReaderOptions {
  /** Up to when payouts that have settled were read: milliseconds since 1970 by the service's clock. */
  readonly watermark: number | undefined;
}

/** Makes the parts of the tracker that read the service for all that an account waits for. */
export const readings = ({ watermark, ...options }: ReadingsOptions) => {
  const reader = makeReader(options);
  const followed = follow(options, reader);
  const list = settled(options, followed, watermark);
  return {
    count: followed.count,
    size: followed.size,
    watermark: list.watermark,
    /**
     * They do not depend on each other. Each completes its due waits, throws the error of `call`, and may return the
     * milliseconds until it is due again.
     */
    parts: {
      ...dueWaits(options, reader),
      "due payouts": due(options, followed, "open"),
      "watched payouts": due(options, followed, "watched"),
      "settled payouts": list.look,
    },
  };
};
