// The page as three texts. A program that was bundled carries them; in a clone they are built in memory when they are first
// asked for, so that nothing has to be built before `npm start`. Rules: spec/web.md [WEB30].

export interface PageAssets {
  readonly html: string;
  readonly script: string;
  readonly style: string;
}

/** Put in by scripts/bundle.ts. */
declare const bundledPage: PageAssets | undefined;

let built: Promise<PageAssets> | undefined;

export function pageAssets(): Promise<PageAssets> {
  if (typeof bundledPage !== "undefined") return Promise.resolve(bundledPage);
  built ??= buildOnce();
  return built;
}

async function buildOnce(): Promise<PageAssets> {
  const { buildPage } = await import("../build-page.ts");
  return buildPage();
}
