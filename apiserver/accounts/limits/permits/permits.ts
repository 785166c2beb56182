/** Permits of entities for one kind of thing, of which an entity may have as many at once as its limit says. */
export interface Permits {
  /** Takes a permit if one is at hand; the function that is returned gives it back, once. */
  tryAcquire(entity: string, limit: number): (() => void) | undefined
  /** The same where none was at hand: others may have one that they do not use. @throws {PermitsExhausted} */
  acquire(entity: string, limit: number): Promise<() => void>
}

/** All permits of an entity are in use. */
export class PermitsExhausted extends Error {
  override name = 'PermitsExhausted'
  readonly inUse: number

  constructor(inUse: number) {
    super(`all ${inUse} permits are in use`)
    this.inUse = inUse
  }
}
