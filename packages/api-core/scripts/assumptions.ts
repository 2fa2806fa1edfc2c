import { assumptionsTable } from "./assumptions-table.ts";
import { run } from "./generated-file.ts";

process.exitCode = await run(assumptionsTable, process.argv.slice(2));
