import { beneficiary, options, payout } from "@durable-payments/tools/test-data";
import { choosePort } from "@durable-payments/tools/stack";
import { startApp } from "@durable-payments/tools/testing";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { makeRig } from "./support/rig.ts";

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = [process.env["CHROMIUM"] ?? "", ...BROWSERS].find((path) =>
  existsSync(path),
);

const folder = await mkdtemp(join(tmpdir(), "codec-server-"));
afterAll(() => rm(folder, { recursive: true }));
await writeFile(join(folder, "k1.key"), randomBytes(32).toString("base64"), { mode: 0o600 });
await writeFile(join(folder, "current"), "k1");
const KEYS = { PAYMENTS_KEYRING: folder };

const quiet = { line: () => undefined, during: async <A>(_: string, work: Promise<A>) => work };
const uiPort = await choosePort({ option: "the Web UI" }, quiet);
const webUi = `http://127.0.0.1:${uiPort}`;

const serve = async (role: string) => {
  const args = ["codec-server", "--anonymous", role, "--port", "0", "--origin", webUi, "--json"];
  const server = await startApp("starter", args, { ...KEYS, TEMPORAL_NAMESPACE: "default" });
  afterAll(() => server.kill("SIGTERM"));
  return { url: String(server.ready["url"]), log: () => server.stdout() };
};
const [reader, masked] = [await serve("reader"), await serve("masked")];

const { file, starter } = await makeRig({ settleAfter: 0 }, KEYS, {
  ui: true,
  uiPort,
  extraArgs: ["--ui-codec-endpoint", reader.url],
});

const REFERENCE = "Reference Quetzal 8841";
const name = await file("payout.json", {
  beneficiary,
  payout: { ...payout, payout_reference: REFERENCE },
  options,
});

describe.skipIf(executablePath === undefined)("in the Web UI, as a browser shows it", () => {
  /** What the page of the run says, once it says something that is looked for. */
  const read = async (prepare: (page: Page) => Promise<unknown>, awaited: RegExp) => {
    const browser = await chromium.launch({
      ...(executablePath !== undefined && { executablePath }),
      args: ["--no-sandbox"],
    });
    try {
      const page = await browser.newPage();
      await prepare(page);
      await page.goto(`${webUi}/namespaces/default/workflows/pays`);
      const body = page.locator("body");
      await expect
        .poll(async () => (await body.innerText()).replaceAll("\n", " "), { timeout: 60_000 })
        .toMatch(awaited);
      return await body.innerText();
    } finally {
      await browser.close();
    }
  };

  it("a run is plain text with the codec server, and ciphertext without", async () => {
    const pay = ["payout", "--file", name, "--id", "pays", "--wait", "--json"];
    expect((await starter(pay, { env: KEYS })).exitCode).toBe(0);

    expect(await read(async () => undefined, /Reference Quetzal/)).toContain(REFERENCE);
    const decoded = reader.log().split("\n").slice(1, -1);
    // One line for each request, without a value.
    expect(decoded.length).toBeGreaterThan(0);
    expect(JSON.parse(decoded[0] ?? "")).toMatchObject({
      operation: "decode",
      role: "reader",
      origin: webUi,
      status: 200,
      keyIds: ["k1"],
    });
    expect(reader.log()).not.toContain(REFERENCE);

    const without = (page: Page) => page.route(`${reader.url}/**`, (route) => route.abort());
    expect(await read(without, /binary\/encrypted|encryption-key-id/)).not.toContain(REFERENCE);
  });

  it("who may not see values sees amounts and ids", async () => {
    const asMasked = (page: Page) =>
      page.route(`${reader.url}/**`, (route) =>
        route.continue({ url: route.request().url().replace(reader.url, masked.url) }),
      );
    const shown = await read(asMasked, /\[redacted\]/);
    expect(shown).toContain(payout.amount);
    expect(shown).not.toContain(REFERENCE);
  });
});
