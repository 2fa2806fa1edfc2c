export {
  type Expiring,
  secondsUntilExpiry,
  type SecondsUntilExpiry,
} from "./credentials/expiry.ts";
export {
  apiKeyIn,
  type FileContents,
  readFiles,
  rereadFiles,
  type RereadFiles,
} from "./credentials/reread-files.ts";
