/** A number in its original notation, because JSON has more numbers than doubles. */
export class WrittenNumber {
  readonly written: string

  constructor(written: string) {
    this.written = written
  }
}

/** A JSON document. */
export type Tree = null | boolean | string | WrittenNumber | Tree[] | { [key: string]: Tree }

export function writeTree(tree: Tree): string {
  if (tree instanceof WrittenNumber) return tree.written
  if (Array.isArray(tree)) return `[${tree.map(writeTree).join(',')}]`
  if (tree === null || typeof tree !== 'object') return JSON.stringify(tree)
  const members = Object.entries(tree).map(([key, value]) => `${JSON.stringify(key)}:${writeTree(value)}`)
  return `{${members.join(',')}}`
}

/** The value at a path. Undefined if there is none. */
export function readTree(tree: Tree | undefined, path: string[]): Tree | undefined {
  const [segment, ...rest] = path
  if (segment === undefined || tree === undefined) return tree
  return readTree(readMember(tree, segment), rest)
}

function readMember(tree: Tree, segment: string): Tree | undefined {
  if (tree === null || typeof tree !== 'object' || tree instanceof WrittenNumber) return undefined
  if (!Array.isArray(tree)) return Object.hasOwn(tree, segment) ? tree[segment] : undefined
  return /^\d+$/.test(segment) ? tree[Number(segment)] : undefined
}

/**
 * A document's text as queries see it: the content of a string, and the JSON text of any other value. Null without a
 * value.
 */
export function textOfTree(tree: Tree | undefined): string | null {
  if (tree === undefined || tree === null) return null
  return typeof tree === 'string' ? tree : writeTree(tree)
}
