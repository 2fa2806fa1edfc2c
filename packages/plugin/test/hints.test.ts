import { readHintSettings } from "@durable-payments/activities";
import { type Ledger, openLedger } from "@durable-payments/ledger";
import { checkout } from "@durable-payments/tools/processes";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { listenForHints } from "../src/hints.ts";
import { signed } from "./support/signed.ts";

/*
 * A hint decides nothing: whatever arrives, or does not, changes at most when an object is read next.
 */

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const ACCOUNT = "account-1";
const HOUR_MS = 3_600_000;

let ledger: Ledger;
let url: string;
let now = Date.now();

beforeEach(async () => {
  now = Date.now();
  ledger = await openLedger("memory", { clock: () => now });
  const settings = readHintSettings({ address: "127.0.0.1:0", secret: SECRET });
  if (settings === undefined) throw new Error("the settings have an address");
  const listener = await listenForHints(settings, ledger, [{ hash: ACCOUNT }]);
  url = `http://${listener.address}/`;
  onTestFinished(async () => {
    listener.close();
    await ledger.close();
  });
  const wait = { account: ACCOUNT, workflowId: "run", runId: "run-1" };
  await ledger.openWait({ ...wait, activityId: "a", kind: "payout", thing: "P-1" });
  await ledger.openWait({ ...wait, activityId: "b", kind: "cardholder", thing: "H-1" });
});

const post = async (body: string, headers: Record<string, string>, method = "POST") => {
  const answer = await fetch(url, { method, headers, ...(method === "POST" && { body }) });
  return answer.status;
};
const hint = (content: object, given: Parameters<typeof signed>[2] = {}) => {
  const { body, headers } = signed(SECRET, content, given);
  return post(body, headers);
};

/** Everything that the ledger has about the two objects. */
const waits = () => ledger.waits({ account: ACCOUNT });
const dueNow = async () => {
  const due = await Promise.all(
    (["payout", "cardholder"] as const).map((kind) =>
      ledger.waits({ account: ACCOUNT, kind, isOpen: true, isDue: true }),
    ),
  );
  return due.flat().map(({ thing }) => thing);
};

it("makes what it names due now, and changes nothing else", async () => {
  const before = await waits();
  expect(await dueNow()).toEqual([]);
  expect(await hint({ payout_id: "P-1", status: "paid" })).toBe(204);
  expect(await dueNow()).toEqual(["P-1"]);
  expect(await hint({ type: "x", data: { card_holder_id: "H-1" } })).toBe(204);
  expect(await dueNow()).toEqual(["P-1", "H-1"]);
  const without = (all: typeof before) => all.map(({ readAfter: _, ...rest }) => rest);
  expect(without(await waits())).toEqual(without(before));
});

it("is taken as the page about events signs it, and refused if that secret is another", async () => {
  const page = readFileSync(join(checkout, "docs/events.md"), "utf8");
  const [, block = ""] = /^```sh\n(body=[^]*?)^```$/m.exec(page) ?? [];
  const script = block.replace("PAYOUT", "P-1").replace("http://127.0.0.1:9465/", url);
  const run = promisify(execFile);
  const send = async (PAYMENTS_HINTS_SECRET: string) =>
    (await run("bash", ["-c", script], { env: { ...process.env, PAYMENTS_HINTS_SECRET } })).stdout;
  expect(await send(`whsec_${Buffer.alloc(32, 8).toString("base64")}`)).toMatch(/^HTTP\S+ 401/);
  expect(await dueNow()).toEqual([]);
  expect(await send(SECRET)).toMatch(/^HTTP\S+ 204/);
  expect(await dueNow()).toEqual(["P-1"]);
});

it.each([
  ["forged", { payout_id: "P-1" }, { secret: `whsec_${Buffer.alloc(32, 8).toString("base64")}` }],
  ["changed", { payout_id: "P-1" }, { sent: '{"payout_id":"P-1","x":1}' }],
  ["late", { payout_id: "P-1" }, { at: new Date(Date.now() - 10 * 60_000) }],
  ["early", { payout_id: "P-1" }, { at: new Date(Date.now() + 10 * 60_000) }],
] as const)("refuses a %s one, and changes nothing", async (_, content, given) => {
  const before = await waits();
  expect(await hint(content, given)).toBe(401);
  expect(await post("{}", {})).toBe(401);
  expect(await waits()).toEqual(before);
});

it.each([
  { payout_id: "P-2" },
  { payout_id: 7 },
  { id: "P-1" },
  { payout_id: "P".repeat(300) },
  [],
])("answers to one that names nothing known as to any other: %j", async (content) => {
  const before = await waits();
  expect(await hint(content)).toBe(204);
  expect(await waits()).toEqual(before);
});

it("a repeated one only moves the reading to its own time, and a lost one leaves the reading as it was planned", async () => {
  const lost = await waits();
  await hint({ payout_id: "P-1" });
  const first = await waits();
  now += 10;
  await hint({ payout_id: "P-1" });
  // A reading that has begun before it may not show what it is about.
  expect(await waits()).toEqual([{ ...first[0], readAfter: now }, first[1]]);
  expect(lost[1]).toEqual(first[1]);
  now += HOUR_MS;
  expect(await dueNow()).toEqual(["P-1", "H-1"]);
});

it("refuses what is too long, another method, and too many a second", async () => {
  expect(await hint({ payout_id: "P-1", pad: "x".repeat(20_000) })).toBe(413);
  expect(await post("", {}, "GET")).toBe(405);
  vi.spyOn(performance, "now").mockReturnValue(5_000);
  onTestFinished(() => void vi.restoreAllMocks());
  const statuses = await Promise.all(Array.from({ length: 60 }, () => hint({ payout_id: "P-9" })));
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
});

it("is off without an address, and names what is wrong in its settings without repeating it", () => {
  expect(readHintSettings({})).toBeUndefined();
  const wrong = () => readHintSettings({ address: "9465", secret: "t0ken" });
  expect(wrong).toThrow(/PAYMENTS_HINTS_SECRET \(hints\.secret\) must be whsec_/);
  expect(wrong).not.toThrow(/t0ken/);
  expect(() => readHintSettings({ secret: SECRET })).toThrow(/hints\.address .* is not/);
});
