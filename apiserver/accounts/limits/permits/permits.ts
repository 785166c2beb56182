/** Permits of entities for one kind of work. An entity may have as many at once as its limit allows. */
export interface Permits {
  /** Takes a permit if this process has one. The returned function releases it, once. */
  tryAcquire(entity: string, limit: number): (() => void) | undefined
  /** Takes a permit if this process has none. Other processes may have unused permits. @throws {PermitsExhausted} */
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
