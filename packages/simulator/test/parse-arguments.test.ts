import { Duration } from "effect";
import { describe, expect, it } from "vitest";
import { startSimulator } from "../src/index.ts";
import { parseDuration, parseFault } from "../src/parse-arguments.ts";

describe("a time", () => {
  it.each([
    ["3", 3000],
    ["0.5", 500],
    ["0", 0],
    ["500 millis", 500],
    ["20 days", 20 * 24 * 60 * 60_000],
    ["never", Infinity],
  ])("%s is %d ms", (text, milliseconds) => {
    expect(Duration.toMillis(parseDuration(text))).toBe(milliseconds);
  });

  it.each(["", "soon", "3s", "-1", "-1 seconds", "-Infinity"])("%j is none", (text) => {
    expect(() => parseDuration(text)).toThrow(/^seconds, a number with its unit such as "20 days"/);
  });
});

describe("a fault", () => {
  it("is a kind and settings", () => {
    expect(parseFault("slow")).toEqual({ kind: "slow" });
    expect(
      parseFault("rate-limited,operation=createPayout,times=3,probability=0.1,seconds=2"),
    ).toEqual({
      kind: "rate-limited",
      operation: "createPayout",
      times: 3,
      probability: 0.1,
      seconds: 2,
    });
  });

  it.each([
    ["", /; kind: must be one of "html-502"/],
    ["dropped,often", /; "often" is not name=value/],
    ["dropped,times=0", /; times: /],
    ["dropped,times=many,probability=2", /; times: .*; probability: /],
    ["dropped,operation=pay", /; operation: /],
    ["dropped,colour=red", /; colour: /],
  ])("is not %j", (text, message) => {
    expect(() => parseFault(text)).toThrow(message);
  });
});

it("a balance may be opened with nothing in it", async () => {
  const simulator = await startSimulator({ balances: { USD: "0" } });
  const { balances, transactions } = await simulator.state();
  await simulator.stop();
  expect([balances[0]!.available_balance, transactions]).toEqual(["0.00", []]);
});

it("settings that make no sense keep the simulator from starting", async () => {
  for (const [options, message] of [
    [{ balances: { USD: "-1" } }, "The balance USD=-1 must be a currency and an amount"],
    [{ balances: { USD: "1.001" } }, "The balance USD=1.001 must be a currency and an amount"],
    [{ balances: { DOLLAR: "1" } }, "The balance DOLLAR=1 must be"],
    [{ tokenLifetime: Infinity }, "The lifetime of a token must have an end"],
  ] as const) {
    await expect(startSimulator(options)).rejects.toThrow(message);
  }
});
