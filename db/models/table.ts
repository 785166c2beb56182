import { column, type RowOf } from '../columns.ts'
import type { Retention } from '../retention/checkpoints.ts'

/** What the deletion of a model's resource means. */
export type DeletionPolicy = 'Retain' | 'Delete'

/** What a model is inserted with, whether it came over REST, with kubectl, or as a fork. */
export const newModelColumns = {
  id: column<string>('id', 'uuid'),
  entity: column<string>('entity', 'text'),
  project: column<string>('project', 'text'),
  /** Unique in a project, among hidden models too. */
  name: column<string>('name', 'text'),
  /** The canonical name of its base model. */
  baseModel: column<string>('base_model', 'text'),
  namespace: column<string>('namespace', 'text'),
  /** The name of the custom resource. */
  crName: column<string>('cr_name', 'text'),
  /** Null: the resource is wanted, and was not created yet. */
  resourceCreatedAt: column<Date | null>('resource_created_at', 'timestamptz'),
  /** The key that asked for the model; null: it came with kubectl. */
  keyId: column<string | null>('key_id', 'uuid'),
  /** What keeps its checkpoints; null keeps all. */
  retention: column<Retention | null>('retention', 'jsonb'),
  /** The highest step ever given. */
  lastStep: column<number>('last_step', 'integer'),
  /** The origin of a fork: the checkpoint that it starts from (null for step 0), its model and its step. */
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
  /** What was taken over of its resource's aliases. */
  resourceAliases: column<Record<string, number>>('resource_aliases', 'jsonb'),
}

export type NewModel = RowOf<typeof newModelColumns>

/** What a model has that starts from its base model. */
export const notForked = { lastStep: 0, forkedFromCheckpoint: null, forkedFromModel: null, forkedFromStep: null }
