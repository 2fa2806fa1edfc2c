import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interleave } from "../interleave.ts";
import { type Child, startChild } from "../processes/child.ts";
import { rowOf } from "../row.ts";
import type { Scenario } from "../scenario.ts";
import type { RunsReading, RunsTask } from "../workflows/worker-process.ts";
import { startWorld } from "../workflows/world.ts";

const CONCURRENCY = 16;
const NAME = "encryption: payout, against the same without";

const makeKeyring = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "bench-keys-"));
  await writeFile(join(folder, "k1.key"), randomBytes(32).toString("base64"), { mode: 0o600 });
  await writeFile(join(folder, "current"), "k1");
  return folder;
};

/** Payouts whose payloads are encrypted against the same that are not: same workflows, activities and server. */
export const scenario: Scenario = async (context) => {
  const world = await startWorld(context);
  const keyring = await makeKeyring();
  const children: Array<Child<RunsTask, RunsReading>> = [];
  const start = async (queue: string, env: Readonly<Record<string, string>>) => {
    const child = await startChild<RunsTask, RunsReading>(
      new URL("../workflows/worker-process.ts", import.meta.url),
      ["ours", world.temporalAddress, queue],
      { env: { ...world.serviceVariables, ...env } },
    );
    children.push(child);
    return child;
  };
  try {
    context.progress("bundling, and starting the workers");
    const encrypted = await start("bench-encrypted", { PAYMENTS_KEYRING: keyring });
    const plain = await start("bench-plain", {});
    const readings = (rounds: number) => {
      const task = {
        kind: "run",
        workflow: "payout",
        count: context.quick ? 20 : 100,
        concurrency: CONCURRENCY,
      } as const;
      const each = { ours: () => encrypted.run(task), bare: () => plain.run(task) };
      return interleave(each, rounds, context);
    };
    await readings(1);
    const { bare, ours } = await readings(context.quick ? 3 : 11);
    const compared = (figure: keyof RunsReading) => ({
      ours: ours.map((reading) => reading[figure]),
      baseline: bare.map((reading) => reading[figure]),
    });
    return [
      rowOf({ name: NAME, unit: "runs a second", ...compared("perSecond") }),
      rowOf({ name: NAME, unit: "ms of the worker's CPU a run", ...compared("cpu") }),
    ];
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await world.stop();
    await rm(keyring, { recursive: true });
  }
};
