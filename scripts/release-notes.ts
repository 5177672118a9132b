// What is said of a release, from the changelog, and whether a tag is that of this version. Rules: spec/deploy.md [DEP27].

/** The part of the changelog about one version; undefined when it has none. */
function chapterOf(changes: string, version: string): string | undefined {
  const [, ...chapters] = changes.split(/^## /m);
  const found = chapters.find((chapter) => chapter.split("\n", 1)[0]?.trim() === version);
  return found?.slice(found.indexOf("\n") + 1).trim();
}

/** Why there can be no release, as a sentence with its remedy; undefined when there can. */
export function tagProblem(
  tag: string | undefined,
  version: string,
  changes: string,
): string | undefined {
  if (tag !== undefined && tag !== `v${version}`) {
    return `the tag ${tag} is not v${version}, the version in package.json: tag the commit that has the version, or change it with npm version.`;
  }
  if (!chapterOf(changes, version)) {
    return `CHANGELOG.md says nothing about ${version}: write a chapter "## ${version}".`;
  }
  return undefined;
}

export function releaseNotes(changes: string, version: string): string {
  return `${chapterOf(changes, version) ?? ""}\n`;
}
