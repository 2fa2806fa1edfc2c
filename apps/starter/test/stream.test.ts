import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { processOutput } from "../src/output/output.ts";
import { reportError } from "../src/output/error-report.ts";
import { ConnectionFailed } from "@durable-payments/operations/errors";
import { answerList } from "../src/output/stream.ts";

let printed: Array<string>;
let said: Array<string>;
beforeEach(() => {
  printed = [];
  said = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
});
afterEach(() => vi.restoreAllMocks());

const layout = {
  field: "runs",
  limit: 3,
  head: () => "HEAD",
  row: (item: number) => `row ${item}`,
  none: "None.",
  more: (limit: number) => `more than ${limit}`,
};

async function* upTo(count: number, andThen?: Error) {
  for (let item = 1; item <= count; item++) yield item;
  if (andThen) throw andThen;
}

it.each([
  [0, '{"runs":[],"more":false}\n', "None.\n"],
  [2, '{"runs":[1,2],"more":false}\n', "HEAD\nrow 1\nrow 2\n"],
  [3, '{"runs":[1,2,3],"more":false}\n', "HEAD\nrow 1\nrow 2\nrow 3\n"],
  [4, '{"runs":[1,2,3],"more":true}\n', "HEAD\nrow 1\nrow 2\nrow 3\nmore than 3\n"],
])("prints %i items", async (count, json, text) => {
  await answerList(processOutput(true), upTo(count), layout);
  expect(printed.join("")).toBe(json);
  printed = [];
  await answerList(processOutput(false), upTo(count), layout);
  expect(printed.join("")).toBe(text);
});

it.each([
  [0, '{"error":{"type":"TemporalError","message":"the server went away"}}\n', ""],
  [2, '{"runs":[1,2],"more":true}\n', "error the server went away\n"],
])("is one JSON object, too, when it fails after %i items", async (count, json, error) => {
  const output = processOutput(true);
  const gone = new ConnectionFailed({
    reason: "temporalError",
    message: "the server went away",
  });
  await answerList(output, upTo(count, gone), layout).catch(() => reportError(output, gone));
  expect(printed.join("")).toBe(json);
  expect(said.join("")).toBe(error);
});
