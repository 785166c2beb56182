import { column, type RowOf } from '../columns.ts'
import type { Retention } from '../retention/checkpoints.ts'

/** What happens to a model when its resource is deleted. */
export type DeletionPolicy = 'Retain' | 'Delete'

/** The columns of a new model, from REST, from kubectl or as a fork. */
export const newModelColumns = {
  id: column<string>('id', 'uuid'),
  entity: column<string>('entity', 'text'),
  project: column<string>('project', 'text'),
  /** Unique in a project, also among hidden models. */
  name: column<string>('name', 'text'),
  /** The canonical name of the base model. */
  baseModel: column<string>('base_model', 'text'),
  namespace: column<string>('namespace', 'text'),
  /** The name of the custom resource. */
  crName: column<string>('cr_name', 'text'),
  /** Null if the resource is still to be created. */
  resourceCreatedAt: column<Date | null>('resource_created_at', 'timestamptz'),
  /** The key of the request; null for kubectl. */
  keyId: column<string | null>('key_id', 'uuid'),
  /** Which checkpoints are kept; null keeps all. */
  retention: column<Retention | null>('retention', 'jsonb'),
  /** The highest step that was ever assigned. */
  lastStep: column<number>('last_step', 'integer'),
  /** The origin of a fork: its checkpoint (null for step 0), its model and its step. */
  forkedFromCheckpoint: column<string | null>('forked_from', 'uuid'),
  forkedFromModel: column<string | null>('forked_from_model', 'uuid'),
  forkedFromStep: column<number | null>('forked_from_step', 'integer'),
}

/** The columns of `training.models` that are read into rows. */
export const modelColumns = {
  ...newModelColumns,
  createdAt: column<Date>('created_at', 'timestamptz'),
  hiddenAt: column<Date | null>('hidden_at', 'timestamptz'),
  deletedAt: column<Date | null>('deleted_at', 'timestamptz'),
  /** When the resources, adapters and files of a deleted model were removed. */
  filesRemovedAt: column<Date | null>('files_removed_at', 'timestamptz'),
  deletionPolicy: column<DeletionPolicy>('deletion_policy', 'text'),
  /** Whether its newest step stays loaded on every engine. */
  keepLoaded: column<boolean>('keep_loaded', 'boolean'),
  /** The aliases of the resource that were last applied. */
  resourceAliases: column<Record<string, number>>('resource_aliases', 'jsonb'),
}

export type NewModel = RowOf<typeof newModelColumns>

/** The values of a model that is no fork. */
export const notForked = { lastStep: 0, forkedFromCheckpoint: null, forkedFromModel: null, forkedFromStep: null }
