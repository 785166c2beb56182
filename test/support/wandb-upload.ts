import { createHash } from 'node:crypto'
import { askGraphql } from './wandb.ts'

/** What the wandb SDK sends to upload an artifact. */

interface Api {
  url: string
  key: string
}

/** A file of an artifact, by the MD5 of its bytes in base64. */
export interface UploadedFile {
  path: string
  md5: string
  size: number
}

export interface MultipartUrls {
  uploadID: string
  uploadUrlParts: { partNumber: number; uploadUrl: string }[]
}

export interface FileLink {
  /** Null: the file is already stored. */
  uploadUrl: string | null
  storagePath: string
  uploadMultipartUrls: MultipartUrls | null
}

export const md5Of = (bytes: string | Uint8Array) => createHash('md5').update(bytes).digest('base64')

/** Begins a version of an artifact. Returns its id. */
export async function createArtifact(
  api: Api,
  { project, name, type = 'dataset' }: { project: string; name: string; type?: string },
  files: UploadedFile[],
): Promise<string> {
  const lines = files.map(({ path, md5 }) => `${path}:${md5}\n`).join('')
  const digest = createHash('md5').update(`wandb-artifact-manifest-v1\n${lines}`).digest('hex')
  const input = { projectName: project, artifactTypeName: type, artifactCollectionName: name, digest }
  const query = 'mutation A($input: I!) { createArtifact(input: $input) { artifact { id } } }'
  const answer = await askGraphql<{ createArtifact: { artifact: { id: string } } }>(api, query, { input })
  return answer.createArtifact.artifact.id
}

/** Asks where a file goes. With the MD5s of its parts (in hex), it may go in parts. */
export async function linkFile(
  api: Api,
  id: string,
  { path, md5 }: Pick<UploadedFile, 'path' | 'md5'>,
  parts?: string[],
): Promise<FileLink> {
  const query = `mutation A($files: F!) { createArtifactFiles(input: {artifactFiles: $files}) { files { edges { node {
    uploadUrl storagePath uploadMultipartUrls { uploadID uploadUrlParts { partNumber uploadUrl } } } } } } }`
  const uploadPartsInput = parts?.map((hexMD5, index) => ({ partNumber: index + 1, hexMD5 }))
  const files = [{ artifactID: id, name: path, md5, uploadPartsInput }]
  type Answer = { createArtifactFiles: { files: { edges: { node: FileLink }[] } } }
  const { createArtifactFiles } = await askGraphql<Answer>(api, query, { files })
  return createArtifactFiles.files.edges[0]!.node
}

/** Uploads the manifest. */
export async function putManifest(api: Api, id: string, files: UploadedFile[]): Promise<void> {
  const contents = Object.fromEntries(files.map(({ path, md5, size }) => [path, { digest: md5, size }]))
  const manifest = JSON.stringify({ version: 1, contents })
  const query = `mutation A($id: ID!, $digest: String!) { createArtifactManifest(input: {artifactID: $id, digest: $digest}) {
    artifactManifest { file { uploadUrl } } } }`
  type Answer = { createArtifactManifest: { artifactManifest: { file: { uploadUrl: string } } } }
  const { createArtifactManifest } = await askGraphql<Answer>(api, query, { id, digest: md5Of(manifest) })
  const { uploadUrl } = createArtifactManifest.artifactManifest.file
  const { status } = await fetch(uploadUrl, { method: 'PUT', body: manifest })
  if (status !== 200) throw new Error(`the manifest was answered by ${status}`)
}

/** Completes a version. Returns the link to its first file. */
export async function commitArtifact(api: Api, id: string): Promise<string> {
  const query = `mutation A($id: ID!) { commitArtifact(input: {artifactID: $id}) {
    artifact { files { edges { node { directUrl } } } } } }`
  type Answer = { commitArtifact: { artifact: { files: { edges: { node: { directUrl: string } }[] } } } }
  const { commitArtifact: committed } = await askGraphql<Answer>(api, query, { id })
  return committed.artifact.files.edges[0]!.node.directUrl
}

/** Joins the parts of a file. */
export async function completeParts(api: Api, id: string, link: FileLink, parts: string[]): Promise<void> {
  const query = `mutation C($parts: P!, $id: ID!, $path: String!, $upload: String!) { completeMultipartUploadArtifact(input: {
    completeMultipartAction: "Complete", completedParts: $parts, artifactID: $id, storagePath: $path, uploadID: $upload
  }) { digest } }`
  const completed = parts.map((hexMD5, index) => ({ partNumber: index + 1, hexMD5: `"${hexMD5}"` }))
  await askGraphql(api, query, {
    parts: completed,
    id,
    path: link.storagePath,
    upload: link.uploadMultipartUrls!.uploadID,
  })
}
