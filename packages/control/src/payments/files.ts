import { checkBatchFile } from "../actions/batch/check-rows.ts";
import { type FilePlan, payFile, planFile } from "../actions/batch/pay-file.ts";
import { refused } from "../errors.ts";
import type { Connections } from "../facts/connection/open-connections.ts";
import type { FileType } from "../facts/read-file.ts";
import type { CheckFileOptions, StartedFile, StartFileOptions } from "./options.ts";
import type { Installation } from "./settings.ts";

/** Checks a file, and compares it with earlier ones. Nothing is changed. */
export const checkFile = async (
  { assumptionsOf }: Installation,
  connections: Connections,
  file: string,
  { type = "payout", ...options }: CheckFileOptions,
): Promise<FilePlan> => {
  const checked = await checkBatchFile(type, file, assumptionsOf());
  return connections.both((connected) => planFile(connected, checked, options));
};

/** Checks a file again, and starts each row once. */
export const startFile = async (
  { assumptionsOf }: Installation,
  connections: Connections,
  type: FileType,
  file: string,
  options: StartFileOptions,
): Promise<StartedFile> => {
  const checked = await checkBatchFile(type, file, assumptionsOf());
  if (options.batch !== undefined && options.batch !== checked.batch)
    throw refused(`${file} is not the file that was checked. Nothing was started.`);
  return connections.both(async (connected) => {
    const plan = await planFile(connected, checked, options);
    const { createdBy, state } = await payFile(connected, checked, plan, options);
    return { ...plan, createdBy, state };
  });
};
