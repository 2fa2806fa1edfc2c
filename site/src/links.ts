import { posix } from "node:path";
import { REPOSITORY } from "./pages.ts";

/** A link of Markdown that is relative: neither a URL, nor a place on the same page. */
const RELATIVE = /(?<=\]\()(?!\w+:|#|\/)(?<path>[^)\s#]+)(?<place>#[^)\s]*)?(?=\))/g;

/** A comment of Markdown, such as the name of an example's file. */
const COMMENT = /^<!--.*?-->\n/gms;

/** Where the site has a file of the repository; undefined where it has not. */
export const pageOf = (file: string): string | undefined => {
  const doc = /^docs\/(?<name>[^/]+\.md)$/.exec(file)?.groups?.["name"];
  if (doc !== undefined) return `/${doc}`;
  const folder = /^(?:packages|apps)\/(?<folder>[^/]+)\/README\.md$/.exec(file)?.groups?.["folder"];
  if (folder !== undefined) return `/packages/${folder}.md`;
  return file.startsWith("docs/pictures/") ? `/${file.slice("docs/".length)}` : undefined;
};

/**
 * Turn the links of a page of the repository into links of the site, or into links to the repository for what the
 * site has not, and leave its comments out.
 *
 * @param file path of the file within the repository, such as `docs/repair.md`
 */
export const asSitePage = (text: string, file: string): string =>
  text.replaceAll(COMMENT, "").replaceAll(RELATIVE, (_, path: string, place = "") => {
    const target = posix.join(posix.dirname(file), path);
    return `${pageOf(target) ?? `${REPOSITORY}/blob/main/${target}`}${place}`;
  });

/**
 * Name the place of a heading as GitHub does, so that a link to it leads there on both: `payout.json` is `payoutjson`.
 */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
