import { fields, holding, like, listWith, payout } from "@durable-payments/tools/test-data";
import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { jsonOf, makeStarter } from "./support/starter.ts";

// Each call is a process: a busy machine takes its time.

const { file, starter: kept, starterProcess: starter } = await makeStarter();

// Nothing is started where the input is wrong, and so no server is needed: none is there.
const WRONG_INPUT = { payout: { ...payout, amount: 250 } };

it("shows help and version without colours in a pipe", async () => {
  const [help, version] = await Promise.all([
    starter(["payout", "--help"]),
    starter(["--version"]),
  ]);
  expect(help).toMatchObject({ exitCode: 0, stderr: "" });
  expect(help.stdout).toContain("starter payout --file payout.json --wait");
  expect(help.stdout).not.toContain("\u001b");
  expect(version).toEqual({
    exitCode: 0,
    stderr: "",
    stdout: like(/^starter v\d+\.\d+\.\d+\n$/),
  });
});

describe("bad input", () => {
  it.each([
    { args: ["payot"], message: /Unknown subcommand "payot"/ },
    { args: ["payout", "--colour"], message: /Unrecognized flag: --colour/ },
    { args: ["status"], message: /ID/ },
    { args: ["payout", "--file", "nowhere.json"], message: /nowhere.json: there is no such file/ },
    { args: ["resolve", "x", "--by", "Ada"], message: /exactly one of --found, --resend/ },
  ])("$args", async ({ args, message }) => {
    // That a process ends so is what the tests beside this one are about.
    const [person, program] = await Promise.all([kept(args), kept([...args, "--json"])]);
    expect(person).toMatchObject({ exitCode: 2, stdout: "" });
    expect(person.stderr).toMatch(message);
    expect(person.stderr).not.toContain("\u001b");
    expect(program).toMatchObject({ exitCode: 2, stderr: "" });
    expect(jsonOf(program)).toEqual({
      error: { type: "BadInput", message: like(message) },
    });
  });

  it("names every fault of a file, for people and for programs", async () => {
    const name = await file("wrong.json", WRONG_INPUT);
    const person = await starter(["payout", "--file", name]);
    expect(person).toMatchObject({ exitCode: 2, stdout: "" });
    expect(person.stderr).toBe(
      "error The input is wrong. Nothing was started.\n" +
        "  beneficiary or beneficiary_id must be given, exactly one of the two\n" +
        "  payout.amount must be a string\n",
    );
    const program = await starter(["payout", "--file", "-", "--json"], {
      stdin: JSON.stringify(WRONG_INPUT),
    });
    expect(program).toMatchObject({ exitCode: 2, stderr: "" });
    expect(jsonOf(program)).toEqual({
      error: {
        type: "BadInput",
        message: "The input is wrong. Nothing was started.",
        faults: [
          {
            field: "beneficiary",
            problem: "or beneficiary_id must be given, exactly one of the two",
          },
          { field: "payout.amount", problem: "must be a string" },
        ],
      },
    });
  });
});

describe("no server", () => {
  it("ends in a few seconds with one line, or one JSON object", async () => {
    // A port that is surely closed: it was free a moment ago.
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    server.close();
    await once(server, "close");
    const env = { TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
    const right = await file("right.json", { beneficiary_id: "b-1", payout });
    const started = Date.now();
    const [person, program, doctor] = await Promise.all([
      starter(["payout", "--file", right], { env }),
      starter(["status", "x", "--json"], { env }),
      starter(["doctor", "--json"], { env }),
    ]);
    expect(Date.now() - started).toBeLessThan(20_000);
    expect(person).toMatchObject({ exitCode: 3, stdout: "" });
    expect(person.stderr).toMatch(
      new RegExp(`^error Cannot connect to Temporal at 127.0.0.1:${port} .*\\n$`),
    );
    expect(program).toMatchObject({ exitCode: 3, stderr: "" });
    expect(jsonOf(program)).toEqual({
      error: { type: "CannotConnect", message: holding("Cannot connect") },
    });
    expect(doctor).toMatchObject({ exitCode: 3, stderr: "" });
    expect(jsonOf(doctor)).toMatchObject({
      ok: false,
      checks: listWith(
        fields({ name: "Temporal", status: "failed" }),
        fields({ name: "search attributes", status: "skipped" }),
        fields({ name: "client settings", status: "failed" }),
      ),
    });
  });

  it("reports a wrong configuration of Temporal", async () => {
    const { exitCode, stderr } = await starter(["status", "x"], {
      env: { TEMPORAL_PROFILE: "nobody" },
    });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/^error Temporal's configuration .*nobody.*\n$/);
  });
});
