/**
 * Keeps the API reports of the published package: `packages/durable-payments/api` has one for each entry, with the exported
 * names and the types that they lead to. API Extractor reads them from the declarations that `npm run build` writes. A
 * reviewer sees in the difference of a report what changes for users.
 *
 * Usage: node tools/src/release/api.ts [--check]; `--check` only compares.
 */
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { PUBLISHED, readManifest } from "../packages/manifests.ts";
import { checkout } from "../processes.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const projectFolder = join(checkout, PUBLISHED);
const reportFolder = join(projectFolder, "api");
const silent = { default: { logLevel: ExtractorLogLevel.None } };
const compilerOptions = { target: "es2024", module: "nodenext", strict: true, skipLibCheck: true };

if (!values.check) {
  rmSync(reportFolder, { recursive: true, force: true });
  mkdirSync(reportFolder);
}
for (const { declarations } of readManifest(PUBLISHED).entries) {
  const mainEntryPointFilePath = join(checkout, declarations);
  const extractorConfig = ExtractorConfig.prepare({
    configObject: {
      projectFolder,
      mainEntryPointFilePath,
      compiler: { overrideTsconfig: { compilerOptions, files: [mainEntryPointFilePath] } },
      apiReport: {
        enabled: true,
        reportFileName: basename(declarations, ".d.ts"),
        reportFolder,
        reportTempFolder: join(projectFolder, "out-tsc/api"),
        // Types that an exported one leads to.
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      // The compiler and the linter of words have checked them.
      messages: {
        compilerMessageReporting: silent,
        extractorMessageReporting: silent,
        tsdocMessageReporting: silent,
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, "package.json"),
  });
  const { succeeded } = Extractor.invoke(extractorConfig, { localBuild: !values.check });
  if (!succeeded) process.exitCode = 1;
}
if (process.exitCode === 1) process.stderr.write('Run "npm run api", and commit what it writes.\n');
