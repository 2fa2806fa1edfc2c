/**
 * Keeps the API reports of the published packages: the folder `api` of each has one for each entry, with the exported names
 * and the types that they lead to. API Extractor reads them from the declarations that `npm run build` writes. A reviewer
 * sees in the difference of a report what changes for users.
 *
 * Usage: node tools/src/release/api.ts [--check]; `--check` only compares.
 */
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { mkdirSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { CLIENT, PUBLISHED, readManifest } from "../packages/manifests.ts";
import { checkout } from "../processes.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const silent = { default: { logLevel: ExtractorLogLevel.None } };
const compilerOptions = { target: "es2024", module: "nodenext", strict: true, skipLibCheck: true };

const report = (folder: string, declarations: string): void => {
  const projectFolder = join(checkout, folder);
  const reportFolder = join(projectFolder, "api");
  if (!values.check) mkdirSync(reportFolder, { recursive: true });
  const mainEntryPointFilePath = join(projectFolder, declarations);
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
};

if (!values.check) {
  for (const folder of [CLIENT, PUBLISHED])
    rmSync(join(checkout, folder, "api"), { recursive: true, force: true });
}
// The compiler's own declarations of the client: in what is published, the types of Effect are inside.
for (const entry of ["index", "effect"]) report(CLIENT, `out-tsc/lib/${entry}.d.ts`);
for (const { declarations } of readManifest(PUBLISHED).entries) {
  report(PUBLISHED, relative(PUBLISHED, declarations));
}
if (process.exitCode === 1) process.stderr.write('Run "npm run api", and commit what it writes.\n');
