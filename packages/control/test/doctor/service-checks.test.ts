import type { Assumptions } from "@durable-payments/client/effect";
import { makeClientOptions } from "@durable-payments/client/settings";
import { startSimulator } from "@durable-payments/simulator";
import { afterAll, expect, it } from "vitest";
import { answeredIn, checkService, clockSeen } from "../../src/views/doctor/doctor.ts";

const simulator = await startSimulator({ clientId: "client-eu", apiKey: "key" });
afterAll(() => simulator.stop());

const found = async (apiKey: string, baseUrl = simulator.url) => {
  const checks = await checkService(makeClientOptions({ clientId: "client-eu", apiKey, baseUrl }));
  return checks.map(({ name, status }) => `${name} ${status}`);
};

it.each([
  [
    "answers",
    "key",
    undefined,
    ["service ok", "sign-in ok", "service's clock ok", "list of payouts skipped"],
  ],
  ["refuses the credentials", "another", undefined, ["service ok", "sign-in failed"]],
  ["gives no answer", "key", "http://127.0.0.1:9", ["service failed", "sign-in skipped"]],
  ["has wrong settings", "", undefined, ["service failed", "sign-in skipped"]],
] as const)("says whether the service %s", async (_, apiKey, baseUrl, checks) => {
  expect(await found(apiKey, baseUrl)).toEqual(checks);
});

it("takes a service that answers after nine seconds for slow, not for down", () => {
  expect(answeredIn("http://service", 9_000)).toMatchObject({ status: "warning" });
  expect(answeredIn("http://service", 300)).toMatchObject({ status: "ok" });
});

it("says how far the clock of the service is from this machine's, as its Date shows", async () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  const seen = (ahead: number) => clockSeen(new Date(now + ahead).toUTCString(), now);
  expect(seen(-2_000)).toMatchObject({ status: "ok", detail: expect.stringMatching(/2 s behind/) });
  expect(seen(61_000)).toMatchObject({
    status: "warning",
    detail: "its Date is 61 s ahead of this machine's clock, more than 60 s",
  });
  expect(seen(-3_600_000)).toMatchObject({ status: "warning" });
  expect(clockSeen(undefined)).toMatchObject({
    status: "ok",
    detail: expect.stringMatching(/no Date/),
  });
});

it("warns of a service an hour behind", async () => {
  await simulator.setTemperament({ clockOffsetMs: -3_600_000 });
  expect(await found("key")).toContain("service's clock warning");
  await simulator.setTemperament({});
});

const backlog = { payouts: 60_000, everyMs: 60_000, until: Date.now() };
const ignoring = { listPayoutsParameters: { start: "since" } };
it.each<[string, Partial<Assumptions>, string, string]>([
  ["honours it", {}, "ok", "it can be read in a window of create_time"],
  [
    "ignores it",
    { ...ignoring, reconciliationMaxPages: 1_200 },
    "warning",
    "the service does not honour a window of create_time: a lost response costs readings of the whole list, of 1200 pages",
  ],
  [
    "ignores it, and the list is too long",
    ignoring,
    "warning",
    "the service does not honour a window of create_time, and the whole list has 1200 pages, more than reconciliationMaxPages (1000): a person is asked about each lost payout that was not made",
  ],
  [
    "is not asked for it",
    { listWindow: "none", reconciliationMaxPages: 1_200 },
    "ok",
    "windows are not used (assumption listWindow): a lost response costs readings of the whole list, of 1200 pages",
  ],
])(
  "says whether the list can be read in a window: the service %s",
  async (_, assumptions, status, detail) => {
    const old = await startSimulator({ backlog });
    const { apiKey, clientId, url: baseUrl } = old;
    const options = makeClientOptions({ clientId, apiKey, baseUrl, assumptions });
    const checks = await checkService(options);
    await old.stop();
    expect(checks.at(-1)).toMatchObject({ name: "list of payouts", status, detail });
  },
);
