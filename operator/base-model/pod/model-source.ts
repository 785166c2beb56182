import type { BaseModel } from '../../../crds/generated.ts'
import { optionalEnv } from './env-vars.ts'
import type { EnvVar } from './artifacts.ts'

const modelPath = '/model'
const volumeName = 'model'

/** The environment variables that tell engines and trainers where the weights are. Keys come from Secrets only. */
export function sourceEnv(baseModel: BaseModel): EnvVar[] {
  const { path, hub, s3, pvc, secretRef } = baseModel.spec.source
  if (pvc) return [{ name: 'TRAINYARD_MODEL', value: pvc.path ? `${modelPath}/${pvc.path}` : modelPath }]
  if (s3) {
    return [
      { name: 'TRAINYARD_MODEL', value: s3.uri },
      ...optionalEnv('TRAINYARD_MODEL_S3_ENDPOINT', s3.endpoint),
      ...optionalEnv('TRAINYARD_MODEL_S3_REGION', s3.region),
      // The artifact store may have AWS's own variables.
      ...secretEnv('TRAINYARD_MODEL_S3_ACCESS_KEY_ID', secretRef?.name, 'access-key-id'),
      ...secretEnv('TRAINYARD_MODEL_S3_SECRET_ACCESS_KEY', secretRef?.name, 'secret-access-key'),
    ]
  }
  return [
    { name: 'TRAINYARD_MODEL', value: path ?? hub?.id ?? '' },
    ...optionalEnv('TRAINYARD_MODEL_REVISION', hub?.revision),
    ...secretEnv('HF_TOKEN', secretRef?.name, 'token'),
  ]
}

function secretEnv(name: string, secretName: string | undefined, key: string): EnvVar[] {
  return secretName === undefined ? [] : [{ name, valueFrom: { secretKeyRef: { name: secretName, key } } }]
}

/** The volume of a model in a claim. Pods on all nodes may read it. */
export function sourceVolumes(baseModel: BaseModel): { name: string; persistentVolumeClaim: object }[] {
  const { pvc } = baseModel.spec.source
  return pvc ? [{ name: volumeName, persistentVolumeClaim: { claimName: pvc.claimName, readOnly: true } }] : []
}

export function sourceMounts(baseModel: BaseModel): { name: string; mountPath: string; readOnly?: true }[] {
  return baseModel.spec.source.pvc ? [{ name: volumeName, mountPath: modelPath, readOnly: true }] : []
}
