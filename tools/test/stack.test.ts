import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  announceDevStack,
  choosePort,
  withoutServiceVariables,
  workerSettings,
} from "../src/stack.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "stack-"));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

it("replaces a port that is taken", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  expect(await choosePort(port)).not.toBe(port);
  server.close();
});

describe("the announcement of the dev stack", () => {
  const variables = { PAYMENTS_API_KEY: "simulator-key" };

  it("is readable by its owner only, and goes with the stack", async () => {
    const file = join(folder, "dev.env");
    const withdraw = announceDevStack(variables, file);
    expect(await readFile(file, "utf8")).toContain("PAYMENTS_API_KEY=simulator-key\n");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    withdraw();
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it("stays if a later stack has taken its place", async () => {
    const file = join(folder, "dev.env");
    const withdraw = announceDevStack(variables, file);
    announceDevStack({ PAYMENTS_API_KEY: "later" }, file);
    withdraw();
    expect(await readFile(file, "utf8")).toContain("later");
  });
});

it("keeps the user's own servers and credentials away from the stack", () => {
  const env = { PATH: "/bin", TEMPORAL_ADDRESS: "prod:7233", PAYMENTS_API_KEY: "k", TEMPO: "1" };
  expect(withoutServiceVariables(env)).toEqual({
    TEMPORAL_ADDRESS: undefined,
    PAYMENTS_API_KEY: undefined,
  });
});

it("takes the user's limits, and nothing that leads to a payment service", () => {
  const limits = { PAYMENTS_APPROVE_ABOVE: '{"EUR":"100.00"}' };
  const addresses = { PAYMENTS_BASE_URL: "https://x", PAYMENTS_CLIENT_ID: "c" };
  const secrets = { PAYMENTS_API_KEY: "k", PAYMENTS_LEDGER: "postgres://u:p@h/d" };
  expect(workerSettings({ PATH: "/bin", ...limits, ...addresses, ...secrets })).toEqual(limits);
});
