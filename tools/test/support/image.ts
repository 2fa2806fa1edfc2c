// The image without Docker, which few machines that run tests can use: the same files, user, variables and file system.
import { execa } from "execa";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkout, spawnProcess, type StartedProcess } from "../../src/processes.ts";
import { readImage } from "./deployments.ts";

const SCRIPT = fileURLToPath(new URL("enter-image.sh", import.meta.url));
const image = readImage();
const [uid = 0, gid = 0] = image.user.split(":").map(Number);

/** Returns why processes here cannot have the image's root and user; undefined if they can. */
export const whyNotIsolated = (): string | undefined => {
  if (process.getuid?.() !== 0) return "only root can enter the image: it needs mount and chroot";
  const { status, stderr } = spawnSync("unshare", ["--mount", "setpriv", "--version"], {
    encoding: "utf8",
  });
  return status === 0 ? undefined : `unshare --mount is not permitted here: ${stderr.trim()}`;
};

/** Builds what deploy/Dockerfile builds, by its own command. */
export const buildImage = async (): Promise<void> => {
  await execa(process.execPath, ["tools/bootstrap.mjs", ...image.build], { cwd: checkout });
};

/** What `npm prune --omit=dev` removes. */
const developmentOnly = (): ReadonlyArray<string> => {
  const { packages } = JSON.parse(readFileSync(join(checkout, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  const unused = Object.entries(packages)
    .filter(([path, { dev }]) => dev && path.includes("node_modules/"))
    .map(([path]) => path)
    .filter((path) => existsSync(join(checkout, path)));
  return unused.filter((path) => !unused.some((above) => path.startsWith(`${above}/`)));
};

/** A file or folder of the host at a place in the image. */
interface Volume {
  readonly from: string;
  readonly to: string;
  readonly isWritable: boolean;
}

/** What a process of the image is given. */
export interface ImageProcess {
  /** Command and arguments; `node` is this Node. */
  readonly command: ReadonlyArray<string>;
  readonly env: Readonly<Record<string, string>>;
}

/** Makes the image with the files of a host; `remove` it after the tests. */
export const makeImage = () => {
  const folder = mkdtempSync(join(tmpdir(), "image-test-"));
  const volumes: Array<Volume> = [];
  const isIsolated = whyNotIsolated() === undefined;
  const own = (path: string, mode: number, owner: number) => {
    if (isIsolated) chownSync(path, owner, gid);
    chmodSync(path, mode);
  };
  const root = join(folder, "root");
  const hidden = join(folder, "hidden");
  const table = join(folder, "volumes");
  mkdirSync(root);
  writeFileSync(
    hidden,
    developmentOnly()
      .map((path) => `${path}\n`)
      .join(""),
  );

  const makeFolder = (
    name: string,
    to: string,
    mode: number,
    owner: number,
    isWritable = false,
  ) => {
    const from = join(folder, name);
    mkdirSync(from);
    own(from, mode, owner);
    volumes.push({ from, to, isWritable });
    return from;
  };
  /** Without the image's root, a path in it is the one of the host. */
  const onHost = (text: string): string =>
    volumes.reduce((path, { from, to }) => path.replace(to, from), text);

  return {
    /** A volume that the user of the image owns and alone can read. */
    volume: (to: string): string => makeFolder(`volume-${volumes.length}`, to, 0o700, uid, true),
    /**
     * Files with secrets: of the image's user alone, as Compose mounts them from the host, or of root with the user's group,
     * as Kubernetes mounts them.
     */
    secrets: (to: string, files: Readonly<Record<string, string>>, of: "user" | "group"): void => {
      const [owner, mode] = of === "user" ? [uid, 0o400] : [0, 0o440];
      const from = makeFolder(`secrets-${volumes.length}`, to, 0o750, owner);
      for (const [name, content] of Object.entries(files)) {
        writeFileSync(join(from, name), content);
        own(join(from, name), mode, owner);
      }
    },
    start: ({ command: [program = "", ...args], env }: ImageProcess): StartedProcess => {
      if (!isIsolated) {
        const here = Object.entries(env).map(([name, value]) => [name, onHost(value)]);
        const commandLine =
          program === "node" ? process.execPath : program.replace(`${image.folder}/`, checkout);
        return spawnProcess(
          "env",
          [
            "-i",
            `PATH=${process.env["PATH"]}`,
            ...here.map((each) => each.join("=")),
            commandLine,
            ...args,
          ],
          { cwd: checkout, name: args.join(" ") },
        );
      }
      writeFileSync(
        table,
        volumes
          .map(({ from, isWritable, to }) => `${from} ${to} ${isWritable ? "rw" : "ro"}\n`)
          .join(""),
      );
      const variables = Object.entries({ PATH: "/opt/node:/usr/bin:/bin", ...env }).map(
        ([name, value]) => `${name}=${value}`,
      );
      return spawnProcess(
        "unshare",
        [
          "--mount",
          "sh",
          SCRIPT,
          root,
          checkout,
          process.execPath,
          image.user,
          hidden,
          table,
          ...variables,
          program,
          ...args,
        ],
        { name: args.join(" ") },
      );
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};

/** A keyring of one key. */
export const keyringFiles = () => ({
  "k1.key": randomBytes(32).toString("base64"),
  current: "k1\n",
});
