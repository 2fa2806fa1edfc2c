import type * as Effect from "effect/Effect";
import type * as Stream from "effect/Stream";
import type { RequestOptions, WithResponse } from "./call-options.ts";
import type { ClientOptions } from "./config.ts";
import type { PaymentsError } from "./errors.ts";
import type { Endpoints } from "../contract/endpoints.ts";
import type { Input, Item, ListName, Output } from "./operations.ts";

/** One method per operation; its input is the fields of path, query and body in one object. */
export type Operations = {
  readonly [Name in keyof Endpoints]: (
    ...input: {} extends Input<Name>
      ? [input?: Input<Name>, options?: RequestOptions]
      : [input: Input<Name>, options?: RequestOptions]
  ) => Effect.Effect<Output<Name>, PaymentsError>;
};

/** The same, with status and headers of the response beside the data. */
export type OperationsWithResponse = {
  readonly [Name in keyof Endpoints]: (
    ...input: Parameters<Operations[Name]>
  ) => Effect.Effect<WithResponse<Output<Name>>, PaymentsError>;
};

/** A stream per list, over all its pages; `page_num` and `page_size` are the stream's own matter. */
export type Streams = {
  readonly [Name in keyof Pick<Endpoints, ListName>]: (
    filters?: Omit<Input<Name>, "page_num" | "page_size">,
    options?: RequestOptions,
  ) => Stream.Stream<Item<Name>, PaymentsError>;
};

/** All operations, the lists as streams, and the settings in use. */
export interface PaymentsClientShape extends Operations {
  /** The same operations; each answers its data together with status and headers of the response. */
  readonly withResponse: OperationsWithResponse;
  /** Each list over all its pages, an item at a time; a page is asked for when it is needed. */
  readonly streams: Streams;
  /** The settings in use, the defaults among them. */
  readonly options: ClientOptions;
}
