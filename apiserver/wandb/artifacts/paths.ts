// Links lead to these paths. Names of entities need no escapes.

export function blobPath(entity: string, digest: string): string {
  return `/v1/links/${entity}/blobs/${digest}`
}

export function uploadPath(entity: string, md5: string): string {
  return `/v1/links/${entity}/uploads/${md5}`
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
