import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
      "--echo-payout-key=false",
      "--expiry-field=expires_at",
      "--expiry-form=iso",
      "--fault=html-502,operation=ping",
      "--fault=rate-limited,operation=ping,seconds=9",
      '--assumptions={"listPayoutsParameters":{"status":"state"}}',
      "--log",
    ]);
    const signIn = await send(target, "POST", "/api/v1/auth/signin?noted=no", {
      headers: { "x-client-id": "simulator", "x-api-key": "simulator-key" },
    });
    expect(signIn.body.data.expires_at).toMatch(/^\d{4}-/);
    const client = await signedIn(target, signIn.body.data.auth_token);
    expect((await client.get("/api/v1/ping")).status).toBe(502);
    expect((await client.get("/api/v1/ping")).headers.get("retry-after")).toBe("9");
    const payout = await createPayout(client, await createBeneficiary(client), {
      unique_request_id: "key-1",
    });
    expect(payout.body.data.unique_request_id).toBe("");
    const listed = await client.get("/api/v1/payouts?page_num=1&page_size=1&state=closed");
    expect(listed.body.data.total_item).toBe(0);
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
      "GET /api/v1/payouts 200",
      "GET /_simulator/state 200",
      "",
    ]);
  });
});

describe("it does not start", () => {
  it("on a port that is taken, and names it", async () => {
    const first = await runListening();
    const { port } = new URL(first.target.url);
    const { code, stderr, stdout } = await run(["--port", port, "--json"]).ended;
    first.child.kill("SIGTERM");
    await first.ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is in use. Stop what listens there, or give --port another one (0 for any that is free).\n`,
    );
  });

  it("with a foreign state file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "simulator-"));
    const file = join(folder, "notes.txt");
    writeFileSync(file, "notes\n");
    const { code, stderr } = await run(["--port", "0", "--state-file", file]).ended;
    await rm(folder, { recursive: true });
    expect([code, stderr]).toEqual([
      1,
      `${file} is not a state file of this simulator. Give --state-file another path, or remove the file.\n`,
    ]);
  });

  it.each([
    [["--prot", "0"], /^Unrecognized flag: --prot/],
    [["--fault", "nonsense"], /--fault: "nonsense"\. Expected: a fault such as dropped/],
    [["--balance", "USD=much"], /^The balance USD=much must be a currency and an amount/],
  ])("with %j, and says why on stderr alone", async (args, message) => {
    const { code, stderr, stdout } = await run([...args, "--port", "0", "--json"]).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(message);
  });
});

it("explains itself in 80 columns", async () => {
  const { code, stderr, stdout } = await run(["--help"]).ended;
  expect([code, stderr]).toEqual([0, ""]);
  for (const flag of ["--port", "--fault", "--state-file", "dropped-before"]) {
    expect(stdout).toContain(flag);
  }
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});
