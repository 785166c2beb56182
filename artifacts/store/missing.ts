/** There is no object with this key. */
export class ArtifactMissing extends Error {
  override name = 'ArtifactMissing'
  readonly key: string

  constructor(key: string, cause?: unknown) {
    super('not in the artifact store', { cause })
    this.key = key
  }
}
