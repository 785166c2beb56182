/** Where a file of an entity lies that is known by the sha256 of its bytes. */
export function blobKey(entity: string, digest: string): string {
  return `artifacts/${entity}/${digest}`
}

/** Where all lies that an entity has sent of files that are not complete. */
export function uploadsOf(entity: string): string {
  return `uploads/${entity}`
}

/** Where what has come of a file lies, while it is uploaded in parts: one object for each part. */
export function uploadPrefix(entity: string, digest: string): string {
  return `${uploadsOf(entity)}/${digest}`
}
