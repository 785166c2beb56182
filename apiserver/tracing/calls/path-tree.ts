/** Paths by their segments, so that a value is gone through once for all of them. */
export class PathTree {
  /** Whether a path ends here. */
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
