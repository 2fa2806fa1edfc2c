import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { debugNode } from "./support/debugger.ts";

const checkout = fileURLToPath(new URL("../../../", import.meta.url));
const history = `${checkout}packages/workflows/test/histories/payout-completed.json`;
const source = `${checkout}packages/workflows/src/definitions/payout.ts`;
const LINE = "const created = await createPayout(";

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL: string;
}

interface Paused {
  readonly hitBreakpoints?: ReadonlyArray<string>;
  readonly callFrames: ReadonlyArray<{
    readonly location: { readonly lineNumber: number; readonly columnNumber: number };
    readonly scopeChain: ReadonlyArray<{ readonly type: string }>;
  }>;
}

const mapOf = ({ sourceMapURL }: Script): SourceMap => {
  const json = Buffer.from(sourceMapURL.slice(sourceMapURL.indexOf(",") + 1), "base64").toString();
  // The bundler writes source maps.
  return new SourceMap(JSON.parse(json) as SourceMapPayload);
};

const originOf = (map: SourceMap, line: number, column: number) => {
  const entry = map.findEntry(line, column);
  return "originalSource" in entry
    ? { file: entry.originalSource, line: entry.originalLine }
    : undefined;
};

it("a replay stops at a breakpoint in a line of the workflow's TypeScript", async () => {
  const { detach, event, exited, send } = await debugNode([
    "--conditions=@durable-payments/source",
    `${checkout}apps/starter/src/main.ts`,
    "runs",
    "replay",
    "--file",
    history,
  ]);
  await send("Debugger.enable");
  // The first line of the bundle: from there on breakpoints can be set in it.
  // The answer of the protocol to this request.
  const { breakpointId } = (await send("Debugger.setBreakpointByUrl", {
    urlRegex: "workflow-bundle",
    lineNumber: 0,
  })) as { readonly breakpointId: string };
  const parsed = event<Script>("Debugger.scriptParsed", ({ url }) =>
    url.includes("workflow-bundle"),
  );
  const begun = event<Paused>("Debugger.paused");
  await send("Runtime.runIfWaitingForDebugger");
  await begun;
  const loaded = event<Paused>("Debugger.paused");
  await send("Debugger.resume");
  await loaded;
  const script = await parsed;
  const map = mapOf(script);
  // The answer of the protocol to this request.
  const { scriptSource } = (await send("Debugger.getScriptSource", {
    scriptId: script.scriptId,
  })) as { readonly scriptSource: string };
  const wanted = readFileSync(source, "utf8")
    .split("\n")
    .findIndex((text) => text.includes(LINE));
  const lineNumber = scriptSource.split("\n").findIndex((text, line) => {
    const origin = originOf(map, line, text.search(/\S/));
    return origin?.line === wanted && origin.file.endsWith("definitions/payout.ts");
  });
  expect(lineNumber).toBeGreaterThan(0);

  const stopped = event<Paused>(
    "Debugger.paused",
    ({ hitBreakpoints = [] }) => hitBreakpoints.length > 0,
  );
  await send("Debugger.setBreakpointByUrl", { url: script.url, lineNumber });
  await send("Debugger.removeBreakpoint", { breakpointId });
  await send("Debugger.resume");
  const { callFrames } = await stopped;
  const { columnNumber, lineNumber: at } = callFrames[0]!.location;
  expect(originOf(map, at, columnNumber)).toEqual({
    file: expect.stringMatching(/packages\/workflows\/src\/definitions\/payout\.ts$/) as unknown,
    line: wanted,
  });
  expect(callFrames[0]!.scopeChain.map(({ type }) => type)).toContain("closure");
  detach();
  expect(await exited).toBe(0);
});
