// The files in deploy/ against the code: without it a command that does not exist, or a value that the worker refuses, is
// found by whoever deploys. image.nightly.ts starts the same commands.
import { readSettings, settingVariables } from "@durable-payments/protocol/settings";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkout } from "../src/processes.ts";
import { allDeployed, readImage, systemdCommandLine } from "./support/deployments.ts";

const deployed = allDeployed();

it("finds what the deployment files start", () => {
  expect(deployed.map(({ name }) => name)).toEqual([
    "compose codec-server",
    "compose worker",
    "chart worker",
    "systemd worker",
    "systemd command line",
  ]);
});

describe.each(deployed)("$name", ({ args, env }) => {
  it("runs the command line that is built, with a subcommand or the words of its user", () => {
    const [condition, script, subcommand = ""] = args;
    expect([condition, script]).toEqual([
      "--conditions=@durable-payments/source",
      "apps/starter/dist/app/main.mjs",
    ]);
    expect(["", "worker", "codec-server"]).toContain(subcommand);
  });

  it("sets variables that the worker reads, to values that it accepts", () => {
    const known = [...settingVariables.values()];
    const ours = Object.entries(env).filter(([name]) => name.startsWith("PAYMENTS_"));
    for (const [name] of ours) expect(known).toContain(name);
    // What Compose takes from its reader is replaced by what has the right form.
    const filled = ours.map(([name, value]) => [
      name,
      name === "PAYMENTS_BASE_URL"
        ? "https://service.example.com"
        : value.replace(/^\$\{.*\}$/, "x"),
    ]);
    expect(() => readSettings(Object.fromEntries(filled) as NodeJS.ProcessEnv)).not.toThrow();
  });
});

it("deploy/check finds no fault, as far as its tools are here", () => {
  const { status, stdout } = spawnSync(join(checkout, "deploy/check"), { encoding: "utf8" });
  expect(stdout).not.toContain("FAILED");
  expect(status).toBe(0);
});

it("the command line of a host runs with the unit's user, settings, key and ledger", () => {
  const unit = readFileSync(join(checkout, "deploy/systemd/payments-worker@.service"), "utf8");
  const { env, properties } = systemdCommandLine();
  expect(properties).not.toEqual([]);
  for (const property of properties) expect(unit.split("\n")).toContain(property);
  expect(unit).toContain(`Environment=PAYMENTS_LEDGER=${env["PAYMENTS_LEDGER"]}\n`);
});

it("the image names a user without root's rights, and a command line that is there", () => {
  const { commandLine, folder, node, user } = readImage();
  expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(node).toBe("node");
  expect(existsSync(join(checkout, commandLine.replace(`${folder}/`, "")))).toBe(true);
});
