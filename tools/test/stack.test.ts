import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  announceDevStack,
  choosePort,
  parsePort,
  withoutServiceVariables,
  workerSettings,
} from "../src/stack.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "stack-"));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

describe("ports", () => {
  const lines: string[] = [];
  const report = {
    line: (text: string) => void lines.push(text),
    during: async <A>(_text: string, work: Promise<A>) => await work,
  };
  const withTakenPort = async (use: (port: number) => Promise<void>) => {
    const server = createServer();
    await new Promise<void>((listening) => {
      server.listen(0, "127.0.0.1", listening);
    });
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    await use(address.port).finally(() => server.close());
  };

  it("refuses a port that was asked for and is taken, naming both port and option", async () => {
    await withTakenPort(async (port) => {
      await expect(choosePort({ option: "--ui-port", wanted: port }, report)).rejects.toThrow(
        `Port ${port} (--ui-port) is in use on this machine`,
      );
    });
  });

  it("replaces a default port that is taken, and reports it", async () => {
    await withTakenPort(async (port) => {
      const chosen = await choosePort({ option: "--ui-port", preferred: port }, report);
      expect(chosen).not.toBe(port);
      expect(lines.at(-1)).toContain(`Port ${port} is in use on this machine; taking ${chosen}`);
    });
  });

  it.each(["0", "65536", "7233x", "-1", "", "7e3"])("takes %o for no port", (text) => {
    expect(() => parsePort("--ui-port", text)).toThrow(/--ui-port must be a port/);
  });

  it("reads a port", () => {
    expect(parsePort("--ui-port", "8233")).toBe(8233);
    expect(parsePort("--ui-port", undefined)).toBeUndefined();
  });
});

describe("the announcement of the dev stack", () => {
  const variables = { PAYMENTS_API_KEY: "simulator-key" };

  it("goes with the stack", async () => {
    const file = join(folder, "dev.env");
    const withdraw = await announceDevStack(variables, file);
    expect(await readFile(file, "utf8")).toContain("PAYMENTS_API_KEY=simulator-key\n");
    await withdraw?.();
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it.skipIf(process.platform === "win32")("is readable by its owner only", async () => {
    const file = join(folder, "dev.env");
    await announceDevStack(variables, file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("leaves a running stack its place, but not a dead one", async () => {
    const file = join(folder, "dev.env");
    const owner = (id: number) => writeFile(file, `DURABLE_PAYMENTS_DEV_PROCESS=${id}\n`);
    await owner(process.pid);
    expect(await announceDevStack(variables, file)).toBeUndefined();
    // Above the highest process id of any system.
    await owner(2 ** 30);
    expect(await announceDevStack(variables, file)).toBeDefined();
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
