import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { follow } from "../../src/views/follow.ts";
import { readEvents } from "../../src/views/events.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** A look that lasts until the signal's time is over, and until what nobody holds then is gone. */
const slowLook = async () => {
  await sleep(50);
  collectGarbage();
};

/** As a caller makes it, who also wants to end it. */
const endedSoon = () => AbortSignal.any([new AbortController().signal, AbortSignal.timeout(10)]);

it("ends when the caller's time is over during a look", async () => {
  let looks = 0;
  const read = async () => {
    await slowLook();
    return (looks += 1);
  };
  const of = (facts: number) => ({ facts, isOver: facts === 2 });
  for await (const _ of follow(read, of, endedSoon()));
  expect(looks).toBe(1);
});

it("ends the feed when the caller's time is over while a page is read", async () => {
  let pages = 0;
  const page = async () => {
    await slowLook();
    pages += 1;
    if (pages === 2) throw new Error("It went on.");
    return [];
  };
  for await (const _ of readEvents(page, { isFollowed: true, signal: endedSoon() }));
  expect(pages).toBe(1);
});
