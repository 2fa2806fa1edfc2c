import { Duration } from "effect";
import { describe, expect, it } from "vitest";
import { help, readCommandLine } from "../src/command-line.ts";
import { startSimulator } from "../src/index.ts";
import { run, runListening } from "./support/process.ts";
import { like } from "./support/like.ts";
import { send, signedIn } from "./support/raw-client.ts";
import { createBeneficiary, createPayout } from "./support/steps.ts";

describe("once it listens", () => {
  it("prints one line of JSON and nothing else, and ends at once when stopped", async () => {
    const { child, ended, target } = await runListening();
    expect(target).toEqual({
      url: like(/^http:\/\/127\.0\.0\.1:\d+$/),
      clientId: "simulator",
      apiKey: "simulator-key",
    });
    const client = await signedIn(target);
    expect((await client.get("/api/v1/ping")).body).toEqual({ message: "pong" });
    const signalled = performance.now();
    child.kill("SIGTERM");
    const { code, stderr, stdout } = await ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`${JSON.stringify(target)}\n`);
    expect(performance.now() - signalled).toBeLessThan(2000);
  });

  it("does as its flags say", async () => {
    const { child, ended, target } = await runListening([
      "--balance=USD=20.00",
      "--settle-after=never",
      "--fault=html-502,operation=ping",
      "--fault=rate-limited,operation=ping,seconds=9",
      '--temperament={"payoutKeys":"dropped"}',
      "--log",
    ]);
    const signIn = await send(target, "POST", "/api/v1/auth/signin?noted=no", {
      headers: { "x-client-id": "simulator", "x-api-key": "simulator-key" },
    });
    const client = await signedIn(target, signIn.body.data.auth_token);
    expect((await client.get("/api/v1/ping")).status).toBe(502);
    expect((await client.get("/api/v1/ping")).headers.get("retry-after")).toBe("9");
    const payout = await createPayout(client, await createBeneficiary(client), {
      unique_request_id: "key-1",
    });
    expect(payout.body.data.unique_request_id).toBe("");
    const { body } = await send(target, "GET", "/_simulator/state");
    expect(body).toMatchObject({
      balances: [{ currency: "USD", available_balance: "7.50" }],
    });
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr.split("\n")).toEqual([
      "POST /api/v1/auth/signin 200",
      "GET /api/v1/ping 502",
      "GET /api/v1/ping 429",
      "POST /api/v1/beneficiaries/create 200",
      "POST /api/v1/payouts/create 200",
      "GET /_simulator/state 200",
      "",
    ]);
  });
});

describe("it does not start", () => {
  it("on a port that is taken, and says so on stderr alone", async () => {
    const simulator = await startSimulator();
    const { port } = new URL(simulator.url);
    const { code, stderr, stdout } = await run(["--port", port, "--json"]).ended;
    await simulator.stop();
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      new RegExp(`${port}. Stop the program that listens there, or choose another port`),
    );
  });

  it.each([
    [["--prot", "0"], /^Unknown option '--prot'/],
    [
      ["--fault", "nonsense"],
      /^--fault "nonsense": must be a fault such as .*; kind: must be one of/,
    ],
    [["--fault", "dropped,times=many"], /; times: /],
    [["--fault", "dropped,often"], /; often: /],
    [["--fault", "dropped,operation=pay"], /; operation: /],
    [["--settle-after", "soon"], /^--settle-after "soon": must be seconds, a number with its unit/],
    [["--verify-after", "-1"], /verify-after/],
    [["--temperament", '{"nonsense":1}'], /must be a JSON object such as .*; nonsense: /],
  ])("with %j", (args, message) => {
    expect(() => readCommandLine(args)).toThrow(message);
  });

  it.each([
    [{ balances: { USD: "-1" } }, "The balance USD=-1 must be a currency and an amount"],
    [{ balances: { USD: "1.001" } }, "The balance USD=1.001 must be a currency and an amount"],
    [{ balances: { USD: 5 } }, "The balance USD=5 must be a currency and an amount"],
    [{ settleAftr: "3 days" }, "The simulator has no option settleAftr"],
    [{ balances: { DOLLAR: "1" } }, "The balance DOLLAR=1 must be"],
    [{ tokenLifetime: Infinity }, "The lifetime of a token must be finite"],
  ])("with the options %j", async (options, message) => {
    await expect(startSimulator(options as object)).rejects.toThrow(message);
  });
});

it.each([
  ["3", 3_000],
  ["0.5", 500],
  ["500 millis", 500],
  ["20 days", 20 * 86_400_000],
  ["never", Infinity],
])("reads the time %s", (text, milliseconds) => {
  const { options } = readCommandLine(["--settle-after", text]);
  expect(Duration.toMillis(options.settleAfter ?? 0)).toBe(milliseconds);
});

it("explains itself in 80 columns", () => {
  const text = help("simulator");
  for (const flag of ["--port", "--fault", "--state-file", "dropped-before"]) {
    expect(text).toContain(flag);
  }
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
});
