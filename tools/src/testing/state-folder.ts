// Run by Vitest before each test file. What the processes of a test remember of their sends is
// forgotten with the test, and never written into the home folder of whoever runs it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "durable-payments-state-"));
process.env["XDG_STATE_HOME"] = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
