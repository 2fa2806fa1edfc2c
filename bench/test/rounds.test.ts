import { describe, expect, it } from "vitest";
import { interleave } from "../src/rounds.ts";

const context = { progress: () => {}, signal: new AbortController().signal };

describe("interleave", () => {
  it("measures each contender once a round, beginning with another one each time", async () => {
    const order: Array<string> = [];
    const measure = (name: string) => (round: number) => {
      order.push(`${name}${round}`);
      return Promise.resolve(`${name}${round}`);
    };
    const readings = await interleave({ a: measure("a"), b: measure("b") }, 3, context);
    expect(order).toEqual(["a0", "b0", "b1", "a1", "a2", "b2"]);
    expect(readings).toEqual({ a: ["a0", "a1", "a2"], b: ["b0", "b1", "b2"] });
  });

  it("measures nothing more once it is to end", async () => {
    const controller = new AbortController();
    let measured = 0;
    const a = () => {
      measured++;
      controller.abort(new Error("ended"));
      return Promise.resolve(0);
    };
    await expect(
      interleave({ a, b: a }, 3, { ...context, signal: controller.signal }),
    ).rejects.toThrow("ended");
    expect(measured).toBe(1);
  });
});
