import type { Model } from '../../crds/generated.ts'
import type { OperatorModel } from '../../db/models/resources.ts'

/** A Model resource as the API server returns it. Its row is `modelRow`. */
export const modelResource: Model = {
  metadata: { name: 'email', namespace: 'ns', generation: 2 },
  spec: { entity: 'acme', project: 'mail', name: 'Email', baseModelRef: { name: 'tiny' } },
}

/** The row of that Model, which has no checkpoints. */
export const modelRow: OperatorModel = {
  id: 'm1',
  entity: 'acme',
  project: 'mail',
  name: 'Email',
  baseModel: 'trainyard/tiny',
  namespace: 'ns',
  crName: 'email',
  resourceCreatedAt: new Date(0),
  hiddenAt: null,
  latestStep: 0,
  checkpoints: 0,
  newestCheckpoint: null,
  engineReports: [],
  deletionPolicy: 'Retain',
  keepLoaded: false,
  aliases: {},
  resourceAliases: {},
}
