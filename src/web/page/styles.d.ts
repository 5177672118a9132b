// Style sheets are no modules of TypeScript: the bundler puts them into the page's own.
declare module "*.css";
