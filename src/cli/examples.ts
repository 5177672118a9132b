// The examples of the manual that `npm start -- --example NAME` runs, each a file of examples/, and the Kubernetes that
// each of them needs. Rules: spec/halls.md [HALL29].

const nodesOfExample = {
  "three-data-hall": 9,
  "three-datacenter": 9,
} as const;

export type ExampleName = keyof typeof nodesOfExample;

export const exampleNames = Object.keys(nodesOfExample) as readonly ExampleName[];

const nodesOfSample = 6;

export function nodesOf(example: ExampleName | undefined): number {
  return example === undefined ? nodesOfSample : nodesOfExample[example];
}
