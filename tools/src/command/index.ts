export { interruption, Interrupted } from "./interruption.ts";
export { type Reporter, reporter } from "./progress.ts";
export { BadOption, type CommandLine, runCommand } from "./run-command.ts";
