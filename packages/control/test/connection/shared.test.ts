import * as Effect from "effect/Effect";
import { expect, test } from "vitest";
import { type Rejected, Shared } from "../../src/facts/connection/shared.ts";

test("an outage is remembered by readers that can do without the server, and by nobody else", async () => {
  let opened = 0;
  const shared = new Shared<string>({
    open: () => {
      opened += 1;
      return Promise.reject(new Error("away"));
    },
    close: () => Promise.resolve(),
    ask: () => Promise.resolve(),
    lost: () => new Error("lost"),
  });
  const fails = async (of: Effect.Effect<string, Rejected>) => {
    const { error } = await Effect.runPromise(Effect.flip(of));
    expect(error).toHaveProperty("message", "away");
  };
  for (let time = 0; time < 3; time += 1) await fails(Effect.scoped(shared.answeringLately));
  expect(opened).toBe(1);
  await fails(Effect.scoped(shared.opened));
  expect(opened).toBe(2);
});
