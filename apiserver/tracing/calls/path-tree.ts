/** A tree of paths by segment, so that one walk over a value serves all paths. */
export class PathTree {
  /** Whether a path ends at this node. */
  isWanted = false
  readonly below = new Map<string, PathTree>()

  constructor(paths: readonly (readonly string[])[] = []) {
    for (const path of paths) this.#add(path)
  }

  #add(path: readonly string[]): void {
    const [segment, ...rest] = path
    if (segment === undefined) {
      this.isWanted = true
      return
    }
    const next = this.below.get(segment) ?? new PathTree()
    this.below.set(segment, next)
    next.#add(rest)
  }
}
