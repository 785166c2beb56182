import { basic, post } from './post.ts'

/** Sends GraphQL as the wandb SDK does. @throws when the answer has errors */
export async function askGraphql<Data>(
  { url, key }: { url: string; key: string },
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Data> {
  const answer = await sendGraphql<Data>({ url, key }, query, variables)
  if (!answer.data) throw new Error(JSON.stringify(answer.errors ?? answer))
  return answer.data
}

/** The same, and returns the errors too. */
export async function sendGraphql<Data>(
  api: { url: string; key: string },
  query: string,
  variables: Record<string, unknown> = {},
): Promise<{ data?: Data; errors?: { message: string }[] }> {
  const response = await postGraphql(api, query, variables)
  return (await response.json()) as { data?: Data; errors?: { message: string }[] }
}

/** The same, and returns the response. */
export function postGraphql(
  { url, key }: { url: string; key: string },
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Response> {
  return post(`${url}/graphql`, key, { query, variables }, { headers: basic(key) })
}

/** Begins a run, or changes it. Returns its id. */
export async function upsertRun(
  api: { url: string; key: string },
  input: { modelName: string; name: string } & Record<string, unknown>,
): Promise<string> {
  const query = 'mutation U($input: UpsertBucketInput!) { upsertBucket(input: $input) { bucket { id } } }'
  const { upsertBucket } = await askGraphql<{ upsertBucket: { bucket: { id: string } } }>(api, query, { input })
  return upsertBucket.bucket.id
}

/** Sends lines of a run's files. */
export function streamFiles(
  { url, key }: { url: string; key: string },
  { entity, project, run }: { entity: string; project: string; run: string },
  body: unknown,
): Promise<Response> {
  return post(`${url}/files/${entity}/${project}/${run}/file_stream`, key, body, { headers: basic(key) })
}

/** Uploads a file of a run, through the link that the server signs. */
export async function uploadRunFile(
  api: { url: string; key: string },
  run: { entity: string; project: string; run: string },
  { path, content }: { path: string; content: string },
): Promise<Response> {
  const query = `mutation C($entity: String!, $project: String!, $run: String!, $files: [String!]!) {
    createRunFiles(input: { entityName: $entity, projectName: $project, runName: $run, files: $files }) {
      files { uploadUrl } } }`
  const { createRunFiles } = await askGraphql<{ createRunFiles: { files: { uploadUrl: string }[] } }>(api, query, {
    ...run,
    files: [path],
  })
  return fetch(createRunFiles.files[0]!.uploadUrl, { method: 'PUT', body: content })
}
