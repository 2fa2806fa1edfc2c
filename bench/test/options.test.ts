import { BadOption } from "@durable-payments/tools/command";
import { describe, expect, it } from "vitest";
import { chosen } from "../src/scenario.ts";

const load = () => Promise.reject(new Error("not loaded"));
const entries = ["one", "two", "three"].map((name) => ({ name, about: `measures ${name}`, load }));

describe("chosen", () => {
  it("takes all scenarios where none is named", () => {
    expect(chosen(entries)).toEqual(entries);
  });

  it("takes the named ones, in the order of the list", () => {
    expect(chosen(entries, ["three", "one"]).map(({ name }) => name)).toEqual(["one", "three"]);
  });

  it("names those that there are where one is unknown", () => {
    expect(() => chosen(entries, ["four"])).toThrow(BadOption);
    expect(() => chosen(entries, ["four"])).toThrow("one of one, two, three");
  });
});
