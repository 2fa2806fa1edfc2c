import * as Effect from "effect/Effect";
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  ANSWER_WITHIN_MS,
  attempt,
  type Rejected,
  Shared,
} from "../../src/facts/connection/shared.ts";

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

test("a server that answers is not lost because this process has had no time to hear it", async () => {
  const asked = Promise.withResolvers<void>();
  const shared = new Shared<string>({
    open: () => Promise.resolve("opened"),
    close: () => Promise.resolve(),
    // As a response on a socket, it is heard by the event loop alone.
    ask: async () => {
      asked.resolve();
      await readFile(import.meta.filename);
    },
    lost: () => new Error("lost"),
  });
  const work = async () => {
    await asked.promise;
    const until = performance.now() + ANSWER_WITHIN_MS + 500;
    while (performance.now() < until);
    await setTimeout(50);
    return "done";
  };
  const call = Effect.flatMap(shared.opened, (opened) =>
    Effect.raceFirst(attempt(work), shared.watch(opened)),
  );
  expect(await Effect.runPromise(Effect.scoped(call))).toBe("done");
});

test("a server that does not answer is lost", async () => {
  const shared = new Shared<string>({
    open: () => Promise.resolve("opened"),
    close: () => Promise.resolve(),
    ask: () => Promise.withResolvers<void>().promise,
    lost: () => new Error("lost"),
  });
  const call = Effect.flatMap(shared.opened, (opened) => shared.watch(opened));
  const { error } = await Effect.runPromise(Effect.flip(Effect.scoped(call)));
  expect(error).toHaveProperty("message", "lost");
});
