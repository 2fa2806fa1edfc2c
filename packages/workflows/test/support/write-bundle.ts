// node --conditions=@durable-payments/source write-bundle.ts FILE
import { writeFileSync } from "node:fs";
import { bundleWorkflows } from "./bundle.ts";

const [file = ""] = process.argv.slice(2);
writeFileSync(file, (await bundleWorkflows()).code);
