import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import type { Ending } from "../test/support/endings/ending.ts";
import { endings, historyOf } from "../test/support/endings/endings.ts";
import { bundleWorkflows } from "../test/support/bundle.ts";
import { localRig } from "../test/support/rig.ts";

const HELP = `Records the histories of the workflows' endings, on a real Temporal server, into
packages/workflows/test/histories. Today's code replays them in the tests: record them again only
after a change of the workflows for which no run is open.

Usage: npm run histories:record [-- NAME…]   those of these names alone; default: all
`;

const folder = new URL("../test/histories/", import.meta.url);

/** Events after which the server suggests to continue as new: a real one's 4,096 would fill a megabyte. */
const FEW_EVENTS = 100;

/** Says who ran it, where and when, or is counted anew by each server; a replay needs none of it. */
const LEFT_OUT = new Set([
  "historySizeBytes",
  "identity",
  "meteringMetadata",
  "requestId",
  "stackTrace",
  "taskId",
  "workerVersion",
]);

const essential = (key: string, value: unknown): unknown => {
  if (LEFT_OUT.has(key)) return undefined;
  const isSticky =
    typeof value === "object" && value !== null && "kind" in value && "normalName" in value;
  return isSticky ? { ...value, name: "sticky" } : value;
};

/** A server for each: what other runs own changes how a lost answer is reconciled. */
const recordOne = async (ending: Ending, code: string): Promise<void> => {
  const extraArgs = [
    "--dynamic-config-value",
    `limit.historyCount.suggestContinueAsNew=${FEW_EVENTS}`,
  ];
  const rig = await localRig({ server: { extraArgs } }, code);
  try {
    const history: unknown = JSON.parse(historyToJSON(await historyOf(rig, ending)));
    const file = new URL(`${ending.name}.json`, folder);
    writeFileSync(file, `${JSON.stringify(history, essential, 1)}\n`);
    process.stdout.write(`${fileURLToPath(file)}\n`);
  } finally {
    await rig.end();
  }
};

const record = async (names: ReadonlyArray<string>): Promise<void> => {
  const chosen = names.length === 0 ? endings : endings.filter(({ name }) => names.includes(name));
  if (chosen.length < names.length) throw new Error(`No such ending among ${names.join(", ")}.`);
  if (names.length === 0) {
    // Those of earlier code, in a folder of their own, stay.
    for (const file of readdirSync(folder, { withFileTypes: true })) {
      if (file.isFile()) rmSync(new URL(file.name, folder));
    }
  }
  const { code } = await bundleWorkflows();
  for (const ending of chosen) await recordOne(ending, code);
};

if (process.argv.includes("--help")) process.stdout.write(HELP);
else await record(process.argv.slice(2));
