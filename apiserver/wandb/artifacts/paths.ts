// Links lead to these paths. Names of entities need no escapes.

/** A file that arrives in parts. */
export interface PartedFile {
  entity: string
  /** The id of the artifact, as the SDK gets it. */
  id: string
  /** In hex. It is also the id of the upload. */
  md5: string
}

/** A part of a file, by its number (from 1) and its MD5. */
export interface Part extends PartedFile {
  part: string
  partMd5: string
}

export function blobPath(entity: string, digest: string): string {
  return `/v1/links/${entity}/blobs/${digest}`
}

export function uploadPath(entity: string, md5: string): string {
  return `/v1/links/${entity}/uploads/${md5}`
}

/** For a part of a file that arrives in parts. */
export function partPath({ entity, id, md5, part, partMd5 }: Part): string {
  return `${uploadPath(entity, md5)}/parts/${id}/${part}/${partMd5}`
}

export function manifestPath(entity: string, id: string): string {
  return `/v1/links/${entity}/manifests/${id}`
}

export function manifestUploadPath(entity: string, id: string, md5: string): string {
  return `${manifestPath(entity, id)}/${md5}`
}

/** For files that are no blobs. */
export function versionFilePath(entity: string, id: string, path: string): string {
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  return `/v1/links/${entity}/versions/${id}/files/${encoded}`
}
