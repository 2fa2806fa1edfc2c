import { expectTypeOf, it } from "vitest";
import type { updateCard, withdrawFromCard } from "../src/index.ts";

it("the results of card operations have typed fields", () => {
  type Withdrawal = Awaited<ReturnType<typeof withdrawFromCard>>;
  expectTypeOf<Withdrawal["unique_request_id"]>().toEqualTypeOf<string>();
  expectTypeOf<Withdrawal["amount"]>().toEqualTypeOf<string | undefined>();
  // The number is not kept.
  expectTypeOf<Withdrawal>().not.toHaveProperty("card_number");
  expectTypeOf<Awaited<ReturnType<typeof updateCard>>["card_id"]>().toEqualTypeOf<string>();
});
