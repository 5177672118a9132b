/** "1 zone", "2 zones": a number with its noun, as people say it. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
