import { listCheckpointFolders } from '../../db/deletion/checkpoint-removal.ts'
import { listOwnPayloads } from '../../db/deletion/payload-removal.ts'
import { type DeletedModelRow } from '../../db/deletion/model-removal.ts'
import { listSavingJobs } from '../../db/jobs/progress.ts'
import { folderOf, keyOf } from '../../artifacts/layout.ts'
import { artifactKey } from '../../artifacts/store/keys.ts'
import { measurePrefix } from '../../artifacts/store/sum-sizes.ts'
import type { FileDeps } from '../deletion/files.ts'

/** Counts and sums the models' files in the store, for the report. Call it before anything is removed. */
export async function measureFiles({ pool, artifacts }: FileDeps, models: DeletedModelRow[]) {
  const measured = { objects: 0, bytes: 0 }
  const add = ({ objects, bytes }: { objects: number; bytes: number }) => {
    measured.objects += objects
    measured.bytes += bytes
  }
  const addObject = async (key: string) => {
    const found = await artifacts.stat(key)
    if (found) add({ objects: 1, bytes: found.size })
  }
  for (const { id } of models) {
    for (const checkpoint of await listCheckpointFolders(pool, id)) {
      add(await measurePrefix(artifacts, keyOf('checkpoint', { checkpoint })))
      await addObject(keyOf('statistics', { checkpoint }))
    }
    for (const job of await listSavingJobs(pool, id)) add(await measurePrefix(artifacts, folderOf('progress', { job })))
    for (const uri of await listOwnPayloads(pool, id)) await addObject(artifactKey(uri) ?? 'none')
  }
  return measured
}
