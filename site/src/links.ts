import { posix } from "node:path";
import { REPOSITORY } from "./pages.ts";

/** A relative link of Markdown: neither a URL nor an anchor of the same page. */
const RELATIVE = /(?<=\]\()(?!\w+:|#|\/)(?<path>[^)\s#]+)(?<place>#[^)\s]*)?(?=\))/g;

/** A comment of Markdown, such as the name of an example's file. */
const COMMENT = /^<!--.*?-->\n/gms;

/** Returns the page of the site for a file of the repository, or undefined if the site does not have it. */
export const pageOf = (file: string): string | undefined => {
  const doc = /^docs\/(?<name>[^/]+\.md)$/.exec(file)?.groups?.["name"];
  if (doc !== undefined) return `/${doc}`;
  const folder = /^(?:packages|apps)\/(?<folder>[^/]+)\/README\.md$/.exec(file)?.groups?.["folder"];
  if (folder !== undefined) return `/packages/${folder}.md`;
  return file.startsWith("docs/pictures/") ? `/${file.slice("docs/".length)}` : undefined;
};

/**
 * Turns the links of a page into links of the site, or into links to the repository if the site lacks the file.
 * Removes comments.
 *
 * @param file path of the file within the repository, such as `docs/pay.md`
 */
export const asSitePage = (text: string, file: string): string =>
  text.replaceAll(COMMENT, "").replaceAll(RELATIVE, (_, path: string, place = "") => {
    const target = posix.join(posix.dirname(file), path);
    return `${pageOf(target) ?? `${REPOSITORY}/blob/main/${target}`}${place}`;
  });

/**
 * Returns the anchor of a heading as GitHub makes it, so that links work on both: `payout.json` is `payoutjson`.
 */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
