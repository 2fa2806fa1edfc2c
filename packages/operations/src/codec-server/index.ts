export {
  type CodecRequestEntry,
  type CodecServer,
  type CodecServerSettings,
  startCodecServer,
} from "./codec-server.ts";
export {
  type Authenticate,
  authenticateByFile,
  type CodecRole,
  type CodecUser,
  type TokenIssuer,
} from "./users.ts";
