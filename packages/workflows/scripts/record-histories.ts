import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { endings, historyOf } from "../test/support/endings.ts";
import { localRig } from "../test/support/rig.ts";

const HELP = `Records the histories of the workflows' main endings, on a real Temporal server, into
packages/workflows/test/histories. Today's code replays them in the tests: record them again only
after a change of the workflows for which no run is open.

Usage: npm run histories:record
`;

/** Leaves out who ran it and where. */
const withoutMachine = (key: string, value: unknown): unknown => {
  if (key === "stackTrace") return "";
  if (key === "identity") return "recorder";
  const isSticky =
    typeof value === "object" && value !== null && "kind" in value && "normalName" in value;
  return isSticky ? { ...value, name: "sticky" } : value;
};

const record = async (): Promise<void> => {
  const rig = await localRig();
  try {
    for (const ending of endings) {
      const history: unknown = JSON.parse(historyToJSON(await historyOf(rig, ending)));
      const file = new URL(`../test/histories/${ending.name}.json`, import.meta.url);
      writeFileSync(file, `${JSON.stringify(history, withoutMachine, 1)}\n`);
      process.stdout.write(`${fileURLToPath(file)}\n`);
    }
  } finally {
    await rig.end();
  }
};

if (process.argv.includes("--help")) process.stdout.write(HELP);
else await record();
