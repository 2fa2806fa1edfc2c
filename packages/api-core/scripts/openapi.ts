import { run } from "./generated-file.ts";
import { openApiDocument } from "./openapi-document.ts";

process.exitCode = await run(openApiDocument, process.argv.slice(2));
