// Names every optional platform package in package-lock.json.
//
// Tools such as oxlint and swc ship one optional package per platform. `npm ci` refuses a lock file in which one of them is
// missing, and `npm install` leaves out those that the registry in use does not serve. This writes the missing entries,
// with the platform read from the package's name, so that the lock is the same on every machine.
//
// Usage: npm run lock (after each change of a dependency)
import { readFileSync, writeFileSync } from "node:fs";

const systems = {
  aix: /\baix\b/,
  android: /\bandroid/,
  darwin: /\bdarwin\b/,
  freebsd: /\bfreebsd\b/,
  linux: /\blinux\b/,
  netbsd: /\bnetbsd\b/,
  openbsd: /\bopenbsd\b/,
  openharmony: /\b(openharmony|ohos)\b/,
  sunos: /\bsunos\b/,
  win32: /\b(win32|windows)\b/,
};
const processors = [
  "arm",
  "arm64",
  "ia32",
  "loong64",
  "mips64el",
  "ppc64",
  "riscv64",
  "s390x",
  "wasm32",
  "x64",
];
const libraries = { glibc: /-gnu/, musl: /-musl/ };

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));

const matching = (patterns, text) =>
  Object.entries(patterns).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));

const entry = (name, version, dev) => {
  const platform = name.split("/").at(-1);
  const os = matching(systems, platform);
  const cpu = platform.split("-").filter((part) => processors.includes(part));
  const libc = os.includes("linux") ? matching(libraries, platform) : [];
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
};

const added = [];
for (const [parent, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = `node_modules/${name}`;
    // A range cannot be locked without asking the registry; an exact version can.
    if (lock.packages[`${parent}/${path}`] || lock.packages[path] || !/^\d/.test(version)) continue;
    lock.packages[path] = entry(name, version, dev);
    added.push(name);
  }
}

lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${added.length} platform packages added`);
