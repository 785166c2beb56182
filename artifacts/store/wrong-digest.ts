/** The bytes of an object have another MD5 than expected. */
export class WrongDigest extends Error {
  override name = 'WrongDigest'
}
