/**
 * Insert text into a file of the tree, before the last occurrence of a marker.
 *
 * @throws Error where the file no longer has the marker: then the generator has to follow the code
 */
export const insertBefore = (tree, file, marker, text) => {
  const content = tree.read(file, "utf8") ?? "";
  const at = content.lastIndexOf(marker);
  if (at === -1)
    throw new Error(`${file} has no ${JSON.stringify(marker)}: correct the generator in tools/nx.`);
  if (content.includes(text.trim()))
    throw new Error(`${file} has it already: choose another name.`);
  tree.write(file, content.slice(0, at) + text + content.slice(at));
};

/** Add text to the end of a file of the tree. */
export const append = (tree, file, text) => {
  tree.write(file, `${(tree.read(file, "utf8") ?? "").trimEnd()}\n${text}`);
};
