import type { BaseModel } from '../../../crds/generated.ts'
import { reasons } from '../../../crds/names.ts'
import type { Download } from '../../../db/base-models/downloads.ts'
import type { Pod } from '../../../lib/kube/objects.ts'
import type { StatusReason } from '../../conditions.ts'
import { explainPod, isStarting } from './reason.ts'

/** Unfinished downloads by the uids of pods. */
export type Downloads = ReadonlyMap<string, Download>

// The maximum of the schema.
const maxListed = 16

/** Why a pod is not Ready. One that only needs time may be downloading the base model. */
export function explainWaitingPod(pod: Pod, downloads: Downloads): StatusReason {
  const reason = explainPod(pod)
  const download = downloads.get(pod.metadata.uid ?? '')
  if (!download || pod.status?.phase !== 'Running' || !isStarting(reason)) return reason
  const { doneBytes, totalBytes } = download
  const message = `pod ${pod.metadata.name}: has downloaded ${toGigabytes(doneBytes)} of ${toGigabytes(totalBytes)} GB of the base model`
  return { reason: reasons.downloading, message }
}

/** The downloads for the status, by the names of the pods. */
export function listDownloads(pods: Pod[], downloads: Downloads): Pick<NonNullable<BaseModel['status']>, 'downloads'> {
  const listed = pods.flatMap(({ metadata: { uid = '', name = '' } }) => {
    const download = downloads.get(uid)
    return download ? [{ pod: name, ...download }] : []
  })
  if (listed.length === 0) return {}
  return { downloads: listed.toSorted((a, b) => a.pod.localeCompare(b.pod)).slice(0, maxListed) }
}

function toGigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(3)
}
