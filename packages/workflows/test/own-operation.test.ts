import type { OwnOperation } from "@durable-payments/activities";
import { expectTypeOf, test } from "vitest";
import { ownOperation } from "../src/index.ts";

interface Warehouse {
  readonly reserveGoods: OwnOperation<
    { readonly orderId: string },
    { readonly id: string; readonly shelf: string }
  >;
}

interface Shop extends Warehouse {
  readonly refundBuyer: OwnOperation<{ readonly buyer: string; readonly amount: string }>;
}

test("the step of an operation of one's own has the types of its definition", () => {
  const reserve = ownOperation<Warehouse>("reserveGoods");
  expectTypeOf(reserve).parameter(0).toEqualTypeOf<{ readonly orderId: string }>();
  // A person may have given the id alone.
  expectTypeOf(reserve).returns.resolves.toMatchObjectType<{
    readonly id: string;
    readonly shelf?: string;
  }>();
});

test("a name that the worker does not define is refused by the compiler", () => {
  expectTypeOf(ownOperation<Warehouse>)
    .parameter(0)
    .toEqualTypeOf<"reserveGoods">();
  // @ts-expect-error -- a typo
  ownOperation<Warehouse>("reserveGods");
  // @ts-expect-error -- a typo
  ownOperation<Shop, "refundBuyr">("refundBuyr");
  // @ts-expect-error -- another operation than the type says
  ownOperation<Shop, "refundBuyer">("reserveGoods");
});

test("of several operations, each step takes the requests of its own alone", () => {
  const refund = ownOperation<Shop, "refundBuyer">("refundBuyer");
  expectTypeOf(refund)
    .parameter(0)
    .toEqualTypeOf<{ readonly buyer: string; readonly amount: string }>();
  const unnamed = ownOperation<Shop>("refundBuyer");
  // Either request would be accepted for each operation: the type says what to write instead.
  expectTypeOf(unnamed)
    .parameter(0)
    .toEqualTypeOf<'Name the operation in the type, too: ownOperation<typeof operations, "NAME">("NAME")'>();
});
